"""Four decoders: what they carry from word to word is all that they need, and they learn."""

import pytest
import torch

from attnlab.corpora import grammar
from attnlab.runtime import generator
from chapters.translating_with_attention import models, orders

EACH = pytest.mark.parametrize(("first", "back"), orders.DECODERS)


def translator(first, back):
    torch.manual_seed(0)
    return models.Translator(orders.DECODERS[first, back](len(models.LINGO_WORDS)))


@EACH
@torch.no_grad()
def test_word_by_word_is_all_words_at_once(first, back):
    model = translator(first, back)
    few = models.sentences(grammar.pairs(5, generator(7)))
    memory = model.encoder(few.source, few.lengths)
    at_once, _, looks = model.decoder(few.previous, memory.last, memory)
    state, logits = memory.last, []
    for word in few.previous.split(1, dim=1):
        step, state, _ = model.decoder(word, state, memory)
        logits.append(step)
    torch.testing.assert_close(torch.cat(logits, 1), at_once, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(looks.sum(-1), torch.ones(looks.shape[:2]))


def test_what_is_fed_back_is_all_that_differs_in_size():
    sizes = {key: sum(each.numel() for each in translator(*key).parameters()) for key in orders.DECODERS}
    assert sizes["looks first", "fed"] == sizes["steps first", "fed"]
    assert sizes["looks first", "not fed"] == sizes["steps first", "not fed"]
    read = 3 * models.WIDTH * models.WIDTH  # a context, by the three gates
    assert sizes["looks first", "fed"] - sizes["looks first", "not fed"] == read


@torch.no_grad()
def test_a_look_before_the_step_knows_nothing_of_the_word():
    model = translator("looks first", "not fed")
    few = models.sentences(grammar.pairs(2, generator(7)))
    memory, other = model.encoder(few.source, few.lengths), few.previous.clone()
    other[:, 3] += 1
    looks, changed = (model.decoder(words, memory.last, memory)[2] for words in (few.previous, other))
    assert torch.equal(looks[:, :4], changed[:, :4])
    assert not torch.equal(looks[:, 4], changed[:, 4])


def test_three_seeds_of_each_are_stored():
    assert orders.RIGHT.keys() == orders.DECODERS.keys()
    assert {len(shares) for shares in orders.RIGHT.values()} == {3}


@pytest.mark.thorough
def test_fed_back_it_learns_a_few_sentences_by_heart(monkeypatch):
    few = grammar.pairs(40, generator(3))
    monkeypatch.setattr(models, "training_pairs", lambda: few)
    monkeypatch.setattr(models, "unseen_pairs", lambda count: few)
    assert orders.share_right("steps first", "fed", 0, epochs=100) > 0.9
