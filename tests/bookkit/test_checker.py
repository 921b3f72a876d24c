"""Every exercise against its own mistakes, and the machinery against readers who write anything at all."""

import functools
import importlib
import inspect
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import torch
from exercise_cases import words
from IPython.core.formatters import DisplayFormatter

from bookkit import checker, exercises, guard, wording
from bookkit.checker import Exercise, check, judge
from chapters.why_divide_by_root_dk.exercises import (
    REPAIRED_ATTENTION,
    SCALED_SCORES,
    SCORE_SPREAD,
    check_scaled_scores,
)

ALL = [exercise for _, exercise in exercises.every_exercise()]
EACH = pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.name)
# Those that ask for a function; test_puzzle.py has the others.
EXERCISES = [exercise for exercise in ALL if isinstance(exercise, Exercise)]
EACH_EXERCISE = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
MISTAKES = [
    pytest.param(exercise, mistake, id=f"{exercise.name}-{mistake.name}")
    for exercise in EXERCISES
    for mistake in exercise.mistakes
]


@pytest.fixture(autouse=True)
def no_reports_from_elsewhere(monkeypatch):
    monkeypatch.setattr(exercises, "latest", {})
    monkeypatch.setattr(checker, "latest", exercises.latest)


# --- what the book promises of every exercise ---


@EACH_EXERCISE
def test_the_reference_is_accepted(exercise):
    assert judge(exercise, exercise.reference).passed


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES)
def test_a_known_mistake_is_rejected_and_named_by_its_own_sentence_alone(exercise, mistake):
    report = judge(exercise, mistake.code)
    assert report.state == "not yet"
    assert report.mistake == mistake.name
    assert [known.name for known in exercise.mistakes if known.sentence in words(report)] == [mistake.name]


@EACH
def test_at_least_six_mistakes_are_known(exercise):
    assert len(exercise.mistakes) >= 6
    assert len({mistake.name for mistake in exercise.mistakes}) == len(exercise.mistakes)


@EACH
def test_difficulty_and_minutes_are_what_a_chapter_shows(exercise):
    assert exercise.difficulty in range(1, 6)
    assert exercise.minutes > 0


def test_no_two_exercises_share_a_name():
    assert len({exercise.name for exercise in ALL}) == len(ALL)


def test_each_exercise_has_a_check_of_its_name():
    for chapter, exercise in exercises.every_exercise():
        module = importlib.import_module(f"chapters.{chapter}.exercises")
        own_check = getattr(module, f"check_{exercise.name}")
        assert own_check(None).exercise == exercise.name


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


@EACH_EXERCISE
@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: getattr(stub, "__name__", repr(stub)))
def test_a_stub_is_not_written_yet(exercise, stub):
    report = judge(exercise, stub)
    assert report.state == "not written yet"
    assert not report.passed


def test_half_a_stub_among_several_results_is_not_written_yet():
    assert judge(REPAIRED_ATTENTION, lambda *inputs: (..., ...)).state == "not written yet"


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


class Boastful(torch.Tensor):
    """Claims to be equal to everything."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


def raises(error):
    def code(reference, inputs):
        raise error

    return code


def recurse(reference, inputs):
    return recurse(reference, inputs)


def loop(reference, inputs):
    while True:
        pass


def stubborn_loop(reference, inputs):
    while True:
        try:
            time.sleep(10)
        except:  # noqa: E722 - this reader swallows everything
            continue


def print_for_ever(reference, inputs):
    while True:
        print("again")


def sleep(reference, inputs):
    time.sleep(1000)


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
    "a loop that catches everything": (stubborn_loop, "does not finish within"),
    "a loop that prints": (print_for_ever, "does not finish within"),
    "a sleep": (sleep, "does not finish within"),
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
    "a scalar": (instead(lambda right: right.sum() + 1), "✗"),
}  # fmt: skip
WRONG_TENSORS = {
    "a list": (instead(lambda right: right.tolist()), "returns list where a tensor is expected"),
    "a number": (instead(lambda right: right.sum().item()), "returns float where a tensor is expected"),
    "an array": (instead(lambda right: right.numpy()), "returns ndarray where a tensor is expected"),
    "another class": (instead(lambda right: right.as_subclass(Boastful)), "returns Boastful where"),
    "a wrong shape": (instead(lambda right: right.unsqueeze(0)), "has shape (1, "),
    "whole numbers": (instead(lambda right: right.long()), "returns int64 numbers where float32 ones"),
    "complex numbers": (instead(lambda right: right + 0j), "returns complex64 numbers where"),
    "half precision": (instead(lambda right: right.half()), "is float16, expected float32"),
    "always float32": (instead(lambda right: right.float()), "is float32, expected float64"),
    "a sparse tensor": (instead(lambda right: right.to_sparse()), "a tensor of another kind"),
    "no numbers": (instead(lambda right: right.to("meta")), "or on another device"),
}  # fmt: skip


def given(code, exercise):
    return lambda *inputs: code(exercise.reference, inputs)


@EACH_EXERCISE
@pytest.mark.parametrize("fault", WRONG)
def test_bad_code_is_rejected_in_words(exercise, fault, monkeypatch):
    code, expected = WRONG[fault]
    # What never ends need not be waited for; what does end must have the time to.
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.02 if "does not finish" in expected else 2)
    alarm = signal.getsignal(signal.SIGALRM)
    report = judge(exercise, given(code, exercise))
    assert report.state == "not yet"
    assert report.mistake is None
    assert expected in words(report)
    assert "Traceback" not in words(report)
    assert "could not go on" not in words(report)
    assert signal.getsignal(signal.SIGALRM) is alarm
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@pytest.mark.parametrize("fault", WRONG_TENSORS)
def test_a_wrong_kind_of_tensor_is_rejected_in_words(fault):
    code, expected = WRONG_TENSORS[fault]
    report = judge(SCALED_SCORES, given(code, SCALED_SCORES))
    assert report.state == "not yet"
    assert expected in words(report)


SIDE_EFFECTS = {
    "seeds PyTorch": (lambda inputs: torch.manual_seed(0), "PyTorch's random numbers"),
    "draws": (lambda inputs: torch.rand(3), "PyTorch's random numbers"),
    "seeds Python": (lambda inputs: random.seed(0), "Python's random numbers"),
    "seeds NumPy": (lambda inputs: np.random.seed(0), "NumPy's random numbers"),
    "sets the dtype": (lambda inputs: torch.set_default_dtype(torch.float64), "PyTorch's default dtype"),
    "sets the device": (lambda inputs: torch.set_default_device("meta"), "PyTorch's default device"),
    "stops gradients": (lambda inputs: torch.set_grad_enabled(False), "whether PyTorch records gradients"),
    "sets the threads": (lambda inputs: torch.set_num_threads(3), "how many threads PyTorch uses"),
}  # fmt: skip


@EACH_EXERCISE
@pytest.mark.parametrize("effect", SIDE_EFFECTS)
def test_a_changed_setting_is_reported_and_put_back(exercise, effect):
    change, expected = SIDE_EFFECTS[effect]

    def code(*inputs):
        answer = exercise.reference(*inputs)
        change(inputs)
        return answer

    # The drawn numbers after the check must be those that would have come without it.
    torch.manual_seed(1)
    wanted = torch.rand(2)
    torch.manual_seed(1)
    before = torch.get_default_dtype(), torch.get_default_device(), torch.get_num_threads()
    report = judge(exercise, code)
    torch.set_default_device(None)  # put back as a device, where it had been none: the same, but slower
    assert report.state == "not yet"
    assert f"It changes {expected}: whoever calls it does not expect that." in words(report)
    assert "write into" not in words(report)
    assert torch.equal(torch.rand(2), wanted)
    assert (torch.get_default_dtype(), torch.get_default_device(), torch.get_num_threads()) == before
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("exercise", [exercise for exercise in EXERCISES if exercise.trainable])
@pytest.mark.parametrize(
    "change",
    [
        lambda first: first.mul_(2),
        lambda first: first.resize_(1),
        lambda first: setattr(first, "data", first.double()),
    ],
    ids=["values", "shape", "dtype"],
)
def test_a_changed_input_is_reported(exercise, change):
    def code(*inputs):
        answer = exercise.reference(*inputs)
        change(inputs[0])
        return answer

    report = judge(exercise, code)
    assert not report.passed
    first = next(iter(exercise.cases[0].inputs))
    assert f"It changes {first}: whoever calls it does not expect that. `/=`, and methods" in words(report)


@pytest.mark.parametrize(
    ("exercise", "index"),
    [
        (exercise, index)
        for exercise in EXERCISES
        if exercise.trainable
        for index in range(len(exercise.cases[0].inputs))
    ],
)
def test_a_cut_gradient_is_reported_with_the_input_that_it_does_not_reach(exercise, index):
    names = list(exercise.cases[0].inputs)

    def code(*inputs):
        return exercise.reference(*(x.detach() if i == index else x for i, x in enumerate(inputs)))

    report = judge(exercise, code)
    assert not report.passed
    assert f"no gradient reaches {names[index]}, and" in words(report)


@pytest.mark.parametrize("exercise", [exercise for exercise in EXERCISES if exercise.trainable])
def test_a_detached_answer_reaches_no_input(exercise):
    def code(*inputs):
        with torch.no_grad():
            return exercise.reference(*inputs)

    report = judge(exercise, code)
    assert not report.passed
    assert f"no gradient reaches {wording.joined(exercise.cases[0].inputs)}" in words(report)


def test_a_half_cut_path_gives_a_wrong_gradient():
    def code(query, key):
        return (query / 2 + query.detach() / 2) @ key.mT / query.shape[-1] ** 0.5

    report = check_scaled_scores(code)
    assert not report.passed
    assert "the gradient of query is not" in words(report)


def test_code_that_fails_only_with_gradients_is_reported():
    def code(query, key):
        return torch.from_numpy(query.numpy() @ key.mT.numpy() / query.shape[-1] ** 0.5)

    report = check_scaled_scores(code)
    assert not report.passed
    assert "not with inputs that need gradients. It raises RuntimeError" in words(report)


@EACH_EXERCISE
def test_printing_and_warning_are_kept_off_the_page(exercise, capfd):
    def code(*inputs):
        print("query", inputs)
        print("to stderr", file=sys.stderr)
        warnings.warn("deprecated", stacklevel=1)
        return exercise.reference(*inputs)

    report = judge(exercise, code)
    assert report.passed
    assert "not shown" in words(report)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", [int, str, torch.Tensor, Slippery])
def test_what_is_no_function_is_asked_for_one(kind):
    report = check_scaled_scores(kind())
    assert not report.passed
    assert "check_scaled_scores(my_function)" in words(report)


def test_a_function_that_takes_the_wrong_arguments_is_told_so():
    assert "takes 1 positional argument but 2 were given" in words(check_scaled_scores(lambda query: query))


def test_the_line_that_raises_is_shown():
    def scores(query, key):
        turned = key.mT
        return query @ turned @ turned

    assert "in the line: return query @ turned @ turned" in words(check_scaled_scores(scores))


def test_a_replaced_part_of_pytorch_ends_in_words_too(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "double", torch.Tensor.double)  # puts it back when the test is over

    def code(query, key):
        torch.Tensor.double = None
        return query @ key.mT

    report = check_scaled_scores(code)
    assert not report.passed
    assert "Restart the kernel" in words(report)


# --- the time limit, where no alarm can ring ---


def in_a_thread(action):
    results = []
    thread = threading.Thread(target=lambda: results.append(action()))
    thread.start()
    thread.join(timeout=20)
    return results[0]


def test_another_thread_can_check():
    assert in_a_thread(lambda: judge(SCALED_SCORES, SCALED_SCORES.reference)).passed


def test_a_loop_is_stopped_in_another_thread(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.1)
    report = in_a_thread(lambda: judge(SCALED_SCORES, given(loop, SCALED_SCORES)))
    assert "does not finish within 0.1 seconds" in words(report)


def test_a_loop_is_stopped_where_there_are_no_alarms(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.1)
    monkeypatch.delattr(signal, "setitimer")  # as on Windows
    trace = sys.gettrace()
    report = judge(SCALED_SCORES, given(loop, SCALED_SCORES))
    assert "does not finish within 0.1 seconds" in words(report)
    assert sys.gettrace() is trace


def test_an_alarm_that_rings_when_the_work_is_done_changes_nothing():
    # The call leaves no frame of Python's, so the alarm finds us back in the guard.
    outcome = guard.guarded(functools.partial(signal.raise_signal, signal.SIGALRM))
    assert outcome.error is None
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_alarm_of_someone_else_still_rings():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert check_scaled_scores(SCALED_SCORES.reference).passed
        time.sleep(0.5)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]


# --- the text ---


def test_an_unknown_fault_shows_the_smallest_input_that_fails():
    def code(query, key):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        return torch.where(scores == scores.amax(), scores + 1, scores)

    assert repr(check_scaled_scores(code)).splitlines() == [
        "scaled_scores: not yet",
        "  ✗ right for one query",
        "  ✗ right for more keys than queries",
        "  ✗ right for more queries than keys",
        "  ✗ right for a batch with heads",
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


def test_a_fault_in_large_inputs_alone_is_shown_by_shape_and_place():
    def code(query, key):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        if query.dim() == 4:
            scores[1, 2, 3, 4] = torch.nan
        return scores

    report = check_scaled_scores(code)
    assert "query of shape (2, 3, 5, 11), float32" in words(report)
    assert re.search(r"not a finite number, at \[1, 2, 3, 4\]: expected -?\d+\.\d+, got nan", words(report))


def test_after_a_stop_the_rest_is_untried(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.1)

    def code(query, key):
        while query.dim() == 4:
            pass
        return SCALED_SCORES.reference(query, key)

    marks = [line.split()[0] for line in check_scaled_scores(code).lines]
    assert marks[:7] == ["✓", "✓", "✓", "✗", "·", "·", "✓"]


def test_what_is_stopped_gets_no_name_even_where_the_mistakes_are_stopped_too(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 1e-4)  # so short that next to nothing finishes
    for exercise in EXERCISES:
        assert judge(exercise, given(loop, exercise)).mistake is None


def test_rounding_noise_does_not_show():
    noisy = torch.tensor([0.125, 1e-9, -1e-9, 1 / 3, float("nan")], dtype=torch.float64)
    for noise in (-1e-7, 0.0, 1e-7):
        assert wording.written(noisy * (1 + noise)) == "[0.125, 0.0, 0.0, 0.3333, nan]"
        assert wording.written(torch.tensor([0.12345]) * (1 + noise)) == "[0.1235]"


def test_an_input_shows_its_dtype_where_it_is_not_the_usual_one():
    shown = wording.shown("key", torch.ones(2, dtype=torch.float64))
    assert shown == "key = torch.tensor([1.0, 1.0], dtype=torch.float64)"


def test_a_notebook_shows_the_same_text_as_a_terminal():
    report = check_scaled_scores(empty)
    formatted, _ = DisplayFormatter().format(report)
    assert formatted == {"text/plain": repr(report)}
    formatted, _ = DisplayFormatter().format(exercises.summary("why_divide_by_root_dk"))
    assert formatted == {"text/plain": str(exercises.summary("why_divide_by_root_dk"))}


ALL_TEXTS = """
from bookkit import exercises
from bookkit import checker
for _, exercise in exercises.every_exercise():
    if isinstance(exercise, checker.Exercise):
        for number, mistake in enumerate(exercise.mistakes):
            print(checker.judge(exercise, mistake.code))
            # The longest reports, and the slowest to find: a third of them has every kind of number.
            if number % 3 == 0:
                print(checker.judge(exercise, lambda *inputs: flaw(mistake.code(*inputs))))
"""


def flaw(answer):
    """No mistake that anyone would name, so that the report writes out the numbers."""
    if isinstance(answer, tuple):
        return flaw(answer[0]), answer[1]
    return answer + 0.3125


def test_every_report_is_the_same_on_a_plainer_processor():
    """ATEN_CPU_CAPABILITY=default leaves the vector instructions out, which changes the last bits."""
    program = inspect.getsource(flaw) + ALL_TEXTS
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)} | instructions,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for instructions in ({}, {"ATEN_CPU_CAPABILITY": "default"})
    }
    assert len(texts) == 1
    thirds = sum(len(exercise.mistakes[::3]) for exercise in EXERCISES)
    assert texts.pop().count("not yet") == len(MISTAKES) + thirds


# --- the summary, the catalogue and the table ---


def test_the_summary_tells_how_each_exercise_stands():
    check(SCALED_SCORES, SCALED_SCORES.reference)
    check(SCORE_SPREAD, SCORE_SPREAD.mistakes[0].code)
    check(REPAIRED_ATTENTION, empty)
    assert repr(exercises.summary("why_divide_by_root_dk")).splitlines() == [
        "Why divide by √dₖ?: 1 of 5 exercises passed",
        "  ✓ scaled_scores: passed",
        "  · attention_shapes: not checked",
        "  · score_spread: not yet",
        "  · repaired_attention: not written yet",
        "  · softmax_jacobian: not checked",
    ]


def test_the_latest_check_counts():
    check(SCALED_SCORES, SCALED_SCORES.reference)
    check(SCALED_SCORES, empty)
    assert "0 of 5" in exercises.summary("why_divide_by_root_dk")


def test_the_books_own_solution_hands_nothing_in():
    def solution(query, key):
        return SCALED_SCORES.reference(query, key)

    report = check_scaled_scores(solution)
    assert report.passed
    assert repr(report).splitlines()[1] == "  (the book's solution, not yours)"
    assert "scaled_scores: not checked" in exercises.summary("why_divide_by_root_dk")


def test_the_summary_asks_for_a_chapter_that_exists():
    with pytest.raises(ValueError, match=r"chapter must be one of buffers_.*, got 'why'"):
        exercises.summary("why")


def test_the_catalogue_lists_what_a_teacher_asks_for():
    entries = exercises.catalogue()
    assert [entry.exercise for entry in entries] == [exercise.name for exercise in ALL]
    assert [entry.chapter for entry in entries] == [name for name, _ in exercises.every_exercise()]
    (scaled,) = (entry for entry in entries if entry.exercise == "scaled_scores")
    assert (scaled.chapter, scaled.difficulty, scaled.minutes) == ("why_divide_by_root_dk", 1, 5)
    assert "multiply where you meant to divide" in scaled.mistakes["multiplied"]


def test_the_table_counts_every_mistake_as_rejected_and_named(record_property):
    table = str(exercises.table())
    record_property("exercises", table)  # for the last lines of a run
    *rows, total = table.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [exercise.name for exercise in ALL]
    assert total.split() == ["all", *[str(sum(len(exercise.mistakes) for exercise in ALL))] * 3]
    assert exercises.latest == {}, "the table must not hand in anything"
