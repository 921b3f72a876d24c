"""The exercise `memory`, tried as readers would."""

from collections import Counter

import pytest
import torch
from exercise_cases import changed, judged_as, named, words
from torch.nn import functional as F

from chapters.is_it_any_good.exercises import check_memory


def place_by_place(ids, vocabulary, share):
    counts = torch.zeros(vocabulary, dtype=torch.float64)
    for place in range(len(ids) - 1):
        if ids[place] == ids[-1]:
            counts[ids[place + 1]] += 1
    if counts.sum() == 0:
        return torch.ones(vocabulary, dtype=torch.float64) / vocabulary
    return share * counts / counts.sum() + (1 - share) / vocabulary


def by_a_counter(ids, vocabulary, share):
    *earlier, last = ids.tolist()
    counts = Counter(
        after for before, after in zip(earlier, [*earlier[1:], last], strict=True) if before == last
    )
    share = share if counts else 0.0
    total = max(1, counts.total())
    chances = [(1 - share) / vocabulary + share * counts[each] / total for each in range(vocabulary)]
    return torch.tensor(chances, dtype=torch.float64)


def as_attention(ids, vocabulary, share):
    """The last id asks, the earlier ones answer to it, and what came next is brought."""
    values = F.one_hot(ids, vocabulary).double()  # (T, vocabulary)
    alike = torch.full((vocabulary,), 1 / vocabulary, dtype=torch.float64)
    scores = (values[:-1] @ values[-1]).log()  # 0 where it is the same id, else minus infinity
    if scores.isinf().all():
        return alike
    return torch.lerp(alike, scores.softmax(-1) @ values[1:], share)


def by_adding_up(ids, vocabulary, share):
    places = (ids[:-1] == ids[-1]).nonzero().flatten()
    if places.numel() == 0:
        share = 0.0
    chances = torch.full((vocabulary,), (1 - share) / vocabulary, dtype=torch.float64)
    portions = torch.full((places.numel(),), share / max(1, places.numel()), dtype=torch.float64)
    return chances.index_add(0, ids[places + 1], portions)


def after(ids):
    return ids[1:][ids[:-1] == ids[-1]]


def mixed(remembered, vocabulary, share):
    return share * remembered + (1 - share) / vocabulary


def counting(followers, scale=lambda counts: counts / counts.sum(), mix=mixed):
    """A reader's function, in which one step may be another."""

    def code(ids, vocabulary, share):
        found = followers(ids)
        if not found.numel():
            return torch.full((vocabulary,), 1 / vocabulary, dtype=torch.float64)
        counts = F.one_hot(found, vocabulary).sum(0).double()
        return mix(scale(counts), vocabulary, share)

    return code


def looped(places, step=1):
    """Python's own loop, over other places or to another step."""

    def followers(ids):
        return torch.tensor(
            [int(ids[place + step]) for place in places(ids) if ids[place] == ids[-1]], dtype=torch.int64
        )

    return counting(followers)


def where_seen(ids, vocabulary, share):
    chances = torch.zeros(vocabulary, dtype=torch.float64)
    seen = ids.unique()
    found = after(ids)
    if not len(found):
        chances[seen] = 1 / len(seen)
        return chances
    chances[seen] = (1 - share) / len(seen)
    return chances + share * torch.bincount(found, minlength=vocabulary) / len(found)


def without_a_special_case(ids, vocabulary, share):
    counts = torch.bincount(after(ids), minlength=vocabulary).double()
    return share * counts / counts.sum() + (1 - share) / vocabulary


def clamped(ids, vocabulary, share):
    """Nothing is divided by 0, and nothing takes its place."""
    counts = torch.bincount(after(ids), minlength=vocabulary).double()
    return share * counts / counts.sum().clamp(min=1) + (1 - share) / vocabulary


def as_long_as_it_comes(ids, vocabulary, share):
    found = after(ids)
    if len(found) == 0:
        return torch.ones(vocabulary).double() / vocabulary
    return share * torch.bincount(found).double() / len(found) + (1 - share) / vocabulary


def divided_at_the_end(ids, vocabulary, share):
    chances = share * torch.bincount(after(ids), minlength=vocabulary).double() + (1 - share) / vocabulary
    return chances / chances.sum()


def after_every_place(ids):
    """`roll` brings the first id behind the last."""
    return torch.roll(ids, -1)[ids == ids[-1]]


RIGHT = {check_memory: named(place_by_place, by_a_counter, as_attention, by_adding_up)}
NAMED = {
    check_memory: {
        "what stood before": looped(lambda ids: range(1, len(ids)), step=-1),
        "all ids": counting(lambda ids: ids),
        "only the first time": counting(lambda ids: after(ids)[:1]),
        "only the latest time": counting(lambda ids: after(ids)[-1:]),
        "each once": counting(after, scale=lambda counts: (counts > 0) / (counts > 0).sum().double()),
        "around the end": counting(after_every_place),
        "beyond the end": looped(lambda ids: range(len(ids))),
        "one place short": looped(lambda ids: range(len(ids) - 2)),
        "two places later": looped(lambda ids: range(len(ids) - 2), step=2),
        "the last but one": counting(lambda ids: ids[1:][ids[:-1] == ids[-2]]),
        "not scaled": counting(after, scale=lambda counts: counts),
        "softmax of the counts": counting(after, scale=lambda counts: torch.softmax(counts, 0)),
        "alike where seen": where_seen,
        "shares swapped": lambda ids, vocabulary, share: place_by_place(ids, vocabulary, 1 - share),
        "not weighted": counting(
            after, mix=lambda remembered, vocabulary, share: remembered + 1 / vocabulary
        ),
        "share lost": clamped,
        "0 / 0": without_a_special_case,
        "as long as bincount": as_long_as_it_comes,
        "scaled afterwards": divided_at_the_end,
        "not scaled & share lost": lambda ids, vocabulary, share: (
            share * torch.bincount(after(ids), minlength=vocabulary) + (1 - share) / vocabulary
        ).double(),
    }
}
UNKNOWN = {
    check_memory: {
        "nothing remembered": lambda ids, vocabulary, share: torch.full(
            (vocabulary,), 1 / vocabulary
        ).double(),
        "the likeliest alone": lambda *inputs: F.one_hot(
            place_by_place(*inputs).argmax(), inputs[1]
        ).double(),
        "logarithms": changed(place_by_place, torch.log),
        "a row too many": changed(place_by_place, lambda chances: chances.expand(2, -1)),
        "a list": changed(place_by_place, torch.Tensor.tolist),
        "one id too many": lambda ids, vocabulary, share: place_by_place(ids, vocabulary + 1, share),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_whoever_answers_in_another_precision_is_told_what_to_write():
    report = check_memory.judge(changed(place_by_place, torch.Tensor.float))
    assert report.mistake == "another dtype"
    assert "of float32 where float64 is expected: `.to(torch.float64)`" in words(report)


@pytest.mark.parametrize("case", check_memory.cases, ids=lambda case: str(case.inputs[0].tolist()[:5]))
def test_what_comes_back_are_chances(case):
    chances = check_memory.reference(*case.fresh())
    assert chances.min() > 0
    torch.testing.assert_close(chances.sum(), torch.tensor(1.0, dtype=torch.float64))
