"""The exercise `cached_step`, tried as readers would."""

import math

import exercise_cases
import pytest
import torch
from exercise_cases import judged_as

from attnlab.attention import attend
from attnlab.masks import causal
from chapters.the_transformer.exercises import (
    check_cached_step,
)

step = check_cached_step.reference


def word_by_word(words, kept, table, w_q, w_k, w_v):
    """No mask is needed where each word is added before it looks."""
    outputs, (keys, values) = [], kept
    for word in words.unbind(1):
        x = (word + table[keys.shape[1]])[:, None]
        keys, values = torch.cat([keys, x @ w_k], 1), torch.cat([values, x @ w_v], 1)
        outputs.append((x @ w_q @ keys.mT / math.sqrt(x.shape[-1])).softmax(-1) @ values)
    return torch.cat(outputs, 1), [keys, values]


def fused_step(words, kept, table, w_q, w_k, w_v):
    before, n = kept[0].shape[1], words.shape[1]
    x = words + table[before : before + n]
    keys, values = torch.cat((kept[0], x @ w_k), 1), torch.cat((kept[1], x @ w_v), 1)
    return attend(x @ w_q, keys, values, mask=causal(n, before + n))[0], (keys, values)


def stepping(place=None, kept_in=None, mask=None, out=None):
    def code(words, kept, table, w_q, w_k, w_v):
        before, n = kept[0].shape[1], words.shape[1]
        x = words + (table[before : before + n] if place is None else place(table, before, n))
        new = x @ w_k, x @ w_v
        keys, values = (
            [torch.cat(pair, 1) for pair in zip(kept, new, strict=True)]
            if kept_in is None
            else kept_in(kept, new)
        )
        hidden = torch.ones(n, keys.shape[1]).tril(before) == 0 if mask is None else mask(n, before) == 0
        scores = (x @ w_q @ keys.mT / 2).masked_fill(hidden, -math.inf)
        stored = (keys, values) if out is None else out(kept, new, (keys, values))
        return scores.softmax(-1) @ values, stored

    return code


def stored_words(words, kept, table, w_q, w_k, w_v):
    before, n = kept[0].shape[1], words.shape[1]
    x = torch.cat([kept[0], words + table[before : before + n]], 1)
    output = attend(x[:, before:] @ w_q, x @ w_k, x @ w_v, mask=causal(n, before + n))[0]
    return output, (x, x)


def in_a_list(begins_anew):
    """The words so far stand in a list outside, and `kept` is filled for show."""
    pieces = []

    def code(words, kept, *more):
        if begins_anew and kept[0].shape[1] == 0:
            pieces.clear()
        pieces.append(words)
        empty = words[:, :0]
        output, stored = fused_step(torch.cat(pieces, 1), (empty, empty), *more)
        return output[:, -words.shape[1] :], stored

    return code


def by_length():
    """Its table outside is read up to as many words as `kept` has."""
    pieces = {}

    def code(words, kept, *more):
        before = kept[0].shape[1]
        pieces[before] = words
        for place in [place for place in pieces if place > before]:
            del pieces[place]  # of a longer text, before this one
        so_far = [pieces[place] for place in sorted(pieces)]
        empty = words[:, :0]
        output, stored = fused_step(torch.cat(so_far, 1), (empty, empty), *more)
        return output[:, -words.shape[1] :], stored

    return code


@pytest.mark.parametrize("code", [in_a_list(begins_anew=False), in_a_list(begins_anew=True), by_length()])
def test_what_is_kept_outside_is_noticed_by_another_text_in_between(code):
    report = check_cached_step.judge(code)
    assert not report.passed, report
    assert "when another text comes between the pieces" in exercise_cases.words(report), report


def test_an_input_written_into_is_told_as_that_and_not_as_a_list_outside():
    def code(words, kept, table, *matrices):
        words += table[kept[0].shape[1] :][: words.shape[1]]
        return fused_step(words, kept, 0 * table, *matrices)

    report = check_cached_step.judge(code)
    assert report.mistake == "changes its inputs", report


def test_a_result_stretched_without_end_is_not_reckoned_with():
    stretched = torch.zeros(1, 1, 1).expand(1, 1_000_000, 1_000_000)
    report = check_cached_step.judge(lambda *inputs: (stretched, (stretched, stretched)))
    assert "Return the output, (B, n, d), and a pair" in exercise_cases.words(report), report


def test_a_report_has_the_names_of_the_stub():
    report = check_cached_step.judge(lambda *inputs: step(*inputs)[0])
    assert check_cached_step.takes == ("words", "pieces", "table", "w_q", "w_k", "w_v")
    assert "    words = " in repr(report), report


RIGHT = {check_cached_step: {"word by word": word_by_word, "fused": fused_step}}


NAMED = {
    check_cached_step: {
        "every step at position 0": stepping(place=lambda table, before, n: table[:n]),
        "one position too far": stepping(place=lambda table, before, n: table[before + 1 : before + n + 1]),
        "not stored": stepping(out=lambda kept, new, stored: kept),
        "new ones kept alone": stepping(out=lambda kept, new, stored: new),
        "pair swapped": stepping(out=lambda kept, new, stored: (stored[1], stored[0])),
        "new words in front": stepping(
            kept_in=lambda kept, new: [torch.cat([b, a], 1) for a, b in zip(kept, new, strict=True)]
        ),
        "no mask": stepping(mask=lambda n, before: torch.ones(n, before + n)),
        "mask from the first key on": stepping(mask=lambda n, before: torch.ones(n, before + n).tril()),
        "square mask": stepping(mask=lambda n, before: torch.ones(n, n).tril()),
        "words stored": stored_words,
        "mask reversed": stepping(mask=lambda n, before: 1 - torch.ones(n, before + n).tril(before)),
        "mask of the whole text": stepping(mask=lambda n, before: torch.ones(before + n, before + n).tril()),
        "kept elsewhere": in_a_list(begins_anew=True),
        "matrices turned": lambda words, kept, table, *matrices: step(
            words, kept, table, *(each.T for each in matrices)
        ),
    }
}


UNKNOWN = {
    check_cached_step: {
        "a little more": lambda *inputs: (step(*inputs)[0] * 1.01, step(*inputs)[1]),
        "one thing": lambda *inputs: step(*inputs)[0],
        "two positions too far": stepping(place=lambda table, before, n: table[before + 2 : before + n + 2]),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
