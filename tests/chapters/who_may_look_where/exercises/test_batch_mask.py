"""The exercise `batch_mask`, tried as readers would."""

import torch
from exercise_cases import judged_as, named, words

from attnlab import masks
from chapters.who_may_look_where.exercises import (
    check_batch_mask,
)


def by_positions(lengths, n):
    place = torch.arange(n)
    return (place[:, None] >= place) & (place < lengths[:, None, None])


def by_loops(lengths, n):
    rows = [[[j <= i and j < length for j in range(n)] for i in range(n)] for length in lengths.tolist()]
    return torch.tensor(rows)


def by_products(lengths, n):
    is_word = (torch.arange(n) < lengths[:, None]).int()
    return (is_word[:, None] * torch.ones(n, n, dtype=torch.int32).tril()).bool()


def is_word(lengths, n):
    return torch.arange(n) < lengths[:, None]


RIGHT = {check_batch_mask: named(by_positions, by_loops, by_products)}


NAMED = {
    check_batch_mask: {
        "ready-made": lambda lengths, n: masks.combine(masks.padding(lengths, n), masks.causal(n)),
        "rows and columns of filler hidden, not causal": lambda lengths, n: (
            is_word(lengths, n)[:, None] & is_word(lengths, n)[..., None]
        ),
        "the future & filler hidden as a query": lambda lengths, n: by_positions(lengths, n).mT,
        "True for blocked": lambda lengths, n: ~by_positions(lengths, n),
        "one place ahead": lambda lengths, n: (
            (torch.arange(n) < lengths[:, None])[:, None] & torch.ones(n, n).tril(1).bool()
        ),
        "not causal": lambda lengths, n: (torch.arange(n) < lengths[:, None])[:, None].repeat(1, n, 1),
        "no filler hidden": lambda lengths, n: torch.ones(len(lengths), n, n).bool().tril(),
        "either": lambda lengths, n: (
            (torch.arange(n) < lengths[:, None])[:, None] | torch.ones(n, n).bool().tril()
        ),
        "the future": lambda lengths, n: (
            (torch.arange(n) < lengths[:, None])[:, None] & torch.ones(n, n).bool().triu()
        ),
        "one place of filler too many": lambda lengths, n: by_positions(lengths + 1, n),
    }
}


UNKNOWN = {
    check_batch_mask: {
        "nothing shown": lambda lengths, n: torch.zeros(len(lengths), n, n, dtype=torch.bool),
        "everything shown": lambda lengths, n: torch.ones(len(lengths), n, n, dtype=torch.bool),
        "itself alone": lambda lengths, n: torch.eye(n).bool().expand(len(lengths), n, n),
        "numbers": lambda lengths, n: by_positions(lengths, n).float(),
        "an axis for heads": lambda lengths, n: by_positions(lengths, n).unsqueeze(1),
        "texts reversed": lambda lengths, n: by_positions(lengths, n).flip(0),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)


def test_what_is_said_of_hidden_rows_is_true_where_the_columns_are_hidden_too():
    def rows(lengths, n):
        return is_word(lengths, n)[..., None] & torch.ones(n, n).tril().bool()

    def rows_and_columns(lengths, n):
        return rows(lengths, n) & is_word(lengths, n)[:, None]

    for mask in (rows, rows_and_columns):
        assert "rows of the filler are empty" in words(check_batch_mask.judge(mask))


def test_whoever_calls_the_books_own_masks_is_told_which():
    report = check_batch_mask.judge(lambda lengths, n: masks.padding(lengths, n) & masks.causal(n))
    assert "causal and padding are there already, and your code calls them" in words(report)
    assert "✗ is written without what is there already" in report.lines[-4].strip(), report
