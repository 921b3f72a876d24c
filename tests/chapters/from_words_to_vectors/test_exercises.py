"""“From words to vectors”: many right ways, learners' mistakes, and faults that no catalogue holds."""

from functools import partial

import exercise_cases
import numpy as np
import pytest
import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F

from chapters.from_words_to_vectors.exercises import (
    check_learned_vectors,
    check_nearest,
    check_neighbour_counts,
    check_skip_gram_loss,
    check_table_gradient,
)
from chapters.from_words_to_vectors.skip_gram import train

gradient, nearest = check_table_gradient.reference, check_nearest.reference
counted, loss_of = check_neighbour_counts.reference, check_skip_gram_loss.reference
squeezed = check_learned_vectors.reference


def count_to_repair(sentences, vocabulary, window):
    """As the chapter gives it."""
    counts = torch.zeros(vocabulary, vocabulary)
    text = [word for sentence in sentences for word in sentence]
    for place, word in enumerate(text):
        for step in range(1, window + 1):
            if place + step < len(text):
                counts[word, text[place + step]] += 1
                counts[text[place + step], word] += 1
    return counts


def test_the_broken_code_passes_where_no_sentence_ends():
    exercise_cases.assert_still_broken(check_neighbour_counts, count_to_repair, "✓✗✗✗✗")


# --- right, in other words ---


def by_autograd(ids, incoming, vocabulary):
    table = torch.zeros(vocabulary, incoming.shape[-1], requires_grad=True)
    return torch.autograd.grad((table[ids] * incoming).sum(), table)[0]


def by_one_hot(ids, incoming, vocabulary):
    return F.one_hot(ids, vocabulary).to(incoming.dtype).T @ incoming


def by_numpy(ids, incoming, vocabulary):
    table = np.zeros((vocabulary, incoming.shape[-1]), dtype=np.float32)
    np.add.at(table, ids.numpy(), incoming.numpy())
    return torch.from_numpy(table)


def with_one_more(vectors, k):
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    return (unit @ unit.T).topk(k + 1).indices[:, 1:]


def one_at_a_time(vectors, k):
    rows = []
    for number, one in enumerate(vectors):
        alike = torch.cosine_similarity(one, vectors, dim=-1)
        rows.append([other for other in alike.argsort(descending=True).tolist() if other != number][:k])
    return torch.tensor(rows)


def sentence_by_sentence(sentences, vocabulary, window):
    return sum(count_to_repair([sentence], vocabulary, window) for sentence in sentences)


def by_pairs(sentences, vocabulary, window):
    counts = np.zeros((vocabulary, vocabulary), dtype=np.float32)
    for sentence in sentences:
        for i, word in enumerate(sentence):
            for j, other in enumerate(sentence):
                counts[word, other] += 0 < abs(i - j) <= window
    return torch.from_numpy(counts)


def by_softplus(word, neighbour, strangers):
    score = torch.einsum("bd,bd->b", word, neighbour)
    scores = torch.einsum("bkd,bd->bk", strangers, word)
    return (F.softplus(-score) + F.softplus(scores).sum(1)).mean()


def by_cross_entropy(word, neighbour, strangers):
    every = torch.cat([neighbour[:, None], strangers], 1)
    scores = (every * word[:, None]).sum(-1)
    wanted = torch.zeros_like(scores)
    wanted[:, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, wanted, reduction="sum") / len(word)


def loss(words, contexts, drawn):
    strangers = contexts[drawn[:, 1:, 1]]
    return loss_of(words[drawn[:, 0, 0]], contexts[drawn[:, 0, 1]], strangers)


def trained(pairs, vocabulary, loss=loss, **settings):
    return train(loss, [pairs], vocabulary, **settings)[0][0]


def by_skip_gram(pairs, vocabulary):
    return trained(pairs, vocabulary, steps=500)


def by_scaled_counts(pairs, vocabulary):
    table = np.zeros((vocabulary, vocabulary))
    np.add.at(table, tuple(pairs.numpy().T), 1)
    left, strength, _ = np.linalg.svd(np.sqrt(table))
    return (left[:, :16] * strength[:16]).tolist()


RIGHT = {
    check_table_gradient: named(by_autograd, by_one_hot, by_numpy),
    check_nearest: named(with_one_more, one_at_a_time),
    check_neighbour_counts: named(sentence_by_sentence, by_pairs),
    check_skip_gram_loss: named(by_softplus, by_cross_entropy),
    check_learned_vectors: named(by_skip_gram, by_scaled_counts),
}

# --- as learners got it wrong ---


def overwritten(ids, incoming, vocabulary):
    table = torch.zeros(vocabulary, incoming.shape[-1])
    table[ids] = incoming
    return table


def by_shares(vectors, k):
    shares = vectors / vectors.sum(-1, keepdim=True)
    return (shares @ shares.T).fill_diagonal_(-torch.inf).topk(k).indices


def row_by_row(ids, incoming, vocabulary):
    table = torch.zeros(vocabulary, incoming.shape[-1])
    for place in range(len(ids)):
        table[place % vocabulary] += incoming[place]
    return table


def counted_by(beside):
    """Neighbours by `beside(i, j, window)`, sentence by sentence."""

    def code(sentences, vocabulary, window):
        counts = torch.zeros(vocabulary, vocabulary)
        for sentence in sentences:
            for i, word in enumerate(sentence):
                for j, other in enumerate(sentence):
                    counts[word, other] += beside(i, j, window)
        return counts

    return code


def losses(near, far, gather=torch.mean):
    def code(word, neighbour, strangers):
        score = (word * neighbour).sum(-1)
        scores = (strangers * word.unsqueeze(1)).sum(-1)
        return gather(near(score) + far(scores))

    return code


def up(score):
    return F.softplus(-score)


def down(scores):
    return F.softplus(scores).sum(-1)


def tied(words, contexts, drawn):
    return loss(words, words, drawn)


def table_of(pairs, vocabulary):
    return torch.zeros(vocabulary, vocabulary).index_put(
        tuple(pairs.T), torch.ones(len(pairs)), accumulate=True
    )


NAMED = {
    check_table_gradient: {
        "the last one wins": overwritten,
        "places for numbers": row_by_row,
        "a row for each place": lambda ids, incoming, vocabulary: incoming * 1,
        "divided by the length": lambda ids, incoming, vocabulary: (
            by_one_hot(ids, incoming, vocabulary) / len(ids)
        ),
        "how often": lambda ids, incoming, vocabulary: (
            torch.bincount(ids, minlength=vocabulary)[:, None].expand(-1, incoming.shape[-1]).float()
        ),
    },
    check_nearest: {
        "oneself first": lambda vectors, k: (F.normalize(vectors) @ F.normalize(vectors).T).topk(k).indices,
        "dot product": lambda vectors, k: (vectors @ vectors.T).fill_diagonal_(-1e9).topk(k).indices,
        "distance": lambda vectors, k: torch.cdist(vectors, vectors).fill_diagonal_(1e9).argsort()[:, :k],
        "columns made equal": lambda vectors, k: (
            (F.normalize(vectors, dim=0) @ F.normalize(vectors, dim=0).T).fill_diagonal_(-1e9).topk(k).indices
        ),
        "divided by the sum": by_shares,
        "the wrong way round": changed(with_one_more, lambda ids: ids.flip(-1)),
    },
    check_neighbour_counts: {
        "only to the left": counted_by(lambda i, j, window: 0 < i - j <= window),
        "only to the right": counted_by(lambda i, j, window: 0 < j - i <= window),
        "a word beside itself": counted_by(lambda i, j, window: abs(i - j) <= window),
        "one short on the right": counted_by(lambda i, j, window: -window < i - j <= window and i != j),
        "one short": counted_by(lambda i, j, window: 0 < abs(i - j) < window),
        "nothing on the diagonal": changed(by_pairs, lambda counts: counts.clone().fill_diagonal_(0)),
        "one too far": counted_by(lambda i, j, window: 0 < abs(i - j) <= window + 1),
        "only next door": counted_by(lambda i, j, window: abs(i - j) == 1),
        "yes or no": changed(by_pairs, lambda counts: counts.clamp(max=1)),
        "both directions twice": changed(by_pairs, lambda counts: 2 * counts),
    },
    check_skip_gram_loss: {
        "strangers drawn near": losses(up, lambda scores: up(scores).sum(-1)),
        "the mean of the strangers": losses(up, lambda scores: F.softplus(scores).mean(-1)),
        "neighbour alone": losses(up, lambda scores: 0 * scores.sum(-1)),
        "a minus before the logarithm": losses(up, lambda scores: -up(scores).sum(-1)),
        "strangers against the neighbour": lambda word, neighbour, strangers: (
            up((word * neighbour).sum(-1)) + down((strangers * neighbour.unsqueeze(1)).sum(-1))
        ).mean(),
        "the sum over the pairs": losses(up, down, torch.sum),
        "a loss for each pair": losses(up, down, lambda each: each),
        "overflow": losses(
            lambda score: -torch.log(torch.sigmoid(score)),
            lambda scores: -torch.log(1 - torch.sigmoid(scores)).sum(-1),
        ),
    },
    check_learned_vectors: {
        "not trained": partial(trained, steps=0),
        "as wide as the vocabulary": table_of,
        "some of them": lambda pairs, vocabulary: table_of(pairs, vocabulary)[:, :16],
        "all alike": lambda pairs, vocabulary: squeezed(pairs, vocabulary) + 100,
        "one table for both": partial(trained, loss=tied, steps=500),
        "not finite": lambda pairs, vocabulary: table_of(pairs, vocabulary)[:, :16].log(),
        "another number of rows": lambda pairs, vocabulary: squeezed(pairs, vocabulary)[pairs[:, 0]],
    },
}


# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_table_gradient: {
        "the first one wins": lambda ids, incoming, vocabulary: overwritten(
            ids.flip(0), incoming.flip(0), vocabulary
        ),
        "upside down": changed(gradient, lambda table: table.flip(0)),
        "negative": changed(gradient, torch.neg),
    },
    check_nearest: {
        "in the list": lambda vectors, k: (
            (torch.arange(len(vectors))[:, None] + torch.arange(1, k + 1)) % len(vectors)
        ),
        "two of them oneself": changed(nearest, lambda ids: ids.flip(0)),
    },
    check_neighbour_counts: {
        "the near ones double": counted_by(lambda i, j, window: max(0, window + 1 - abs(i - j)) * (i != j)),
        "nothing": changed(counted, torch.zeros_like),
    },
    check_skip_gram_loss: {
        "twice": changed(loss_of, lambda value: 2 * value),
        "squares": losses(lambda score: (1 - score) ** 2, lambda scores: (scores**2).sum(-1)),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)


@pytest.mark.slow
def test_vectors_trained_without_strangers_do_not_pass():
    def alone(words, contexts, drawn):
        return loss_of(words[drawn[:, 0, 0]], contexts[drawn[:, 0, 1]], 0 * contexts[drawn[:, 1:, 1]])

    assert check_learned_vectors.judge(partial(trained, loss=alone, steps=500)).state == "not yet"
