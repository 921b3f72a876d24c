"""Train the models that take longer than a chapter may, and store their weights in src/models.

The recipes stand in each chapter's models.py, as RECIPES: names, and functions that make of a seed a trained
model and the history of its training. With --fresh they are trained from another seed, into a folder that is
thrown away again, and their chapters run with these weights: every claim must hold for them as well.
"""

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbclient
import torch

from bookkit import registry, weights
from bookkit.stored import ANEW, OF_OTHER_WEIGHTS
from tools.chapters import notebooks, refresh
from tools.progress import Progress

STORED_SEED, FRESH_SEED = 0, 1


def recipes(packages: Path = registry.PACKAGES) -> dict[str, dict[str, Callable[[int], Any]]]:
    """{"translating_with_attention": {"dot": …}}: every chapter that has some, and its recipes."""
    named = sorted(file.parent.name for file in (packages / "chapters").glob("*/models.py"))
    return {name: importlib.import_module(f"chapters.{name}.models").RECIPES for name in named}


def train(seed: int, folder: Path) -> list[Path]:
    """Train every model, and store what it learned; what is stored here and has no recipe goes."""
    made: list[Path] = []
    known = {f"{package}/{name}": one for package, named in recipes().items() for name, one in named.items()}
    with Progress("models") as progress:
        for name, recipe in known.items():
            progress.at(len(made) / len(known), name)
            started = time.monotonic()
            model, history = recipe(seed)
            file = weights.store(name, model, history.training_losses, folder, history.notes)
            made.append(file)
            size, loss = file.stat().st_size / 1000, history.training_losses[-1]
            took = time.monotonic() - started
            progress.say(f"models: {name}: {took:.0f} s, {size:.0f} kB, loss {loss:.3f}")
    for left in {*folder.rglob("*.npz")} - {*made}:
        left.unlink()
    return made


def loading() -> list[registry.Chapter]:
    """The chapters that load stored weights: those that have recipes, and those that open another's."""
    trained = recipes()
    return [
        chapter
        for chapter in registry.chapters()
        if chapter.package in trained
        or any("import weights" in cell.source for cell in notebooks.read(chapter.notebook).cells)
    ]


def claims_fail(folder: Path) -> list[str]:
    """What fails where the chapters that load weights run with those in `folder`."""
    fresh = {weights.FOLDER_VARIABLE: str(folder), ANEW: OF_OTHER_WEIGHTS}
    failures = []
    for chapter in loading():
        try:
            refresh.execute(notebooks.read(chapter.notebook), variables=fresh)
        except nbclient.exceptions.CellExecutionError as error:
            failures.append(f"{chapter.name}: {error}")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="try another seed's, and store nothing")
    fresh = parser.parse_args().fresh
    # One thread is the quickest for models as small as these, and gives the same weights again.
    torch.set_num_threads(1)
    if not fresh:
        train(STORED_SEED, weights.STORED)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        train(FRESH_SEED, Path(folder))
        failures = claims_fail(Path(folder))
    for failure in failures:
        print(f"models: {failure}", file=sys.stderr)
    print(f"models: trained afresh, {len(failures)} of {len(loading())} chapters fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
