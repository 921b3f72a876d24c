"""The exercise `smallest_cache`, tried as readers would."""

import pytest
import torch
from exercise_cases import judged_as, words

from attnlab.attention import Cache
from chapters.fewer_keys_or_none.exercises.smallest_cache import check_smallest_cache
from chapters.fewer_keys_or_none.exercises.smallest_cache_mistakes import CHOSEN, Choice, Small, passing
from chapters.fewer_keys_or_none.exercises.smallest_cache_parts import (
    FULL,
    LENGTH,
    LIMIT,
    LOST,
    bits_of,
    crops,
    full_loss,
    measured,
    numbers_of,
    stored,
)

pytestmark = pytest.mark.thorough


def test_the_full_cache_loses_nothing_and_its_bits_are_counted():
    found = measured(lambda layer: Cache())
    assert found.lost == pytest.approx(0, abs=1e-6)
    assert found.bits == 2 * FULL  # in float32

    class Half(Cache):
        def extended(self, keys, values):
            return super().extended(keys.half(), values.half())

    assert measured(lambda layer: Half()).bits == FULL


def test_step_by_step_the_model_is_judged_as_all_at_once():
    with torch.no_grad():
        logits = stored()(crops()[:, :-1])[:, LENGTH // 2 :]
    at_once = torch.nn.functional.cross_entropy(logits.flatten(0, 1), crops()[:, LENGTH // 2 + 1 :].flatten())
    assert full_loss() == pytest.approx(at_once.item(), abs=1e-4)


def test_the_bar_leaves_room_to_those_who_think_and_none_to_one_choice_for_all():
    found = measured(passing)
    assert 0.9 * LIMIT < found.bits < LIMIT
    assert found.lost < 0.75 * LOST
    alike = measured(lambda layer: Small(layer, Choice(28, 16, 16)))
    assert alike.bits < LIMIT
    assert alike.lost > LOST


class InOneTensor(Small):
    """The same numbers, kept in another way."""

    def extended(self, keys, values):
        answer = super().extended(keys, values)
        self.kept = [each.to(torch.int64) for each in self.kept]
        return list(answer)


def by_closure(layer):
    """No attribute: what is remembered hides in a function."""
    own = passing(layer)

    class Asks:
        extended = staticmethod(own.extended)

    return Asks()


class InAClass:
    def __init__(self, layer):
        self.layer = layer
        setattr(InAClass, f"layer_{layer}", passing(layer))

    def extended(self, keys, values):
        return getattr(InAClass, f"layer_{self.layer}").extended(keys, values)


class Half(Cache):
    def __init__(self, layer):
        super().__init__()

    def extended(self, keys, values):
        return super().extended(keys.bfloat16(), values.bfloat16())


class ReadAndRounded(Half):
    def extended(self, keys, values):
        keys, values = Cache.extended(self, keys, values)
        return (keys.mul(8).round() / 8, values.mul(8).round() / 8)


class Forgetful(Half):
    """It gives back all, and keeps only what came last."""

    def extended(self, keys, values):
        answer = Cache.extended(self, keys, values)
        self.keys, self.values = keys, values
        return answer


class DividedByNothing(Half):
    def extended(self, keys, values):
        keys, values = Cache.extended(self, keys, values)
        return keys / (keys.abs().amax() * 0), values


class AnewEachTime:
    """The whole cache gets new steps whenever something comes."""

    def __init__(self, layer):
        self.small = None

    def extended(self, keys, values):
        if self.small is not None:
            keys = torch.cat([self.small[0] * self.steps[0], keys], 2)
            values = torch.cat([self.small[1] * self.steps[1], values], 2)
        self.steps = [each.abs().max() / 2 for each in (keys, values)]
        self.small = [
            torch.round(each / step).int() for each, step in zip((keys, values), self.steps, strict=True)
        ]
        return tuple(each * step for each, step in zip(self.small, self.steps, strict=True))


def same_for_all():
    one = passing(0)
    return lambda layer: one


RIGHT = {
    check_smallest_cache: {
        "a class": lambda layer: InOneTensor(layer, CHOSEN[layer]),
    }
}
NAMED = {
    check_smallest_cache: {
        "one for all layers": same_for_all(),
        "kept elsewhere": by_closure,
        "nothing kept": lambda layer: type("Same", (), {"extended": lambda self, *both: both})(),
        "no number": DividedByNothing,
        "stored in full": ReadAndRounded,
        "rounded again": AnewEachTime,
        "too much lost": lambda layer: Small(layer, Choice(32, 2, 2)),
        "too large": Half,
    }
}
UNKNOWN = {
    check_smallest_cache: {
        "nothing at all": lambda layer: object(),
        "a class": lambda layer: Half,
        "keys alone": lambda layer: type("Keys", (), {"extended": lambda self, keys, values: keys})(),
        "whole numbers": lambda layer: type(
            "Whole", (), {"extended": lambda self, keys, values: (keys.int(), values.int())}
        )(),
        "an axis lost": lambda layer: type(
            "Flat", (), {"extended": lambda self, keys, values: (keys[:, :, 0], values[:, :, 0])}
        )(),
        "more keys than values": lambda layer: type(
            "More", (), {"extended": lambda self, keys, values: (keys.repeat(1, 1, 2, 1), values)}
        )(),
        "another key head": lambda layer: type(
            "One", (), {"extended": lambda self, keys, values: (keys[:, :1], values[:, :1])}
        )(),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_whoever_hides_it_in_a_class_is_told():
    assert check_smallest_cache.judge(InAClass).mistake == "kept elsewhere"


def test_whoever_forgets_loses_too_much():
    assert check_smallest_cache.judge(Forgetful).mistake == "too much lost"


def test_what_cannot_be_counted_is_told():
    class Packed(Half):
        def extended(self, keys, values):
            self.packed = keys.numpy().tobytes()
            return Cache.extended(self, keys, values)

    assert "something of the type bytes, which can't be counted" in words(check_smallest_cache.judge(Packed))


@pytest.mark.parametrize(
    ("tensor", "bits"),
    [
        (torch.tensor([0, 3, 1]), 64 + 6),
        (torch.tensor([-1, 0, 1], dtype=torch.int8), 64 + 3 * 1.584962500721156),
        (torch.tensor([7, 7]), 64),
        (torch.tensor([True, False]), 64 + 2),
        (torch.ones(3).half(), 48),
        (torch.ones(2), 64),
        (torch.ones(2).double(), 128),
        (torch.empty(0, dtype=torch.int8), 0),
    ],
)
def test_bits(tensor, bits):
    assert bits_of(tensor) == pytest.approx(bits)


def test_all_that_is_in_it_is_found():
    class Held:
        def __init__(self):
            self.rows = {"keys": [torch.ones(2)], "values": (torch.ones(3),)}
            self.time, self.name, self.again, self.nothing = 7, "held", self.rows, None

    assert sorted(each.numel() for each in numbers_of(Held())) == [1, 2, 3]
