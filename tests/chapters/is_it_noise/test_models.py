"""What the chapter trains, what is stored of it, and Student's factor."""

import pytest
import torch

from attnlab.runtime import generator
from bookkit import weights
from chapters.is_it_noise import bank, models
from chapters.is_it_noise.models import DICE, LONGER, LONGER_SEEDS, SEEDS, VARIANTS, Variant

FEW = Variant(updates=3)


def test_a_training_repeats_and_its_two_dice_are_apart():
    state = models.trained(FEW, 4)[0].state_dict()
    repeated = models.trained(FEW, 4)[0].state_dict()
    other_order = models.trained(FEW, 4, order=5)[0].state_dict()
    assert all(torch.equal(state[name], repeated[name]) for name in state)
    assert any(not torch.equal(state[name], other_order[name]) for name in state)
    # Of the same seed are the first weights: the first loss, of the same sentences, tells.
    assert models.trained(FEW, 4)[1][0] == models.trained(FEW, 4, order=4)[1][0]
    assert models.trained(FEW, 5, order=4)[1][0] != models.trained(FEW, 4)[1][0]


def test_what_is_held_out_is_drawn_from_a_seed_of_its_own():
    assert models.UNSEEN > 1000 * 100 + SEEDS
    assert len(models.held_out().previous) == models.MANY + models.FEW


def test_the_bank_has_every_variant_and_both_dice():
    stored = bank.stored()
    assert [*stored] == [*VARIANTS, *DICE]
    assert {each.shape for each in stored.values()} == {(SEEDS,)}
    noted = weights.notes("is_it_noise/bank")
    assert noted["few above new"].shape == (len(VARIANTS), SEEDS)
    assert {name: each.shape for name, each in bank.longer().items()} == dict.fromkeys(
        LONGER, (LONGER_SEEDS,)
    )


def test_it_holds_nothing_but_losses():
    folder = weights.STORED / "is_it_noise"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 40_000


def test_each_text_has_its_numbers():
    noted = weights.notes("is_it_noise/by-text")
    assert len({each.shape for each in noted.values()}) == 1
    assert noted["pieces"].min() >= 1
    # A mean square is at least the square of the mean, but for 16 bits.
    assert (noted["GPT squared"] > 0.99 * noted["GPT"] ** 2).all()


@pytest.mark.thorough
def test_a_stored_loss_is_what_a_training_ends_at():
    for name, seed in (("as it is", 3), ("one head", 1)):
        model, _ = models.trained(VARIANTS[name], seed)
        assert models.judged(model)[0] == pytest.approx(float(bank.stored()[name][seed]), abs=0.02)


@pytest.mark.parametrize(
    ("freedom", "factor"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (38, 2.024), (1000, 1.962)]
)
def test_students_factor_is_that_of_the_tables(freedom, factor):
    assert bank.student(freedom) == pytest.approx(factor, abs=1e-3)


def test_another_share_takes_another_factor():
    assert bank.student(10, share=0.8) == pytest.approx(1.372, abs=1e-3)


def test_what_is_drawn_is_put_back():
    drawn = bank.drawn(torch.tensor([1.0, 2.0]), 8, 100, generator(0))
    assert drawn.shape == (100, 8)
    assert {*drawn.flatten().tolist()} == {1.0, 2.0}


def test_the_first_three_in_front_are_found():
    first, second = torch.tensor([1.0, 5, 5, 5]), torch.tensor([0.5, 4, 4, 4, 1])
    ours, theirs = bank.first_sweep(first, second)
    assert (list(ours), list(theirs)) == ([1, 2, 3], [0, 1, 2])
    with pytest.raises(ValueError, match="no three seeds"):
        bank.first_sweep(second[1:4] - 4, first)
