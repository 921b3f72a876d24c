"""The exercise `one_look`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as

from chapters.translating_with_attention.exercises import (
    check_one_look,
)

look = check_one_look.reference


def look_by_loop(scores, states, words):
    shifted = scores - scores[:words].max()
    powers = [shifted[place].exp() if place < words else shifted[place] * 0 for place in range(len(scores))]
    weights = torch.stack(powers) / sum(powers)
    return weights, (weights[:, None] * states).sum(0)


def by_plain_exponentials(scores, states, words):
    powers = scores.exp() * (torch.arange(len(scores)) < words)
    weights = powers / powers.sum()
    return weights, weights @ states


def look_at_a_part(scores, states, words):
    weights = torch.cat([scores[:words].softmax(0), scores[words:] * 0])
    return weights, weights[:words] @ states[:words]


def weighed_and_mixed(scores, states):
    return scores.softmax(0), scores.softmax(0) @ states


RIGHT = {check_one_look: {"loop": look_by_loop, "a part": look_at_a_part}}


NAMED = {
    check_one_look: {
        "overflow": by_plain_exponentials,
        "no mask": lambda scores, states, words: (scores.softmax(0), scores.softmax(0) @ states),
        "score 0": lambda scores, states, words: look(
            scores * (torch.arange(len(scores)) < words), states, len(scores)
        ),
        "one word too few": lambda scores, states, words: look_at_a_part(scores, states, words - 1),
        "strongest only": lambda scores, states, words: (
            look(scores, states, words)[0],
            states[scores[:words].argmax()],
        ),
        "mixed by other weights": lambda scores, states, words: (
            look_by_loop(scores, states, words)[0],
            look_by_loop(scores, states, len(scores))[1],
        ),
        "scaled": lambda scores, states, words: look_by_loop(scores / states.shape[1] ** 0.5, states, words),
        "last state": lambda scores, states, words: (look(scores, states, words)[0], states[len(states) - 1]),
        "results swapped": lambda *inputs: look_by_loop(*inputs)[::-1],
    }
}


UNKNOWN = {
    check_one_look: {
        "states reversed": lambda scores, states, words: look(scores, states.flip(0), words),
        "-10 for padding": lambda scores, states, words: weighed_and_mixed(
            scores.masked_fill(torch.arange(len(scores)) >= words, -10.0), states
        ),
        "doubled": changed(look, lambda results: (results[0], 2 * results[1])),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
