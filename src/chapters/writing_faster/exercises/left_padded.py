"""Put rows of different lengths into one batch in which all end together."""

from functools import partial

import torch
from torch import Tensor

from attnlab import decoding
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts

Rows = list[list[int]]


def _laid(rows: Rows, filler: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[filler] * (longest - len(row)) + row for row in rows], device="cpu")


def _starts(rows: Rows) -> Tensor:
    """Where each text starts, (B, 1)."""
    longest = max(map(len, rows))
    return torch.tensor([[longest - len(row)] for row in rows], device="cpu")


def _is_text(ids: Tensor, rows: Rows, filler: int) -> Tensor:
    return torch.arange(ids.shape[1], device="cpu") >= _starts(rows)


def _past(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device="cpu").tril()


def _itself(text: Tensor) -> Tensor:
    """What the filler sees."""
    return torch.eye(text.shape[1], dtype=torch.bool, device="cpu") & ~text[:, None]


def _left_padded(
    rows: Rows,
    filler: int,
    *,
    laid: Part = _laid,
    is_text: Part = _is_text,
    past: Part = _past,
    hides: Part = lambda past, text: past & text[:, None],
    alone: Part = _itself,
    placed: Part = lambda text: (text.cumsum(1) - 1) * text,
) -> tuple[Tensor, Tensor, Tensor]:
    ids = laid(rows, filler)  # (B, T)
    text = is_text(ids, rows, filler)  # (B, T)
    visible: Tensor = hides(past(ids.shape[1]), text) | alone(text)  # (B, T, T)
    return ids, visible, placed(text)


def _laid_right(rows: Rows, filler: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [filler] * (longest - len(row)) for row in rows], device="cpu")


def _text_on_the_right(ids: Tensor, rows: Rows, filler: int) -> Tensor:
    """Where the text is if the filler stands behind it."""
    lengths = torch.tensor([[len(row)] for row in rows], device="cpu")
    return torch.arange(ids.shape[1], device="cpu") < lengths


def _cut(rows: Rows) -> Rows:
    shortest = min(map(len, rows))
    return [row[-shortest:] for row in rows]


def _one_mask(rows: Rows, filler: int) -> tuple[Tensor, Tensor, Tensor]:
    ids, visible, places = _left_padded(rows, filler)
    return ids, visible[:1].expand_as(visible), places


def _hidden(rows: Rows, filler: int) -> tuple[Tensor, Tensor, Tensor]:
    ids, visible, places = _left_padded(rows, filler)
    return ids, ~visible, places


def _from_the_start_of_the_batch(text: Tensor) -> Tensor:
    return torch.arange(text.shape[1], device="cpu").expand(text.shape)


MISTAKES: Mistakes = in_parts(
    _left_padded,
    laid={
        "only the ids on the right": (
            "The ids have their filler behind the text, and the mask has it in front. Put it in front of "
            "both, so that all rows end together.",
            _laid_right,
        ),
        "texts backwards": (
            "The texts stand backwards in `ids`. To turn a padded batch round means to turn each text "
            "round first.",
            lambda rows, filler: _laid([row[::-1] for row in rows], filler),
        ),
        "filler always 0": ("The filler is 0, whatever `filler` says.", lambda rows, filler: _laid(rows, 0)),
    },
    is_text={
        "the mask for the right": (
            "The mask and the places are those of rows with their filler *behind* the text, and yours is in "
            "front.",
            _text_on_the_right,
        )
    },
    past={
        "not causal": (
            "Each word sees those that come after it. Keep only what stands before it, and itself: `tril()`.",
            lambda length: torch.ones(length, length, dtype=torch.bool, device="cpu"),
        ),
        "itself hidden": (
            "No word of a text sees itself. The diagonal belongs to what it may see.",
            lambda length: _past(length).tril(-1),
        ),
        "the future instead of the past": (
            "Each word sees those *after* it. Row i is who asks, column j who is looked at: `tril()`, not "
            "`triu()`.",
            lambda length: _past(length).mT,
        ),
    },
    hides={
        "filler visible": (
            "The filler can be seen. Hide its columns from every word of the text: `text[:, None]`.",
            lambda past, text: past.expand(len(text), -1, -1),
        ),
        "hidden as who asks": (
            "You hide the *rows* of the filler, and its columns can be seen. Row i is who asks, column j "
            "who is looked at: `text[:, None]`, and not `text[:, :, None]`.",
            lambda past, text: past & text[:, :, None],
        ),
    },
    alone={
        "filler sees nothing": (
            "A row of the mask is empty: a filler sees nothing, and a softmax over nothing is NaN. Let it "
            "see itself.",
            lambda text: torch.zeros(1, 1, 1, dtype=torch.bool, device="cpu"),
        ),
        "filler sees filler": (
            "A filler sees those before it. That does no harm, but is not what is asked for: itself alone.",
            lambda text: _past(text.shape[1]) & ~text[:, :, None],
        ),
        "filler sees all": (
            "A filler sees the whole row. It is to see itself, and nothing else.",
            lambda text: (~text[:, :, None]).expand(-1, -1, text.shape[1]),
        ),
        "fillers see each other": (
            "A filler sees all fillers of its row. It is to see itself, and nothing else.",
            lambda text: ~text[:, None] & ~text[:, :, None],
        ),
    },
    placed={
        "places from the start of the batch": (
            "All rows count from the first column. A text counts from where it starts: its first id stands "
            "at 0.",
            _from_the_start_of_the_batch,
        ),
        "negative places": (
            "The filler has places below 0, which no model knows. Set them to 0: `clamp(min=0)`.",
            lambda text: _from_the_start_of_the_batch(text) - (~text).sum(1, keepdim=True),
        ),
        "the first filler at -1": (
            "The filler has the place -1, which no model knows. Set it to 0: `clamp(min=0)`.",
            lambda text: text.cumsum(1) - 1,
        ),
        "filler at place 1": (
            "The filler has the place 1, as it has in `transformers`. Here it is 0.",
            lambda text: (text.cumsum(1) - 1).masked_fill(~text, 1),
        ),
        "places from 1": (
            "The first id of a text stands at 1. It stands at 0: take 1 off, and never go below 0.",
            lambda text: text.cumsum(1),
        ),
    },
) | {
    name: (
        f"The filler stands behind the text{how}. Put it in front, to go on from the last column.",
        partial(_left_padded, laid=_laid_right, is_text=_text_on_the_right, placed=placed),
    )
    for name, how, placed in (
        ("padded on the right", "", lambda text: (text.cumsum(1) - 1) * text),
        ("padded on the right, places going on", ", and its places go on", _from_the_start_of_the_batch),
        (
            "padded on the right, the last place again",
            ", and has the place of the last id",
            lambda text: (text.cumsum(1) - 1).clamp(min=0),
        ),
    )
}
MISTAKES |= {
    name: (
        f"You look for the filler by its id{how}. The same id may stand in a text, as an end mark does: "
        "go by the lengths of the rows.",
        partial(_left_padded, is_text=lambda ids, rows, filler: ids != filler, placed=placed),
    )
    for name, how, placed in (
        ("filler found by its id", "", lambda text: (text.cumsum(1) - 1).clamp(min=0)),
        (
            "filler found by its id, and put at 0",
            ", and put it at 0",
            lambda text: (text.cumsum(1) - 1) * text,
        ),
    )
}
MISTAKES |= {
    "filler in front found by its id": (
        "You take all ids in front that are the filler for filler. A text may begin with the same id, as "
        "with an end mark: go by the lengths of the rows.",
        partial(_left_padded, is_text=lambda ids, rows, filler: (ids != filler).cumsum(1) > 0),
    ),
    "cut to the shortest": (
        "You cut all rows to the shortest. Nothing may be lost: fill them up to the longest.",
        lambda rows, filler: _left_padded(_cut(rows), filler),
    ),
    "one mask for all": (
        "All rows have the first one's mask. Each has fillers of its own: (B, T, T).",
        _one_mask,
    ),
    "True means hidden": (
        "Your mask is `True` where nothing may be seen. In this book, as in "
        "`F.scaled_dot_product_attention`, `True` means: may be seen.",
        _hidden,
    ),
}


check_left_padded = Exercise(
    "left_padded",
    difficulty=2,
    minutes=20,
    takes=("rows", "filler"),
    returns=("ids", "visible", "places"),
    reference=_left_padded,
    cases=(
        Case("right for one row", [[4, 7, 5]], 0),
        Case("right for rows of two lengths", [[3, 8, 6, 9], [5, 4]], 0),
        Case("right for rows of many lengths", [[2], [5, 1, 4], [7, 8, 6, 9, 3], [4, 6, 5]], 1),
        Case("right where the filler stands in a text", [[9, 4, 9], [9, 6, 5, 9, 7], [9]], 9),
        Case("right for rows of one length", [[5, 6], [7, 5]], 3),
    ),
    mistakes=MISTAKES,
    without=(decoding,),
    trainable=False,
)
