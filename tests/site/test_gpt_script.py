"""The script that runs the GPT in the page, in Node: pieces, tensors, chances and draws as in Python."""

import random
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from script_and_pytorch import returned, unpacked

from attnlab import decoding
from attnlab.runtime import generator
from bookkit.registry import BOOK
from chapters.a_gpt_of_your_own import models
from chapters.a_gpt_of_your_own.playground import loaded

TEXT = """Return the number of nodes in the graph.

Parameters
----------
G : NetworkX graph
    A directed or undirected graph, naïve 🙂 or not.

>>> x_1 = np.zeros((3, 4096))
"""


def run(folder: Path, given: Any, body: str) -> Any:
    """What the function of `given`, the `model` and its `data` returns."""
    return returned("gpt", given, body, folder)


def ids_of(text: str) -> list[int]:
    return [models.pieces().end, *models.pieces().encode(text)]


# ---- pieces ----


def strings() -> list[str]:
    """Words of several scripts, what Python and JavaScript may call otherwise, and all of it mixed."""
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


def test_texts_are_cut_as_python_cuts_them(tmp_path):
    texts = strings()
    said = run(
        tmp_path,
        texts,
        "const pieces = new Pieces(data.merges); return given.map((text) => pieces.encode(text));",
    )
    for text, ids in zip(texts, said, strict=True):
        assert ids == models.pieces().encode(text), text


def test_pieces_make_the_text_again_and_half_letters_are_marked(tmp_path):
    rows = [models.pieces().encode(text) for text in strings()]
    rows += [[number] for number in range(models.VOCABULARY)]
    said = run(
        tmp_path,
        rows,
        """const pieces = new Pieces(data.merges);
        return [pieces.end, ...given.map((ids) => pieces.decode(ids))];""",
    )
    assert said == [models.pieces().end, *map(models.pieces().decode, rows)]


@pytest.mark.thorough
def test_every_letter_is_of_the_class_that_python_gives_it(tmp_path):
    """All that Python knows: a newer Unicode has more, and they are letters there or here."""
    classes = run(
        tmp_path,
        None,
        """
        const alone = (text) => text.match(CHUNK).length === 1;
        const kinds = { x: "l", 7: "d", "!": "o", "": "s" };
        const kind = (letter) => kinds[["x", "7", "!"].find((other) => alone(other + letter)) ?? ""];
        return Array.from({ length: 0x110000 }, (_, code) => kind(String.fromCodePoint(code))).join("");
        """,
    )
    known = "".join(
        letter for letter in map(chr, range(0x110000)) if unicodedata.category(letter) not in ("Cn", "Cs")
    )
    kinds = {"l": r"[^\W\d_]", "d": r"\d", "s": r"\s", "o": r"[^\s\w]|_"}
    for kind, pattern in kinds.items():
        ours = {letter for letter in known if classes[ord(letter)] == kind}
        assert ours == set(re.findall(pattern, known)), kind


# ---- the model ----


PACKED = "const packed = (row) => Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('base64');"


def together(rows: list[str]) -> torch.Tensor:
    return torch.stack([unpacked(row) for row in rows])


def test_the_logits_of_a_whole_docstring_are_pytorchs(tmp_path):
    ids = ids_of(TEXT)
    said = run(tmp_path, ids, f"{PACKED} return finished(model.running(given)).map(packed);")
    with torch.no_grad():
        assert (together(said) - loaded()(torch.tensor([ids]))[0]).abs().max() < 1e-4


# ---- a text that is typed ----


@torch.no_grad()
def along(ids: list[int]) -> torch.Tensor:
    """The chances behind each of these, where places begin anew every half of the context."""
    half, rows = models.CONTEXT // 2, []
    for place in range(len(ids)):
        start = max(0, half * (place // half - 1))
        rows.append(loaded()(torch.tensor([ids[start : place + 1]]))[0, -1].softmax(-1))
    return torch.stack(rows)


@pytest.mark.thorough
def test_chances_all_along_a_text_are_pytorchs_however_it_came_about(tmp_path):
    whole = ids_of(TEXT * 5)[1:]
    assert len(whole) > 2 * models.CONTEXT
    steps = [
        whole[:5], whole[:6], whole[:3], [*whole[:3], *whole[7:9]], whole[:127], whole[:128], whole[:129],
        whole[:70], whole, whole[:130], [*whole[:100], *whole[150:]], whole, [], whole[:1],
    ]  # fmt: skip
    said = run(
        tmp_path,
        steps,
        f"""{PACKED} const reading = new Reading(model, new Pieces(data.merges).end);
        return given.map((ids) => {{
          reading.set(ids);
          let steps = 0;
          for (; reading.behind; steps++) reading.step();
          return [reading.chances.map(packed), ids.map((_, t) => reading.bits(t + 1)), steps];
        }});""",
    )
    for ids, (rows, bits, _) in zip(steps, said, strict=True):
        expected = along([models.pieces().end, *ids])
        assert (together(rows) - expected).abs().max() < 1e-5
        costs = [-float(row[number].log2()) for row, number in zip(expected, ids, strict=False)]
        assert bits == pytest.approx(costs, abs=1e-3)
    # Six pieces are read four at once. Of a longer text only what is new is read, of a shorter one nothing.
    first, longer, shorter = [steps for _, _, steps in said][:3]
    assert 0 == shorter < longer < first


# ---- drawing ----


@pytest.mark.parametrize("temperature", [0.1, 0.8, 1.0, 2.0])
@pytest.mark.parametrize("top_p", [0.05, 0.6, 0.9, 1.0])
def test_what_is_drawn_from_is_as_attnlab_says(tmp_path, temperature, top_p):
    logits = 3 * torch.randn(50, generator=generator(1))
    said = run(
        tmp_path,
        [logits.softmax(-1).tolist(), temperature, top_p],
        "const [chances, ...rest] = given; return nucleus(Float32Array.from(chances), ...rest);",
    )
    expected = decoding.chances(logits, temperature, top_p=top_p)
    shares = torch.zeros(50)
    for number, share in said:
        shares[number] = share
    assert (shares - expected).abs().max() < 1e-5
    assert {number for number, _ in said} >= set((expected > 1e-9).nonzero()[:, 0].tolist())


def test_a_number_falls_on_a_piece_by_its_share(tmp_path):
    options = [[7, 0.5], [3, 0.3], [9, 0.2]]
    numbers = [0, 0.49, 0.51, 0.79, 0.81, 0.999999, 1]
    said = run(tmp_path, [options, numbers], "return given[1].map((number) => drawn(given[0], number));")
    assert said == [7, 7, 3, 3, 9, 9, 9]


def test_a_seed_gives_the_same_numbers_again_and_they_are_spread_evenly(tmp_path):
    said = run(
        tmp_path,
        [1, 1, 2],
        "return given.map((seed) => Array.from({ length: 4000 }, die(seed)));",
    )
    assert said[0] == said[1] != said[2]
    for numbers in map(torch.tensor, said):
        assert 0 <= numbers.min() <= numbers.max() < 1
        assert numbers.histc(10, 0, 1).sub(400).abs().max() < 80  # four standard deviations
        assert abs(float(torch.corrcoef(torch.stack([numbers[1:], numbers[:-1]]))[0, 1])) < 0.06


def test_no_two_scripts_of_a_page_have_a_name_in_common():
    """Each is a script of its own, and all that one declares outside of its functions is the page's."""
    declared = Counter(
        name
        for file in (BOOK / "_static").glob("*.js")
        for name in set(
            re.findall(r"^(?:const|let|class|(?:async )?function) (\w+)", file.read_text("utf-8"), re.M)
        )
    )
    assert {name for name, count in declared.items() if count > 1} == set()
