"""The chart of “A GPT of your own” draws from the stored model's chances as attnlab does."""

import pytest
import torch

from bookkit import weights
from chapters.a_gpt_of_your_own import models
from chapters.a_gpt_of_your_own.charts import IDS, KNOWN, SURPRISES


@pytest.mark.parametrize("given", SURPRISES)
@torch.no_grad()
def test_its_surprises_are_those_of_the_stored_model(given):
    model = models.gpt()
    weights.load("a_gpt_of_your_own/gpt", model, weights.STORED)
    pieces = models.pieces()
    ids = torch.tensor([[pieces.end, *pieces.encode(given)]])
    surprise, likeliest = (-model(ids)[0, -1].log_softmax(-1)).topk(KNOWN, largest=False)
    torch.testing.assert_close(torch.tensor(SURPRISES[given]).float(), 100 * surprise, atol=1, rtol=0)
    assert {*IDS[given]} == {*likeliest.tolist()}
