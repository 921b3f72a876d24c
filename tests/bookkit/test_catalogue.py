"""What the book promises of every exercise, and what a reader hands in and a teacher plans with."""

import dataclasses
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from exercise_cases import words
from tiers import left_to

from bookkit import catalogue
from bookkit.checking import report
from bookkit.checking.attempts import call
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes.pairs import JOIN
from bookkit.checking.puzzle import ShapePuzzle

ALL = [exercise for _, exercise in catalogue.every_exercise()]
EACH = pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.name)
EXERCISES = [exercise for exercise in ALL if isinstance(exercise, Exercise)]
PUZZLES = [exercise for exercise in ALL if isinstance(exercise, ShapePuzzle)]
EACH_PUZZLE = pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
# Their works train, or search long: what is known of them, `.ci/run` tries.
TRAINING = {
    "own_fault", "language_model", "beat_the_book", "near_the_limit", "induction_forms", "repaired_model",
    "smallest_cache", "remembering", "longest_text", "deep_without_norm", "start_without_divisor", "cut",
    "multi_head_layer", "gpt_start", "eight_patients",
}  # fmt: skip
QUICK = [one for one in ALL if one.name not in TRAINING]
EACH_EXERCISE = pytest.mark.parametrize(
    "exercise", left_to(pytest.mark.thorough, EXERCISES, but=QUICK), ids=lambda exercise: exercise.name
)
# Of exercises whose work takes its inputs as they are; a class is made first, and its chapter tests that.
TRAINED = [
    pytest.param(exercise, name, id=f"{exercise.name}-{name}")
    for exercise in EXERCISES
    if exercise.ask is call
    for name in exercise.trained
]


@pytest.fixture(autouse=True)
def no_reports_from_elsewhere(monkeypatch):
    monkeypatch.setattr(report, "latest", {})
    monkeypatch.setattr(catalogue, "latest", report.latest)


# --- what the book promises of every exercise ---


@EACH_EXERCISE
def test_the_reference_is_accepted_without_a_word(exercise):
    accepted = exercise.judge(exercise.reference)
    assert accepted.passed
    assert "→" not in words(accepted)


@pytest.mark.parametrize(
    "exercise",
    left_to(pytest.mark.thorough, [one for one in ALL if one not in PUZZLES], but=QUICK),
    ids=lambda one: one.name,
)
def test_each_known_mistake_is_rejected_and_named_by_its_own_sentence_alone(exercise, record_property):
    record_property("known mistakes", [*catalogue.counted(exercise)])  # for the last lines of a run
    for name, rejected in exercise.trials().items():
        assert rejected.state == "not yet"
        assert rejected.mistake == name, rejected
        said = [known for known, (sentence, _) in exercise.mistakes.items() if sentence in words(rejected)]
        assert said == [name]


@EACH
def test_at_least_six_mistakes_are_known(exercise):
    assert len(exercise.mistakes) >= 6


@EACH
def test_difficulty_and_minutes_are_what_a_chapter_shows(exercise):
    assert exercise.difficulty in range(1, 6)
    assert exercise.minutes > 0


@EACH_EXERCISE
def test_every_case_has_an_input_for_each_name(exercise):
    assert {len(case.inputs) for case in exercise.cases} == {len(exercise.takes)}
    assert len(exercise.right(exercise.cases[0].fresh())) == len(exercise.returns)


def test_no_two_exercises_share_a_name():
    assert len({exercise.name for exercise in ALL}) == len(ALL)


def test_each_exercise_is_the_check_of_its_name():
    for chapter, exercise in catalogue.every_exercise():
        module = importlib.import_module(f"chapters.{chapter}.exercises")
        assert getattr(module, f"check_{exercise.name}") is exercise


IMPORTED = """
import random
import numpy, torch
from bookkit import catalogue, registry
def states():
    return torch.get_rng_state().tolist(), random.getstate(), str(numpy.random.get_state())
for chapter in registry.chapters():
    before = states()
    catalogue.of_chapter(chapter.package)
    print(chapter.package, "moves" if states() != before else "leaves all")
"""


@pytest.mark.thorough
def test_importing_a_chapters_exercises_moves_no_random_numbers():
    run = [sys.executable, "-c", IMPORTED]
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run(run, env=os.environ | path, capture_output=True, text=True, check=True).stdout
    assert printed.count("leaves all") >= 16
    assert "moves" not in printed


@EACH_EXERCISE
def test_a_stub_is_not_written_yet(exercise):
    assert exercise.judge(lambda *inputs: ...).state == "not written yet"


@pytest.mark.parametrize(("exercise", "name"), TRAINED)
def test_a_cut_gradient_is_reported_with_the_input_that_it_does_not_reach(exercise, name):
    place = exercise.takes.index(name)

    def code(*inputs):
        return exercise.reference(*(x.detach() if i == place else x for i, x in enumerate(inputs)))

    rejected = exercise.judge(code)
    assert rejected.mistake == "no gradient"
    assert f"no gradient reaches {name}, and" in words(rejected)


# What each known mistake is told on a plainer processor, and then what a flaw that nobody would name is.
ON_ANOTHER_PROCESSOR = """
import json, sys
sys.path[:0] = {path}
from attnlab import runtime
from test_catalogue import EXERCISES, flawed_reports, told
runtime.monotonic = runtime.thread_time = lambda: 0.0  # as in tests: no check ends by time
by_name = {{one.name: one for one in EXERCISES}}
for name in map(str.strip, sys.stdin):
    print(json.dumps([told(by_name[name].trials()), flawed_reports(by_name[name])]), flush=True)
"""


@pytest.fixture(scope="session")
def told_there():
    """`told_there(exercise)` are its reports without vector instructions, which changes the last bits."""
    program = ON_ANOTHER_PROCESSOR.format(path=[str(Path(__file__).parent), *sys.path])
    plainer = os.environ | {"ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], env=plainer, text=True, **pipes) as process:

        def asked(exercise):
            print(exercise.name, file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield asked


def told(trials):
    return {name: str(rejected) for name, rejected in trials.items()}


def flaw(answer):
    """No mistake that anyone would name, so that the report writes out the numbers."""
    if isinstance(answer, tuple):
        return flaw(answer[0]), answer[1]
    return answer + 0.3125


def flawed_reports(exercise):
    """The longest reports, and the slowest to find: a third of them has every kind of number."""
    if exercise.ask is not call:
        return []
    works = [code for _, code in exercise.mistakes.values()][::3]
    return [str(exercise.judge(lambda *inputs, code=code: flaw(code(*inputs)))) for code in works]


@pytest.mark.weekly
@pytest.mark.slow
@EACH_EXERCISE
def test_every_report_is_the_same_on_a_plainer_processor(exercise, told_there):
    here = [told(exercise.trials()), flawed_reports(exercise)]
    assert told_there(exercise) == here
    assert here[0].keys() == exercise.mistakes.keys()


# --- and of every puzzle ---


@EACH_PUZZLE
@pytest.mark.parametrize("kind", [tuple, list, torch.Size])
def test_the_right_shapes_are_accepted(puzzle, kind):
    assert puzzle.judge({expression: kind(shape) for expression, shape in puzzle.shapes.items()}).passed


@EACH_PUZZLE
def test_each_wrong_shape_is_rejected_and_named_by_its_own_sentence_alone(puzzle, record_property):
    record_property("known mistakes", [*catalogue.counted(puzzle)])
    for name, rejected in puzzle.trials().items():
        assert rejected.state == "not yet"
        assert rejected.mistake == name
        assert [known for known, (said, _) in puzzle.mistakes.items() if said in words(rejected)] == [name]


@EACH_PUZZLE
def test_no_shape_is_two_mistakes_or_right(puzzle):
    for expression, right in puzzle.shapes.items():
        said = [shapes[expression] for _, shapes in puzzle.mistakes.values() if expression in shapes]
        assert len({right, *said}) == len(said) + 1, expression


@EACH_PUZZLE
def test_a_mistake_is_about_the_puzzles_own_expressions(puzzle):
    for _, shapes in puzzle.mistakes.values():
        assert shapes.keys() <= puzzle.shapes.keys()


def wrong_shapes(puzzle, expression):
    """Shapes that nobody would name, of as many axes, of more and of fewer."""
    right = puzzle.shapes[expression]
    named = [shapes.get(expression) for _, shapes in puzzle.mistakes.values()]
    shapes = [tuple(size + 1 for size in right) or (3, 3), (*right, 7), right[2:] + (9,) * (len(right) > 2)]
    return [shape for shape in shapes if shape not in (right, *named)]


@EACH_PUZZLE
def test_an_unknown_fault_is_rejected_without_a_name_and_nothing_is_given_away(puzzle):
    for expression, right in puzzle.shapes.items():
        for shape in wrong_shapes(puzzle, expression):
            rejected = puzzle.judge({**puzzle.shapes, expression: shape})
            assert rejected.state == "not yet"
            assert rejected.mistake not in puzzle.mistakes
            assert f"✗ {expression}" in words(rejected)
            # An expression may itself hold the shape that comes out: alibi_bias(4, 6, 6).
            assert not right or str(right) not in words(rejected).replace(expression, "")


# --- the summary, the catalogue and the table ---


def test_the_summary_tells_how_each_exercise_stands():
    first, second, third, *rest = catalogue.of_chapter("what_is_attention")
    first(first.reference)
    second(second.mistaken(next(iter(second.mistakes.values()))[1]))
    third(lambda *inputs: ...)
    assert repr(catalogue.summary("what_is_attention")).splitlines() == [
        "What is attention?: 1 of 5 exercises passed",
        "  ✓ soft_lookup: passed",
        "  · gate_shapes: not yet",
        "  · needed_temperature: not written yet",
        "  · repaired_regression: not checked",
        "  · learned_bandwidth: not checked",
    ]
    first(None)
    assert "0 of 5" in catalogue.summary("what_is_attention"), "the latest check counts"
    assert len(rest) == 2


def test_the_summary_asks_for_a_chapter_that_exists():
    with pytest.raises(ValueError, match=r"chapter must be one of a_gpt_.*, got 'why'"):
        catalogue.summary("why")


def test_a_chapters_exercises_are_found_in_its_order():
    names = [exercise.name for exercise in catalogue.of_chapter("two_ways_to_score")]
    assert names == ["additive_scores", "score_shapes", "repaired_additive", "hidden_bytes", "trained_score"]


def test_the_catalogue_lists_what_a_teacher_asks_for():
    entries = catalogue.catalogue()
    assert [entry.exercise for entry in entries] == [exercise.name for exercise in ALL]
    assert [entry.chapter for entry in entries] == [name for name, _ in catalogue.every_exercise()]
    (lookup,) = (entry for entry in entries if entry.exercise == "soft_lookup")
    assert (lookup.chapter, lookup.difficulty, lookup.minutes) == ("what_is_attention", 2, 10)
    assert "A high temperature must bring them together" in lookup.mistakes["multiplied"]


def test_the_table_counts_mistakes_as_known_rejected_and_named():
    lookup = catalogue.of_chapter("what_is_attention")[0]
    known = len(lookup.mistakes)
    right = dataclasses.replace(
        lookup, mistakes=lookup.mistakes | {"none": ("It is right.", lookup.reference)}
    )
    rows = [catalogue.counted(lookup), catalogue.counted(right)]
    assert rows == [("soft_lookup", known, known, known), ("soft_lookup", known + 1, known, known)]
    _, *_, total = str(catalogue.table(rows)).splitlines()
    assert total.split() == ["all", str(2 * known + 1), str(2 * known), str(2 * known)]
    assert report.latest == {}, "counting must not hand in anything"


# Its mistakes' names must come apart again, for whoever counts them in a class.
@EACH
def test_no_name_of_a_mistake_looks_like_two(exercise):
    assert not [name for name in exercise.mistakes if JOIN in name]
