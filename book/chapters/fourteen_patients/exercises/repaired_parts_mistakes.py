"""The mistakes that `check_repaired_parts` knows by name."""

from torch import Tensor, nn

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.fourteen_patients.exercises.repaired_parts_parts import gradient_in_parts


def _in_every_part(model: nn.Module, first: bool) -> None:
    model.zero_grad()


def _all_at_once(tensor: Tensor, parts: int) -> tuple[Tensor, ...]:
    return (tensor,)


MISTAKES: Mistakes = in_parts(
    gradient_in_parts,
    share={
        "still broken": (
            "The fault that it came with is still there: each part's mean counts alike, however few words it "
            "has. What is the mean of the *whole* batch divided by?",
            lambda piece: piece.losses.mean() / piece.parts,
        ),
        "empty parts left out": (
            "A part without words is no longer NaN, but the others' means still count alike. Count words, "
            "not parts.",
            lambda piece: piece.losses.sum() / max(1, len(piece.losses)) / piece.parts,
        ),
        "shared by rows": (
            "Each part counts by its rows. Rows are of different lengths: count the words in them that are "
            "kept.",
            lambda piece: piece.losses.sum() / max(1, len(piece.losses)) * piece.row_share,
        ),
        "shared by rows, with NaN": (
            "Each part counts by its rows, and a part without words is 0 / 0. Count the words that are kept, "
            "and take sums, which can be empty.",
            lambda piece: piece.losses.mean() * piece.row_share,
        ),
        "0 / 0": (
            "Right, but for a part in which nothing is kept: its mean is 0 / 0, and 0 times NaN is NaN. Take "
            "its sum, which is 0, and divide by the words of the whole batch.",
            lambda piece: piece.losses.mean() * len(piece.losses) / piece.of_all,
        ),
        "means added up": (
            "The parts' means are added up and no longer divided: too large, and they still count alike.",
            lambda piece: piece.losses.sum() / max(1, len(piece.losses)),
        ),
        "sum over all words": (
            "This is the gradient of the *sum* over all words. What is left is to divide by their number.",
            lambda piece: piece.losses.sum(),
        ),
        "divided by all places": (
            "The sum is divided by all places, the filled-up ones, too. Divide by the words that are kept.",
            lambda piece: piece.losses.sum() / piece.places,
        ),
        "divided by the rows": (
            "The sum is divided by the rows. The loss is a mean over words: `kept.sum()` counts them.",
            lambda piece: piece.losses.sum() / piece.rows,
        ),
        "divided twice": (
            "The shares are right, and then each is divided by `parts` as well.",
            lambda piece: piece.losses.sum() / piece.of_all / piece.parts,
        ),
    },
    counted={
        "filled-up places count": (
            "The places that only fill up a row count. `kept` is False there: leave them out of the sum.",
            lambda each, kept: each.flatten(),
        ),
    },
    clear={
        "last part alone": (
            "Only the last part's gradient is left. `zero_grad()` belongs before the first part, not into "
            "the loop.",
            _in_every_part,
        ),
        "old gradient kept": (
            "What lay in `.grad` before is still in it. `zero_grad()` belongs before the first part.",
            lambda model, first: None,
        ),
    },
    told={
        "last loss": (
            "The gradient is right, and the loss that you return is the last part's. Add up all parts'.",
            lambda total, losses, model: losses[-1],
        ),
        "loss divided again": (
            "The gradient is right, and the loss that you return is divided by the number of parts. The "
            "shares add up to the mean already.",
            lambda total, losses, model: total / len(losses),
        ),
    },
    cut={
        "all at once": (
            "The gradient is right, but the whole batch goes through the model at once. The parts are there "
            "since it does not fit into memory.",
            _all_at_once,
        ),
    },
)
