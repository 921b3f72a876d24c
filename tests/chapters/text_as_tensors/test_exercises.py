"""“Text as tensors”: the solutions, other right ways to write them, and faults that no catalogue holds."""

import math
from collections import Counter

import exercise_cases
import pytest
import torch
from exercise_cases import cases, changed, checked, combined, named, weighing_by, words
from torch.nn import functional as F
from torchtext import data

from chapters.text_as_tensors.exercises import BATCH_SHAPES, FITTED, NUMBERS, PADDING_MASK

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


ROWS = named(solved_fitted, with_lists, with_pad, written_into_a_row, turned_twice, by_torchtext)

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


VOCABULARIES = named(solved_numbers, sorted_twice, most_common_of_the_sorted, by_torchtexts_field)

# --- the mask ---


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


def masked_by(make_shown, weigh):
    def weights(query, key, lengths):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        return weigh(scores, make_shown(lengths, key.shape[-2]))

    return weighing_by(weights)


def one_text_at_a_time(query, key, value, lengths):
    weights = torch.zeros(*query.shape[:3], key.shape[2])
    for i, length in enumerate(lengths.tolist()):
        scores = query[i] @ key[i, :, :length].mT / math.sqrt(query.shape[-1])
        weights[i, ..., :length] = scores.softmax(-1)
    return weights @ value, weights


def masked_and_fused(query, key, value, lengths):
    return exercise_cases.fused(query, key, value, attn_mask=in_four_axes(lengths, key.shape[-2]))


MASKS = (
    combined(masked_by, SHOWN, WEIGHING)
    | named(one_text_at_a_time, masked_and_fused)
    | exercise_cases.in_other_words(one_text_at_a_time)
)


@cases((FITTED, ROWS), (NUMBERS, VOCABULARIES), (PADDING_MASK, MASKS))
def test_right_code_is_accepted(exercise, code):
    exercise_cases.assert_accepted(exercise, code)


def test_the_broken_code_passes_one_text_and_raises_or_lies_for_more():
    def to_repair(query, key, value, lengths):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        shown = torch.arange(key.shape[-2]) < lengths[:, None]
        weights = scores.masked_fill(~shown.unsqueeze(1), -math.inf).softmax(-1)
        return weights @ value, weights

    exercise_cases.assert_still_broken(PADDING_MASK, to_repair, "✓✗✗✗✗")
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
    exercise_cases.assert_right_shapes(BATCH_SHAPES, names)


# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN_ROWS = {
    "last number lost": changed(solved_fitted, lambda row: torch.cat([row[:-1], torch.tensor([0])])),
    "sorted": changed(solved_fitted, lambda row: row.sort().values),
    "floats": changed(solved_fitted, torch.Tensor.float),
    "a list": changed(solved_fitted, torch.Tensor.tolist),
    "a row of one": changed(solved_fitted, lambda row: row[None]),
    "32 bits": changed(solved_fitted, torch.Tensor.int),
    "the middle": lambda ids, length, front, pad: ids[len(ids) // 2 :][:length],
}
UNKNOWN_VOCABULARIES = {
    "two too many": changed(solved_numbers, lambda numbers: numbers + 2),
    "floats": changed(solved_numbers, torch.Tensor.float),
    "a list": changed(solved_numbers, torch.Tensor.tolist),
    "all unknown": changed(solved_numbers, torch.zeros_like),
    "in the order of numbers": changed(solved_numbers, lambda numbers: numbers.sort().values),
    "each once": changed(solved_numbers, torch.unique),
}
UNKNOWN_MASKS = exercise_cases.faults_of_attention(one_text_at_a_time) | {
    "causal": lambda query, key, value, lengths: one_text_at_a_time(query, key, value, lengths.clamp(max=2)),
    "uniform": lambda query, key, value, lengths: one_text_at_a_time(query * 0, key, value, lengths),
    "unscaled": lambda query, key, value, lengths: one_text_at_a_time(query * 2, key, value, lengths),
    "swapped": changed(one_text_at_a_time, lambda results: results[::-1]),
    "lengths turned": lambda query, key, value, lengths: one_text_at_a_time(
        query, key, value, lengths.flip(0)
    ),
}


@cases((FITTED, UNKNOWN_ROWS), (NUMBERS, UNKNOWN_VOCABULARIES), (PADDING_MASK, UNKNOWN_MASKS))
def test_a_fault_that_no_catalogue_holds_is_rejected_and_given_no_wrong_name(exercise, code):
    exercise_cases.assert_rejected_without_a_name(exercise, code)


def test_whole_numbers_are_shown_as_such():
    report = words(checked(FITTED, changed(solved_fitted, lambda row: row + 1)))
    assert "ids = torch.tensor([7, 9, 8])" in report
    assert "expected row = [7, 9, 8, 0, 0]" in report
    report = words(checked(FITTED, changed(solved_fitted, torch.Tensor.float)))
    assert "It returns float32 numbers where int64 ones are expected." in report
