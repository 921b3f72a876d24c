"""Which keys each query may see. One convention: a boolean mask (batch, n, m) in which True = may attend.

Either of the first two axes has length 1 where all examples, or all queries, see alike: `padding` makes
(batch, 1, m) and `causal` (1, n, m). A mask is never (batch, time): PyTorch would spread that over the wrong
axis, without a word, wherever two lengths happen to agree. So everything here refuses it.
"""

import torch
from torch import Tensor

from attnlab.shapes import Lengths, Mask


def padding(lengths: Lengths, longest: int | None = None) -> Mask:
    """`padding(torch.tensor([3, 1]))` shows the first 3 keys of one example, and the first of the other.

    >>> padding(torch.tensor([3, 1])).int().tolist()
    [[[1, 1, 1]], [[1, 0, 0]]]

    `longest` is the number of keys; without it, the longest example has no padding. An example longer than
    that, because it was cut, sees all its keys.
    """
    if lengths.dim() != 1 or lengths.dtype == torch.bool or lengths.is_floating_point():
        raise ValueError(
            f"lengths must be (batch,) whole numbers, got {tuple(lengths.shape)} of {lengths.dtype}"
        )
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
    if m < n:
        raise ValueError(
            f"m must be at least n, because the queries are the last n positions: got n = {n}, m = {m}"
        )
    return torch.ones(1, n, m, dtype=torch.bool, device=device).tril(m - n)


def combine(*masks: Mask) -> Mask:
    """`combine(padding(lengths), causal(3))` shows what every one of the masks shows.

    >>> combine(padding(torch.tensor([3, 2])), causal(3))[1].int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    """
    if not masks:
        raise ValueError("combine needs at least one mask")
    combined = masks[0]
    _check_mask(combined)
    for mask in masks[1:]:
        _check_mask(mask)
        if any(a != b and 1 not in (a, b) for a, b in zip(combined.shape, mask.shape, strict=True)):
            raise ValueError(f"masks {tuple(combined.shape)} and {tuple(mask.shape)} do not fit each other")
        combined = combined & mask  # (batch, n, m)
    return combined


def for_heads(mask: Mask) -> Tensor:
    """`for_heads(mask)` has one more axis, for heads that all see the same: (batch, 1, n, m).

    This is what F.scaled_dot_product_attention takes as attn_mask; there, too, True = may attend.

    >>> for_heads(padding(torch.tensor([3, 1]))).shape
    torch.Size([2, 1, 1, 3])
    """
    _check_mask(mask)
    return mask.unsqueeze(1)


def from_scaled_dot_product(attn_mask: Tensor) -> Mask:
    """`from_scaled_dot_product(attn_mask)` reads a boolean mask made for F.scaled_dot_product_attention.

    >>> from_scaled_dot_product(torch.ones(3, 3, dtype=torch.bool).tril()).equal(causal(3))
    True
    """
    _check_boolean("attn_mask", attn_mask)
    if attn_mask.dim() == 2:  # (n, m)
        return attn_mask[None]
    if attn_mask.dim() == 4 and attn_mask.shape[1] == 1:  # (batch, 1, n, m)
        return attn_mask[:, 0]
    raise ValueError(f"attn_mask must be (n, m) or (batch, 1, n, m), got {tuple(attn_mask.shape)}")


def to_multihead(mask: Mask, heads: int) -> dict[str, Tensor]:
    """`attention(x, x, x, **to_multihead(mask, heads=2))` is for nn.MultiheadAttention, where True = block.

    A mask (batch, 1, m) becomes its key_padding_mask (batch, m); (1, n, m) becomes its attn_mask (n, m); and
    (batch, n, m) its attn_mask (batch · heads, n, m), in which the heads of one example are neighbours.

    >>> to_multihead(causal(2), heads=2)["attn_mask"].int().tolist()
    [[0, 1], [0, 0]]
    """
    _check_mask(mask)
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
    if attn_mask is None and key_padding_mask is None:
        raise ValueError("from_multihead needs attn_mask, key_padding_mask or both")
    masks = []
    if attn_mask is not None:
        _check_boolean("attn_mask", attn_mask)
        if attn_mask.dim() == 2:
            attn_mask = attn_mask[None]  # (1, n, m)
        elif attn_mask.dim() == 3 and attn_mask.shape[0] % heads == 0:
            per_head = attn_mask.view(-1, heads, *attn_mask.shape[1:])  # (batch, heads, n, m)
            if (per_head != per_head[:, :1]).any():
                raise ValueError(
                    "attn_mask must hide the same from every head of an example, and it does not"
                )
            attn_mask = per_head[:, 0]  # (batch, n, m)
        else:
            got = f"got {tuple(attn_mask.shape)} and heads = {heads}"
            raise ValueError(f"attn_mask must be (n, m) or (batch · heads, n, m), {got}")
        masks.append(~attn_mask)
    if key_padding_mask is not None:
        _check_boolean("key_padding_mask", key_padding_mask)
        if key_padding_mask.dim() != 2:
            raise ValueError(f"key_padding_mask must be (batch, m), got {tuple(key_padding_mask.shape)}")
        masks.append(~key_padding_mask[:, None])  # (batch, 1, m)
    return combine(*masks)


def _check_mask(mask: Mask) -> None:
    _check_boolean("mask", mask)
    if mask.dim() == 2:
        hint = "write mask[:, None] if that is (batch, m), mask[None] if it is (n, m)"
        raise ValueError(f"mask must be (batch, n, m), got {tuple(mask.shape)}: {hint}")
    if mask.dim() != 3:
        raise ValueError(f"mask must be (batch, n, m), got {tuple(mask.shape)}")


def _check_boolean(name: str, mask: Tensor) -> None:
    if mask.dtype != torch.bool:
        raise TypeError(
            f"{name} must be boolean, got {mask.dtype}: a mask of 0 and -inf becomes one with `mask == 0`"
        )
