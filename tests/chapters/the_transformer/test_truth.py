"""The grammar as a table, the words in Lingo, and the fifty tries: they are what the grammar says."""

import json
import re

import pytest
from wrong_sentences import mutated

from attnlab.corpora import agreement, grammar
from attnlab.corpora.grammar_check import English, Lingo, fault
from attnlab.runtime import generator
from chapters.the_transformer import models, truth
from chapters.translating_with_attention.models import training_pairs


def first_fault(words):
    """The place of the first word that the table does not let stand, counted from 1; None in a sentence."""
    state = 0
    for place, word in enumerate([*words, ""], start=1):
        kind = truth.kind_of(word) if word else "end"
        if kind not in truth.states()[state]:
            return place
        state = truth.states()[state][kind]
    return None


def test_the_table_lets_stand_what_the_grammar_lets_stand():
    sentences = [pair.english for pair in grammar.pairs(500, generator(3))]
    for words in [*sentences, *mutated(sentences, sorted(English.forms), 500)]:
        said = re.match(r"word (\d+)", fault(words, English))
        assert first_fault(words) == (int(said[1]) if said else None), words


def test_the_table_is_as_small_as_it_can_be():
    """No two of its states are alike, and each can be come to."""
    rows = truth.states()
    assert len({json.dumps(row, sort_keys=True) for row in rows}) == len(rows) == 20
    assert {state for row in rows for state in row.values()} == {*range(-1, len(rows))}


def test_every_word_of_english_has_its_word_in_lingo():
    said = {word: lingo for kind in truth.words().values() for word, lingo in kind.items()}
    assert said.keys() == English.forms.keys()
    for word, lingo in said.items():
        forms = [lingo.replace("-", ending) for ending in ("o", "a", "e")]
        known = [form for form in forms if form and form.split()[-1] in Lingo.forms]
        assert known or word == "will", word


def test_words_of_both_numbers_come_in_the_same_order():
    for kind in ("noun", "transitive verb", "intransitive verb", "reflexive verb"):
        singular, plural = (list(truth.words()[f"{kind} {number}"]) for number in ("singular", "plural"))
        assert len(singular) > 1
        assert [word.removesuffix("s") for word in singular] == [word.removesuffix("s") for word in plural]


def test_fifty_short_sentences_are_new_to_the_translator():
    tried = truth.to_translate()
    learned = {" ".join(pair.english) for pair in training_pairs()}
    assert len(tried) == truth.TRIES
    assert learned.isdisjoint(tried)
    assert {len(each.split()) for each in tried} <= {*range(4, 13)}
    assert all(fault(each.split(), English) == "" for each in tried)


@pytest.mark.thorough
@pytest.mark.slow
def test_no_sentence_that_was_learned_from_has_one_of_the_fifty_beginnings():
    learned = "\n" + "\n".join(map(" ".join, agreement.sentences(models.SENTENCES, generator(0))))
    assert [beginning for beginning in truth.before_verbs() if f"\n{beginning} " in learned] == []


def test_fifty_beginnings_stop_before_a_verb_far_from_its_subject():
    tried = truth.before_verbs()
    assert len({*tried}) == truth.TRIES
    for beginning in tried:
        ends = [[*beginning.split(), verb, agreement.END] for pair in truth.verbs().items() for verb in pair]
        whole = [each for each in ends if not agreement.fault(each)]
        verb, subject = agreement.verb_and_subject(whole[0])
        assert len(whole) == len(ends) / 2  # the plurals, or the singulars
        assert verb == len(beginning.split())
        assert 8 <= verb - subject <= 12


@pytest.mark.parametrize("number", ["singular", "plural"])
def test_the_verbs_are_those_of_the_grammar(number):
    state = agreement.State("verb of clause", clause=number)
    verbs = truth.verbs().values() if number == "singular" else truth.verbs()
    assert [*agreement.following(state)] == [*verbs]
