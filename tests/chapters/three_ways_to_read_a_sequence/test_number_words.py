"""The numbers below a hundred: spelled, written as rows of letters, read back, and parted."""

import torch

from chapters.three_ways_to_read_a_sequence.number_words import (
    END,
    LETTERS,
    LONGEST,
    PADDING,
    START,
    known_and_held_out,
    spelled,
    tables,
    written,
)


def value(words):
    """What the words add up to, each read by itself."""
    alone = {spelled(number): number for number in (*range(20), *range(20, 100, 10))}
    return sum(alone[word] for word in words.split("-"))


def test_words_are_read_back_as_the_number():
    assert [value(spelled(number)) for number in range(100)] == [*range(100)]


def test_words_are_spelled_as_in_english():
    # Counts that are known: all letters from one to ninety-nine, and the one number that counts its own.
    assert sum(len(spelled(number).replace("-", "")) for number in range(1, 100)) == 854
    assert [number for number in range(100) if len(spelled(number)) == number] == [4]
    assert [spelled(number) for number in (0, 15, 40, 88)] == ["zero", "fifteen", "forty", "eighty-eight"]


def test_rows_say_the_words_and_what_comes_before_is_one_place_later():
    inputs, targets = tables()
    assert inputs.shape == targets.shape == (100, LONGEST)
    for number in range(100):
        letters = len(spelled(number))
        assert written(targets[number]) == spelled(number)
        assert targets[number, letters] == END
        assert inputs[number, 0] == START
        assert torch.equal(inputs[number, 1 : letters + 1], targets[number, :letters])
        assert inputs[number, letters + 1 :].eq(PADDING).all()
        assert targets[number, letters + 1 :].eq(PADDING).all()
    assert targets[:, -1].eq(END).any(), "no wider than the longest number"


def test_what_comes_after_the_end_is_not_written():
    row = torch.tensor([LETTERS.index(letter) for letter in "ten$ty$"])
    assert written(row) == "ten"
    assert written(row[:2]) == "te"


def test_every_number_is_known_or_held_out_and_each_word_of_the_latter_is_known():
    known, held_out = known_and_held_out()
    assert sorted([*known.tolist(), *held_out.tolist()]) == [*range(100)]
    assert len(held_out) == 16
    assert held_out.min() >= 20
    words = {word for number in known.tolist() for word in spelled(number).split("-")}
    assert words.issuperset(word for number in held_out.tolist() for word in spelled(number).split("-"))
