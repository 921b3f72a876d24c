"""Say at which epoch early stopping stops, and which was the best."""

import itertools
from typing import Any

from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts, swapped
from chapters.epochs_batches_iterations.exercises.doubles import _double


def _best(seen: list[float]) -> int:
    return seen.index(min(seen)) + 1


def _last_fall(seen: list[float]) -> int:
    return max((place + 1 for place in range(1, len(seen)) if seen[place] < seen[place - 1]), default=1)


def _stopping(
    losses: Tensor, patience: int, best: Part = _best, waited: Part = lambda seen, best: len(seen) - best
) -> tuple[Any, int]:
    """(best epoch, epochs run); `best` of the losses seen so far, and how many epochs `waited` since."""
    seen: list[float] = []
    for loss in losses.tolist():
        seen.append(loss)
        if waited(seen, best(seen)) == patience:
            break
    return best(seen), len(seen)


_BESTS: Mistakes = {
    "against the epoch before": ("Compare with the best so far, not with the epoch before.", _last_fall),
    "equal counts as better": (
        "A loss that equals the best so far counts as a new best. It must be lower: `<`, not `<=`.",
        lambda seen: len(seen) - seen[::-1].index(min(seen)),
    ),
    "highest for lowest": ("Lower is better, as with every loss.", lambda seen: seen.index(max(seen)) + 1),
    "lowest begins at 1": (
        "The first lowest loss is one that you made up, and the first epoch's was above it: use math.inf.",
        lambda seen: _best(seen) * (min(seen) < 1),
    ),
}


_WAITS: Mistakes = {
    "never stops": ("Stop after `patience` epochs in a row with no new best.", lambda seen, best: 0),
    "waits for a rise": (
        "A loss below the one before it ends the waiting with you. Only one below the best so far does.",
        lambda seen, best: len(seen) - _last_fall(seen),
    ),
    "never reset": (
        "You count all the epochs without a new best. A new best sets the count back to 0.",
        lambda seen, best: len(seen) - len(set(itertools.accumulate(seen, min))),
    ),
}


_OTHERWISE: Mistakes = {
    "counted from 0": ("Epochs begin at 1.", lambda *inputs: tuple(n - 1 for n in _stopping(*inputs))),
    "last for best": ("By the last epoch the loss has risen.", lambda *inputs: (_stopping(*inputs)[1],) * 2),
    "one epoch too patient": (
        "You wait one epoch longer than `patience`: with 1, the first that is no better is the last.",
        lambda losses, patience: _stopping(losses, patience + 1),
    ),
    "one epoch too impatient": (
        "You stop one epoch too early: `patience` is how many epochs without a new best you run.",
        lambda losses, patience: _stopping(losses, max(1, patience - 1)),
    ),
    "at the first rise": (
        "You stop at the first epoch that is no better, whatever the patience.",
        lambda losses, patience: _stopping(losses, 1),
    ),
    "best of all": (
        "best_epoch looks at epochs that were never run. After the stop there is nothing to look at.",
        lambda losses, patience: (_best(losses.tolist()), _stopping(losses, patience)[1]),
    ),
    "looks ahead": (
        "You find the best epoch of all first. Training might have stopped before it came that far.",
        lambda losses, patience: (best := _best(losses.tolist()), min(best + patience, len(losses))),
    ),
    "best by subtraction": (
        "The best epoch lies `patience` epochs back only where training stopped. It may end without a stop.",
        lambda losses, patience: (_stopping(losses, patience)[1] - patience, _stopping(losses, patience)[1]),
    ),
    "loss for epoch": (
        "This is the lowest loss and not the number of its epoch.",
        lambda losses, patience: (losses[(right := _stopping(losses, patience))[0] - 1], right[1]),
    ),
}


check_early_stopping = Exercise(
    "early_stopping",
    difficulty=3,
    minutes=15,
    takes=("validation_losses", "patience"),
    returns=("best_epoch", "epochs_run"),
    reference=_stopping,
    cases=(
        Case("right where the loss falls and then rises", _double(0.9, 0.6, 0.4, 0.5, 0.7, 0.8, 0.9, 0.7), 2),
        Case("right where the loss never stops falling", _double(2.4, 1.6, 1.1, 0.6), 2),
        Case("right where a rise is passing", _double(0.9, 0.5, 0.6, 0.7, 0.4, 0.6, 0.5, 0.3, 0.7, 0.6), 3),
        Case("right where waiting longer would have helped", _double(0.9, 0.5, 0.7, 0.6, 0.4, 0.3), 2),
        Case("right where two losses are equal", _double(0.9, 0.5, 0.5, 0.6, 0.7, 0.4, 0.8), 3),
        Case("right for a patience of 1", _double(240, 180, 190, 120, 110), 1),
    ),
    trainable=False,
    mistakes=in_parts(_stopping, best=_BESTS, waited=_WAITS)
    | _OTHERWISE
    | swapped(_stopping, "best_epoch", "epochs_run"),
)
