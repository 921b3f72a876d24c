"""“Buffers, parameters and plain tensors”: right ways of many kinds, and faults that no catalogue holds."""

import io

import exercise_cases
import pytest
import torch
from exercise_cases import cases, changed, named, words
from torch import nn

from attnlab.positions import SinusoidalPositions
from bookkit import checker
from chapters.buffers_parameters_and_plain_tensors.exercises import (
    CHECKPOINT_BYTES,
    LEFT_BEHIND,
    POSITIONS_MODULE,
    REPAIRED_CENTRE,
    check_positions_module,
    check_repaired_centre,
)


@pytest.fixture(autouse=True)
def no_reports_from_elsewhere(monkeypatch):
    monkeypatch.setattr(checker, "latest", {})


# --- a table in its place ---


class Positions(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table, persistent=False)

    def forward(self, words):
        return words + self.table[: words.shape[-2]]


class ByAssignment(Positions):
    def __init__(self, table):
        nn.Module.__init__(self)
        self.table = nn.Buffer(table, persistent=False)


class WithBatchAxis(Positions):
    """The table as (1, max_length, d_model), as many people hold it."""

    def __init__(self, table):
        super().__init__(table[None].clone())

    def forward(self, words):
        return self.table[:, : words.size(1)] + words


class ByIndex(Positions):
    def forward(self, words):
        places = torch.arange(words.shape[1], device=words.device)
        return words + nn.functional.embedding(places, self.table)


class Inside(nn.Module):
    """The buffer in a module of its own."""

    def __init__(self, table):
        super().__init__()
        self.rows = Positions(table)

    def forward(self, words):
        return self.rows(words)


class Converting(Positions):
    def forward(self, words):
        return words + self.table.narrow(0, 0, words.shape[1]).to(words)


def with_no_grad(table):
    with torch.no_grad():
        return Positions(table)


RIGHT_POSITIONS = named(Positions, ByAssignment, WithBatchAxis, ByIndex, Inside, Converting, with_no_grad)


class TwoBuffers(Positions):
    def __init__(self, table):
        super().__init__(table)
        self.register_buffer("length", torch.tensor(len(table)), persistent=False)


class AddedTwice(Positions):
    def forward(self, words):
        return super().forward(super().forward(words))


class Subtracted(Positions):
    def forward(self, words):
        return words - self.table[: words.shape[-2]]


class OneRowOff(Positions):
    def forward(self, words):
        return words + self.table.roll(1, 0)[: words.shape[-2]]


class OnceOnly(Positions):
    """Right for the first sentence alone."""

    def forward(self, words):
        return words + self.table[: words.shape[-2]] * (words.shape[0] == 1)


class Rounded(Positions):
    def __init__(self, table):
        super().__init__(table.round())


class Learning(Positions):
    def __init__(self, table):
        super().__init__(table)
        self.scale = nn.Parameter(torch.ones(()))


class InPlace(Positions):
    def forward(self, words):
        words += self.table[: words.shape[-2]]
        return words


UNKNOWN_POSITIONS = named(TwoBuffers, AddedTwice, Subtracted, OneRowOff, OnceOnly, Rounded, Learning, InPlace)


def test_what_is_asked_is_shown_with_an_unknown_fault():
    report = words(check_positions_module(Learning))
    assert "asked = len(list(model.parameters())) answer: expected 0.0, got 1.0" in report


class Stub(nn.Module):
    def __init__(self, table):
        super().__init__()
        ...

    def forward(self, words): ...


class NoReturn(Positions):
    def forward(self, words):
        words + self.table[: words.shape[-2]]


class NoForward(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table, persistent=False)


def test_a_stub_is_not_written_yet_and_a_missing_return_is_named():
    assert check_positions_module(Stub).state == "not written yet"
    assert check_positions_module(None).state == "not written yet"
    assert "Is there a `return`" in words(check_positions_module(NoReturn))
    assert "raises NotImplementedError: Module [NoForward]" in words(check_positions_module(NoForward))
    assert "Is there a `return`" in words(check_positions_module(lambda table: None))


def test_what_is_no_class_is_asked_for_one():
    assert "check_positions_module(my_function)" in words(check_positions_module(3))
    assert not check_positions_module(lambda table: lambda words: words).passed


def test_an_error_shows_no_line_of_ours():
    assert "in the line" not in words(check_positions_module(lambda table: 1 / 0))


def test_the_books_module_is_right_too():
    # It computes its own table: compared with the one that it is given, its rows are the right ones.
    report = check_positions_module(lambda table: SinusoidalPositions(table.shape[-1], len(table)))
    assert "✓ puts nothing in the checkpoint" in words(report)
    assert "✓ holds the table in one buffer" in words(report)


def test_the_report_is_handed_in_and_the_books_own_is_not():
    def solution(table):
        return Positions(table)

    assert check_positions_module(solution).passed
    assert checker.latest == {}
    check_positions_module(Positions)
    assert checker.latest["positions_module"].passed


# --- repair ---


class Broken(nn.Module):
    """As the chapter gives it."""

    def __init__(self, width):
        super().__init__()
        self.mean = torch.zeros(width)

    def forward(self, inputs):
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * inputs.mean(0)
        return inputs - self.mean


class Centre(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))

    def forward(self, inputs):
        if self.training:
            self.update(inputs)
        return inputs - self.mean

    def update(self, inputs):
        self.mean = 0.9 * self.mean + 0.1 * inputs.detach().mean(0)


class DetachedMean(Centre):
    def update(self, inputs):
        self.mean = 0.9 * self.mean + 0.1 * inputs.mean(0).detach()


class DetachedLast(Centre):
    def update(self, inputs):
        self.mean = (0.9 * self.mean + 0.1 * inputs.mean(0)).detach()


class WithoutGradient(Centre):
    def update(self, inputs):
        with torch.no_grad():
            self.mean += 0.1 * (inputs.mean(0) - self.mean)


class WrittenInto(Centre):
    @torch.no_grad()
    def update(self, inputs):
        self.mean.lerp_(inputs.mean(0), 0.1)


class BufferOfItsOwn(Centre):
    def __init__(self, width):
        nn.Module.__init__(self)
        self.mean = nn.Buffer(torch.zeros(1, width))


class Counting(Centre):
    """A second buffer does no harm here."""

    def __init__(self, width):
        super().__init__(width)
        self.register_buffer("batches", torch.tensor(0))

    def update(self, inputs):
        super().update(inputs)
        self.batches += 1


class OfBatchNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width, affine=False)

    def forward(self, inputs):
        if self.training:
            self.norm(inputs)
        return inputs - self.norm.running_mean


RIGHT_CENTRES = named(
    Centre,
    DetachedMean,
    DetachedLast,
    WithoutGradient,
    WrittenInto,
    BufferOfItsOwn,
    Counting,
    OfBatchNorm,
)


def test_the_broken_layer_fails_just_where_the_chapter_says():
    report = check_repaired_centre(Broken)
    assert report.mistake == "still broken"
    failing = [line.strip() for line in report.lines if "✗" in line]
    assert failing == [
        "✗ works on another device",
        "✗ remembers its mean when reloaded",
        "✗ keeps no history",
    ]


class MovedAtEachCall(Broken):
    def forward(self, inputs):
        self.mean = self.mean.to(inputs)
        return super().forward(inputs)


def test_a_mean_that_is_moved_at_each_call_is_still_in_no_file():
    report = check_repaired_centre(MovedAtEachCall)
    assert report.mistake == "not persistent, history kept"
    assert "it is no buffer at all" in words(report)


class TwoTenths(Centre):
    def update(self, inputs):
        self.mean = 0.8 * self.mean + 0.2 * inputs.detach().mean(0)


class Median(Centre):
    def update(self, inputs):
        self.mean = 0.9 * self.mean + 0.1 * inputs.detach().median(0).values


class Added(Centre):
    def forward(self, inputs):
        return super().forward(inputs) + 2 * self.mean


class FirstBatchOnly(Centre):
    def update(self, inputs):
        if not self.mean.any():
            super().update(inputs)


class BeforeTheUpdate(Centre):
    def forward(self, inputs):
        outputs = inputs - self.mean
        if self.training:
            self.update(inputs)
        return outputs


UNKNOWN_CENTRES = named(TwoTenths, Median, Added, FirstBatchOnly, BeforeTheUpdate)


# --- the bytes of a checkpoint ---


class Model(nn.Module):
    """The model of the exercise, so that its answer can be held against a file."""

    def __init__(self, vocabulary, d_model, max_length, dtype, persistent):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model, dtype=dtype)
        self.linear = nn.Linear(d_model, d_model, dtype=dtype)
        self.output = nn.Linear(d_model, vocabulary, bias=False, dtype=dtype)
        self.output.weight = self.embedding.weight
        self.register_buffer("table", torch.zeros(max_length, d_model, dtype=dtype), persistent=persistent)


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_real_file_is_as_large_as_the_reference_says(dtype, persistent):
    file = io.BytesIO()
    torch.save(Model(700, 96, 500, dtype, persistent).state_dict(), file)
    numbers = CHECKPOINT_BYTES.reference(700, 96, 500, dtype.itemsize, persistent)
    # Names, shapes and alignment come on top: a few thousand bytes.
    assert numbers < file.getbuffer().nbytes < numbers + 4000


def factored(vocabulary, d_model, max_length, bytes_each, persistent):
    return (vocabulary + d_model + 1 + persistent * max_length) * d_model * bytes_each


def by_torch(vocabulary, d_model, max_length, bytes_each, persistent):
    dtype = {2: torch.float16, 4: torch.float32, 8: torch.float64}[bytes_each]
    with torch.device("meta"):
        model = Model(vocabulary, d_model, max_length, dtype, persistent)
    tensors = [*model.parameters(), *([model.table] if persistent else [])]
    return sum(tensor.nbytes for tensor in tensors)


def as_a_tensor(*inputs):
    return torch.tensor(float(factored(*inputs)), dtype=torch.float64)


RIGHT_COUNTS = named(factored, by_torch, as_a_tensor)
UNKNOWN_COUNTS = {
    "one too many": changed(factored, lambda count: count + 1000),
    "table squared": lambda v, d, m, b, p: factored(v, d, m * m, b, p),
    "bias squared": lambda v, d, m, b, p: factored(v, d, m, b, p) + d * d * b,
    "half": changed(factored, lambda count: count // 2),
    "kibibytes": changed(factored, lambda count: count / 1024),
    "bias for each word": lambda v, d, m, b, p: factored(v, d, m, b, p) + v * b,
}


# --- what would stay behind ---


def by_recursion(model):
    seen = set()

    def count(module):
        if id(module) in seen:
            return 0
        seen.add(id(module))
        own = sum(value.numel() for value in module.__dict__.values() if torch.is_tensor(value))
        return own + sum(count(child) for child in module.children())

    return count(model)


def by_trial(model):
    """Say what is on meta before and after."""
    attributes = [v for module in model.modules() for v in vars(module).values()]
    return sum(v.nbytes // v.itemsize for v in attributes if isinstance(v, torch.Tensor) and not v.is_meta)


def by_names(model):
    total = 0
    for _, module in model.named_modules():
        for name in vars(module):
            value = getattr(module, name)
            if type(value) is torch.Tensor:
                total += value.numel()
    return total


RIGHT_SEARCHES = named(by_recursion, by_trial, by_names)
UNKNOWN_SEARCHES = {
    "one more": changed(by_recursion, lambda count: count + 1),
    "bytes": changed(by_recursion, lambda count: 4 * count),
    "matrices only": lambda model: sum(
        value.numel()
        for module in model.modules()
        for value in vars(module).values()
        if torch.is_tensor(value) and value.dim() == 2
    ),
    "parameters added": lambda model: by_recursion(model) + sum(p.numel() for p in model.parameters()) * 2,
}


def test_the_reference_finds_what_a_move_really_leaves_behind():
    for case in LEFT_BEHIND.cases:
        (model,) = case.copies()
        attributes = [value for module in model.modules() for value in vars(module).values()]
        plain = [value for value in attributes if isinstance(value, torch.Tensor)]
        assert sum(value.numel() for value in plain) == LEFT_BEHIND.reference(model)
        assert not {id(value) for value in plain} & {id(value) for value in model.buffers()}


# --- all four ---


@cases(
    (POSITIONS_MODULE, RIGHT_POSITIONS),
    (REPAIRED_CENTRE, RIGHT_CENTRES),
    (CHECKPOINT_BYTES, RIGHT_COUNTS),
    (LEFT_BEHIND, RIGHT_SEARCHES),
)
def test_right_code_is_accepted(exercise, code):
    exercise_cases.assert_accepted(exercise, code)


@cases(
    (POSITIONS_MODULE, UNKNOWN_POSITIONS),
    (REPAIRED_CENTRE, UNKNOWN_CENTRES),
    (CHECKPOINT_BYTES, UNKNOWN_COUNTS),
    (LEFT_BEHIND, UNKNOWN_SEARCHES),
)
def test_a_fault_that_no_catalogue_holds_is_rejected_and_given_no_wrong_name(exercise, code):
    exercise_cases.assert_rejected_without_a_name(exercise, code)
