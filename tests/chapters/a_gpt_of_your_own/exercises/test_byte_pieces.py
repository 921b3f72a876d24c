"""The exercise `byte_pieces`, tried as readers would."""

from collections import Counter
from itertools import pairwise

import pytest
import torch
from exercise_cases import judged_as, named, words

from attnlab.corpora.pieces import Pieces
from chapters.a_gpt_of_your_own.exercises import check_byte_pieces


def joined(ids, pair, new, step=2):
    out, i = [], 0
    while i < len(ids):
        there = tuple(ids[i : i + 2]) == tuple(pair)
        out.append(new if there else ids[i])
        i += step if there else 1
    return out


def text_of(merges, ids, errors="replace"):
    spelled = {number: bytes([number]) for number in range(256)}
    for place, (left, right) in enumerate(merges):
        spelled[256 + place] = spelled[left] + spelled[right]
    return b"".join(spelled[number] for number in ids).decode(errors=errors)


# --- right ---


def in_the_lists_order(merges, chunk, ids):
    """The same: a merge can't bring about the pair of one that was learned before it."""
    cut = list(chunk.encode("utf-8"))
    for place, pair in enumerate(merges):
        cut = joined(cut, pair, 256 + place)
    return cut, text_of(merges, ids)


def one_at_a_time(merges, chunk, ids):
    cut, ranks = list(chunk.encode()), {pair: place for place, pair in enumerate(merges)}
    while True:
        found = [(ranks[pair], i) for i, pair in enumerate(pairwise(cut)) if pair in ranks]
        if not found:
            return cut, text_of(merges, ids)
        rank, i = min(found)
        cut[i : i + 2] = [256 + rank]


def as_a_tensor_and_by_recursion(merges, chunk, ids):
    def spell(number):
        if number < 256:
            return bytes([number])
        left, right = merges[number - 256]
        return spell(left) + spell(right)

    text = str(b"".join(map(spell, ids)), "utf-8", "replace")
    return torch.tensor(in_the_lists_order(merges, chunk, ids)[0]), text


def written_into(merges, chunk, ids):
    """Over a list that grows shorter while the loop runs: at its end a slice is empty."""
    cut = list(chunk.encode())
    for place, pair in enumerate(merges):
        for i in range(len(cut)):
            if cut[i : i + 2] == list(pair):
                cut[i : i + 2] = [256 + place]
    return [cut, text_of(merges, ids)]


# --- wrong ---


def cut_by(cut):
    return lambda merges, chunk, ids: (cut(merges, chunk), text_of(merges, ids))


def put_together_by(put):
    return lambda merges, chunk, ids: (in_the_lists_order(merges, chunk, ids)[0], put(merges, ids))


def of_letters(merges, chunk):
    ids = [ord(letter) for letter in chunk]
    for place, pair in enumerate(merges):
        ids = joined(ids, pair, 256 + place)
    return ids


def first_from_the_left(merges, chunk):
    ids, i = list(chunk.encode()), 0
    while i < len(ids) - 1:
        pair = ids[i], ids[i + 1]
        if pair in merges:
            ids[i : i + 2] = [256 + merges.index(pair)]
            i = 0
        else:
            i += 1
    return ids


def without_looking_back(merges, chunk):
    ids, i = list(chunk.encode()), 0
    while i < len(ids) - 1:
        pair = ids[i], ids[i + 1]
        if pair in merges:
            ids[i : i + 2] = [256 + merges.index(pair)]
        else:
            i += 1
    return ids


def longest_match(merges, chunk):
    spelled = [bytes([number]) for number in range(256)]
    for left, right in merges:
        spelled.append(spelled[left] + spelled[right])
    rest, ids = chunk.encode(), []
    while rest:
        piece = max((piece for piece in spelled if rest.startswith(piece)), key=len)
        ids.append(spelled.index(piece))
        rest = rest[len(piece) :]
    return ids


def latest(merges, chunk):
    ids = list(chunk.encode())
    while pairs := set(pairwise(ids)) & set(merges):
        pair = max(pairs, key=merges.index)
        ids = joined(ids, pair, 256 + merges.index(pair))
    return ids


def most_common(merges, chunk):
    ids = list(chunk.encode())
    while there := [pair for pair in pairwise(ids) if pair in merges]:
        (pair, _), *_ = Counter(there).most_common()
        ids = joined(ids, pair, 256 + merges.index(pair))
    return ids


def smallest(merges, chunk):
    """The pair of the smallest ids, for who asks for the smallest of the pairs and not of their places."""
    ids = list(chunk.encode())
    while there := [pair for pair in pairwise(ids) if pair in merges]:
        ids = joined(ids, min(there), 256 + merges.index(min(there)))
    return ids


def first_place_only(merges, chunk):
    ids = list(chunk.encode())
    for place, pair in enumerate(merges):
        for i in range(len(ids) - 1):
            if (ids[i], ids[i + 1]) == pair:
                ids[i : i + 2] = [256 + place]
                break
    return ids


def left_too_early(merges, chunk):
    ids = list(chunk.encode())
    for place, pair in enumerate(merges):
        before, ids = ids, joined(ids, pair, 256 + place)
        if ids == before:
            return ids
    return ids


def one_step(merges, chunk):
    ids = list(chunk.encode())
    for place, pair in enumerate(merges):
        ids = joined(ids, pair, 256 + place, step=1)
    return ids


def backwards(merges, chunk):
    ids = list(chunk.encode())
    for place, pair in enumerate(merges):
        for i in reversed(range(len(ids) - 1)):
            if ids[i : i + 2] == list(pair):
                ids[i : i + 2] = [256 + place]
    return ids


def one_by_one(merges, ids):
    spelled = [chr(number) for number in range(256)]
    for left, right in merges:
        spelled.append(spelled[left] + spelled[right])
    return "".join(spelled[number] for number in ids)


def numbered_from(first):
    """As joined ids are written down, with the merges looked up by the right ones."""

    def cut(merges, chunk):
        ids = in_the_lists_order(merges, chunk, [])[0]
        return [number if number < 256 else number - 256 + first for number in ids]

    return cut


RIGHT = {
    check_byte_pieces: named(in_the_lists_order, one_at_a_time, as_a_tensor_and_by_recursion, written_into)
}


NAMED = {
    check_byte_pieces: {
        "letters for bytes": cut_by(of_letters),
        "left to right": cut_by(first_from_the_left),
        "one pass": cut_by(without_looking_back),
        "longest first": cut_by(longest_match),
        "last learned first": cut_by(latest),
        "most frequent first": cut_by(most_common),
        "each once": cut_by(first_place_only),
        "stopped at a missing one": cut_by(left_too_early),
        "second of the pair kept": cut_by(one_step),
        "from the right": cut_by(backwards),
        "one too high": cut_by(numbered_from(257)),
        "one too low": cut_by(numbered_from(255)),
        "numbered from 0": cut_by(numbered_from(0)),
        "no merges": cut_by(lambda merges, chunk: list(chunk.encode())),
        "decoded piece by piece": put_together_by(
            lambda merges, ids: "".join(text_of(merges, [number]) for number in ids)
        ),
        "letters of bytes": put_together_by(one_by_one),
        "looked up once": put_together_by(
            lambda merges, ids: b"".join(
                bytes(merges[number - 256] if number >= 256 else [number]) for number in ids
            ).decode(errors="replace")
        ),
        "half a letter ignored": put_together_by(lambda merges, ids: text_of(merges, ids, "ignore")),
        "half a letter refused": put_together_by(lambda merges, ids: text_of(merges, ids, "strict")),
        "ids for bytes": put_together_by(lambda merges, ids: bytes(ids).decode(errors="replace")),
    }
}


UNKNOWN = {
    check_byte_pieces: {
        "smallest ids first": cut_by(smallest),
        "chunk alone": lambda merges, chunk, ids: in_the_lists_order(merges, chunk, ids)[0],
        "turned round": lambda merges, chunk, ids: in_the_lists_order(merges, chunk, ids)[::-1],
        "text as bytes": put_together_by(lambda merges, ids: text_of(merges, ids).encode()),
        "ids as strings": cut_by(lambda merges, chunk: list(chunk)),
        "the chunk for a text": lambda merges, chunk, ids: (in_the_lists_order(merges, chunk, ids)[0], chunk),
        "an end behind it": cut_by(lambda merges, chunk: [*in_the_lists_order(merges, chunk, [])[0], 999]),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_a_list_that_is_compared_with_a_tuple_merges_nothing():
    def cut(merges, chunk):
        ids = list(chunk.encode())
        for place, pair in enumerate(merges):
            ids = [256 + place if ids[i : i + 2] == pair else ids[i] for i in range(len(ids))]
        return ids

    report = check_byte_pieces.judge(cut_by(cut))
    assert report.mistake == "no merges"
    assert "is never equal to one" in words(report)


def test_two_slips_are_both_told():
    def code(merges, chunk, ids):
        return numbered_from(257)(merges, chunk), text_of(merges, ids, "ignore")

    report = check_byte_pieces.judge(code)
    assert report.mistake == "one too high & half a letter ignored", report


def test_the_books_own_pieces_are_told():
    def ready_made(merges, chunk, ids):
        pieces = Pieces(merges)
        return pieces.encode(chunk), pieces.decode(ids)

    report = check_byte_pieces.judge(ready_made)
    assert report.mistake == "ready-made"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda merges, chunk, ids: [3, 4, 5], "where two results, the ids of the chunk and a text, are due"),
        (lambda merges, chunk, ids: (text_of(merges, ids), [1]), "First come the ids of the chunk"),
        (put_together_by(lambda merges, ids: b"ha!"), "The text comes back as bytes."),
        (put_together_by(lambda merges, ids: list("ha!")), "The second result is list where a text"),
        (cut_by(lambda merges, chunk: ["h", "a"]), "The first result is list where a list of whole numbers"),
    ],
)
def test_what_comes_back_in_another_kind_is_told(answer, said):
    assert said in words(check_byte_pieces.judge(answer))


def test_half_written_is_not_written():
    assert check_byte_pieces.judge(lambda merges, chunk, ids: ([], ...)).state == "not written yet"


def test_what_differs_is_shown_as_it_was_written():
    report = words(check_byte_pieces.judge(put_together_by(lambda merges, ids: "hm")))
    assert "expected text of the ids: 'ha!' got text of the ids: 'hm'" in report
