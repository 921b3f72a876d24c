"""Pieces: every text comes back, merges are those of a slow count, and a library of others cuts alike."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from attnlab.corpora.pieces import BYTES, CHUNK, Pieces, joined, learn

Merges = list[tuple[int, int]]
quick = settings(deadline=None, derandomize=True, max_examples=60)

SCRIPTS = {
    "English": "Don't stop: the 12345 cats' pyjamas cost $3.50, and that is that.",
    "code": "def f(x_1, *args):\n    return x_1**2  # sq\n\n\nif __name__ == '__main__':\n\tprint(f(3))\n",
    "line ends": "one\r\ntwo\r\n\r\n  three \t\n   ",
    "Greek": "Ἐν ἀρχῇ ἦν ὁ λόγος, καὶ ὁ λόγος ἦν πρὸς τὸν θεόν.",
    "Hindi": "सभी मनुष्य जन्म से स्वतंत्र हैं, १२३४ बार।",  # its vowels are signs that combine
    "Arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "Chinese": "人人生而自由,在尊严和权利上一律平等。",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระ",
    "emoji": "👩‍👩‍👧‍👦 is one 👍🏽, and 🇩🇪 is two letters 🙂🙂",
    "combining": "e\u0301 is é; Z\u0351\u036b\u0343a\u0323lgo; a\u200db; ﬁne ½ Ⅷ x² ‿ no\u00a0break",
}
TEXTS = st.one_of(
    st.text(),
    st.text("ab _1\n"),
    st.text("ab", min_size=8),
    st.lists(st.sampled_from([*SCRIPTS.values(), "\r\n", "  ", "_"])).map("".join),
)


@st.composite
def some_merges(draw: st.DrawFn) -> Merges:
    """Any that can be: of bytes that texts are full of, and of the pieces before."""
    merges: Merges = []
    for _ in range(draw(st.integers(0, 12))):
        known = st.sampled_from([*b"aabb \n\xe0\xa4", *range(BYTES, BYTES + len(merges))])
        pair = draw(st.tuples(known, known))
        if pair not in merges:  # `learn` gives none twice
            merges.append(pair)
    return merges


@cache
def learned() -> Pieces:
    return Pieces(learn("".join(SCRIPTS.values()) * 2, vocabulary=400))


# ---- from a text and back ----


def slowly(chunk: str, merges: Merges) -> list[int]:
    """Merge by merge as they were learned, each wherever it stands from the left."""
    ids = list(chunk.encode())
    for place, pair in enumerate(merges):
        at = 0
        while at + 1 < len(ids):
            if (ids[at], ids[at + 1]) == pair:
                ids[at : at + 2] = [BYTES + place]
            at += 1
    return ids


@quick
@given(TEXTS, some_merges())
def test_every_text_comes_back_and_the_earliest_merge_goes_first(text: str, merges: Merges) -> None:
    slow = [number for chunk in CHUNK.findall(text) for number in slowly(chunk, merges)]
    few = Pieces(merges)
    assert few.encode(text) == slow
    for pieces in (few, learned()):  # few has read all chunks before
        ids = pieces.encode(text)
        assert pieces.decode(ids) == text
        assert all(0 <= number < pieces.end for number in ids)
    assert few.encode(text) == slow


def test_chunks_are_words_numbers_signs_and_spaces() -> None:
    assert CHUNK.findall("the 12345 x_1, naïve   if\n\n  a()  ") == [
        "the", " ", "123", "45", " x", "_", "1", ",", " naïve", "  ", " if", "\n\n ", " a", "()", "  ",
    ]  # fmt: skip


def test_decoding_what_no_text_gives() -> None:
    assert Pieces([]).decode("né".encode()[:2]) == "n�"
    assert Pieces([]).decode([0x80, 97]) == "�a"
    assert Pieces([]).decode([]) == ""
    assert Pieces([(97, 98), (97, 98), (256, 99)]).encode("abc") == [258], "what comes again makes nothing"
    pieces = Pieces([(97, 98)])
    assert (pieces.end, len(pieces)) == (257, 258)
    assert pieces.decode([256, pieces.end, 99]) == "abc", "the end is the last piece and has no letters"


# ---- learning ----


def recounted(text: str, vocabulary: int) -> Merges:
    """All pairs counted anew before each merge, wherever they stand in the text."""
    chunks = [list(chunk.encode()) for chunk in CHUNK.findall(text)]
    merges: Merges = []
    while len(merges) < vocabulary - BYTES - 1:
        counts = Counter(pair for ids in chunks for pair in pairwise(ids))
        most = max(counts.values(), default=0)
        if most < 2:
            break
        merges.append(max(pair for pair in counts if counts[pair] == most))
        chunks = [joined(ids, merges[-1], BYTES + len(merges) - 1) for ids in chunks]
    return merges


@quick
@given(TEXTS.filter(bool), st.integers(BYTES + 1, 300))
def test_learned_merges_are_those_of_a_naive_recount(text: str, vocabulary: int) -> None:
    assert learn(text, vocabulary) == recounted(text, vocabulary)


def test_a_vocabulary_has_the_size_that_was_asked_for_or_what_the_text_yields() -> None:
    assert len(learned()) == 400
    assert len({*learned().bytes}) == 400, "all are different, and the end is empty"
    assert learn("the the", vocabulary=257) == []
    assert len(learn("the the", vocabulary=1000)) == 2, "then every chunk is one piece"
    assert learn("abc", vocabulary=1000) == [], "what stands there once is no habit"
    assert learn("a", vocabulary=1000) == [], "nor is what stands alone"


# ---- a library of others ----


def letters_for_bytes() -> list[str]:
    """GPT-2's alphabet: a byte that prints is its own letter, the others follow from number 256 on."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printed else next(others)) for byte in range(256)]


def theirs(pieces: Pieces) -> Tokenizer:
    letters = letters_for_bytes()
    assert {*letters} == {*pre_tokenizers.ByteLevel.alphabet()}
    names = ["".join(letters[byte] for byte in piece) for piece in pieces.bytes[: pieces.end]]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={name: number for number, name in enumerate(names)},
            merges=[(names[left], names[right]) for left, right in pieces.merges],
        )
    )
    # CHUNK as their expressions say it: Python's \w is letters and numbers of all kinds, and _.
    word, digit = r"[\p{L}\p{Nl}\p{No}]", r"\p{Nd}"
    pattern = rf" ?{word}+|{digit}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+|\s+(?!\S)|\s+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("vocabulary", [257, 280, 400])
def test_the_tokenizers_library_cuts_alike(script: str, vocabulary: int) -> None:
    ours = Pieces(learned().merges[: vocabulary - BYTES - 1])
    other = theirs(ours)
    for text in (SCRIPTS[script], SCRIPTS[script][::-1], SCRIPTS[script].upper() * 3):
        ids = other.encode(text).ids
        assert ours.encode(text) == ids
        assert other.decode(ids) == ours.decode(ids) == text


# ---- what cannot work ----


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Pieces([(256, 97)]), "merges[0] must join two pieces from 0 to 255, got (256, 97)"),
        (lambda: Pieces([(97, 98), (257, 99)]), "merges[1] must join two pieces from 0 to 256, got"),
        (lambda: Pieces([(97, -1)]), "merges[0] must join two pieces from 0 to 255, got (97, -1)"),
        (lambda: Pieces([(97,)]), "merges[0] must join two pieces from 0 to 255, got (97,)"),
        (lambda: Pieces([(1, 2, 3)]), "merges[0] must join two pieces from 0 to 255, got (1, 2, 3)"),
        (lambda: Pieces([(97, 98)]).decode([97, 258]), "ids must be from 0 to 257, got 258"),
        (lambda: Pieces([(97, 98)]).decode([97, -1]), "ids must be from 0 to 257, got -1"),
        (lambda: learn("", vocabulary=300), "text must hold at least one byte, got none"),
        (lambda: learn("the", vocabulary=256), "vocabulary must be at least 257, got 256"),
        (lambda: learn(["the"], vocabulary=300), "text must be a str, got list"),
        # Half of a surrogate pair is no text: Python can hold it, and no bytes of UTF-8 stand for it.
        *(
            (lambda call=call, lone=lone: call(lone), "surrogates not allowed")
            for call in (learned().encode, lambda text: learn(text, vocabulary=300))
            for lone in ("\ud83d", "a\udc80b")
        ),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        call()
