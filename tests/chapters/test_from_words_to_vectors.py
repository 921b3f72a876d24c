"""“From words to vectors”: what only its exercises say, its chart and its models."""

import math
from functools import partial

import pytest
import torch
from exercise_cases import of, telling, told
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch.nn.functional import logsigmoid

from bookkit.other_words import changed
from chapters.from_words_to_vectors.accepted import by_glove, loss_of, trained
from chapters.from_words_to_vectors.charts import MEASURES, OFFERED
from chapters.from_words_to_vectors.counting import count, neighbours, on_a_map, surprise
from chapters.from_words_to_vectors.exercises import (
    check_learned_vectors,
    check_nearest,
    check_table_gradient,
)
from chapters.from_words_to_vectors.grammar import (
    ANALOGIES,
    CLASSES,
    NUMBER,
    PEOPLE,
    VOCABULARY,
    written,
)
from chapters.from_words_to_vectors.skip_gram import BATCH, STRANGERS, train

# --- exercises ---


def by_backward(ids, incoming, vocabulary):
    embedding = torch.nn.Embedding(vocabulary, incoming.shape[-1])
    embedding(ids).backward(incoming)
    return embedding.weight.grad


def by_its_function(ids, incoming, vocabulary):
    table = torch.zeros(vocabulary, incoming.shape[-1], requires_grad=True)
    torch.autograd.backward(table[ids], incoming)
    return table.grad


def by_vjp(ids, incoming, vocabulary):
    table = torch.zeros(vocabulary, incoming.shape[-1])
    return torch.func.vjp(lambda table: table[ids], table)[1](incoming)[0]


@pytest.mark.parametrize("answer", [by_backward, by_its_function, by_vjp])
def test_whoever_asks_autograd_is_told_to_write_it_out(answer):
    assert check_table_gradient.judge(answer).mistake == "autograd"


def without_strangers(words, contexts, drawn):
    return loss_of(words[drawn[:, 0, 0]], contexts[drawn[:, 0, 1]], 0 * contexts[drawn[:, 1:, 1]])


test_a_reader_is_told = telling(
    told(check_nearest, changed(check_nearest.reference, torch.Tensor.float), "ids are whole numbers", None),
)
test_who_trains_vectors_is_told = telling(
    *of(
        check_learned_vectors,
        # GloVe as published finds too few; where pairs that never meet are counted, it finds all.
        (by_glove, "Pairs that never meet say something, too.", "some of them"),
        (partial(by_glove, both=True), "only that of the words is asked for", "one table for both"),
        # Before: each of its numbers was to be stored in float64.
        (
            lambda pairs, vocabulary: torch.ones(()).expand(vocabulary, 10**9),
            "of shape (31, 1000000000): far too many numbers",
        ),
        (partial(trained, loss=without_strangers, steps=500), "", ..., "✗"),
        marks=(pytest.mark.thorough, pytest.mark.slow),
    )
)


# --- the chart ---


@pytest.mark.thorough
def test_the_nearest_words_are_pytorchs(chart: Locator) -> None:
    counts = count(neighbours(written(400, seed=0)))
    for measure in MEASURES:
        chart.get_by_label(measure, exact=True).check()
        for place in (0, 7, 12, 16):
            chart.get_by_role("slider").fill(str(place))
            chosen = NUMBER[OFFERED[place]]
            said = says(chart, f"{OFFERED[place]}, nearest by {measure}:")
            alike = {
                "dot product": counts @ counts[chosen],
                "cosine": torch.cosine_similarity(counts, counts[chosen], dim=-1),
                "distance": -(counts - counts[chosen]).norm(dim=-1),
            }[measure]
            alike[chosen] = -torch.inf
            for number in alike.topk(3).indices:
                assert VOCABULARY[number] in said
            drawn, rank = numbers(chart, "alike", "rank")
            first = alike.max()
            torch.testing.assert_close(drawn[rank == 1], first[None], atol=1e-9, rtol=1e-9)


# --- counts ---


def test_surprise_is_a_logarithm():
    counts = torch.tensor([[3.0, 1, 0], [1, 3, 0], [0, 0, 0]])
    # Of 8 pairs a half have each word: by chance 2 in each cell.
    assert surprise(counts)[0].tolist() == pytest.approx([math.log(1.5), 0, 0])
    assert surprise(counts)[2].tolist() == [0, 0, 0], "a word that does not occur"


def test_the_bat_lies_between_animals_and_tools():
    at = dict(zip(OFFERED, on_a_map(count(neighbours(written(400, 0))), OFFERED), strict=True))
    lowest = min(at[word][1] for word in CLASSES["animal"])
    highest = max(at[word][1] for word in CLASSES["tool"])
    assert highest < at["bat"][1] < lowest
    assert at["bread"][0] < 0 < at["dog"][1]
    assert max(place.abs().max() for place in at.values()) == 1


# --- the language ---


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


# --- skip-gram ---


ONE = torch.tensor([[0, 1], [1, 0]])
OTHER = torch.tensor([[2, 3], [3, 2], [2, 2]])


def loss(words, contexts, drawn):
    assert drawn.shape[1:] == (1 + STRANGERS, 2)
    score = (contexts[drawn[:, :, 1]] @ words[drawn[:, 0, 0]].unsqueeze(-1)).squeeze(-1)
    return -logsigmoid(score).mean()


def test_each_text_draws_its_own_pairs():
    seen = []

    def watched(words, contexts, drawn):
        seen.append(drawn)
        return loss(words, contexts, drawn)

    words, contexts = train(watched, [ONE, OTHER], vocabulary=4, width=3, steps=2)
    assert words.shape == contexts.shape == (2, 4, 3)
    assert len(seen) == 2
    first, second = seen[0].view(2, BATCH * (1 + STRANGERS), 2)
    assert {tuple(pair) for pair in first.tolist()} == {(0, 1), (1, 0)}
    assert {tuple(pair) for pair in second.tolist()} == {(6, 7), (7, 6), (6, 6)}


def test_a_row_that_is_never_read_stays_as_it_was():
    before, _ = train(loss, [ONE, OTHER], vocabulary=4, width=3, steps=0)
    after, _ = train(loss, [ONE, OTHER], vocabulary=4, width=3, steps=5)
    moved = (after - before).abs().sum(-1) > 0
    assert moved.tolist() == [[True, True, False, False], [False, False, True, True]]


def test_training_brings_the_loss_down_in_every_text():
    def lossy(words, contexts, pairs):
        return -logsigmoid((words[pairs[:, 0]] * contexts[pairs[:, 1]]).sum(-1)).mean()

    starts, ends = (train(loss, [ONE, OTHER], vocabulary=4, width=3, steps=steps) for steps in (0, 50))
    for place, pairs in enumerate((ONE, OTHER)):
        start, end = (lossy(words[place], contexts[place], pairs) for words, contexts in (starts, ends))
        assert end < start / 2
