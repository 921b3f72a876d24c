"""The exercise `beam_search`, tried as readers would."""

import math
from functools import partial

import torch
from exercise_cases import judged_as

from chapters.translating_with_attention.exercises import (
    check_beam_search,
)

search = check_beam_search.reference


def likeliest_and_the_rest(rows, ended, width, end):
    kept = sorted(rows, key=lambda one: one[1], reverse=True)[:width]
    return [one for one in kept if one[0][-1] != end], ended + [one for one in kept if one[0][-1] == end]


def refilled(rows, ended, width, end):
    """As many go on as the beam is wide. What comes in is less likely than what ended: nothing changes."""
    going_on = [one for one in rows if one[0][-1] != end]
    return (
        likeliest_and_the_rest(going_on, [], width, end)[0],
        likeliest_and_the_rest(rows, ended, width, end)[1],
    )


def beam_of_tuples(
    table,
    start,
    end,
    width,
    choose=likeliest_and_the_rest,
    stop=lambda rows, ended: False,
    longest=20,
    among=lambda rows, ended: ended or rows,
):
    rows, ended = [((start,), 0.0)], []
    for _ in range(longest):
        longer = [
            ((*row, word), total + float(table[row[-1], word]))
            for row, total in rows
            for word in range(len(table))
            if table[row[-1], word] > -math.inf
        ]
        rows, ended = choose(longer, ended, width, end)
        if not rows or stop(rows, ended):
            break
    row, total = max(among(rows, ended), key=lambda one: one[1])
    return list(row[1:]), total


RIGHT = {
    check_beam_search: {
        "tuples": beam_of_tuples,
        "filled up": partial(beam_of_tuples, choose=refilled),
        "stops when nothing likelier can come": partial(
            beam_of_tuples,
            stop=lambda rows, ended: (
                ended and max(total for _, total in ended) > max(total for _, total in rows)
            ),
        ),
        "a tensor": lambda *inputs: (torch.tensor(beam_of_tuples(*inputs)[0]), beam_of_tuples(*inputs)[1]),
    }
}


NAMED = {
    check_beam_search: {
        "greedy": lambda table, start, end, width: beam_of_tuples(table, start, end, 1),
        "ended rows take no place": partial(
            beam_of_tuples,
            choose=lambda rows, ended, width, end: (
                refilled(rows, ended, width, end)[0],
                ended + [one for one in rows if one[0][-1] == end],
            ),
        ),
        "ended rows stay in the beam": partial(
            beam_of_tuples,
            choose=lambda rows, ended, width, end: likeliest_and_the_rest(rows + ended, [], width, end),
        ),
        "places lost": partial(
            beam_of_tuples,
            choose=lambda rows, ended, width, end: likeliest_and_the_rest(
                rows, ended, width - len(ended), end
            ),
        ),
        "stops when enough have ended": lambda table, start, end, width: beam_of_tuples(
            table, start, end, width, stop=lambda rows, ended: len(ended) >= width
        ),
        "one word too few": partial(beam_of_tuples, longest=19),
        "cut rows beside ended ones": partial(beam_of_tuples, among=lambda rows, ended: rows + ended),
        "probability": lambda *inputs: (search(*inputs)[0], search(*inputs)[1].exp()),
        "start kept": lambda *inputs: ([inputs[1], *beam_of_tuples(*inputs)[0]], beam_of_tuples(*inputs)[1]),
        "end left out": lambda *inputs: (
            [word for word in beam_of_tuples(*inputs)[0] if word != inputs[2]],
            beam_of_tuples(*inputs)[1],
        ),
        "end taken for 1": lambda table, start, end, width: search(table, start, 1, width),
        "one wider": lambda table, start, end, width: search(table, start, end, width + 1),
        "from the end to the start": lambda *inputs: (search(*inputs)[0].flip(0), search(*inputs)[1]),
        "one word too many": partial(beam_of_tuples, longest=21),
        "stops at the first end": partial(beam_of_tuples, among=lambda rows, ended: ended[:1] or rows),
        "mean per word": lambda *inputs: (
            beam_of_tuples(*inputs)[0],
            beam_of_tuples(*inputs)[1] / len(beam_of_tuples(*inputs)[0]),
        ),
        "total turned": lambda *inputs: (search(*inputs)[0], -search(*inputs)[1]),
    }
}


UNKNOWN = {
    check_beam_search: {
        "words alone": lambda *inputs: search(*inputs)[0],
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
