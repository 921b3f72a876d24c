"""Name the layer in which the first NaN arises, by hooks that leave no trace."""

from torch import nn

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.fourteen_patients.exercises.first_nan_mistakes import MISTAKES
from chapters.fourteen_patients.exercises.first_nan_parts import (
    TOLD,
    Stack,
    Step,
    answered,
    batch,
    first_nan,
    linear,
)


def _case(label: str, model: nn.Module) -> Case:
    return Case(label, model, batch())


def _block(middle: str = "as it is", calls: str = "") -> Stack:
    return Stack(calls, norm=Step("as it is"), middle=Step(middle), write=linear(2))


check_first_nan = Exercise(
    "first_nan",
    difficulty=3,
    minutes=25,
    takes=("model", "batch"),
    returns=("layer", "hooks left"),
    reference=first_nan,
    ask=answered,
    cases=(
        _case("names the layer", Stack(read=linear(1), middle=Step("root"), write=linear(2))),
        _case("is None where no NaN arises", Stack(read=linear(1), write=linear(2))),
        _case(
            "names it with all that it stands in",
            Stack(read=linear(1), first=_block(), second=_block("root"), write=linear(3)),
        ),
        _case(
            "goes by the order of the calls",
            Stack("read second first", first=Step("root"), second=Step("root"), read=linear(1)),
        ),
        _case(
            "leaves infinite numbers alone",
            Stack(read=linear(1), far=Step("infinite"), less=Step("less itself"), write=linear(2)),
        ),
        _case(
            "finds what arises between layers",
            Stack(read=linear(1), first=_block(calls="norm root write"), write=linear(3)),
        ),
        _case(
            "finds what arises in the model's own code",
            Stack("read root write", read=linear(1), write=linear(2)),
        ),
        _case(
            "looks at all that a layer returns",
            Stack(read=linear(1), two=Step("two"), first=Step("first of two"), write=linear(2)),
        ),
        _case("lets an error through, and clears up", Stack(read=linear(1), write=Step("error"))),
    ),
    mistakes=MISTAKES,
    meanings={"layer": TOLD, "hooks left": {0: "none", 1: "some"}},
    trainable=False,
)
