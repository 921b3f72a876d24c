"""The right way to keep padding out."""

import math

from torch import Tensor

from attnlab.shapes import Scores, Weights
from bookkit.checking.mistakes.weighing import softmax


def _hidden(scores: Scores, shown: Tensor) -> Weights:
    return softmax(scores.masked_fill(~shown, -math.inf))
