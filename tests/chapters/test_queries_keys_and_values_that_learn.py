"""“Queries, keys and values that learn”: what only its exercises say, and its chart."""

import pytest
import torch
from exercise_cases import assert_right_shapes, words
from living_charts import numbers, says
from playwright.sync_api import Locator

from attnlab.runtime import generator
from chapters.queries_keys_and_values_that_learn.charts import CHASED, PERCENT
from chapters.queries_keys_and_values_that_learn.exercises import (
    check_narrow_pair,
    check_narrowest_heads,
    check_projection_shapes,
)

SHAPES = check_projection_shapes.shapes


def test_the_shapes_are_what_pytorch_says():
    words, to_query, to_key = torch.rand(8, 6, 18), torch.rand(18, 4), torch.rand(18, 4)
    to_value = torch.rand(18, 10, requires_grad=True)
    query, key, value = words @ to_query, words @ to_key, words @ to_value
    weights = (query @ key.mT).softmax(-1)
    (weights @ value).sum().backward()
    assert_right_shapes(check_projection_shapes, locals())


def test_only_what_runs_over_a_words_numbers_is_said_to():
    expressions = [expression for expression in SHAPES if not expression.startswith("words @")]
    for expression in expressions:
        said = words(check_projection_shapes.judge(SHAPES | {expression: (8, 6, 18)}))
        assert "sums over the 18 numbers" not in said, expression


def test_the_narrow_pair_is_the_nearest():
    """No small step from it, in either matrix, comes nearer."""
    to_query, to_key = torch.rand(2, 6, 4, generator=generator(0), dtype=torch.float64)
    pair = [matrix.clone().requires_grad_() for matrix in check_narrow_pair.reference(to_query, to_key, 2)]
    missed = (pair[0] @ pair[1].mT - to_query @ to_key.mT).square().sum()
    for gradient in torch.autograd.grad(missed, pair):
        assert gradient.abs().max() < 1e-12
    # The two smallest singular values, squared, are what must be missed.
    assert missed.item() == pytest.approx(
        torch.linalg.svdvals(to_query @ to_key.mT)[2:4].square().sum().item()
    )


def right_for_six_animals_alone(words, chased):
    found = check_narrowest_heads.reference(words, chased)
    return found if words.shape[-1] == 18 else (torch.zeros(words.shape[-1], 2),) * 2


@pytest.mark.thorough
def test_what_is_found_is_said_in_words():
    report = check_narrowest_heads.judge(right_for_six_animals_alone)
    assert "expected finds: the one that it chases got finds: anyone, by chance" in words(report)


@pytest.mark.thorough
def test_nobody_trains_more_often_than_there_are_games_to_train_on():
    trainings = []

    def train(games, chased):
        trainings.append(games.shape)
        return right_for_six_animals_alone(games, chased)

    assert check_narrowest_heads.judge(train).mistake is None
    assert len(trainings) == 2


# --- the chart ---


@pytest.mark.thorough
def test_each_step_shows_its_own_weights(chart: Locator) -> None:
    for steps, stored in PERCENT.items():
        weights = torch.tensor(stored, dtype=torch.float64).view(6, 6)
        on_the_chased = weights[torch.arange(6), torch.tensor(CHASED)]
        chart.get_by_label("steps of training").fill(str(steps))
        said = says(chart, f"after {steps} steps")
        assert f"mean {on_the_chased.mean():.0f} %, least {on_the_chased.min():.0f} %" in said
        percent, right = numbers(chart, "percent", "right")
        assert percent.tolist() == stored
        assert right.nonzero().flatten().tolist() == [6 * i + j for i, j in enumerate(CHASED)]
