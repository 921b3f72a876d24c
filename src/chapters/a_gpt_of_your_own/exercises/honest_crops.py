"""Cut crops to train on from a row in which nothing is held out, nor a copy of it."""

from collections.abc import Iterable
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts, swapped

Texts: TypeAlias = list[list[int]]


def _training(texts: Texts, held_out: int) -> Texts:
    unseen = texts[-held_out:]
    return [text for text in texts if text not in unseen]


def _ended(texts: Iterable[list[int]], end: int) -> list[int]:
    return [number for text in texts for number in (*text, end)]


def _row(texts: Texts, end: int, held_out: int, *, training: Part, ended: Part) -> list[int]:
    row: list[int] = ended(training(texts, held_out), end)
    return row


def _with_room(starts: list[int], size: int, length: int) -> list[int]:
    return [start for start in starts if start + length < size]


def _apart(row: list[int], start: int, length: int) -> tuple[list[int], list[int]]:
    return row[start : start + length], row[start + 1 : start + length + 1]


def _crops(
    texts: Texts,
    end: int,
    held_out: int,
    length: int,
    starts: list[int],
    *,
    row: Part = _row,
    training: Part = _training,
    ended: Part = _ended,
    behind: Part = lambda texts, end, held_out: [],
    room: Part = _with_room,
    crop: Part = _apart,
) -> tuple[Tensor, Tensor]:
    """`behind` is what a crop runs into that goes on behind the training row."""
    of_training = row(texts, end, held_out, training=training, ended=ended)
    whole = of_training + behind(texts, end, held_out)
    cut = [crop(whole, start, length) for start in room(starts, len(of_training), length)]
    inputs, targets = zip(*cut, strict=True) if cut else ((), ())
    return torch.tensor(inputs, device="cpu"), torch.tensor(targets, device="cpu")


def _shared_out(texts: Texts, end: int, held_out: int, **parts: Part) -> list[int]:
    """The row of all texts, cut where as large a share of its ids is over as there are texts to train on."""
    row = _ended(texts, end)
    return row[: len(row) * (len(texts) - held_out) // len(texts)]


def _once_each(texts: Texts, held_out: int) -> Texts:
    kept: Texts = []
    for text in _training(texts, held_out):
        kept += [text] if text not in kept else []
    return kept


def _for_inputs(starts: list[int], size: int, length: int) -> list[int]:
    """There is room for the inputs, and not always for the last target."""
    return [start for start in starts if start + length <= size]


def _short(row: list[int], start: int, length: int) -> tuple[list[int], list[int]]:
    return row[start : start + length - 1], row[start + 1 : start + length]


def _filled(row: list[int], start: int, length: int) -> tuple[list[int], list[int]]:
    """With the row's last id, which is the end, as often as is needed."""
    return _apart(row + row[-1:] * (start + length), start, length)


def _runs_off(cut: Part) -> Part:
    """All starts are taken, and `cut` makes the crops of a row in its own way."""

    def crops(texts: Texts, end: int, held_out: int, length: int, starts: list[int]) -> tuple[Tensor, Tensor]:
        row = _row(texts, end, held_out, training=_training, ended=_ended)
        rows = cut(torch.tensor(row, device="cpu"), starts, length)
        return rows[:, :-1], rows[:, 1:]

    return crops


MISTAKES: Mistakes = (
    in_parts(
        _crops,
        row={
            "ids held out": (
                "You leave out the row's last `held_out` ids. That many *texts* are held out: leave them out "
                "before the row is made.",
                lambda texts, end, held_out, **parts: _ended(texts, end)[:-held_out],
            ),
            "split in the middle of a text": (
                "You cut the row of all texts by a share of its ids, in the middle of a text: its first half "
                "is trained on, its second half is judged. Leave out whole texts, before the row is made.",
                _shared_out,
            ),
        },
        training={
            "copies kept": (
                "A copy of a held-out text is still trained on. Leave out every text that is equal to one "
                "that is held out, wherever it stands.",
                lambda texts, held_out: texts[:-held_out],
            ),
            "held out and trained on": (
                "The held-out texts stand in your row. Leave out the last `held_out` texts, and whatever is "
                "a copy of one of them.",
                lambda texts, held_out: texts,
            ),
            "held-out texts alone": (
                "Your row is made of the held-out texts. It is all others that are trained on.",
                lambda texts, held_out: texts[-held_out:],
            ),
            "the first held out": (
                "You hold out the first texts. It is the last `held_out` of them: texts[-held_out:].",
                lambda texts, held_out: [text for text in texts if text not in texts[:held_out]],
            ),
            "in any order": (
                "You leave out texts in which a held-out one's ids stand in another order, or number. They "
                "are no copies.",
                lambda texts, held_out: [one for one in texts if {*one} not in map(set, texts[-held_out:])],
            ),
            "those around a held-out one": (
                "You leave out texts in which a held-out one stands among others. They are no copies.",
                lambda texts, held_out: [
                    one for one in texts if not any(str(un)[1:-1] in str(one) for un in texts[-held_out:])
                ],
            ),
            "each text once": (
                "A text that comes twice among those to train on is there once. Only copies of what is held "
                "out are left out.",
                _once_each,
            ),
        },
        ended={
            "no ends": (
                "Your texts run into each other. Put `end` behind each of them.",
                lambda texts, end: [number for text in texts for number in text],
            ),
            "end in front": (
                "Your `end` stands in front of each text. It belongs behind it.",
                lambda texts, end: [number for text in texts for number in (end, *text)],
            ),
            "one end for all": (
                "You put one `end` behind the whole row. Put one behind each text.",
                lambda texts, end: [*(number for text in texts for number in text), end],
            ),
        },
        room={
            # A row without its last end, and a start too few, give the same crops.
            "last id never asked for": (
                "The row's last id, the `end` of its last text, is never a target. Is there an `end` behind "
                "that one, too, and not only between texts? And keep a start if start + length < len(row).",
                lambda starts, size, length: [start for start in starts if start + length + 1 < size],
            ),
            "moved back": (
                "You move a start that has no room to an earlier place. Leave it out.",
                lambda starts, size, length: [min(start, size - length - 1) for start in starts],
            ),
        },
        crop={
            "not shifted": (
                "Your targets are your inputs: an id that is seen need not be guessed. A target is the id "
                "that follows, row[start + 1 : start + 1 + length].",
                lambda row, start, length: (row[start : start + length], row[start : start + length]),
            ),
            "shifted twice": (
                "You shift twice: your targets are the ids after the next. Shift once, by one place.",
                lambda row, start, length: (
                    row[start : start + length - 1],
                    row[start + 2 : start + length + 1],
                ),
            ),
            "last target missing": (
                "Your inputs are one longer than your targets: the crop's last id is only a target. Inputs "
                "are the crop without its last id, targets the crop without its first.",
                lambda row, start, length: (
                    row[start : start + length + 1],
                    row[start + 1 : start + length + 1],
                ),
            ),
            "one too short": (
                "Your crops have `length` ids, and after the shift one fewer is left. Cut length + 1.",
                _short,
            ),
        },
    )
    | {
        "over the border": (
            "A crop begins in the training row and runs on into what is held out. A crop and its last target "
            "must both lie within the training row.",
            partial(
                _crops,
                behind=lambda texts, end, held_out: _ended(texts[-held_out:], end),
                room=lambda starts, size, length: [start for start in starts if start < size],
            ),
        ),
        "length ids in all": (
            "You cut `length` ids, the last target among them, wherever they fit. As many inputs take one id "
            "more: cut length + 1, and keep a start if start + length < len(row).",
            partial(_crops, room=_for_inputs, crop=_short),
        ),
        "filled up": (
            "Where a crop runs off the row's end you fill it up. Leave such a start out.",
            partial(_crops, room=lambda starts, size, length: starts, crop=_filled),
        ),
        "rows of two lengths": (
            "A crop runs off the row's end, and torch.tensor refuses rows of two lengths. Leave out a start "
            "whose crop, with its last target, has no room: keep start + length < len(row).",
            _runs_off(
                lambda row, starts, length: torch.tensor(
                    [row[start : start + length + 1].tolist() for start in starts]
                )
            ),
        ),
        "targets of two lengths": (
            "Of one crop the last target lies behind the row's end, and torch.tensor refuses rows of two "
            "lengths. Leave such a start out: keep start + length < len(row).",
            # No partial, like the other errors: none of them is half of two mistakes at once.
            lambda *inputs: _crops(*inputs, room=_for_inputs),
        ),
        "inputs of two lengths": (
            "A crop runs off the row's end with its inputs, and torch.tensor refuses rows of two lengths. "
            "Leave such a start out: keep start + length < len(row).",
            lambda *inputs: _crops(*inputs, room=lambda starts, size, length: starts),
        ),
        "stacked in two lengths": (
            "A crop runs off the row's end, and torch.stack refuses crops of two lengths. Leave out a start "
            "whose crop, with its last target, has no room: keep start + length < len(row).",
            _runs_off(
                lambda row, starts, length: torch.stack([row[start : start + length + 1] for start in starts])
            ),
        ),
        "index off the row": (
            "An index lies behind the row's end. Leave out a start whose crop, with its last target, has no "
            "room: keep start + length < len(row).",
            _runs_off(
                lambda row, starts, length: row[torch.tensor(starts)[:, None] + torch.arange(length + 1)]
            ),
        ),
    }
    | swapped(_crops, "inputs", "targets")
)


_APART = [[5, 6, 7], [8, 9], [10, 11, 12, 13], [14, 15, 16]]


check_honest_crops = Exercise(
    "honest_crops",
    difficulty=2,
    minutes=20,
    takes=("texts", "end", "held_out", "length", "starts"),
    returns=("inputs", "targets"),
    reference=_crops,
    cases=(
        # The row is 5 6 7 8 0, and hardly anything but the shift can go wrong.
        Case("right for one text to train on", [[5, 6, 7, 8], [9, 10, 11]], 0, 1, 2, [0, 1]),
        Case("right for several texts", _APART, 0, 1, 3, [3, 0, 6]),
        Case("right for several held out", _APART, 1, 2, 2, [0, 3]),
        # Copies of a held-out text, in front of it; [5, 6] is there twice, and nobody holds that out.
        Case(
            "right where texts are copied",
            [[7, 8, 9], [5, 6], [5, 6], [7, 8, 9], [10, 11, 12], [7, 8, 9]],
            0,
            1,
            3,
            [0, 2, 5],
        ),
        Case("right where texts are copied", [[6, 7], [4, 5, 3], [8, 9], [6, 7], [8, 9]], 2, 2, 2, [0, 1]),
        # Neither the same ids in another order, nor a text with a held-out one in it, is a copy of that.
        Case("right where texts are nearly copied", [[4, 5], [9, 5, 4, 6], [5, 4]], 0, 1, 2, [0, 4]),
        # The second start is the last with room; at the third the last target is missing. At 12 begins what
        # is held out, where somebody's row holds that, too.
        Case("right at the row's end", _APART, 0, 1, 3, [0, 8, 9, 12]),
        Case("right at the row's end", _APART, 0, 2, 3, [0, 3, 4, 6]),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
