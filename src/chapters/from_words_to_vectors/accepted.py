"""Right answers to the exercises, in other words than the book's: each must be accepted."""

from functools import partial

import numpy as np
import torch
from torch.nn import functional as F

from bookkit.other_words import changed, named
from chapters.from_words_to_vectors.exercises import (
    check_learned_vectors,
    check_nearest,
    check_neighbour_counts,
    check_skip_gram_loss,
    check_table_gradient,
)
from chapters.from_words_to_vectors.skip_gram import train

# --- shared ---


loss_of = check_skip_gram_loss.reference


def loss(words, contexts, drawn):
    strangers = contexts[drawn[:, 1:, 1]]
    return loss_of(words[drawn[:, 0, 0]], contexts[drawn[:, 0, 1]], strangers)


def trained(pairs, vocabulary, loss=loss, **settings):
    return train(loss, [pairs], vocabulary, **settings)[0][0]


# --- table_gradient ---


def by_one_hot(ids, incoming, vocabulary):
    return F.one_hot(ids, vocabulary).to(incoming.dtype).T @ incoming


def by_numpy(ids, incoming, vocabulary):
    table = np.zeros((vocabulary, incoming.shape[-1]), dtype=np.float32)
    np.add.at(table, ids.numpy(), incoming.numpy())
    return torch.from_numpy(table)


# --- nearest ---


def one_at_a_time(vectors, k):
    rows = []
    for number, one in enumerate(vectors):
        alike = torch.cosine_similarity(one, vectors, dim=-1)
        rows.append([other for other in alike.argsort(descending=True).tolist() if other != number][:k])
    return torch.tensor(rows)


# --- neighbour_counts ---


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


def sentence_by_sentence(sentences, vocabulary, window):
    return sum(count_to_repair([sentence], vocabulary, window) for sentence in sentences)


def by_pairs(sentences, vocabulary, window):
    counts = np.zeros((vocabulary, vocabulary), dtype=np.float32)
    for sentence in sentences:
        for i, word in enumerate(sentence):
            for j, other in enumerate(sentence):
                counts[word, other] += 0 < abs(i - j) <= window
    return torch.from_numpy(counts)


# --- skip_gram_loss ---


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


# --- learned_vectors ---


def by_skip_gram(pairs, vocabulary):
    return trained(pairs, vocabulary, steps=500)


def by_scaled_counts(pairs, vocabulary):
    table = np.zeros((vocabulary, vocabulary))
    np.add.at(table, tuple(pairs.numpy().T), 1)
    left, strength, _ = np.linalg.svd(np.sqrt(table))
    return (left[:, :16] * strength[:16]).tolist()


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


ACCEPTED = {
    check_table_gradient: named(by_one_hot, by_numpy),
    check_nearest: named(one_at_a_time),
    check_neighbour_counts: named(sentence_by_sentence, by_pairs)
    | {
        "whole numbers": changed(by_pairs, torch.Tensor.long),
        "in float64": changed(by_pairs, torch.Tensor.double),
    },
    check_skip_gram_loss: named(by_softplus, by_cross_entropy),
    check_learned_vectors: named(by_skip_gram, by_scaled_counts)
    | {"GloVe, of all pairs": partial(by_glove, weigh=torch.ones_like, add=1)},
}
