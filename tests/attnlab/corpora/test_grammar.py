"""Pairs of sentences: every word has its counterparts, agrees, and stands where its language has it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.corpora import grammar
from attnlab.corpora.grammar import ADJECTIVES, CONJUNCTIONS, DETERMINERS, NOUNS, PLURALS, PREPOSITIONS, VERBS
from attnlab.runtime import generator

pairs = st.integers(0, 2**32).map(lambda seed: grammar.Writer(generator(seed)).sentence())
STEMS = {root: stem for verbs in VERBS.values() for root, stem in verbs.items()}
WORDS = DETERMINERS | ADJECTIVES | NOUNS | STEMS | PREPOSITIONS | CONJUNCTIONS
SINGULAR = {several: one for one, several in PLURALS.items()}
OWNERS = ("'s", "'")


@pytest.fixture(scope="module")
def many():
    return grammar.pairs(4000, generator(0))


def counterparts(pair, i):
    return [pair.lingo[j] for place, j in pair.alignment if place == i]


def root(word):
    """ "dogs" comes from "dog", "these" from "this" and "sleeps" from "sleep"."""
    return word if word in WORDS else SINGULAR.get(word, word.removesuffix("s"))


# ---- alignments ----


@given(pairs)
def test_every_word_of_either_side_is_aligned(pair):
    assert {i for i, _ in pair.alignment} == {*range(len(pair.english))}
    assert {j for _, j in pair.alignment} == {*range(len(pair.lingo))}
    assert len({*pair.alignment}) == len(pair.alignment)


@given(pairs)
def test_aligned_words_are_each_other_s_translation(pair):
    for i, word in enumerate(pair.english):
        opposite = " ".join(counterparts(pair, i))
        if word in OWNERS:
            assert opposite == "de"
        elif word == "will":
            assert "era" in opposite
        elif word in PREPOSITIONS | CONJUNCTIONS:
            assert opposite == WORDS[word]
        elif root(word) in NOUNS:
            assert opposite.removesuffix("s") == NOUNS[root(word)]
        else:
            assert opposite.startswith(WORDS[root(word)].removesuffix("-"))


def test_entries_of_several_words():
    assert grammar.entry("will hide", "se celera").alignment == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert grammar.entry("dog", "hundo") == (("dog",), ("hundo",), ((0, 0),))


def test_parts_keep_their_alignment_wherever_they_stand():
    parts = [grammar.entry(*words) for words in (("will hide", "se celera"), ("a", "x"), ("b", "y"))]
    pair = grammar.joined(parts, order=[2, 0, 1])
    assert pair.english == ("will", "hide", "a", "b")
    assert pair.lingo == ("y", "se", "celera", "x")
    assert pair.alignment == ((0, 1), (0, 2), (1, 1), (1, 2), (2, 3), (3, 0))


def test_an_alignment_crosses_where_two_lines_do():
    one, other = grammar.entry("a", "x"), grammar.entry("b", "y z")
    assert not grammar.joined([one, other], order=[0, 1]).crosses
    assert grammar.joined([one, other], order=[1, 0]).crosses
    assert not grammar.entry("b", "y z").crosses, "lines that part at a word do not cross"


# ---- agreement ----


def with_endings(words):
    """Each form of these words of Lingo, with its ending."""
    return {stem.replace("-", o): o for stem in words.values() for o in ("o", "a", "os", "as")}


LINGO_DETERMINERS, LINGO_ADJECTIVES = with_endings(DETERMINERS), with_endings(ADJECTIVES)
LINGO_NOUNS = {noun + s: noun[-1] + s for noun in NOUNS.values() for s in ("", "s")}
LINGO_VERBS = {
    stem.split()[-1].replace("-", tense + n): n
    for stem in STEMS.values()
    for tense in ("e", "era")
    for n in ("", "n")
}


@given(pairs)
def test_what_describes_a_noun_ends_as_it_does(pair):
    described = None
    for before, word in zip(("", *pair.lingo), pair.lingo, strict=False):
        if word in LINGO_NOUNS:
            described = LINGO_NOUNS[word]
            assert LINGO_DETERMINERS.get(before, described) == described
        elif word in LINGO_ADJECTIVES:
            assert LINGO_ADJECTIVES[word] == described
            assert before in LINGO_NOUNS | LINGO_ADJECTIVES


@given(pairs)
def test_a_verb_agrees_with_its_subject(pair):
    """Which is the first noun of the clause in Lingo: its owners come behind it."""
    subject = None
    for word in pair.lingo:
        if word in CONJUNCTIONS.values():
            subject = None
        elif word in LINGO_NOUNS:
            subject = subject or word
        elif word in LINGO_VERBS:
            assert (LINGO_VERBS[word] == "n") == subject.endswith("s")
            (verb,) = {i for i, j in pair.alignment if pair.lingo[j] is word and pair.english[i] != "will"}
            alone = pair.english[verb - 1] != "will" and not subject.endswith("s")
            assert pair.english[verb].endswith("s") == alone


@given(pairs)
def test_this_and_an_owner_agree_in_english(pair):
    """“These” stands where several things follow, and “'s” behind one owner."""
    for place, word in enumerate(pair.english):
        if word in {**PLURALS, **SINGULAR}:
            noun = next(word for word in pair.english[place:] if root(word) in NOUNS)
            assert (word in SINGULAR) == (noun not in NOUNS)
        if word in OWNERS:
            assert (word == "'") == (pair.english[place - 1] not in NOUNS)


@given(pairs)
def test_both_sides_have_the_same_number(pair):
    for i, word in enumerate(pair.english):
        if root(word) in NOUNS:
            (noun,) = counterparts(pair, i)
            assert noun.endswith("s") == (word not in NOUNS)


@given(pairs)
def test_no_adjective_comes_twice_in_a_phrase(pair):
    phrase = set()
    for word in pair.english:
        if word in ADJECTIVES:
            assert word not in phrase
            phrase.add(word)
        else:
            phrase.clear()


# ---- the whole ----


def test_most_alignments_cross(many):
    # 12 draws gave .875 to .893.
    assert 0.86 < sum(pair.crosses for pair in many) / len(many) < 0.91


def test_sentences_are_short_and_long(many):
    lengths = torch.tensor([len(pair.english) for pair in many])
    assert lengths.min() == 3
    assert lengths.median() in (10, 11)
    # 12 draws gave .215 to .237 and .095 to .104, and a longest sentence of 37 to 50 words.
    assert 0.2 < (lengths <= 6).float().mean() < 0.25
    assert 0.08 < (lengths > 20).float().mean() < 0.12
    assert lengths.max() < 60


def test_the_same_source_writes_the_same_sentences(many):
    assert grammar.pairs(20, generator(0)) == many[:20]
    assert grammar.pairs(20, generator(1)) != many[:20]
    # On every machine, too.
    assert " ".join(many[0].english) == "this young big tree follows my red happy kings with my houses"
    assert " ".join(many[0].lingo) == "esto arbo grando juno sege mios regos felicos rubos kon mias casas"


def test_less_than_one_sentence_is_refused():
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        grammar.pairs(0, generator(0))
