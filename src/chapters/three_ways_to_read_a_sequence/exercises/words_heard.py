"""Count the words that a stack of causal convolutions hears."""

import math
from collections.abc import Sequence

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise


def _heard(kernel: int, dilations: Sequence[int]) -> int:
    return 1 + (kernel - 1) * sum(dilations)


check_words_heard = Exercise(
    "words_heard",
    difficulty=1,
    minutes=5,
    takes=("kernel", "dilations"),
    returns=("words",),
    reference=_heard,
    cases=(
        Case("right for a single window", 3, (1,)),
        Case("right for a skipping window", 3, (4,)),
        Case("right for two layers", 2, (1, 2)),
        Case("right for four layers", 2, (1, 2, 4, 8)),
        Case("right for wider windows", 5, (1, 3, 9)),
        Case("right for equal layers", 4, (2, 2, 2)),
    ),
    mistakes={
        "own word forgotten": (
            "You count how far back the farthest word is. The output's own word is heard as well: one more.",
            lambda kernel, dilations: (kernel - 1) * sum(dilations),
        ),
        "window added": (
            "You add a whole window to the spans. What is left to add is the output's own word, one.",
            lambda kernel, dilations: kernel + (kernel - 1) * sum(dilations),
        ),
        "both sides": (
            "This counts what would be heard on both sides. A causal window reaches back only.",
            lambda kernel, dilations: 1 + 2 * (kernel - 1) * sum(dilations),
        ),
        "kernel for gaps": (
            "A window of k places reaches back over k - 1 gaps, not k.",
            lambda kernel, dilations: 1 + kernel * sum(dilations),
        ),
        "kernel times spans": (
            "k times the sum of the dilations: but k places have k - 1 gaps, and layers share a word.",
            lambda kernel, dilations: kernel * sum(dilations),
        ),
        "dilations forgotten": (
            "This is right where every dilation is 1. A window with dilation 4 steps over three words at a "
            "time.",
            lambda kernel, dilations: 1 + (kernel - 1) * len(dilations),
        ),
        "top layer alone": (
            "This is what the last layer's window spans. Under each place of it hangs another window.",
            lambda kernel, dilations: 1 + (kernel - 1) * dilations[-1],
        ),
        "kernel to the layers": (
            "This is k to the power of the layers: right only where the dilations are 1, k, k² and so on.",
            lambda kernel, dilations: kernel ** len(dilations),
        ),
        "product of the dilations": (
            "The dilations are multiplied. Each layer *adds* its span to what lies below.",
            lambda kernel, dilations: 1 + (kernel - 1) * math.prod(dilations),
        ),
        "product of the windows": (
            "You multiply what the windows span. Windows of neighbours overlap: the spans add up.",
            lambda kernel, dilations: math.prod(1 + (kernel - 1) * each for each in dilations),
        ),
        "a word for each layer": (
            "Each layer's words are counted anew. They share the word at which they meet: count it once.",
            lambda kernel, dilations: sum(1 + (kernel - 1) * each for each in dilations),
        ),
        "every tap": (
            "You count the places of all windows. Dilation spreads them: the words between count, too.",
            lambda kernel, dilations: kernel * len(dilations),
        ),
    },
    trainable=False,
)
