"""A page whose kernel is Binder's: all that Binder may tell of, and what its machine may lack."""

import json
import re
import sys
from pathlib import Path
from threading import Event

import pytest
from live_page import RUNS, button, cell_with, status, trouble
from playwright.sync_api import Page, expect
from stand_in_binder import PHASES, binder, jupyter_server

from tools.release import version

pytestmark = pytest.mark.thorough

CHAPTER = "what-is-attention"


def press(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}{CHAPTER}.html")
    page.get_by_role("button", name="Run this page").click()


# All that the strip says, however short.
SAYS = """
window.said = [];
new MutationObserver(() => {
  const says = document.querySelector(".live-strip [role=status]")?.textContent;
  if (says && says !== window.said.at(-1)) window.said.push(says);
}).observe(document, { subtree: true, childList: true, characterData: true });
"""


def test_each_phase_is_told_in_words_and_the_page_runs_in_the_end(
    page: Page, base_url: str, tmp_path: Path
) -> None:
    page.add_init_script(SAYS)
    with jupyter_server(tmp_path) as ready:
        with binder(page, [*({"phase": phase, "message": "…"} for phase in PHASES), ready]) as server:
            press(page, base_url)
            expect(status(page)).to_have_text("Python runs on Binder.")
        said = page.evaluate("said")
        phases = (
            "waits",
            "fetches the book",
            "installs",
            "stores",
            "looks for a machine",
            "starts the machine",
        )
        told = [[number for number, says in enumerate(said) if words in says] for words in phases]
        assert all(len(numbers) == 1 for numbers in told), said
        assert told == sorted(told), said
        # What the launch button opens, too.
        assert server.asked == [f"/build/gh/attention-measured/attention-measured/v{version()}"]
        cell = cell_with(page, "torch.tensor").first
        button(cell, "Run").click()
        expect(cell.locator(".live-state")).to_have_text(re.compile("^ran"), timeout=RUNS)


@pytest.mark.weekly
@pytest.mark.parametrize(
    ("tells", "words"),
    [
        ([{"phase": "failed", "message": "No such tag"}], "could not start the book: “No such tag”"),
        ([{"phase": "waiting"}, {"phase": "failed"}], "could not start the book"),
        ([{"phase": "building"}], "broke off"),
        ([], "does not answer"),
    ],
    ids=["failed", "failed later", "breaks off", "silent"],
)
def test_what_went_wrong_is_said_and_it_can_be_tried_again(page: Page, base_url: str, tells, words) -> None:
    with binder(page, tells) as server:
        press(page, base_url)
        expect(trouble(page)).to_contain_text(words)
        button(page, "Try again").click()
        expect(trouble(page)).to_contain_text(words)
        assert len(server.asked) == 2


@pytest.mark.weekly
def test_who_waits_long_is_told_that_it_goes_on(page: Page, base_url: str) -> None:
    page.clock.install()
    over = Event()
    with binder(page, [{"phase": "building"}, over]):
        press(page, base_url)
        expect(status(page)).to_contain_text("installs the book")
        page.clock.run_for(61_000)
        expect(status(page)).to_contain_text("it goes on by itself")
        page.get_by_role("button", name="Run all").click()  # the page is alive meanwhile
    over.set()


OTHER_KERNEL = """
from ipykernel.ipkernel import IPythonKernel


class Other(IPythonKernel):
    language_info = IPythonKernel.language_info | {told!r}
"""


@pytest.mark.weekly
@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"version": "3.9.18"}, "is Python 3.9.18, and the book needs 3.11 or newer"),
        ({"name": "R", "version": "4.4.1"}, "runs R, and the book is in Python"),
    ],
)
def test_another_python_and_no_python_are_told(
    page: Page, base_url: str, tmp_path: Path, told, words
) -> None:
    (tmp_path / "other.py").write_text(OTHER_KERNEL.format(told=told))
    spec = tmp_path / "kernels" / "other"
    spec.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "--IPKernelApp.kernel_class=other.Other"]
    its = {"argv": [*command, "-f", "{connection_file}"], "display_name": "Other", "language": "other"}
    (spec / "kernel.json").write_text(json.dumps(its | {"env": {"PYTHONPATH": str(tmp_path)}}))
    with jupyter_server(tmp_path, "other") as ready, binder(page, [ready]):
        press(page, base_url)
        expect(trouble(page)).to_contain_text(words)
        expect(button(page, "Try again")).to_be_visible()


@pytest.mark.weekly
def test_a_kernel_without_the_books_packages_is_told(page: Page, base_url: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "attnlab.py").write_text("import no_such_package")
    with jupyter_server(tmp_path) as ready, binder(page, [ready]):
        (tmp_path / "book").unlink()
        (tmp_path / "elsewhere").rename(tmp_path / "book")
        press(page, base_url)
        expect(trouble(page)).to_contain_text("lacks what the book needs: it has no no_such_package")


@pytest.mark.weekly
def test_an_old_server_is_told(page: Page, base_url: str) -> None:
    ready = {"phase": "ready", "url": "http://127.0.0.1:9/", "token": "x"}
    page.route(
        "http://127.0.0.1:9/api",
        lambda route: route.fulfill(
            json={"version": "1.13.1"},
            headers={"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"},
        ),
    )
    with binder(page, [ready]):
        press(page, base_url)
        expect(trouble(page)).to_contain_text("It is Jupyter Server 1.13.1, and this page needs 2 or newer")
