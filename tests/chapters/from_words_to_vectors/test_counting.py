"""Neighbours counted in a text, and what is made of the counts."""

import math

import pytest
import torch

from chapters.from_words_to_vectors.charts import OFFERED
from chapters.from_words_to_vectors.counting import (
    agreement,
    count,
    neighbours,
    on_a_map,
    squeezed,
    surprise,
)
from chapters.from_words_to_vectors.grammar import CLASSES, NUMBER, written


def test_neighbours_share_a_sentence_and_a_window():
    the, king, rules, girl = (NUMBER[word] for word in ("the", "king", "rules", "girl"))
    pairs = neighbours([["the", "king", "rules"], ["girl"]], window=1)
    assert pairs.tolist() == [[the, king], [king, the], [king, rules], [rules, king]]
    assert girl not in pairs


def test_counts_are_of_pairs():
    counts = count(torch.tensor([[0, 1], [1, 0], [0, 1]]), size=2)
    assert counts.tolist() == [[0, 2], [1, 0]]


def test_surprise_is_a_logarithm():
    counts = torch.tensor([[3.0, 1, 0], [1, 3, 0], [0, 0, 0]])
    # Of 8 pairs a half have each word: by chance 2 in each cell.
    assert surprise(counts)[0].tolist() == pytest.approx([math.log(1.5), 0, 0])
    assert surprise(counts)[2].tolist() == [0, 0, 0], "a word that does not occur"


def test_squeezed_rows_are_the_strongest_directions():
    rows = surprise(count(neighbours(written(100, 0))))
    vectors = squeezed(count(neighbours(written(100, 0))))
    assert vectors.shape == (31, 16)
    strongest = torch.linalg.svdvals(rows)[:16]
    torch.testing.assert_close(vectors.T @ vectors, strongest.diag())


def test_halves_that_are_alike_agree_and_others_need_not():
    words = ["a", "b", "c", "d"]
    cycle = [["a", "x", "b"], ["c", "y", "d"]]
    assert agreement(cycle * 20, words, seed=0, near=1) == 1
    # One half has the first sentence of each kind, the other half something else.
    strangers = [["a", "x", "b"], ["c", "x", "a"], ["d", "x", "a"], ["b", "x", "d"]]
    assert agreement(strangers, words, seed=0, near=1) < 1


def test_the_bat_lies_between_animals_and_tools():
    at = dict(zip(OFFERED, on_a_map(count(neighbours(written(400, 0))), OFFERED), strict=True))
    lowest = min(at[word][1] for word in CLASSES["animal"])
    highest = max(at[word][1] for word in CLASSES["tool"])
    assert highest < at["bat"][1] < lowest
    assert at["bread"][0] < 0 < at["dog"][1]
    assert max(place.abs().max() for place in at.values()) == 1
