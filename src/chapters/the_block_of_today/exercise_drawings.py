"""The drawings of the exercises: two matrices or three, and the seven of a block."""

from typing import NamedTuple

from bookkit.pictures.drawings import Part, column, draw, left_note, over, row
from bookkit.pictures.svg import SMALLEST, Place, label, rectangle, width_of

HIDDEN_SIZE, INTERMEDIATE_SIZE, HEADS, KEY_VALUE_HEADS = 4096, 14336, 32, 8  # Llama 3 8B


class Matrix(NamedTuple):
    """`Matrix("key", 1024, 4096, "key")` is learned: its name, its rows and columns, and its colour."""

    name: str
    rows: int
    columns: int
    colour: str = "grey"

    @property
    def shape(self) -> str:
        """`matrix.shape` is "1,024 × 4,096"."""
        return f"{self.rows:,} × {self.columns:,}"


_KEYS = HIDDEN_SIZE // HEADS * KEY_VALUE_HEADS
ATTENTION = (
    Matrix("query", HIDDEN_SIZE, HIDDEN_SIZE, "query"),
    Matrix("key", _KEYS, HIDDEN_SIZE, "key"),
    Matrix("value", _KEYS, HIDDEN_SIZE, "value"),
    Matrix("write", HIDDEN_SIZE, HIDDEN_SIZE, "output"),
)
NETWORK = (
    Matrix("gate", INTERMEDIATE_SIZE, HIDDEN_SIZE),
    Matrix("widen", INTERMEDIATE_SIZE, HIDDEN_SIZE),
    Matrix("narrow", HIDDEN_SIZE, INTERMEDIATE_SIZE),
)


def _to_scale(matrix: Matrix, scale: float, letters: float) -> Part:
    wide, high = matrix.columns * scale, matrix.rows * scale
    width = max(wide, width_of(matrix.shape, letters))
    ground = Place((width - wide) / 2, 18, wide, high)
    marks = rectangle(ground, matrix.colour, fill=matrix.colour, opacity=0.3)
    marks += label(width / 2, 12, matrix.name, size=letters, colour=matrix.colour, bold=True)
    marks += label(width / 2, high + 32, matrix.shape, size=letters)
    return over(width, high + 36, marks)


def seven_matrices() -> None:
    """`seven_matrices()` has those of one block of Llama 3 8B, with their shapes, to scale."""

    def arrange(narrow: bool) -> Part:
        scale, letters, gap = (72 / 14336, SMALLEST, 6) if narrow else (120 / 14336, SMALLEST, 14)
        query, key, value, write = (_to_scale(matrix, scale, letters) for matrix in ATTENTION)
        attention = row(query, column(key, value, gap=4), write, gap=gap)
        network = row(*(_to_scale(matrix, scale, letters) for matrix in NETWORK), gap=gap)
        both = (column if narrow else row)(attention, network, gap=6 if narrow else gap)
        words = (
            "Llama 3 8B: an area is a number of weights."
            if narrow
            else "Llama 3 8B: four of attention, three of the network. An area is a number of weights."
        )
        return column(both, left_note(words, 320 if narrow else 700), gap=8)

    def listed(matrices: tuple[Matrix, ...]) -> str:
        return ", ".join(f"{each.name} {each.shape}" for each in matrices)

    draw(
        arrange,
        alt=f"The seven matrices of one block of Llama 3 8B as rectangles to scale. Attention has four: "
        f"{listed(ATTENTION)}. The network has three, which are far larger: {listed(NETWORK)}.",
    )


def two_or_three() -> None:
    """`two_or_three()` has the matrices of both networks of our block, with as many weights."""
    relu = (Matrix("widen", 384, 96), Matrix("narrow", 96, 384))
    gated = (Matrix("gate", 256, 96), Matrix("widen", 256, 96), Matrix("narrow", 96, 256))

    def arrange(narrow: bool) -> Part:
        scale, gap = (0.26, 20) if narrow else (0.36, 24)
        both = [row(*(_to_scale(each, scale, SMALLEST) for each in some), gap=8) for some in (relu, gated)]
        whole = (column if narrow else row)(*both, gap=gap if narrow else 60)
        words = "First a ReLU network, 384 numbers wide. Then SwiGLU, 256 wide: as large an area in all."
        return column(whole, left_note(words, 320 if narrow else 700), gap=8)

    draw(
        arrange,
        alt="The matrices of two networks as rectangles to scale. That with a ReLU has widen, 384 × 96, and "
        "narrow, 96 × 384. SwiGLU has gate and widen, 256 × 96, and narrow, 96 × 256: the same area in all.",
    )
