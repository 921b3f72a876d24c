"""Repair a cache that forgets: how it numbers places, whether it keeps its sinks, and how much it holds."""

from collections.abc import Callable

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts

Held = tuple[Tensor, Tensor, Tensor]


def _first_and_last(count: int, sinks: int, room: int) -> list[int]:
    """Which of count columns stay: the sinks, and behind them the last."""
    columns = [*range(count)]
    return columns[:sinks] + columns[max(sinks, count - room + sinks) :]


def _rolled(
    keys: Tensor,
    values: Tensor,
    places: Tensor,
    key: Tensor,
    value: Tensor,
    time: int,
    sinks: int,
    room: int,
    *,
    number: Part = lambda time, held: time,
    stay: Part = _first_and_last,
) -> Held:
    place = places.new_tensor([number(time, len(places))])
    columns = stay(len(places) + 1, sinks, room)
    return (
        torch.cat([keys, key], 2)[:, :, columns],
        torch.cat([values, value], 2)[:, :, columns],
        torch.cat([places, place])[columns],
    )


def _last(more: int) -> Callable[[int, int, int], list[int]]:
    return lambda count, sinks, room: [*range(max(0, count - room - more), count)]


def _sinks_and(more: Callable[[int, int], int]) -> Callable[[int, int, int], list[int]]:
    """The sinks, and of the rest as many of the last as `more(sinks, room)` says."""

    def stay(count: int, sinks: int, room: int) -> list[int]:
        columns = [*range(count)]
        return columns[:sinks] + columns[max(sinks, count - more(sinks, room)) :]

    return stay


def _by_length(time: int, held: int) -> int:
    """The colleague's."""
    return held


MISTAKES: Mistakes = (
    {
        "still broken": (
            "All three faults are still there. Where does the new piece stand in the text? Which places may "
            "never go? And how many does the cache hold once it is full?",
            lambda *inputs: _rolled(*inputs, number=_by_length, stay=_last(1)),
        ),
    }
    | in_parts(
        _rolled,
        number={
            "numbered by what is left": (
                "The new piece is numbered by what the cache holds. Once that is full, all new pieces have "
                "one number. Number by `time`.",
                _by_length,
            ),
            "numbered from 1": (
                "The new piece is numbered one too high. `time` is its place.",
                lambda time, held: time + 1,
            ),
        },
        stay={
            "sinks dropped, and one too many": (
                "The sinks go as soon as they are old, and the cache holds one place more than `room`: it is "
                "cut before the new piece comes.",
                _last(1),
            ),
            "sinks dropped": (
                "The cache holds `room` places now, and the sinks go as soon as they are old. The first "
                "`sinks` stay, whatever comes.",
                _last(0),
            ),
            "one too many": (
                "The sinks stay now, and the cache holds one place more than `room`. Add the new piece, then "
                "cut.",
                _sinks_and(lambda sinks, room: room - sinks + 1),
            ),
            "room beside the sinks": (
                "The cache holds `room` places beside its sinks. They count, too: `room - sinks` of the "
                "last.",
                _sinks_and(lambda sinks, room: room),
            ),
            "one too few": (
                "The cache holds one place less than `room`.",
                _sinks_and(lambda sinks, room: room - sinks - 1),
            ),
            "sinks twice": (
                "Until the cache is full, some places come twice: as sinks, and among the last. Cut only "
                "what is too much.",
                lambda count, sinks, room: (
                    [*range(min(sinks, count)), *range(max(0, count - room + sinks), count)]
                ),
            ),
            "one goes for each that comes": (
                "One place goes for each that comes, and a prompt that was longer than `room` stays too "
                "long. Cut down to `room`.",
                lambda count, sinks, room: [i for i in range(count) if count <= room or i != sinks],
            ),
            "the new one is lost": (
                "A full cache stays as it is, and new pieces are not taken in. It is the oldest behind the "
                "sinks that goes.",
                lambda count, sinks, room: [*range(min(count, room))],
            ),
            "sinks at the end": (
                "All that should stay does, and the sinks stand behind the last places. Keep them in front.",
                lambda count, sinks, room: (
                    _first_and_last(count, sinks, room)[sinks:] + _first_and_last(count, sinks, room)[:sinks]
                ),
            ),
        },
    )
    | in_answer(
        _rolled,
        {
            "all numbered anew": (
                "All places are numbered anew, by where they stand in the cache. Here each keeps the number "
                "that it had in the text.",
                lambda right: (*right[:2], torch.arange(len(right[2]), device=right[2].device)),
            ),
            "values before keys": (
                "All three are right, in the wrong order: keys, values, places.",
                lambda right: (right[1], right[0], right[2]),
            ),
        },
    )
)


def _case(label: str, seed: int, held: list[int], time: int, sinks: int, room: int) -> Case:
    shapes = [(1, 2, length, 2) for length in (len(held), len(held), 1, 1)]
    keys, values, key, value = draw(seed, *shapes)
    return Case(label, keys, values, torch.tensor(held), key, value, time, sinks, room)


check_repaired_rolling = Exercise(
    "repaired_rolling",
    difficulty=2,
    minutes=20,
    takes=("keys", "values", "places", "key", "value", "time", "sinks", "room"),
    returns=("keys", "values", "places"),
    reference=_rolled,
    cases=(
        # The broken code passes the first of these.
        _case("right while there is room", 51, [0, 1], 2, 1, 5),
        _case("right when the cache has just become full", 55, [0, 1, 2], 3, 1, 3),
        _case("right long after that", 59, [0, 1, 7, 8, 9], 10, 2, 5),
        _case("right where a long prompt is cut down", 63, [*range(8)], 8, 2, 5),
        _case("right without sinks", 67, [5, 6, 7], 8, 0, 3),
    ),
    mistakes=MISTAKES,
    trainable=False,  # gradients would bring a remark on loops where only a full cache takes more steps
)
