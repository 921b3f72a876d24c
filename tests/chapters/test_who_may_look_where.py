"""“Who may look where?”: what only its exercises say, and its chart."""

import math

import pytest
import torch
from exercise_cases import assert_right_shapes, telling, told
from living_charts import numbers, says
from playwright.sync_api import Locator

from attnlab import masks
from attnlab.attention import masked_softmax
from chapters.who_may_look_where.accepted import is_word, prove
from chapters.who_may_look_where.charts import MASKS, PLACES, SCORES, SIDES
from chapters.who_may_look_where.exercises import (
    check_batch_mask,
    check_empty_row,
    check_leak_proofs,
    check_mask_shapes,
)
from chapters.who_may_look_where.exercises.leak_proofs import suspects


def hidden_rows(lengths, n):
    return is_word(lengths, n)[..., None] & torch.ones(n, n).tril().bool()


def in_place(scores, mask):
    scores.masked_fill_(~mask & mask.any(-1, keepdim=True), -math.inf)
    return scores.softmax(-1) * mask.any(-1, keepdim=True)


def both_moved(model):
    one, other, place = prove(model) or (None, None, 0)
    return None if one is None else (one, (other + 1) % 6, place)


test_a_reader_is_told = telling(
    told(check_batch_mask, hidden_rows, "rows of the filler are empty"),
    told(
        check_batch_mask,
        lambda lengths, n: masks.padding(lengths, n) & masks.causal(n),
        "causal and padding are there already, and your code calls them",
    ),
    told(check_empty_row, in_place, "It writes into the scores that it was given"),
    told(
        check_leak_proofs,
        both_moved,
        "expected verdict: a proof got verdict: two texts that differ before the place",
    ),
)


def test_the_shapes_are_what_attnlab_makes():
    padding, causal = masks.padding(torch.tensor([7, 4, 2])), masks.causal(5, 7)
    names = {"padding": padding, "causal": causal, "both": masks.combine(padding, causal)}
    names |= {"for_heads": masks.for_heads, "to_multihead": masks.to_multihead}
    names |= {"masked_softmax": masked_softmax, "scores": torch.zeros(3, 4, 5, 7)}
    assert_right_shapes(check_mask_shapes, names)


@pytest.mark.parametrize(("place", "leaks"), list(enumerate([False, True, True, True, True, False])))
def test_four_of_the_six_suspects_leak(place, leaks):
    model = suspects()[place]
    one = torch.randint(6, (50, 8), generator=torch.Generator().manual_seed(0))
    moved = 0.0
    for start in range(1, 8):
        other = torch.cat([one[:, :start], (one[:, start:] + 1) % 6], dim=-1)
        moved = max(moved, (model(one) - model(other))[:, :start].abs().max().item())
    assert (moved > 0.1) is leaks


# --- the chart ---


TABLE = torch.tensor(SCORES, dtype=torch.float64)[None]  # (1, 6, 6)


def chosen(counted_words: int, mask: str, side: str) -> torch.Tensor:
    shown = masks.padding(torch.tensor([counted_words]), PLACES)  # (1, 1, 6)
    shown = shown if side == "at the end" else shown.flip(-1)
    everything = torch.ones(1, PLACES, PLACES, dtype=torch.bool)
    return everything & {
        "none": everything,
        "padding": shown,
        "causal": masks.causal(PLACES),
        "both": masks.combine(shown, masks.causal(PLACES)),
    }[mask]  # fmt: skip


@pytest.mark.thorough
def test_the_weights_and_the_readout_are_attnlabs(chart: Locator) -> None:
    counted = chart.get_by_role("slider")
    for side in SIDES:
        chart.get_by_label(side, exact=True).check()
        for mask in MASKS:
            chart.get_by_label(mask, exact=True).check()
            for counted_words in (2, 6, 1, 4):
                counted.fill(str(counted_words))
                weights = masked_softmax(TABLE, chosen(counted_words, mask, side))[0]  # (6, 6)
                filler = ~chosen(counted_words, "padding", side)[0]
                on_filler = 100 * (weights * filler).sum() / PLACES
                on_later = 100 * weights.triu(1).sum() / PLACES
                empty = PLACES - round(weights.sum().item())
                says(chart, f"weight on filler {on_filler:.0f} %, on later places {on_later:.0f} %")
                says(chart, f"rows that may look at nothing: {empty}")
                (drawn,) = numbers(chart, "weight")
                torch.testing.assert_close(drawn.view(PLACES, PLACES), weights, atol=1e-6, rtol=0)
