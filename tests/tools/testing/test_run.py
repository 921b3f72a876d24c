"""What `make test` asks of whom, and when it fails."""

from types import SimpleNamespace

import pytest

from tools.testing import check, run


@pytest.fixture
def suite(monkeypatch):
    """`suite("rest", types=1)`: its status, and the expression of marks that pytest was given, if any."""
    monkeypatch.setattr(check.Memory, "keep", lambda self, jobs: None)
    monkeypatch.setattr(check, "everything", list)

    def go(tier="people", types=0, site=0, status=0):
        asked = []
        mypy = SimpleNamespace(wait=lambda: types, kill=lambda: None)
        monkeypatch.setattr(run.subprocess, "Popen", lambda *words, **options: mypy)
        monkeypatch.setattr(run.subprocess, "run", lambda *words, **options: SimpleNamespace(returncode=site))
        monkeypatch.setattr(run, "pytest", lambda *words, **variables: asked.append(words[3]))
        monkeypatch.setattr(run, "finished", lambda process: status)
        return run.suite(tier), asked

    return go


def test_what_each_push_asks_is_asked_once_and_the_week_asks_the_rest(suite):
    asked = {tier: suite(tier)[1][0] for tier in run.TIERS}

    def tiers_of(**marks):
        return {tier for tier, wanted in asked.items() if eval(wanted, {"thorough": 0, "weekly": 0} | marks)}

    assert tiers_of() == {"people", "all"}
    assert tiers_of(thorough=1) == {"rest", "all"}
    assert tiers_of(weekly=1) == tiers_of(weekly=1, thorough=1) == {"weekly"}


def test_types_that_fail_make_it_fail_when_the_tests_have_run(suite):
    assert suite(types=1) == (1, [run.TIERS["people"]])


def test_without_a_site_nothing_is_tested(suite):
    assert suite(site=1) == (1, [])


@pytest.mark.parametrize(("status", "failed"), [(0, 0), (1, 1), (4, 1), (5, 1)])
def test_it_fails_where_pytest_does(suite, status, failed):
    assert suite(status=status)[0] == failed


def test_a_full_disk_is_told_in_one_line(suite, monkeypatch):
    monkeypatch.setattr(run.shutil, "disk_usage", lambda folder: SimpleNamespace(free=3_000_000))
    with pytest.raises(SystemExit, match=r"^test: the disk has room for 3 MB, and the tests need 500 MB$"):
        suite()
