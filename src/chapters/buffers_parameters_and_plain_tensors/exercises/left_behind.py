"""Count the numbers in plain tensors, which would stay behind when a model moves."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import Mistakes, Part, in_parts
from bookkit.checking.modules import Example, held, plain
from chapters.buffers_parameters_and_plain_tensors.exercises.ways_to_hold import _unsaved

_INNER = Example("inner", table=torch.zeros(3, 3), bias=nn.Parameter(torch.zeros(13)))


_SHARED = Example("shared", table=torch.zeros(6))


_MODELS = {
    "right for one plain tensor": Example("a plain tensor (2, 3)", table=torch.zeros(2, 3)),
    "right for all kinds together": Example(
        "plain tensor (4,), buffer (5,), non-persistent buffer (7,), parameter (11,)",
        plain=torch.zeros(4),
        buffer=nn.Buffer(torch.zeros(5)),
        unsaved=_unsaved(torch.zeros(7)),
        parameter=nn.Parameter(torch.zeros(11)),
    ),
    "right for plain tensors of all kinds": Example(
        "plain tensors: whole numbers (3,), with requires_grad (8,); in a list: (17,)",
        whole=whole(1, 2, 3),
        trained=torch.zeros(8, requires_grad=True),
        several=[torch.zeros(17)],
    ),
    "right where nothing stays behind": Example("a buffer (5,)", buffer=nn.Buffer(torch.zeros(5))),
    "right for modules inside modules": Example(
        "three modules, one inside another: plain tensors (2, 5), () and (3, 3), parameter (13,)",
        table=torch.zeros(2, 5),
        middle=Example("middle", scale=torch.zeros(()), inner=_INNER),
    ),
    "right for a module used twice": Example(
        "two modules, and inside both the same third, with a plain tensor (6,)",
        one=Example("one", inside=_SHARED),
        other=Example("other", inside=_SHARED),
    ),
}


def _total(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.numel() for tensor in tensors)


def _left_behind(model: nn.Module, search: Part = nn.Module.modules, count: Part = torch.numel) -> int:
    return sum(count(tensor) for module in search(model) for tensor in plain(module).values())


_SEARCHED: Mistakes = {
    "outermost module only": (
        "Only the outermost module is searched. The modules inside it have attributes, too.",
        lambda model: [model],
    ),
    "one level": (
        "The module and its children are searched, but not the children's children.",
        lambda model: [model, *model.children()],
    ),
    "inside only": (
        "The modules inside are searched, and not the outermost one itself.",
        lambda model: list(model.modules())[1:],
    ),
    "children only": (
        "children() is one level: it leaves out the module itself, and its children's children.",
        nn.Module.children,
    ),
    "counted at each place": (
        "A module that is used in two places is counted twice. It is one object, with one tensor.",
        lambda model: (module for _, module in model.named_modules(remove_duplicate=False)),
    ),
}


_COUNTED: Mistakes = {
    "tensors counted": ("This counts tensors. Asked for are the numbers in them.", lambda tensor: 1),
    "rows counted": ("len(tensor) counts rows, and a tensor with no axes has none to count.", len),
}


_OF_ALL: Mistakes = {
    "zero": ("Always zero. Is anything counted?", lambda model: 0),
    "everything": ("You count all. Parameters and buffers move along.", lambda model: _total(held(model))),
    "parameters": ("The parameters move with the model.", lambda model: _total(model.parameters())),
    "buffers": ("The buffers move with the model.", lambda model: _total(model.buffers())),
    "buffers too": ("Buffers move along, too.", lambda model: _left_behind(model) + _total(model.buffers())),
    "not in the state_dict": (
        "A non-persistent buffer is not in the state_dict, and moves all the same. You count it.",
        lambda model: _total(held(model)) - _total(model.state_dict().values()),
    ),
    "lists as well": (
        "Tensors in lists are counted. Here only those count that are attributes themselves.",
        lambda model: _left_behind(model) + _total(getattr(model, "several", [])),
    ),
    "each name once": (
        "Of several tensors with one name only the last is counted. Each module has names of its own.",
        lambda model: _total(dict(pair for one in model.modules() for pair in plain(one).items()).values()),
    ),
}


check_left_behind = Exercise(
    "left_behind",
    difficulty=4,
    minutes=15,
    takes=("model",),
    returns=("count",),
    reference=_left_behind,
    cases=[Case(label, model) for label, model in _MODELS.items()],
    trainable=False,
    mistakes=in_parts(_left_behind, search=_SEARCHED, count=_COUNTED) | _OF_ALL,
)
