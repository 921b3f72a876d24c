"""The grammar of agreement: what it draws, reads and knows of itself."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensors import quick

from attnlab.corpora import agreement
from attnlab.corpora.agreement import (
    END,
    FIRST,
    State,
    fault,
    following,
    read,
    surprises,
)
from attnlab.runtime import generator

DRAWN = agreement.sentences(1500, generator(11))


def states() -> list[State]:
    """Every state that a sentence can be in."""
    found = [FIRST]
    for state in found:
        found += {behind for _, behind in following(state).values() if behind} - {*found}
    return found


# ---- drawing ----


def test_chances_sum_to_1_in_every_state():
    for state in states():
        chances = [chance for chance, _ in following(state).values()]
        assert min(chances) > 0
        assert math.isclose(sum(chances), 1)
        assert {*following(state)} <= {*agreement.WORDS}


@quick
@given(st.integers(0, 10_000))
def test_every_drawn_sentence_is_read(seed):
    sentence = agreement.sentence(generator(seed))
    assert fault(sentence) == ""
    assert sentence.count(END) == 1
    assert sentence[-1] == END
    assert len(read(sentence)) == len(sentence)


def test_at_least_one_sentence_is_drawn():
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        agreement.sentences(0, generator(0))


def test_words_come_as_often_as_their_chances_say():
    firsts = [sentence[1] for sentence in DRAWN]
    for word, (chance, _) in following(State("subject")).items():
        error = math.sqrt(chance * (1 - chance) / len(firsts))
        assert firsts.count(word) / len(firsts) == pytest.approx(chance, abs=4 * error), word


# ---- what a sentence costs ----


def chance_of(sentence):
    """The product of the chances, taken along the states by hand."""
    product, state = 1.0, FIRST
    for word in sentence:
        chance, state = following(state)[word]
        product *= chance
    assert state is None
    return product


def test_surprises_sum_to_the_logarithm_of_a_sentences_chance():
    for sentence in DRAWN[:200]:
        costs = surprises(sentence)
        assert len(costs) == len(sentence)
        assert min(costs) >= 0
        assert math.isclose(sum(costs), -math.log(chance_of(sentence)))
    # By hand: the noun is the third of eight by rank, singular; the verb the first of six; no object.
    nouns, verbs = sum(1 / rank for rank in range(1, 9)), sum(1 / rank for rank in range(1, 7))
    cat, sees = 0.6 / 3 / nouns, 0.45 / verbs
    assert chance_of(["the", "cat", "sees", "."]) == pytest.approx(cat * sees * 0.5)


# ---- faults ----


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("the dog see .", "word 3 must be one of that, near, behind, with, under, sees"),
        ("the dogs near the king sees .", "word 6 must be one of that, near"),
        ("the king that the dogs sees .", "word 6 must be one of see, love"),
        ("the king that the dogs see see .", "word 7 must be one of that, near"),
        ("dogs see .", "word 1 must be one of the, got 'dogs'"),
        ("the dogs see", "words must end with '.', got 'the dogs see'"),
        ("the dogs see . the", "word 5 must not be there: the sentence has ended, got 'the'"),
        ("", "words must end with '.', got"),
        ("the dogs sing .", "got 'sing'"),
        ("the dog near the cats near the cats near the cats near the cats near", "word 15 must be one of s"),
    ],
)  # fmt: skip
def test_a_fault_is_named_at_its_word(words, said):
    assert said in fault(words.split())
    with pytest.raises(ValueError, match="must"):
        read(words.split())
