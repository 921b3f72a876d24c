"""Models made by hand: each head looks where it says, writes what it says, and another cannot hear it."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from attnlab.inside import heads_changed, watched
from chapters.looking_inside.circuits import (
    INDUCTION,
    LENGTH,
    PREVIOUS,
    SAME_WORD,
    UNHEARD,
    WORDS,
    Circuit,
    drawn,
)

PERIOD = 8
# Within a round no word comes twice.
ROUND = torch.tensor([5, 2, 9, 0, 11, 4, 7, 1])
TEXT = ROUND[torch.arange(LENGTH) % PERIOD][None]  # (1, LENGTH)
SAME = TEXT.mT == TEXT  # (LENGTH, LENGTH)


@torch.no_grad()
def looks(model):
    """(layers, heads, LENGTH, LENGTH)."""
    with watched(model) as weights:
        model(TEXT)
    return torch.stack([*weights.values()])[:, 0]


@torch.no_grad()
def loss(model):
    """On what is repeated."""
    return F.cross_entropy(model(TEXT)[0, PERIOD - 1 : -1], TEXT[0, PERIOD:]).item()


# ---- where heads look ----


@pytest.mark.parametrize("back", [0, 1, 3])
def test_a_head_that_asks_with_its_place_looks_so_many_places_back(back):
    looked = looks(Circuit({(0, 2): replace(PREVIOUS, back=back)}, 1))[0, 2]
    assert looked.diagonal(-back).min() > 0.9


def test_a_head_that_asks_with_its_word_looks_for_it():
    looked = looks(Circuit({(0, 1): SAME_WORD}, 1))[0, 1]
    assert (looked * SAME).sum(-1).min() > 0.8


def test_an_induction_head_looks_behind_its_word_and_says_what_stands_there():
    model = Circuit({(0, 0): PREVIOUS, (1, 3): INDUCTION}, 2)
    second_round = looks(model)[1, 3].diagonal(1 - PERIOD)[1 : PERIOD + 1]
    assert second_round.mean() > 0.8
    assert loss(model) < 0.5


def test_without_who_stood_before_an_induction_head_finds_its_own_word():
    model = Circuit({(1, 3): INDUCTION}, 2)
    assert (looks(model)[1, 3] * SAME).sum(-1).min() > 0.5
    assert loss(model) > torch.tensor(WORDS).log() + 1, "worse than a guess"


def test_the_others_look_evenly():
    even = torch.ones(LENGTH, LENGTH).tril()
    looked = looks(Circuit({(0, 1): PREVIOUS}, 2))
    for layer, head in [(0, 0), (0, 2), (1, 1), (1, 3)]:
        assert torch.allclose(looked[layer, head], even / even.sum(-1, keepdim=True), atol=1e-6)


# ---- what they say ----


def test_what_is_known_of_a_place_is_its_word_and_its_place():
    model = Circuit({}, 1)
    with torch.no_grad():
        known = model.positions(model.embedding(TEXT))[0]
    expected = torch.cat([F.one_hot(TEXT[0], WORDS), torch.eye(LENGTH)], -1)
    assert torch.allclose(known[:, : WORDS + LENGTH], expected, atol=1e-6)
    assert known[:, WORDS + LENGTH :].eq(0).all()


def test_who_is_heard_by_nobody_looks_as_surely_and_says_nothing():
    heads = {(0, 0): PREVIOUS, (1, 3): INDUCTION}
    alone, both = Circuit(heads, 2), Circuit(heads | {(1, 1): UNHEARD}, 2)
    looked = looks(both)[1].diagonal(1 - PERIOD, 1, 2).mean(-1)  # (heads,)
    assert looked[1] > looked[3]
    assert abs(loss(both) - loss(alone)) < 0.05


def test_a_louder_head_finds_more_of_the_same():
    found = []
    for loud in (1.0, 2.0):
        model = Circuit({(0, 2): replace(PREVIOUS, loud=loud)}, 1)
        with heads_changed(model.layers[0].self_attention, lambda heads: found.append(heads) or heads):
            model(TEXT)
    assert torch.allclose(found[1][:, :, 2], 2 * found[0][:, :, 2])
    assert torch.allclose(found[1][:, :, :2], found[0][:, :, :2])


def test_a_surer_model_says_the_same_louder():
    quiet, loud = (Circuit({(0, 2): replace(PREVIOUS, writes="next word")}, 1, sure) for sure in (2.0, 6.0))
    assert torch.allclose(loud(TEXT), 3 * quiet(TEXT), atol=1e-5)


# ---- drawn ones ----


def test_a_seed_draws_the_same_model_and_nothing_of_pytorchs():
    before = torch.get_rng_state()
    first, again, other = (drawn(seed, layers=2, heads=3, d_model=12) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    words = torch.arange(6)[None]
    assert torch.equal(first(words), again(words))
    assert not torch.allclose(first(words), other(words))


def test_all_is_drawn_but_the_norms():
    for name, parameter in drawn(1, layers=2, heads=3, d_model=12).named_parameters():
        left = parameter.eq(float("weight" in name)).all()
        assert left == ("norm" in name), name


def test_a_model_is_in_use_and_says_what_it_is():
    assert not Circuit({}, 1).training
    assert repr(drawn(1, layers=1, heads=3, d_model=12)) == "a model of 1 layer with 3 heads each"
    assert repr(Circuit({}, 2)) == "a model of 2 layers with 4 heads each"
