"""The exercise `words_heard`, tried as readers would."""

from exercise_cases import judged_as

from chapters.three_ways_to_read_a_sequence.exercises import (
    check_words_heard,
)


def by_windows(kernel, dilations):
    heard = {0}
    for dilation in reversed(dilations):
        heard = {back + place * dilation for back in heard for place in range(kernel)}
    return max(heard) + 1


RIGHT = {
    check_words_heard: {
        "by windows": by_windows,
        "a loop": lambda kernel, dilations: 1 + sum((kernel - 1) * each for each in dilations),
    }
}


NAMED = {
    check_words_heard: {
        "own word forgotten": lambda kernel, dilations: by_windows(kernel, dilations) - 1,
        "kernel for gaps": lambda kernel, dilations: 1 + sum(kernel * each for each in dilations),
        "dilations forgotten": lambda kernel, dilations: len(dilations) * (kernel - 1) + 1,
        "top layer alone": lambda kernel, dilations: (kernel - 1) * max(dilations) + 1,
        "kernel to the layers": lambda kernel, dilations: kernel ** len(list(dilations)),
        "window added": lambda kernel, dilations: kernel + sum((kernel - 1) * each for each in dilations),
        "both sides": lambda kernel, dilations: 2 * by_windows(kernel, dilations) - 1,
        "every tap": lambda kernel, dilations: sum(kernel for _ in dilations),
    }
}


UNKNOWN = {
    check_words_heard: {
        "doubled": lambda kernel, dilations: 2 * by_windows(kernel, dilations),
        "negative": lambda kernel, dilations: -1,
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
