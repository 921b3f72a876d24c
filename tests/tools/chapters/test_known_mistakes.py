"""What the known mistakes answer is noted where it is new or changed, and stays where only digits differ."""

import copy
import json

import pytest

from tools.chapters import known_mistakes
from tools.chapters.known_mistakes import alike

NOTED = known_mistakes.read()


@pytest.mark.thorough
def test_what_is_missing_gone_or_of_a_changed_chapter_is_noted_anew_and_nothing_else(tmp_path, monkeypatch):
    before = copy.deepcopy(NOTED)
    del before["soft_lookup"]["multiplied"]
    before["nobody"] = {}
    before["needed_temperature"]["negative"][0][0][0] *= 1.0001  # as another processor has it
    rounded = copy.deepcopy(before["needed_temperature"])
    before["scaled_scores"]["multiplied"] = wrong = ["right"]
    monkeypatch.setattr(known_mistakes, "NOTED", tmp_path / "known_mistakes.json")
    known_mistakes.NOTED.write_text(json.dumps(before))
    assert known_mistakes.note({"what_is_attention"})
    after = known_mistakes.read()
    assert after["soft_lookup"] == NOTED["soft_lookup"]
    assert after.keys() == NOTED.keys()
    assert after["needed_temperature"] == rounded
    assert after["scaled_scores"]["multiplied"] == wrong, "its chapter has not changed"
    assert not known_mistakes.note({"what_is_attention"})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([[1.0, 2.0, 3.0]], [[1.001, 2.0, 3.001]], True),
        ([[1.0, 2.0, 3.0]], [[1.01, 2.0, 3.01]], False),
        ([[1.0, 1e-9]], [[1.0, -1e-9]], True),
        ([[1.0]], [[1.0], [1.0]], False),
        ([["nan", "inf", 1.0]], [["nan", "-inf", 1.0]], False),
    ],
)
def test_two_notes_are_alike_but_for_rounding(one, other, same):
    assert alike(one, other) is same
