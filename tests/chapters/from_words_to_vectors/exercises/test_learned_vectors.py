"""The exercise `learned_vectors`, tried as readers would."""

from functools import partial

import numpy as np
import torch
from exercise_cases import judged_as, named
from from_words_to_vectors_answers import loss, trained

from chapters.from_words_to_vectors.exercises import (
    check_learned_vectors,
)

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


RIGHT = {check_learned_vectors: named(by_skip_gram, by_scaled_counts)}


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
