"""What may happen to a live page's kernel, on this machine and on Binder: told in a sentence."""

import json
import re
import sys

import pytest
from browser_pages import button
from live_page import RUNS, cell_with, live, pressed, ran, status, trouble, write
from live_server import started
from playwright.sync_api import Locator, Page, WebSocketRoute, expect
from stand_in_binder import PHASES, binder, jupyter_server

from _ext import repository
from tools import ROOT

pytestmark = pytest.mark.thorough

CHAPTER = "torchtext-traps"
LOST = """import pathlib, time
while not pathlib.Path({gate!r}).exists():
    time.sleep(0.01)
print("runs " + "on")"""


HEARD = """() => {
    globalThis.heard = [];
    const alert = document.querySelector(".live-strip [role=alert]");
    new MutationObserver(() => heard.push(alert.textContent)).observe(alert, { childList: true });
}"""


def cells(page: Page) -> Locator:
    """Those whose fields are in sight."""
    return page.locator("main .cell", has=page.locator(".live-field:visible"))


def typed_and_run(page: Page, code: str) -> None:
    write(page, cells(page).first, code)
    page.keyboard.press("Control+Enter")


def test_a_kernel_that_is_killed_is_told_and_started_again_with_answers_kept(page, address):
    live(page, address, CHAPTER)
    typed_and_run(page, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    expect(trouble(page)).to_contain_text("The kernel stopped, and forgot what it had run.", timeout=RUNS)
    expect(trouble(page)).to_contain_text("memory")
    expect(cells(page).first.locator(".cm-content")).to_contain_text("SIGKILL")
    write(page, cells(page).first, "print('alive')")
    button(page, "Start it and run to where it stopped").click()
    ran(page)
    expect(page.locator(".live-output", has_text="alive").first).to_be_visible()


def test_code_that_ends_python_is_told_of_as_that(page, address):
    live(page, address, CHAPTER)
    typed_and_run(page, "exit()")
    expect(trouble(page)).to_contain_text("Python has ended: the code told it to")
    button(page, "Start it again").click()
    expect(status(page)).to_have_text(re.compile("Python runs on"))


def test_whoever_has_only_a_keyboard_stops_a_loop_where_it_stands(page, address):
    live(page, address, CHAPTER)
    first, second = (cells(page).nth(n) for n in (0, 1))
    write(page, first, "while True:\n    pass")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Escape")
    expect(button(first, "Stop")).to_be_focused()
    expect(first.locator(".live-state")).to_contain_text("runs, ", timeout=RUNS)
    page.keyboard.press("Enter")
    expect(first.locator(".live-state")).to_have_text("stopped by you", timeout=RUNS)
    expect(button(first, "Run")).to_be_focused()
    # What needs the loop waits for it, and is a place to stop it, too.
    button(second, "Run").click()
    expect(first.locator(".live-state")).to_contain_text("runs, ", timeout=RUNS)
    button(second, "Stop").click()
    expect(second.locator(".live-state")).to_have_text("not run: you stopped")
    expect(first.locator(".live-state")).to_have_text("stopped by you", timeout=RUNS)
    expect(button(second, "Run")).to_be_visible()


def test_an_endless_loop_is_asked_about_and_stopped(page, address):
    page.clock.install()
    live(page, address, CHAPTER)
    typed_and_run(page, "while True:\n    pass")
    page.clock.run_for(2000)
    expect(page.locator(".live-state", has_text="runs, ").first).to_be_visible()
    page.clock.run_for(40_000)
    expect(trouble(page)).to_contain_text("a loop without an end never stops by itself")
    button(page.locator(".live-strip"), "Stop").click()
    expect(trouble(page)).to_contain_text("Stopped.", timeout=RUNS)
    expect(page.locator(".live-error").first).to_contain_text("KeyboardInterrupt")
    expect(button(page, "Stop")).to_be_hidden()


def test_an_error_above_keeps_what_needs_it_from_running_and_leads_there(page, address):
    live(page, address, CHAPTER)
    fields = cells(page)
    write(page, fields.first, "1 / 0")
    button(fields.nth(1), "Run").click()
    expect(trouble(page)).to_contain_text("A cell above stopped at an error", timeout=RUNS)
    expect(fields.nth(1).locator(".live-state")).to_have_text("not run: a cell before it stopped")
    expect(fields.first.locator(".live-error")).to_contain_text("ZeroDivisionError: division by zero")
    button(page, "Show that cell").click()
    expect(fields.first.locator(".cm-content")).to_be_focused()


def test_a_line_that_the_code_asks_for_can_be_typed(page, address):
    live(page, address, CHAPTER)
    typed_and_run(page, "print('Dear ' + input('Your name'))")
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    ran(page)
    expect(page.locator(".live-output", has_text="Dear Ada").first).to_be_visible()


@pytest.mark.weekly
def test_a_full_disk_is_told(page, address):
    page.route(
        "**/api/kernels?*",
        lambda route: route.fulfill(
            status=500, json={"message": "OSError: [Errno 28] No space left on device"}
        ),
    )
    pressed(page, address, CHAPTER)
    expect(trouble(page)).to_contain_text("The disk of the machine that runs the code is full.")
    page.unroute("**/api/kernels?*")
    button(page, "Try again").click()
    expect(status(page)).to_contain_text("Python runs")


@pytest.mark.weekly
def test_a_server_that_has_ended_is_told(page, site):
    with started(site) as server:
        live(page, server.printed, CHAPTER)
        typed_and_run(page, "while True:\n    pass")
        running = cells(page).first
        expect(running.locator(".live-state")).to_contain_text("runs, ", timeout=RUNS)
    expect(trouble(page)).to_contain_text("`make live` does not answer. Start it again.", timeout=RUNS)
    expect(running.locator(".live-state")).to_have_text("did not end")
    expect(button(running, "Run")).to_be_visible()
    expect(button(page, "Try again")).to_be_visible()


@pytest.mark.weekly
def test_a_connection_that_is_lost_for_a_moment_comes_back_by_itself(page, address, tmp_path):
    gate, ways = tmp_path / "gate", list[WebSocketRoute]()

    def through(way: WebSocketRoute) -> None:
        ways.extend((way.connect_to_server(), way))

    page.route_web_socket("**/channels*", through)
    live(page, address, CHAPTER)
    page.evaluate(HEARD)
    typed_and_run(page, LOST.format(gate=str(gate)))
    running = cells(page).first
    expect(running.locator(".live-state")).to_contain_text("runs, ", timeout=RUNS)
    for end in ways[:2]:
        end.close(code=3001)
    expect(status(page)).to_have_text("The connection is back.", timeout=RUNS)
    lost = "The connection to the kernel is lost. It is tried again by itself, and what runs there runs on."
    assert lost in page.evaluate("heard")
    gate.touch()
    ran(page)
    expect(page.locator(".live-output", has_text="runs on").first).to_be_visible()


@pytest.mark.weekly
def test_a_key_of_an_earlier_start_and_no_key_are_told(page, address):
    page.goto(address)
    assert "live=" not in page.url
    for key, words in (("earlier", "was started anew since"), (None, "does not have the key")):
        page.evaluate("key => key ? localStorage.setItem('live-token', key) : localStorage.clear()", key)
        page.goto(f"{address.partition('#')[0]}{CHAPTER}.html")
        page.get_by_role("button", name="Run this page").click()
        expect(trouble(page)).to_contain_text(words)
        expect(trouble(page)).to_contain_text("Open the address that `make live` printed")


# ---- Binder: all that it may tell of, and what its machine may lack ----

LESSON = "what-is-attention"


# All that the strip says, however short.
SAYS = """
window.said = [];
new MutationObserver(() => {
  const says = document.querySelector(".live-strip [role=status]")?.textContent;
  if (says && says !== window.said.at(-1)) window.said.push(says);
}).observe(document, { subtree: true, childList: true, characterData: true });
"""


def test_each_phase_is_told_in_words_and_the_page_runs_in_the_end(page, base_url, tmp_path):
    page.add_init_script(SAYS)
    with jupyter_server(tmp_path) as ready:
        with binder(page, [*({"phase": phase, "message": "…"} for phase in PHASES), ready]) as server:
            pressed(page, base_url, LESSON)
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
        at = repository.launched(ROOT, "main")
        assert server.asked == [f"/build/gh/attention-measured/attention-measured/{at}"]
        cell = cell_with(page, "torch.tensor").first
        button(cell, "Run").click()
        expect(cell.locator(".live-state")).to_have_text(re.compile("^ran"), timeout=RUNS)


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
def test_another_python_and_no_python_are_told(page, base_url, tmp_path, told, words):
    (tmp_path / "other.py").write_text(OTHER_KERNEL.format(told=told))
    spec = tmp_path / "kernels" / "other"
    spec.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "--IPKernelApp.kernel_class=other.Other"]
    its = {"argv": [*command, "-f", "{connection_file}"], "display_name": "Other", "language": "other"}
    (spec / "kernel.json").write_text(json.dumps(its | {"env": {"PYTHONPATH": str(tmp_path)}}))
    with jupyter_server(tmp_path, "other") as ready, binder(page, [ready]):
        pressed(page, base_url, LESSON)
        expect(trouble(page)).to_contain_text(words)
        expect(button(page, "Try again")).to_be_visible()


@pytest.mark.weekly
def test_a_kernel_without_the_books_packages_is_told(page, base_url, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "attnlab.py").write_text("import no_such_package")
    with jupyter_server(tmp_path) as ready, binder(page, [ready]):
        (tmp_path / "book").unlink()
        (tmp_path / "elsewhere").rename(tmp_path / "book")
        pressed(page, base_url, LESSON)
        expect(trouble(page)).to_contain_text("lacks what the book needs: it has no no_such_package")
