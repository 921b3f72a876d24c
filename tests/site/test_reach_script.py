"""What “Reach in” counts without a page: places of two sentences that go together, and rows of weights."""

import json
import subprocess

import pytest

from _ext import playground
from _ext.javascript import NODE
from bookkit.registry import BOOK

SCRIPTS = ("model.js", "transformer.js", "gpt.js", "bench/anatomy.js", "bench/words.js", "bench/reach.js")


def in_node(lines: str) -> object:
    scripts = [(BOOK / "_static" / script).read_text("utf-8") for script in SCRIPTS]
    program = "\n".join([*scripts, "const stored = {};", lines])
    done = subprocess.run([NODE, "-"], input=program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        ("the kings that hear", "the king that hear", [0, 1, 2, 3]),
        ("the king that the dog hears", "the king hears", [0, 1, -1, -1, -1, 2]),
        ("the king hears", "the king that the dog hears", [0, 1, 5]),
        ("a x b c", "a b c", [0, -1, 1, 2]),
        ("a a b", "a b", [0, -1, 1]),
        ("a b c d", "x b c y z", [0, 1, 2, 4]),
        ("a b c d", "x y", [0, -1, -1, 1]),
        ("a", "b c", [1]),
    ],
)
def test_what_begins_or_ends_alike_goes_together_and_the_last_with_the_last(
    first: str, second: str, pairs: list[int]
) -> None:
    given = json.dumps([first.split(), second.split()])
    assert in_node(f"console.log(JSON.stringify(pairedPlaces(...{given})));") == pairs


@pytest.mark.parametrize("name", ["language-model", "translator"])
def test_queries_keys_and_values_are_a_third_of_a_projections_rows_each(name: str) -> None:
    data = f'stored["{name}"]'
    listed = in_node(f"""{playground.script(name)}
      const model = new {{ Transformer, LanguageModel }}[{data}.kind]({data});
      const isThird = ({{ words }}) => / (queries|keys|values)$/.test(words);
      const thirds = matricesOf(model, anatomy(model)).filter(isThird);
      const told = thirds.map(({{ name, words, start, count }}) => [name, words, start, count]);
      console.log(JSON.stringify(told));""")
    assert {rows[0].rpartition(".")[2] for rows in listed} == {"in_proj_weight"}
    for thirds in zip(listed[::3], listed[1::3], listed[2::3], strict=True):
        (name,) = {rows[0] for rows in thirds}
        assert [rows[1].rpartition(": ")[2] for rows in thirds] == ["queries", "keys", "values"]
        assert [rows[2:] for rows in thirds] == [[0, 64], [64, 64], [128, 64]], name
