"""What a check says to readers who write anything at all, tried on small exercises of every kind."""

import dataclasses
import re
from unittest.mock import MagicMock, call

import pytest
import torch
from clocks import Clock
from exercise_cases import words
from small_checks import (
    EXERCISES,
    PARTED,
    check_attention,
    check_count,
    check_scores,
)

from bookkit.checking import exercise
from checkup import limits

EACH = pytest.mark.parametrize("check", EXERCISES, ids=lambda check: check.name)


# --- two mistakes at once ---


def negative_cube(query, key):
    return (-(query @ key.mT)) ** 3


def test_two_mistakes_in_different_parts_get_both_their_names():
    report = PARTED.judge(negative_cube)
    assert report.mistake == "negative & cubed"
    assert "Two things at once. The sign is wrong. And: This is a cube." in words(report)


@pytest.mark.parametrize("stretch", [(2, 2), (10**6, 10**6)])
def test_nothing_but_zeros_and_what_is_far_too_large_are_no_two_mistakes(stretch):
    report = PARTED.judge(lambda query, key: torch.zeros(1).expand(*stretch))
    assert report.state == "not yet"
    assert "&" not in (report.mistake or "")
    assert "could not go on" not in words(report)


def test_two_mistakes_are_not_told_before_all_pairs_are_tried_nor_where_others_give_it_as_well(monkeypatch):
    again = {"again": ("Again a cube.", PARTED.mistakes["cubed"][1])}
    doubtful = dataclasses.replace(PARTED, mistakes=PARTED.mistakes | again)
    assert doubtful.judge(negative_cube).mistake != "negative & cubed"
    monkeypatch.setattr(exercise, "PAIRS_LIMIT", -1.0)
    assert PARTED.judge(negative_cube).mistake != "negative & cubed"


def test_who_would_need_far_longer_for_all_pairs_does_not_wait_till_the_end(monkeypatch):
    """Four pairs, each as if it took two fifths of the time: after the first it is plain."""
    asked = []
    pair = ("a & b", "Both.", lambda *inputs: asked.append(inputs))
    monkeypatch.setattr(exercise, "pairs", lambda mistakes: [pair] * 4)
    monkeypatch.setattr(limits, "thread_time", lambda: 0.4 * exercise.PAIRS_LIMIT * len(asked))
    PARTED.judge(negative_cube)
    assert len(asked) == 1


# --- waiting ---


def test_who_waits_reads_what_is_being_asked(monkeypatch):
    bar = MagicMock(n=0)
    bar.__enter__.return_value = bar
    monkeypatch.setattr(exercise, "progress_bar", lambda total: bar)
    assert check_scores.judge(check_scores.reference).passed
    assert bar.method_calls == [
        each
        for number, case in enumerate(check_scores.cases)
        # Nothing is shown before the time for it.
        for each in (call.set_description(case.label, refresh=False), call.update(number))
    ]


# --- stubs ---


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


STUBS = [documented, passing, half_filled, not_implemented, lambda *inputs: ..., None, ...]


@EACH
@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: getattr(stub, "__name__", repr(stub)))
def test_a_stub_is_not_written_yet(check, stub):
    report = check.judge(stub)
    assert report.state == "not written yet"
    assert not report.passed
    assert check_attention.judge(lambda *inputs: (..., ...)).state == "not written yet"


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
    clock = Clock(monkeypatch)

    def slow(query, key):
        clock.passes(4)
        return check_scores.reference(query, key)

    report = check_scores.judge(slow)
    assert [line.split()[0] for line in report.lines[:7]] == ["✓", "✓", "✗", "·", "·", "·", "✓"]
    assert report.mistake is None
    assert "does not finish within 10 seconds" in words(report)


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
    assert repr(report).splitlines()[5:8] == [
        "→ numbers is 2 times what it should be, in every case.",
        "→ The smallest input that fails:",
        "    rows = 2",
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
