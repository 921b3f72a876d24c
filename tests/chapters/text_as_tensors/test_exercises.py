"""“Text as tensors”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import math
from collections import Counter, deque
from functools import partial

import exercise_cases
import numpy as np
import pytest
import torch
from exercise_cases import changed, combined, judged_as, named, shifted_exp, weighing_by
from torch.nn import functional as F
from torchtext import data

from chapters.text_as_tensors.exercises import (
    check_batch_shapes,
    check_cut,
    check_fitted,
    check_numbers,
    check_padding_mask,
)

fitted, numbers, masked = check_fitted.reference, check_numbers.reference, check_padding_mask.reference
SHAPES = check_batch_shapes.shapes


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


def test_the_broken_code_passes_one_text_and_raises_or_lies_for_more():
    to_repair = masked_by(lambda shown: shown.unsqueeze(1))
    exercise_cases.assert_still_broken(check_padding_mask, to_repair, "✓✗✗✗✗✗")
    two, three = (case.fresh() for case in check_padding_mask.cases[1:3])
    assert to_repair(*two)[1].isfinite().all(), "as many heads as texts: no error"
    with pytest.raises(RuntimeError):
        to_repair(*three)


def test_the_shapes_are_what_torchtext_and_pytorch_say():
    def batches_of(field):
        example = data.Example.fromlist([["word"] * 2003], [("text", field)])
        dataset = data.Dataset([example], [("text", field)])
        field.build_vocab(dataset)
        return list(data.BPTTIterator(dataset, batch_size=8, bptt_len=35))

    batches = batches_of(data.Field())
    rows = 1 + sum(len(batch.text) for batch in batches)
    embedding = torch.nn.Embedding(5000, 16)
    names = {
        "columns": torch.empty(rows, 8),
        "batches": batches,
        "first": batches[0],
        "batch_first": batches_of(data.Field(batch_first=True))[0],
        "embedding": embedding,
        "model": torch.nn.Sequential(embedding, torch.nn.Linear(16, 5000)),
    }
    exercise_cases.assert_right_shapes(check_batch_shapes, names)


# --- right, in other words ---


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


def one_text_at_a_time(query, key, value, lengths):
    weights = query.new_zeros(*query.shape[:3], key.shape[2])
    for i, length in enumerate(lengths.tolist()):
        scores = query[i] @ key[i, :, :length].mT / math.sqrt(query.shape[-1])
        weights[i, ..., :length] = scores.softmax(-1)
    return weights @ value, weights


def masked_and_fused(query, key, value, lengths):
    shown = torch.arange(key.shape[-2]) < lengths[:, None, None, None]
    return exercise_cases.fused(query, key, value, attn_mask=shown)


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


WEIGHING = {
    "-1e9": lambda scores, shown: scores.masked_fill(~shown, -1e9).softmax(-1),
    "where": lambda scores, shown: torch.where(shown, scores, -math.inf).softmax(-1),
    "logarithm added": lambda scores, shown: (scores + shown.to(scores.dtype).log()).softmax(-1),
    "by hand": lambda scores, shown: shifted_exp(scores.masked_fill(~shown, -math.inf)),
}

RIGHT = {
    check_fitted: named(with_pad, by_torchtext, in_a_deque),
    check_numbers: named(by_torchtexts_field, by_numpy),
    check_padding_mask: combined(partial(masked_by, each), WEIGHING)
    | named(one_text_at_a_time, masked_and_fused)
    | exercise_cases.in_other_words(masked),
    check_cut: named(by_index, in_lists, smaller),
    check_batch_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size, in another order": {name: torch.Size(SHAPES[name]) for name in reversed(SHAPES)},
    },
}

# --- as learners got it wrong ---


def fitted_by(kept, fill=lambda count, pad: torch.full((count,), pad), pad_in_front=lambda front: front):
    def code(ids, length, front, pad):
        row = kept(ids, length) if front else ids[:length]
        filler = fill(length - len(row), pad)
        return torch.cat([filler, row] if pad_in_front(front) else [row, filler])

    return code


def last(ids, length):
    return ids[max(0, len(ids) - length) :]


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


def tiled(scores, shown):
    return hidden(scores, shown.repeat(scores.shape[1], 1).view(*scores.shape[:2], 1, -1))


NAMED = {
    check_fitted: {
        "a negative start": fitted_by(lambda ids, length: ids[len(ids) - length :]),
        "cut at the back, whatever `front` says": fitted_by(lambda ids, length: ids[:length]),
        "padded at the back, whatever `front` says": fitted_by(last, pad_in_front=lambda front: False),
        "0 for every padding": fitted_by(last, lambda count, pad: torch.zeros(count, dtype=torch.int64)),
        "floating-point numbers": fitted_by(last, lambda count, pad: torch.ones(count) * pad),
        "not turned back": lambda ids, length, front, pad: torch.cat(
            [ids.flip(0) if front else ids, torch.full((length,), pad)]
        )[:length],
    },
    check_numbers: {
        "a place kept for <unk>": vocabulary(by_count, skipped=("<pad>",)),
        "ties as they came": vocabulary(lambda counts: [word for word, _ in counts.most_common()]),
        "ties reversed": vocabulary(
            lambda counts: sorted(counts, key=lambda word: (counts[word], word), reverse=True)
        ),
        "more than min_freq": vocabulary(by_count, lambda count, least: count > least),
        "<pad> unknown": vocabulary(by_count, specials=("<unk>",)),
        "built on both texts": lambda text, least, words: vocabulary(by_count)(text + words, least, words),
    },
    check_padding_mask: {
        "still broken": masked_by(lambda shown: shown[None, :, None]),
        "on the queries": masked_by(lambda shown: shown[:, None, :, None]),
        "on queries and keys": masked_by(lambda shown: shown[:, None, :, None] & shown[:, None, None, :]),
        "tiled": masked_by(lambda shown: shown, tiled),
        "longest for all": masked_by(lambda shown: shown.any(0)),
        "hidden after the softmax": masked_by(each, lambda scores, shown: scores.softmax(-1) * shown),
        "score 0": masked_by(each, lambda scores, shown: scores.masked_fill(~shown, 0.0).softmax(-1)),
        "large numbers": masked_by(each, lambda scores, shown: F.normalize(scores.exp() * shown, 1, -1, 0)),
        "no gradient": lambda query, key, value, lengths: masked(query.detach(), key, value, lengths),
    },
    check_cut: {
        "the first words": lambda words: words[:12].tolist(),
        "the last words": lambda words: words[max(0, len(words) - 12) :],
        "too long": lambda words: words if len(words) <= 12 else torch.cat([words[:6], words[-7:]]),
        "head and tail overlap": lambda words: torch.cat([words[:5], words[-7:]]),
    },
    check_batch_shapes: {
        "rounded down": SHAPES | {"columns": (250, 8)},
        "the last row with no target": SHAPES | {"batches[-1].text": (6, 8)},
        "batch first": SHAPES | {"columns": (8, 251), "first.text": (8, 35), "batches[-1].text": (8, 5)},
        "target one shorter": SHAPES | {"first.target": (34, 8), "first.target.flatten()": (272,)},
        "other axes joined": SHAPES | {"model(first.text).flatten(0, 1)": (35, 40000)},
        "target of scores": SHAPES | {"first.target.flatten()": (280, 5000)},
    },
}

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_fitted: {
        "the middle": lambda ids, length, front, pad: ids[len(ids) // 2 :][:length],
    },
    check_numbers: {
        "small letters": lambda text, least, words: numbers(
            [*map(str.lower, text)], least, [*map(str.lower, words)]
        ),
        "each once": changed(numbers, torch.unique),
    },
    check_cut: {
        "hardly a head": lambda words: words if len(words) <= 12 else torch.cat([words[:2], words[-10:]]),
        "turned round": lambda words: words.flip(0),
        "sorted": lambda words: in_lists(words.sort().values),
        "nothing": lambda words: words[:0],
    },
    check_padding_mask: exercise_cases.faults_of_trainable_attention(masked)
    | {
        "short texts": lambda query, key, value, lengths: masked(query, key, value, lengths.clamp(max=2)),
        "lengths turned": lambda query, key, value, lengths: masked(query, key, value, lengths.flip(0)),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
