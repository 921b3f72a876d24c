"""The exercises of “Buffers, parameters and plain tensors”.

Two of them ask for a module. The check builds it anew for each case and asks it one thing, such as how many
entries its state_dict has: question and answer are the inputs and the result of an ordinary exercise.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.runtime import generator
from attnlab.shapes import Sequence
from bookkit.checker import Case, Exercise, Mistake, Report, check, judge, kept


def _draw(seed: int, *shape: int) -> Tensor:
    """Numbers between -2 and 2, in eighths: exact in every dtype, and the same on every machine."""
    return torch.randint(-16, 17, shape, generator=generator(seed), device="cpu").float() / 8


def _factors(answer: Tensor) -> Tensor:
    """Another factor for each number, so that gradients can't cancel."""
    return torch.arange(1, answer.numel() + 1, device="cpu").cos().view_as(answer)


def _held(module: nn.Module) -> Iterator[Tensor]:
    """`_held(module)` are the tensors that a module without children has, in drawers or out of them."""
    yield from module.parameters()
    yield from module.buffers()
    yield from (value for value in vars(module).values() if isinstance(value, Tensor))


class _Build:
    """`_Build(ask, MyPositions)` puts a question to a fresh module; it is no plain function on purpose.

    When a plain function raises, the check shows its line. Here that would be a line of ours.
    """

    def __init__(self, ask: Callable[..., object], make: Callable[..., nn.Module]) -> None:
        self._ask, self._make = ask, make

    def __call__(self, *inputs: Any) -> object:
        return self._ask(self._make, *inputs)


def _check_module(exercise: Exercise, ask: Callable[..., object], work: object) -> Report:
    """The report on a class, or on a function that returns a module."""
    function = _Build(ask, work) if callable(work) else work
    return kept(judge(exercise, function), work)


# --- a table in its place -------------------------------------------------------------------------

POSITIONS_QUESTIONS: Mapping[str, Callable[[nn.Module, Tensor], object]] = {
    "model(words)": lambda model, words: model(words),
    "model.double()(words.double())": lambda model, words: model.double()(words.double()),
    "model.to('meta')(words.to('meta')).numel()": lambda model, words: model.to("meta")(
        words.to("meta")
    ).numel(),
    "model(words).requires_grad": lambda model, words: int(model(words).requires_grad),
    "len(list(model.parameters()))": lambda model, words: len(list(model.parameters())),
    "len(list(model.buffers()))": lambda model, words: len(list(model.buffers())),
    "len(model.state_dict())": lambda model, words: len(model.state_dict()),
    "the gradient of words": lambda model, words: _gradient(model, words),
}


def _gradient(model: nn.Module, inputs: Tensor) -> Tensor:
    inputs = inputs.clone().requires_grad_()
    outputs = model(inputs)
    return torch.autograd.grad((outputs * _factors(outputs)).sum(), inputs)[0]


def _ask_positions(make: Callable[[Tensor], Any], table: Tensor, words: Sequence, asked: str) -> object:
    model = make(table)
    answer = None if model is None else POSITIONS_QUESTIONS[asked](model, words)
    if answer is None and isinstance(model, nn.Module) and not list(_held(model)):
        return ...  # it holds nothing and returns nothing: a class with nothing in it but `...`
    return answer


class _Positions(nn.Module):
    """The right one; each mistake below changes one thing."""

    table: Tensor

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.hold(table)

    def hold(self, table: Tensor) -> None:
        self.register_buffer("table", table, persistent=False)

    def forward(self, words: Sequence) -> Tensor:
        return self.add(words, self.table)

    def add(self, words: Sequence, table: Tensor) -> Tensor:
        return words + table[: words.shape[-2]]  # (B, T, d_model)


def _holding(hold: Callable[[nn.Module, Tensor], None]) -> Callable[..., object]:
    """A mistake in how the table is held."""
    return _Build(_ask_positions, type("Positions", (_Positions,), {"hold": hold}))


def _adding(add: Callable[[nn.Module, Tensor, Tensor], object]) -> Callable[..., object]:
    """A mistake in what forward does with the table."""
    return _Build(_ask_positions, type("Positions", (_Positions,), {"add": add}))


def _assign(value: Callable[[Tensor], object]) -> Callable[[nn.Module, Tensor], None]:
    return lambda self, table: setattr(self, "table", value(table))


class _MovedAtEachCall(_Positions):
    def hold(self, table: Tensor) -> None:
        self.table = table

    def add(self, words: Sequence, table: Tensor) -> Tensor:
        return super().add(words, table.to(words.device))


class _Uninitialised(_Positions):
    def __init__(self, table: Tensor) -> None:
        self.hold(table)


def _positions_case(label: str, asked: str, table: Tensor, words: Sequence) -> Case:
    return Case(label, {"table": table, "words": words, "asked": asked})


_SMALL_TABLE = torch.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]], device="cpu")
_SMALL_WORDS = torch.tensor([[[10.0, 20.0], [30.0, 40.0]]], device="cpu")  # (1, 2, 2)
_small = partial(_positions_case, table=_SMALL_TABLE, words=_SMALL_WORDS)

POSITIONS_MODULE = Exercise(
    name="positions_module",
    difficulty=2,
    minutes=10,
    reference=_Build(_ask_positions, _Positions),
    returns=("answer",),
    cases=(
        _small("adds the first rows to one sentence", "model(words)"),
        _positions_case("adds them in a batch", "model(words)", _draw(1, 9, 6), _draw(2, 3, 7, 6)),
        _positions_case("adds the whole table", "model(words)", _draw(3, 5, 4), _draw(4, 2, 5, 4)),
        _small("works after .double()", "model.double()(words.double())"),
        _small("works on another device", "model.to('meta')(words.to('meta')).numel()"),
        _small("gradients reach the words", "the gradient of words"),
        _small("wants no gradient itself", "model(words).requires_grad"),
        _small("gives an optimizer nothing", "len(list(model.parameters()))"),
        _small("holds the table in one buffer", "len(list(model.buffers()))"),
        _small("puts nothing in the checkpoint", "len(model.state_dict())"),
    ),
    mistakes=(
        Mistake(
            "plain tensor",
            "The table is a plain tensor, so it stays behind when the model moves. Which method puts a "
            "tensor into a drawer?",
            _holding(_assign(lambda table: table)),
        ),
        Mistake(
            "persistent",
            "A buffer, and a persistent one: it is in every checkpoint, and a checkpoint of another length "
            "won't load. The code decides what is in this table, so no file needs it.",
            _holding(lambda self, table: self.register_buffer("table", table)),
        ),
        Mistake(
            "parameter",
            "The table is a parameter, so training will change it. Its values are known beforehand.",
            _holding(_assign(nn.Parameter)),
        ),
        Mistake(
            "frozen parameter",
            "The table is a frozen parameter: no optimizer touches it until someone unfreezes the model, "
            "but it is counted, saved, and of fixed length. A buffer is on no such list.",
            _holding(_assign(lambda table: nn.Parameter(table, requires_grad=False))),
        ),
        Mistake(
            "moved at each call",
            "The table is a plain tensor, and forward fetches it to the words at each call. That works, and "
            "copies the table every time. A buffer moves once, with the model.",
            _Build(_ask_positions, _MovedAtEachCall),
        ),
        Mistake(
            "a gradient of its own",
            "The buffer is right, but it requires a gradient. None of them will be used.",
            _holding(
                lambda self, table: self.register_buffer("table", table.requires_grad_(), persistent=False)
            ),
        ),
        Mistake(
            "words lost",
            "forward returns the rows of the table. It should add them to the words.",
            _adding(lambda self, words, table: table[: words.shape[-2]].expand_as(words)),
        ),
        Mistake(
            "whole table",
            "The whole table is added, which fits only a sentence that is as long as the table. Take the "
            "first T rows.",
            _adding(lambda self, words, table: words + table),
        ),
        Mistake(
            "length from the batch",
            "The number of rows is read off the first axis of the words. That is the batch; the words of a "
            "sentence are the second axis from the end.",
            _adding(lambda self, words, table: words + table[: words.shape[0]]),
        ),
        Mistake(
            "row by sentence",
            "Every word of a sentence gets the same row. Row t belongs to word t.",
            _adding(lambda self, words, table: words + table[: words.shape[0], None]),
        ),
        Mistake(
            "last rows",
            "The last rows of the table are added. Word 0 gets row 0.",
            _adding(lambda self, words, table: words + table[-words.shape[-2] :]),
        ),
        Mistake(
            "gradients cut",
            "The right numbers, but no gradient reaches the words: detach(), .data or no_grad() cuts it.",
            _adding(lambda self, words, table: words.detach() + table[: words.shape[-2]]),
        ),
        Mistake(
            "super().__init__() forgotten",
            "super().__init__() makes the drawers. Until it is called, nothing can be put into one.",
            _Build(_ask_positions, _Uninitialised),
        ),
    ),
    trainable=False,  # the cases ask for gradients themselves
)


def check_positions_module(module: object) -> Report:
    """`check_positions_module(MyPositions)` tests a class whose constructor takes the table.

    >>> check_positions_module(_Positions).passed
    True
    """
    return _check_module(POSITIONS_MODULE, _ask_positions, module)


# --- repair: a running mean -----------------------------------------------------------------------


def _trained(make: Callable[[int], nn.Module], batches: Tensor) -> nn.Module:
    model = make(batches.shape[-1])
    for batch in batches:
        model(batch)
    return model


def _reloaded(make: Callable[[int], nn.Module], batches: Tensor) -> nn.Module:
    model = make(batches.shape[-1])
    model.load_state_dict(_trained(make, batches).state_dict())
    return model.eval()


def _outputs_in_training(make: Callable[[int], nn.Module], batches: Tensor) -> Tensor:
    model = make(batches.shape[-1])
    return torch.stack([model(batch) for batch in batches])


def _used_twice(make: Callable[[int], nn.Module], batches: Tensor, inputs: Tensor) -> object:
    model = _trained(make, batches).eval()
    model(inputs + 1)
    return model(inputs)


def _histories(make: Callable[[int], nn.Module], batches: Tensor) -> int:
    model = _trained(make, batches.clone().requires_grad_())
    return sum(tensor.grad_fn is not None for tensor in _held(model))


CENTRE_QUESTIONS: Mapping[str, Callable[[Callable[[int], nn.Module], Tensor, Tensor], object]] = {
    "model(batch) for each batch": lambda make, batches, inputs: _outputs_in_training(make, batches),
    "model.eval()(inputs)": lambda make, batches, inputs: _trained(make, batches).eval()(inputs),
    "model.eval()(inputs), the second time": _used_twice,
    "the gradient of inputs": lambda make, batches, inputs: _gradient(_trained(make, batches).eval(), inputs),
    "model.double().eval()(inputs.double())": lambda make, batches, inputs: (
        _trained(make, batches).double().eval()(inputs.double())
    ),
    "model.to('meta')(inputs.to('meta')).numel()": lambda make, batches, inputs: (
        _trained(make, batches).to("meta")(inputs.to("meta")).numel()
    ),
    "what a reloaded model makes of inputs": lambda make, batches, inputs: _reloaded(make, batches)(inputs),
    "len(list(model.parameters()))": lambda make, batches, inputs: len(
        list(_trained(make, batches).parameters())
    ),
    "how many tensors carry a history": lambda make, batches, inputs: _histories(make, batches),
}


def _ask_centre(make: Callable[[int], nn.Module], batches: Tensor, inputs: Tensor, asked: str) -> object:
    return CENTRE_QUESTIONS[asked](make, batches, inputs)


class _Centre(nn.Module):
    """The right one; each mistake below changes one thing."""

    mean: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hold(torch.zeros(width))

    def hold(self, mean: Tensor) -> None:
        self.register_buffer("mean", mean)

    def forward(self, inputs: Tensor) -> Tensor:
        if self.training:
            self.update(inputs)
        return inputs - self.mean

    def update(self, inputs: Tensor) -> None:
        self.mean = 0.9 * self.mean + 0.1 * inputs.detach().mean(0)


def _with_history(self: Any, inputs: Tensor) -> None:
    self.mean = 0.9 * self.mean + 0.1 * inputs.mean(0)


def _into_parameter(self: Any, inputs: Tensor) -> None:
    with torch.no_grad():
        self.mean.copy_(0.9 * self.mean + 0.1 * inputs.mean(0))


def _set_mean(value: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Any, Tensor], None]:
    def update(self: Any, inputs: Tensor) -> None:
        self.mean = value(self.mean, inputs.detach())

    return update


def _update_always(self: Any, inputs: Tensor) -> Tensor:
    self.update(inputs)
    result: Tensor = inputs - self.mean
    return result


def _centre_with(**changes: Callable[..., object]) -> Callable[..., object]:
    return _Build(_ask_centre, type("Centre", (_Centre,), changes))


def _hold_plain(self: Any, mean: Tensor) -> None:
    self.mean = mean


def _centre_case(label: str, asked: str, *, large: bool = True) -> Case:
    if large:
        batches, inputs = _draw(5, 3, 8, 4), _draw(6, 5, 4)
    else:
        batches = torch.tensor([[[1.0, 2.0], [3.0, 6.0]]], device="cpu")  # one batch of two
        inputs = torch.tensor([[1.0, 1.0]], device="cpu")
    return Case(label, {"batches": batches, "inputs": inputs, "asked": asked})


REPAIRED_CENTRE = Exercise(
    name="repaired_centre",
    difficulty=3,
    minutes=15,
    reference=_Build(_ask_centre, _Centre),
    returns=("answer",),
    cases=(
        _centre_case("right after one batch", "model.eval()(inputs)", large=False),
        _centre_case("right in training", "model(batch) for each batch"),
        _centre_case("right in use", "model.eval()(inputs)"),
        _centre_case("the mean stands still in use", "model.eval()(inputs), the second time"),
        _centre_case("gradients reach the inputs", "the gradient of inputs"),
        _centre_case("works after .double()", "model.double().eval()(inputs.double())"),
        _centre_case("works on another device", "model.to('meta')(inputs.to('meta')).numel()"),
        _centre_case("remembers its mean when reloaded", "what a reloaded model makes of inputs"),
        _centre_case("gives an optimizer nothing", "len(list(model.parameters()))"),
        _centre_case("keeps no history", "how many tensors carry a history"),
    ),
    mistakes=(
        Mistake(
            "still broken",
            "Both faults that it came with are still there. Where is the mean held, and what does it drag "
            "along?",
            _centre_with(hold=_hold_plain, update=_with_history),
        ),
        Mistake(
            "still plain",
            "The history is cut off; the mean is still a plain tensor, which is neither moved nor saved.",
            _centre_with(hold=_hold_plain),
        ),
        Mistake(
            "history kept",
            "The mean is in its drawer, and still made from the inputs with their history: each step keeps "
            "all the steps before it in memory.",
            _centre_with(update=_with_history),
        ),
        Mistake(
            "not persistent",
            "The mean is in no file: its buffer is not persistent, or it is no buffer at all. No code can "
            "compute it again, since it is what training found.",
            _centre_with(hold=lambda self, mean: self.register_buffer("mean", mean, persistent=False)),
        ),
        Mistake(
            "not persistent, history kept",
            "Two things. The mean is lost when saved: its buffer is not persistent, or it is no buffer at "
            "all. And it is made from inputs with their history.",
            _centre_with(
                hold=lambda self, mean: self.register_buffer("mean", mean, persistent=False),
                update=_with_history,
            ),
        ),
        Mistake(
            "assigned to a parameter",
            "The mean is a parameter now, and a parameter's drawer takes no plain tensor. It should be in "
            "another drawer.",
            _centre_with(hold=lambda self, mean: setattr(self, "mean", nn.Parameter(mean))),
        ),
        Mistake(
            "frozen parameter",
            "The mean is a frozen parameter: counted, listed for the optimizer, and thawed with the rest. "
            "No gradient decides what is in it, so it belongs in a buffer.",
            _centre_with(
                hold=lambda self, mean: setattr(self, "mean", nn.Parameter(mean, requires_grad=False)),
                update=_into_parameter,
            ),
        ),
        Mistake(
            "moves in use",
            "The mean moves in use as well. Only in training should it: the condition got lost.",
            _centre_with(forward=_update_always),
        ),
        Mistake(
            "never moves",
            "The mean never moves: it is zero for ever.",
            _centre_with(update=lambda self, inputs: None),
        ),
        Mistake(
            "mean of everything",
            "One mean over all columns. Each column has its own: mean(0).",
            _centre_with(update=_set_mean(lambda mean, inputs: 0.9 * mean + 0.1 * inputs.mean())),
        ),
        Mistake(
            "last batch only",
            "The mean is that of the latest batch. It should go a tenth of the way there.",
            _centre_with(update=_set_mean(lambda mean, inputs: inputs.mean(0))),
        ),
        Mistake(
            "nine tenths",
            "The mean goes nine tenths of the way to the batch's, not one tenth: the weights are swapped.",
            _centre_with(update=_set_mean(lambda mean, inputs: 0.1 * mean + 0.9 * inputs.mean(0))),
        ),
        Mistake(
            "output cut off",
            "The history is cut off the output, too, so that nothing before this layer could train. Cut it "
            "off the mean alone.",
            _centre_with(forward=lambda self, inputs: _Centre.forward(self, inputs).detach()),
        ),
    ),
    trainable=False,  # the cases ask for gradients themselves
)


def check_repaired_centre(module: object) -> Report:
    """`check_repaired_centre(CentreToRepair)` tests a class whose constructor takes the width.

    >>> check_repaired_centre(_Centre).passed
    True
    """
    return _check_module(REPAIRED_CENTRE, _ask_centre, module)


# --- the bytes of a checkpoint --------------------------------------------------------------------


def _numbers(vocabulary: int, d_model: int, max_length: int, persistent: bool) -> int:
    table = max_length * d_model if persistent else 0
    return vocabulary * d_model + d_model * d_model + d_model + table


def _checkpoint_bytes(
    vocabulary: int, d_model: int, max_length: int, bytes_each: int, persistent: bool
) -> int:
    return _numbers(vocabulary, d_model, max_length, persistent) * bytes_each


def _bytes_case(label: str, *values: int) -> Case:
    names = ("vocabulary", "d_model", "max_length", "bytes_each", "persistent")
    return Case(label, dict(zip(names, values, strict=True)))


def _miscounted(count: Callable[[int, int, int, bool], float]) -> Callable[..., object]:
    """A mistake in how many numbers there are."""
    return lambda vocabulary, d_model, max_length, bytes_each, persistent: (
        count(vocabulary, d_model, max_length, persistent) * bytes_each
    )


CHECKPOINT_BYTES = Exercise(
    name="checkpoint_bytes",
    difficulty=2,
    minutes=5,
    reference=_checkpoint_bytes,
    returns=("bytes",),
    cases=(
        _bytes_case("right without the table", 5, 3, 7, 4, False),
        _bytes_case("right with the table", 5, 3, 7, 4, True),
        _bytes_case("right in float16", 100, 16, 50, 2, True),
        _bytes_case("right in float64, without the table", 100, 16, 50, 8, False),
        _bytes_case("right for a large model", 30000, 512, 5000, 4, True),
    ),
    mistakes=(
        Mistake(
            "tied counted twice",
            "The output layer is counted beside the embedding. It is the same tensor, and is written once.",
            _miscounted(lambda v, d, m, p: _numbers(v, d, m, p) + v * d),
        ),
        Mistake(
            "table always",
            "The table is counted whether it is persistent or not.",
            _miscounted(lambda v, d, m, p: _numbers(v, d, m, True)),
        ),
        Mistake(
            "table never",
            "The table is never counted. A persistent buffer is in the state_dict.",
            _miscounted(lambda v, d, m, p: _numbers(v, d, m, False)),
        ),
        Mistake(
            "persistent reversed",
            "The table is counted just when it should not be: persistent means that it is saved.",
            _miscounted(lambda v, d, m, p: _numbers(v, d, m, not p)),
        ),
        Mistake(
            "no bias",
            "The linear layer's bias is missing: one number for each output.",
            _miscounted(lambda v, d, m, p: _numbers(v, d, m, p) - d),
        ),
        Mistake(
            "no linear layer",
            "The linear layer is missing.",
            _miscounted(lambda v, d, m, p: _numbers(v, d, m, p) - d * d - d),
        ),
        Mistake(
            "no embedding",
            "The embedding is missing. It is tied to the output layer, so it is counted once, not never.",
            _miscounted(lambda v, d, m, p: _numbers(v, d, m, p) - v * d),
        ),
        Mistake(
            "a table of one column",
            "The table has d_model numbers at each position, not one.",
            _miscounted(lambda v, d, m, p: _numbers(v, d, m, False) + (m if p else 0)),
        ),
        Mistake(
            "numbers",
            "These are the numbers, not their bytes.",
            lambda v, d, m, bytes_each, p: _numbers(v, d, m, p),
        ),
        Mistake(
            "bits",
            "These are bits: eight times too many.",
            _miscounted(lambda v, d, m, p: 8 * _numbers(v, d, m, p)),
        ),
        Mistake(
            "always four bytes",
            "Four bytes each, whatever bytes_each says.",
            lambda v, d, m, bytes_each, p: 4 * _numbers(v, d, m, p),
        ),
        Mistake(
            "megabytes",
            "These are megabytes: the answer is asked for in bytes.",
            _miscounted(lambda v, d, m, p: _numbers(v, d, m, p) / 1e6),
        ),
    ),
    trainable=False,
)


def check_checkpoint_bytes(function: object) -> Report:
    """`check_checkpoint_bytes(my_function)` tests function(vocabulary, …, persistent) -> bytes.

    >>> check_checkpoint_bytes(_checkpoint_bytes).passed
    True
    """
    return check(CHECKPOINT_BYTES, function)


# --- what would stay behind -----------------------------------------------------------------------


class _Example(nn.Module):
    """A module that says in one line what it holds; as a pure number-holder it needs no forward."""

    def __init__(self, words: str, inside: tuple[nn.Module, ...] = (), **held: object) -> None:
        super().__init__()
        self.words = words
        for place, module in enumerate(inside):
            held[f"inside_{place}"] = module
        for name, value in held.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        return self.words


def _zeros(*shape: int) -> Tensor:
    return torch.zeros(shape, device="cpu")


def _plain_tensors(modules: Iterator[nn.Module]) -> Iterator[Tensor]:
    for module in modules:
        yield from (value for value in vars(module).values() if isinstance(value, Tensor))


def _left_behind(model: nn.Module) -> int:
    return sum(tensor.numel() for tensor in _plain_tensors(model.modules()))


def _every_tensor(model: nn.Module) -> Iterator[Tensor]:
    yield from model.parameters()
    yield from model.buffers()
    yield from _plain_tensors(model.modules())


def _behind_cases() -> Iterator[Case]:
    lonely = _Example("a module with a plain tensor of shape (2, 3)", table=_zeros(2, 3))
    yield Case("right for one plain tensor", {"model": lonely})
    mixed = _Example(
        "a module with a plain tensor of shape (4,), a buffer of shape (5,), a non-persistent buffer of "
        "shape (7,) and a parameter of shape (11,)",
        plain=_zeros(4),
        buffer=nn.Buffer(_zeros(5)),
        unsaved=nn.Buffer(_zeros(7), persistent=False),
        parameter=nn.Parameter(_zeros(11)),
    )
    yield Case("right for all kinds together", {"model": mixed})
    clean = _Example("a module with a buffer of shape (5,) alone", buffer=nn.Buffer(_zeros(5)))
    yield Case("right where nothing stays behind", {"model": clean})
    inner = _Example("inner", mask=_zeros(3, 3), bias=nn.Parameter(_zeros(13)))
    middle = _Example("middle", (inner,), scale=_zeros())
    outer = _Example(
        "three modules, one inside another: plain tensors of shapes (2, 5), () and (3, 3), and a parameter "
        "of shape (13,)",
        (middle,),
        table=_zeros(2, 5),
    )
    yield Case("right for modules inside modules", {"model": outer})
    twice = _Example(
        "a module with the same module inside it twice, which has a plain tensor of shape (6,)",
        (shared := _Example("shared", table=_zeros(6)), shared),
    )
    yield Case("right for a module used twice", {"model": twice})


def _all_walks(model: nn.Module) -> Iterator[nn.Module]:
    return (module for _, module in model.named_modules(remove_duplicate=False))


LEFT_BEHIND = Exercise(
    name="left_behind",
    difficulty=4,
    minutes=15,
    reference=_left_behind,
    returns=("count",),
    cases=tuple(_behind_cases()),
    mistakes=(
        Mistake(
            "outermost module only",
            "Only the outermost module is searched. The modules inside it have attributes, too.",
            lambda model: sum(tensor.numel() for tensor in _plain_tensors(iter([model]))),
        ),
        Mistake(
            "one level",
            "The module and its children are searched, but not the children's children.",
            lambda model: sum(tensor.numel() for tensor in _plain_tensors(iter([model, *model.children()]))),
        ),
        Mistake(
            "inside only",
            "The modules inside are searched, and not the outermost one itself.",
            lambda model: sum(
                tensor.numel()
                for tensor in _plain_tensors(module for module in model.modules() if module is not model)
            ),
        ),
        Mistake(
            "tensors counted",
            "This is the number of tensors. Asked for are the numbers in them.",
            lambda model: len(list(_plain_tensors(model.modules()))),
        ),
        Mistake(
            "rows counted",
            "len(tensor) counts rows, and a tensor with no axes has none to count.",
            lambda model: sum(len(tensor) for tensor in _plain_tensors(model.modules())),
        ),
        Mistake(
            "everything",
            "These are all the numbers that the model holds. Parameters and buffers move with it.",
            lambda model: sum(tensor.numel() for tensor in _every_tensor(model)),
        ),
        Mistake(
            "parameters",
            "These are the parameters, which move with the model.",
            lambda model: sum(parameter.numel() for parameter in model.parameters()),
        ),
        Mistake(
            "buffers",
            "These are the buffers, which move with the model.",
            lambda model: sum(buffer.numel() for buffer in model.buffers()),
        ),
        Mistake(
            "not in the state_dict",
            "These are all the numbers that the state_dict lacks. A non-persistent buffer isn't in there, "
            "and moves all the same.",
            lambda model: (
                sum(tensor.numel() for tensor in _every_tensor(model))
                - sum(tensor.numel() for tensor in model.state_dict().values())
            ),
        ),
        Mistake(
            "no parameters",
            "Parameters are left out, and buffers are counted. They move with the model as well.",
            lambda model: (
                sum(tensor.numel() for tensor in _every_tensor(model))
                - sum(parameter.numel() for parameter in model.parameters())
            ),
        ),
        Mistake(
            "counted at each place",
            "A module that is used in two places is counted twice. It is one object, with one tensor.",
            lambda model: sum(tensor.numel() for tensor in _plain_tensors(_all_walks(model))),
        ),
        Mistake(
            "zero",
            "Always zero. Is anything counted?",
            lambda model: 0,
        ),
    ),
    trainable=False,
)


def check_left_behind(function: object) -> Report:
    """`check_left_behind(my_function)` tests function(model) -> how many numbers stay behind.

    >>> check_left_behind(lambda model: sum(buffer.numel() for buffer in model.buffers())).mistake
    'buffers'
    """
    return check(LEFT_BEHIND, function)
