"""An experiment: train two models, in one of which an induction head forms."""

import contextlib
import copy
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.attention import MultiHeadAttention
from attnlab.runtime import generator
from attnlab.shapes import Lengths
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part
from bookkit.checking.wording import joined
from chapters.looking_inside.circuits import (
    INDUCTION,
    LENGTH,
    PREVIOUS,
    WORDS,
    Circuit,
    Head,
)
from chapters.looking_inside.exercises.looks import (
    _attentions,
    _columns,
    _looks,
    _losses,
    _own,
    _repeated,
    _repeated_loss,
)

_SHORTEST, _LONGEST, _GUESS = 4, 10, math.log(WORDS)


# Of a gap: a reader draws other sentences. On 64 of them it varies by about 0.05.
_LEEWAY = 0.2


@cache
def _fresh_sentences() -> tuple[Tensor, Tensor]:
    source = generator(71)
    periods = torch.randint(_SHORTEST, _LONGEST + 1, (105,), generator=source, device="cpu")
    words = torch.randint(WORDS, (105, _LONGEST), generator=source, device="cpu")
    return _repeated(periods, words), periods


def _handed(work: Callable[..., Any]) -> Any:
    """The two models as copies in use, and the gap."""
    made = returned(work())
    if not isinstance(made, (tuple, list)) or len(made) != 3:
        raise WrongTypeError("Hand over three things: the model of two layers, that of one, and the gap.")
    *models, gap = made
    words = _fresh_sentences()[0][:, :-1]
    copies = []
    for model in models:
        if not isinstance(model, nn.Module):
            raise WrongTypeError(f"A model is expected, and {type(model).__name__} came.")
        copies.append(copy.deepcopy(model).cpu().eval())
        logits = None
        with contextlib.suppress(TypeError, ValueError, IndexError, RuntimeError), torch.no_grad():
            logits = copies[-1](words)
        if not isinstance(logits, Tensor) or logits.shape != (*words.shape, WORDS):
            raise WrongTypeError(
                f"Each model must take words (B, {LENGTH - 1}) below {WORDS} and return logits "
                f"(B, {LENGTH - 1}, {WORDS})."
            )
    try:
        return *copies, float(gap)
    except (TypeError, ValueError, RuntimeError) as error:
        raise WrongTypeError("The gap is one number.") from error


def _layers(two: nn.Module, one: nn.Module) -> int:
    """1 where the models have two layers and one; 2 turned round, 3 where both have as many."""
    counts = len(_attentions(two)), len(_attentions(one))
    if 0 in counts:
        raise WrongTypeError(
            "A model has no attention of attnlab's, whose heads could be watched. Take LanguageModel."
        )
    if counts[0] == counts[1]:
        return 3
    if sorted(counts) != [1, 2]:
        raise WrongTypeError(
            f"Two layers of attention and one are expected, and {joined(map(str, counts))} came."
        )
    return counts.index(2) + 1


def _predicts(two: nn.Module) -> int:
    """1 where what is repeated is predicted; else what is the matter."""
    words, periods = _fresh_sentences()
    with torch.no_grad():
        logits = two(words[:, :-1])
    losses, seen = _losses(logits, words, periods)
    loss = losses[seen].mean()
    clear = _once_in_its_round(words, periods)[:, :-1]
    if losses[seen & clear].mean() < 0.3 and losses[seen & ~clear].mean() > 2:
        return 2  # sure of one word where two have come next
    if loss < 0.9:
        return 1
    of_period = [(periods == period)[:, None] & seen for period in range(_SHORTEST, _LONGEST + 1)]
    if min(losses[own].mean() for own in of_period) < 0.9:
        return 3  # one period is known
    if -0.1 < loss - _GUESS < 0.3:
        return 4  # guesses; of drawn weights no two words are quite alike
    if loss < _GUESS:
        return 5  # knows which words come, and not when
    own_word = (logits.argmax(-1) == words[:, :-1])[seen].double().mean()
    return 6 if own_word > 0.5 else 7  # says its own word again, or is sure of something else


def _once_in_its_round(words: Tensor, periods: Lengths) -> Tensor:
    """Where the place's word comes once in a round, so that only one word has come next."""
    in_round = (torch.arange(LENGTH, device="cpu") < periods[:, None])[:, None]  # (B, 1, LENGTH)
    return ((words[:, :, None] == words[:, None]) & in_round).sum(-1) == 1


def _by_heads(two: nn.Module) -> int:
    """1 where, without the heads that look at what came next, the prediction is lost."""
    words, periods = _fresh_sentences()
    looks = _looks(two, words[:, :-1], periods)
    before = _repeated_loss(two, words, periods)
    attentions = _attentions(two)
    # All that look there: two heads may do the same work.
    for layer, head in (looks > 0.3).nonzero().tolist():
        _silenced_for_good(attentions[layer], head)
    return int(_repeated_loss(two, words, periods) - before > 0.5)


def _silenced_for_good(attention: MultiHeadAttention, head: int) -> None:
    with torch.no_grad():
        _columns(attention, _own(attention, head))


def _control(one: nn.Module) -> int:
    """1 where one layer has learned something: which words a sentence has."""
    return int(_repeated_loss(one, *_fresh_sentences()) < _GUESS - 0.25)


def _gap(two: nn.Module, one: nn.Module, gap: float) -> int:
    """1 where the gap is what was measured; else how it came about."""
    words, periods = _fresh_sentences()
    with torch.no_grad():
        (mine, seen), (theirs, _) = (_losses(model(words[:, :-1]), words, periods) for model in (two, one))
    ours, other = mine[seen].mean().item(), theirs[seen].mean().item()
    right = other - ours
    if abs(gap - right) < _LEEWAY:
        return 1
    ways = {
        (theirs.mean() - mine.mean()).item(): 2,
        ours - other: 3,
        (theirs[~seen].mean() - mine[~seen].mean()).item(): 4,
        other / ours: 5,
        ours / other: 5,
        ours: 6,
        other: 7,
    }
    nearest = min(ways, key=lambda way: abs(gap - way))
    if not abs(gap - nearest) < _LEEWAY:
        raise WrongTypeError(
            f"Your gap is {gap:.2f}, and here one layer loses {right:.2f} more. Measure it on many new "
            "sentences, where the pattern is repeated."
        )
    return ways[nearest]


def _formed(work: Callable[..., Any], question: str) -> Any:
    two, one, gap = _handed(work)
    layers = _layers(two, one)
    if question == "layers":
        return layers
    # What fails one question is not asked the next: the first fault is the one to mend.
    predicts = _predicts(two) if layers == 1 else 0
    if question == "predicts":
        return predicts
    by_heads = _by_heads(copy.deepcopy(two)) if predicts == 1 else 0
    if question == "heads":
        return by_heads
    control = _control(one) if by_heads else 0
    if question == "control":
        return control
    return _gap(two, one, gap) if control else 0


_WHOLE = {(0, 1): PREVIOUS, (1, 2): INDUCTION}


_MEAN = Head("word", "word", "next word", sharp=0)  # which words it has seen


def _made(
    two: Part = lambda: Circuit(_WHOLE, 2),
    one: Part = lambda: Circuit({(0, 0): _MEAN}, 1, sure=0.3),
    *,
    gap: Part = lambda ours, other, places: other - ours,
) -> Callable[[], Any]:
    """What might be handed over, by models made by hand."""

    @cache
    def models() -> tuple[nn.Module, nn.Module, float]:
        words, periods = _fresh_sentences()
        both = two(), one()
        with torch.no_grad():
            losses = [_losses(model(words[:, :-1]), words, periods) for model in both]
        ours, other = (each[seen].mean().item() for each, seen in losses)
        return *both, gap(ours, other, losses)

    return models


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
        "be predicted, by either: measure from the second time on.",
        _made(gap=lambda ours, other, losses: float(losses[1][0].mean() - losses[0][0].mean())),
    ),
    "gap turned": (
        "Your gap is negative. It is how much *more* one layer loses: its loss minus the other's.",
        _made(gap=lambda ours, other, losses: ours - other),
    ),
    "first time": (
        "Your gap is about 0, as it is over the places of the first time, where nothing can be predicted. "
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


check_induction_forms = Exercise(
    "induction_forms",
    difficulty=4,
    minutes=45,
    takes=("question",),
    returns=("answer",),
    reference=_made(),
    ask=_formed,
    cases=(
        Case("two layers, and one to compare with", "layers"),
        Case("what is repeated is predicted, whatever the period", "predicts"),
        Case("by heads that look at what came next", "heads"),
        Case("one layer has learned what it can", "control"),
        Case("the gap is what you say", "gap"),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
