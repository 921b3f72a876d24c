"""The exercise `head_scores`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as
from looking_inside_answers import scores

from chapters.looking_inside.exercises import (
    check_head_scores,
)
from chapters.looking_inside.exercises.head_scores import SIX_PLACES


def test_by_hand_the_scores_of_the_drawing_are_045_and_05():
    previous, induction = scores(torch.tensor([SIX_PLACES]), 3)
    assert torch.allclose(previous, torch.tensor([0.45]))
    assert torch.allclose(induction, torch.tensor([0.5]))


def scores_by_loop(weights, period):
    length = weights.shape[-1]
    before = [weights[:, t, t - 1] for t in range(1, length)]
    after = [weights[:, t, t - period + 1] for t in range(period, length)]
    return torch.stack(before).mean(0), torch.stack(after).mean(0)


def scores_by_mask(weights, period):
    places = torch.arange(weights.shape[-1])
    back = places[:, None] - places  # (T, T)
    found = []
    for wanted in (back == 1, (back == period - 1) & (places[:, None] >= period)):
        found.append((weights * wanted).sum((-2, -1)) / wanted.sum())
    return found


RIGHT = {check_head_scores: {"loop": scores_by_loop, "mask": scores_by_mask}}


NAMED = {
    check_head_scores: {
        "own place": lambda weights, period: (
            weights.diagonal(0, 1, 2).mean(-1),
            scores(weights, period)[1],
        ),
        "the wrong triangle": lambda weights, period: (
            scores(weights.mT, period)[0],
            scores(weights, period)[1],
        ),
        "the same word": lambda weights, period: (
            scores(weights, period)[0],
            weights.diagonal(-period, 1, 2).mean(-1),
        ),
        "one row too many": lambda weights, period: (
            scores(weights, period)[0],
            weights.diagonal(1 - period, 1, 2).mean(-1),
        ),
        "first time counted": lambda weights, period: (
            scores(weights, period)[0],
            weights.diagonal(1 - period, 1, 2)[:, 1:].sum(-1) / weights.shape[-1],
        ),
        "over all places": lambda weights, period: tuple(
            found.sum(-1) / weights.shape[-1]
            for found in (weights.diagonal(-1, 1, 2), weights.diagonal(1 - period, 1, 2)[:, 1:])
        ),
        "heads averaged": lambda weights, period: tuple(each.mean() for each in scores(weights, period)),
        "both above the diagonal": lambda weights, period: (
            weights.diagonal(1, 1, 2).mean(-1),
            weights.diagonal(period - 1, 1, 2)[:, 1:].mean(-1),
        ),
        "one place too early": lambda weights, period: (
            scores(weights, period)[0],
            weights[:, period + 1 :].diagonal(0, 1, 2).mean(-1),
        ),
        "results swapped": lambda *inputs: scores_by_loop(*inputs)[::-1],
    }
}


UNKNOWN = {
    check_head_scores: {
        "halved": changed(scores, lambda both: (both[0], both[1] / 2)),
        "median": lambda weights, period: (
            weights.diagonal(-1, 1, 2).median(-1).values,
            scores(weights, period)[1],
        ),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
