"""The exercise `stretched_turns`, tried as readers would."""

import math

import torch
from exercise_cases import changed, judged_as, named

from attnlab.positions import stretched
from chapters.longer_than_it_was_trained.exercises import check_stretched_turns


def pair_by_pair(frequencies, longest, factor, fast, slow):
    made = []
    for frequency in frequencies.tolist():
        turns = longest * frequency / (2 * math.pi)
        if turns >= fast:
            made.append(frequency)
        elif turns <= slow:
            made.append(frequency / factor)
        else:
            share = (turns - slow) / (fast - slow)
            made.append(share * frequency + (1 - share) * frequency / factor)
    return torch.tensor(made, dtype=frequencies.dtype)


def by_where(frequencies, longest, factor, fast, slow):
    waves = 2 * torch.pi / frequencies
    turns = longest / waves
    ramp = frequencies / factor * (1 + (factor - 1) * (turns - slow) / (fast - slow))
    return torch.where(turns > fast, frequencies, torch.where(turns < slow, frequencies / factor, ramp))


def by_lerp(frequencies, longest, factor, fast, slow):
    stays = ((longest * frequencies / math.tau - slow) / (fast - slow)).clip(0, 1)
    return torch.lerp(frequencies / factor, frequencies, stays)


def by_attnlab(frequencies, longest, factor, fast, slow):
    return stretched(frequencies, factor, longest, "mixed", slow, fast)


def mixing(
    turns=lambda frequencies, longest: longest * frequencies / (2 * math.pi),
    share=lambda turns, fast, slow: ((turns - slow) / (fast - slow)).clamp(0, 1),
    slower=torch.div,
    join=lambda share, one, other: share * one + (1 - share) * other,
):
    """A reader's function, in which one step may be another."""

    def code(frequencies, longest, factor, fast, slow):
        stays = share(turns(frequencies, longest), fast, slow)
        return join(stays, frequencies, slower(frequencies, factor))

    return code


def over_the_pairs(turns, fast, slow):
    return 1 - torch.arange(len(turns)).double() / max(1, len(turns) - 1)


RIGHT = {check_stretched_turns: named(pair_by_pair, by_where, by_lerp, by_attnlab)}
NAMED = {
    check_stretched_turns: {
        "radians for turns": mixing(turns=torch.mul),
        "half turns": mixing(turns=lambda frequencies, longest: longest * frequencies / math.pi),
        "a frequency for turns": mixing(turns=lambda frequencies, longest: frequencies),
        "the places of a turn": mixing(turns=lambda frequencies, longest: math.tau / frequencies),
        "turns at the new length": lambda frequencies, longest, factor, fast, slow: by_lerp(
            frequencies, longest, factor, fast / factor, slow / factor
        ),
        "fast and slow swapped": mixing(join=lambda share, one, other: share * other + (1 - share) * one),
        "no ramp": mixing(share=lambda turns, fast, slow: 1.0 * (turns > (fast + slow) / 2)),
        "a ramp over the pairs": mixing(share=over_the_pairs),
        "a ramp from 0": mixing(share=lambda turns, fast, slow: (turns / fast).clamp(0, 1)),
        "divided by fast alone": mixing(share=lambda turns, fast, slow: ((turns - slow) / fast).clamp(0, 1)),
        "a ramp of logarithms": mixing(
            share=lambda turns, fast, slow: ((turns / slow).log() / math.log(fast / slow)).clamp(0, 1)
        ),
        "no ends": mixing(share=lambda turns, fast, slow: (turns - slow) / (fast - slow)),
        "one end": mixing(share=lambda turns, fast, slow: ((turns - slow) / (fast - slow)).relu()),
        "one end at 1": mixing(share=lambda turns, fast, slow: ((turns - slow) / (fast - slow)).clamp(max=1)),
        "multiplied": mixing(slower=torch.mul),
        "slow pairs stopped": mixing(slower=lambda frequencies, factor: torch.zeros_like(frequencies)),
        "wavelengths mixed": mixing(join=lambda share, one, other: 1 / (share / one + (1 - share) / other)),
        "both added": mixing(join=lambda share, one, other: share * one + other),
        "the shares alone": mixing(join=lambda share, one, other: share),
        "all divided": lambda frequencies, longest, factor, fast, slow: stretched(
            frequencies, factor, longest, "interpolated"
        ),
        "radians for turns & no ends": mixing(
            turns=torch.mul, share=lambda turns, fast, slow: (turns - slow) / (fast - slow)
        ),
    }
}
UNKNOWN = {
    check_stretched_turns: {
        "as they are": lambda frequencies, *rest: frequencies,
        "a larger base": lambda frequencies, longest, factor, fast, slow: stretched(
            frequencies, factor, longest, "larger base"
        ),
        "reversed": changed(by_lerp, lambda mixed: mixed.flip(0)),
        "a hundredth too fast": changed(by_lerp, lambda mixed: 1.01 * mixed),
        "a row too many": changed(by_lerp, lambda mixed: mixed[None]),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_in_another_precision_it_is_told():
    report = check_stretched_turns.judge(changed(by_lerp, torch.Tensor.float))
    assert report.mistake == "another dtype"
