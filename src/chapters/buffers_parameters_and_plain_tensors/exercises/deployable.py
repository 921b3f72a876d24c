"""An experiment: make a model fit for use, with each tensor in its place."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part
from bookkit.checking.modules import asking
from chapters.buffers_parameters_and_plain_tensors.exercises.ways_to_hold import _a_tenth, _same, _unsaved


class _Smoother(nn.Module):
    """Takes its mean from the words, adds the rows of a table, mixes what the mask allows, and scales."""

    def __init__(
        self,
        width: int,
        length: int,
        scale: Part = nn.Parameter,
        mean: Part = nn.Buffer,
        mask: Part = _unsaved,
        table: Part = _unsaved,
        cut: Part = torch.detach,
    ) -> None:
        super().__init__()
        self.scale, self.mean = scale(torch.ones(width)), mean(torch.zeros(width))
        self.mask = mask(torch.ones(length, length).tril())
        self.table = table(torch.arange(length).div(length).unsqueeze(-1))
        self.cut = cut

    def forward(self, words: Tensor) -> Any:
        if self.training:
            self.mean = _a_tenth(self.mean, self.cut(words).mean(0))
        length = len(words)
        seen = self.mask[:length, :length]  # (T, T)
        moved = words - self.mean + self.table[:length]  # (T, width)
        return self.scale * (seen @ moved) / seen.sum(-1, keepdim=True)


def _held_wrongly(name: str, ways: Mistakes) -> Mistakes:
    holding: Part = _Smoother
    return {
        f"{name} {way}": (sentence, partial(holding, **{name: hold}))
        for way, (sentence, hold) in ways.items()
    }


_PLAIN = "The {0} is a plain tensor: it stays behind when the model moves, and no file holds it."


_FILED = (
    "The {0} is in the file, so a model with room for another length refuses to load it. The code makes the "
    "{0}: keep it out of the file."
)


_LISTED = "The {0} is a parameter, if a frozen one: it is on the optimizer's list. Who decides what is in it?"


_TRAINED = "The {0} is a parameter, and will be trained. Nobody wants a {0} that the gradient made."


_MADE_BY_CODE: dict[str, Mistakes] = {
    name: {
        "plain": (_PLAIN.format(name), _same),
        "in the file": (_FILED.format(name), nn.Buffer),
        "listed": (_LISTED.format(name), partial(nn.Parameter, requires_grad=False)),
        "trained": (_TRAINED.format(name), nn.Parameter),
    }
    for name in ("mask", "table")
}


MISTAKES: Mistakes = (
    {
        "nothing changed": (
            "All four are still plain tensors. Begin with the first case that fails, and mend one at a time.",
            partial(_Smoother, scale=_same, mean=_same, mask=_same, table=_same, cut=_same),
        )
    }
    | _held_wrongly("mask", _MADE_BY_CODE["mask"])
    | _held_wrongly("table", _MADE_BY_CODE["table"])
    | _held_wrongly(
        "mean",
        {
            "plain": (
                "The mean is a plain tensor: it stays behind in a move, and it is in no file.",
                _same,
            ),
            "in no file": (
                "The mean is in no file, and no code could make it again: training found it.",
                _unsaved,
            ),
        },
    )
    | _held_wrongly(
        "scale",
        {
            "plain": ("The scale is a plain tensor: no optimizer will ever see it.", _same),
            "a buffer": (
                "The scale is a buffer. It is what the gradient decides: that is a parameter.",
                nn.Buffer,
            ),
            "frozen": (
                "The scale is on the optimizer's list, and frozen. It is to be trained.",
                partial(nn.Parameter, requires_grad=False),
            ),
        },
    )
    | {
        "history kept": (
            "Every tensor is in its place. But the mean is made from words that carry a history, and holds "
            "on to all of it.",
            partial(_Smoother, cut=_same),
        ),
    }
)


_LIVE = "trained(MyModule(3, 4), batches)"


check_deployable = Exercise(
    "deployable",
    difficulty=4,
    minutes=30,
    takes=("batches", "words", "asked"),
    returns=("answer",),
    reference=_Smoother,
    ask=asking("batches", "words"),
    cases=(
        Case("the same numbers", *draw(7, (2, 4, 3), (4, 3)), "MyModule(3, 4)(words)"),
        *(
            Case(label, *draw(8, (3, 4, 3), (4, 3)), asked)
            for label, asked in {
                "the same numbers after training": f"{_LIVE}(words)",
                "moves": f"{_LIVE}.to('meta')(words.to('meta')).numel()",
                "is halved": f"{_LIVE}.half()(words.half()).element_size()",
                "an optimizer has the scale alone": f"sum(p.numel() for p in {_LIVE}.parameters())",
                "the scale wants a gradient": f"sum(p.requires_grad for p in {_LIVE}.parameters())",
                "the file has scale and mean": f"sum(t.numel() for t in {_LIVE}.state_dict().values())",
                "loads": f"reloaded(MyModule(3, 4), {_LIVE})(words)",
                "no larger file when longer": "sum(t.numel() for t in MyModule(3, 9).state_dict().values())",
                "keeps no history": "histories(MyModule(3, 4), batches)",
            }.items()
        ),
    ),
    trainable=False,  # the cases ask for what they need
    mistakes=MISTAKES,
)
