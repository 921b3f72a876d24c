"""An experiment: find the words that a translator reads, whatever it looks at."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from chapters.translating_with_attention.exercises.words_read_mistakes import MISTAKES
from chapters.translating_with_attention.exercises.words_read_parts import _ENGLISH, _moved


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
