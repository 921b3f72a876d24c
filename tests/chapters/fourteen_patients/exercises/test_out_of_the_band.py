"""The exercise `out_of_the_band`, tried with curves that are made for it, and with those of a training."""

import math

import pytest
import torch
from exercise_cases import judged_as, words

from chapters.fourteen_patients.exercises import check_out_of_the_band
from chapters.fourteen_patients.exercises.out_of_the_band_parts import (
    IN_A_ROW,
    PAIRED,
    apart,
    example,
    first_row,
    in_common,
    outside,
    with_right_numbers,
)
from chapters.fourteen_patients.training import Training

pytestmark = pytest.mark.thorough


def handed(change=lambda curves: curves, follow=True):
    """What is handed over once the example's curves are changed; the two updates follow from them."""

    def work():
        curves = change(example())
        return (with_right_numbers(curves) if follow else curves)._asdict()

    return work


def ill(change):
    return handed(lambda curves: curves._replace(ill=change(curves)))


def said(**numbers):
    return handed(lambda curves: curves._replace(**numbers), follow=False)


def diverging(curves):
    losses = curves.ill.clone()
    losses[:, 12:] = math.nan
    return losses


LEAVES, TOLD = 15, 7  # of the example
RIGHT = {
    check_out_of_the_band: {
        "tensors": handed(),
        "lists": lambda: {
            **handed()(),
            "healthy": example().healthy.tolist(),
            "ill": example().ill.tolist(),
            "seeds": list(range(5)),
        },
        "float32": lambda: {
            **handed(lambda curves: curves._replace(healthy=curves.healthy.float(), ill=curves.ill.float()))()
        },
        "below the band": ill(lambda curves: 2 * curves.healthy - curves.ill),
        "far below from the start": ill(lambda curves: curves.healthy - 1),
        "never told": ill(
            lambda curves: (
                curves.healthy + 1e-3 * torch.tensor([1.0, -1, 1, -1, 1], dtype=torch.float64)[:, None]
            )
        ),
        "NaN at last": ill(diverging),
    }
}
NAMED = {
    check_out_of_the_band: {
        "leaves too late": said(leaves=LEAVES + 3),
        "leaves after all": said(leaves=None),
        "told after all": said(told=None),
        "told too late": said(told=TOLD + 2),
        "counted from 1": said(leaves=LEAVES + 1, told=TOLD + 1),
        "end of the row": said(leaves=LEAVES + IN_A_ROW - 1),
        "pairs for the band": said(leaves=TOLD),
        "band for the pairs": said(told=LEAVES),
        "nothing planted": ill(lambda curves: curves.healthy),
        "pairs in another order": ill(lambda curves: curves.ill.flip(0)),
        "not this training": handed(lambda curves: curves._replace(healthy=curves.healthy / 2)),
        "too few seeds": handed(
            lambda curves: curves._replace(
                seeds=curves.seeds[:4], healthy=curves.healthy[:4], ill=curves.ill[:4]
            )
        ),
        "one seed many times": handed(lambda curves: curves._replace(seeds=(0, 0, 1, 2, 3))),
    }
}
UNKNOWN = {
    check_out_of_the_band: {
        "means over the seeds": ill(lambda curves: curves.ill.mean(0)),
        "curves alone": lambda: example().healthy,
        "a key too few": lambda: {"seeds": (0, 1), "healthy": 1, "ill": 2, "leaves": 3},
        "raises": lambda: 1 / 0,
        "a share": said(leaves=0.5),
        "beyond the end": said(told=40),
        "a seed that is none": said(seeds=(0, 1, 2, 3, -1)),
        "one seed too many": said(seeds=range(6)),
        "words": lambda: {**example()._asdict(), "ill": "as above"},
        "healthy curves with NaN": handed(
            lambda curves: curves._replace(healthy=curves.healthy * math.nan), follow=False
        ),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_the_dictionary_itself_will_do():
    assert (example().leaves, example().told) == (LEAVES, TOLD)
    assert check_out_of_the_band.judge(handed()()).passed


@pytest.mark.parametrize("work", [None, ..., lambda: None, lambda: {"seeds": ..., "healthy": ...}])
def test_what_is_not_written_yet_is_told(work):
    assert check_out_of_the_band.judge(work).state == "not written yet"


def test_the_right_number_is_not_given_away():
    for change in (said(leaves=LEAVES + 3), said(leaves=2), said(leaves=None)):
        assert f"update {LEAVES} " not in words(check_out_of_the_band.judge(change))


def test_a_row_stays_on_one_side():
    """Above and below in turn is no row."""
    healthy = torch.randn(5, 30, dtype=torch.float64)
    sides = torch.where(torch.arange(30) % 2 > 0, 9.0, -9.0)
    assert first_row(apart(healthy, healthy + sides)) is None
    assert first_row(outside(healthy, healthy + sides)) is None
    assert first_row(outside(healthy, healthy + 9)) == 0


class Fast(Training):
    """A rate ten times too high."""

    rate = 4e-2


class Silent(Training):
    """One block does not learn."""

    def __init__(self, seed):
        super().__init__(seed)
        self.model.blocks[0].requires_grad_(False)


def losses(kind):
    trainings = [kind(seed) for seed in range(5)]
    for training in trainings:
        for _ in range(15):
            training.update()
    return torch.tensor([training.losses for training in trainings])


@pytest.fixture(scope="module")
def healthy():
    return losses(Training)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Fast, Silent])
def test_curves_of_a_training_are_judged_as_such(kind, healthy):
    """And in pairs they have their ups and downs in common, which curves of other seeds have not."""
    planted = losses(kind)
    common = in_common(healthy.double(), planted.double())
    assert common.diagonal().mean() > PAIRED
    assert common[~torch.eye(5, dtype=torch.bool)].mean() < 0
    curves = {
        "seeds": range(5),
        "healthy": healthy,
        "ill": planted,
        "leaves": first_row(outside(healthy, planted)),
        "told": first_row(apart(healthy, planted)),
    }
    assert check_out_of_the_band.judge(lambda: curves).passed
