"""The mistakes that `check_words_read` knows by name."""

from collections.abc import Callable

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes, in_answer, in_parts
from chapters.translating_with_attention.exercises.words_read_parts import _ENGLISH, _moved


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
