"""The exercise `learned_vectors`, tried as readers would."""

from functools import partial

import numpy as np
import pytest
import torch
from exercise_cases import judged_as, named, words
from from_words_to_vectors_answers import loss, trained

from bookkit import registry
from chapters.from_words_to_vectors.exercises import (
    check_learned_vectors,
)

# Each answer is a training.
pytestmark = pytest.mark.thorough

squeezed = check_learned_vectors.reference


def by_skip_gram(pairs, vocabulary):
    return trained(pairs, vocabulary, steps=500)


def by_scaled_counts(pairs, vocabulary):
    table = np.zeros((vocabulary, vocabulary))
    np.add.at(table, tuple(pairs.numpy().T), 1)
    left, strength, _ = np.linalg.svd(np.sqrt(table))
    return (left[:, :16] * strength[:16]).tolist()


def tied(words, contexts, drawn):
    return loss(words, words, drawn)


def table_of(pairs, vocabulary):
    return torch.zeros(vocabulary, vocabulary).index_put(
        tuple(pairs.T), torch.ones(len(pairs)), accumulate=True
    )


def by_glove(pairs, vocabulary, weigh=lambda counts: (counts / 100).clamp(max=1) ** 0.75, add=0, both=False):
    """Logarithms of counts as products: as published, pairs that never meet weigh nothing."""
    counts = table_of(pairs, vocabulary)
    weights, logs = weigh(counts), (counts + add).clamp(min=1).log()
    source = torch.Generator().manual_seed(0)
    tables = (0.3 * torch.randn(2, vocabulary, 17, generator=source)).requires_grad_()
    optimizer = torch.optim.Adam([tables], lr=0.05)
    for _ in range(300):
        own, other = tables[..., :16]
        biases = tables[0, :, 16:] + tables[1, :, 16]
        optimizer.zero_grad()
        (weights * (own @ other.mT + biases - logs) ** 2).sum().backward()
        optimizer.step()
    return (tables.sum(0) if both else tables[0])[:, :16]


@pytest.mark.parametrize(
    ("answer", "name", "advice"),
    [
        (by_glove, "some of them", "Pairs that never meet say something, too."),
        (partial(by_glove, both=True), "one table for both", "only that of the words is asked for"),
    ],
    ids=["words alone", "both added"],
)
def test_glove_as_published_is_told_what_it_lacks(answer, name, advice):
    """It finds too few; where pairs that never meet are counted, it finds all."""
    report = check_learned_vectors.judge(answer)
    assert report.mistake == name, report
    assert advice in words(report)


def test_the_task_does_not_promise_that_every_way_will_pass():
    """GloVe as published, above, is an honest way, and finds too few."""
    text = (registry.BOOK / "from-words-to-vectors.ipynb").read_text("utf-8")
    assert "any way that finds so many will pass" in text
    assert "any honest way" not in text


def test_of_an_enormous_table_only_the_shape_is_looked_at():
    """Before: each of its numbers was to be stored in float64."""
    report = check_learned_vectors.judge(lambda pairs, vocabulary: torch.ones(()).expand(vocabulary, 10**9))
    assert "of shape (31, 1000000000): far too many numbers" in words(report)


RIGHT = {
    check_learned_vectors: named(by_skip_gram, by_scaled_counts)
    | {"GloVe, of all pairs": partial(by_glove, weigh=torch.ones_like, add=1)}
}


NAMED = {
    check_learned_vectors: {
        "not trained": partial(trained, steps=0),
        "as wide as the vocabulary": table_of,
        "some of them": lambda pairs, vocabulary: table_of(pairs, vocabulary)[:, :16],
        "all alike": lambda pairs, vocabulary: squeezed(pairs, vocabulary) + 100,
        "one table for both": partial(trained, loss=tied, steps=500),
        "not finite": lambda pairs, vocabulary: table_of(pairs, vocabulary)[:, :16].log(),
        "another number of rows": lambda pairs, vocabulary: squeezed(pairs, vocabulary)[pairs[:, 0]],
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, _ = judged_as(RIGHT, NAMED, {})
