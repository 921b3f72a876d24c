"""Repair a count of neighbours that goes across the ends of sentences."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_answer

Sentences = Sequence[Sequence[int]]


def _to_the_left(place: int, window: int) -> range:
    return range(max(0, place - window), place)


def _to_the_right(place: int, window: int, length: int) -> range:
    return range(place + 1, min(length, place + window + 1))


def _neighbours(
    sentences: Sentences,
    vocabulary: int,
    window: int,
    *,
    apart: Part = list,
    left: Part = _to_the_left,
    right: Part = _to_the_right,
    add: Part = lambda so_far: so_far + 1,
) -> Tensor:
    counts = torch.zeros(vocabulary, vocabulary, device="cpu")
    for sentence in apart(sentences):
        for place, word in enumerate(sentence):
            for other in (*left(place, window), *right(place, window, len(sentence))):
                counts[word, sentence[other]] = add(counts[word, sentence[other]])
    return counts


def _as_singles(work: Callable[..., Any], *inputs: Any) -> Any:
    """Counts are counts, whether they come as whole numbers or in any precision."""
    counts = work(*inputs)
    is_number = isinstance(counts, Tensor) and not (counts.is_complex() or counts.dtype is torch.bool)
    return counts.float() if is_number else counts


_WINDOWS: Mistakes = {
    "still broken": (
        "The fault that it came with is still there: the last word of a sentence is counted as a neighbour "
        "of the first word of the next. Count within each sentence.",
        partial(_neighbours, apart=lambda sentences: [[word for each in sentences for word in each]]),
    ),
    "only the first sentence": (
        "Only the first sentence is counted.",
        partial(_neighbours, apart=lambda sentences: sentences[:1]),
    ),
    "only to the left": (
        "Only the neighbours to the left are counted.",
        partial(_neighbours, right=lambda place, window, length: ()),
    ),
    "only to the right": (
        "Only the neighbours to the right are counted.",
        partial(_neighbours, left=lambda place, window: ()),
    ),
    "a word beside itself": (
        "Every word is counted as its own neighbour. Leave out the place in the middle.",
        partial(_neighbours, left=lambda place, window: range(max(0, place - window), place + 1)),
    ),
    "one short on the right": (
        "On the right the window is one word short: Python's ranges end before their end.",
        partial(
            _neighbours,
            right=lambda place, window, length: range(place + 1, min(length, place + window)),
        ),
    ),
    "one short": (
        "The window is one word short on either side: Python's ranges end before their end.",
        lambda sentences, vocabulary, window: _neighbours(sentences, vocabulary, window - 1),
    ),
    "one too far": (
        "The window reaches one word too far on either side.",
        lambda sentences, vocabulary, window: _neighbours(sentences, vocabulary, window + 1),
    ),
    "only next door": (
        "Only the words next door are counted, whatever the window.",
        lambda sentences, vocabulary, window: _neighbours(sentences, vocabulary, 1),
    ),
    "yes or no": (
        "This says whether two words were neighbours, and not how often.",
        partial(_neighbours, add=lambda so_far: 1),
    ),
}


check_neighbour_counts = Exercise(
    "neighbour_counts",
    difficulty=2,
    minutes=10,
    takes=("sentences", "vocabulary", "window"),
    returns=("counts",),
    reference=_neighbours,
    ask=_as_singles,
    cases=(
        # In a single sentence there is no end to cross, and the broken code passes: the clue.
        Case("right for a single sentence", ((0, 1, 2, 0, 3),), 4, 2),
        Case("right for two sentences", ((0, 1, 2), (3, 1, 4)), 5, 2),
        Case("right for another window", ((0, 1, 2, 3, 4, 1, 5), (5, 0, 4, 2)), 6, 3),
        Case("right for a word that stands near itself", ((0, 1, 0, 2), (3, 3, 1)), 4, 2),
        Case("right for sentences shorter than the window", ((0, 1), (2, 0), (1, 2, 3)), 4, 4),
    ),
    mistakes=_WINDOWS
    | in_answer(
        _neighbours,
        {
            "both directions twice": (
                "Each pair is counted twice. The window sees it once from either word already.",
                lambda counts: counts + counts.mT,
            ),
            "nothing on the diagonal": (
                "A word that occurs twice in a window is its own neighbour, too. Leave out the place in the "
                "middle, not the word.",
                lambda counts: counts * (1 - torch.eye(len(counts), device="cpu")),
            ),
            "shares": (
                "The counts of each row are divided by their sum. Asked for are the counts.",
                lambda counts: counts / counts.sum(-1, keepdim=True).clamp(min=1),
            ),
        },
    ),
)
