"""What hand-ins run behind: without walls nothing runs, and within them all has an end."""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest

from tools import ROOT
from tools.chapters import editions, notebooks
from tools.grade import grader, walls

CHAPTER = notebooks.BOOK / "what-is-attention.ipynb"
pytestmark = pytest.mark.weekly


def in_python(program):
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


# In a process of its own, whose system gives it no walls.
UNWALLED = """
import json, multiprocessing, os, sys
from tools.grade import sandbox, walls

walls.wall_in = lambda folder, hidden: False
ours, theirs = multiprocessing.Pipe(duplex=False)
order = sandbox.Order(
    "what_is_attention", ["open('ran', 'w').close()"], [], {{}}, [], {folder!r}, 60, 4 * 10**9, {trusted}
)
if not os.fork():
    sandbox.serve(order, theirs)
told = []
while not told or "end" not in told[-1]:
    told.append(json.loads(ours.recv_bytes()))
print(json.dumps(told))
"""


@pytest.mark.parametrize("trusted", [False, True])
def test_without_walls_no_line_of_a_hand_in_runs_unless_it_is_trusted(tmp_path, trusted):
    program = UNWALLED.format(folder=str(tmp_path), trusted=trusted)
    told = json.loads(in_python(program).stdout)
    assert told == [{"walled": False}, *([{"cell": 1}] if trusted else []), {"end": True}]
    assert (tmp_path / "ran").exists() == trusted


@pytest.mark.parametrize("words", [["--trust"], []])
def test_without_walls_nothing_is_graded_unless_it_is_asked_for(tmp_path, monkeypatch, capsys, words):
    notebooks.write(editions.for_students(notebooks.read(CHAPTER)), tmp_path / "one.ipynb")
    told = [{"walled": False}, {"walled": True}, {"end": True}]  # the hand-in speaks second
    process = SimpleNamespace(start=lambda: None)
    pipe = SimpleNamespace(close=lambda: None)
    context = SimpleNamespace(Pipe=lambda duplex: (pipe, pipe), Process=lambda **_: process)
    monkeypatch.setattr(grader, "worker_pool", lambda: context)
    monkeypatch.setattr(grader, "messages", lambda *_: iter(told))
    monkeypatch.setattr(grader, "end", lambda process: None)
    monkeypatch.setattr(sys, "argv", ["grade", str(tmp_path), *words])
    status = grader.main()
    said = capsys.readouterr()
    assert (tmp_path / "grades.csv").exists() == bool(words)
    if words:
        assert (status, said.err) == (0, "")
        assert "1 of 1 notebooks run, guarded, but NOT walled in" in said.out
    else:
        assert (status, said.out) == (1, "")
        assert said.err.startswith("grade: nothing is graded: this system doesn't wall hand-ins in")


def test_processes_are_limited_only_where_its_own_are_counted():
    program = "import resource; from tools.grade import walls; walls.limit(60, 10**9, walled={}); "
    program += "print(resource.getrlimit(resource.RLIMIT_NPROC)[0])"
    within, without = (int(in_python(program.format(walled)).stdout) for walled in (True, False))
    assert (within, without) == (walls.PROCESSES, resource.getrlimit(resource.RLIMIT_NPROC)[0])


# As an ordinary user, since root's processes are never counted.
BOMB = """
import ctypes, os, sys, time
from tools.grade import walls

if os.getuid() == 0:
    os.chown({folder!r}, 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)
    set_dumpable = 4  # to change user took away the right to write to /proc/self
    ctypes.CDLL(None).prctl(set_dumpable, 1)
if not walls.wall_in({folder!r}, []):
    sys.exit("no walls")
walls.limit(60, 4 * 10**9, walled=True)
started, refused = 0, False
while started < 2 * walls.PROCESSES and not refused:
    try:
        if not os.fork():
            time.sleep(60)
            os._exit(0)
        started += 1
    except BlockingIOError:
        refused = True
shared = os.statvfs("/dev/shm")
print(refused, started, shared.f_blocks * shared.f_frsize)  # and with it end all that it has started
"""


@pytest.mark.skipif(not grader.ON_LINUX, reason="only Linux has walls")
def test_within_walls_processes_and_shared_memory_have_an_end():
    folder = tempfile.mkdtemp(prefix="hand-in-")  # which another user can reach
    program = BOMB.format(folder=folder)
    run = in_python(program)
    shutil.rmtree(folder)
    if run.stderr == "no walls\n":
        pytest.skip("this system gives no walls")
    refused, started, shared = run.stdout.split()
    assert (refused, shared) == ("True", str(2**30)), run.stderr
    assert int(started) < walls.PROCESSES
