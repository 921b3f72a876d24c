"""“Text as tensors”: the solutions, other right ways to write them, and faults that no catalogue holds."""

import math
from collections import Counter

import pytest
import torch
from torch.nn import functional as F
from torchtext import data

from attnlab.exercises.checker import judge
from attnlab.exercises.text_as_tensors import BATCH_SHAPES, FITTED, NUMBERS, PADDING_MASK

# --- pad and cut ---


def solved_fitted(ids, length, front, pad):
    kept = ids[max(0, len(ids) - length) :] if front else ids[:length]
    filler = torch.full((length - len(kept),), pad)
    return torch.cat([filler, kept] if front else [kept, filler])


def with_lists(ids, length, front, pad):
    numbers = ids.tolist()
    numbers = numbers[-length:] if front else numbers[:length]
    filler = [pad] * (length - len(numbers))
    return torch.tensor(filler + numbers if front else numbers + filler)


def with_pad(ids, length, front, pad):
    missing = length - len(ids)  # a negative padding cuts
    return F.pad(ids, (missing, 0) if front else (0, missing), value=pad)


def written_into_a_row(ids, length, front, pad):
    row = torch.empty(length, dtype=ids.dtype).fill_(pad)
    count = min(length, len(ids))
    if front:
        row[length - count :] = ids[len(ids) - count :]
    else:
        row[:count] = ids[:count]
    return row


def turned_twice(ids, length, front, pad):
    if front:
        return turned_twice(ids.flip(0), length, False, pad).flip(0)
    return torch.cat([ids, ids.new_full((length,), pad)])[:length]


def by_torchtext(ids, length, front, pad):
    field = data.Field(
        use_vocab=False,
        batch_first=True,
        fix_length=length,
        pad_token=pad,
        pad_first=front,
        truncate_first=front,
    )
    return field.process([ids.tolist()])[0]


@pytest.mark.parametrize(
    "function", [solved_fitted, with_lists, with_pad, written_into_a_row, turned_twice, by_torchtext]
)
def test_right_rows_are_accepted(function):
    report = judge(FITTED, function)
    assert report.passed, report


# --- a vocabulary ---


def solved_numbers(training, min_freq, words):
    counts = Counter(word for word in training if word not in ("<unk>", "<pad>"))
    frequent = [word for word in counts if counts[word] >= min_freq]
    ordered = sorted(frequent, key=lambda word: (-counts[word], word))
    number = {word: place for place, word in enumerate(["<unk>", "<pad>", *ordered])}
    return torch.tensor([number.get(word, 0) for word in words])


def sorted_twice(training, min_freq, words):
    specials = ["<unk>", "<pad>"]
    ordered = sorted(set(training) - set(specials))
    ordered.sort(key=training.count, reverse=True)  # sorting keeps the order of ties
    itos = specials + [word for word in ordered if training.count(word) >= min_freq]
    return torch.tensor([itos.index(word) if word in itos else 0 for word in words])


def most_common_of_the_sorted(training, min_freq, words):
    counts = Counter(sorted(word for word in training if not word.startswith("<")))
    number = {"<pad>": 1}
    for word, count in counts.most_common():
        if count >= min_freq:
            number[word] = len(number) + 1
    return torch.tensor([number.get(word, 0) for word in words])


def by_torchtexts_field(training, min_freq, words):
    field = data.Field()
    field.build_vocab([list(training)], min_freq=min_freq)
    return field.numericalize([list(words)])[:, 0]


@pytest.mark.parametrize(
    "function", [solved_numbers, sorted_twice, most_common_of_the_sorted, by_torchtexts_field]
)
def test_right_numbers_are_accepted(function):
    report = judge(NUMBERS, function)
    assert report.passed, report


# --- the mask ---


def masked_by(make_shown, weigh):
    def attention(query, key, value, lengths):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        weights = weigh(scores, make_shown(lengths, key.shape[-2]))
        return weights @ value, weights

    return attention


def in_four_axes(lengths, m):
    return torch.arange(m) < lengths[:, None, None, None]


def row_by_row(lengths, m):
    return torch.tensor([[place < length for place in range(m)] for length in lengths])[:, None, None]


SHOWN = {
    "four axes": in_four_axes,
    "row by row": row_by_row,
    "unsqueezed twice": lambda lengths, m: (
        (torch.arange(m)[None] < lengths[:, None]).unsqueeze(1).unsqueeze(2)
    ),
}
WEIGHING = {
    "-inf": lambda scores, shown: scores.masked_fill(~shown, -math.inf).softmax(-1),
    "-1e9": lambda scores, shown: scores.masked_fill(~shown, -1e9).softmax(-1),
    "where": lambda scores, shown: torch.where(shown, scores, torch.tensor(-math.inf)).softmax(-1),
    "added": lambda scores, shown: (scores + torch.zeros(shown.shape).masked_fill(~shown, -1e9)).softmax(-1),
    "by hand": lambda scores, shown: scores.exp() * shown / (scores.exp() * shown).sum(-1, keepdim=True),
}


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("weigh", WEIGHING)
def test_right_masks_are_accepted(shown, weigh):
    report = judge(PADDING_MASK, masked_by(SHOWN[shown], WEIGHING[weigh]))
    assert report.passed, report


def one_text_at_a_time(query, key, value, lengths):
    weights = torch.zeros(*query.shape[:3], key.shape[2])
    for i, length in enumerate(lengths.tolist()):
        scores = query[i] @ key[i, :, :length].mT / math.sqrt(query.shape[-1])
        weights[i, ..., :length] = scores.softmax(-1)
    return weights @ value, weights


def fused(query, key, value, lengths):
    shown = in_four_axes(lengths, key.shape[-2])
    identity = torch.eye(key.shape[-2]).expand(*key.shape[:3], -1)
    return tuple(F.scaled_dot_product_attention(query, key, v, attn_mask=shown) for v in (value, identity))


@pytest.mark.parametrize("function", [one_text_at_a_time, fused])
def test_right_attention_in_other_words_is_accepted(function):
    report = judge(PADDING_MASK, function)
    assert report.passed, report


def test_the_broken_code_passes_one_text_and_raises_or_lies_for_more():
    def to_repair(query, key, value, lengths):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        shown = torch.arange(key.shape[-2]) < lengths[:, None]
        weights = scores.masked_fill(~shown.unsqueeze(1), -math.inf).softmax(-1)
        return weights @ value, weights

    report = judge(PADDING_MASK, to_repair)
    assert report.mistake == "still broken"
    assert [line.split()[0] for line in report.lines[:5]] == ["✓", "✗", "✗", "✗", "✗"]
    two_of_two = PADDING_MASK.cases[1].copies()
    assert to_repair(*two_of_two)[1].isfinite().all(), "as many heads as texts: no error"
    with pytest.raises(RuntimeError):
        to_repair(*PADDING_MASK.cases[2].copies())


# --- the shapes ---


def test_the_shapes_are_what_torchtext_and_pytorch_say():
    def batches_of(field):
        dataset = data.Dataset(
            [data.Example.fromlist([["word"] * 2003], [("text", field)])], [("text", field)]
        )
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
    for expression, shape in BATCH_SHAPES.shapes.items():
        assert eval(expression, names).shape == shape, expression


# --- wrong, in ways that the catalogue does not hold ---


UNKNOWN = [
    (FITTED, "last number lost", lambda *inputs: torch.cat([solved_fitted(*inputs)[:-1], torch.tensor([0])])),
    (FITTED, "sorted", lambda *inputs: solved_fitted(*inputs).sort().values),
    (FITTED, "floats", lambda *inputs: solved_fitted(*inputs).float()),
    (FITTED, "a list", lambda *inputs: solved_fitted(*inputs).tolist()),
    (FITTED, "a row of one", lambda *inputs: solved_fitted(*inputs)[None]),
    (FITTED, "32 bits", lambda *inputs: solved_fitted(*inputs).int()),
    (FITTED, "the middle", lambda ids, length, front, pad: ids[len(ids) // 2 :][:length]),
    (NUMBERS, "two too many", lambda *inputs: solved_numbers(*inputs) + 2),
    (NUMBERS, "floats", lambda *inputs: solved_numbers(*inputs).float()),
    (NUMBERS, "a list", lambda *inputs: solved_numbers(*inputs).tolist()),
    (NUMBERS, "all unknown", lambda *inputs: solved_numbers(*inputs) * 0),
    (NUMBERS, "in the order of numbers", lambda *inputs: solved_numbers(*inputs).sort().values),
    (NUMBERS, "each once", lambda *inputs: solved_numbers(*inputs).unique()),
    (PADDING_MASK, "causal", lambda q, k, v, n: one_text_at_a_time(q, k, v, n.clamp(max=2))),
    (PADDING_MASK, "uniform", lambda q, k, v, n: one_text_at_a_time(q * 0, k, v, n)),
    (PADDING_MASK, "unscaled", lambda q, k, v, n: one_text_at_a_time(q * 2, k, v, n)),
    (PADDING_MASK, "swapped", lambda *inputs: one_text_at_a_time(*inputs)[::-1]),
    (PADDING_MASK, "lengths turned", lambda q, k, v, n: one_text_at_a_time(q, k, v, n.flip(0))),
]


@pytest.mark.parametrize(
    ("exercise", "code"),
    [pytest.param(exercise, code, id=f"{exercise.name}-{name}") for exercise, name, code in UNKNOWN],
)
def test_a_fault_that_no_catalogue_holds_is_rejected_and_given_no_wrong_name(exercise, code):
    report = judge(exercise, code)
    assert report.state == "not yet"
    assert report.mistake is None
    assert "→" in repr(report)


def test_whole_numbers_are_shown_as_such():
    words = repr(judge(FITTED, lambda *inputs: solved_fitted(*inputs) + 1))
    assert "ids = torch.tensor([7, 9, 8])" in words
    assert "expected row = [7, 9, 8, 0, 0]" in words
    assert "It returns float32 numbers where int64 ones are expected." in repr(
        judge(FITTED, lambda *inputs: solved_fitted(*inputs).float())
    )
