"""The drawings of “Which of the three can be left out?”, “Two matrices that meet as one” and “Exercises”."""

from collections.abc import Sequence

from bookkit.pictures.drawings import (
    Part,
    across,
    column,
    draw,
    grid,
    note,
    over,
    panel,
    row,
)
from bookkit.pictures.svg import circle, label, line, vector
from chapters.queries_keys_and_values_that_learn.drawings.pieces import ROLES


def own_and_handed() -> None:
    """`own_and_handed()` has two colours in one place, and in two."""
    colours = ("red", "blue", "white")

    def arrange(narrow: bool) -> Part:
        cell = (48, 28)

        def sum_of(own: Sequence[str], handed: Sequence[str], both: Sequence[str]) -> Part:
            def stack(numbers: Sequence[str], title: str, colour: str, rows: Sequence[str] = ()) -> Part:
                return grid(
                    [[number] for number in numbers], title=title, colour=colour, rows=rows, cell=cell
                )

            places = (*colours, *colours)[: len(own)]
            given, mixed = stack(own, "own", "grey", places), stack(handed, "handed", "value")
            return row(given, "+", mixed, "=", stack(both, "sum", "output"), gap=9)

        one = panel(
            column(sum_of("100", "001", "101"), note("red and white: but which is whose?"), gap=6),
            "without W_V",
        )
        other = panel(
            column(sum_of("100000", "000001", "100001"), note("above its own, below the other’s"), gap=6),
            "W_V can choose the place",
        )
        return across(narrow, one, other, gap=18)

    draw(
        arrange,
        alt="A word's own vector plus what it is handed, twice. Without W_V both colours, red and white, "
        "stand in the same three places, and the sum does not tell which is whose. With W_V the other's "
        "colour is handed over in places of its own.",
    )


def one_matrix(d: int, d_k: int) -> None:
    """`one_matrix(18, 6)` has the tall matrix W_Q times the flat one, which is a square."""

    def arrange(narrow: bool) -> Part:
        scale = (100 if narrow else 126) / d

        def block(title: str, high: int, wide: int, colour: str, words: str) -> Part:
            part = grid([[""]], title=title, colour=colour, cell=(wide * scale, high * scale), shape=words)
            return part

        tall = block("W_Q", d, d_k, "query", f"({d}, {d_k})")
        flat = block("W_K^T", d_k, d, "key", f"({d_k}, {d})")
        square = block("M", d, d, "grey", f"({d}, {d})")
        return row(tall, "×", flat, "=", square, gap=8 if narrow else 22)

    draw(
        arrange,
        alt=f"A tall matrix, W_Q, {d} by {d_k}, times a flat one, W_K transposed, {d_k} by {d}, is a square "
        f"one, M, {d} by {d}.",
    )


def shapes_to_say() -> None:
    """`shapes_to_say()` has words and three matrices with their sides by letter."""

    def arrange(narrow: bool) -> Part:
        def block(title: str, colour: str, wide: float, high: float, shape: str) -> Part:
            return grid([[""]], title=title, colour=colour, cell=(wide, high), shape=shape)

        words = block("words", "grey", 60, 60, "(n, d)")
        matrices = [
            block(matrix, colour, wide, 60, shape)
            for (colour, matrix, *_), wide, shape in zip(
                ROLES, (30, 30, 44), ("(d, d_k)", "(d, d_k)", "(d, d_v)"), strict=True
            )
        ]
        return row(words, "×", row(*matrices, gap=16 if narrow else 30), gap=8 if narrow else 20)

    draw(
        arrange,
        alt="Blocks with their sides: words, n by d, times three matrices: W_Q and W_K, d by d_k, and W_V, "
        "d by d_v.",
    )


def two_ends(names: Sequence[str]) -> None:
    """`two_ends(["cat", "dog", "fox"])` has keys of one number on a line, where the ends alone can win."""

    def arrange(narrow: bool) -> Part:
        wide = 290
        step = wide / (len(names) + 1)
        marks = [line(0, 60, wide, 60)]
        for place, name in enumerate(names, start=1):
            best = place in (1, len(names))
            marks += [
                circle(step * place, 60, 7, colour="key", fill="key" if best else "paper"),
                label(step * place, 92, name, size=14),
            ]
        marks += [
            vector(wide / 2 - 20, 30, 30, 30, colour="query"),
            vector(wide / 2 + 20, 30, wide - 30, 30, colour="query"),
        ]
        whole = over(wide, 100, *marks)
        words = note(
            "With one number the highest score is at one end of the line or at the other.", width=210
        )
        return across(narrow, whole, words, gap=24)

    draw(
        arrange,
        alt=f"Names on a line: {', '.join(names)}. A query points to the left or to the right, so that "
        f"only {names[0]} and {names[-1]}, at the ends, are filled.",
    )
