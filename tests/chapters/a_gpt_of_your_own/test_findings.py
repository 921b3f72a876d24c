"""What the chapter says beside its playground of the stored model, measured once more in PyTorch."""

import pytest
import torch

from chapters.a_gpt_of_your_own import models
from chapters.a_gpt_of_your_own.playground import expected, loaded

TEXT = "If x, y are arrays, x,"
Y = models.pieces().encode(f"{TEXT} y")[-1]


def test_it_goes_on_with_what_followed_the_first_time():
    assert models.pieces().decode([Y]) == " y"
    chances = expected(TEXT)[1][-1]
    assert chances.argmax() == Y
    assert chances[Y] == pytest.approx(0.43, abs=0.006)


def test_without_head_2_of_layer_3_it_does_not():
    write = loaded().blocks[2].attention.write

    def silence(_: torch.nn.Module, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        heads = given[0].unflatten(-1, (loaded().blocks[2].attention.heads, -1)).clone()
        heads[..., 1, :] = 0
        return (heads.flatten(-2),)

    hook = write.register_forward_pre_hook(silence)
    try:
        chances = expected(TEXT)[1][-1]
    finally:
        hook.remove()
    assert chances.argmax() != Y
    assert chances[Y] == pytest.approx(0.05, abs=0.005)
