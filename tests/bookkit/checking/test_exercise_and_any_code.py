"""What a check says to readers who write anything at all: errors, loops, enormous results, other types."""

import dataclasses
import sys
import warnings

import pytest
import torch
import yaml
from clocks import Clock
from exercise_cases import words
from small_checks import (
    PARTED,
    REPRESENTATIVES,
    SavedShift,
    Shift,
    check_count,
    check_scores,
    check_shift,
)
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from bookkit.checking import exercise, guard
from tools import ROOT

EACH_KIND = pytest.mark.parametrize("check", REPRESENTATIVES, ids=lambda check: check.name)


def given(code, check):
    return lambda *inputs: code(check.reference, inputs)


# --- whatever a reader writes ---


class UnspeakableError(Exception):
    def __str__(self):
        raise self


class Slippery:
    """Refuses every question."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


def raises(error):
    def code(reference, inputs):
        raise error

    return code


def recurse(reference, inputs):
    return recurse(reference, inputs)


def first_tensor(answer):
    return answer[0] if isinstance(answer, tuple) else torch.as_tensor(answer)


def instead(change):
    """An answer in place of the right one, which `change` gets to see."""
    return lambda reference, inputs: change(first_tensor(reference(*inputs)))


# The code of a reader, given the right function and the inputs; and what the report must say about it.
WRONG = {
    "raises": (raises(ValueError("no such luck")), "raises ValueError: no such luck"),
    "PyTorch has no such thing": (raises(NotImplementedError("no kernel")), "NotImplementedError: no kernel"),
    "raises what can't be printed": (raises(UnspeakableError()), "raises UnspeakableError"),
    "raises with an address": (raises(OSError("at 0x7f3a")), "raises OSError: at 0x…"),
    "exits": (raises(SystemExit(3)), "raises SystemExit: 3"),
    "interrupts": (raises(KeyboardInterrupt()), "raises KeyboardInterrupt"),
    "recursion": (recurse, "calls itself without end"),
    "nothing": (lambda reference, inputs: reference(*inputs) and None, "returns None. Is there a `return`"),
    "a dictionary": (instead(lambda right: {"answer": right}), "returns dict where"),
    "True": (instead(lambda right: True), "returns bool where"),
    "an object that answers nothing": (instead(lambda right: Slippery()), "✗"),
    "three results": (instead(lambda right: (right, right, right)), "returns tuple where"),
    "NaN": (instead(lambda right: right * torch.nan), "✗"),
    "a scalar": (instead(lambda right: right.sum().item() + 0.5), "✗"),
}


@EACH_KIND
@pytest.mark.parametrize("fault", WRONG)
def test_bad_code_is_rejected_in_words(check, fault):
    code, expected = WRONG[fault]
    report = check.judge(given(code, check))
    assert report.state == "not yet"
    assert report.mistake not in check.mistakes
    assert expected in words(report)
    assert "Traceback" not in words(report)
    assert "could not go on" not in words(report)


@EACH_KIND
def test_what_never_ends_is_told_so_and_gets_no_name(check, monkeypatch):
    clock = Clock(monkeypatch)
    report = check.judge(lambda *inputs: clock.passes(guard.TIME_LIMIT + 1))
    assert report.mistake is None
    assert "does not finish within" in words(report)


def enormous(dtype=torch.float32):
    """Four terabytes, if it were copied."""
    return torch.zeros(1, dtype=dtype, requires_grad=dtype.is_floating_point).expand(10**6, 10**6)


class EnormousShift(Shift):
    def forward(self, inputs):
        return enormous()


class Looking(TorchDispatchMode):
    """Ends whatever goes through the numbers of an enormous tensor, and says what that was."""

    def __init__(self):
        super().__init__()
        self.at = []

    def __torch_dispatch__(self, operation, types, inputs=(), names=None):
        enormous_ones = [part for part in inputs if isinstance(part, torch.Tensor) and part.numel() > 10**9]
        if any(not part.is_meta for part in enormous_ones) and not operation.is_view:
            self.at.append(str(operation))
            raise RuntimeError("This would take minutes.")
        return operation(*inputs, **(names or {}))


# As long as they ask for two mistakes, for smaller numbers and for other inputs.
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
@pytest.mark.parametrize("check", [*REPRESENTATIVES, PARTED], ids=lambda check: check.name)
def test_of_an_enormous_answer_no_number_is_looked_at(check, dtype):
    count = len(check.returns)
    answer = enormous(dtype) if count == 1 else (enormous(dtype),) * count
    work = EnormousShift if check is check_shift else lambda *inputs: answer
    with Looking() as looking:
        report = check.judge(work)
    assert not looking.at
    assert report.state == "not yet"
    if dtype is torch.float32 and check is check_scores:
        assert "scores has shape (1000000, 1000000), expected (1, 3)" in words(report)


@EACH_KIND
def test_printing_is_kept_off_the_page(check, capfd):
    def code(*inputs):
        print("query", inputs)
        print("to stderr", file=sys.stderr)
        warnings.warn("deprecated", stacklevel=1)
        return check.reference(*inputs)

    report = check.judge(code)
    assert report.passed
    assert "(What a function prints is not shown while it is checked.)" in words(report)
    assert capfd.readouterr() == ("", "")
    assert "What a function prints" not in words(check.judge(check.reference))


def test_a_replaced_part_of_pytorch_ends_in_words_too(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "double", torch.Tensor.double)  # puts it back when the test is over

    def code(query, key):
        torch.Tensor.double = None
        return query @ key.mT

    report = check_scores.judge(code)
    assert not report.passed
    assert "It replaces functions of PyTorch or Python itself. They are put back." in words(report)
    code(*check_scores.cases[0].inputs)  # by itself, before the check
    report = check_scores.judge(check_scores.reference)
    assert not report.passed
    assert "Restart the kernel" in words(report)


def test_a_fault_of_the_check_is_not_blamed_on_the_reader(monkeypatch):
    monkeypatch.undo()  # conftest.py has it raised in all other tests
    monkeypatch.setattr(exercise.findings, "changes", None)  # a fault of ours
    report = check_scores.judge(check_scores.reference)
    assert report.state == "not yet"
    assert "The check itself has a fault (TypeError)" in words(report)
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    way = settings["repository"]["url"] + "/issues"
    assert f"Please report it, with your code: {way}" in words(report)
    assert "Restart" not in words(report)
    assert isinstance(report.fault, TypeError)
    assert "fault=" not in repr(report)
    assert dataclasses.replace(report, fault=None) == report


def test_what_the_readers_code_raises_outside_of_the_guard_is_no_fault_of_the_check():
    class Odd(type):
        def __subclasscheck__(cls, other):
            raise KeyError(other)

        def __getattribute__(cls, name):
            raise KeyError(name)

    report = check_shift.judge(Odd("Odd", (), {}))
    assert "The check could not go on (KeyError)." in words(report)
    assert report.fault is None


# --- random numbers ---


def linear(rows, columns, doubled):
    weight = nn.Linear(columns, rows, bias=False).weight
    return (1 + doubled) * weight.numel()


def seeded(rows, columns, doubled):
    torch.manual_seed(3)
    return linear(rows, columns, doubled)


def drawn(rows, columns, doubled):
    return (1 + doubled) * torch.rand(rows, columns).numel()


def test_who_makes_a_module_changes_nothing_and_who_draws_or_seeds_without_does():
    assert check_count.judge(linear).passed
    assert check_count.judge(seeded).mistake == check_count.judge(drawn).mistake == "changes settings"
    # Where a question is no plain call, even modules draw from what is handed.
    asked = dataclasses.replace(check_count, ask=lambda work, *inputs: work(*inputs))
    assert asked.judge(linear).mistake == "changes settings"


def raises_after_drawing(rows, columns, doubled):
    nn.Linear(columns, rows)
    raise ValueError("after drawing")


@pytest.mark.parametrize("work", [linear, raises_after_drawing, check_count.reference, lambda *sizes: 7])
def test_whatever_is_judged_the_next_random_number_is_the_same(work):
    drawing = {"drawing": ("It draws.", lambda *sizes: torch.rand(3).numel())}
    check = dataclasses.replace(check_count, mistakes=drawing)
    before = torch.get_rng_state()
    check.judge(work)
    assert torch.equal(torch.get_rng_state(), before)


# --- what can't be judged at all ---


class Scores(nn.Module):
    def forward(self, query, key):
        return check_scores.reference(query, key)


def turned_twice(query, key):
    return query @ key.mT @ key.mT


class Raises(Shift):
    def forward(self, inputs):
        return inputs + self.missing


ITSELF = "Give the check the function itself, without calling it: check_scores(my_function)."


@pytest.mark.parametrize(
    ("check", "work", "said"),
    [
        *((check_scores, kind(), ITSELF) for kind in (int, str, torch.Tensor)),
        (check_scores, Shift, "This is a class. Give the check what it makes: check_scores(Shift(…))."),
        (
            check_shift,
            Shift(torch.ones(2)),
            "made already. Give the check its class, without calling it: check_shift(Shift).",
        ),
        (check_shift, 3, "Give the check the class itself, without calling it: check_shift(MyModule)."),
        (check_shift, lambda table: SavedShift(table), "The table is in every file."),
        (check_scores, lambda query: query, "takes 1 positional argument but 2 were given"),
        (check_scores, turned_twice, "in the line: return query @ key.mT @ key.mT"),
        (check_shift, Raises, "in the line: return inputs + self.missing"),
    ],
)
def test_what_cannot_be_judged_is_told_with_what_to_do(check, work, said):
    report = check.judge(work)
    assert not report.passed
    assert said in words(report)


@pytest.mark.parametrize("code", [recurse, raises(KeyboardInterrupt())])
def test_no_line_is_shown_where_it_is_chance_which_one_it_was(code):
    assert "in the line" not in words(check_scores.judge(given(code, check_scores)))
    assert ITSELF in words(check_scores.judge(Slippery())), "what answers no question is no function"


def test_an_object_that_can_be_called_and_a_function_that_makes_a_module_will_do():
    assert check_scores.judge(Scores()).passed
    assert check_shift.judge(lambda table: Shift(table)).passed
