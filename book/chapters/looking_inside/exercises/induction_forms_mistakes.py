"""The mistakes that `check_induction_forms` knows by name."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bookkit.checking.mistakes import Mistakes
from chapters.looking_inside.circuits import (
    WORDS,
    Circuit,
    Head,
)
from chapters.looking_inside.exercises.induction_forms_parts import _MEAN, _WHOLE, _made


def _sure_of_one_word() -> nn.Module:
    model = Circuit({}, 2)
    with torch.no_grad():
        model.word.bias[3] = 5.0
    return model


class _WithoutHeads(Circuit):
    """Predicts by a rule, and what its heads do is thrown away."""

    def __init__(self) -> None:
        super().__init__({}, 2)

    def forward(self, words: Tensor, caches: Any = None) -> Tensor:
        super().forward(words, caches)
        same = (words[:, :, None] == words[:, None, :]).float().tril(-1)  # (B, T, T)
        after = F.one_hot(words, WORDS).float().roll(-1, 1)  # (B, T, WORDS)
        return 6 * (same @ after) / same.sum(-1, keepdim=True).clamp(min=1)


_ONE_PERIOD = Head("place", "place", "next word", back=6)


_OWN_WORD = Head("place", "place", "next word")


MISTAKES: Mistakes = {
    "models swapped": (
        "The model of one layer comes first. Hand over the one of two layers, that of one, and the gap.",
        lambda: (lambda two, one, gap: (one, two, gap))(*_made()()),
    ),
    "no control": (
        "Both models have as many layers. To see what the second layer is for, train one without it.",
        _made(one=lambda: Circuit({(1, 0): _MEAN}, 2, sure=0.3)),
    ),
    "one period": (
        "It predicts sentences of one period, and hardly any other. With a period that never changes one "
        "need not look for a word: so many places back is enough. Draw each sentence's own.",
        _made(lambda: Circuit({(0, 1): _ONE_PERIOD}, 2)),
    ),
    "no word twice": (
        "Where each word comes once in a round it predicts well, and where one comes twice it is sure of "
        "the wrong thing. Were its rounds made of different words? Draw them freely.",
        _made(lambda: Circuit(_WHOLE, 2, sure=8.0)),
    ),
    "untrained": (
        "The model of two layers guesses: its loss on the repeated part is about that of twelve words "
        "that are equally likely. Train it.",
        _made(lambda: Circuit({}, 2)),
    ),
    "says its own word": (
        "Its likeliest next word is the one it stands on. Its targets were the words themselves: shift "
        "them by one.",
        _made(lambda: Circuit({(0, 1): _OWN_WORD}, 2)),
    ),
    "learned by heart": (
        "On new sentences it is surer than it may be, and wrong. Were its sentences the same at every "
        "step? Draw new ones.",
        _made(_sure_of_one_word),
    ),
    "not long enough": (
        "It knows which words a sentence has, and not when they come: one layer can do that. The head "
        "has not formed. More steps, a warm-up, or a larger learning rate.",
        _made(lambda: Circuit({(1, 0): _MEAN}, 2, sure=0.3)),
    ),
    "without a head": (
        "It predicts, and none of its heads that look at what came next is needed for that.",
        _made(_WithoutHeads),
    ),
    "control untrained": (
        "The model of one layer is no better than a guess. It must have had the same chance: train both "
        "alike.",
        _made(one=lambda: Circuit({}, 1)),
    ),
    "over all places": (
        "This is about the gap over all places. In a pattern that comes for the first time nothing can "
        "be foretold, by either: measure from the second time on.",
        _made(gap=lambda ours, other, losses: float(losses[1][0].mean() - losses[0][0].mean())),
    ),
    "gap turned": (
        "Your gap is negative. It is how much *more* one layer loses: its loss minus the other's.",
        _made(gap=lambda ours, other, losses: ours - other),
    ),
    "first time": (
        "Your gap is about 0, as it is over the places of the first time, where nothing can be foretold. "
        "Measure where the pattern is repeated.",
        _made(
            gap=lambda ours, other, losses: float(
                losses[1][0][~losses[0][1]].mean() - losses[0][0][~losses[0][1]].mean()
            )
        ),
    ),
    "ratio": (
        "This is about one loss divided by the other. The gap is their difference.",
        _made(gap=lambda ours, other, losses: other / ours),
    ),
    "loss alone": (
        "This is about the loss of two layers. The gap is how much more one layer loses.",
        _made(gap=lambda ours, other, losses: ours),
    ),
    "loss of one layer": (
        "This is about the loss of one layer. The gap is how much more it loses than two.",
        _made(gap=lambda ours, other, losses: other),
    ),
}
