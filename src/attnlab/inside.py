"""Looking inside a trained model: what its heads look at, and what becomes of it when one is changed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from torch import Tensor, nn

from attnlab import require
from attnlab.attention import MultiHeadAttention
from attnlab.shapes import Weights

Change: TypeAlias = Callable[[Tensor], Tensor]  # (B, n, heads, d_k), as the heads give it, to the same shape


@contextmanager
def watched(model: nn.Module) -> Iterator[dict[str, Weights]]:
    """`with watched(model) as weights: model(words)` keeps the weights (B, heads, n, m) of every attention.

    They are kept by the attention's name in the model. What the model computes stays as it was; where it is
    called twice, the second call's weights are kept.

    >>> import torch
    >>> from attnlab.layers import EncoderLayer
    >>> with watched(EncoderLayer(d_model=8, heads=2, hidden=16)) as weights, torch.no_grad():
    ...     _ = EncoderLayer(d_model=8, heads=2, hidden=16)(torch.zeros(1, 3, 8))
    >>> weights  # another layer was called
    {}
    """
    weights: dict[str, Weights] = {}

    def watch(name: str, attention: MultiHeadAttention) -> None:
        # A layer asks for no weights, and would be given none.
        def ask(_: nn.Module, inputs: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
            return inputs, options | {"need_weights": True}

        def keep(_: nn.Module, __: Any, outputs: tuple[Tensor, Weights]) -> None:
            weights[name] = outputs[1].detach()

        hooks.append(attention.register_forward_pre_hook(ask, with_kwargs=True))
        hooks.append(attention.register_forward_hook(keep))

    hooks: list[Any] = []
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            watch(name, module)
    try:
        yield weights
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def heads_changed(attention: nn.Module, change: Change) -> Iterator[None]:
    """`with heads_changed(attention, zeroed(2)): model(words)` runs the model without its head 2.

    change is given what the heads mixed, (B, n, heads, d_k), before the output matrix joins them. If it was
    never asked, that is an error: a model in which nothing was changed would say that no head matters.

    >>> import torch
    >>> attention = MultiHeadAttention(d_model=8, heads=2)
    >>> with heads_changed(attention, torch.zeros_like), torch.no_grad():
    ...     attention(torch.randn(1, 3, 8))[0].abs().sum().item()
    0.0
    """

    asked = False

    def changed(_: nn.Module, inputs: tuple[Tensor]) -> Tensor:
        nonlocal asked
        asked = True
        mixed = inputs[0]  # (B, n, d_model)
        of: int = attention.heads  # type: ignore[assignment]
        heads = mixed.view(*mixed.shape[:2], of, -1)  # (B, n, heads, d_k)
        replaced = change(heads)
        require.same_shape("change must keep the shape", replaced, heads.shape)
        return replaced.flatten(2)  # (B, n, d_model)

    output = "write" if hasattr(attention, "write") else "out_proj"  # which joins the heads
    hook = attention.get_submodule(output).register_forward_pre_hook(changed)
    try:
        yield
    finally:
        hook.remove()
    if not asked:
        raise RuntimeError(
            f"no head was changed: {type(attention).__name__}.{output} was not called "
            "(nn.MultiheadAttention never calls its own: it hands the weights to a function)"
        )


def zeroed(head: int) -> Change:
    """`zeroed(2)` takes away what head 2 found."""
    return lambda heads: _with(heads, head, heads[:, :, head].mul(0))


def averaged(head: int) -> Change:
    """`averaged(2)` gives every place the mean of what head 2 finds, over all places and sequences."""
    return lambda heads: _with(heads, head, heads[:, :, head].mean((0, 1)))


def exchanged(head: int) -> Change:
    """`exchanged(2)` gives the first sequence what head 2 found in the last one, and the last the first's."""
    return lambda heads: _with(heads, head, heads[:, :, head].flip(0))


def _with(heads: Tensor, head: int, found: Tensor) -> Tensor:
    heads = heads.clone()  # the model's own stays whole
    heads[:, :, head] = found  # (B, n, d_k), or one vector for all
    return heads
