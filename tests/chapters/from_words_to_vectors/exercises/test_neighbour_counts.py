"""The exercise `neighbour_counts`, tried as readers would."""

import exercise_cases
import numpy as np
import torch
from exercise_cases import changed, judged_as, named

from chapters.from_words_to_vectors.exercises import (
    check_neighbour_counts,
)

counted = check_neighbour_counts.reference


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


def sentence_by_sentence(sentences, vocabulary, window):
    return sum(count_to_repair([sentence], vocabulary, window) for sentence in sentences)


def by_pairs(sentences, vocabulary, window):
    counts = np.zeros((vocabulary, vocabulary), dtype=np.float32)
    for sentence in sentences:
        for i, word in enumerate(sentence):
            for j, other in enumerate(sentence):
                counts[word, other] += 0 < abs(i - j) <= window
    return torch.from_numpy(counts)


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


RIGHT = {
    check_neighbour_counts: named(sentence_by_sentence, by_pairs)
    | {
        "whole numbers": changed(by_pairs, torch.Tensor.long),
        "in float64": changed(by_pairs, torch.Tensor.double),
    }
}


NAMED = {
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
    }
}


UNKNOWN = {
    check_neighbour_counts: {
        "the near ones double": counted_by(lambda i, j, window: max(0, window + 1 - abs(i - j)) * (i != j)),
        "nothing": changed(counted, torch.zeros_like),
        "true or false": changed(counted, torch.Tensor.bool),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
