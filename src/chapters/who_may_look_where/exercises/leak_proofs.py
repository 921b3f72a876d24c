"""An experiment: convict every model that reads what comes later."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from attnlab.attention import masked_softmax
from attnlab.shapes import Mask, Scores, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.who_may_look_where.exercises.masks_in_parts import _ones

_WORDS, _PLACES, _WIDE = 6, 8, 16


def _prove(
    model: nn.Module,
    *,
    tries: int = 8,
    places: tuple[int, ...] = tuple(range(1, _PLACES)),
    start: Callable[[Tensor], Tensor] = lambda text: text,
    change: Callable[[Tensor, int], Tensor] = lambda text, place: torch.cat(
        [text[:, :place], (text[:, place:] + 1) % _WORDS], dim=-1
    ),
    differ: Callable[[Tensor, Tensor, int], object] = lambda one, other, place: (
        (one - other)[:, :place].abs().max() > 1e-6
    ),
) -> tuple[Tensor, Tensor, int] | None:
    """Tries every place in several drawn texts."""
    source = torch.Generator("cpu").manual_seed(0)
    for _ in range(tries):
        one = start(torch.randint(_WORDS, (1, _PLACES), generator=source, device="cpu"))
        for place in places:
            other = change(one, place)
            if differ(model(one), model(other), place):
                return one, other, place
    return None


MISTAKES: Mistakes = in_parts(
    _prove,
    differ={
        "the changed place compared": (
            "An honest model is convicted: you compare outputs where a word has changed, and those may "
            "change with it. Only the outputs before must not.",
            lambda one, other, place: (one - other)[:, : place + 1].abs().max() > 1e-6,
        ),
        "to the last bit": (
            "One honest model is convicted: its outputs differ in the 12th digit, as they do where "
            "sums are taken in another order. Allow for rounding, with torch.allclose.",
            lambda one, other, place: not torch.equal(one[:, :place], other[:, :place]),
        ),
        "small differences overlooked": (
            "The small leaks got away. A leak moves every score a little before it moves the best guess; "
            "what is larger than rounding, 1e-6 say, is a difference.",
            lambda one, other, place: (one.argmax(-1) != other.argmax(-1))[:, :place].any(),
        ),
    },
    change={
        "the past changed": (
            "Your two texts differ before the place that you name. What comes first must be the same in "
            "both, and what comes later must not.",
            lambda text, place: torch.cat([(text[:, :place] + 1) % _WORDS, text[:, place:]], dim=-1),
        ),
        "nothing changed": (
            "Nobody is convicted. Four of the six leak: are your two texts different at all?",
            lambda text, place: text,
        ),
    },
    start={
        "one text alone": (
            "A leak got away. You try one text alone, and one model leaks only where a certain word "
            "comes up. Draw many texts.",
            torch.zeros_like,
        ),
    },
) | {
    "one place alone": (
        "The model with a single hole got away. Change everything from a place on, compare everything "
        "before it, and do so for every place.",
        partial(_prove, places=(1,)),
    ),
}


_END = 5  # the word that some code takes for the end of a text


class Suspect(nn.Module):
    """`Suspect(1)(words)` reads words, (batch, 8), and guesses the next of each: (batch, 8, 6)."""

    def __init__(self, seed: int, mask: Mask | None = None) -> None:
        super().__init__()
        source = torch.Generator("cpu").manual_seed(seed)
        shapes = [(_WORDS + _PLACES, wide) for wide in (_WIDE, _WIDE, _WORDS, _WORDS)]
        weights = [
            torch.randn(shape, generator=source, dtype=torch.float64, device="cpu") for shape in shapes
        ]
        self.query, self.key, self.value, self.own = map(nn.Parameter, weights)
        self.mask = (_ones(_PLACES).tril() if mask is None else mask)[None]  # (1, 8, 8)

    def shown(self, words: Tensor) -> Mask:
        """`suspect.shown(words)` is the mask for this text."""
        return self.mask

    def weigh(self, scores: Scores, mask: Mask) -> Weights:
        """`suspect.weigh(scores, mask)` are the weights."""
        return masked_softmax(scores, mask)

    def forward(self, words: Tensor) -> Tensor:
        """`suspect(words)` has a row of six scores for each word."""
        place = torch.eye(_PLACES, dtype=torch.float64, device="cpu").expand(len(words), -1, -1)
        x = torch.cat([one_hot(words, _WORDS).double(), place], dim=-1)  # (batch, 8, 14)
        scores = (x @ self.query) @ (x @ self.key).mT / _WIDE
        return self.weigh(scores, self.shown(words)) @ (x @ self.value) + x @ self.own


class _MaskedLate(Suspect):
    def weigh(self, scores: Scores, mask: Mask) -> Weights:
        return scores.softmax(-1) * mask


class _EndSeenByAll(Suspect):
    def shown(self, words: Tensor) -> Mask:
        return self.mask | (words == _END)[:, None]


class _Rounding(Suspect):
    def forward(self, words: Tensor) -> Tensor:
        # As where sums are taken in another order when the text is another: in the 13th digit.
        return super().forward(words) + 1e-12 * words.double().mean(-1)[:, None, None]


def _one_hole() -> Mask:
    mask = _ones(_PLACES).tril()
    mask[5, 6] = True
    return mask


def suspects() -> list[nn.Module]:
    """`for model in suspects(): prove(model)` goes through six readers, some of which leak."""
    made = [
        Suspect(1),
        Suspect(2, _ones(_PLACES)),
        Suspect(3, _one_hole()),
        _MaskedLate(4),
        _EndSeenByAll(5),
        _Rounding(6),
    ]
    return [model.requires_grad_(False) for model in made]


_TEXT = (1, _PLACES), (_PLACES,)  # the shapes of a text in a proof
_ACQUITTED, _CONVICTED, _NO_COMMON_START, _NO_DIFFERENCE = range(4)


def _judged(prove: Callable[..., object], model: nn.Module) -> int:
    """What the proof shows, if it is one; tried on the model itself."""
    with torch.random.fork_rng(devices=[]):  # texts may be drawn in whatever way comes to mind
        proof = prove(model)
    if proof is None:
        return _ACQUITTED
    parts = list(proof) if isinstance(proof, tuple | list) else []
    texts, place = parts[:2], parts[-1] if len(parts) == 3 else None
    if isinstance(place, Tensor) and place.numel() == 1:
        place = place.item()
    right = all(
        isinstance(text, Tensor) and text.shape in _TEXT and text.dtype == torch.int64 for text in texts
    )
    if len(parts) != 3 or not right or isinstance(place, bool) or not isinstance(place, int):
        raise WrongTypeError("Return None, or a proof: two texts of shape (1, 8) or (8,), and a place.")
    one, other = (text.view(1, _PLACES) for text in texts)
    if not 0 < place < _PLACES or not all(((text >= 0) & (text < _WORDS)).all() for text in (one, other)):
        raise WrongTypeError("In a proof, words are numbers from 0 to 5, and the place is from 1 to 7.")
    if not torch.equal(one[:, :place], other[:, :place]):
        return _NO_COMMON_START
    before, after = model(one)[:, :place], model(other)[:, :place]
    return _CONVICTED if (before - after).abs().max() > 1e-6 else _NO_DIFFERENCE


_NAMES = (
    "acquits a model that does not leak",
    "convicts one without a mask",
    "convicts one with a single hole",
    "convicts one masked after the softmax",
    "convicts one that shows one word to all",
    "acquits one whose last digits move",
)


check_leak_proofs = Exercise(
    "leak_proofs",
    difficulty=4,
    minutes=40,
    takes=("model",),
    returns=("verdict",),
    reference=_prove,
    cases=[Case(name, model) for name, model in zip(_NAMES, suspects(), strict=True)],
    mistakes=MISTAKES,
    trainable=False,
    ask=_judged,
    meanings={
        "verdict": {
            _ACQUITTED: "no proof",
            _CONVICTED: "a proof",
            _NO_COMMON_START: "two texts that differ before the place",
            _NO_DIFFERENCE: "two texts with the same outputs before the place",
        }
    },
)
