"""Find the temperature at which the best key gets a given share of the weight."""

import math

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise


def _odds(keys: int, share: float) -> float:
    """The weight of the best key, over that of each other one."""
    return share * (keys - 1) / (1 - share)


check_needed_temperature = Exercise(
    "needed_temperature",
    difficulty=3,
    minutes=10,
    takes=("gap", "keys", "share"),
    returns=("temperature",),
    reference=lambda gap, keys, share: gap / math.log(_odds(keys, share)),
    cases=(
        Case("right for two keys", 1.0, 2, 0.99),
        Case("right for two keys", 2.0, 2, 0.8),
        Case("right for three keys", 1.0, 3, 0.99),
        Case("right for many keys", 1.0, 50, 0.9),
        Case("right for many keys", 10.0, 100_000, 0.18),
        Case("right for a small lead", 0.25, 8, 0.6),
    ),
    mistakes={
        "two keys only": (
            "Right for two keys. With more, the others add up: there are keys - 1 of them.",
            lambda gap, keys, share: gap / math.log(share / (1 - share)),
        ),
        "the best key counted among the others": (
            "You count all the keys as others. The best key is one of them, so the others are keys - 1.",
            lambda gap, keys, share: gap / math.log(share * keys / (1 - share)),
        ),
        "upside down": (
            "This is 1 over the temperature: what you would multiply the scores by.",
            lambda gap, keys, share: math.log(_odds(keys, share)) / gap,
        ),
        "gap multiplied": (
            "The logarithm belongs under the gap: from e^(gap / T) = odds follows gap / T = log(odds).",
            lambda gap, keys, share: gap * math.log(_odds(keys, share)),
        ),
        "gap forgotten": (
            "This is right for a gap of 1. A lead that is twice as long allows twice the temperature.",
            lambda gap, keys, share: 1 / math.log(_odds(keys, share)),
        ),
        "log of base 10": (
            "The logarithm is of base 10. Softmax raises e, so it takes math.log.",
            lambda gap, keys, share: gap / math.log10(_odds(keys, share)),
        ),
        "log of base 2": (
            "The logarithm is of base 2. Softmax raises e, so it takes math.log.",
            lambda gap, keys, share: gap / math.log2(_odds(keys, share)),
        ),
        "negative": (
            "The sign is wrong: a temperature is positive. The odds are the best key's weight over "
            "another's, not the other way round.",
            lambda gap, keys, share: -gap / math.log(_odds(keys, share)),
        ),
        "no logarithm": (
            "You divide the gap by the odds themselves. They are e^(gap / T): take their logarithm.",
            lambda gap, keys, share: gap / _odds(keys, share),
        ),
        "the best key's own share forgotten": (
            "You set the others' share to (keys - 1)·e^(-gap / T). That is measured against the best key's "
            "weight, which is the share and not 1.",
            lambda gap, keys, share: gap / math.log((keys - 1) / (1 - share)),
        ),
        "others divided, not multiplied": (
            "You divide the odds by the number of the others. Each other key has (1 - share) / (keys - 1), "
            "and that stands below.",
            lambda gap, keys, share: gap / math.log(share / (1 - share) / (keys - 1)),
        ),
    },
)
