"""What a check says to readers who write anything at all, tried on small exercises of every kind."""

import contextlib
import dataclasses
import re
import time
from types import SimpleNamespace

import pytest
import torch
import yaml
from exercise_cases import words
from small_checks import (
    EXERCISES,
    REPRESENTATIVES,
    SavedShift,
    Shift,
    check_attention,
    check_count,
    check_scores,
    check_shift,
)
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from bookkit.checking import exercise, guard
from bookkit.checking.mistakes import in_parts
from tools import ROOT

EACH = pytest.mark.parametrize("check", EXERCISES, ids=lambda check: check.name)
EACH_KIND = pytest.mark.parametrize("check", REPRESENTATIVES, ids=lambda check: check.name)


def given(code, check):
    return lambda *inputs: code(check.reference, inputs)


@EACH
def test_the_right_answer_passes(check):
    report = check.judge(check.reference)
    assert report.passed
    assert report.mistake is None
    assert "→" not in words(report)


@EACH
def test_a_known_mistake_is_named_by_its_own_sentence_alone(check):
    for name, report in check.trials().items():
        assert report.state == "not yet"
        assert report.mistake == name
        assert [known for known, (said, _) in check.mistakes.items() if said in words(report)] == [name]
        assert "The smallest input" not in words(report), "its sentence says it all"


# --- two mistakes at once ---


def parted(query, key, multiply=torch.matmul, scale=lambda scores: scores / 2):
    return scale(multiply(query, key.mT))


PARTED = dataclasses.replace(
    check_scores,
    reference=parted,
    mistakes=in_parts(
        parted,
        multiply={"negative": ("The sign is wrong.", lambda query, key: -(query @ key))},
        scale={
            "cubed": ("This is a cube.", lambda scores: scores**3),
            "softmax": ("Weights are no scores.", lambda scores: scores.softmax(-1)),
        },
    ),
)


def test_two_mistakes_in_different_parts_get_both_their_names():
    report = PARTED.judge(lambda query, key: (-(query @ key.mT)) ** 3)
    assert report.mistake == "negative & cubed"
    assert "Two things at once. The sign is wrong. And: This is a cube." in words(report)


@pytest.mark.parametrize("stretch", [(2, 2), (10**6, 10**6)])
def test_nothing_but_zeros_and_what_is_far_too_large_are_no_two_mistakes(stretch):
    report = PARTED.judge(lambda query, key: torch.zeros(1).expand(*stretch))
    assert report.state == "not yet"
    assert "&" not in (report.mistake or "")
    assert "could not go on" not in words(report)


def test_two_mistakes_that_others_give_as_well_are_not_told():
    _, cubed = PARTED.mistakes["cubed"]
    doubtful = dataclasses.replace(PARTED, mistakes=PARTED.mistakes | {"again": ("Again a cube.", cubed)})
    assert doubtful.judge(lambda query, key: (-(query @ key.mT)) ** 3).mistake != "negative & cubed"


def test_two_mistakes_are_not_told_before_all_pairs_are_tried(monkeypatch):
    monkeypatch.setattr(exercise, "PAIRS_LIMIT", -1.0)
    assert PARTED.judge(lambda query, key: (-(query @ key.mT)) ** 3).mistake != "negative & cubed"


def test_who_would_need_far_longer_for_all_pairs_does_not_wait_till_the_end(monkeypatch):
    """Four pairs, each as if it took two fifths of the time: after the first it is plain."""
    asked = []
    pair = ("a & b", "Both.", lambda *inputs: asked.append(inputs))
    monkeypatch.setattr(exercise, "pairs", lambda mistakes: [pair] * 4)
    now = SimpleNamespace(monotonic=lambda: 0.4 * exercise.PAIRS_LIMIT * len(asked))
    monkeypatch.setattr(exercise, "time", now)
    PARTED.judge(lambda query, key: (-(query @ key.mT)) ** 3)
    assert len(asked) == 1


# --- waiting ---


def test_who_waits_reads_what_is_being_asked(monkeypatch):
    said, asked = [], []

    class Bar(contextlib.nullcontext):
        n = 0

        def set_description(self, words, refresh):
            assert not refresh  # nothing is shown before the time for it
            said.append(words)

        def update(self, more):
            self.n += more
            asked.append((self.n, len(said)))

    def progress_bar(total):
        assert total == len(check_scores.cases)
        bar = Bar()
        bar.enter_result = bar
        return bar

    monkeypatch.setattr(exercise, "progress_bar", progress_bar)
    assert check_scores.judge(check_scores.reference).passed
    assert said == [case.label for case in check_scores.cases]
    assert asked == [(number, number + 1) for number in range(len(said))]


# --- stubs ---


def empty(*inputs): ...


def documented(*inputs):
    """Says what to do."""
    ...


def passing(*inputs):
    pass


def half_filled(*inputs):
    scores = ...
    return scores / 2


def not_implemented(*inputs):
    raise NotImplementedError


STUBS = [empty, documented, passing, half_filled, not_implemented, lambda *inputs: ..., None, ...]


@EACH
@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: getattr(stub, "__name__", repr(stub)))
def test_a_stub_is_not_written_yet(check, stub):
    report = check.judge(stub)
    assert report.state == "not written yet"
    assert not report.passed


def test_half_a_stub_among_several_results_is_not_written_yet():
    assert check_attention.judge(lambda *inputs: (..., ...)).state == "not written yet"


# --- whatever a reader writes ---


class UnspeakableError(Exception):
    def __str__(self):
        raise self


class FalsyError(Exception):
    def __bool__(self):
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


def loop(reference, inputs):
    while True:
        time.sleep(0.001)


def first_tensor(answer):
    return answer[0] if isinstance(answer, tuple) else torch.as_tensor(answer)


def instead(change):
    """An answer in place of the right one, which `change` gets to see."""
    return lambda reference, inputs: change(first_tensor(reference(*inputs)))


async def later(answer):
    return answer


# The code of a reader, given the right function and the inputs; and what the report must say about it.
WRONG = {
    "raises": (raises(ValueError("no such luck")), "raises ValueError: no such luck"),
    "PyTorch has no such thing": (raises(NotImplementedError("no kernel")), "NotImplementedError: no kernel"),
    "raises what can't be printed": (raises(UnspeakableError()), "raises UnspeakableError"),
    "raises what has no truth": (raises(FalsyError()), "raises FalsyError"),
    "raises with an address": (raises(OSError("at 0x7f3a")), "raises OSError: at 0x…"),
    "exits": (raises(SystemExit(3)), "raises SystemExit: 3"),
    "interrupts": (raises(KeyboardInterrupt()), "raises KeyboardInterrupt"),
    "closes generators": (raises(GeneratorExit()), "raises GeneratorExit"),
    "recursion": (recurse, "calls itself without end"),
    "a loop": (loop, "does not finish within"),
    "nothing": (lambda reference, inputs: reference(*inputs) and None, "returns None. Is there a `return`"),
    "a string": (instead(str), "returns str where"),
    "a dictionary": (instead(lambda right: {"answer": right}), "returns dict where"),
    "True": (instead(lambda right: True), "returns bool where"),
    "a generator": (instead(lambda right: (number for number in [right])), "returns generator where"),
    "a coroutine": (instead(later), "returns coroutine where"),
    "an object that answers nothing": (instead(lambda right: Slippery()), "✗"),
    "three results": (instead(lambda right: (right, right, right)), "returns tuple where"),
    "NaN": (instead(lambda right: right * torch.nan), "✗"),
    "infinity": (instead(lambda right: right / 0), "✗"),
    "a scalar": (instead(lambda right: right.sum().item() + 0.5), "✗"),
}


@EACH_KIND
@pytest.mark.parametrize("fault", WRONG)
def test_bad_code_is_rejected_in_words(check, fault, monkeypatch):
    code, expected = WRONG[fault]
    # What never ends need not be waited for; what does end must have the time to.
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.05 if "does not finish" in expected else 10)
    report = check.judge(given(code, check))
    assert report.state == "not yet"
    assert report.mistake not in check.mistakes
    assert expected in words(report)
    assert "Traceback" not in words(report)
    assert "could not go on" not in words(report)


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
        return check.reference(*inputs)

    report = check.judge(code)
    assert report.passed
    assert "(What a function prints is not shown while it is checked.)" in words(report)
    assert capfd.readouterr() == ("", "")


def test_a_replaced_part_of_pytorch_ends_in_words_too(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "double", torch.Tensor.double)  # puts it back when the test is over

    def code(query, key):
        torch.Tensor.double = None
        return query @ key.mT

    report = check_scores.judge(code)
    assert not report.passed
    assert "It replaces functions of PyTorch itself. They are put back." in words(report)
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
    assert "Please report it, with your code: https://github.com/" in words(report)
    assert "Restart" not in words(report)
    assert isinstance(report.fault, TypeError)
    assert "fault=" not in repr(report)
    assert dataclasses.replace(report, fault=None) == report


def test_a_fault_of_the_check_fails_a_test(monkeypatch):
    monkeypatch.setattr(exercise.findings, "changes", None)
    with pytest.raises(TypeError):
        check_scores.judge(check_scores.reference)


def test_what_the_readers_code_raises_outside_of_the_guard_is_no_fault_of_the_check():
    class Odd(type):
        def __subclasscheck__(cls, other):
            raise KeyError(other)

        def __getattribute__(cls, name):
            raise KeyError(name)

    report = check_shift.judge(Odd("Odd", (), {}))
    assert "The check could not go on (KeyError)." in words(report)
    assert report.fault is None


def test_who_reports_a_fault_finds_the_way():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert settings["repository"]["url"] + "/issues" == exercise.ISSUES


@pytest.mark.parametrize("name", ["allclose", "equal", "isclose"])
def test_who_replaces_what_answers_are_compared_by_does_not_pass(name, monkeypatch):
    before = getattr(torch, name)
    monkeypatch.setattr(torch, name, before)  # puts it back when the test is over

    def code(query, key):
        setattr(torch, name, lambda *tensors, **options: True)
        return query @ key.mT

    for _ in range(2):
        report = check_scores.judge(code)
        assert report.mistake == "changes settings"
        assert "It replaces functions of PyTorch itself. They are put back." in words(report)
        assert getattr(torch, name) is before


# --- random numbers ---


def linear(rows, columns, doubled):
    weight = nn.Linear(columns, rows, bias=False).weight
    return (1 + doubled) * weight.numel()


def test_who_makes_a_module_changes_nothing():
    assert check_count.judge(linear).passed


def test_who_draws_or_seeds_without_making_a_module_does():
    def seeded(rows, columns, doubled):
        torch.manual_seed(3)
        return linear(rows, columns, doubled)

    def drawn(rows, columns, doubled):
        return (1 + doubled) * torch.rand(rows, columns).numel()

    for work in (seeded, drawn):
        assert check_count.judge(work).mistake == "changes settings"


def test_where_a_question_is_no_plain_call_even_modules_draw_from_what_is_handed():
    def asked(work, *inputs):
        return work(*inputs)

    assert dataclasses.replace(check_count, ask=asked).judge(linear).mistake == "changes settings"


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


@pytest.mark.parametrize("kind", [int, str, torch.Tensor, Slippery])
def test_what_is_no_function_is_asked_for_one(kind):
    report = check_scores.judge(kind())
    assert not report.passed
    assert "Give the check the function itself, without calling it: check_scores(my_function)." in words(
        report
    )


def test_a_class_in_place_of_what_it_makes_is_told_so():
    assert "This is a class. Give the check what it makes: check_scores(Shift(…))." in words(
        check_scores.judge(Shift)
    )


def test_what_a_class_makes_in_its_place_is_told_so():
    report = words(check_shift.judge(Shift(torch.ones(2))))
    assert "made already. Give the check its class, without calling it: check_shift(Shift)." in report
    assert "Give the check the class itself, without calling it: check_shift(MyModule)." in words(
        check_shift.judge(3)
    )


def test_an_object_that_can_be_called_is_as_good_as_a_function():
    class Scores(nn.Module):
        def forward(self, query, key):
            return check_scores.reference(query, key)

    assert check_scores.judge(Scores()).passed


def test_a_function_that_makes_the_module_is_as_good_as_a_class():
    assert check_shift.judge(lambda table: Shift(table)).passed
    assert check_shift.judge(lambda table: SavedShift(table)).mistake == "persistent"


def test_a_function_that_takes_the_wrong_arguments_is_told_so():
    assert "takes 1 positional argument but 2 were given" in words(check_scores.judge(lambda query: query))


def test_the_line_that_raises_is_shown():
    def scores(query, key):
        turned = key.mT
        return query @ turned @ turned

    assert "in the line: return query @ turned @ turned" in words(check_scores.judge(scores))

    class Raises(Shift):
        def forward(self, inputs):
            return inputs + self.missing

    assert "in the line: return inputs + self.missing" in words(check_shift.judge(Raises))


# --- fresh inputs, one deadline ---


def test_what_one_attempt_does_to_its_inputs_the_next_does_not_see():
    def code(query, key):
        right = check_scores.reference(query, key)
        query.zero_()
        return right

    for _ in range(2):
        assert check_scores.judge(code).mistake == "changes its inputs"
    assert check_scores.judge(check_scores.reference).passed
    assert not check_scores.judge(lambda query, key: query.new_zeros(len(query), len(key))).passed


def test_a_check_ends_within_about_the_limit(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.4)

    def slow(query, key):
        time.sleep(0.15)
        return check_scores.reference(query, key)

    started = time.monotonic()
    report = check_scores.judge(slow)
    assert time.monotonic() - started < 0.8
    assert [line.split()[0] for line in report.lines[:7]] == ["✓", "✓", "✗", "·", "·", "·", "✓"]
    assert report.mistake is None
    assert "does not finish within 0.4 seconds" in words(report)


def test_what_is_stopped_gets_no_name_even_where_the_mistakes_are_stopped_too(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 1e-4)  # so short that next to nothing finishes
    for check in REPRESENTATIVES:
        assert check.judge(given(loop, check)).mistake is None


# --- the text ---


def test_an_unknown_fault_shows_the_smallest_input_that_fails():
    def code(query, key):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        return torch.where(scores == scores.amax(), scores + 1, scores)

    assert repr(check_scores.judge(code)).splitlines() == [
        "scores: not yet",
        "  ✗ right for one query",
        "  ✗ right for more keys",
        "  ✗ right for more queries",
        "  ✗ right for heads",
        "  ✗ right in float64",
        "  · gradients reach query and key",
        "  ✓ leaves its inputs and all settings as they were",
        "→ The smallest input that fails:",
        "    query = torch.tensor([[1.0, 2.0, 0.0, -1.0]])",
        "    key = torch.tensor([[1.0, 1.0, 1.0, 0.0], [0.0, 2.0, 1.0, -1.0], [3.0, 0.0, 2.0, 2.0]])",
        "  expected scores = [[1.5, 2.5, 0.5]]",
        "       got scores = [[1.5, 3.5, 0.5]]",
        "  largest difference 1.0, at [0, 1]: expected 2.5, got 3.5",
    ]


def test_what_is_seen_is_said_before_the_input():
    report = check_count.judge(lambda *sizes: 2 * check_count.reference(*sizes))
    assert repr(report).splitlines() == [
        "count: not yet",
        "  ✗ right for a few",
        "  ✗ right for many",
        "  ✗ right for one row",
        "  ✓ leaves its inputs and all settings as they were",
        "→ numbers is 2 times what it should be, in every case.",
        "→ The smallest input that fails:",
        "    rows = 2",
        "    columns = 3",
        "    doubled = False",
        "  numbers: expected 6, got 12",
    ]


def test_a_fault_in_large_inputs_alone_is_shown_by_shape_and_place():
    def code(query, key):
        scores = check_scores.reference(query, key)
        if query.dim() == 4:
            scores[1, 2, 3, 4] = torch.nan
        return scores

    report = words(check_scores.judge(code))
    assert "query of shape (2, 3, 5, 11), float32" in report
    assert re.search(r"not a finite number, at \[1, 2, 3, 4\]: expected -?\d+\.\d+, got nan", report)


def test_a_right_answer_that_changes_something_has_not_passed():
    def code(rows, columns, doubled):
        torch.manual_seed(0)
        return check_count.reference(rows, columns, doubled)

    report = check_count.judge(code)
    assert report.state == "not yet"
    assert "✗ leaves its inputs and all settings as they were" in words(report)
    assert "The smallest input" not in words(report)
