"""Which keys each query may see. One convention: a boolean mask (batch, n, m) in which True = may attend.

Either of the first two axes has length 1 where all examples, or all queries, see alike: `padding` makes
(batch, 1, m) and `causal` (1, n, m). A mask is never (batch, time): PyTorch would spread that over the wrong
axis, without a word, wherever two lengths happen to agree. So everything here refuses it.
"""

import torch
from torch import Tensor

from attnlab import require
from attnlab.shapes import Lengths, Mask


def padding(lengths: Lengths, longest: int | None = None) -> Mask:
    """`padding(torch.tensor([3, 1]))` shows the first 3 keys of one example, and the first of the other.

    >>> padding(torch.tensor([3, 1])).int().tolist()
    [[[1, 1, 1]], [[1, 0, 0]]]

    `longest` is the number of keys; without it, the longest example has no padding. An example longer than
    that, because it was cut, sees all its keys.
    """
    require.lengths(lengths)
    if longest is None:
        longest = int(lengths.max())
    positions = torch.arange(longest, device=lengths.device)
    return (positions < lengths[:, None])[:, None]  # (batch, m), then (batch, 1, m)


def causal(n: int, m: int | None = None, device: torch.device | None = None) -> Mask:
    """`causal(3)` lets each position see itself and what came before.

    >>> causal(3).int().tolist()
    [[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]

    With m > n the queries are the last n of the m positions, as when earlier keys come from a cache: the last
    query sees the last key. (`is_causal=True` of F.scaled_dot_product_attention lines up the first ones.)

    >>> causal(2, 4).int().tolist()
    [[[1, 1, 1, 0], [1, 1, 1, 1]]]
    """
    m = n if m is None else m
    require.last_positions(n, m)
    return torch.ones(1, n, m, dtype=torch.bool, device=device).tril(m - n)


def window(
    n: int, width: int, sinks: int = 0, m: int | None = None, device: torch.device | None = None
) -> Mask:
    """`window(4, width=2)` lets each position see itself and the one before it: the last two.

    >>> window(4, width=2).int().tolist()
    [[[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]]

    The first `sinks` positions stay in sight for all that come after them. With m > n as in `causal`.

    >>> window(4, width=2, sinks=1).int().tolist()
    [[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]]]
    """
    require.at_least(1, width=width)
    require.at_least(0, sinks=sinks)
    before = causal(n, m, device)  # (1, n, m)
    seen = before.triu(before.shape[-1] - n - width + 1)
    seen[..., :sinks] = before[..., :sinks]
    return seen


def combine(*masks: Mask) -> Mask:
    """`combine(padding(lengths), causal(3))` shows what every one of the masks shows.

    >>> combine(padding(torch.tensor([3, 2])), causal(3))[1].int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    """
    require.masks(masks)
    combined = masks[0]
    for mask in masks[1:]:
        combined = combined & mask  # (batch, n, m)
    return combined


def for_heads(mask: Mask) -> Tensor:
    """`for_heads(mask)` has one more axis, for heads that all see the same: (batch, 1, n, m).

    This is what F.scaled_dot_product_attention takes as attn_mask; there, too, True = may attend.

    >>> for_heads(padding(torch.tensor([3, 1]))).shape
    torch.Size([2, 1, 1, 3])
    """
    require.mask(mask)
    return mask.unsqueeze(1)


def to_multihead(mask: Mask, heads: int) -> dict[str, Tensor]:
    """`attention(x, x, x, **to_multihead(mask, heads=2))` is for nn.MultiheadAttention, where True = block.

    A mask (batch, 1, m) becomes its key_padding_mask (batch, m); (1, n, m) becomes its attn_mask (n, m); and
    (batch, n, m) its attn_mask (batch · heads, n, m), in which the heads of one example are neighbours.
    A mask (1, 1, m) could be of the first or the second kind. It becomes the first, for a batch of one.

    >>> to_multihead(causal(2), heads=2)["attn_mask"].int().tolist()
    [[0, 1], [0, 0]]
    """
    require.mask(mask)
    batch, n, _ = mask.shape
    if n == 1:
        return {"key_padding_mask": ~mask[:, 0]}
    if batch == 1:
        return {"attn_mask": ~mask[0]}
    return {"attn_mask": (~mask).repeat_interleave(heads, dim=0)}


def from_multihead(
    heads: int, attn_mask: Tensor | None = None, key_padding_mask: Tensor | None = None
) -> Mask:
    """`from_multihead(heads=2, attn_mask=blocked)` reads masks of nn.MultiheadAttention, where True = block.

    >>> from_multihead(heads=2, key_padding_mask=torch.tensor([[False, False, True]])).int().tolist()
    [[[1, 1, 0]]]
    """
    require.masks_of_multihead(heads, attn_mask, key_padding_mask)
    masks = []
    if attn_mask is not None and attn_mask.dim() == 2:
        masks.append(~attn_mask[None])  # (1, n, m)
    elif attn_mask is not None:
        masks.append(~attn_mask[::heads])  # (batch, n, m), as the first head of each example has it
    if key_padding_mask is not None:
        masks.append(~key_padding_mask[:, None])  # (batch, 1, m)
    return combine(*masks)
