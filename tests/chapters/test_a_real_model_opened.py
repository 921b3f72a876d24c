"""“A real model, opened”: what only its exercises say, and what it measures by."""

import pytest
import torch
from exercise_cases import telling, told

from attnlab.runtime import generator
from attnlab.today import gguf, opened
from attnlab.today.looks import streams
from attnlab.today.model import Today
from chapters.a_real_model_opened import models
from chapters.a_real_model_opened.exercises import pruned_heads
from chapters.a_real_model_opened.exercises.copying_heads import check_copying_heads
from chapters.a_real_model_opened.exercises.patched_stream import check_patched_stream
from chapters.a_real_model_opened.exercises.repaired_rows import check_repaired_rows
from chapters.a_real_model_opened.exercises.unpacked_block import check_unpacked_block

test_a_reader_is_told = telling(
    told(check_unpacked_block, gguf.q4_1, "✗ is written without what is there already"),
    told(check_repaired_rows, lambda query, key, heads: (opened.halves(query, heads), key), "✗"),
    told(check_copying_heads, lambda weights, n: weights.mean((2, 3)), "✗"),
    told(check_patched_stream, lambda model, ids, other, place: model(other)[0, -1].expand(3, -1), "✗"),
)


@pytest.mark.parametrize("bits", models.BITS)
def test_rounding_keeps_as_many_steps_as_there_are_bits_and_costs_nothing_the_second_time(bits: int):
    matrix = torch.randn(6, 64, generator=generator(bits))
    once = models.rounded(matrix, bits, share=32)
    assert max(len(block.unique()) for block in once.view(-1, 32)) <= 2**bits
    step = (matrix.view(-1, 32).amax(1) - matrix.view(-1, 32).amin(1)) / (2**bits - 1)
    assert ((once - matrix).abs().view(-1, 32) <= step[:, None] / 2 + 1e-6).all()
    torch.testing.assert_close(models.rounded(once, bits, share=32), once)


def test_what_a_text_costs_goes_to_that_text():
    row = torch.tensor([5, 6, 0, 7, 0, 8, 9, 0])
    costs = torch.tensor([1.0, 2, 4, 8, 16, 32, 64])  # of all but the first
    assert models.by_text(costs, row, end=0).tolist() == [3, 12, 112]


def test_a_piece_alone_sees_itself_and_is_seen_by_all_behind_it():
    visible = models.sights(100)["with the eleventh, alone"][0]
    assert visible[10].nonzero().tolist() == [[10]]
    assert visible[10:, 10].all()
    assert not visible[:10, 10].any()
    assert visible[99].sum() == models.SIGHT + 1


def test_changed_matrices_are_put_back():
    model = Today(20, 8, 2, 1, 16, 2, 32)
    rows = torch.randint(20, (2, 9), generator=generator(0))
    before, kept = models.changed(model, torch.zeros_like, [], rows), streams(model, rows)
    assert models.changed(model, torch.zeros_like, ["blocks.1.attention.value"], rows) != before
    assert torch.equal(streams(model, rows), kept)


@pytest.mark.thorough
def test_what_heads_may_cost_is_counted_from_what_the_whole_model_costs():
    # Between instruction sets the sixth digit differs.
    assert pruned_heads.bits([], pruned_heads.held_out()) == pytest.approx(pruned_heads.WHOLE, abs=1e-5)
