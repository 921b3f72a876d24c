"""Repair a comparison that lets one side choose by test text, and try more, and keep its best seed."""

import torch
from torch import Tensor

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _compared(
    validation: Tensor,
    test: Tensor,
    *,
    asked: Part = lambda validation, test: validation,
    judged: Part = lambda losses: losses.mean(-1),
    theirs: Part = lambda chosen, count: chosen,
    told: Part = lambda losses: losses.mean(),
    joined: Part = lambda ours, theirs: ours - theirs,
    on: Part = lambda validation, test: test,
) -> Tensor:
    """Ours minus theirs on test text, each at the rate that its own validation losses choose."""
    results = []
    for side in range(2):
        chosen = int(judged(asked(validation[side], test[side])).argmin())
        if side:
            chosen = theirs(chosen, validation.shape[1])
        results.append(told(on(validation[side], test[side])[chosen]))
    difference: Tensor = joined(*results)
    return difference


def _broken(validation: Tensor, test: Tensor) -> Tensor:
    """As the chapter gives it: our best run on test text, against their middle rate."""
    return test[0].min() - test[1, test.shape[1] // 2].mean()


def _theirs_at_the_middle(validation: Tensor, test: Tensor) -> Tensor:
    """Ours is mended, theirs has no choice."""
    return _compared(validation, test, theirs=lambda chosen, count: count // 2)


def _best_seed_of_ours(validation: Tensor, test: Tensor) -> Tensor:
    ours = test[0, validation[0].mean(-1).argmin()].min()
    return ours - test[1, validation[1].mean(-1).argmin()].mean()


def _best_seed_by_validation(validation: Tensor, test: Tensor) -> Tensor:
    best = [int(each.argmin()) for each in validation]
    return test[0].flatten()[best[0]] - test[1].flatten()[best[1]]


def _our_rate_for_both(validation: Tensor, test: Tensor) -> Tensor:
    rate = validation[0].mean(-1).argmin()
    return test[0, rate].mean() - test[1, rate].mean()


def _all_rates(validation: Tensor, test: Tensor) -> Tensor:
    return test[0].mean() - test[1].mean()


MISTAKES: Mistakes = (
    {
        "still broken": (
            "As it was: our best run of all rates, chosen by test text, against the mean of one rate of "
            "theirs.",
            _broken,
        ),
    }
    | in_parts(
        _compared,
        asked={
            "chosen by test text": (
                "The rate is chosen by test text. What is chosen by a text looks better on it than it is: "
                "choose by `validation`, and report `test`.",
                lambda validation, test: test,
            ),
        },
        judged={
            "a rate by its median": (
                "You choose the rate by the median of its seeds. Asked for is their mean.",
                lambda losses: losses.median(-1).values,
            ),
            "the worst rate": (
                "You choose the rate with the *highest* loss. Less is better: `argmin()`.",
                lambda losses: -losses.mean(-1),
            ),
            "a rate by its best seed": (
                "You choose the rate of the best single run. That may be one seed's luck: choose by the "
                "mean of a rate's seeds.",
                lambda losses: losses.amin(-1),
            ),
        },
        told={
            "the best seed of each": (
                "Both sides report their best seed. That is fair only for as long as both spread alike: "
                "report means.",
                lambda losses: losses.min(),
            ),
            "medians": (
                "You report medians. Asked for is the mean over the seeds.",
                lambda losses: losses.median(),
            ),
            "the first seed": (
                "You report the first seed alone. Take the mean over all of them.",
                lambda losses: losses[0],
            ),
        },
        joined={
            "theirs minus ours": (
                "The sign is turned: asked for is ours minus theirs, below 0 where we are better.",
                lambda ours, theirs: theirs - ours,
            ),
            "a share of theirs": (
                "You divide by theirs. Asked for is the difference, in the losses' own unit.",
                lambda ours, theirs: (ours - theirs) / theirs,
            ),
        },
        on={
            "reported on validation text": (
                "You report the losses by which the rates were chosen. The chosen one looks better there "
                "than it is: report `test`.",
                lambda validation, test: validation,
            ),
        },
    )
    | {
        "theirs has no choice": (
            "Theirs is still trained at the middle rate. The one that may choose wins: let theirs choose as "
            "ours does.",
            _theirs_at_the_middle,
        ),
        "our best seed": (
            "Ours reports its best seed, and theirs the mean of all. Report means on both sides.",
            _best_seed_of_ours,
        ),
        "the best run by validation": (
            "You take the single best run of each side, by validation text. That run's luck stays in it: "
            "choose a *rate*, by the mean of its seeds, and report that mean.",
            _best_seed_by_validation,
        ),
        "our rate for both": (
            "Theirs is trained at the rate that is best for ours. Each side chooses its own.",
            _our_rate_for_both,
        ),
        "the mean over all rates": (
            "You take the mean over rates that nobody would use. Choose one for each side.",
            _all_rates,
        ),
    }
)


def _case(label: str, ours: list[float], theirs: list[float], noise: float, number: int) -> Case:
    """With what each rate is worth to each side, and so much noise of four seeds."""
    source = generator(number)
    worth = torch.tensor([ours, theirs], dtype=torch.float64, device="cpu")[..., None]
    drawn = [
        worth + noise * torch.randn(2, len(ours), 4, generator=source, dtype=torch.float64, device="cpu")
        for _ in range(2)
    ]
    return Case(label, *drawn)


check_honest_comparison = Exercise(
    "honest_comparison",
    difficulty=3,
    minutes=20,
    takes=("validation", "test"),
    returns=("ours_minus_theirs",),
    reference=_compared,
    cases=(
        _case("right where there is one rate and no noise", [1.7], [1.65], 0.0, 1),
        _case("each side gets its own best rate", [1.8, 1.7, 1.9], [1.6, 1.75, 1.9], 0.001, 2),
        _case("seeds are averaged", [1.7], [1.7], 0.05, 3),
        _case("does all of this", [1.75, 1.74, 1.73], [1.72, 1.74, 1.76], 0.06, 15),
        _case("right for five rates", [1.75, 1.74, 1.73, 1.71, 1.7], [1.72, 1.74, 1.73, 1.7, 1.76], 0.06, 48),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
