"""Tables for what the extensions list."""

from collections.abc import Iterable

from docutils import nodes


def table(name: str, columns: dict[str, int], rows: Iterable[list[nodes.paragraph]]) -> nodes.table:
    """A table of the class `name`: its columns' titles and widths, and for each row the cells."""
    widths = [nodes.colspec(colwidth=width) for width in columns.values()]
    head = nodes.thead("", row([nodes.paragraph("", title) for title in columns]))
    body = nodes.tbody("", *map(row, rows))
    group = nodes.tgroup("", *widths, head, body, cols=len(columns))
    return nodes.table("", group, classes=[name])


def row(cells: list[nodes.paragraph]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", cell) for cell in cells))
