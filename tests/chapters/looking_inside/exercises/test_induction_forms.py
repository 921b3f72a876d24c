"""The exercise `induction_forms`, tried as readers would."""

import pytest
import torch
from exercise_cases import judged_as, words
from torch import nn

from attnlab.positions import LearnedPositions
from attnlab.transformer import LanguageModel
from chapters.looking_inside.circuits import INDUCTION, PREVIOUS, Circuit, Head
from chapters.looking_inside.exercises import (
    check_induction_forms,
)

# Each answer is a training.
pytestmark = pytest.mark.thorough

hand_made = check_induction_forms.reference


def test_what_is_handed_over_is_asked_for_in_words():
    two, one, gap = hand_made()
    for handed, said in {
        (two, one): "three things",
        (two, "one layer", gap): "A model is expected, and str came",
        (two, LanguageModel(9, 8, 1, 8, 1), gap): "below 12",
        (two, one, "large"): "The gap is one number",
        (two, nn.Sequential(nn.Embedding(12, 12)), gap): "A model has no attention of attnlab's",
        (Circuit({}, 3), one, gap): "Two layers of attention and one are expected, and 3 and 1 came",
        (two, one, gap + 5): f"Your gap is {gap + 5:.2f}, and here one layer loses {gap:.2f} more",
        (two, one, float("nan")): "Your gap is nan",
    }.items():
        assert said in words(check_induction_forms.judge(lambda handed=handed: handed))


def handed(two=None, one=None, gap=lambda gap: gap):
    """The hand-made models, or others in their place."""

    def models():
        its_two, its_one, its_gap = hand_made()
        return two or its_two, one or its_one, gap(its_gap)

    return models


def drawn_anew():
    """A model of two layers as PyTorch draws it."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LanguageModel(12, 32, 1, 32, 2, positions=LearnedPositions(32, 20)).eval()


class InDisguise(nn.Module):
    """Any module will do that holds attnlab's attention."""

    def __init__(self, model):
        super().__init__()
        self.inner = model
        self.train()

    def forward(self, words):
        return 1.1 * self.inner(words)


# What the hand-made model of two layers loses.
TWO_LAYERS_LOSE = 0.67


# Two heads that look, and each of them alone would do.
TWICE = Circuit({(0, 1): PREVIOUS, (1, 2): INDUCTION, (1, 0): INDUCTION}, 2, sure=2)


RIGHT = {
    check_induction_forms: {
        "rounded": handed(gap=lambda gap: round(gap, 1)),
        "a tensor": handed(gap=lambda gap: torch.tensor([gap])),
        "in another module": handed(one=InDisguise(hand_made()[1])),
        "two heads": handed(TWICE),
    }
}


NAMED = {
    check_induction_forms: {
        "models swapped": lambda: (*hand_made()[1::-1], hand_made()[2]),
        "no control": handed(one=TWICE),
        "one period": handed(Circuit({(0, 0): Head("place", "place", "next word", back=4)}, 2)),
        "untrained": handed(drawn_anew()),
        "control untrained": handed(one=Circuit({}, 1)),
        "gap turned": handed(gap=lambda gap: -gap),
        "loss of one layer": handed(gap=lambda gap: gap + TWO_LAYERS_LOSE),
        "ratio": handed(gap=lambda gap: TWO_LAYERS_LOSE / (gap + TWO_LAYERS_LOSE)),
    }
}


UNKNOWN = {
    check_induction_forms: {
        "a guessed gap": handed(gap=lambda gap: gap + 5),
        "no models": lambda: (1, 2, 3),
        "a model of something else": handed(one=nn.Linear(3, 3)),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
