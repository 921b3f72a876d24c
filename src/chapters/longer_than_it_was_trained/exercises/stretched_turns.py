"""Slow down the pairs that never turned full circle, and leave the others: frequencies for long texts."""

import math
from typing import Any

import torch
from torch import Tensor

from attnlab import positions
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _turns(frequencies: Tensor, longest: int) -> Tensor:
    return longest * frequencies / (2 * math.pi)


def _mixed(
    frequencies: Tensor,
    longest: int,
    factor: float,
    fast: float,
    slow: float,
    *,
    turned: Part = _turns,
    ramp: Part = lambda turns, fast, slow: (turns - slow) / (fast - slow),
    ended: Part = lambda share: share.clamp(0, 1),
    slower: Part = lambda frequencies, factor: frequencies / factor,
    joined: Part = lambda stays, frequencies, slower: stays * frequencies + (1 - stays) * slower,
) -> Tensor:
    """Each pair's frequency, (pairs,): a share that stays, by how often it turns within longest."""
    stays = ended(ramp(turned(frequencies, longest), fast, slow))
    mixed: Tensor = joined(stays, frequencies, slower(frequencies, factor))
    return mixed


def _by_number(turns: Tensor, fast: float, slow: float) -> Tensor:
    return torch.linspace(1, 0, len(turns), dtype=turns.dtype, device=turns.device)


def _at_the_middle(turns: Tensor, fast: float, slow: float) -> Tensor:
    return (turns >= (fast + slow) / 2).to(turns.dtype)


def _wavelengths_mixed(stays: Tensor, frequencies: Tensor, slower: Tensor) -> Tensor:
    return 1 / (stays / frequencies + (1 - stays) / slower)


def _in_logarithms(turns: Tensor, fast: float, slow: float) -> Tensor:
    return (turns.log() - math.log(slow)) / (math.log(fast) - math.log(slow))


def _at_the_new_length(frequencies: Tensor, longest: int, factor: float, fast: float, slow: float) -> Any:
    """Turns are counted within the length that is wanted."""
    return _mixed(
        frequencies, longest, factor, fast, slow,
        turned=lambda frequencies, longest: longest * factor * frequencies / (2 * math.pi),
    )  # fmt: skip


MISTAKES: Mistakes = in_parts(
    _mixed,
    turned={
        "radians for turns": (
            "You count radians. A full turn is 2π of them: `longest * frequencies / (2 * math.pi)`.",
            lambda frequencies, longest: longest * frequencies,
        ),
        "half turns": (
            "You divide by π and count half turns. A full turn is 2π radians.",
            lambda frequencies, longest: longest * frequencies / math.pi,
        ),
        "a frequency for turns": (
            "You compare the frequencies themselves, in radians a place. Count how often each pair turns "
            "within `longest` places.",
            lambda frequencies, longest: frequencies,
        ),
        "the places of a turn": (
            "You compare wavelengths, the places that one turn takes. `fast` and `slow` are numbers of "
            "turns: `longest` divided by the wavelength.",
            lambda frequencies, longest: 2 * math.pi / frequencies,
        ),
    },
    ramp={
        "fast and slow swapped": (
            "You divide the fast pairs and leave the slow ones. It is the other way round: fast pairs have "
            "been at every angle, and stay.",
            lambda turns, fast, slow: (fast - turns) / (fast - slow),
        ),
        "no ramp": (
            "A pair either stays or is divided, with nothing between. From `slow` to `fast` turns the share "
            "that stays rises from 0 to 1 in a straight line.",
            _at_the_middle,
        ),
        "all between stays": (
            "There is no ramp: all pairs above `slow` turns stay as they are. From `slow` to `fast` the "
            "share that stays rises from 0 to 1 in a straight line.",
            lambda turns, fast, slow: (turns >= slow).to(turns.dtype),
        ),
        "all between divided": (
            "There is no ramp: all pairs below `fast` turns are divided. From `slow` to `fast` turns the "
            "share that stays rises from 0 to 1 in a straight line.",
            lambda turns, fast, slow: (turns > fast).to(turns.dtype),
        ),
        "a ramp over the pairs": (
            "Your ramp goes by the number of a pair. It goes by how often the pair turns within `longest`.",
            _by_number,
        ),
        "a ramp from 0": (
            "Your ramp begins at 0 turns. It begins at `slow`: take `slow` off above and below.",
            lambda turns, fast, slow: turns / fast,
        ),
        "divided by fast alone": (
            "Your ramp begins at `slow` and reaches less than 1 at `fast`. From one to the other it is "
            "`fast - slow` turns.",
            lambda turns, fast, slow: (turns - slow) / fast,
        ),
        "a ramp of logarithms": (
            "Your ramp is straight in the logarithm of the turns. Asked for is one that is straight in the "
            "turns themselves.",
            _in_logarithms,
        ),
    },
    ended={
        "no ends": (
            "Your ramp goes on beyond `slow` and `fast`. Below the one all of a frequency is divided, above "
            "the other nothing: keep the share between 0 and 1.",
            lambda share: share,
        ),
        "one end": (
            "Your ramp ends at 0, and goes on above 1. Pairs faster than `fast` stay as they are.",
            lambda share: share.clamp(min=0),
        ),
        "one end at 1": (
            "Your ramp ends at 1, and goes on below 0. Pairs slower than `slow` are divided by factor, and "
            "no further.",
            lambda share: share.clamp(max=1),
        ),
    },
    slower={
        "multiplied": (
            "You multiply slow pairs by `factor`, and they turn faster. They have to stretch over more "
            "places: divide.",
            lambda frequencies, factor: frequencies * factor,
        ),
        "slow pairs stopped": (
            "Slow pairs don't turn at all. Divide them by `factor`.",
            lambda frequencies, factor: 0 * frequencies,
        ),
    },
    joined={
        "wavelengths mixed": (
            "You mix wavelengths. Mix the frequencies: a share of the one and the rest of the other.",
            _wavelengths_mixed,
        ),
        "both added": (
            "The slow frequency is added whole. It gets what is left: `1 - stays`.",
            lambda stays, frequencies, slower: stays * frequencies + slower,
        ),
        "the shares alone": (
            "These are the shares that stay. Asked for are frequencies.",
            lambda stays, frequencies, slower: stays,
        ),
    },
) | {
    "turns at the new length": (
        "You count turns within `longest * factor` places. What a pair has seen it saw in training, within "
        "`longest`.",
        _at_the_new_length,
    ),
    "all divided": (
        "All pairs are divided alike: these are interpolated places. Pairs that turn often stay as they are.",
        lambda frequencies, longest, factor, fast, slow: frequencies / factor,
    ),
}


def _case(label: str, turns: list[float], longest: int, factor: float, fast: float, slow: float) -> Case:
    """With pairs that turn so many times within longest."""
    frequencies = torch.tensor(turns, dtype=torch.float64, device="cpu") * 2 * math.pi / longest
    return Case(label, frequencies, longest, factor, fast, slow)


check_stretched_turns = Exercise(
    "stretched_turns",
    difficulty=3,
    minutes=20,
    takes=("frequencies", "longest", "factor", "fast", "slow"),
    returns=("mixed",),
    reference=_mixed,
    cases=(
        _case("fast pairs stay", [20.0, 9.0], 128, 4, 8, 1),
        _case("slow pairs are divided", [0.5, 0.04, 0.004], 128, 4, 8, 1),
        _case("there is a straight ramp between", [3.25, 1.7], 96, 8, 4, 1),
        _case("does all of this", [25.0, 6.0, 2.5, 0.9, 0.3, 0.02], 200, 2.5, 5, 0.5),
        Case(
            "right for the frequencies of the model",
            10_000 ** (-torch.arange(0, 16, 2, dtype=torch.float64, device="cpu") / 16),
            128,
            8,
            16,
            1,
        ),
    ),
    mistakes=MISTAKES,
    without=(positions,),
    trainable=False,
)
