"""The scripts that run the book's models in a page, in Node: slices of runs, refusals, and a GPT's text.

That all their numbers are PyTorch's is shown in test_states_and_pytorch.py.
"""

import copy
import random
import re
import unicodedata

import pytest
import torch
from script_and_pytorch import IN_PAGE, in_node, returned, unpacked

from chapters.a_gpt_of_your_own import models as gpt
from chapters.the_transformer import models
from chapters.translating_with_attention.models import START, UNWRITTEN


def test_start_is_never_written_though_it_be_the_likeliest():
    """The translator agrees with PyTorch; the language model shows that chance, and never draws it."""
    always = {"numbers": [{"name": "word.bias", "row": START, "value": 1000}]}
    (run,) = IN_PAGE["translator"].runs(1)
    source = torch.tensor([run["read"]])
    model = copy.deepcopy(IN_PAGE["translator"].loaded())
    with torch.no_grad():
        model.word.bias[START] = 1000
    words = models.greedy(model, source, torch.tensor([source.shape[1]]))[0].tolist()
    (said,) = in_node("translator", [{**run, "changes": always}])
    assert said["translation"] == words
    assert START not in words
    body = """
        Object.assign(model.changes, given);
        const logits = finished(model.running([data.start])).at(-1);
        const options = [...softmax(writable(logits, data.read), 2).entries()];
        const number = die(1);
        return [softmax(logits)[data.start], ...Array.from({ length: 50 }, () => drawn(options, number()))];
    """
    shown, *drawn = returned("language-model", always, body)
    assert shown > 0.99
    assert not {*drawn} & {*UNWRITTEN}


# ---- runs in slices ----


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_PAGE)
def test_a_run_that_is_given_up_or_goes_on_beside_another_changes_nothing(name):
    body = """
        const numbers = ({ traces }) => JSON.stringify(traces);
        const alone = given.map((ids) => (finished(model.running(ids)), numbers(model)));
        const [first, second] = given.map((ids) => model.running(ids));
        for (let i = 0; i < 30; i++) first.next(), second.next();
        finished(first);
        const beside = [numbers(model), (finished(second), numbers(model))];
        const third = model.running(given[0]);
        for (let i = 0; i < 30; i++) third.next();
        return [alone, beside, numbers(model)];
    """
    texts = [run["read"] for run in IN_PAGE[name].runs(2)]
    alone, beside, given_up = returned(name, texts, body)
    assert alone == beside
    assert given_up == alone[1]


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_PAGE)
def test_the_page_may_do_something_else_every_few_milliseconds(name):
    """No machine's clock decides: between two pauses there are at most so many products."""
    body = """
        let products = 0;
        const two = product;
        product = (a, b) => ((products += a.length), two(a, b));
        const counts = [];
        for (const mask of [true, false]) {
          model.changes.mask = mask;
          for (const running = model.running(given); ; products = 0) {
            const { done } = running.next();
            counts.push(products);
            if (done) break;
          }
        }
        return Math.max(...counts);
    """
    text = max((run["read"] for run in IN_PAGE[name].runs(50)), key=len)
    # A machine that does 600 million in a second needs 10 milliseconds, a phone 40.
    assert 0 < returned(name, text, body) < 6_000_000


# ---- what can't be changed ----

WRONG = [
    ({"off": ["layers.1.self_attention 9"]}, "head “layers.1.self_attention 9”"),
    ({"off": ["layers.1.feed_forward 0"]}, "head “layers.1.feed_forward 0”"),
    ({"hidden": ["text 99"]}, "place “text 99”"),
    ({"carried": [{"place": 99}]}, "place “text 99”"),
    ({"carried": [{"stack": "read"}]}, "place “read 0”"),
    ({"carried": [{"name": "layers.9"}]}, "to “layers.9” of “text”"),
    ({"carried": [{"name": "layers.1.self_attention.mixed", "head": 4}]}, "head 4 in “layers.1.self"),
    ({"carried": [{"vector": [1, 2]}]}, "“layers.0” stand 64 numbers, not 2"),
    ({"numbers": [{"name": "word"}]}, "weight “word, 0, 0”"),
    ({"numbers": [{"column": 64}]}, "weight “word.weight, 0, 64”"),
    ({"numbers": [{"value": "much"}]}, "“much” is no number"),
]


@pytest.mark.thorough
def test_what_does_not_exist_is_named_and_what_was_changed_is_whole_again():
    right = {
        "carried": {"stack": "text", "name": "layers.0", "place": 0, "vector": [0] * 64},
        "numbers": {"name": "word.weight", "row": 0, "column": 0, "value": 1},
    }
    (plain,) = IN_PAGE["language-model"].runs(1)
    runs = [{**plain, "changes": {what: [each] for what, each in right.items()}}]
    for given, _ in WRONG:
        ((what, several),) = given.items()
        whole = [right[what] | each for each in several] if what in right else several
        runs.append({**plain, "changes": {what: whole}})
    first, changed, *wrong, last = in_node("language-model", [plain, *runs, plain])
    assert first == last != changed
    for (_, words), said in zip(WRONG, wrong, strict=True):
        assert words in said.get("error", ""), words


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "places"), [("induction", 48), ("gpt", 128)])
def test_behind_the_last_learned_place_nothing_is_read(name, places):
    said = in_node(name, [{"read": [1] * places}, {"read": [1] * (places + 1)}])
    assert "traces" in said[0]
    assert said[1]["error"] == f"There are {places} places, and no more."


# ---- what “Reach in” counts ----

REACHING = ("bench/anatomy.js", "bench/words.js", "bench/reach.js")
PAIRED = [
    ("the kings that hear", "the king that hear", [0, 1, 2, 3]),
    ("the king that the dog hears", "the king hears", [0, 1, -1, -1, -1, 2]),
    ("the king hears", "the king that the dog hears", [0, 1, 5]),
    ("a x b c", "a b c", [0, -1, 1, 2]),
    ("a a b", "a b", [0, -1, 1]),
    ("a b c d", "x b c y z", [0, 1, 2, 4]),
    ("a b c d", "x y", [0, -1, -1, 1]),
    ("a", "b c", [1]),
]


def test_what_begins_or_ends_alike_goes_together_and_the_last_with_the_last():
    given = [[first.split(), second.split()] for first, second, _ in PAIRED]
    body = "return given.map((each) => pairedPlaces(...each));"
    assert returned("induction", given, body, REACHING) == [pairs for _, _, pairs in PAIRED]


@pytest.mark.parametrize("name", ["language-model", "translator"])
def test_queries_keys_and_values_are_a_third_of_a_projections_rows_each(name):
    body = """
        const isThird = ({ words }) => / (queries|keys|values)$/.test(words);
        const thirds = matricesOf(model, anatomy(model)).filter(isThird);
        return thirds.map(({ name, words, start, count }) => [name, words, start, count]);
    """
    listed = returned(name, None, body, REACHING)
    assert {rows[0].rpartition(".")[2] for rows in listed} == {"in_proj_weight"}
    for thirds in zip(listed[::3], listed[1::3], listed[2::3], strict=True):
        (matrix,) = {rows[0] for rows in thirds}
        assert [rows[1].rpartition(": ")[2] for rows in thirds] == ["queries", "keys", "values"]
        assert [rows[2:] for rows in thirds] == [[0, 64], [64, 64], [128, 64]], matrix


# ---- a GPT's pieces ----

TEXT = """Return the number of nodes in the graph.

Parameters
----------
G : NetworkX graph
    A directed or undirected graph, naïve 🙂 or not.

>>> x_1 = np.zeros((3, 4096))
"""


def strings() -> list[str]:
    """What is cut in a way of its own, and all of it mixed; that letters are called alike is shown below."""
    some = [
        TEXT, "", " ", "  a", "\r\n\r\n  x", "naïve café", "cafe\u0301 n\u0303", "x²+½ Ⅷ ٣٤٥٦ 12345",
        "__init__ a_b _", "\u00a0a\u00a0 b", "\u2003wide\u3000space", "\ufeffmark", "\x1c\x1d\x85 \x0b\x0c",
        "Ελληνικά Кириллица עברית العربية हिन्दी 日本語 中文 한국어",
        "👩‍👩‍👧‍👦🏳️‍🌈 👍🏽", "\u200b\u200d\u2028\u2029",
        "𝔘𝔫𝔦 𝟘𝟙", "don't “quote” — dash…", "\t\tif x:\n\t\t\treturn", "\x00\x7f\u0378\ue000", "ǅ ª º ʰ",
    ]  # fmt: skip
    letters = sorted({letter for text in some for letter in text})
    draw = random.Random(0)
    return some + ["".join(draw.choices(letters, k=40)) for _ in range(200)]


def test_texts_are_cut_as_python_cuts_them_and_made_again():
    texts = strings()
    rows = [gpt.pieces().encode(text) for text in texts] + [[number] for number in range(gpt.VOCABULARY)]
    body = """
        const pieces = new Pieces(data.merges);
        const [texts, rows] = given;
        return [pieces.end, texts.map((text) => pieces.encode(text)), rows.map((ids) => pieces.decode(ids))];
    """
    end, cut, made = returned("gpt", [texts, rows], body)
    assert end == gpt.pieces().end
    for text, ids, ours in zip(texts, cut, rows, strict=False):
        assert ids == ours, text
    assert made == [*map(gpt.pieces().decode, rows)]  # half letters are marked


@pytest.mark.thorough
def test_every_letter_is_of_the_class_that_python_gives_it():
    """All that Python knows: a newer Unicode has more, and they are letters there or here."""
    body = """
        const alone = (text) => text.match(CHUNK).length === 1;
        const kinds = { x: "l", 7: "d", "!": "o", "": "s" };
        const kind = (letter) => kinds[["x", "7", "!"].find((other) => alone(other + letter)) ?? ""];
        return Array.from({ length: 0x110000 }, (_, code) => kind(String.fromCodePoint(code))).join("");
    """
    classes = returned("gpt", None, body)
    known = "".join(
        letter for letter in map(chr, range(0x110000)) if unicodedata.category(letter) not in ("Cn", "Cs")
    )
    kinds = {"l": r"[^\W\d_]", "d": r"\d", "s": r"\s", "o": r"[^\s\w]|_"}
    for kind, pattern in kinds.items():
        ours = {letter for letter in known if classes[ord(letter)] == kind}
        assert ours == set(re.findall(pattern, known)), kind


# ---- a text that is typed ----


@torch.no_grad()
def along(ids: list[int]) -> torch.Tensor:
    """The chances behind each of these, where places begin anew every half of the context."""
    half, rows = gpt.CONTEXT // 2, []
    for place in range(len(ids)):
        start = max(0, half * (place // half - 1))
        rows.append(IN_PAGE["gpt"].loaded()(torch.tensor([ids[start : place + 1]]))[0, -1].softmax(-1))
    return torch.stack(rows)


@pytest.mark.thorough
def test_chances_all_along_a_text_are_pytorchs_however_it_came_about():
    whole = gpt.pieces().encode(TEXT * 5)
    assert len(whole) > 2 * gpt.CONTEXT
    steps = [
        whole[:5], whole[:6], whole[:3], [*whole[:3], *whole[7:9]], whole[:127], whole[:128], whole[:129],
        whole[:70], whole, whole[:130], [*whole[:100], *whole[150:]], whole, [], whole[:1],
    ]  # fmt: skip
    body = """
        const reading = new Reading(model, new Pieces(data.merges).end);
        return given.map((ids) => {
          reading.set(ids);
          let steps = 0;
          for (; reading.behind; steps++) reading.step();
          return [reading.chances.map((row) => packed([row])), ids.map((_, t) => reading.bits(t + 1)), steps];
        });
    """
    said = returned("gpt", steps, body)
    for ids, (rows, bits, _) in zip(steps, said, strict=True):
        expected = along([gpt.pieces().end, *ids])
        assert (torch.stack([*map(unpacked, rows)]) - expected).abs().max() < 1e-5
        costs = [-float(row[number].log2()) for row, number in zip(expected, ids, strict=False)]
        assert bits == pytest.approx(costs, abs=1e-3)
    # Six pieces are read four at once. Of a longer text only what is new is read, of a shorter one nothing.
    first, longer, shorter = [steps for _, _, steps in said][:3]
    assert 0 == shorter < longer < first
