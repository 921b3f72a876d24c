"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math
from collections import deque
from functools import partial

import numpy as np
import torch
from torch.nn import functional as F
from torchtext import data

from bookkit.other_words import combined, fused, in_other_words, named, shifted_exp, weighing_by
from chapters.text_as_tensors.exercises import (
    check_batch_shapes,
    check_cut,
    check_fitted,
    check_numbers,
    check_padding_mask,
)

# --- fitted ---


def with_pad(ids, length, front, pad):
    missing = length - len(ids)  # a negative padding cuts
    return F.pad(ids, (missing, 0) if front else (0, missing), value=pad)


def by_torchtext(ids, length, front, pad):
    field = data.Field(
        use_vocab=False, fix_length=length, pad_token=pad, pad_first=front, truncate_first=front
    )
    return field.process([ids.tolist()])[:, 0]


def in_a_deque(ids, length, front, pad):
    row = deque([pad] * length + ids.tolist() if front else ids.tolist()[:length], maxlen=length)
    return torch.tensor([*row, *[pad] * (length - len(row))], dtype=torch.int32)


# --- numbers ---


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


# --- padding_mask ---


masked = check_padding_mask.reference


def hidden(scores, shown):
    return scores.masked_fill(~shown, -math.inf).softmax(-1)


def each(shown):
    return shown.view(len(shown), 1, 1, -1)


def masked_by(place, weigh=hidden):
    """Attention with the mask `place(shown)`, or weights of scores and that."""

    def weights(query, key, lengths):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        return weigh(scores, place(torch.arange(key.shape[-2]) < lengths[:, None]))

    return weighing_by(weights)


def one_text_at_a_time(query, key, value, lengths):
    weights = query.new_zeros(*query.shape[:3], key.shape[2])
    for i, length in enumerate(lengths.tolist()):
        scores = query[i] @ key[i, :, :length].mT / math.sqrt(query.shape[-1])
        weights[i, ..., :length] = scores.softmax(-1)
    return weights @ value, weights


def masked_and_fused(query, key, value, lengths):
    shown = torch.arange(key.shape[-2]) < lengths[:, None, None, None]
    return fused(query, key, value, attn_mask=shown)


WEIGHING = {
    "-1e9": lambda scores, shown: scores.masked_fill(~shown, -1e9).softmax(-1),
    "where": lambda scores, shown: torch.where(shown, scores, -math.inf).softmax(-1),
    "logarithm added": lambda scores, shown: (scores + shown.to(scores.dtype).log()).softmax(-1),
    "by hand": lambda scores, shown: shifted_exp(scores.masked_fill(~shown, -math.inf)),
}


# --- batch_shapes ---


SHAPES = check_batch_shapes.shapes


# --- cut ---


def by_index(words):
    places = [i for i in range(len(words)) if i < 4 or i >= max(4, len(words) - 8)]
    return words[places if len(words) > 12 else slice(None)]


def in_lists(words):
    kept = words.tolist()
    del kept[6 : max(6, len(kept) - 6)]
    return kept


def smaller(words, head=5):
    """A head, a tail, and a place left over."""
    return words if len(words) < 13 else torch.cat([words[:head], words[-6:]])


ACCEPTED = {
    check_fitted: named(with_pad, by_torchtext, in_a_deque),
    check_numbers: named(by_torchtexts_field, by_numpy),
    check_padding_mask: combined(partial(masked_by, each), WEIGHING)
    | named(one_text_at_a_time, masked_and_fused)
    | in_other_words(masked),
    check_batch_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size, in another order": {name: torch.Size(SHAPES[name]) for name in reversed(SHAPES)},
    },
    check_cut: named(by_index, in_lists, smaller),
}
