"""What the page is told of the trained models: sentences to try, the grammar, and heads worth a look."""

import pytest
import torch

from attnlab.corpora import agreement
from attnlab.inside import watched
from attnlab.runtime import generator
from bookkit.playground import exported, picture
from chapters.the_transformer import models, playground
from chapters.the_transformer.playground import MODELS, loaded
from chapters.translating_with_attention.models import START, sentences, training_pairs


def test_the_grammar_as_data_is_the_grammar():
    """Whoever walks through it meets, at each state, the same words with the same chances."""
    rows = playground.grammar()
    places = {agreement.FIRST: 0}
    waiting = [agreement.FIRST]
    while waiting:
        state = waiting.pop()
        options = agreement.following(state)
        row = rows[places[state]]
        assert row.keys() == options.keys()
        for word, (chance, behind) in options.items():
            assert row[word][0] == pytest.approx(chance, abs=1e-5)
            if behind is None:
                assert row[word][1] == -1
            elif behind in places:
                assert row[word][1] == places[behind]
            else:
                places[behind] = row[word][1]
                waiting.append(behind)
    assert sorted(places.values()) == [*range(len(rows))]


def test_the_sentences_offered_are_new_to_the_translator_and_short():
    offered = exported("translator")["offered"]
    learned = {" ".join(pair.english) for pair in training_pairs()}
    assert len({*offered}) == playground.OFFERED
    assert learned.isdisjoint(offered)
    assert all(5 <= len(sentence.split()) <= 9 for sentence in offered)


def test_the_beginnings_offered_end_where_a_verb_far_from_its_subject_comes():
    for beginning in exported("language-model")["offered"]:
        words = beginning.split()
        whole = next(words for words in ends(words) if not agreement.fault(words))
        verb, subject = agreement.verb_and_subject(whole)
        assert verb == len(words)
        assert verb - subject >= 4


def ends(words):
    return (
        [*words, verb, agreement.END] for verb in agreement.VERBS + [f"{verb}s" for verb in agreement.VERBS]
    )


def test_the_translators_head_looks_at_the_words_that_are_translated_more_than_any_other():
    place, head = exported("translator")["shown"]
    model, read = loaded("translator"), sentences(playground.unseen())
    with watched(model) as found:
        model(read.source, read.lengths, read.previous)
    gold = (read.gold > 0)[:, None]
    shares = {
        (name, number): float((weights[:, number : number + 1] * gold).sum() / gold.any(-1).sum())
        for name, weights in found.items()
        if "cross" in name
        for number in range(4)
    }
    assert max(shares, key=shares.get) == (place, head)


def test_the_language_models_head_looks_at_the_subject_more_than_any_other():
    place, head = exported("language-model")["shown"]
    model = loaded("language-model")
    shares = {}
    for words in playground.beginnings():
        ids = torch.tensor([[START, *map(models.WORDS.index, words)]])
        with watched(model) as found:
            model(ids)
        for name, weights in found.items():
            for number in range(4):
                shares[name, number] = shares.get((name, number), 0) + float(weights[0, number, -1, 2])
    assert max(shares, key=shares.get) == (place, head)
    assert all(words[1] in agreement.WORDS[:16] for words in playground.beginnings())  # a noun


@pytest.mark.parametrize("name", MODELS)
def test_a_picture_says_what_it_shows_and_fits_a_phone(name):
    drawn = picture(name)
    assert drawn.narrow.width <= 330
    assert drawn.words.split()[0] in drawn.alt
    assert drawn.title.split("“")[1].split("”")[0] == exported(name)["offered"][0]


def test_what_the_picture_says_of_the_next_word_is_what_the_model_says():
    words = exported("language-model")["offered"][0].split()
    with torch.no_grad():
        logits = loaded("language-model")(torch.tensor([[START, *map(models.WORDS.index, words)]]))
    assert picture("language-model").words == models.WORDS[int(logits[0, -1].argmax())]


def test_the_grammar_judges_what_it_draws():
    """As benches.js walks: to the end of each sentence there is a way, and behind it nothing."""
    rows = playground.grammar()
    for words in agreement.sentences(50, generator(2)):
        state = 0
        for word in words:
            state = rows[state][word][1]
        assert state == -1
