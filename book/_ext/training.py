"""`{training} guests` is the picture of one run, and a button that lets the reader run it in the page.

What runs there is the engine of _static/training, in a Worker; its scripts come when the button is pressed.
The picture is drawn from stored curves, which the same engine made (tools/chapters/trainings.py).
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.drawings import on_the_page
from _ext.playground import STATIC, joined, sha256
from bookkit.pictures.drawings import svg
from bookkit.training.page import as_json, known, trainings
from bookkit.training.picture import alt, picture

FOLDER = "training/"
ENGINE = [
    "die.js",
    *(f"{FOLDER}{name}.js" for name in ("exact", "engine", "learner", "tasks", "lane", "crew")),
]
PAGE = ["elements.js", f"{FOLDER}runner.js"]
PAGE += [f"{FOLDER}page/{name}.js" for name in ("race", "curves", "squares", "words", "bench", "opening")]
WORKER = f"{FOLDER}worker.js"


class TrainingDirective(SphinxDirective):
    required_arguments = 1
    has_content = True  # for viewers that train nothing

    def run(self) -> list[nodes.Node]:
        try:
            html, words = closed(self.arguments[0])
        except (ValueError, KeyError, FileNotFoundError) as reason:
            raise self.error(f"a training can't be shown: {reason}") from reason
        return [nodes.raw("", html, format="html"), nodes.raw("", words, format="text")]


def closed(name: str) -> tuple[str, str]:
    """The HTML of a training that has not begun, and what its picture shows."""
    _, training = known(name)
    words = alt(name)
    drawing = {
        "description": words,
        **{screen: svg(picture(name, screen == "narrow")) for screen in ("wide", "narrow")},
    }
    at_once = {"training.css": styles(), "training-bench.js": bench(), f"training-{name}.js": script(name)}
    comes = [*at_once.values(), engine(), worker()]
    compressed = sum(len(gzip.compress(content)) for content in comes) / 1000
    return (
        f'<div class="training" data-name="{name}" data-files="{" ".join(at_once)}"'
        f' data-hashes="{" ".join(map(sha256, at_once.values()))}" data-engine="{sha256(engine())}">\n'
        f"<p><strong>{training.bench.question}</strong></p>\n{on_the_page(drawing)}"
        '<p class="opening"><button type="button">Train both here</button>'
        f" <span>{compressed:.0f}\u00a0kB</span></p>\n"
        f"<details><summary>What we saw</summary>\n<p>{training.bench.found}</p>\n</details>\n"
        '<p class="unseen" role="status"></p>\n</div>\n',
        words,
    )


@cache
def engine() -> bytes:
    """What computes, for the Worker or, where none may start, for the page. Its names stay its own."""
    return b"(() => {\n" + joined(*ENGINE) + b"globalThis.Crew = Crew;\n})();\n"


@cache
def worker() -> bytes:
    lines = STATIC.joinpath(WORKER).read_text("utf-8").splitlines()
    kept = [line for line in lines if line and not line.startswith(("//", "importScripts("))]
    return ('importScripts("training-engine.js");\n' + "\n".join(kept) + "\n").encode()


@cache
def bench() -> bytes:
    """What the page shows. A playground may stand beside it, with names of its own."""
    return b"(() => {\n" + joined(*PAGE) + b"})();\n"


@cache
def styles() -> bytes:
    return joined(f"{FOLDER}page/bench.css")


@cache
def script(name: str) -> bytes:
    """What a page loads to know the training."""
    return f"trainings[{json.dumps(name)}] = {json.dumps(as_json(name), separators=(',', ':'))};\n".encode()


def files() -> dict[str, bytes]:
    """All that can be asked for: `files()["training-engine.js"]`."""
    return {
        "training.css": styles(),
        "training-bench.js": bench(),
        "training-engine.js": engine(),
        "training-worker.js": worker(),
        **{f"training-{name}.js": script(name) for name in trainings()},
    }


def finish(app: Sphinx, exception: Exception | None) -> None:
    if not exception and app.builder.format == "html":
        for name, content in files().items():
            Path(app.outdir, "_static", name).write_bytes(content)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("training", TrainingDirective)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
