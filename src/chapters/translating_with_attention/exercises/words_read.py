"""An experiment: find the words that a translator reads, whatever it looks at."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts

_ENGLISH = 6  # words


def _each_replaced(source: Tensor, place: int, words: int) -> list[Tensor]:
    """The source with another word in this place: every other word once."""
    changed = []
    for word in range(words):
        if word != source[place]:
            changed.append(source.clone())
            changed[-1][place] = word
    return changed


def _moved(
    model: Any,
    source: Tensor,
    words: int,
    *,
    replaced: Part = _each_replaced,
    changes: Part = lambda logits, whole: (logits - whole).abs().sum(-1),
    name: Part = lambda moved: torch.where(moved.amax(-1) > 1e-6, moved.argmax(-1), -1),
) -> Tensor:
    """For each written word the source word that moves it most, by replacing them one at a time."""
    before = model(source)[0]
    moved = torch.stack(
        [
            torch.stack([changes(model(other)[0], before) for other in replaced(source, place, words)]).sum(0)
            for place in range(len(source))
        ],
        dim=-1,
    )  # (T, S)
    return name(moved)  # type: ignore[no-any-return]


def _only(word: int) -> Callable[[Tensor, int, int], list[Tensor]]:
    def replaced(source: Tensor, place: int, words: int) -> list[Tensor]:
        changed = source.clone()
        changed[place] = word
        return [changed]

    return replaced


def _neighbours_swapped(source: Tensor, place: int, words: int) -> list[Tensor]:
    changed = source.clone()
    other = (place + 1) % len(source)
    changed[place], changed[other] = source[other], source[place]
    return [changed]


MISTAKES: Mistakes = (
    {
        "read off the weights": (
            "This is where the model looks. In some of these it reads another word. Replace the source's "
            "words one at a time, and see which written word changes.",
            lambda model, source, words: model(source)[1].argmax(-1),
        ),
        "nothing moves": (
            "You see nothing move. Compare the logits, model(source)[0]: they may change while the weights, "
            "or the likeliest words, stay the same.",
            lambda model, source, words: torch.full_like(_moved(model, source, words), -1),
        ),
        "words for places": (
            "These are the words of the source. Asked for are the places where they stand.",
            lambda model, source, words: (
                lambda places: torch.where(places < 0, -1, source[places.clamp(min=0)])
            )(_moved(model, source, words)),
        ),
    }
    | in_parts(
        _moved,
        replaced={
            "always by word 0": (
                "You replace each word by word 0. Where word 0 stands already nothing changes: take "
                "another word.",
                _only(0),
            ),
            "always by word 1": (
                "You replace each word by word 1. Where word 1 stands already nothing changes: take "
                "another word.",
                _only(1),
            ),
            "always by the last word": (
                "You replace each word by the last of the vocabulary. Where that stands already nothing "
                "changes: take another word.",
                _only(_ENGLISH - 1),
            ),
            "neighbours swapped": (
                "You swap two words, so that two places change at once. Replace one.",
                _neighbours_swapped,
            ),
        },
        name={
            "a source for every word": (
                "Right but for the words that depend on nothing: where no replacement moves them, say -1.",
                lambda moved: moved.argmax(-1),
            ),
            "the first that moves it": (
                "You take the first word that moves the logits at all. Several may, a little: take the one "
                "that moves them most.",
                lambda moved: torch.where(moved.amax(-1) > 1e-6, (moved > 1e-6).int().argmax(-1), -1),
            ),
            "the last that moves it": (
                "You take the last word that moves the logits at all. Several may, a little: take the one "
                "that moves them most.",
                lambda moved: torch.where(moved > 1e-6, torch.arange(moved.shape[-1], device="cpu"), -1).amax(
                    -1
                ),
            ),
            "least moved": (
                "These are the words that matter least. Asked for is the one that moves it.",
                lambda moved: torch.where(moved.amax(-1) > 1e-6, moved.argmin(-1), -1),
            ),
            "counted from 1": (
                "Places are counted from 0, and yours from 1.",
                lambda moved: torch.where(moved.amax(-1) > 1e-6, moved.argmax(-1) + 1, -1),
            ),
        },
    )
    | in_answer(
        _moved,
        {
            "depends or not": (
                "This says which words depend on the source. On which word of it?",
                lambda places: torch.where(places >= 0, 1, -1),
            ),
        },
    )
)


class _Reader(nn.Module):
    """A translator made by hand: word t is written by source word `reads[t]`, and it looks at `looks[t]`.

    With `noise` every word of the source moves each written word a little, as in a translator that learned.
    """

    def __init__(self, reads: tuple[int, ...], looks: tuple[int, ...], noise: float = 0.0) -> None:
        super().__init__()
        self.reads, self.looks = reads, looks
        self.murmur = noise * draw(67, (_ENGLISH, 5))[0]
        # What each word of English makes of each written word: two English words never make the same.
        (self.made,) = draw(61, (len(reads), _ENGLISH + 1, 5))
        self.made[..., 0] += 8  # the likeliest word stays the same, whatever moves

    def forward(self, source: Tensor) -> tuple[Tensor, Tensor]:
        if not all(0 <= word < _ENGLISH for word in source.tolist()):
            raise IndexError(f"a word is a whole number from 0 to {_ENGLISH - 1}, got {source.tolist()}")
        # A place of its own for words that depend on nothing.
        words = [_ENGLISH if place < 0 else int(source[place]) for place in self.reads]
        logits = torch.stack([made[word] for made, word in zip(self.made, words, strict=True)])
        logits = logits + self.murmur[source].sum(0)
        weights = torch.full((len(self.reads), len(source)), 0.1 / len(source), device="cpu")
        weights[range(len(self.reads)), list(self.looks)] += 0.9
        return logits, weights


def _reader(
    label: str, source: list[int], reads: tuple[int, ...], looks: tuple[int, ...], noise: float = 0.0
) -> Case:
    return Case(label, _Reader(reads, looks, noise), whole(*source), _ENGLISH)


def _numbers(work: Callable[..., Any], model: nn.Module, source: Tensor, words: int) -> Tensor:
    read = returned(work(model, source, words))
    try:
        numbers = torch.as_tensor(read, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        numbers = torch.zeros(0, device="cpu")
    count = len(model.reads)  # type: ignore[arg-type]
    if numbers.shape != (count,) or numbers.is_floating_point():
        raise WrongTypeError(f"Return a list of {count} whole numbers, one for each written word.")
    return numbers.long()


check_words_read = Exercise(
    "words_read",
    difficulty=4,
    minutes=45,
    takes=("model", "source", "words"),
    returns=("places",),
    reference=_moved,
    ask=_numbers,
    cases=(
        _reader("right where it reads what it looks at", [3, 1, 4], (0, 2, 1), (0, 2, 1)),
        _reader("right where its weights lie", [2, 5, 1, 3], (1, 1, 3, 2), (0, 1, 3, 3)),
        _reader("right where a word depends on nothing", [4, 0, 2, 5], (3, -1, 0, 1), (3, 2, 0, 2)),
        _reader(
            "right for a word that comes twice", [1, 2, 1, 0, 2], (2, 4, 0, -1, 1, 3), (0, 1, 2, 3, 4, 3)
        ),
        _reader("right where every word moves all a little", [2, 0, 4, 1], (1, 3, 0, 2), (0, 0, 2, 3), 0.02),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
