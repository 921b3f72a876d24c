"""The language of 31 words: what its sentences hold, and what is known of its words."""

import pytest
import torch

from chapters.from_words_to_vectors.grammar import (
    ANALOGIES,
    CLASSES,
    NUMBER,
    PEOPLE,
    VOCABULARY,
    share_found,
    written,
)


def test_a_seed_writes_the_same_text_again():
    assert written(5, 1) == written(5, 1)
    assert written(5, 1) != written(5, 2)


def test_every_word_is_in_some_sentence_and_every_sentence_agrees_with_its_person():
    text = written(600, 0)
    assert {word for sentence in text for word in sentence} == set(VOCABULARY)
    for sentence in text:
        whose, does = PEOPLE[sentence[1]]
        assert whose in sentence
        assert sentence[2] == does or sentence[2] not in {does for _, does in PEOPLE.values()}


def test_gender_shows_as_often_as_is_asked_for():
    def share(gendered):
        text = written(1000, 0, gendered)
        return sum(bool({"his", "her"} & set(sentence)) for sentence in text) / len(text)

    assert share(0) == 0
    assert share(1) == 1
    assert share(0.25) == pytest.approx(0.25, abs=0.05)  # three standard errors are .04


def test_an_analogy_leads_from_one_pair_to_another():
    assert len(set(ANALOGIES)) == 12
    assert ("man", "woman", "king", "queen") in ANALOGIES
    assert ("queen", "king", "girl", "boy") in ANALOGIES


def test_words_are_found_by_a_nearest_one_of_their_own_class():
    nearest = torch.zeros(len(VOCABULARY), dtype=torch.int64) + NUMBER["bat"]
    assert share_found(nearest) == 0
    for word in CLASSES["food"]:
        nearest[NUMBER[word]] = NUMBER["cake"]
    assert share_found(nearest) == 4 / 16
