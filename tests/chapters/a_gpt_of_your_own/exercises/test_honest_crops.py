"""The exercise `honest_crops`, tried as readers would."""

import torch
from exercise_cases import judged_as, named, words

from attnlab.training.run import row_of
from chapters.a_gpt_of_your_own.exercises import check_honest_crops


def row_without(texts, end, held_out):
    row = []
    for text in texts[: len(texts) - held_out]:
        if all(text != other for other in texts[len(texts) - held_out :]):
            row += text
            row.append(end)
    return row


def cut(row, length, starts, last=0):
    rows = [row[start : start + length + 1] for start in starts if start + length + last < len(row)]
    both = torch.tensor(rows)
    return both[:, :-1], both[:, 1:]


# --- right ---


def by_unfold(texts, end, held_out, length, starts):
    """All crops there are, and of these the ones that are asked for."""
    row = row_of((text for text in texts if text not in texts[-held_out:]), end)
    windows = row.unfold(0, length + 1, 1)  # (starts with room, length + 1)
    chosen = windows[[start for start in starts if start < len(windows)]]
    return chosen[:, :-1], chosen[:, 1:]


def by_index(texts, end, held_out, length, starts):
    row = torch.tensor(row_without(texts, end, held_out))
    first = torch.tensor([start for start in starts if start <= len(row) - length - 1])
    places = first[:, None] + torch.arange(length)
    return [row[places], row[places + 1]]


def with_a_set_of_copies(texts, end, held_out, length, starts):
    unseen = set(map(tuple, texts[-held_out:]))
    return cut([i for text in texts if tuple(text) not in unseen for i in [*text, end]], length, starts)


# --- wrong ---


def row_by(make):
    return lambda texts, end, held_out, length, starts: cut(make(texts, end, held_out), length, starts)


def all_ended(texts, end, *_):
    return row_of(texts, end).tolist()


def crops_by(make):
    """`make(row, start, length)` are inputs and targets."""

    def code(texts, end, held_out, length, starts):
        row = torch.tensor(row_without(texts, end, held_out))
        starts = [start for start in starts if start + length < len(row)]
        inputs, targets = zip(*(make(row, start, length) for start in starts), strict=True)
        return torch.stack(inputs), torch.stack(targets)

    return code


def without_a_look_at_the_end(texts, end, held_out, length, starts):
    row = row_without(texts, end, held_out)
    rows = torch.tensor([row[start : start + length + 1] for start in starts])
    return rows[:, :-1], rows[:, 1:]


def apart_and_no_look(texts, end, held_out, length, starts):
    row = row_without(texts, end, held_out)
    inputs = torch.tensor([row[start : start + length] for start in starts])
    return inputs, torch.tensor([row[start + 1 : start + length + 1] for start in starts])


def apart_and_inputs_have_room(texts, end, held_out, length, starts):
    row = row_without(texts, end, held_out)
    starts = [start for start in starts if start + length <= len(row)]
    return apart_and_no_look([row[:-1], [end]], end, 1, length, starts)


def as_long_as_the_inputs(texts, end, held_out, length, starts):
    row = row_without(texts, end, held_out)
    rows = torch.tensor([row[start:][:length] for start in starts if start + length <= len(row)])
    return rows[:, :-1], rows[:, 1:]


def stacked_and_no_look(texts, end, held_out, length, starts):
    row = torch.tensor(row_without(texts, end, held_out))
    rows = torch.stack([row[start : start + length + 1] for start in starts])
    return rows[:, :-1], rows[:, 1:]


def index_and_no_look(texts, end, held_out, length, starts):
    row = torch.tensor(row_without(texts, end, held_out))
    places = torch.tensor(starts)[:, None] + torch.arange(length)
    return row[places], row[places + 1]


def over_the_border(texts, end, held_out, length, starts):
    """Begins honestly, and reads on."""
    row = row_without(texts, end, held_out)
    behind = all_ended(texts[-held_out:], end)
    return cut(row + behind, length, [start for start in starts if start < len(row)])


def filled_up(texts, end, held_out, length, starts):
    row = row_without(texts, end, held_out)
    rows = [row[start : start + length + 1] for start in starts]
    rows = torch.tensor([one + [end] * (length + 1 - len(one)) for one in rows])
    return rows[:, :-1], rows[:, 1:]


def moved_back(texts, end, held_out, length, starts):
    row = row_without(texts, end, held_out)
    return cut(row, length, [min(start, len(row) - 1 - length) for start in starts])


def joined_by_ends(texts, end, held_out):
    return row_without(texts, end, held_out)[:-1]


RIGHT = {check_honest_crops: named(by_unfold, by_index, with_a_set_of_copies)}


NAMED = {
    check_honest_crops: {
        "ids held out": row_by(lambda texts, end, held_out: all_ended(texts, end)[:-held_out]),
        "split in the middle of a text": row_by(
            lambda texts, end, held_out: all_ended(texts, end)[
                : int((1 - held_out / len(texts)) * len(all_ended(texts, end)))
            ]
        ),
        "copies kept": row_by(lambda texts, end, held_out: all_ended(texts[:-held_out], end)),
        "held out and trained on": row_by(all_ended),
        "held-out texts alone": row_by(lambda texts, end, held_out: all_ended(texts[-held_out:], end)),
        "the first held out": row_by(
            lambda texts, end, held_out: row_without(texts[held_out:] + texts[:held_out], end, held_out)
        ),
        "each text once": row_by(
            lambda texts, end, held_out: row_without(
                [*map(list, dict.fromkeys(map(tuple, texts[:-held_out]))), *texts[-held_out:]], end, held_out
            )
        ),
        "no ends": row_by(
            lambda texts, end, held_out: [one for one in row_without(texts, -1, held_out) if one >= 0]
        ),
        "end in front": row_by(lambda texts, end, held_out: [end, *joined_by_ends(texts, end, held_out)]),
        "last id never asked for": row_by(joined_by_ends),
        "one end for all": row_by(
            lambda texts, end, held_out: [
                *(one for one in row_without(texts, -1, held_out) if one >= 0),
                end,
            ]
        ),
        "not shifted": crops_by(lambda row, start, length: [row[start : start + length]] * 2),
        "shifted twice": lambda *inputs: (by_index(*inputs)[0][:, :-1], by_index(*inputs)[1][:, 1:]),
        "last target missing": crops_by(
            lambda row, start, length: (row[start:][: length + 1], row[start + 1 :][:length])
        ),
        "one too short": crops_by(
            lambda row, start, length: (row[start:][: length - 1], row[start:][1:length])
        ),
        "length ids in all": as_long_as_the_inputs,
        "rows of two lengths": without_a_look_at_the_end,
        "inputs of two lengths": apart_and_no_look,
        "targets of two lengths": apart_and_inputs_have_room,
        "stacked in two lengths": stacked_and_no_look,
        "index off the row": index_and_no_look,
        "over the border": over_the_border,
        "filled up": filled_up,
        "moved back": moved_back,
        "results swapped": lambda *inputs: by_index(*inputs)[::-1],
    }
}


UNKNOWN = {
    check_honest_crops: {
        "backwards": crops_by(
            lambda row, start, length: (row[start : start + length], row[start:][:length].flip(0))
        ),
        "one tensor": lambda *inputs: torch.stack(by_index(*inputs))[0],
        "lists": lambda *inputs: [part.tolist() for part in by_index(*inputs)],
        "one crop": lambda *inputs: [part[:1] for part in by_index(*inputs)],
        "floats": lambda *inputs: [part.float() for part in by_index(*inputs)],
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_two_leaks_are_both_told():
    def code(texts, end, held_out, length, starts):
        inputs, _ = cut(all_ended(texts[:-held_out], end), length, starts)
        return inputs, inputs

    assert check_honest_crops.judge(code).mistake == "copies kept & not shifted"


def test_the_list_of_texts_is_nobodys_to_empty():
    def code(texts, end, held_out, length, starts):
        unseen = [texts.pop() for _ in range(held_out)]
        return cut([i for text in texts if text not in unseen for i in (*text, end)], length, starts)

    assert "It changes texts" in words(check_honest_crops.judge(code))
