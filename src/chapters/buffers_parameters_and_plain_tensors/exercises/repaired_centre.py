"""Repair a module whose running mean is a plain tensor and keeps history."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Mistakes, Part, but, in_parts
from bookkit.checking.mistakes.holding import HOLDING
from bookkit.checking.modules import asking
from chapters.buffers_parameters_and_plain_tensors.exercises.ways_to_hold import _a_tenth, _same, _unsaved


class _Centre(nn.Module):
    def __init__(
        self,
        width: int,
        hold: Part = nn.Buffer,
        cut: Part = torch.detach,
        move: Part = _a_tenth,
        when: Part = bool,
        finish: Part = _same,
    ) -> None:
        super().__init__()
        self.mean, self.parts = hold(torch.zeros(width)), (cut, move, when, finish)

    def forward(self, inputs: Tensor) -> Any:
        cut, move, when, finish = self.parts
        if when(self.training):
            self.mean = move(self.mean, cut(inputs).mean(0))
        return finish(inputs - self.mean)


_MOVED: Mistakes = {
    "never moves": ("The mean never moves: it is zero for ever.", lambda mean, latest: mean),
    "last batch only": ("The latest batch's mean: go a tenth of the way there.", lambda mean, latest: latest),
    "mean of everything": (
        "One mean over all columns. Each column has its own: mean(0).",
        lambda mean, latest: _a_tenth(mean, latest.mean()),
    ),
    "nine tenths": (
        "The mean goes nine tenths of the way to the batch's, not one tenth: the weights are swapped.",
        lambda mean, latest: _a_tenth(latest, mean),
    ),
}


_OTHERWISE: Mistakes = {
    "still broken": (
        "Both faults that it came with are still there. Where is the mean held, and what does it drag along?",
        partial(_Centre, hold=_same, cut=_same),
    ),
    "history kept": (
        "The mean is in its drawer, but made from inputs with their history, which the next backward() "
        "would go through once more.",
        partial(_Centre, cut=_same),
    ),
    "not persistent": (
        "The mean is in no file: its buffer is not persistent, or it is no buffer at all. No code can "
        "compute it again, since it is what training found.",
        partial(_Centre, hold=_unsaved),
    ),
    "not persistent, history kept": (
        "Two faults: the mean is in no file (not persistent, or no buffer), and it keeps the inputs' "
        "history.",
        partial(_Centre, hold=_unsaved, cut=_same),
    ),
    "written into a parameter": (
        "The mean is a parameter: listed for the optimizer and, were it frozen, thawed with the rest. "
        "Training finds it, and no gradient, so it belongs in a buffer.",
        partial(_Centre, hold=nn.Parameter, move=lambda *means: nn.Parameter(_a_tenth(*means).detach())),
    ),
    "moves in use": (
        "The mean moves in use as well. Only in training should it: the condition got lost.",
        partial(_Centre, when=lambda training: True),
    ),
    "output cut off": (
        "The output is cut off as well, so that no layer before could train. Cut off the mean alone.",
        partial(_Centre, finish=torch.detach),
    ),
}


_ONE = exact([1, 2], [3, 6])[None], exact([1, 1])  # one batch of two


_MANY = draw(5, (3, 8, 4), (5, 4))


_USED = "trained(MyModule(4), batches)"


check_repaired_centre = Exercise(
    "repaired_centre",
    difficulty=3,
    minutes=15,
    takes=("batches", "inputs", "asked"),
    returns=("answer",),
    reference=_Centre,
    ask=asking("batches", "inputs"),
    cases=(
        Case("right after one batch", *_ONE, "trained(MyModule(2), batches)(inputs)"),
        Case("right in training", *_MANY, "torch.stack([*map(MyModule(4), batches)])"),
        Case("right in use", *_MANY, f"{_USED}(inputs)"),
        Case("the mean stands still in use", *_MANY, f"[*map({_USED}, (inputs + 1, inputs))][-1]"),
        Case("gradients reach the inputs", *_MANY, f"gradient({_USED}, inputs)"),
        Case("works after .double()", *_MANY, f"{_USED}.double()(inputs.double())"),
        Case("works on another device", *_MANY, f"{_USED}.to('meta')(inputs.to('meta')).numel()"),
        Case("remembers its mean when reloaded", *_MANY, f"reloaded(MyModule(4), {_USED})(inputs)"),
        Case("gives an optimizer nothing", *_MANY, f"len(list({_USED}.parameters()))"),
        Case("keeps no history", *_MANY, "histories(MyModule(4), batches)"),
    ),
    trainable=False,  # the cases ask for gradients themselves
    mistakes=in_parts(_Centre, hold=but(HOLDING, "frozen parameter"), move=_MOVED) | _OTHERWISE,
)
