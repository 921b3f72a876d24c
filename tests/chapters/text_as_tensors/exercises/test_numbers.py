"""The exercise `numbers`, tried as readers would."""

from collections import Counter

import numpy as np
import torch
from exercise_cases import changed, judged_as, named
from torchtext import data

from chapters.text_as_tensors.exercises import (
    check_numbers,
)

numbers = check_numbers.reference


def by_torchtexts_field(training, min_freq, words):
    field = data.Field()
    field.build_vocab([list(training)], min_freq=min_freq)
    return field.numericalize([list(words)])[:, 0]


def by_numpy(training, min_freq, words):
    clean = [word for word in training if word not in {"<unk>", "<pad>"}]
    unique, counts = np.unique(np.array(clean, dtype=str), return_counts=True)
    ordered = unique[counts >= min_freq][np.argsort(-counts[counts >= min_freq], kind="stable")]
    number = {word: place for place, word in enumerate(["<unk>", "<pad>", *ordered.tolist()])}
    return torch.tensor([number.get(word, 0) for word in words], dtype=torch.int32)


def vocabulary(order, enough=lambda count, least: count >= least, specials=("<unk>", "<pad>"), skipped=None):
    """Numbers after `order(counts)`; whatever their places there, the specials begin at 0."""

    def code(training, min_freq, words):
        counts = Counter(word for word in training if word not in (skipped or ("<unk>", "<pad>")))
        frequent = [word for word in order(counts) if enough(counts[word], min_freq)]
        number = {word: place for place, word in enumerate(frequent, start=2)}
        number |= {word: place for place, word in enumerate(specials)}
        return torch.tensor([number.get(word, 0) for word in words])

    return code


def by_count(counts):
    return sorted(counts, key=lambda word: (-counts[word], word))


RIGHT = {check_numbers: named(by_torchtexts_field, by_numpy)}


NAMED = {
    check_numbers: {
        "a place kept for <unk>": vocabulary(by_count, skipped=("<pad>",)),
        "ties as they came": vocabulary(lambda counts: [word for word, _ in counts.most_common()]),
        "ties reversed": vocabulary(
            lambda counts: sorted(counts, key=lambda word: (counts[word], word), reverse=True)
        ),
        "more than min_freq": vocabulary(by_count, lambda count, least: count > least),
        "<pad> unknown": vocabulary(by_count, specials=("<unk>",)),
        "built on both texts": lambda text, least, words: vocabulary(by_count)(text + words, least, words),
    }
}


UNKNOWN = {
    check_numbers: {
        "small letters": lambda text, least, words: numbers(
            [*map(str.lower, text)], least, [*map(str.lower, words)]
        ),
        "each once": changed(numbers, torch.unique),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
