"""Pairs of sentences: every word has its counterparts, agrees, and stands where its language has it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.corpora import grammar
from attnlab.corpora.grammar import ADJECTIVES, CONJUNCTIONS, DETERMINERS, NOUNS, PLURALS, PREPOSITIONS, VERBS
from attnlab.corpora.grammar_check import English, Lingo, fault
from attnlab.runtime import generator

pairs = st.integers(0, 2**32).map(lambda seed: grammar.Writer(generator(seed)).sentence())
STEMS = {root: stem for verbs in VERBS.values() for root, stem in verbs.items()}
WORDS = DETERMINERS | ADJECTIVES | NOUNS | STEMS | PREPOSITIONS | CONJUNCTIONS
SINGULAR = {several: one for one, several in PLURALS.items()}
OWNERS = ("'s", "'")


def root(word):
    """ "dogs" comes from "dog", "these" from "this" and "sleeps" from "sleep"."""
    return word if word in WORDS else SINGULAR.get(word, word.removesuffix("s"))


# ---- alignments ----


@given(pairs)
def test_aligned_words_are_each_other_s_translation(pair):
    assert {i for i, _ in pair.alignment} == {*range(len(pair.english))}
    assert {j for _, j in pair.alignment} == {*range(len(pair.lingo))}
    assert len({*pair.alignment}) == len(pair.alignment)
    for i, word in enumerate(pair.english):
        opposite = " ".join(pair.lingo[j] for place, j in pair.alignment if place == i)
        if word in OWNERS:
            assert opposite == "de"
        elif word == "will":
            assert "era" in opposite
        elif word in PREPOSITIONS | CONJUNCTIONS:
            assert opposite == WORDS[word]
        elif root(word) in NOUNS:
            assert opposite.removesuffix("s") == NOUNS[root(word)]
            assert opposite.endswith("s") == (word not in NOUNS), "both sides have the same number"
        else:
            assert opposite.startswith(WORDS[root(word)].removesuffix("-"))


def test_an_alignment_crosses_where_two_lines_do():
    one, other = grammar.entry("a", "x"), grammar.entry("b", "y z")
    assert not grammar.joined([one, other], order=[0, 1]).crosses
    assert grammar.joined([one, other], order=[1, 0]).crosses
    assert not grammar.entry("b", "y z").crosses, "lines that part at a word do not cross"


@given(pairs)
def test_no_adjective_stands_twice_in_a_phrase(pair):
    phrase = set()
    for word in pair.english:
        assert word not in phrase
        phrase = {*phrase, word} if word in ADJECTIVES else set()


def test_sentences_are_short_and_long_and_a_seed_writes_them_again():
    many = grammar.pairs(1000, generator(0))
    lengths = torch.tensor([len(pair.english) for pair in many])
    assert lengths.min() == 3
    assert lengths.median() in (10, 11)
    assert lengths.max() < 60
    assert grammar.pairs(20, generator(0)) == many[:20]
    assert grammar.pairs(20, generator(1)) != many[:20]
    # On every machine, too.
    assert " ".join(many[0].english) == "this young big tree follows my red happy kings with my houses"
    assert " ".join(many[0].lingo) == "esto arbo grando juno sege mios regos felicos rubos kon mias casas"
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        grammar.pairs(0, generator(0))


# ---- the check of the grammar ----


@given(pairs, st.data())
def test_both_sides_of_every_pair_are_sentences_and_less_one_word_are_none(pair, data):
    """But for adjectives, and “will”. Neither language is the other."""
    for words, language, other in ((pair.english, English, Lingo), (pair.lingo, Lingo, English)):
        assert fault(words, language) == ""
        assert fault(words, other)
        needed = [i for i, word in enumerate(words) if language.forms[word][0] not in ("adjective", "will")]
        place = data.draw(st.sampled_from(needed))
        assert fault(words[:place] + words[place + 1 :], language)


@pytest.mark.parametrize(
    ("language", "sentence", "reason"),
    [
        (English, "the dog sleep", "word 3 must be an intransitive verb (singular), got 'sleep'"),
        (English, "these dog sleeps", "word 2 must be a noun (plural), got 'dog'"),
        (English, "the dogs 's cat sleeps", 'word 3 must be a possessive (plural), got "\'s"'),
        (English, "the dog will sleeps", "word 4 must be an intransitive verb (plural), got 'sleeps'"),
        (English, "dog sleeps", "word 1 must be a determiner, got 'dog'"),
        (English, "the dog old sleeps", "word 3 must be a verb (singular), got 'old'"),
        (English, "the dog sleeps the cat", "word 4 must be a conjunction, got 'the'"),
        (English, "the wolf sleeps", "word 2 must be a noun, got 'wolf'"),
        (English, "", "word 1 must be a determiner, got nothing"),
        (Lingo, "la hundo dorme", "word 2 must be a noun (a), got 'hundo'"),
        (Lingo, "lo hundo grandos dorme", "word 3 must be an adjective (o), got 'grandos'"),
        (Lingo, "los hundos dorme", "word 3 must be an intransitive verb (plural), got 'dorme'"),
        (Lingo, "hundo dorme", "word 2 must be a possessive, got 'dorme'"),
        (Lingo, "lo hundo de lo rego dorme", "word 3 must be a verb (singular), got 'de'"),
        (Lingo, "hundos de lo rego dorme", "word 5 must be an intransitive verb (plural), got 'dorme'"),
        (Lingo, "lo hundo cele", "word 3 must be a verb (singular), got 'cele'"),
        (Lingo, "lo hundo se dorme", "word 4 must be a verb (singular), got 'dorme'"),
        (Lingo, "lo grando hundo dorme", "word 2 must be a noun (o), got 'grando'"),
    ],
)
def test_what_is_wrong_is_told(language, sentence, reason):
    assert fault(sentence.split(), language) == reason
