"""Families of mistakes: each is one, they differ from each other, and each takes its place."""

import itertools
import math

import pytest
import torch
from small_checks import check_attention, temperate

from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import but, in_answer, in_parts, swapped
from bookkit.checking.mistakes.holding import BYTES
from bookkit.checking.mistakes.weighing import DIVISORS, HIDING, PRODUCTS, SCORES, WEIGHING

# Three axes in front: behind two, turning all of them and turning the inner ones fail alike.
QUERY, KEY, VALUE = draw(1, (2, 3, 4, 7, 11), (2, 3, 4, 5, 11), (2, 3, 4, 5, 2))
RIGHT = QUERY @ KEY.mT
SHOWN = (torch.arange(5) < torch.tensor([2, 4])[:, None])[:, None, None, None]
LARGE = torch.tensor([[800.0, 801.0], [-800.0, -801.0]])
# Each family with inputs for its parts, and what is right there.
FAMILIES = {
    "PRODUCTS": (PRODUCTS, (QUERY, KEY), RIGHT),
    "SCORES": (SCORES, (RIGHT,), RIGHT),
    "DIVISORS": (DIVISORS, (QUERY, KEY), math.sqrt(11)),
    "WEIGHING": (WEIGHING, (RIGHT,), RIGHT.softmax(-1)),
    "HIDING": (HIDING, (RIGHT, SHOWN), RIGHT.masked_fill(~SHOWN, -math.inf).softmax(-1)),
    "BYTES": (BYTES, (4096,), 4096),
}
# They are wrong where scores are large, and nowhere else.
ONLY_LARGE = {"overflow", "one maximum for all"}


def outcome(code, inputs):
    """What comes back, as a tensor, or the error's text."""
    try:
        return torch.as_tensor(code(*inputs)).double()
    except RuntimeError as error:
        return str(error)


def same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and one == other
    return one.shape == other.shape and torch.allclose(one, other, equal_nan=True)


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@pytest.mark.parametrize("family", FAMILIES)
def test_each_is_wrong_and_unlike_the_others(family):
    members, inputs, right = FAMILIES[family]
    outcomes = {name: outcome(code, inputs) for name, (_, code) in members.items()}
    for name, made in outcomes.items():
        assert same(made, torch.as_tensor(right).double()) == (name in ONLY_LARGE), name
        assert name not in ONLY_LARGE or members[name][1](LARGE).isnan().any()
        assert members[name][0].endswith((".", "?", ")"))
    for (name, made), (other, there) in itertools.combinations(outcomes.items(), 2):
        assert not same(made, there) or {name, other} == ONLY_LARGE, f"{name}, {other}"


# --- taking its place ---


def test_a_part_takes_the_place_of_the_right_one():
    made = in_parts(temperate, weigh=WEIGHING)
    assert made.keys() == WEIGHING.keys()
    sentence, code = made["sigmoid"]
    assert sentence == WEIGHING["sigmoid"][0]
    output, weights = code(QUERY, KEY, VALUE, 2.0)
    torch.testing.assert_close(weights, (RIGHT / 2).sigmoid())
    torch.testing.assert_close(output, weights @ VALUE)


def test_several_parts_are_mistaken_one_at_a_time():
    made = in_parts(temperate, weigh=but(WEIGHING, *list(WEIGHING)[1:]), temperature=BYTES)
    assert list(made) == [next(iter(WEIGHING)), *BYTES]


def test_the_right_answer_is_changed():
    made = in_answer(lambda rows, columns: 4 * rows * columns, BYTES)
    assert made["bits"][1](2, 3) == 192


def test_results_change_places():
    sentence, code = swapped(check_attention.reference, "output", "weights")["results swapped"]
    assert "return output, weights." in sentence
    weights, output = code(QUERY, KEY, VALUE, 1.0)
    torch.testing.assert_close((output, weights), check_attention.reference(QUERY, KEY, VALUE, 1.0))


def test_some_of_a_family_can_be_left_out():
    assert WEIGHING.keys() - but(WEIGHING, "sigmoid", "hard").keys() == {"sigmoid", "hard"}
    with pytest.raises(ValueError, match=r"names must be among \['bits', .*\], got \['bytes'\]"):
        but(BYTES, "bytes")
