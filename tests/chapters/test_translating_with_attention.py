"""“Translating with attention”: what only its exercises say, its chart and its models."""

import pytest
import torch
from exercise_cases import words
from living_charts import numbers, says
from playwright.sync_api import Locator
from tiers import left_to
from torch.optim.optimizer import register_optimizer_step_pre_hook

from attnlab.attention import masked_softmax
from attnlab.corpora import grammar
from attnlab.corpora.grammar import Pair
from attnlab.runtime import generator
from chapters.translating_with_attention import models, orders
from chapters.translating_with_attention.accepted import KeysAtEachStep, MyDecoder
from chapters.translating_with_attention.charts import PERCENT, SENTENCES
from chapters.translating_with_attention.exercises import check_attention_decoder
from chapters.translating_with_attention.models import END, PADDING, Memory


@pytest.mark.thorough
def test_a_loop_over_the_steps_is_right_and_the_same_product_at_each_is_remarked_on():
    assert "remark" not in words(check_attention_decoder.judge(MyDecoder))
    assert "computed twice" in words(check_attention_decoder.judge(KeysAtEachStep))


# --- the chart ---


def pair(english, lingo, gold):
    links = tuple(sorted((i, j) for j, places in enumerate(gold) for i in places))
    return Pair(tuple(english.split()), tuple(lingo.split()), links)


SHOWN = [pair(*sentence) for sentence in SENTENCES.values()]


@pytest.mark.thorough
def test_each_sentence_and_translator(chart: Locator) -> None:
    # It begins with the first of both, and says so once something has moved.
    for place, (sentence, each) in reversed([*enumerate(zip(SENTENCES, SHOWN, strict=True))]):
        chart.get_by_label(sentence, exact=True).check()
        for name, rows in reversed(PERCENT.items()):
            chart.get_by_label(name, exact=True).check()
            looked = torch.tensor(rows[place]).view(len(each.lingo), -1)
            hits = sum((int(i), j) in each.alignment for j, i in enumerate(looked.argmax(-1)))
            says(chart, f"{name}: {hits} of {len(each.lingo)} words of Lingo")
            (bands,) = numbers(chart, "strength")
            assert len(bands) == len(each.alignment), "gold comes first, a band for each link"


# --- what is trained ---


WITH_ATTENTION = [name for name in models.DECODERS if name != "last-state"]
PAIRS = grammar.pairs(40, generator(7))


@pytest.fixture(scope="module")
def few():
    return models.sentences(PAIRS)


def test_batches_hold_every_sentence_once_and_little_padding(few):
    batches = models.ByLength(few, 16, generator(0))
    assert len(batches) == len([*batches]) == 3
    first, second = ([source[:, 0].tolist() for source, *_ in batches] for _ in range(2))
    assert first != second, "each time in another order"
    words = sum(int(source.ne(PADDING).sum()) for source, *_ in batches)
    assert words == few.lengths.sum()
    # In the order in which they are drawn, half of what the batches hold would be padding.
    assert words > 0.7 * sum(source.numel() for source, *_ in batches)
    for source, lengths, previous, targets in batches:
        assert source.shape[1] == lengths.max()
        assert previous.shape == targets.shape
        assert targets[:, -1].ne(PADDING).any()


def memory_of(translator, few):
    return translator.encoder(few.source, few.lengths)


def in_this_order(first, back):
    torch.manual_seed(0)
    return models.Translator(orders.DECODERS[first, back](len(models.LINGO_WORDS)))


@pytest.mark.parametrize("name", [*models.DECODERS, *orders.DECODERS])
@torch.no_grad()
def test_word_by_word_or_all_at_once_is_the_same(few, name):
    translator = models.translator(name) if name in models.DECODERS else in_this_order(*name)
    memory = memory_of(translator, few)
    at_once, last, looked = translator.decoder(few.previous, memory.last, memory)
    state, steps = memory.last, []
    for word in few.previous.split(1, dim=1):
        logits, state, _ = translator.decoder(word, state, memory)
        steps.append(logits)
    torch.testing.assert_close((torch.cat(steps, 1), state), (at_once, last), atol=1e-5, rtol=1e-5)
    assert (looked is None) == (name == "last-state")
    if looked is not None:
        torch.testing.assert_close(looked.sum(-1), torch.ones(looked.shape[:-1]))
    assert torch.equal(translator(few.source, few.lengths, few.previous), at_once)


@pytest.mark.parametrize("name", models.DECODERS)
@torch.no_grad()
def test_a_sentence_is_translated_alone_as_among_others(few, name):
    """Padding is neither read nor looked at."""
    translator = models.translator(name)
    words, _ = models.greedy(translator, few.source, few.lengths)
    length = int(few.lengths[0])
    alone, _ = models.greedy(translator, few.source[:1, :length], few.lengths[:1])
    assert torch.equal(alone[0], words[0, : alone.shape[1]])


@torch.no_grad()
def test_bahdanau_looks_before_its_step_and_luong_after(few):
    for name in WITH_ATTENTION:
        translator = models.translator(name)
        decoder, memory = translator.decoder, memory_of(translator, few)
        _, after, looked = decoder(few.previous[:, :1], memory.last, memory)
        asks = memory.last if name == "additive" else after
        expected = masked_softmax(decoder.score(asks[:, None], memory.states), memory.mask)
        assert torch.allclose(looked, expected, atol=1e-6), name


@pytest.mark.parametrize("name", WITH_ATTENTION)
@torch.no_grad()
def test_given_weights_take_the_place_of_its_own(few, name):
    translator = models.translator(name)
    memory = memory_of(translator, few)
    own, _, looked = translator.decoder(few.previous, memory.last, memory)
    same, _, _ = translator.decoder(few.previous, memory.last, memory, looked)
    assert torch.allclose(same, own, atol=1e-5)
    other, _, given = translator.decoder(few.previous, memory.last, memory, few.gold)
    assert torch.equal(given, few.gold)
    assert not torch.allclose(other, own, atol=1e-3)


@torch.no_grad()
def test_the_last_state_is_all_that_a_decoder_without_attention_reads(few):
    translator = models.translator("last-state")
    memory = memory_of(translator, few)
    blank = Memory(torch.zeros_like(memory.states), memory.mask, memory.last)
    read, unread = (translator.decoder(few.previous, memory.last, each)[0] for each in (memory, blank))
    assert torch.equal(read, unread)
    # And at every step, not the first alone.
    other = Memory(memory.states, memory.mask, memory.last.flip(0))
    assert not torch.allclose(translator.decoder(few.previous, memory.last, other)[0], read, atol=1e-3)


def test_exactly_right_is_up_to_the_end():
    targets = torch.tensor([[5, 6, END, PADDING], [5, END, PADDING, PADDING]])
    assert models.exactly_right(torch.tensor([[5, 6, END], [5, END, 9]]), targets).tolist() == [True, True]
    assert models.exactly_right(torch.tensor([[5, 7, END], [5, 6, END]]), targets).tolist() == [False, False]
    assert models.exactly_right(torch.tensor([[5, 6], [5, END]]), targets).tolist() == [False, True]


@pytest.mark.thorough
@pytest.mark.parametrize("name", left_to(pytest.mark.weekly, models.DECODERS, but=["additive"]))
def test_a_training_repeats_and_learns(name):
    pairs = grammar.pairs(200, generator(3))
    model, history = models.trained(name, seed=0, pairs=pairs, epochs=3)
    again, _ = models.trained(name, seed=0, pairs=pairs, epochs=3)
    other, _ = models.trained(name, seed=1, pairs=pairs, epochs=3)
    losses = history.training_losses
    assert losses == sorted(losses, reverse=True)
    state, same, another = (each.state_dict() for each in (model, again, other))
    assert all(torch.equal(state[label], same[label]) for label in state)
    assert not any(torch.equal(state[label], another[label]) for label in state)


def test_the_learning_rate_falls_to_nothing():
    seen = []
    hook = register_optimizer_step_pre_hook(
        lambda optimizer, *_: seen.append(optimizer.param_groups[0]["lr"])
    )
    models.trained("dot", seed=0, pairs=PAIRS, epochs=4)
    hook.remove()
    assert seen == pytest.approx([6e-3, 4.5e-3, 3e-3, 1.5e-3])


# --- orders of decoders ---


def test_what_is_fed_back_is_all_that_differs_in_size():
    sizes = {key: sum(each.numel() for each in in_this_order(*key).parameters()) for key in orders.DECODERS}
    assert sizes["looks first", "fed"] == sizes["steps first", "fed"] == sizes["steps first", "given h"]
    assert sizes["looks first", "not fed"] == sizes["steps first", "not fed"]
    read = 3 * models.WIDTH * models.WIDTH  # a context, by the three gates
    assert sizes["looks first", "fed"] - sizes["looks first", "not fed"] == read


@torch.no_grad()
def test_a_look_before_the_step_knows_nothing_of_the_word():
    model = in_this_order("looks first", "not fed")
    few = models.sentences(grammar.pairs(2, generator(7)))
    memory, other = model.encoder(few.source, few.lengths), few.previous.clone()
    other[:, 3] += 1
    looks, changed = (model.decoder(words, memory.last, memory)[2] for words in (few.previous, other))
    assert torch.equal(looks[:, :4], changed[:, :4])
    assert not torch.equal(looks[:, 4], changed[:, 4])


@pytest.mark.weekly
def test_fed_back_it_learns_a_few_sentences_by_heart(monkeypatch):
    few = grammar.pairs(40, generator(3))
    monkeypatch.setattr(models, "training_pairs", lambda: few)
    monkeypatch.setattr(models, "unseen_pairs", lambda count: few)
    assert orders.share_right("steps first", "fed", 0, epochs=100) > 0.9
