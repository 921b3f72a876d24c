"""Build the site into _build/html, unless it was already built from just these files."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tools import ROOT
from tools.chapters import stamps
from tools.progress import Progress

SETTINGS = ("_config.yml", "_toc.yml", "package-lock.json", "constraints.txt")
# The texts are in the stored outputs; the last is what installing the packages leaves.
NOT_SOURCE = {"__pycache__", ".ipynb_checkpoints", "data", "build", "attention_measured.egg-info"}
# What Sphinx says of each page that it reads and writes; what share of the time is over by then, and passes.
STEP = re.compile(r"(?P<stage>reading sources|writing output)\.\.\. \[ *(?P<percent>\d+)%\] (?P<page>\S+)")
STAGES = {"reading sources": (0, 0.6), "writing output": (0.65, 0.3)}
BUILT_FROM = ROOT / "_build" / ".built-from"
COMMAND = [
    str(Path(sys.executable).with_name("jupyter-book")), "build", "book",
    "--config", str(ROOT / "_config.yml"), "--toc", str(ROOT / "_toc.yml"), "--path-output", ".",
    "--all",  # Sphinx does not notice that an extension or the package changed
    "-W", "-n", "--keep-going",
]  # fmt: skip


def inputs() -> str:
    """Everything the site is made from: files, packages, settings, and where its launch buttons lead."""
    digest = hashlib.sha256()
    found = [path for part in ("book", "src") for path in sorted((ROOT / part).rglob("*")) if path.is_file()]
    for path in [*found, *(ROOT / name for name in SETTINGS)]:
        if not NOT_SOURCE & set(path.relative_to(ROOT).parts):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    if shutil.which("git"):
        command = ["git", "config", "--get", "remote.origin.url"]
        digest.update(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False).stdout)
    for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"):
        digest.update(os.environ.get(name, "").encode() + b"\0")
    return digest.hexdigest()


def is_up_to_date() -> bool:
    """Whether the site is there, and built from just the files that are here."""
    was_built = BUILT_FROM.exists() and (BUILT_FROM.parent / "html" / "index.html").exists()
    return was_built and BUILT_FROM.read_text() == inputs()


def sphinx(command: list[str], name: str) -> tuple[int, list[str]]:
    """Run it, saying how far it is: its status, and the lines that it said."""
    said = []
    with (
        Progress(name) as progress,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as run,
    ):
        for line in run.stdout or ():
            said.append(line.rstrip())
            if step := STEP.match(line):
                before, share = STAGES[step["stage"]]
                progress.at(before + share * int(step["percent"]) / 100, step["page"])
    return run.returncode, said


def main() -> int:
    started = time.monotonic()
    if is_up_to_date():
        print("build: _build/html is up to date")
        return 0
    for notebook in sorted((ROOT / "book").glob("*.ipynb")):
        stamps.read(notebook)  # half a notebook is told here in a line, and by Sphinx in a traceback
    print("build: making _build/html", flush=True)
    BUILT_FROM.unlink(missing_ok=True)
    wanted = inputs()  # as they are now: what is edited meanwhile makes the next call build again
    status, said = sphinx(COMMAND, "build")
    if status:
        troubles = [line for line in said if "WARNING" in line or "ERROR" in line]
        print("\n".join(troubles or said[-30:]))
        print("build: failed; each line above names the file and what is wrong with it", file=sys.stderr)
        return 1
    BUILT_FROM.write_text(wanted)
    print(f"build: _build/html is ready in {time.monotonic() - started:.0f} s; `make serve` shows it")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except stamps.BrokenNotebookError as error:
        sys.exit(f"build: {error}")
    except PermissionError as error:
        sys.exit(f"build: can't write {error.filename}: the folder must be yours to write to")
