"""Ask every page on the web that the book links to whether it is still there: `python -m tools.site.links`.

Sphinx's own linkcheck finds the links and asks, as _config.yml tells it: one page at a time. A page that
refuses a program, as many publishers' do, is counted but fails nothing: people can open it.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from tools import ROOT
from tools.site.build import COMMAND

REFUSED = re.compile("unauthorized|403|429")


def in_the_book(folder: Path) -> list[str]:
    """The command that asks for the links in pages, chapters and bibliography."""
    return [*COMMAND, "--path-output", str(folder), "--builder", "linkcheck"]


def beside_the_book(folder: Path) -> list[str]:
    """The command that asks for those in the README and in what else stands beside the book."""
    for page in ROOT.glob("*.md"):
        (folder / page.name).symlink_to(page)
    settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    asking = {name: value for name, value in settings.items() if name.startswith("linkcheck_")}
    reading = {"extensions": "myst_parser", "root_doc": "README"}
    options = [f"-D{name}={value}" for name, value in (asking | reading).items()]
    out = folder / "_build" / "html"
    return [sys.executable, "-m", "sphinx", "-C", "-b", "linkcheck", *options, str(folder), str(out)]


def ask(command: list[str], folder: Path) -> list[dict[str, Any]]:
    """What linkcheck notes of every link that leads out: address, status, and where it is written first."""
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    notes = folder / "_build" / "html" / "output.json"
    if not notes.exists():
        sys.exit(f"links: nothing was asked\n{run.stderr}")
    links = map(json.loads, notes.read_text("utf-8").splitlines())
    return [link for link in links if link["uri"].startswith("http")]


def position(link: dict[str, Any]) -> str:
    """`where-am-i.ipynb: cell 6, line 1`, or `README.md: line 3`."""
    if not link["filename"].endswith(".ipynb"):
        return f"{link['filename']}: line {link['lineno']}"
    cell, line = divmod(link["lineno"], 10000)  # MyST-NB's numbers: 60002, with the cell's first line as 2
    return f"{link['filename']}: cell {cell}, line {line - 1}"


def main() -> int:
    links: list[dict[str, Any]] = []
    for command in (in_the_book, beside_the_book):
        with TemporaryDirectory() as folder:
            links += ask(command(Path(folder)), Path(folder))
    broken = [link for link in links if link["status"] == "broken"]
    dead = [link for link in broken if not REFUSED.match(link["info"])]
    if len(dead) == len(links):
        print(f"links: none of {len(links)} pages answers: is there a network?", file=sys.stderr)
        return 2
    for link in dead:
        print(f"{position(link)}: {link['uri']}: {link['info']}")
    print(f"links: {len(links)} pages asked, {len(broken) - len(dead)} refused a program, {len(dead)} dead")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
