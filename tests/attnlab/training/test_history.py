"""The history of a training: what it counts, and which losses it refuses."""

import math

import pytest

from attnlab.training.history import History


def test_counts_what_it_holds() -> None:
    history = History()
    for loss in (0.9, 0.8, 0.7):
        history.add_iteration(loss)
    history.training_losses.append(0.8)
    history.add_validation(0.6)
    assert (history.iterations, history.epochs) == (3, 1)
    assert history.iteration_losses == [0.9, 0.8, 0.7]
    assert (history.validation_losses, history.validation_metrics) == ([0.6], [])


def test_metrics_stand_beside_their_losses() -> None:
    history = History()
    history.add_validation(0.6, 0.1)
    history.add_validation(0.5, 0.2)
    assert (history.validation_losses, history.validation_metrics) == ([0.6, 0.5], [0.1, 0.2])


@pytest.mark.parametrize(
    ("losses", "best"), [([0.9, 0.4, 0.6], 2), ([0.4, 0.4], 1), ([3.0, 2.0, 1.0], 3), ([7.0], 1)]
)
def test_the_best_epoch_is_the_first_with_the_smallest_loss(losses: list[float], best: int) -> None:
    assert History(validation_losses=losses).best_epoch == best


def test_without_validation_no_epoch_is_best() -> None:
    with pytest.raises(ValueError, match="best_epoch needs validation_losses"):
        _ = History(training_losses=[0.5]).best_epoch


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_no_finite_number_raises_and_says_where(loss: float) -> None:
    history = History(iteration_losses=[0.9, 0.8], training_losses=[0.85])
    with pytest.raises(FloatingPointError, match=f"the loss is {loss} at iteration 3, in epoch 2"):
        history.add_iteration(loss)
    with pytest.raises(FloatingPointError, match=f"the validation loss is {loss} after epoch 1"):
        history.add_validation(loss)
