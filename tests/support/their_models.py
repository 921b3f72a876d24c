"""A model of ours and Hugging Face's of the same sizes: with the same weights both say the same."""

import torch
from torch import Tensor, nn

from attnlab.runtime import generator


def with_weights_of_their_own(ours: nn.Module, theirs: nn.Module) -> tuple[nn.Module, nn.Module]:
    """Both in evaluation, and no weight at the 0 or 1 that it starts from."""
    with torch.no_grad():
        for model in (ours, theirs):
            for weight in model.eval().parameters():
                weight.add_(0.2 * torch.randn(weight.shape))
    return ours, theirs


def some_ids(ours: nn.Module, length: int) -> Tensor:
    return torch.randint(len(ours.pieces.weight), (3, length), generator=generator(1))


@torch.no_grad()
def assert_one_model(ours: nn.Module, theirs: nn.Module, length: int) -> None:
    """Of one id and of many, and where each goes on with the likeliest piece, theirs from a cache."""
    ids = some_ids(ours, length)
    expected = theirs(ids).logits
    assert expected.std() > 0.3, "logits near 0 would be no test"
    torch.testing.assert_close(ours(ids), expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(ours(ids[:, :1]), theirs(ids[:, :1]).logits, rtol=0, atol=1e-5)
    begun = written = ids[:, :2]
    while written.shape[1] < length:
        written = torch.cat([written, ours(written)[:, -1:].argmax(-1)], dim=1)
    ones = torch.ones_like(begun)
    assert theirs.generate(begun, attention_mask=ones, do_sample=False, max_length=length).equal(written)
    assert len(written.unique()) > 2, "one piece again and again would be no test"
