"""Say the shapes on the way from positions to rotated queries."""

from bookkit.checking.puzzle import ShapePuzzle

# positions is (5000, 1), frequencies (8,), table (5000, 16), words (32, 6, 16), query (32, 4, 6, 4).
check_position_shapes = ShapePuzzle(
    "position_shapes",
    difficulty=1,
    minutes=5,
    shapes={
        "positions * frequencies": (5000, 8),
        "table[:, 0::2]": (5000, 8),
        "table.unsqueeze(0)": (1, 5000, 16),
        "words + table[:6]": (32, 6, 16),
        "table[:6] @ table[:6].T": (6, 6),
        "table[7] @ table[10]": (),
        "shift_rotation(5, 16)": (16, 16),
        "rotate(query)": (32, 4, 6, 4),
        "alibi_bias(4, 6, 6)": (4, 6, 6),
    },
    mistakes={
        "one column of angles": (
            "a column of 5000 times a row of 8 is spread both ways: every position with every frequency.",
            {"positions * frequencies": (5000, 1)},
        ),
        "one row of angles": (
            "there is a product for each position, not only for each frequency.",
            {"positions * frequencies": (8,)},
        ),
        "angle for each column": (
            "there is one frequency for each pair of columns, so half as many as columns.",
            {"positions * frequencies": (5000, 16)},
        ),
        "all columns": (
            "0::2 takes every other column, beginning with the first.",
            {"table[:, 0::2]": (5000, 16)},
        ),
        "every other row": (
            "the comma comes first: `:` is for the rows, all of them, and 0::2 for the columns.",
            {"table[:, 0::2]": (2500, 16)},
        ),
        "a copy for each example": (
            "a new axis has length 1. It is spread over the batch only when something is added to it.",
            {"table.unsqueeze(0)": (32, 5000, 16)},
        ),
        "words appended": (
            "positions are added to the words, number by number. Nothing gets longer or wider.",
            {"words + table[:6]": (32, 12, 16)},
        ),
        "width appended": (
            "positions are added, not set beside the words: the sum is as wide as either.",
            {"words + table[:6]": (32, 6, 32)},
        ),
        "batch forgotten": (
            "the batch is missing. One set of six rows serves every example of it.",
            {"words + table[:6]": (6, 16), "rotate(query)": (4, 6, 4)},
        ),
        "columns with columns": (
            "this is columns against columns. Here rows meet rows: one number for each pair of positions.",
            {"table[:6] @ table[:6].T": (16, 16)},
        ),
        "product of elements": (
            "`@` of two vectors multiplies and adds up. A single number is left, which has no axis.",
            {"table[7] @ table[10]": (16,)},
        ),
        "a single number with an axis": (
            "a single number has no axis at all, where [3.0] has one of length 1.",
            {"table[7] @ table[10]": (1,)},
        ),
        "one matrix a pair": (
            "the 2-by-2 blocks stand along the diagonal of one large matrix that is zero elsewhere.",
            {"shift_rotation(5, 16)": (8, 2, 2)},
        ),
        "one matrix a step": (
            "five steps at once are one rotation: a single matrix.",
            {"shift_rotation(5, 16)": (5, 16, 16)},
        ),
        "one row a step": (
            "5 is how far it shifts. The matrix takes all 16 columns of a row to 16 new ones.",
            {"shift_rotation(5, 16)": (5, 16)},
        ),
        "scores for queries": (
            "turning a query leaves it as wide as it was. Scores come later, when it meets the keys.",
            {"rotate(query)": (32, 4, 6, 6)},
        ),
        "heads forgotten": (
            "each head has a slope of its own, and so a bias of its own.",
            {"alibi_bias(4, 6, 6)": (6, 6)},
        ),
        "a bias for each example": (
            "the distances are the same in every example: the bias has no batch axis, and is spread over it.",
            {"alibi_bias(4, 6, 6)": (32, 4, 6, 6)},
        ),
    },
)
