"""Three small pictures for a report, in the page's own colour: readable in light and in dark."""

from html import escape

CELL, BAR, LINE = 14, 160, 20  # pixels
TEXT = 'font-size="12" font-family="sans-serif" fill="currentColor"'


def sight(sees: list[list[bool]]) -> str:
    """`sight(sees)` is a square: a row for each place, filled where it sees the id of that column."""
    if not sees:
        return ""
    side = CELL - 1
    cells = "".join(
        f'<rect x="{CELL * t}" y="{CELL * u + LINE}" width="{side}" height="{side}" '
        f'fill="currentColor" fill-opacity="{0.75 if seen else 0.08}"/>'
        for u, row in enumerate(sees)
        for t, seen in enumerate(row)
    )
    alt = f"Who sees whom: {sum(map(sum, sees))} of {len(sees) ** 2} pairs of places"
    return _picture(alt, "rows see columns", cells, CELL * len(sees), CELL * len(sees))


def bars(title: str, unit: str, values: dict[str, float]) -> str:
    """`bars("size", "", {"blocks.0": 1.5})` has a line for each: a bar, its number, its name."""
    if not values:
        return ""
    shown = dict([*values.items()][:24])  # a picture, not a list
    largest = max((value for value in shown.values() if value < float("inf")), default=0.0) or 1.0
    rows = []
    for number, (name, value) in enumerate(shown.items()):
        height = LINE * (number + 1)
        width = BAR * min(max(value / largest, 0.0), 1.0) if value == value else 0.0
        rows.append(
            f'<rect x="0" y="{height + 3}" width="{width:.1f}" height="{LINE - 6}" fill="currentColor" '
            f'fill-opacity="0.35"/><text x="{BAR + 6}" y="{height + 14}" {TEXT}>'
            f"{value:.3g}{unit} {escape(name)}</text>"
        )
    alt = f"{title}, from {min(shown.values()):.3g} to {max(shown.values()):.3g}{unit}"
    widest = BAR + 6 + 8 * max(len(f"{value:.3g}{unit} {name}") for name, value in shown.items())
    return _picture(alt, title, "".join(rows), widest, LINE * len(shown))


def _picture(alt: str, title: str, shapes: str, width: int, height: int) -> str:
    width, height = max(width, 8 * len(title)), height + LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(alt, quote=True)}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'style="margin:0 1.5em 0.5em 0;max-width:100%;vertical-align:top">'
        f'<text x="0" y="13" {TEXT}>{escape(title)}</text>{shapes}</svg>'
    )
