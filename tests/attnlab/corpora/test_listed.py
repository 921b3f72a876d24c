"""Somebody else's pieces: cut as the tokenizers library cuts, on texts of all kinds; lists that cannot be."""

import random
import re
from pathlib import Path

import pytest
from gguf_files import theirs
from tokenizers import pre_tokenizers

from attnlab.corpora import text
from attnlab.corpora.listed import ListedPieces, letters
from attnlab.today import opened
from attnlab.today.gguf import File

SOME = [  # what meets at borders: digits, spaces and signs of all kinds, shortened words, scripts
    *"0123456789²½Ⅷ٣१𑽐𐵀①一丁aZéßÅñ_-.,;:()[]{}=+*/\"'`´’#@€<>|\U0010ffff\u0378", "  ", "\n\n", "    ",
    *" \t\n\r\v\f\0\x1c\x1d\x1e\x1f\x85\xa0\u2003\u2028\u3000\ufeff", "'s", "'LL", "don't", "x_1", "__init__",
    "def f(x):\n    return x", "<|im_end|>", "e\u0301", "Z\u0351\u036b", "naïve", "हिन्दी", "مرحبا", "人生",
    "ไทย", "👩‍👩‍👧‍👦", "👍🏽", "🇩🇪",
]  # fmt: skip


def lines():
    """A thousand: prose, code, what borders are made of, and any letters at all."""
    draw = random.Random(0)
    files = [file for file in sorted((text.DATA / "sample").rglob("*.t*")) if file.is_file()]
    for whole in ("".join(file.read_text("utf-8") for file in files), Path(re.__file__).read_text("utf-8")):
        for at in draw.sample(range(len(whole) - 80), 200):
            yield whole[at : at + draw.randrange(1, 80)]
    for _ in range(300):
        yield "".join(draw.choices(SOME, k=draw.randrange(1, 12)))
        codes = (draw.choice([draw.randrange(0xD800), draw.randrange(0xE000, 0x110000)]) for _ in range(8))
        yield " ".join(map(chr, codes))


def test_a_thousand_lines_are_cut_as_the_tokenizers_library_cuts_them():
    file = File(opened.wheel())
    ours, other = opened.pieces(file), theirs(file.about)
    for line in lines():
        ids = ours.encode(line)
        assert ids == other.encode(line).ids, repr(line)
        assert 0 in ids or ours.decode(ids) == line, "a byte that no text of theirs had is lost"
    # Transformers' own reading of the file forgets to part the digits: spaces before one are then cut in two.
    assert other.encode("x =    1").tokens == ["x", "Ġ=", "ĠĠĠĠ", "1"]
    other.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert other.encode("x =    1").tokens == ["x", "Ġ=", "ĠĠĠ", "Ġ", "1"]


@pytest.mark.parametrize(
    ("more", "arguments", "words"),
    [
        ([], (["h i", "h e"],), "merges[1] must join two pieces of the list to a third, got 'h e'"),
        ([], (["hi"],), "merges[0] must join two pieces of the list to a third, got 'hi'"),
        ([], (["h i"], [257]), "ids must be from 0 to 256, got 257"),
        (["▁the"], ([],), "pieces[257] must be of letters that stand for bytes, got '▁the'"),
    ],
)
def test_lists_that_cannot_be_are_refused(more, arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ListedPieces([*letters(), "hi", *more], *arguments)
