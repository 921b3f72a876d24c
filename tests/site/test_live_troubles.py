"""What may happen to a live page's kernel: told in a sentence, with a way on, and nothing typed is lost."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_page import RUNS, button, live, live_server, pressed, ran, status, trouble, write
from playwright.sync_api import Page, WebSocketRoute, expect

pytestmark = pytest.mark.thorough

CHAPTER = "torchtext-traps"
# Each waits until this file is there.
BAR = """import pathlib, sys, time
from tqdm import tqdm
for each in tqdm(range(3), file=sys.stdout, leave=False, mininterval=0):
    while each == 1 and not pathlib.Path({gate!r}).exists():
        time.sleep(0.01)
print("over")"""
LOST = """import pathlib, time
while not pathlib.Path({gate!r}).exists():
    time.sleep(0.01)
print("runs " + "on")"""


HEARD = """() => {
    globalThis.heard = [];
    const alert = document.querySelector(".live-strip [role=alert]");
    new MutationObserver(() => heard.push(alert.textContent)).observe(alert, { childList: true });
}"""


@pytest.fixture(scope="module")
def address(site) -> Iterator[str]:
    with live_server() as printed:
        yield printed


def typed_and_run(page: Page, code: str) -> None:
    """In the field of the page's second cell that is in sight."""
    cell = page.locator("main .cell", has=page.locator(".live-field:visible")).first
    write(page, cell, code)
    page.keyboard.press("Control+Enter")


def in_field(page: Page) -> str:
    return page.locator(".live-field:visible .cm-content").first.inner_text()


def test_a_kernel_that_is_killed_is_told_and_started_again_with_answers_kept(
    page: Page, address: str
) -> None:
    live(page, address, CHAPTER)
    typed_and_run(page, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    expect(trouble(page)).to_contain_text("The kernel stopped, and forgot what it had run.", timeout=RUNS)
    expect(trouble(page)).to_contain_text("memory")
    assert "SIGKILL" in in_field(page)
    typed = page.locator(".live-field:visible").first
    typed.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("print('alive')")
    button(page, "Start it and run to where it stopped").click()
    ran(page)
    expect(page.locator(".live-output", has_text="alive").first).to_be_visible()


def test_whoever_has_only_a_keyboard_stops_a_loop_where_it_stands(page: Page, address: str) -> None:
    live(page, address, CHAPTER)
    first, second = (
        page.locator("main .cell", has=page.locator(".live-field:visible")).nth(n) for n in (0, 1)
    )
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


def test_an_endless_loop_is_asked_about_and_stopped(page: Page, address: str) -> None:
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


def test_an_error_above_keeps_what_needs_it_from_running_and_leads_there(page: Page, address: str) -> None:
    live(page, address, CHAPTER)
    fields = page.locator("main .cell", has=page.locator(".live-field:visible"))
    write(page, fields.first, "1 / 0")
    button(fields.nth(1), "Run").click()
    expect(trouble(page)).to_contain_text("A cell above stopped at an error", timeout=RUNS)
    expect(fields.nth(1).locator(".live-state")).to_have_text("not run: a cell before it stopped")
    expect(fields.first.locator(".live-error")).to_contain_text("ZeroDivisionError: division by zero")
    button(page, "Show that cell").click()
    expect(fields.first.locator(".cm-content")).to_be_focused()
    write(page, fields.first, "x = 1\nif x\n")
    page.keyboard.press("Control+Enter")
    expect(fields.first.locator(".live-error > p")).to_have_text(
        "SyntaxError: expected ':' (this cell, line 2)"
    )


def test_a_line_that_the_code_asks_for_can_be_typed(page: Page, address: str) -> None:
    live(page, address, CHAPTER)
    typed_and_run(page, "print('Dear ' + input('Your name'))")
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    ran(page)
    expect(page.locator(".live-output", has_text="Dear Ada").first).to_be_visible()


@pytest.mark.weekly
def test_a_progress_bar_moves_and_leaves_nothing(page: Page, address: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    live(page, address, CHAPTER)
    typed_and_run(page, BAR.format(gate=str(gate)))
    expect(page.locator(".live-output pre", has_text=re.compile(r"^\s*33%.*1/3")).first).to_be_visible(
        timeout=RUNS
    )
    gate.touch()
    ran(page)
    expect(page.locator(".live-output pre", has_text=re.compile(r"^\s*over\s*$")).first).to_be_visible()


@pytest.mark.weekly
def test_a_full_disk_is_told(page: Page, address: str) -> None:
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
def test_a_server_that_has_ended_is_told(page: Page) -> None:
    with live_server() as printed:
        live(page, printed, CHAPTER)
        typed_and_run(page, "while True:\n    pass")
        running = page.locator("main .cell", has=page.locator(".live-field:visible")).first
        expect(running.locator(".live-state")).to_contain_text("runs, ", timeout=RUNS)
    expect(trouble(page)).to_contain_text("`make live` does not answer. Start it again.", timeout=RUNS)
    expect(running.locator(".live-state")).to_have_text("did not end")
    expect(button(running, "Run")).to_be_visible()
    expect(button(page, "Try again")).to_be_visible()


@pytest.mark.weekly
def test_a_connection_that_is_lost_for_a_moment_comes_back_by_itself(
    page: Page, address: str, tmp_path: Path
) -> None:
    gate, ways = tmp_path / "gate", list[WebSocketRoute]()

    def through(way: WebSocketRoute) -> None:
        ways.extend((way.connect_to_server(), way))

    page.route_web_socket("**/channels*", through)
    live(page, address, CHAPTER)
    page.evaluate(HEARD)
    typed_and_run(page, LOST.format(gate=str(gate)))
    running = page.locator("main .cell", has=page.locator(".live-field:visible")).first
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
def test_a_key_of_an_earlier_start_and_no_key_are_told(page: Page, address: str) -> None:
    page.goto(address)
    assert "live=" not in page.url
    for key, words in (("earlier", "was started anew since"), (None, "does not have the key")):
        page.evaluate("key => key ? localStorage.setItem('live-token', key) : localStorage.clear()", key)
        page.goto(f"{address.partition('#')[0]}{CHAPTER}.html")
        page.get_by_role("button", name="Run this page").click()
        expect(trouble(page)).to_contain_text(words)
        expect(trouble(page)).to_contain_text("Open the address that `make live` printed")
