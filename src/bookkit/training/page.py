"""What the page is told of a training: what a reader may change there, and one run that is stored beside it.

The chapters' training.py have the pages' trainings as PAGES; the stored runs stand beside them, in
training.json.
"""

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from bookkit import registry
from bookkit.training.cell import points, unfinished
from bookkit.training.settings import Bench
from bookkit.training.tasks import Settings, task_of


class Control(NamedTuple):
    """`Control("heads", "Heads", {"2": {}, "1": {"model": {"heads": 1}}}, "2")` is one thing to change."""

    name: str  # in an address, and as an argument of `settings`
    label: str
    options: dict[str, dict[str, Settings]]  # what each changes, part by part
    as_it_is: str
    both: bool = False  # whether it changes both lanes: what is asked, say


class Training(NamedTuple):
    """`Training(bench, controls, change={"heads": "1"}, …)` is a bench as the page has it."""

    bench: Bench
    controls: list[Control]
    change: dict[str, str]  # what is different at first, of two lanes that race
    answers: str  # what is counted: "names"
    where: str = "on new ones"  # what it is tried on at its end
    guess: str = "by guessing"  # what gets as many right as the dotted line
    longer: tuple[int, ...] = ()  # lengths that it is tried on besides

    def settings(self, **chosen: str) -> dict[str, Settings]:
        """`training.settings(heads="1")` are all settings of a lane with that change."""
        made = self.bench.settings()
        for control in self.controls:
            change = control.options[chosen.pop(control.name, control.as_it_is)]
            made = {part: own | change.get(part, {}) for part, own in made.items()}
        if chosen:
            raise ValueError(f"there is nothing called {', '.join(chosen)} to change")
        return made

    @property
    def every(self) -> int:
        """`training.every` steps make a point of its curves."""
        return points(self.bench.training["steps"])["every"]

    def lanes(self, seed: int) -> list[dict[str, Any]]:
        """`training.lanes(seed=1)` are the two lanes of the stored run, as crew.js takes them."""
        return [
            {"name": name, "seed": seed, "settings": self.settings(**chosen)}
            for name, chosen in (("as it is", {}), ("with your change", self.change))
        ]


@cache
def trainings() -> dict[str, tuple[str, Training]]:
    """`trainings()["guests"]` is the chapter's folder and what it lets its readers train."""
    found: dict[str, tuple[str, Training]] = {}
    for chapter in registry.chapters():
        if (registry.PACKAGES / "chapters" / chapter.package / "training.py").exists():
            pages = getattr(import_module(f"chapters.{chapter.package}.training"), "PAGES", {})
            found |= {name: (chapter.package, training) for name, training in pages.items()}
    return found


def known(name: str) -> tuple[str, Training]:
    """`known("guests")` is that training; of another name it says which there are."""
    if name not in trainings():
        raise ValueError(f"{name!r} is none of {', '.join(trainings())}")
    return trainings()[name]


def place_of_runs(chapter: str) -> Path:
    """`place_of_runs("many_heads")` is the file that holds the chapter's stored runs."""
    return registry.PACKAGES / "chapters" / chapter / "training.json"


def stored(name: str) -> dict[str, Any]:
    """`stored("guests")["lanes"][1]["rights"]` is a curve of the stored run."""
    chapter, _ = known(name)
    run: dict[str, Any] = json.loads(place_of_runs(chapter).read_text("utf-8"))[name]
    return run


def as_json(name: str) -> dict[str, Any]:
    """`as_json("guests")` is all that the page needs to train it."""
    chapter, training = known(name)
    settings, steps = training.settings(), training.bench.training["steps"]
    return {
        "name": name,
        "settings": settings,
        "controls": [
            {"name": name, "label": label, "options": [*options.items()], "asItIs": as_it_is, "both": both}
            for name, label, options, as_it_is, both in training.controls
        ],
        "change": training.change,
        "answers": training.answers,
        "where": training.where,
        "guess": training.guess,
        "longer": list(training.longer),
        "limit": task_of(settings["task"]).limit,
        "stored": stored(name),
        "cell": unfinished(chapter, steps),
        **points(steps),
    }
