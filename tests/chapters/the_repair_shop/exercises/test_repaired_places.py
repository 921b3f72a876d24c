"""The exercise `repaired_places`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as, named

from chapters.the_repair_shop.exercises import check_repaired_places


def broken(ids, letters, places, blocks):
    """The notebook's."""
    stream = letters[ids] + places[-ids.shape[1] :]
    for block in blocks:
        stream = block(stream)
    return stream @ letters.T


def mended(stand=lambda places, ids: places[: ids.shape[1]], begin=torch.add, end=lambda logits: logits):
    """A reader's model, in which one step may be another."""

    def code(ids, letters, places, blocks):
        stream = begin(letters[ids], stand(places, ids))
        for block in blocks:
            stream = block(stream)
        return end(torch.nn.functional.linear(stream, letters))

    return code


def by_numbers(ids, letters, places, blocks):
    stream = letters[ids] + places[torch.arange(ids.shape[1], device=ids.device)]
    return blocks[1](blocks[0](stream)) @ letters.mT


def shifted(places, ids):
    return torch.cat([torch.zeros_like(places[:1]), places])[: ids.shape[1]]


RIGHT = {check_repaired_places: named(by_numbers) | {"mended": mended()}}
NAMED = {
    check_repaired_places: {
        "still broken": broken,
        "turned around": mended(lambda places, ids: places[: ids.shape[1]].flip(0)),
        "one place late": mended(lambda places, ids: places.roll(-1, 0)[: ids.shape[1]]),
        "all at place 0": mended(lambda places, ids: places[0]),
        "places by their ids": mended(lambda places, ids: places[ids]),
        "nothing at the first": mended(shifted),
        "no places": mended(lambda places, ids: 0),
        "multiplied": mended(begin=torch.mul),
        "only the last": mended(end=lambda logits: logits[:, -1]),
        "chances": mended(end=lambda logits: logits.softmax(-1)),
    }
}
UNKNOWN = {check_repaired_places: {"turned": mended(end=lambda logits: -logits)}}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_the_broken_one_is_right_only_at_full_length():
    exercise_cases.assert_still_broken(check_repaired_places, broken, "✓✗✗✗")
