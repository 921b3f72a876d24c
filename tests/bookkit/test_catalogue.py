"""What a reader hands in, and what a teacher plans with."""

import dataclasses

import pytest

from bookkit import catalogue
from bookkit.checking import report


@pytest.fixture(autouse=True)
def no_reports_from_elsewhere(monkeypatch):
    monkeypatch.setattr(report, "latest", {})
    monkeypatch.setattr(catalogue, "latest", report.latest)


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


def test_the_catalogue_lists_what_a_teacher_asks_for():
    entries = catalogue.catalogue()
    every = [(chapter, exercise.name) for chapter, exercise in catalogue.every_exercise()]
    assert [(entry.chapter, entry.exercise) for entry in entries] == every
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
