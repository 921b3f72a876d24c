"""`{playground} translator` is a picture, and a button that lets the reader open the model that made it.

`{playground} translator slim` has only the field, the translation and its lines. The model's weights become a
script of their own, which playground.js fetches with the others when it is opened. Of a model too large for a
page that script has what was measured, and comes only when the button is pressed.

A link to an address such as `#open=translator&layer=1&head=2` (see bench/state.js) sets what a bench shows.
`{tour} translator` folds a line and a list of such links, which tour.js leads through.
"""

import base64
import gzip
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from _ext.drawings import on_the_page
from _ext.javascript import small
from bookkit.pictures.drawings import svg
from bookkit.playground import VIEWS, Openable, Recorded, exported, openable, picture, recorded

logger = logging.getLogger(__name__)
STATIC = Path(__file__).parents[1] / "_static"
FORMS = ("full", "slim")
SETS_A_STATE = ("open=", "train=")  # begin the end of an address that does
UNSAFE = re.compile(r'[\x00-\x20"<>`]')
STEPS_OF_A_TOUR = range(8, 13)


# What a page loads, and of which files of _static each is made, in this order.
STYLES = "bench attention looks steps reach induction gpt heads"
SHELL = """bench/entrance.js bench/state.js elements.js model.js transformer.js bench/anatomy.js
bench/words.js die.js bench/chances.js bench/tally.js bench/tally_line.js workbench.js bench/shared_state.js
bench/shares.js bench/attention_view.js bench/looks_road.js bench/looks_view.js"""
STEPS = "steps step_words step_arithmetic step_marks step_drawings steps_view"
REACH = "reach reach_parts reach_second reach_effects reach_map reach_carry reach_numbers reach_view"
BUNDLES = {
    "bench.css": [f"bench/{name}.css" for name in STYLES.split()],
    "bench.js": SHELL.split(),
    "sentences.js": ["bench/truth.js", "bench/sentence_field.js", "benches.js"],
    "symbols.js": ["bench/induction_bench.js"],
    "pieces.js": ["gpt.js", "gpt_bench.js"],
    "heads.js": ["bench/heads_bench.js"],
    "steps.js": [f"bench/{name}.js" for name in STEPS.split()],
    "reach.js": [f"bench/{name}.js" for name in REACH.split()],
}


class Playground(SphinxDirective):
    required_arguments = 1
    optional_arguments = 1
    has_content = True  # for viewers that open no models

    def run(self) -> list[nodes.Node]:
        model, form = (*self.arguments, "full")[:2]
        try:
            closed_html, words = closed(model, form)
        except (ValueError, FileNotFoundError) as reason:
            raise self.error(f"a playground can't be made: {reason}") from reason
        return [nodes.raw("", closed_html, format="html", model=model), nodes.raw("", words, format="text")]


def closed(model: str, form: str) -> tuple[str, str]:
    """The HTML of a playground whose model has not come yet, and what its picture shows."""
    for given, known in ((model, shown()), (form, FORMS)):
        if given not in known:
            raise ValueError(f"{given!r} is none of {', '.join(known)}")
    drawn = picture(model)
    drawing = {"description": drawn.alt, "wide": svg(drawn.wide), "narrow": svg(drawn.narrow)}
    comes = files(model)
    compressed, plain = (
        sum(map(len, each)) / 1000 for each in (map(gzip.compress, comes.values()), comes.values())
    )
    invitation = drawn.slim if form == "slim" and drawn.slim else drawn.invitation
    form, asks = ("recorded", "Look inside") if model in recorded() else (form, "Open the model")
    return (
        f'<div class="playground" data-model="{model}" data-form="{form}"'
        f' data-files="{" ".join(comes)}"'
        f' data-hashes="{" ".join(map(sha256, comes.values()))}"'
        f' data-views="{" ".join(VIEWS)}"'
        f' data-view-hashes="{" ".join(sha256(bundled(view)) for view in VIEWS)}">\n'
        f"<p>{drawn.title} <strong>{drawn.words}</strong></p>\n{on_the_page(drawing)}"
        f'<p class="invitation">{invitation}</p>\n'
        f'<p class="opening"><button type="button">{asks} here</button>'
        f" <span>{compressed:.0f}\u00a0kB ({plain:.0f} uncompressed)</span></p>\n"
        f'<p class="without-scripts">{drawn.caption}</p>\n'
        '<p class="unseen" role="status"></p>\n</div>\n',
        drawn.alt,
    )


def shown() -> dict[str, Openable | Recorded]:
    return {**openable(), **recorded()}


def files(model: str) -> dict[str, bytes]:
    """What a page loads to open the model, in order: `files("translator")["elements.js"]` is that script."""
    comes = {name: bundled(name) for name in shown()[model].files}
    return comes | {f"model-{model}.js": script(model).encode()}


@cache
def bundled(name: str) -> bytes:
    """What a page asks for by that name: `bundled("reach.js")`. Its files stand beside it, as written."""
    return joined(*BUNDLES[name])


@cache
def joined(*sources: str) -> bytes:
    """Files of _static as one, without what only their readers need."""
    title = f"/* made of {', '.join(sources)}, which stand beside this file as they were written */"
    whole = "\n".join(STATIC.joinpath(source).read_text("utf-8") for source in sources)
    return f"{title}\n{small(whole, sources[0].rpartition('.')[2])}".encode()


def sha256(content: bytes) -> str:
    """The hash by which a browser knows that a file came whole."""
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


@cache
def script(model: str) -> str:
    """What a page loads to have the model: all that those scripts need to know of it."""
    return f"stored[{json.dumps(model)}] = {json.dumps(exported(model), separators=(',', ':'))};\n"


def finish(app: Sphinx, exception: Exception | None) -> None:
    if not exception and app.builder.format == "html":
        for model in shown():
            for name, content in files(model).items():
                Path(app.outdir, "_static", name).write_bytes(content)
        for view in VIEWS:
            Path(app.outdir, "_static", view).write_bytes(bundled(view))


class Tour(SphinxDirective):
    """Without scripts it is what it was written as: a fold with a list of links."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        model = self.arguments[0]
        match self.parse_content_to_nodes():
            case [nodes.paragraph() as line, nodes.enumerated_list() as steps]:
                pass
            case _:
                raise self.error("a tour is a line, which becomes its title, and a numbered list of steps")
        if len(steps) not in STEPS_OF_A_TOUR:
            raise self.error(f"a tour has 8 to 12 steps, and this one {len(steps)}")
        for number, step in enumerate(steps, 1):
            links = [link.get("refuri", "") for link in step.findall(nodes.reference)]
            if len(links) != 1 or not links[0].startswith(f"#open={model}&"):
                raise self.error(f"step {number} has one link, to #open={model}&…, and not {links}")
        title = html.escape(line.astext())
        begin = f'<details class="tour" data-model="{model}"><summary>{title}</summary>\n'
        return [nodes.raw("", begin, format="html"), steps, nodes.raw("", "</details>\n", format="html")]


class StateLinks(SphinxPostTransform):
    """`[words](#open=translator&head=2)` and `[words](a-chapter.ipynb#open=…)` lead to no place of a page."""

    default_priority = 8  # before MyST looks for one

    def run(self, **options: Any) -> None:
        models = {raw["model"] for raw in self.document.findall(nodes.raw) if "model" in raw}
        for link in [*self.document.findall(pending_xref)]:
            here = link["reftype"] == "myst" and link["refdomain"] != "doc"
            state = link["reftarget"] if here else link.get("reftargetid")
            if not (state or "").startswith(SETS_A_STATE):
                continue
            model = re.match(r"open=([\w-]*)", state)
            if here and model and model[1] not in models:
                logger.error("#%s: this page has no playground %r", state, model[1], location=link)
            page = "" if here else self.app.builder.get_relative_uri(self.env.docname, link["reftarget"])
            state = UNSAFE.sub(lambda letter: quote(letter[0]), state)  # MyST has decoded it
            uri = f"{page.partition('#')[0]}#{state}"
            link.replace_self(nodes.reference("", "", *link.children, refuri=uri, internal=True))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_post_transform(StateLinks)
    app.add_directive("playground", Playground)
    app.add_directive("tour", Tour)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
