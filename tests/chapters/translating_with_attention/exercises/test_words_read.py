"""The exercise `words_read`, tried as readers would."""

import torch
from exercise_cases import judged_as

from chapters.translating_with_attention.exercises import (
    check_words_read,
)


def one_other_word(model, source, words):
    """Each word replaced by its successor; which of them moves a row most."""
    return replaced_by(model, source, lambda word: (word + 1) % words)


def replaced_by(model, source, other_word, enough=None):
    logits, moved = model(source)[0], []
    for place in range(len(source)):
        other = source.clone()
        other[place] = other_word(int(other[place]))
        moved.append((model(other)[0] - logits).abs().sum(-1))
    if enough is not None:  # the last of those that move it so much
        rows = torch.stack(moved, dim=-1).tolist()
        return [max((place for place, by in enumerate(row) if by > enough), default=-1) for row in rows]
    most, places = torch.stack(moved).max(0)
    return torch.where(most > 1e-6, places, -1).tolist()


RIGHT = {check_words_read: {"one other word": one_other_word}}


NAMED = {
    check_words_read: {
        "read off the weights": lambda model, source, words: model(source)[1].argmax(-1).tolist(),
        "nothing moves": lambda model, source, words: [-1] * len(one_other_word(model, source, words)),
        "words for places": lambda model, source, words: [
            int(source[place]) if place >= 0 else -1 for place in one_other_word(model, source, words)
        ],
        "always by word 1": lambda model, source, words: replaced_by(model, source, lambda word: 1),
        "the last that moves it": lambda model, source, words: replaced_by(
            model, source, lambda word: (word + 1) % words, enough=0
        ),
        "counted from 1": lambda *inputs: [
            place + 1 if place >= 0 else -1 for place in one_other_word(*inputs)
        ],
        "depends or not": lambda *inputs: [min(1, place + 1) or -1 for place in one_other_word(*inputs)],
    }
}


UNKNOWN = {
    check_words_read: {
        "a word that there is not": lambda model, source, words: replaced_by(
            model, source, lambda word: word + 1
        ),
        "a word before the first": lambda model, source, words: replaced_by(model, source, lambda word: -1),
        "always the first": lambda model, source, words: [0] * len(model.reads),
        "a number": lambda model, source, words: 1,
        "too few": lambda model, source, words: [0],
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
