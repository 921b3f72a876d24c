"""Write all derivatives of a softmax at once."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd.functional import jacobian

from attnlab.shapes import Scores, Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import but, in_parts
from bookkit.checking.mistakes.weighing import WEIGHING, softmax


def _outer(p: Tensor, q: Tensor) -> Tensor:
    return p.unsqueeze(-1) * q.unsqueeze(-2)  # (…, m) and (…, m) -> (…, m, m)


def _jacobian(
    scores: Scores,
    *,
    weigh: Callable[..., Weights] = softmax,
    formula: Callable[[Weights], Tensor] = lambda p: torch.diag_embed(p) - _outer(p, p),
) -> Tensor:
    """A formula in the probabilities p, as a function of the scores."""
    return formula(weigh(scores))


check_softmax_jacobian = Exercise(
    "softmax_jacobian",
    difficulty=3,
    minutes=15,
    takes=("scores",),
    returns=("jacobian",),
    reference=_jacobian,
    cases=(
        Case("right for one row of scores", exact([0, 1, 2])[0]),
        Case("right for several rows", *draw(11, (2, 5))),
        Case("right for a batch with heads", *draw(12, (2, 3, 4, 6))),
        # e^100 is beyond float32, and e^-300 is 0; but softmax depends on differences alone.
        Case("right for large scores", draw(13, (3, 4))[0] + exact([100], [0], [-200])),
        Case("right in float64", *draw(14, (2, 3, 7), dtype=torch.float64)),
    ),
    mistakes=in_parts(
        _jacobian,
        formula={
            "no diagonal": (
                "This is -p·pᵀ alone. Score i raises its own probability, too: p stands on the diagonal, and "
                "p·pᵀ is taken from it.",
                lambda p: -_outer(p, p),
            ),
            "no outer product": (
                "This is p on the diagonal alone. What one key wins the others lose: take the outer product "
                "p·pᵀ away.",
                torch.diag_embed,
            ),
            "the sigmoid's": (
                "This is p(1 - p) on the diagonal and zeros elsewhere, as for separate sigmoids. Softmax "
                "ties the keys together: off the diagonal stands -p_i·p_j.",
                lambda p: torch.diag_embed(p * (1 - p)),
            ),
            "only the diagonal": (
                "These are the diagonal entries p(1 - p), one for each key. There is one for each pair: (…, "
                "m, m).",
                lambda p: p * (1 - p),
            ),
            "p_i(1 - p_j) everywhere": (
                "This is p_i(1 - p_j) in every place. The 1 belongs to the diagonal only: elsewhere it is 0.",
                lambda p: _outer(p, 1 - p),
            ),
            "plus for minus": (
                "You add the outer product where it must be taken away: each row has to sum to 0, because "
                "the probabilities sum to 1 whatever the scores.",
                lambda p: torch.diag_embed(p) + _outer(p, p),
            ),
            "identity for diag(p)": (
                "You take p·pᵀ from the identity. It is taken from diag(p), which has p on the diagonal and "
                "not 1.",
                lambda p: torch.diag_embed(torch.ones_like(p)) - _outer(p, p),
            ),
            "of log-softmax": (
                "This is the Jacobian of log-softmax, I - 1·pᵀ. Without the logarithm each row i is "
                "multiplied by p_i.",
                lambda p: torch.diag_embed(torch.ones_like(p)) - _outer(torch.ones_like(p), p),
            ),
            "gradient of the sum": (
                "These are zeros, one for each key: the gradient of the sum of the probabilities, which is 1 "
                "whatever the scores. The Jacobian keeps the probabilities apart: one row for each.",
                torch.zeros_like,
            ),
            "vectors only": (
                "Right for one row; but torch.diag and torch.outer work on vectors only. torch.diag_embed "
                "and p.unsqueeze(-1) * p.unsqueeze(-2) take any axes in front.",
                lambda p: torch.diag(p) - torch.outer(p, p),
            ),
        },
        weigh=but(WEIGHING, "hard", "plain mean", "weights turned"),
    )
    | {
        "every row by every row": (
            "Right for one row; but of several this is the derivative of every row by every row, (…, m, …, "
            "m). A row depends on its own scores alone: (…, m, m).",
            lambda scores: jacobian(softmax, scores),  # type: ignore[no-untyped-call]
        ),
    },
    # A Jacobian is an end in itself here; code that finds it by autograd is welcome, and cuts the path.
    trainable=False,
)
