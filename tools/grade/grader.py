"""Run hand-ins again and say who passed what: `make grade FOLDER=hand-ins`.

The folder holds notebooks of one chapter, from anywhere below it. Each runs in a process of its own
(sandbox.py), and the results are written beside them (table.py): grades.html and grades.csv.

What a notebook stores, prints or says of itself counts for nothing. Its process answers for its work with
plain data, and an exercise is passed only when these answers are right by our own check, here, where no line
of the hand-in's code has run.
"""

import argparse
import ast
import functools
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any

import nbformat
import torch
from nbformat import NotebookNode

from bookkit import catalogue, registry
from bookkit.checking import wording
from bookkit.checking.attempts import Attempt, Tried
from bookkit.checking.exercise import Exercise
from bookkit.checking.findings import gradient_fault
from bookkit.checking.guard import Outcome
from bookkit.checking.report import Check
from tools.chapters import editions, notebooks
from tools.grade import sandbox, table

SECONDS = 60  # for one cell: the book's own take a few at most. All cells together may take ten times that
MEMORY = 4_000_000_000  # bytes: chapters take an eighth of it
LONGEST = 50_000_000  # bytes of one message: answers take some thousands
LARGEST = 50_000_000  # bytes of a notebook
ON_LINUX = sys.platform.startswith("linux")
REMARKS = 5  # of one hand-in: the table is for reading


WorkerPool = ForkServerContext | SpawnContext


class UnreadableError(Exception):
    """The file is no hand-in; the message says why."""


class UnwalledError(Exception):
    """The system gives a hand-in no walls, and nobody has said that it may do without."""


# ---- reading ----


def notebooks_in(folder: Path) -> list[Path]:
    notebooks_here = sorted(folder.rglob("*.ipynb"))
    return [path for path in notebooks_here if path.is_file() and ".ipynb_checkpoints" not in path.parts]


def name(path: Path, folder: Path) -> str:
    """Its place in the folder. What is no text in a file's name becomes a question mark."""
    return str(path.relative_to(folder).with_suffix("")).encode(errors="replace").decode()


def read(path: Path) -> NotebookNode:
    if path.stat().st_size > LARGEST:
        raise UnreadableError(f"not a notebook: it has more than {LARGEST // 10**6} MB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what nbformat mends
            notebook = notebooks.read(path)
        nbformat.validate(notebook)
    except Exception as reason:  # a file may hold anything, and nbformat raises whatever comes of it
        line = str(reason).partition("\n")[0][:80]
        raise UnreadableError(f"not a notebook: {type(reason).__name__}: {line}") from reason
    return notebook


def prose(notebook: NotebookNode) -> set[str]:
    return {cell.source for cell in notebook.cells if cell.cell_type == "markdown"}


def chapter_of(notebook: NotebookNode) -> registry.Chapter | None:
    """The chapter that it shares most of its prose with; None where it shares none with any."""
    shared = {chapter: len(prose(notebook) & prose(book)) for chapter, book in the_book().items()}
    best = max(shared, key=shared.__getitem__)
    return best if shared[best] else None


@functools.cache
def the_book() -> dict[registry.Chapter, NotebookNode]:
    return {chapter: notebooks.read(chapter.notebook) for chapter in registry.chapters()}


def works(cells: list[NotebookNode], of_the_book: frozenset[str]) -> dict[str, tuple[int, str]]:
    """For each check the last cell that hands it a work, and the expression that is the work.

    What is called `solution` counts where nothing else is handed in, and the cell is none of the book's.
    """
    given: dict[str, tuple[int, str]] = {}
    solutions: dict[str, tuple[int, str]] = {}
    for number, cell in enumerate(cells, 1):
        for node in ast.walk(parsed(cell)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
                work = ast.unparse(node.args[0])
                if node.func.id.startswith("check_") and cell.source not in of_the_book:
                    (solutions if work == "solution" else given)[node.func.id] = number, work
    return solutions | given


def parsed(cell: NotebookNode) -> ast.Module:
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):  # which running it will tell
        return editions.parsed(cell)
    return ast.Module([], [])


# ---- running ----


def order(
    notebook: NotebookNode, chapter: registry.Chapter, hand_in: table.HandIn, **limits: Any
) -> sandbox.Order:
    cells, own = notebooks.code_cells(notebook), the_book()[chapter]
    solved = frozenset(cell.source for cell in own.cells[len(notebooks.before_solutions(own)) :])
    given, stubs = works(cells, solved), works(notebooks.code_cells(own), solved)
    places, uncalled = {}, []
    for exercise in checks(chapter.package):
        called = f"check_{exercise}"
        if called not in given and not any(f"{called}(" in cell.source for cell in cells):
            uncalled.append(called)
        # Where no call is to be found, what the stub defined is there at the end, or is missing.
        places[exercise] = given.get(called, (len(cells), stubs[called][1]))
    if uncalled:
        hand_in.remarks.append(f"does not call {wording.joined(uncalled)}")
    if stamp(notebook) not in (None, stamp(own)):
        hand_in.remarks.append("was handed out by another release of the book")
    return sandbox.Order(
        package=chapter.package,
        cells=[cell.source for cell in cells],
        may_raise=[number for number, cell in enumerate(cells, 1) if notebooks.raises(cell)],
        asked=places,
        **limits,
    )


def stamp(notebook: NotebookNode) -> str | None:
    """Which code the chapter was made by, as `make refresh` and `make exercises` note it."""
    made_by = notebook.metadata.get("attnlab")
    return made_by.get("code") if isinstance(made_by, dict) else None


# What chapters import, and what these import only when they are used.
IMPORTED = ["tools.grade.grader", "seaborn", "matplotlib.backends.backend_svg", "IPython.core.completer"]
IMPORTED += ["bookkit.pictures.figures", "bookkit.pictures.charts", "bookkit.claims"]


def worker_pool() -> WorkerPool:
    """Where processes come from: on Linux from one that has imported what all of them need."""
    os.environ |= {"ATTNLAB_DEVICE": "cpu", "ATTNLAB_QUIET": "1", "MPLBACKEND": "agg"}
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # what is imported ahead is looked for there
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker"  # of what a stopped hand-in has left
    if not ON_LINUX:
        return multiprocessing.get_context("spawn")  # macOS's own libraries do not outlive a fork
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    forkserver.ensure_running()
    return context


def messages(process: Any, pipe: Connection, work: sandbox.Order) -> Iterator[dict[str, Any]]:
    """What the process tells, and as a last word {"end": True}, or {"spent": …} for what is used up."""
    end = time.monotonic() + 10 * work.seconds
    until = time.monotonic() + work.seconds
    while time.monotonic() < min(until, end):
        if pipe.poll(0.2):
            try:
                message = json.loads(pipe.recv_bytes(LONGEST))
            except (EOFError, OSError):
                yield {"spent": "life"}
                return
            if "cell" in message:
                until = time.monotonic() + work.seconds
            yield message
        elif resident(process.pid) > work.memory:
            yield {"spent": "memory"}
            return
    yield {"spent": "time"}


def resident(process: int) -> int:
    """Bytes of memory, where the system holds no process to a limit: that is, not on Linux."""
    if ON_LINUX:
        return 0
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return 1024 * int(told.stdout or 0)


def end(process: Any) -> None:
    """End it and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


# ---- judging ----


@functools.cache
def checks(package: str) -> dict[str, Check]:
    return {check.name: check for check in catalogue.of_chapter(package)}


def borne_out(check: Check, told: dict[str, Any]) -> bool:
    """Whether the answers that came with a pass are right, by our own check."""
    if not isinstance(check, Exercise):
        return check.judge(replayed(told["answers"])).passed
    answers = [tuple(map(sandbox.decoded, answer)) for answer in told["answers"]]
    attempts = tuple(
        Attempt(check, case, check.right(case.fresh()), answer, None, (), (), printed=False)
        for case, answer in zip(check.cases, answers, strict=True)
    )
    gradients = {name: sandbox.decoded(tensor) for name, tensor in told["gradients"].items()}
    tried = Tried(check, None, attempts, lambda _: Outcome(gradients, None, (), printed=False))
    return all(attempt.passed for attempt in attempts) and not (check.trained and gradient_fault(tried))


def replayed(answers: list[Any]) -> Callable[..., Any]:
    """A work that answers what is told, question by question."""
    told = iter(answers)
    return lambda *_: sandbox.read(next(told))


def believed(check: Check, told: dict[str, Any]) -> table.Result:
    state = told["state"]
    if state != "passed":
        known = state if state in table.STATES else "not believed"
        return table.Result(known, str(told.get("mistake", "")))
    try:
        right = borne_out(check, told)
    except Exception:  # what came may be anything
        right = False
    return table.Result("passed" if right else "not believed")


SPENT = {
    "time": "cell {cell} does not end within {seconds:g} seconds: stopped there",
    "memory": "cell {cell} fills more than {gigabytes:g} GB of memory: stopped there",
    "life": "cell {cell} ends its own process: what follows is not run",
}


def run(work: sandbox.Order, hand_in: table.HandIn, context: WorkerPool) -> None:
    """Run a hand-in and note how it goes."""
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=sandbox.serve, args=(work, theirs))
    process.start()
    theirs.close()
    cell = 0
    try:
        for told in messages(process, ours, work):
            if "walled" in told and hand_in.walled is None:  # said before any line of the hand-in's code
                hand_in.walled = told["walled"] is True
            elif "cell" in told:
                cell = int(told["cell"])
            elif "remark" in told:
                hand_in.remarks.append(str(told["remark"])[:200])
            elif "exercise" in told:
                hand_in.results[told["exercise"]] = believed(checks(work.package)[told["exercise"]], told)
            else:
                break
        if spent := told.get("spent"):
            words = SPENT[spent].format(cell=cell, seconds=work.seconds, gigabytes=work.memory / 1e9)
            hand_in.remarks.insert(0, words)
    finally:
        end(process)
        ours.close()


def grade(
    notebook: NotebookNode,
    hand_in: table.HandIn,
    chapter: registry.Chapter,
    context: WorkerPool,
    **limits: Any,
) -> None:
    """Run one hand-in, and note all that is to be said of it."""
    with tempfile.TemporaryDirectory(prefix="hand-in-", ignore_cleanup_errors=True) as folder:
        try:
            run(order(notebook, chapter, hand_in, folder=folder, **limits), hand_in, context)
        except Exception:  # what a notebook holds, and what its process tells, may be anything
            hand_in.remarks.insert(0, "confuses the grader: stopped")
    for exercise in checks(chapter.package):
        hand_in.results.setdefault(exercise, table.Result("not reached"))
    if any(result.state == "not believed" for result in hand_in.results.values()):
        hand_in.remarks.insert(0, "calls wrong answers passed: something changed the check")
    hand_in.remarks = list(dict.fromkeys(hand_in.remarks))
    if (more := len(hand_in.remarks) - REMARKS) > 0:
        hand_in.remarks[REMARKS:] = [f"and {more} more"]


UNWALLED = """\
nothing is graded: this system doesn't wall hand-ins in, so their code would run with your rights, on your
files and your network. (Linux does where ordinary users may make namespaces. Ubuntu from 24.04 and most
containers forbid it.) If you trust all who wrote them: make grade FOLDER=hand-ins TRUST=1"""


def everything(folder: Path, seconds: float, memory: int, trusted: bool) -> str:
    """Grade all hand-ins in a folder, write the tables, and say in a line how it went.

    Those that are `trusted` run where the system gives them no walls, too.
    """
    paths = notebooks_in(folder)
    if not paths:
        raise UnreadableError(f"there is no notebook in {folder}")
    if not os.access(folder, os.W_OK):
        raise UnreadableError(f"{folder} can't be written to, and the table is written there")
    hand_ins = {path: table.HandIn(name(path, folder)) for path in paths}
    read_in: dict[Path, NotebookNode] = {}
    for path, hand_in in hand_ins.items():
        try:
            read_in[path] = read(path)
        except UnreadableError as reason:
            hand_in.remarks.append(str(reason))
    chapters = {path: chapter_of(notebook) for path, notebook in read_in.items()}
    commonest = Counter(filter(None, chapters.values())).most_common(1)
    if not commonest:
        raise UnreadableError(f"no notebook in {folder} is a chapter of this book")
    ((chapter, _),) = commonest
    for path, its in chapters.items():
        if its != chapter:
            what = f"another chapter's: “{its.title}”" if its else "no chapter of this book"
            hand_ins[path].remarks.append(what)
    context = worker_pool()
    # Neither other hand-ins, nor the socket at which processes are ordered.
    hidden = [*paths, *Path(get_temp_dir()).iterdir()]
    limits: dict[str, Any] = {"seconds": seconds, "memory": memory, "trusted": trusted}
    limits["hidden"] = [str(path.resolve()) for path in hidden]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {
            path: pool.submit(grade, notebook, hand_ins[path], chapter, context, **limits)
            for path, notebook in read_in.items()
            if chapters[path] == chapter
        }
    for one in running.values():
        one.result()
    walled = all(hand_ins[path].walled for path in running)
    if not walled and not trusted:
        raise UnwalledError(UNWALLED)
    table.write([*hand_ins.values()], chapter, folder)
    guarded = "walled in by the system" if walled else "guarded, but NOT walled in"
    ran = f"{len(running)} of {len(paths)} notebooks run, {guarded}"
    return f"“{chapter.title}”: {ran}: {folder / 'grades.html'} and grades.csv"


def main() -> int:
    parser = argparse.ArgumentParser(prog="grade", description=__doc__.partition("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one cell")
    parser.add_argument("--memory", type=int, default=MEMORY, help="in bytes")
    parser.add_argument("--trust", action="store_true", help="run them where nothing walls them in, too")
    wanted = parser.parse_args()
    torch.set_num_threads(1)  # the hand-ins need the cores
    try:
        if not wanted.folder:
            raise UnreadableError("say where the hand-ins are: make grade FOLDER=hand-ins")
        print(f"grade: {everything(Path(wanted.folder), wanted.seconds, wanted.memory, wanted.trust)}")
    except (UnreadableError, UnwalledError, OSError) as reason:
        print(f"grade: {reason}", file=sys.stderr)
        return 1
    return 0
