"""The exercises of “Buffers, parameters and plain tensors”.

Two of them ask for a class. What is asked of it is an input like the others: an expression of MyModule.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.shapes import Sequence
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact, whole
from bookkit.checking.mistakes import Mistakes, Part, but, in_answer, in_parts
from bookkit.checking.mistakes.holding import BYTES, HOLDING
from bookkit.checking.modules import Example, asking, held, plain

_unsaved = partial(nn.Buffer, persistent=False)


def _same(thing: Any) -> Any:
    return thing


# --- a table in its place -------------------------------------------------------------------------


def _first_rows(words: Sequence, table: Tensor) -> Tensor:
    return words + table[: words.shape[-2]]  # (B, T, d_model)


class _Positions(nn.Module):
    def __init__(self, table: Tensor, hold: Part = _unsaved, add: Part = _first_rows) -> None:
        super().__init__()
        self.table, self.add = hold(table), add

    def forward(self, words: Sequence) -> Any:
        return self.add(words, self.table)


_HELD: Mistakes = HOLDING | {
    "persistent": (
        "A buffer, and a persistent one, so a file refuses to be loaded at another length. The code decides "
        "what is in this table: no file needs it.",
        nn.Buffer,
    ),
    "a gradient of its own": (
        "The buffer is right, but it requires a gradient, which nobody will use.",
        lambda table: _unsaved(table.clone().requires_grad_()),
    ),
}
_ADDED: Mistakes = {
    "words lost": (
        "forward returns the rows of the table. It should add them to the words.",
        lambda words, table: table[: words.shape[-2]].expand_as(words),
    ),
    "whole table": (
        "The whole table is added, which fits only a sentence as long as the table. Take the first T rows.",
        torch.add,
    ),
    "columns cut": (
        "table[:, :T] cuts columns. The rows, one for each position, are the first axis: table[:T].",
        lambda words, table: words + table[:, : words.shape[-2]],
    ),
    "length from the batch": (
        "As many rows are taken as there are sentences. Its words are the second axis from the end.",
        lambda words, table: words + table[: len(words)],
    ),
    "row by sentence": (
        "Every word of a sentence gets the same row. Row t belongs to word t.",
        lambda words, table: words + table[: len(words), None],
    ),
    "last rows": (
        "The last rows of the table are added. Word 0 gets row 0.",
        lambda words, table: words + table[-words.shape[-2] :],
    ),
    "cut for good": (
        "forward writes its first rows over the table: after a short sentence none are left for a longer "
        "one.",
        lambda words, table: words + table.set_(table[: words.shape[-2]]),
    ),
    "gradients cut": (
        "The right numbers, but no gradient reaches the words: detach(), .data or no_grad() cuts it.",
        lambda words, table: _first_rows(words.detach(), table),
    ),
}
_SMALL = exact([1, 2], [0.5, -1], [3, 0]), exact([10, 20], [30, 40])[None]

check_positions_module = Exercise(
    "positions_module",
    difficulty=2,
    minutes=10,
    takes=("table", "words", "asked"),
    returns=("answer",),
    reference=_Positions,
    ask=asking("table", "words"),
    cases=(
        Case("adds the first rows to one sentence", *_SMALL, "MyModule(table)(words)"),
        # Fewer words than columns, so that it shows where columns are cut.
        Case("adds them in a batch", *draw(1, (9, 6), (3, 4, 6)), "MyModule(table)(words)"),
        Case("adds the whole table", *draw(3, (5, 4), (2, 5, 4)), "MyModule(table)(words)"),
        Case("adds more rows after fewer", *_SMALL, "[*map(MyModule(table), (words[:, :1], words))][-1]"),
        Case("works after .double()", *_SMALL, "MyModule(table).double()(words.double())"),
        Case("works on another device", *_SMALL, "MyModule(table).to('meta')(words.to('meta')).numel()"),
        Case("gradients reach the words", *_SMALL, "gradient(MyModule(table), words)"),
        Case("wants no gradient itself", *_SMALL, "int(MyModule(table)(words).requires_grad)"),
        Case("gives an optimizer nothing", *_SMALL, "len(list(MyModule(table).parameters()))"),
        Case("holds the table in one buffer", *_SMALL, "len(list(MyModule(table).buffers()))"),
        Case("puts nothing in the checkpoint", *_SMALL, "len(MyModule(table).state_dict())"),
    ),
    trainable=False,  # the cases ask for gradients themselves
    mistakes=in_parts(_Positions, hold=_HELD, add=_ADDED)
    | {
        "moved at each call": (
            "Fetching a plain tensor at each call works, and copies it every time. A buffer moves once.",
            partial(_Positions, hold=_same, add=lambda words, table: _first_rows(words, table.to(words))),
        ),
        "super().__init__() forgotten": (
            "super().__init__() makes the drawers. Until it is called, nothing can be put into one.",
            lambda table: _Positions.__new__(_Positions).register_buffer("table", table),
        ),
    },
)

# --- repair: a running mean -----------------------------------------------------------------------


def _a_tenth(mean: Tensor, latest: Tensor) -> Tensor:
    return 0.9 * mean + 0.1 * latest


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
        "The mean is in its drawer, but made from inputs with their history, which stays in memory.",
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

# --- the bytes of a checkpoint --------------------------------------------------------------------


def _numbers(
    v: int, d: int, m: int, persistent: bool, error: Callable[..., int] = lambda v, d, m, persistent: 0
) -> int:
    """Of the vocabulary, d_model and max_length; an error is what is counted too much."""
    return v * d + d * d + d + m * d * persistent + error(v, d, m, persistent)


def _checkpoint_bytes(
    vocabulary: int, d_model: int, max_length: int, bytes_each: int, persistent: bool, **error: Part
) -> int:
    return bytes_each * _numbers(vocabulary, d_model, max_length, persistent, **error)


_MISCOUNTED: Mistakes = {
    "tied counted twice": (
        "The output layer is counted beside the embedding. It is the same tensor, and is written once.",
        lambda v, d, m, persistent: v * d,
    ),
    "table always": (
        "The table is counted whether it is persistent or not.",
        lambda v, d, m, persistent: m * d * (not persistent),
    ),
    "table never": (
        "The table is never counted. A persistent buffer is in the state_dict.",
        lambda v, d, m, persistent: -m * d * persistent,
    ),
    "persistent reversed": (
        "The table is counted just when it should not be: persistent means that it is saved.",
        lambda v, d, m, persistent: -m * d if persistent else m * d,
    ),
    "nothing without the table": (
        "Without the table nothing is left: `a + b if c else 0` is `(a + b) if c else 0`.",
        lambda v, d, m, persistent: 0 if persistent else -_numbers(v, d, m, persistent),
    ),
    "no bias": (
        "The linear layer's bias is missing: one number for each output.",
        lambda v, d, m, persistent: -d,
    ),
    "a bias too many": (
        "You count a bias of the output layer, one number for each word. It has none.",
        lambda v, d, m, persistent: v,
    ),
    "no linear layer": ("The linear layer is missing.", lambda v, d, m, persistent: -d * d - d),
    "no embedding": (
        "The embedding is missing. It is tied to the output layer, so it is counted once, not never.",
        lambda v, d, m, persistent: -v * d,
    ),
    "a table of one column": (
        "The table has d_model numbers at each position, not one.",
        lambda v, d, m, persistent: (m - m * d) * persistent,
    ),
}

check_checkpoint_bytes = Exercise(
    "checkpoint_bytes",
    difficulty=2,
    minutes=5,
    takes=("vocabulary", "d_model", "max_length", "bytes_each", "persistent"),
    returns=("bytes",),
    reference=_checkpoint_bytes,
    cases=(
        Case("right without the table", 5, 3, 7, 4, False),
        Case("right with the table", 5, 3, 7, 4, True),
        Case("right in float16", 100, 16, 50, 2, True),
        Case("right in float64, without the table", 100, 16, 50, 8, False),
        Case("right for a large model", 30000, 512, 5000, 4, True),
    ),
    mistakes=in_parts(_checkpoint_bytes, error=_MISCOUNTED)
    | {
        "numbers": (
            "These are the numbers, not their bytes.",
            lambda v, d, m, bytes_each, persistent: _numbers(v, d, m, persistent),
        ),
        "always four bytes": (
            "Four bytes each, whatever bytes_each says.",
            lambda v, d, m, bytes_each, persistent: 4 * _numbers(v, d, m, persistent),
        ),
        "four bytes for the table": (
            "The numbers of the table take four bytes each with you, whatever bytes_each says.",
            lambda v, d, m, bytes_each, persistent: (
                bytes_each * _numbers(v, d, m, False) + 4 * m * d * persistent
            ),
        ),
    }
    | in_answer(_checkpoint_bytes, BYTES),
)

# --- what would stay behind -----------------------------------------------------------------------


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

# --- an experiment: a model made fit for use ------------------------------------------------------


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
    mistakes={
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
    },
)
