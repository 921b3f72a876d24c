"""Skip-gram with negative sampling, trained on several texts side by side."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnlab.runtime import generator

STRANGERS, BATCH = 5, 128
# Of .02, .05 and .1 the best, or within .02 of it, for 50 to 400 sentences.
RATE = 0.05


def train(
    loss: Callable[[Tensor, Tensor, Tensor], Tensor],
    texts: Sequence[Tensor],
    vocabulary: int,
    width: int = 16,
    steps: int = 1000,
) -> tuple[Tensor, Tensor]:
    """`words, contexts = train(loss, [pairs], vocabulary=31)` has two tables, (texts, 31, 16) each.

    Each text is its pairs of a word and a neighbour, (pairs, 2). The texts share nothing: their tables lie
    one below the other, and the ids of text i begin at i times the vocabulary. `loss` gets the tables and
    what was drawn, (batch, 1 + strangers, 2): a pair, then pairs whose neighbours are the strangers.
    """
    source = generator(0)
    lengths = torch.tensor([len(pairs) for pairs in texts])
    first = lengths.cumsum(0) - lengths  # where each text begins
    together = torch.cat([pairs + vocabulary * place for place, pairs in enumerate(texts)])
    start = 0.3 * torch.randn(2, len(texts) * vocabulary, width, generator=source)
    words, contexts = (table.clone().requires_grad_() for table in start)
    optimizer = torch.optim.Adam([words, contexts], lr=RATE)
    for _ in range(steps):
        share = torch.rand(len(texts), BATCH, 1 + STRANGERS, generator=source)
        chosen = first[:, None, None] + (share * lengths[:, None, None]).long()
        drawn = together[chosen].flatten(0, 1)  # (texts · batch, 1 + strangers, 2)
        optimizer.zero_grad()
        # The loss is a mean over all texts, and each should learn as if alone.
        (len(texts) * loss(words, contexts, drawn)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    shape = len(texts), vocabulary, width
    return words.detach().view(shape), contexts.detach().view(shape)
