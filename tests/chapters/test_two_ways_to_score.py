"""“Two ways to score”: what only its exercises say, and its chart."""

import math

import pytest
import torch
from exercise_cases import assert_right_shapes, assert_trains, telling, told
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch.nn import functional as F

from attnlab import scores
from chapters.two_ways_to_score.accepted import Hidden, learned
from chapters.two_ways_to_score.charts import CELLS, EDGE, KEYS
from chapters.two_ways_to_score.exercises import (
    check_repaired_additive,
    check_score_shapes,
    check_trained_score,
)


def test_the_shapes_are_what_pytorch_says():
    query, key, weight = torch.rand(8, 50, 32), torch.rand(8, 200, 48), torch.rand(32, 48)
    query_weight, key_weight = torch.rand(64, 32), torch.rand(64, 48)
    vector = torch.rand(64, requires_grad=True)
    names = {"query": query, "key": key, "weight": weight, "query_weight": query_weight, "vector": vector}
    names |= {"asked": query @ query_weight.T, "offered": key @ key_weight.T}
    names["hidden"] = (names["asked"].unsqueeze(-2) + names["offered"].unsqueeze(-3)).tanh()
    names["concat_weight"] = torch.cat([query_weight, key_weight], dim=-1)
    (names["hidden"] @ vector).sum().backward()
    # The one matrix does what the two do, so its shape is the right one.
    torch.testing.assert_close(
        scores.concat(query, key, names["concat_weight"], vector), names["hidden"] @ vector
    )
    assert_right_shapes(check_score_shapes, names)


test_a_reader_is_told = telling(
    told(check_trained_score, learned(lambda: Hidden(bias=False)), "a constant inside the tanh?"),
)


def test_the_broken_code_trains_anyway():
    generator = torch.Generator().manual_seed(0)
    shapes = [(6, 3), (4, 3), (4, 5), (8, 3), (8, 3), (8,)]
    inputs = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    wanted = torch.randn(6, 5, generator=generator)
    _, broken = check_repaired_additive.mistakes["still broken"]
    assert_trains(lambda: F.mse_loss(broken(*inputs)[0], wanted), *inputs)


# --- the chart ---


IDENTITY, ONES = torch.eye(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
QUARTER_TURN = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
SCORES = {
    "dot": scores.dot,
    "general": lambda query, key: scores.general(query, key, QUARTER_TURN),
    "additive": lambda query, key: scores.additive(query, key, IDENTITY, IDENTITY, ONES),
}


@pytest.mark.thorough
def test_the_field_the_weights_and_the_readout_are_attnlabs(chart: Locator) -> None:
    marked = torch.tensor(list(KEYS.values()), dtype=torch.float64)  # (5, 2)
    middles = -EDGE + 2 * EDGE / CELLS * (torch.arange(CELLS, dtype=torch.float64) + 0.5)
    # From left to right first, then upwards.
    plane = torch.stack([middles.repeat(CELLS), middles.repeat_interleave(CELLS)], dim=-1)  # (400, 2)
    for name, score in SCORES.items():
        chart.get_by_label(name, exact=True).check()
        for direction, length in [(30, 2), (-135, 0.5), (180, 6), (0, 0)]:
            chart.get_by_label("direction of the query").fill(str(direction))
            chart.get_by_label("length of the query").fill(str(length))
            angle = math.radians(direction)
            query = length * torch.tensor([[math.cos(angle), math.sin(angle)]], dtype=torch.float64)
            table = score(query, marked)[0]  # (5,)
            x, y = (format(number, ".2f") for number in query[0].tolist())
            if length:
                words = f"query ({x}, {y}), best key {list(KEYS)[table.argmax()]}, score {table.max():.2f}"
                says(chart, f"{words}, its weight {table.softmax(-1).max():.3f}".replace("-", "−"))
            else:
                says(chart, "query (0.00, 0.00)")
            drawn = numbers(chart, "field", "weight")
            expected = [score(query, plane)[0], table.softmax(-1)]
            torch.testing.assert_close(drawn, expected, atol=1e-6, rtol=0)
