"""`make live`: a page gets a kernel of this machine. Who gets none: tests/tools/site/test_live_guarded.py."""

import asyncio
import os
import signal
import stat
import sys
import webbrowser
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from live_server import PATIENCE, started

from bookkit import registry
from tools.site import kernels, live

pytestmark = pytest.mark.slow


def test_pages_say_where_their_kernels_are_and_the_files_stay_as_they_are(server, small_site):
    answer = server.ask("index.html")
    assert answer.status == 200
    assert b'<head><meta name="live" content="/fork/jupyter/">' in answer.body
    assert server.ask("").body == answer.body
    assert (server.ask("missing.html").status, server.ask("404.html").status) == (404, 200)
    assert b'name="live"' not in small_site.joinpath("index.html").read_bytes()


def test_a_page_runs_code_beside_the_chapters_with_this_python(server):
    with server.page("many-heads") as page:
        said = page.run("import os, sys, attnlab; print(os.getcwd(), sys.executable, attnlab.__file__)")
    assert said.split() == [
        str(registry.BOOK),
        sys.executable,
        str(registry.PACKAGES / "attnlab/__init__.py"),
    ]


@pytest.mark.thorough
def test_of_a_kernel_that_died_the_page_is_told_and_it_may_begin_anew(server):
    session = server.session("many-heads")
    with server.channels(session["kernel"]["id"]) as page:
        page.run("dead = False")
        page.send("import os; os.kill(os.getpid(), 9)")
        told = None
        while told not in ("dead", "restarting", "autorestarting"):
            told = page.next()["content"].get("execution_state")
    assert told == "dead"
    assert server.api("sessions").json == []
    with server.page("many-heads") as page:
        assert page.run("dead") == "NameError"


@pytest.mark.thorough
def test_a_page_too_many_is_told_so_in_one_sentence(server):
    sessions = [server.session(f"page-{number}") for number in range(kernels.MOST)]
    body = {"path": "one-more", "name": "one-more", "type": "notebook"}
    refused = server.api("sessions", "POST", body), server.api("kernels", "POST", {})
    assert [answer.json["message"] for answer in refused] == [kernels.FULL, kernels.FULL]
    assert server.session("page-0")["id"] == sessions[0]["id"]  # who has a kernel keeps it
    for session in sessions:
        server.api(f"sessions/{session['id']}", "DELETE")
    assert server.api("kernels").json == []


@pytest.mark.thorough
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_stops_the_server_stops_its_kernels_and_leaves_nothing(small_site, ending):
    with started(small_site) as server:
        with server.page("many-heads") as page:
            private = Path(page.run("import sys; print(sys.argv[-1])").strip()).parent
        kernel = server.session("many-heads")["kernel"]["id"]
        with server.channels(kernel) as page:
            page.send("while True: print('on and on')")
            page.until("busy")
            processes = psutil.Process(server.process.pid).children(recursive=True)
            server.process.send_signal(ending)
            said, complained = server.process.communicate(timeout=PATIENCE)
        assert (server.process.returncode, said.strip(), complained) == (0, "", "")
        assert private.name.startswith("live-")
        assert not private.exists()
        assert processes
        _, running = psutil.wait_procs(processes, timeout=PATIENCE)
        # In a container nobody may ask for the end of what has lost its parent.
        assert all(process.status() == psutil.STATUS_ZOMBIE for process in running)


def run_with_kernels(coroutine):
    async def begun():
        with kernels.private_folder() as folder:
            manager = kernels.managers(folder)["kernel_manager"]
            try:
                return await coroutine(manager)
            finally:
                await manager.shutdown_all(now=True)

    with ThreadPoolExecutor(1) as thread:  # in that of the tests Playwright has a loop of its own
        return thread.submit(lambda: asyncio.run(begun())).result()


@pytest.mark.thorough
def test_a_kernel_whose_page_is_gone_for_long_is_ended_and_no_other(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(kernels, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def wait(manager):
        with_page, without = [await manager.start_kernel() for _ in range(2)]
        manager.notify_connect(with_page)
        left = []
        for now[0] in (0, kernels.GONE - 1, kernels.GONE):
            # A loop that prints is not idle for Jupyter.
            manager.get_kernel(without).execution_state = "busy"
            await manager.cull_kernels()
            left.append(without in manager)
        assert with_page in manager
        manager.notify_disconnect(with_page)
        now[0] += kernels.GONE - 1
        await manager.cull_kernels()
        assert with_page in manager
        return left

    assert run_with_kernels(wait) == [True, True, False]


@pytest.mark.thorough
def test_of_as_many_kernels_as_there_may_be_one_without_a_page_makes_room(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(kernels, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def one_more(manager):
        all_there_may_be = [await manager.start_kernel() for _ in range(kernels.MOST)]
        for kernel in all_there_may_be[:-1]:
            manager.notify_connect(kernel)
        with pytest.raises(kernels.Full):  # its page is on its way
            await manager.start_kernel()
        now[0] += kernels.MOMENT
        await manager.start_kernel()
        return [kernel in manager for kernel in all_there_may_be]

    assert run_with_kernels(one_more) == [True] * (kernels.MOST - 1) + [False]


def test_what_waits_for_a_page_has_an_end():
    async def wait(manager):
        kernel = await manager.start_kernel()
        manager.start_buffering(kernel, "page", {})
        waiting = manager.get_buffer(kernel, "page")["buffer"]
        assert isinstance(waiting, deque)
        return waiting.maxlen

    assert run_with_kernels(wait) == kernels.WAITING


# ---- the start ----


def test_a_browser_is_sent_on_by_a_file_that_only_this_user_can_read(monkeypatch, small_site):
    opened = []
    monkeypatch.setattr(webbrowser, "get", lambda: SimpleNamespace(open=opened.append))
    with live.opened("http://127.0.0.1:1/#live=token", small_site):
        (file,) = small_site.parent.glob("live-*.html")
        assert opened == [file.as_uri()]
        assert 'url=http://127.0.0.1:1/#live=token"' in file.read_text()
        assert os.name == "nt" or stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not file.exists()
