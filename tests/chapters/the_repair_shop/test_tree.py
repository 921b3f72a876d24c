"""Each way through the tree ends in a test that is Python, and in a section that exists."""

import ast
from typing import get_args

import pytest
from headings import anchors

from attnlab.checkup.report import Inquiry
from attnlab.checkup.visit import TESTS
from chapters.the_repair_shop import drawings, walked
from chapters.the_repair_shop.tree import TREE, Cause, Fork, causes

EVERY = [cause for symptom in TREE for cause in causes(symptom.fork)]


def forks(branch):
    if isinstance(branch, Fork):
        yield branch
        for answer in branch.answers.values():
            yield from forks(answer)


@pytest.mark.parametrize("section", sorted({cause.section for cause in EVERY}))
def test_each_section_exists(section):
    page, _, anchor = section.partition("#")
    assert anchor in anchors(page)


@pytest.mark.parametrize("cause", dict.fromkeys(EVERY), ids=lambda cause: cause.words[:40])
def test_each_cause_has_a_test_of_one_line(cause):
    assert cause.words.endswith((".", ")"))
    assert "\n" not in cause.test
    ast.parse(cause.test)


@pytest.mark.parametrize("symptom", TREE, ids=lambda symptom: symptom.seen)
def test_each_fork_asks_in_python_and_has_answers_to_choose_from(symptom):
    for fork in forks(symptom.fork):
        ast.parse(fork.code)
        assert len(fork.answers) >= 2, fork.test


def test_the_tools_tests_are_called_as_it_calls_them():
    names = {test.name for test in TESTS}
    assert {name for cause in EVERY for name in cause.tool} <= names


def test_every_line_of_inquiry_is_reached():
    lines = {test.name: test.inquiry for test in TESTS}
    assert {lines[name] for cause in EVERY for name in cause.tool} == {*get_args(Inquiry)}


def test_symptoms_of_a_group_stand_together():
    groups = [symptom.group for symptom in TREE]
    assert groups == sorted(groups, key=groups.index)
    assert len({symptom.seen for symptom in TREE}) == len(TREE)


def test_the_page_has_every_cause_and_as_many_folds_as_there_are_answers():
    page = walked.page()
    answers = sum(len(fork.answers) for symptom in TREE for fork in forks(symptom.fork))
    assert page.count("<details") == page.count("</details>") == len(TREE) + answers
    for cause in EVERY:
        assert f'href="{cause.section}"' in page
    assert walked.ends(TREE) == len({*EVERY})


def test_the_drawing_has_what_the_tree_asks_first(monkeypatch):
    drawn = []
    monkeypatch.setattr(drawings, "draw", lambda arrange, alt: drawn.extend([arrange(False), arrange(True)]))
    drawings.trunk()
    for part in drawn:
        for symptom in TREE:
            assert symptom.seen in part.marks
            assert symptom.fork.test in part.marks


def test_a_cause_is_no_fork():
    assert [*causes(EVERY[0])] == [EVERY[0]]
    assert all(isinstance(cause, Cause) for cause in EVERY)
