"""What the book promises of every exercise, each promise asked of all in one test."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from exercise_cases import assert_rejected_without_a_name, words
from tiers import left_to

from bookkit import catalogue, registry
from bookkit.checking.attempts import call
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes.pairs import JOIN
from bookkit.checking.puzzle import ShapePuzzle
from bookkit.other_words import changed
from tools.chapters import known_mistakes, notebooks
from tools.chapters.known_mistakes import TRAINING

CHAPTERS = {exercise: chapter for chapter, exercise in catalogue.every_exercise()}
ALL = [*CHAPTERS]
EXERCISES = [exercise for exercise in ALL if isinstance(exercise, Exercise)]
PUZZLES = [exercise for exercise in ALL if isinstance(exercise, ShapePuzzle)]
QUICK = [one for one in ALL if one.name not in TRAINING]
# These are judged fast enough, but to find what is right in other words takes long.
SLOW_ANSWERS = TRAINING | {
    "out_of_the_band", "repaired_writer", "next_words", "attention_decoder", "learned_vectors",
    "narrowest_heads",
}  # fmt: skip
# Their mistakes train models to their end: fifteen seconds and more each, and two minutes for the first.
SLOWEST = {
    "own_fault", "language_model", "near_the_limit", "repaired_model", "beat_the_book", "smallest_cache",
    "induction_forms", "longest_text",
}  # fmt: skip


def tier(exercise):
    """The mark of what asks all its mistakes."""
    if exercise in QUICK or exercise in PUZZLES:
        return ()
    return pytest.mark.weekly if exercise.name in SLOWEST else pytest.mark.thorough


def label(exercise, *more):
    """`make check` chooses those of a chapter by its name."""
    return "-".join([CHAPTERS[exercise], exercise.name, *more])


def each(exercises):
    return pytest.mark.parametrize("exercise", exercises, ids=label)


EACH, EACH_PUZZLE = each(ALL), each(PUZZLES)
EACH_EXERCISE = each(left_to(pytest.mark.thorough, EXERCISES, but=QUICK))
ACCEPTED = [
    pytest.param(
        check, answer, id=label(check, name), marks=[pytest.mark.thorough] * (check.name in SLOW_ANSWERS)
    )
    for chapter in registry.chapters()
    for check, answers in importlib.import_module(f"chapters.{chapter.package}.accepted").ACCEPTED.items()
    for name, answer in answers.items()
]
# Of exercises whose work takes its inputs as they are; a class is made first, and its chapter tests that.
TRAINED = [
    pytest.param(exercise, name, id=label(exercise, name))
    for exercise in EXERCISES
    if exercise.ask is call
    for name in exercise.trained
]


# --- what is right, and what is not written ---


@EACH_EXERCISE
def test_the_reference_is_accepted_without_a_word(exercise):
    accepted = exercise.judge(exercise.reference)
    assert accepted.passed
    assert "→" not in words(accepted)


@pytest.mark.parametrize(("check", "answer"), ACCEPTED)
def test_what_is_right_in_other_words_is_accepted(check, answer):
    report = check.judge(answer)
    assert report.passed, report


@EACH_EXERCISE
def test_a_stub_is_not_written_yet(exercise):
    assert exercise.judge(lambda *inputs: ...).state == "not written yet"


@each([one for one in ALL if one not in EXERCISES and one not in PUZZLES])
@pytest.mark.parametrize("work", [None, ..., lambda *inputs: None, lambda *inputs: ...])
def test_nothing_is_not_written_yet_to_a_check_of_its_own_kind(exercise, work):
    assert exercise.judge(work).state == "not written yet"


@pytest.mark.parametrize(("exercise", "name"), TRAINED)
def test_a_cut_gradient_is_reported_with_the_input_that_it_does_not_reach(exercise, name):
    place = exercise.takes.index(name)

    def code(*inputs):
        return exercise.reference(*(x.detach() if i == place else x for i, x in enumerate(inputs)))

    rejected = exercise.judge(code)
    assert rejected.mistake == "no gradient"
    assert f"no gradient reaches {name}, and" in words(rejected)


# --- mistakes ---


@each([pytest.param(one, marks=tier(one)) for one in ALL])
def test_each_known_mistake_is_rejected_and_named_by_its_own_sentence_alone(exercise, record_property):
    before = torch.get_rng_state()
    record_property("known mistakes", [*catalogue.counted(exercise)])  # for the last lines of a run
    assert torch.equal(torch.get_rng_state(), before), "a check draws nothing from the reader's numbers"
    for name, rejected in exercise.trials().items():
        assert rejected.state == "not yet"
        assert rejected.mistake == name, rejected
        said = [known for known, (sentence, _) in exercise.mistakes.items() if sentence in words(rejected)]
        assert said == [name]
        assert "The smallest input" not in words(rejected), "its sentence says it all"


TO_REPAIR = [exercise for exercise in EXERCISES if "still broken" in exercise.mistakes]


@each(TO_REPAIR)
def test_what_the_page_gives_to_repair_is_told_to_be_still_broken(exercise):
    """Its report stands under it. When a chapter's cells are run, they must say the same again."""
    chapter = registry.chapter(CHAPTERS[exercise])
    cells = notebooks.before_solutions(notebooks.read(chapter.notebook))
    (cell,) = (cell for cell in cells if f"\ncheck_{exercise.name}(" in cell.source)
    (report,) = notebooks.displays(cell)
    sentence, _ = exercise.mistakes["still broken"]
    assert sentence in " ".join(report["text/plain"].split())


def flaw(answer):
    """No mistake that anyone would name."""
    if isinstance(answer, tuple):
        return flaw(answer[0]), *answer[1:]
    return answer + (0.3125 if torch.as_tensor(answer).is_floating_point() else 3)


@each(left_to(pytest.mark.thorough, [one for one in EXERCISES if one.ask is call], but=QUICK))
def test_a_flaw_that_nobody_would_name_has_no_name_of_the_catalogue(exercise):
    assert_rejected_without_a_name(exercise, changed(exercise.reference, flaw))


NOTED = known_mistakes.read()


@each([exercise for _, exercise in known_mistakes.exercises().values()])
def test_each_known_mistake_answers_as_when_it_was_written(exercise):
    """The code of a mistake that has become another is still named by itself: its numbers tell."""
    noted, made = NOTED[exercise.name], known_mistakes.numbers(exercise)
    assert noted.keys() == made.keys(), "`make refresh` notes what is new"
    for name, answers in made.items():
        assert known_mistakes.alike(noted[name], answers), name


def test_numbers_are_noted_of_no_exercise_that_is_gone():
    assert NOTED.keys() == known_mistakes.exercises().keys()


@EACH
def test_an_exercise_is_what_a_chapter_and_a_class_need(exercise):
    assert exercise.difficulty in range(1, 6)
    assert exercise.minutes > 0
    assert len(exercise.mistakes) >= 6
    assert all(sentence.endswith((".", "?", ")", "…")) for sentence, _ in exercise.mistakes.values())
    # Names must come apart again, for whoever counts them in a class.
    assert not [name for name in exercise.mistakes if JOIN in name]


@EACH_EXERCISE
def test_every_case_has_an_input_for_each_name(exercise):
    assert {len(case.inputs) for case in exercise.cases} == {len(exercise.takes)}
    assert len(exercise.right(exercise.cases[0].fresh())) == len(exercise.returns)


# What each known mistake is told on a plainer processor, and then what a flaw that nobody would name is.
ON_ANOTHER_PROCESSOR = """
import json, sys
sys.path[:0] = {path}
from checkup import limits
from test_exercises import EXERCISES, flawed_reports, told
limits.monotonic = limits.thread_time = lambda: 0.0  # as in tests: no check ends by time
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


def flawed_reports(exercise):
    """The longest reports, and the slowest to find: a third of them has every kind of number."""
    if exercise.ask is not call:
        return []
    # With the flaw a report writes out the numbers.
    works = [code for _, code in exercise.mistakes.values()][::3]
    return [str(exercise.judge(lambda *inputs, code=code: flaw(code(*inputs)))) for code in works]


@pytest.mark.weekly
@pytest.mark.slow
@EACH_EXERCISE
def test_every_report_is_the_same_on_a_plainer_processor(exercise, told_there):
    here = [told(exercise.trials()), flawed_reports(exercise)]
    assert told_there(exercise) == here
    assert here[0].keys() == exercise.mistakes.keys()


# --- puzzles ---


@EACH_PUZZLE
@pytest.mark.parametrize("kind", [tuple, list, torch.Size])
def test_the_right_shapes_are_accepted(exercise, kind):
    assert exercise.judge({expression: kind(shape) for expression, shape in exercise.shapes.items()}).passed


@EACH_PUZZLE
def test_a_mistake_is_about_the_puzzles_own_expressions_and_no_shape_is_two_mistakes_or_right(exercise):
    mistakes = [shapes for _, shapes in exercise.mistakes.values()]
    assert all(shapes.keys() <= exercise.shapes.keys() for shapes in mistakes)
    for expression, right in exercise.shapes.items():
        said = [shapes[expression] for shapes in mistakes if expression in shapes]
        assert len({right, *said}) == len(said) + 1, expression


def wrong_shapes(puzzle, expression):
    """Shapes that nobody would name, of as many axes, of more and of fewer."""
    right = puzzle.shapes[expression]
    known = [shapes.get(expression) for _, shapes in puzzle.mistakes.values()]
    shapes = [tuple(size + 1 for size in right) or (3, 3), (*right, 7), right[2:] + (9,) * (len(right) > 2)]
    return [shape for shape in shapes if shape not in (right, *known)]


@EACH_PUZZLE
def test_an_unknown_fault_is_rejected_without_a_name_and_nothing_is_given_away(exercise):
    for expression, right in exercise.shapes.items():
        for shape in wrong_shapes(exercise, expression):
            rejected = exercise.judge({**exercise.shapes, expression: shape})
            assert rejected.state == "not yet"
            assert rejected.mistake not in exercise.mistakes
            assert f"✗ {expression}" in words(rejected)
            # An expression may itself hold the shape that comes out: alibi_bias(4, 6, 6).
            assert not right or str(right) not in words(rejected).replace(expression, "")


# --- all together ---


def test_each_exercise_is_the_check_of_its_name_and_no_two_share_one():
    for exercise, chapter in CHAPTERS.items():
        module = importlib.import_module(f"chapters.{chapter}.exercises")
        assert getattr(module, f"check_{exercise.name}") is exercise
    assert len({exercise.name for exercise in ALL}) == len(ALL)


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
