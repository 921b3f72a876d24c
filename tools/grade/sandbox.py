"""Where a hand-in runs: a process of its own, within walls, which tells grader.py how the work behaves.

The hand-in's code may change everything in this process, so nothing that it tells is believed to be a pass:
with each pass go the answers themselves, as plain numbers, and the grader looks whether they are right.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import Tensor
from traitlets.config import Config

from bookkit import catalogue
from bookkit.checking import guard, wording
from bookkit.checking.attempts import gradients
from bookkit.checking.exercise import Exercise
from bookkit.checking.report import Check
from tools.grade import walls
from tools.grade.walls import Tell


@dataclass(frozen=True)
class Order:
    """What is to be run, and within which limits."""

    package: str  # the chapter's
    cells: list[str]  # code, in order
    may_raise: list[int]  # numbers of cells, counted from 1
    # For each exercise the cell after which its work is there, and the expression that is the work.
    asked: dict[str, tuple[int, str]]
    hidden: list[str]  # files that are none of its business
    folder: str  # its own, to write into
    seconds: float
    memory: int  # bytes
    trusted: bool  # to be run where the system gives no walls, too


def serve(order: Order, pipe: Connection) -> None:
    """Run the hand-in and tell of it, one message of JSON after another."""

    def tell(**words: object) -> None:
        pipe.send_bytes(json.dumps(words).encode())

    os.setsid()  # so that all that it starts can be ended with it
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.environ |= {"HOME": order.folder, "TMPDIR": order.folder, "IPYTHONDIR": order.folder}
    # What is imported ahead has made up its mind where temporary files are; Inductor would look there.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = order.folder
    tempfile.tempdir = order.folder
    sys.dont_write_bytecode = True
    torch.set_num_threads(1)
    walled = walls.wall_in(order.folder, order.hidden)
    tell(walled=walled)
    os.chdir(order.folder)
    walls.limit(order.seconds, order.memory, walled)
    try:
        if walled or order.trusted:
            run(order, tell)
        tell(end=True)
    finally:
        os._exit(0)  # whatever it has left running does not keep us


# ---- running the cells, and judging what they define ----


def run(order: Order, tell: Tell) -> None:
    checks = {check.name: check for check in catalogue.of_chapter(order.package)}
    before = parts_of_the_book()
    walls.watch(order.folder, tell)
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    for number, source in enumerate(order.cells, 1):
        tell(cell=number)
        done = shell.run_cell(source)
        if error := done.error_before_exec or done.error_in_exec:
            if isinstance(error, MemoryError) or "can't allocate memory" in wording.raised(error):
                tell(spent="memory")
                return
            if number not in order.may_raise:
                words = wording.raised(error).replace("It raises", "raises")
                tell(remark=f"cell {number}: {re.sub('<ipython-input[^>]*>, ', '', words)}")
        for name, (after, expression) in order.asked.items():
            if after == number:
                tell(**judged(checks[name], expression, shell.user_ns))
    for name, check in checks.items():
        if shell.user_ns.get(f"check_{name}", check) is not check:
            tell(remark=f"puts something else in the place of check_{name}")
    after_all = parts_of_the_book()
    for name, part in before.items():
        if after_all.get(name) is not part:
            tell(remark=f"replaces {name}")


def parts_of_the_book() -> dict[str, object]:
    """Every function and class of the checks' machinery, with the classes' methods, under its name."""
    found: dict[str, object] = {}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] in ("bookkit", "chapters"):
            for inside, thing in dict(vars(module)).items():
                if callable(thing) and getattr(thing, "__module__", None) == name:
                    found[f"{name}.{inside}"] = thing
                    own = vars(thing) if isinstance(thing, type) else {}
                    found |= {f"{name}.{inside}.{one}": part for one, part in own.items() if callable(part)}
    return found


def judged(check: Check, expression: str, names: dict[str, Any]) -> dict[str, Any]:
    """What our check, in this process, says of the work, and for a pass the answers that bear it out."""
    try:
        work = eval(expression, names)
    except BaseException:
        return {"exercise": check.name, "state": "missing"}
    said: list[Any] = []
    report = check.judge(work if isinstance(check, Exercise) else noted(work, said))
    told: dict[str, Any] = {"exercise": check.name, "state": report.state, "mistake": report.mistake or ""}
    if report.passed:
        with suppress(BaseException):
            told["answers"] = list(answers(check, work, said))
            told["gradients"] = {name: encoded(tensor) for name, tensor in reached(check, work).items()}
    return told


def noted(work: Any, said: list[Any]) -> Any:
    """The work, and all that it answers is noted: an experiment is too slow to be run once more for it."""
    if not callable(work):
        said.append(work)
        return work

    def asked(*inputs: Any) -> Any:
        said.append(work(*inputs))
        return said[-1]

    return asked


def answers(check: Check, work: Any, said: list[Any]) -> Iterator[Any]:
    if not isinstance(check, Exercise):
        yield from map(as_json, said)
        return
    for case in check.cases:
        attempt = check.attempt(work, case, check.right(case.fresh()))
        yield [encoded(part) for part in attempt.answer]


def reached(check: Check, work: Any) -> dict[str, Tensor]:
    if not isinstance(check, Exercise) or not check.trained:
        return {}
    return guard.guarded(lambda: gradients(check, work, check.cases[-1])).value or {}


# ---- answers as plain data, which no reader can be harmed by ----


def as_json(answer: Any) -> Any:
    """`as_json({1: {"no scale"}})` is {"pairs": [[1, ["no scale"]]]}, of which JSON knows each word."""
    if isinstance(answer, dict):
        return {"pairs": [[as_json(key), as_json(value)] for key, value in answer.items()]}
    if isinstance(answer, list | tuple | set | frozenset | range):
        return [as_json(part) for part in answer]
    plain = answer is None or isinstance(answer, str | int | float)
    return answer if plain else encoded(torch.as_tensor(answer))


def read(data: Any) -> Any:
    """`read(written(answer))` is the answer again; tuples and sets come back as lists."""
    if isinstance(data, list):
        return [read(part) for part in data]
    if not isinstance(data, dict):
        return data
    return {read(key): read(value) for key, value in data["pairs"]} if "pairs" in data else decoded(data)


def encoded(tensor: Tensor) -> dict[str, Any]:
    raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    return {"dtype": wording.dtype(tensor), "shape": list(tensor.shape), "bytes": raw.numpy().tobytes().hex()}


def decoded(data: dict[str, Any]) -> Tensor:
    dtype, raw = getattr(torch, data["dtype"]), bytearray.fromhex(data["bytes"])
    if not raw:
        return torch.empty(data["shape"], dtype=dtype)
    return torch.frombuffer(raw, dtype=dtype).reshape(data["shape"])
