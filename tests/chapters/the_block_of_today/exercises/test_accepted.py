"""The exercise `accepted`, tried as readers would."""

import pytest
import torch
from exercise_cases import changed, judged_as, named

from chapters.the_block_of_today.exercises.accepted import check_accepted


def one_by_one(p, q, guesses, u):
    kept = 0
    for large, small, guess, number in zip(p, q, guesses.tolist(), u, strict=False):
        if number >= min(1, large[guess] / small[guess]):
            left = torch.relu(large - small)
            return kept, left / left.sum()
        kept += 1
    return kept, p[kept]


def all_at_once(p, q, guesses, u):
    places = torch.arange(len(q))
    refused = u * q[places, guesses] > p[places, guesses]
    kept = torch.argmax(torch.cat([refused, torch.tensor([True])]).int())
    if kept == len(q):
        return kept, p[-1]
    left = torch.where(p[kept] > q[kept], p[kept] - q[kept], 0)
    return kept, left / left.sum()


def with_a_row_of_nothing(p, q, guesses, u):
    """Behind the guesses the small model says nothing, so that all of p is left."""
    q = torch.cat([q, torch.zeros_like(q[:1])])
    kept = 0
    while kept < len(guesses) and u[kept] < p[kept, guesses[kept]] / q[kept, guesses[kept]]:
        kept += 1
    left = torch.maximum(p[kept] - q[kept], torch.zeros(()))
    return torch.tensor(kept), left.div(left.sum())


def judged(
    keep=lambda p, q, u: u < p / q,
    count=lambda kept: kept.int().cumprod(0).sum(),
    rest=lambda p, q, guess: (p - q).clamp(min=0),
    scale=lambda rest: rest / rest.sum(),
    place=lambda kept: kept,
    last=lambda p, q: p[-1],
):
    """A reader's function, in which one step may be another."""

    def code(p, q, guesses, u):
        rows = torch.arange(len(guesses))
        kept = int(count(keep(p[rows, guesses], q[rows, guesses], u)))
        if kept == len(guesses):
            return kept, last(p, q)
        row = place(kept)
        small = q[min(row, len(q) - 1)]
        return kept, scale(rest(p[row], small, int(guesses[kept])))

    return code


def taken_out(p, q, guess):
    left = p.clone()
    left[guess] = 0
    return left


def until_another_word(p, q, guesses, u):
    kept = int((p[:-1].argmax(-1) == guesses).int().cumprod(0).sum())
    if kept == len(q):
        return kept, p[-1]
    left = (p[kept] - q[kept]).clamp(min=0)
    return kept, left / left.sum()


RIGHT = {check_accepted: named(one_by_one, all_at_once, with_a_row_of_nothing) | {"in steps": judged()}}
NAMED = {
    check_accepted: {
        "ratio upside down": judged(lambda p, q, u: u < q / p),
        "kept where u is above": judged(lambda p, q, u: u > p / q),
        "kept with chance p": judged(lambda p, q, u: u < p),
        "kept with chance q": judged(lambda p, q, u: u <= q),
        "kept with chance 1 - p/q": judged(lambda p, q, u: u < 1 - p / q),
        "kept only where p is larger": judged(lambda p, q, u: p / q > 1),
        "kept where q is larger": judged(lambda p, q, u: p < q),
        "one u for all": judged(lambda p, q, u: u[:1] < p / q),
        "counted behind a refusal": judged(count=lambda kept: kept.sum()),
        "only the first": judged(count=lambda kept: kept[0].int()),
        "all or nothing": judged(count=lambda kept: len(kept) if kept.all() else 0),
        "drawn from p": judged(rest=lambda p, q, guess: p),
        "drawn from q": judged(rest=lambda p, q, guess: q),
        "the guess taken out": judged(rest=taken_out),
        "the wrong one taken off": judged(rest=lambda p, q, guess: torch.relu(q - p)),
        "distance": judged(rest=lambda p, q, guess: (p - q).abs()),
        "what both share": judged(rest=lambda p, q, guess: torch.where(p < q, p, q)),
        "not scaled": judged(scale=lambda rest: rest),
        "softmax of the rest": judged(scale=lambda rest: torch.softmax(rest, 0)),
        "one place late": judged(place=lambda kept: kept + 1),
        "the first place": judged(place=lambda kept: 0),
        "the last guess again": judged(last=lambda p, q: p[len(q) - 1]),
        "the rest of the last": judged(
            last=lambda p, q: torch.relu(p[-1] - q[-1]) / torch.relu(p[-1] - q[-1]).sum()
        ),
        "the new piece counted": changed(one_by_one, lambda answer: (answer[0] + 1, answer[1])),
        "kept where it is the likeliest": until_another_word,
        "not clipped": judged(rest=lambda p, q, guess: p - q, scale=lambda rest: rest),
        "counts what is refused": lambda p, q, guesses, u: (
            len(guesses) - one_by_one(p, q, guesses, u)[0],
            one_by_one(p, q, guesses, u)[1],
        ),
        "counted behind a refusal & drawn from p": judged(
            count=lambda kept: kept.sum(), rest=lambda p, q, guess: p
        ),
    }
}
UNKNOWN = {
    check_accepted: {
        "the count alone": changed(one_by_one, lambda answer: answer[0]),
        "all alike": changed(one_by_one, lambda answer: (answer[0], torch.full((4,), 0.25).double())),
        "logarithms": changed(one_by_one, lambda answer: (answer[0], answer[1].log())),
        "nothing kept": changed(one_by_one, lambda answer: (0, answer[1])),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


@pytest.mark.parametrize("case", check_accepted.cases, ids=lambda case: case.label)
def test_what_comes_back_are_chances(case):
    kept, chances = check_accepted.reference(*case.fresh())
    assert 0 <= kept <= len(case.inputs[2])
    assert chances.min() >= 0
    torch.testing.assert_close(chances.sum(), torch.tensor(1.0, dtype=torch.float64))
