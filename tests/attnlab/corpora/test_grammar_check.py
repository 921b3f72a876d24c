"""Sentences of the grammar are passed, and others are told what is wrong with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.corpora.grammar import Writer
from attnlab.corpora.grammar_check import English, Lingo, fault
from attnlab.runtime import generator

pairs = st.integers(0, 2**32).map(lambda seed: Writer(generator(seed)).sentence())


@given(pairs)
def test_both_sides_of_every_pair_are_sentences(pair):
    assert fault(pair.english, English) == ""
    assert fault(pair.lingo, Lingo) == ""


@given(pairs, st.data())
def test_a_sentence_less_one_word_that_is_no_adjective_is_none(pair, data):
    for words, language in ((pair.english, English), (pair.lingo, Lingo)):
        needed = [i for i, word in enumerate(words) if language.forms[word][0] not in ("adjective", "will")]
        place = data.draw(st.sampled_from(needed))
        assert fault(words[:place] + words[place + 1 :], language)


@given(pairs)
def test_neither_language_is_the_other(pair):
    assert fault(pair.english, Lingo)
    assert fault(pair.lingo, English)


@pytest.mark.parametrize(
    "sentence",
    [
        "the dog sleeps",
        "these old dogs ' small cat will hide near my house",
        "my friends will see the king 's horse 's star because the cats run",
    ],
)
def test_english_sentences(sentence):
    assert fault(sentence.split(), English) == ""


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("the dog sleep", "word 3 must be an intransitive verb (singular), got 'sleep'"),
        ("these dog sleeps", "word 2 must be a noun (plural), got 'dog'"),
        ("the dogs 's cat sleeps", 'word 3 must be a possessive (plural), got "\'s"'),
        ("the dog will sleeps", "word 4 must be an intransitive verb (plural), got 'sleeps'"),
        ("dog sleeps", "word 1 must be a determiner, got 'dog'"),
        ("the dog sees", "word 4 must be a determiner, got nothing"),
        ("the dog old sleeps", "word 3 must be a verb (singular), got 'old'"),
        ("the dog sleeps the cat", "word 4 must be a conjunction, got 'the'"),
        ("the dog sleeps and", "word 5 must be a determiner, got nothing"),
        ("the wolf sleeps", "word 2 must be a noun, got 'wolf'"),
        ("", "word 1 must be a determiner, got nothing"),
    ],
)
def test_what_is_wrong_in_english(sentence, reason):
    assert fault(sentence.split(), English) == reason


@pytest.mark.parametrize(
    "sentence",
    [
        "lo hundo dorme",
        "gata peta de estos hundos vecos se celera pres mia casa",
        "mios amigos videran stela de cavalo de lo rego perke las gatas coren",
    ],
)
def test_lingo_sentences(sentence):
    assert fault(sentence.split(), Lingo) == ""


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("la hundo dorme", "word 2 must be a noun (a), got 'hundo'"),
        ("lo hundo grandos dorme", "word 3 must be an adjective (o), got 'grandos'"),
        ("los hundos dorme", "word 3 must be an intransitive verb (plural), got 'dorme'"),
        ("hundo dorme", "word 2 must be a possessive, got 'dorme'"),
        ("lo hundo de lo rego dorme", "word 3 must be a verb (singular), got 'de'"),
        ("hundos de lo rego dorme", "word 5 must be an intransitive verb (plural), got 'dorme'"),
        ("lo hundo cele", "word 3 must be a verb (singular), got 'cele'"),
        ("lo hundo se dorme", "word 4 must be a verb (singular), got 'dorme'"),
        ("lo grando hundo dorme", "word 2 must be a noun (o), got 'grando'"),
        ("lo hundo dorme pres", "word 5 must be a noun, got nothing"),
    ],
)
def test_what_is_wrong_in_lingo(sentence, reason):
    assert fault(sentence.split(), Lingo) == reason
