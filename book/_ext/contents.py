"""The pages of the book in the order of _toc.yml, and links to them, for what speaks of several pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.environment import BuildEnvironment

from bookkit.registry import APPENDICES


def site_map(env: BuildEnvironment) -> Any:
    """The table of contents, as sphinx_external_toc has read it from _toc.yml."""
    return env.external_site_map  # type: ignore[attr-defined]


def pages(env: BuildEnvironment) -> Iterator[tuple[str, Path]]:
    """Name and file of each page. The page that is being read now will be read again when one changes."""
    for name in site_map(env):
        if name in env.found_docs:
            page = Path(env.doc2path(name))
            env.note_dependency(str(page))
            yield name, page


def chapters(env: BuildEnvironment) -> Iterator[tuple[str, Path]]:
    """Name and file of each notebook."""
    return ((name, page) for name, page in pages(env) if page.suffix == ".ipynb")


def parts(env: BuildEnvironment) -> Iterator[tuple[str, list[str]]]:
    """Each part of the table of contents that holds chapters, with their names in order."""
    for part in site_map(env).root.subtrees:
        names = [name for name in part.files() if env.doc2path(name).endswith(".ipynb")]
        if names and part.caption != APPENDICES:
            yield part.caption or "", names


def link_to(page: str, env: BuildEnvironment, *words: nodes.Node) -> pending_xref:
    """A link with these words, or with the page's title, resolved when Sphinx has read that page too."""
    inside = words or [nodes.inline()]
    return pending_xref(
        "", *inside, refdoc=env.docname, refdomain="std", reftype="doc", reftarget=f"/{page}",
        refexplicit=bool(words), refwarn=True,
    )  # fmt: skip
