"""The mistakes that `check_deployable` knows by name."""

from functools import partial

from torch import nn

from bookkit.checking.mistakes import Mistakes, Part
from chapters.buffers_parameters_and_plain_tensors.exercises.deployable_parts import _Smoother
from chapters.buffers_parameters_and_plain_tensors.exercises.ways_to_hold import _same, _unsaved


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
