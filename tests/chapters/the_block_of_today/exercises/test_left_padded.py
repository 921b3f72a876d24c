"""The exercise `left_padded`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as, named, words
from torch.nn import functional as F

from attnlab import decoding
from chapters.the_block_of_today.exercises.left_padded import check_left_padded


def place_by_place(rows, filler):
    longest = max(len(row) for row in rows)
    ids = torch.full((len(rows), longest), filler)
    visible = torch.zeros(len(rows), longest, longest, dtype=torch.bool)
    places = torch.zeros_like(ids)
    for b, row in enumerate(rows):
        start = longest - len(row)
        for i in range(longest):
            if i < start:
                visible[b, i, i] = True
                continue
            ids[b, i] = row[i - start]
            places[b, i] = i - start
            visible[b, i, start : i + 1] = True
    return ids, visible, places


def by_padding(rows, filler):
    longest = max(map(len, rows))
    ids = torch.stack([F.pad(torch.tensor(row), (longest - len(row), 0), value=filler) for row in rows])
    text = torch.stack([F.pad(torch.ones(len(row)), (longest - len(row), 0)) for row in rows]).bool()
    square = torch.ones(longest, longest).bool()
    visible = (text[:, None, :] & square.tril()) | (torch.eye(longest).bool() & ~text[:, :, None])
    return ids, visible, (text.long().cumsum(-1) - 1).clamp_min(0)


def by_turning_round(rows, filler):
    turned = [torch.tensor(row[::-1]) for row in rows]
    ids = torch.nn.utils.rnn.pad_sequence(turned, batch_first=True, padding_value=filler).flip(1)
    lengths = torch.tensor([len(row) for row in rows])
    places = torch.arange(ids.shape[1]) - (ids.shape[1] - lengths[:, None])
    i, j = places[:, :, None], places[:, None, :]
    visible = torch.where(i < 0, i == j, (j >= 0) & (j <= i))
    return ids, visible, places.relu()


def padded(
    lay=lambda row, many, filler: [filler] * many + row,
    text_of=lambda row, many: [False] * many + [True] * len(row),
    look=lambda text: text[:, None] & torch.ones(text.shape[1], text.shape[1]).tril().bool(),
    alone=lambda text: torch.diag_embed(~text),
    place=lambda text: torch.where(text, text.cumsum(1) - 1, 0),
):
    """A reader's function, in which one step may be another."""

    def code(rows, filler):
        longest = max(map(len, rows))
        ids = torch.tensor([lay(row, longest - len(row), filler) for row in rows])
        text = torch.tensor([text_of(row, longest - len(row)) for row in rows])
        return ids, look(text) | alone(text), place(text)

    return code


def tail(row, many):
    return [True] * len(row) + [False] * many


def by_its_id(rows, filler):
    ids = place_by_place(rows, filler)[0]
    text = ids != filler
    visible = text[:, None] & torch.ones(ids.shape[1], ids.shape[1]).tril().bool()
    return ids, visible | torch.diag_embed(~text), (text.cumsum(1) - 1).clamp(min=0)


def counted(text):
    return torch.arange(text.shape[1]).expand(text.shape)


RIGHT = {check_left_padded: named(place_by_place, by_padding, by_turning_round) | {"in steps": padded()}}
NAMED = {
    check_left_padded: {
        "padded on the right": padded(lambda row, many, filler: row + [filler] * many, tail),
        "padded on the right, places going on": padded(
            lambda row, many, filler: row + [filler] * many, tail, place=counted
        ),
        "only the ids on the right": padded(lambda row, many, filler: row + [filler] * many),
        "the mask for the right": padded(text_of=tail),
        "texts backwards": padded(lambda row, many, filler: [filler] * many + row[::-1]),
        "filler always 0": padded(lambda row, many, filler: [0] * many + row),
        "filler found by its id": by_its_id,
        "not causal": padded(look=lambda text: text[:, None].expand(-1, text.shape[1], -1)),
        "itself hidden": padded(
            look=lambda text: text[:, None] & torch.ones(text.shape[1], text.shape[1]).tril(-1).bool()
        ),
        "the future instead of the past": padded(
            look=lambda text: text[:, None] & torch.ones(text.shape[1], text.shape[1]).triu().bool()
        ),
        "filler visible": padded(
            look=lambda text: torch.ones(len(text), text.shape[1], text.shape[1]).tril().bool()
        ),
        "hidden as who asks": padded(
            look=lambda text: text[..., None] & torch.ones(text.shape[1], text.shape[1]).tril().bool()
        ),
        "filler sees nothing": padded(alone=lambda text: torch.zeros_like(text)[:, None]),
        "filler sees filler": padded(
            alone=lambda text: (
                ~text[:, None] & ~text[:, :, None] & torch.ones(text.shape[1], text.shape[1]).tril().bool()
            )
        ),
        "filler sees all": padded(alone=lambda text: ~text[:, :, None]),
        "places from the start of the batch": padded(place=counted),
        "negative places": padded(place=lambda text: counted(text) - (~text).sum(1)[:, None]),
        "the first filler at -1": padded(place=lambda text: text.cumsum(1) - 1),
        "places from 1": padded(place=lambda text: torch.where(text, text.cumsum(1), 0)),
        "places from the end": padded(place=lambda text: (text.shape[1] - 1 - counted(text)) * text),
        "cut to the shortest": lambda rows, filler: by_padding(
            [row[-min(map(len, rows)) :] for row in rows], filler
        ),
        "True means hidden": lambda rows, filler: (
            by_padding(rows, filler)[0],
            ~by_padding(rows, filler)[1],
            by_padding(rows, filler)[2],
        ),
        "filler visible & places from the start of the batch": padded(
            look=lambda text: torch.ones(len(text), text.shape[1], text.shape[1]).tril().bool(), place=counted
        ),
    }
}
UNKNOWN = {
    check_left_padded: {
        "ids alone": changed(by_padding, lambda answer: answer[0]),
        "an axis for heads": changed(by_padding, lambda answer: (answer[0], answer[1][:, None], answer[2])),
        "nothing visible": changed(by_padding, lambda answer: (answer[0], answer[1] & False, answer[2])),
        "one more column": lambda rows, filler: by_padding([*rows, [filler] * 9], filler),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_a_mask_to_be_added_is_told_what_to_write():
    def as_floats(rows, filler):
        ids, visible, places = by_padding(rows, filler)
        return ids, torch.zeros(visible.shape).masked_fill(~visible, -torch.inf), places

    report = check_left_padded.judge(as_floats)
    assert not report.passed
    assert "It returns float32 numbers where bool ones are expected" in words(report)


def test_whoever_calls_what_is_there_already_is_told():
    report = check_left_padded.judge(decoding.left_padded)
    assert not report.passed
    assert "✗ is written without what is there already" in str(report)
