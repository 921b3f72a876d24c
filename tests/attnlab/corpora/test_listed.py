"""Somebody else's pieces: cut as the tokenizers library cuts, on texts of all kinds; lists that cannot be."""

import random
import re
from pathlib import Path

import pytest
from gguf_files import theirs
from tokenizers import pre_tokenizers

from attnlab.corpora import text
from attnlab.corpora.listed import ListedPieces, letters
from attnlab.gguf import File
from attnlab.today import opened

SOME = [  # what meets at borders: digits, spaces and signs of all kinds, shortened words, scripts
    *"0123456789²½Ⅷ٣१𑽐𐵀①一丁aZéßÅñ_-.,;:()[]{}=+*/\"'`´’#@€<>|\U0010ffff\u0378", "  ", "\n\n", "    ",
    *" \t\n\r\v\f\0\x1c\x1d\x1e\x1f\x85\xa0\u2003\u2028\u3000\ufeff", "'s", "'LL", "don't", "x_1", "__init__",
    "def f(x):\n    return x", "<|im_end|>", "e\u0301", "Z\u0351\u036b", "naïve", "हिन्दी", "مرحبا", "人生",
    "ไทย", "👩‍👩‍👧‍👦", "👍🏽", "🇩🇪",
]  # fmt: skip


@pytest.fixture(scope="module")
def file():
    return File(opened.wheel())


def lines():
    """A thousand: prose, code, what borders are made of, and any letters at all."""
    draw = random.Random(0)
    sample = text.DATA / "sample"
    prose = "".join(sorted(file.read_text("utf-8") for file in sample.rglob("*.t*") if file.is_file()))
    code = "".join(Path(module.__file__).read_text("utf-8") for module in (opened, text, re))
    for whole in (prose, code):
        for _ in range(200):
            at = draw.randrange(len(whole) - 80)
            yield whole[at : at + draw.randrange(1, 80)]
    for _ in range(400):
        yield "".join(draw.choices(SOME, k=draw.randrange(1, 12)))
    for _ in range(200):
        codes = (draw.choice([draw.randrange(0xD800), draw.randrange(0xE000, 0x110000)]) for _ in range(8))
        yield " ".join(map(chr, codes))


def test_a_thousand_lines_are_cut_as_the_tokenizers_library_cuts_them(file):
    ours, other = opened.pieces(file), theirs(file.about)
    lost = {
        letters().index(letter) for letter in letters() if letter not in file.about["tokenizer.ggml.tokens"]
    }
    for line in lines():
        ids = ours.encode(line)
        assert ids == other.encode(line).ids, repr(line)
        if not lost.intersection(line.encode()):
            assert ours.decode(ids) == line
    assert ours.encode("\x13") == [0], "a byte that no text of theirs had is none of the pieces"


def test_hugging_faces_own_reading_of_the_file_does_not_part_the_digits(file):
    """Transformers forgets it: many spaces before a number are then cut in two."""
    other = theirs(file.about)
    assert other.encode("x =    1").tokens == ["x", "Ġ=", "ĠĠĠĠ", "1"]
    other.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert other.encode("x =    1").tokens == ["x", "Ġ=", "ĠĠĠ", "Ġ", "1"]


SPELLED = [*letters(), "hi", "Ġhi"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((SPELLED, ["h i", "h e"]), "merges[1] must join two pieces of the list to a third, got 'h e'"),
        ((SPELLED, ["hi"]), "merges[0] must join two pieces of the list to a third, got 'hi'"),
        ((SPELLED, ["Ġ h i"]), "merges[0] must join two pieces of the list"),
        ((SPELLED, ["h i"], [258]), "ids must be from 0 to 257, got 258"),
        ((SPELLED, ["h i"], [], -1), "ids must be from 0 to 257, got -1"),
        (([*SPELLED, "▁the"], []), "pieces[258] must be of letters that stand for bytes, got '▁the'"),
        ((SPELLED[:-2], ["h i"]), "merges[0] must join two pieces of the list"),
    ],
)  # fmt: skip
def test_lists_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ListedPieces(*arguments)
    with pytest.raises(ValueError, match=r"^ids must be from 0 to 257, got 258$"):
        ListedPieces(SPELLED, ["h i"]).decode([258])
