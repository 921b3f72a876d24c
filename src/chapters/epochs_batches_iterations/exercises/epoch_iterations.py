"""Count the iterations of an epoch, with drop_last and with several workers."""

import math

from attnlab.training.batches import iterations_per_epoch
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _rounded(amount: int, parts: int, down: bool) -> int:
    return amount // parts if down else math.ceil(amount / parts)


def _iterations(examples: int, batch_size: int, drop_last: bool, workers: int, share: Part = _rounded) -> int:
    return _rounded(share(examples, workers, drop_last), batch_size, drop_last)


_SHARED: Mistakes = {
    "share rounded down": (
        "Without drop_last no example may be lost: each worker's share is rounded up, not down.",
        lambda examples, workers, down: examples // workers,
    ),
    "share rounded up": (
        "With drop_last each worker's share is rounded down as well. You round it up.",
        lambda examples, workers, down: math.ceil(examples / workers),
    ),
    "workers ignored": (
        "This is right for one worker. Several share the examples out, and work at the same time.",
        lambda examples, workers, down: examples,
    ),
}


_COUNTED: Mistakes = {
    "floor for ceil": (
        "You round down whatever drop_last says. Without it, a short last batch makes an update as well.",
        lambda examples, size, drop_last, workers: examples // workers // size,
    ),
    "drop_last ignored": (
        "You round up whatever drop_last says. With drop_last a batch that is not full is left out.",
        lambda examples, size, drop_last, workers: _iterations(examples, size, False, workers),
    ),
    "drop_last reversed": (
        "It is the wrong way round: drop_last=True rounds down, drop_last=False rounds up.",
        lambda examples, size, drop_last, workers: _iterations(examples, size, not drop_last, workers),
    ),
    "batches of all workers": (
        "At each iteration every worker reads a batch, and all of them make one update: don't add them up.",
        lambda examples, size, drop_last, workers: workers * _iterations(examples, size, drop_last, workers),
    ),
    "batch shared out": (
        "You share the batch size out. It is what each worker reads; the examples are shared out.",
        lambda examples, size, drop_last, workers: _iterations(examples, size // workers or 1, drop_last, 1),
    ),
    "always one more": (
        "You add 1 to the rounded-down quotient, which is one too many where the batches come out even.",
        lambda examples, size, drop_last, workers: examples // workers // size + (not drop_last),
    ),
    "at least one": (
        "With drop_last an epoch that fills no batch makes no update at all: 0 is a right answer.",
        lambda *inputs: max(1, _iterations(*inputs)),
    ),
    "not rounded": (
        "The quotient still has its decimals. There are no half updates: round it up, or down with "
        "drop_last.",
        lambda examples, size, drop_last, workers: examples / (workers * size),
    ),
    "rounded to the nearest": (
        "`round` goes to the nearest whole number, but a single example may call for a batch of its own.",
        lambda examples, size, drop_last, workers: round(examples / (workers * size)),
    ),
    "examples per update": (
        "This is how many examples one update takes in. How many such updates does it take to read them all?",
        lambda examples, size, drop_last, workers: size * workers,
    ),
    "upside down": (
        "The fraction is upside down: the examples are divided by the batch size.",
        lambda examples, size, drop_last, workers: math.ceil(workers * size / examples),
    ),
}


check_epoch_iterations = Exercise(
    "epoch_iterations",
    difficulty=2,
    minutes=5,
    takes=("examples", "batch_size", "drop_last", "workers"),
    returns=("iterations",),
    reference=iterations_per_epoch,
    cases=(
        Case("right for one worker, with batches that come out even", 8, 2, False, 1),
        Case("right for one worker, with a last batch that is short", 11, 4, False, 1),
        Case("right for one worker, with a last batch that is short", 9, 4, False, 1),
        Case("right with drop_last", 11, 4, True, 1),
        Case("right with drop_last", 3, 4, True, 1),
        Case("right for several workers", 2000, 500, False, 4),
        Case("right for shares that don't come out even", 2001, 500, False, 2),
        Case("right for shares that don't come out even", 13, 3, False, 4),
        Case("right with drop_last for several workers", 23, 4, True, 3),
        Case("right with drop_last for several workers", 17, 3, True, 3),
    ),
    mistakes=in_parts(_iterations, share=_SHARED) | _COUNTED,
)
