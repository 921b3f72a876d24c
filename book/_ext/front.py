"""What the front page takes from elsewhere, so that it can't go stale.

`{chapters}` lists the parts and chapters of the table of contents, each with what its first cells and its
stored outputs say. `{door} here` makes its first paragraph a link to the first chapter, `{door} binder` to it
on Binder, and `{door} a-section` to that section of the page.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

from _ext.contents import link_to, parts
from bookkit.registry import Chapter


class Chapters(SphinxDirective):
    """An ordered list below the caption of each part, counted from one part to the next."""

    has_content = True  # for viewers that make no lists

    def run(self) -> list[nodes.Node]:
        made: list[nodes.Node] = []
        start = 1
        for caption, names in parts(self.env):
            chapters = nodes.enumerated_list(enumtype="arabic", suffix=".", start=start, classes=["chapters"])
            chapters += [self.item(name) for name in names]
            made += [nodes.rubric("", caption), chapters]
            start += len(names)
        return made

    def item(self, name: str) -> nodes.list_item:
        path = Path(self.env.doc2path(name))
        self.env.note_dependency(str(path))
        chapter = Chapter(path)
        try:
            minutes, goal = chapter.minutes, chapter.goal
        except ValueError as reason:
            raise self.error(f"it can't be listed: {reason}") from reason
        # Citations stay in the chapter.
        goal = re.sub(r"\s*\{cite(:t)?\}`[^`]*`", "", goal)
        found, _ = self.parse_inline(goal)
        line = nodes.inline("", f"{minutes} · {len(chapter.claims)} claims checked", classes=["facts"])
        return nodes.list_item(
            "",
            nodes.paragraph("", "", link_to(name, self.env)),
            nodes.paragraph("", "", nodes.Text("You will be able to "), *found, nodes.Text(".")),
            nodes.paragraph("", "", line),
        )


class Door(SphinxDirective):
    """A way into the book: a link, and below it what to expect."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        title, *rest = self.parse_content_to_nodes()
        link = self.link(self.arguments[0], nodes.inline("", "", *title.children))
        return [nodes.container("", nodes.paragraph("", "", link), *rest, classes=["door"])]

    def link(self, target: str, words: nodes.inline) -> nodes.Element:
        first = next(names[0] for _, names in parts(self.env))
        if target == "here":
            return link_to(first, self.env, words)
        if target == "binder":
            return nodes.reference("", "", words, refuri=binder(self.config, first))
        return nodes.reference("", "", words, refid=target, internal=True)


def binder(config: Config, chapter: str) -> str:
    """The address that opens a chapter on Binder, as the site was built from it."""
    options = config.html_theme_options
    hub = options["launch_buttons"]["binderhub_url"]
    owner_and_name = "/".join(options["repository_url"].rstrip("/").split("/")[-2:])
    notebook = f"{options['path_to_docs']}/{chapter}.ipynb"
    return f"{hub}/v2/gh/{owner_and_name}/{config.launched}?urlpath=lab/tree/{notebook}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("_ext.repository")
    app.add_directive("chapters", Chapters)
    app.add_directive("door", Door)
    return {"parallel_read_safe": True}
