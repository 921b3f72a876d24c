"""The mistakes that `check_update_sizes` knows by name."""

import torch

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.the_repair_shop.exercises.update_sizes_parts import _of_gradient, _sizes

MISTAKES: Mistakes = in_parts(
    _sizes,
    kept={
        "no copy": (
            "All of yours are 0: what you kept before the step is the weight itself, and the step changed "
            "it. Keep a copy: `weight.detach().clone()`.",
            lambda weight: weight.detach(),
        ),
    },
    chosen={
        "biases and norms, too": (
            "You have a number for biases and norms, too. Only matrices are asked for, with two axes.",
            lambda weight: True,
        ),
        "without the table": (
            "The table of the embedding is missing. It has two axes, and counts.",
            lambda weight: weight.dim() > 1 and tuple(weight.shape) != (7, 4),
        ),
    },
    moved={
        "the size before, not the difference": (
            "You compare how large a matrix is after and before. It may turn and stay as large: take the "
            "size of the difference.",
            lambda after, before: after.norm() - before.norm(),
        ),
        "the largest": (
            "You take the largest single change over the size of the whole. Take the size of the whole "
            "change: `norm()`.",
            lambda after, before: (after - before).abs().max(),
        ),
    },
    size={
        "over the weights after": (
            "You divide by the weights after the step. Divide by what they were.",
            lambda after, before: after.norm(),
        ),
        "not a share": (
            "You say how far each moves, and not what share of it that is. Divide by the size that it had.",
            lambda after, before: torch.ones(()),
        ),
    },
    told={
        "one number for all": (
            "You give one number for the whole model. Wanted is one for each matrix: so one can tell where.",
            lambda shares: torch.stack(shares).mean(),
        ),
        "squared": (
            "Yours are the squares: take the root of the sum of squares, or `norm()`.",
            lambda shares: torch.stack(shares).square(),
        ),
        "turned round": (
            "Your shares are upside down: the update stands above, the weight below.",
            lambda shares: 1 / torch.stack(shares),
        ),
    },
) | {
    "the gradient": (
        "You divide gradients by weights. What an optimizer makes of a gradient is another thing: measure "
        "how far the weights have moved.",
        _of_gradient,
    ),
}
