"""The pages of the book in the order of _toc.yml, for the tables that speak of all of them."""

from collections.abc import Iterator
from pathlib import Path

from sphinx.environment import BuildEnvironment


def pages(env: BuildEnvironment) -> Iterator[tuple[str, Path]]:
    """Name and file of each page. The page that is being read now will be read again when one changes."""
    for name in env.external_site_map:
        if name in env.found_docs:
            page = Path(env.doc2path(name))
            env.note_dependency(str(page))
            yield name, page


def chapters(env: BuildEnvironment) -> Iterator[tuple[str, Path]]:
    """Name and file of each notebook."""
    return ((name, page) for name, page in pages(env) if page.suffix == ".ipynb")
