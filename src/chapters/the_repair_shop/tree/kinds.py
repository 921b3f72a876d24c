"""What the tree is made of, and the sections that explain what no tool finds in a model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# Sections that explain what no tool finds in a model.
SPEED: Final = "long-and-fast.html#what-length-costs"
TILES: Final = "long-and-fast.html#one-softmax-short-of-flashattention"
EQUAL_LENGTHS: Final = "text-as-tensors.html#batches-of-about-one-length"
PIECES: Final = "a-gpt-of-your-own.html#pieces-of-which-nothing-is-lost"
COPIES: Final = "a-gpt-of-your-own.html#english-on-your-own-disk"
LOOP: Final = "a-gpt-of-your-own.html#a-loop-to-be-proud-of"
RIVALS: Final = "is-it-any-good.html#rivals-worth-beating"
SAMPLING: Final = "a-gpt-of-your-own.html#what-to-draw-from"
EPOCHS: Final = "epochs-batches-iterations.html#how-many-epochs"
STEPS: Final = "epochs-batches-iterations.html#what-it-does-to-the-learning"
WARM_UP: Final = "keeping-numbers-in-range.html#who-needs-a-warm-up"
BAD_BATCH: Final = "keeping-numbers-in-range.html#one-bad-batch"
TOO_LONG: Final = "longer-than-it-was-trained.html#past-its-length"


@dataclass(frozen=True)
class Cause:
    """`Cause("no mask", "scores.triu(1)", sections.LEAK, ("the future changed",))` is where a way ends.

    `test` is one line that settles it. `tool` are the tests of `checkup` that ask this, by name, and
    `where` is what they need, unless they find it in any model.
    """

    words: str
    test: str
    section: str
    tool: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True)
class Fork:
    """`Fork("change the future", "model(changed)", {"nothing moves": …})` is a cheap test and its answers."""

    test: str
    code: str
    answers: "dict[str, Fork | Cause]"


@dataclass(frozen=True)
class Symptom:
    """`Symptom(START, "the loss starts too high", fork)` is what one sees, and what to ask."""

    group: str
    seen: str
    fork: Fork


START, TRAINS, SETS, WRITES = "at the start", "while it trains", "two sets compared", "when it is used"


def causes(branch: Fork | Cause) -> Iterator[Cause]:
    """`[*causes(TREE[0].fork)]` are all causes that this fork can lead to."""
    if isinstance(branch, Cause):
        yield branch
    else:
        for answer in branch.answers.values():
            yield from causes(answer)
