"""Count the numbers that a layer of many heads learns."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise


def _parameters(d_model: int, heads: int, bias: bool) -> int:
    return 4 * (d_model**2 + bias * d_model)


check_multi_head_parameters = Exercise(
    "multi_head_parameters",
    difficulty=1,
    minutes=5,
    takes=("d_model", "heads", "bias"),
    returns=("parameters",),
    reference=_parameters,
    cases=(
        Case("right for one head", 4, 1, False),
        Case("right for two heads", 4, 2, False),
        Case("right with biases", 6, 3, True),
        Case("right for the paper's layer", 512, 8, True),
    ),
    mistakes={
        "no output matrix": (
            "One matrix is missing: the output matrix W_O, which is as large as the other three.",
            lambda d, heads, bias: 3 * (d**2 + bias * d),
        ),
        "no output bias": (
            "The output matrix has a bias, too.",
            lambda d, heads, bias: 4 * d**2 + bias * 3 * d,
        ),
        "biases forgotten": (
            "The biases are missing: d_model numbers for each of the four matrices.",
            lambda d, heads, bias: 4 * d**2,
        ),
        "always biases": (
            "The biases are counted whether they are there or not.",
            lambda d, heads, bias: 4 * (d**2 + d),
        ),
        "one bias": (
            "Each of the four matrices has a bias of its own, not one for all.",
            lambda d, heads, bias: 4 * d**2 + bias * d,
        ),
        "a whole layer for each head": (
            "You give each head matrices of full width. The heads share them: each has d_model / heads of "
            "the columns.",
            lambda d, heads, bias: heads * 4 * (d**2 + bias * d),
        ),
        "three of full width for each head": (
            "You give each head three matrices of full width. The heads share them: each has d_model / "
            "heads of the columns.",
            lambda d, heads, bias: heads * 3 * (d**2 + bias * d) + d**2 + bias * d,
        ),
        "one head only": (
            "This is what one head has of the matrices. Take all the heads together.",
            lambda d, heads, bias: 4 * (d**2 + bias * d) // heads,
        ),
        "square of the head's width": (
            "Too little of W_Q, W_K and W_V: the part of a single head, or d_k by d_k for each. A head reads "
            "all d_model numbers of a word, so that each head's part is d_model by d_k.",
            lambda d, heads, bias: heads * 3 * ((d // heads) ** 2 + bias * d // heads) + d**2 + bias * d,
        ),
    },
)
