"""Take the mean of the real words, and of no padding."""

import math

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw


def _pooled(outputs: Tensor, real: Tensor) -> Tensor:
    kept = real.unsqueeze(-1).to(outputs.dtype)
    return (outputs * kept).sum(-2) / kept.sum(-2)


def _kept(outputs: Tensor, real: Tensor) -> Tensor:
    return outputs.where(real.unsqueeze(-1), 0)


_REAL = torch.tensor([[True, True, True, False, False], [True, True, False, False, False]], device="cpu")


_HOLES = torch.tensor([[False, True, False, True], [True, True, True, True]], device="cpu")


check_mean_pooled = Exercise(
    "mean_pooled",
    difficulty=2,
    minutes=10,
    takes=("outputs", "real"),
    returns=("pooled",),
    reference=_pooled,
    cases=(
        Case("right without padding", *draw(21, (3, 4, 5)), torch.ones(3, 4, dtype=torch.bool, device="cpu")),
        Case("right with padding", *draw(22, (2, 5, 3)), _REAL),
        Case("right with padding in front and between", *draw(23, (2, 4, 3)), _HOLES),
        Case("right in float64, one text", *draw(24, (4, 6), dtype=torch.float64), _HOLES[0]),
    ),
    mistakes={
        "padding counted": (
            "The padding is in the mean. Where `real` is False nothing may count.",
            lambda outputs, real: outputs.mean(-2),
        ),
        "divided by all": (
            "The padding is left out of the sum, and counted in what you divide by: how many are real?",
            lambda outputs, real: _kept(outputs, real).mean(-2),
        ),
        "sum": (
            "This is the sum, larger for long texts than for short ones: divide by how many are real.",
            lambda outputs, real: _kept(outputs, real).sum(-2),
        ),
        "counted over all texts": (
            "You divide by how many are real in all texts. Each text has a count of its own: sum(-1).",
            lambda outputs, real: _kept(outputs, real).sum(-2) / real.sum(),
        ),
        "taken from the front": (
            "You count the real ones, and take as many from the front. `real` says which they are: padding "
            "may come first.",
            lambda outputs, real: _pooled(outputs, real.sort(dim=-1, descending=True).values),
        ),
        "padding summed": (
            "The sum takes in the padding, and what you divide by does not.",
            lambda outputs, real: outputs.sum(-2) / real.sum(-1, keepdim=True),
        ),
        "the padding's mean": (
            "`real` is True where a word is. You take the mean of the padding.",
            lambda outputs, real: _pooled(outputs, ~real).nan_to_num(),
        ),
        "last place": (
            "You take the last place. It may be padding, and the others count as much.",
            lambda outputs, real: outputs[..., -1, :],
        ),
        "first place": (
            "You take the first place: that is pooling by a token of its own. Here all real ones count.",
            lambda outputs, real: outputs[..., 0, :],
        ),
        "largest": (
            "You take the largest of each feature, which is another kind of pooling. Take the mean.",
            lambda outputs, real: outputs.masked_fill(~real.unsqueeze(-1), -math.inf).amax(-2),
        ),
        "over the features": (
            "You take the mean over the features, the last axis. Which axis runs over the text?",
            lambda outputs, real: outputs.mean(-1),
        ),
        "the words filled with 0": (
            "What you add up is the padding. `masked_fill` writes where its condition is True, and `real` is "
            "True where a word is: ~real.",
            lambda outputs, real: _kept(outputs, ~real).sum(-2) / real.sum(-1, keepdim=True),
        ),
        "filled with -inf": (
            "-inf keeps padding out of a maximum or a softmax. A sum it makes infinite: there padding is 0.",
            lambda outputs, real: outputs.masked_fill(~real.unsqueeze(-1), -math.inf).mean(-2),
        ),
        "one mean for all texts": (
            "The words of all texts go into one mean: indexing by `real` joins the texts. Each has its own.",
            lambda outputs, real: outputs[real].mean(0),
        ),
        "padding left out, over the features": (
            "The padding is left out; but you add up over the features. The text's axis is the last but one.",
            lambda outputs, real: _kept(outputs, real).sum(-1) / real.sum(-1, keepdim=True),
        ),
        "not added up": (
            "The padding is 0, and nothing is added up yet: there is still a row for each place.",
            lambda outputs, real: _kept(outputs, real),
        ),
        "divided twice": (
            "You take a mean, and divide once more by how many are real. Add up first, with sum(-2).",
            lambda outputs, real: _kept(outputs, real).mean(-2) / real.sum(-1, keepdim=True),
        ),
        "axes counted from the front": (
            "Right for a batch of texts; but for one alone, axis 1 is the features'. Count from the end: -2.",
            lambda outputs, real: _kept(outputs, real).sum(1) / real.unsqueeze(-1).sum(1),
        ),
        "the last word": (
            "You take the last real word of each text. Here all of them count.",
            lambda outputs, real: _kept(outputs, real & (real.flip(-1).cumsum(-1).flip(-1) == 1)).sum(-2),
        ),
        "no axis for the features": (
            "`outputs` has an axis more than `real`, at the end: `real.unsqueeze(-1)` gives it one, too.",
            lambda outputs, real: outputs * real,
        ),
        "a count without its axis": (
            "`real.sum(-1)` is (…), and is to divide (…, d): with keepdim=True it is (…, 1).",
            lambda outputs, real: _kept(outputs, real).sum(-2) / real.sum(-1),
        ),
        "root of the count": (
            "You divide by the root of how many are real. A mean divides by how many there are.",
            lambda outputs, real: _kept(outputs, real).sum(-2) / real.sum(-1, keepdim=True).sqrt(),
        ),
    },
)
