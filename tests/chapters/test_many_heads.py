"""“Many heads”: what only its exercises say, and its chart."""

import pytest
import torch
from exercise_cases import of, telling, words
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch import nn

from attnlab.attention import attend
from chapters.many_heads.accepted import ACCEPTED, MyMultiHead, variant
from chapters.many_heads.exercises import check_multi_head_layer, check_multi_head_parameters


def by_pytorch(self, query, key, value, mask=None):
    """Their own layer, with these matrices."""
    theirs = nn.MultiheadAttention(self.W_O.in_features, self.heads, batch_first=True, dtype=query.dtype)
    three = self.W_Q, self.W_K, self.W_V
    state = {
        "in_proj_weight": torch.cat([W.weight for W in three]),
        "in_proj_bias": torch.cat([W.bias for W in three]),
        "out_proj.weight": self.W_O.weight,
        "out_proj.bias": self.W_O.bias,
    }
    blocked = None if mask is None else ~mask.expand(-1, query.shape[1], -1).repeat_interleave(self.heads, 0)
    return torch.func.functional_call(
        theirs, state, (query, key, value), {"attn_mask": blocked, "average_attn_weights": False}
    )


def by_attend(self, query, key, value, mask=None):
    queries, keys, values = (
        self.cut(W(x)) for W, x in ((self.W_Q, query), (self.W_K, key), (self.W_V, value))
    )
    output, weights = attend(queries, keys, values, mask=None if mask is None else mask[:, None])
    return self.W_O(self.glue(output)), weights


NO_GRADIENT = "no gradient reaches query, key and value,"
test_who_builds_a_layer_is_told = telling(
    *of(
        check_multi_head_layer,
        (variant(forward=torch.no_grad()(MyMultiHead.forward)), NO_GRADIENT, "no gradient"),
        (variant(cut=lambda self, x: MyMultiHead.cut(self, x).detach()), NO_GRADIENT, "no gradient"),
        (
            variant(weights=lambda self, *inputs: MyMultiHead.weights(self, *inputs).detach()),
            "no gradient reaches query and key,",
            "no gradient",
        ),
        (variant(forward=by_attend), "attend is there already, and your code calls it", "ready-made"),
        (variant(forward=by_pytorch), "MultiheadAttention is there already, and your code", "ready-made"),
        marks=pytest.mark.thorough,
    )
)


def test_the_reference_counts_what_a_layer_holds():
    for d_model, heads, bias in ((4, 1, True), (6, 3, False), (512, 8, True)):
        layer = nn.MultiheadAttention(d_model, heads, bias=bias)
        counted = check_multi_head_parameters.reference(d_model, heads, bias)
        assert counted == sum(each.numel() for each in layer.parameters())


@pytest.mark.thorough
def test_a_remark_on_a_loop_over_the_heads_alone():
    for name, layer in ACCEPTED[check_multi_head_layer].items():
        remarked = "A loop of Python's" in words(check_multi_head_layer.judge(layer))
        assert remarked == (name == "head by head"), name


# --- the chart ---


@pytest.mark.thorough
def test_each_head_and_their_mean(chart: Locator) -> None:
    chart.get_by_label("their mean", exact=True).check()
    says(chart, "their mean: most weight")
    (mean,) = numbers(chart, "weight")
    heads = []
    for head in range(1, 5):
        chart.get_by_label(f"head {head}", exact=True).check()
        said = says(chart, f"head {head}: most weight")
        (weights,) = numbers(chart, "weight")
        table = weights.view(8, 8)  # a row for each guest that asks
        torch.testing.assert_close(table.sum(-1), torch.ones(8).double(), atol=0.041, rtol=0)  # two decimals
        # On average over the guests, by how far away the other one sits.
        away = torch.stack([table.roll(-k, dims=1).diagonal().mean() for k in range(-3, 5)])
        k = int(away.argmax()) - 3
        assert f"{abs(k)} to the {'left' if k < 0 else 'right'}" in said
        assert abs(float(said.split()[-1]) - away.max()) < 0.00501  # two decimals
        heads.append((k, table))
    assert {k for k, _ in heads} == {-2, -1, 1, 2}  # as the removals told
    expected = torch.stack([table for _, table in heads]).mean(0)
    torch.testing.assert_close(mean.view(8, 8), expected, atol=1e-9, rtol=0)
