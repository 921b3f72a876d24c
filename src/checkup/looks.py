"""Every softmax that mixes something is watched: over what it sums, how its scores were scaled."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from checkup.marks import (
    ADDED,
    CAPS,
    DIVIDED,
    NORMALISED,
    PRODUCTS,
    PROJECTIONS,
    SOFTENED,
    TIMES,
    VIEWS,
    Look,
    Mark,
    contracted,
    flat,
    number,
    parts,
    shared_heads,
    size_ratio,
)
from checkup.trace import Trace


@dataclass
class Looks(TorchFunctionMode):
    """`with Looks(trace) as looks: model(ids)` keeps each `Look` in `looks.found`."""

    trace: Trace
    found: list[Look] = field(default_factory=list)
    _marks: dict[int, tuple[Tensor, Mark]] = field(default_factory=dict)
    # Plain tensors of the model, by id, with their names. They are kept, so that no other gets their id.
    plain: dict[int, tuple[Tensor, str]] = field(default_factory=dict)
    _learned: dict[int, Tensor] = field(default_factory=dict)  # what was made of weights alone
    met: dict[str, str] = field(default_factory=dict)  # those that met others, with the layer where
    looked_up: set[int] = field(default_factory=set)  # weights of which rows were picked
    multiplied: set[int] = field(default_factory=set)  # weights that were matrices of a product
    turned: list[tuple[str, Tensor]] = field(default_factory=list)  # angles of which a cosine was taken
    dropped: list[tuple[str, float]] = field(default_factory=list)  # shares dropped while training
    gates: list[tuple[str, float]] = field(default_factory=list)  # the largest number of each sigmoid
    live: list[tuple[str, Tensor]] = field(default_factory=list)  # what attends, where gradients are on

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        self._before(name, args, kwargs)
        result = func(*args, **kwargs)
        outputs = [part for part in parts(result) if isinstance(part, Tensor)]
        if name in PRODUCTS:
            self._multiplied(name, args, result)
        elif name == "softmax" and outputs:
            self._softened(args, kwargs, outputs[0])
        elif name == "scaled_dot_product_attention":
            self._fused(args, kwargs)
            self._keep_live(outputs[0])
        elif outputs:
            if name == "sigmoid" and outputs[0].numel() > 1:
                self.gates.append((self._where(), float(outputs[0].detach().max())))
            self._passed_on(name, args, kwargs, outputs)
        return result

    def forget(self) -> None:
        """`looks.forget()`, when the run is over, lets go of what was kept only to know it again."""
        self._marks.clear()
        self._learned.clear()

    # ---- marks ----

    def _mark(self, tensor: Any) -> Mark | None:
        known = self._marks.get(id(tensor))
        return known[1] if known else None

    def _put(self, tensor: Tensor, mark: Mark) -> None:
        self._marks[id(tensor)] = (tensor, mark)  # the tensor is kept, so that no other gets its id

    def _where(self) -> str:
        return self.trace.running[-1] if self.trace.running else ""

    def _keep_live(self, tensor: Tensor) -> None:
        if tensor.requires_grad:
            tensor.retain_grad()
            self.live.append((self._where(), tensor))

    def _before(self, name: str, args: Any, kwargs: dict[str, Any]) -> None:
        given = [part for part in (*flat(args), *kwargs.values()) if isinstance(part, Tensor)]
        if name in ("embedding", "__getitem__", "index_select") and given:
            self.looked_up.update(id(tensor) for tensor in given)
        if name in PRODUCTS | PROJECTIONS:
            for tensor in given:
                self.multiplied.update((id(tensor), id(tensor._base)))
        if name in ("cos", "cos_") and given:
            self.turned.append((self._where(), given[0].detach().clone()))
        if name in ("dropout", "dropout1d") and (
            (len(args) > 2 and args[2]) or kwargs.get("training", len(args) < 3)
        ):
            share = args[1] if len(args) > 1 else kwargs.get("p", 0.5)
            self.dropped.append((self._where(), float(share)))

    def _passed_on(self, name: str, args: Any, kwargs: dict[str, Any], outputs: list[Tensor]) -> None:
        given = [part for part in (*flat(args), *kwargs.values()) if isinstance(part, Tensor)]
        self._follow_plain(name, args, kwargs, given, outputs)
        if given and all(self._is_learned(tensor) for tensor in given):
            self._learned.update((id(output), output) for output in outputs)
        marked = [mark for mark in map(self._mark, given) if mark]
        if name in PROJECTIONS:
            vectors = given[1] if name == "addmm" and len(given) > 1 else given[0]
            for output in outputs:
                self._put(output, Mark(projected=True, sources=(vectors.detach(),)))
            return
        if not marked:
            return
        mark = next((mark for mark in marked if mark.look or mark.product), marked[0])
        factor = mark.factor
        if name in TIMES | DIVIDED:
            other = None if any(map(self._is_learned, given)) else number(args)
            if other is None:
                factor = None if any(map(self._scales, given)) else factor
            elif factor is not None:
                factor = factor * other if name in TIMES else factor / other if other else None
        elif name in NORMALISED:
            factor = None  # what is learned or configured then says how large scores are
        elif name not in VIEWS | ADDED | CAPS and mark.product:
            return  # an exp, a sigmoid: what follows is no scaled product any more
        if name in ADDED and sum(one.product is not None for one in marked) > 1:
            factor = None  # several products added spread more than one: what divides them can't be told
        look = mark.look if name in SOFTENED else None
        for output in outputs:
            projected = any(one.projected for one in marked)
            kept = replace(mark, factor=factor, projected=projected, look=look)
            self._put(output, kept)

    def _is_learned(self, tensor: Tensor) -> bool:
        """Whether it is a weight, or made of weights alone."""
        return tensor.requires_grad or id(tensor) in self._learned

    def _scales(self, tensor: Tensor) -> bool:
        """Whether it makes vectors or scores larger, by what is learned or computed."""
        return self._is_learned(tensor) or tensor.numel() == 1 or tensor.shape[-1:] == (1,)

    def _follow_plain(
        self, name: str, args: Any, kwargs: dict[str, Any], given: list[Tensor], outputs: list[Tensor]
    ) -> None:
        names = [self.plain[id(tensor)][1] for tensor in given if id(tensor) in self.plain]
        if not names:
            return
        moved = name in ("type_as", "cuda", "expand_as") or (
            name == "to"
            and any(isinstance(part, torch.device | str | Tensor) for part in (*args[1:], *kwargs.values()))
        )
        others = [tensor for tensor in given if id(tensor) not in self.plain and tensor.dim() > 0]
        if others and not moved and name not in ("copy_", "__set__"):
            self.met.setdefault(names[0], self._where())
        elif moved:  # on the device where it is already, it is returned itself
            for output in outputs:
                self.plain.pop(id(output), None)
        elif len(given) == 1:
            for output in outputs:
                self._put(output, self._mark(output) or Mark())
                self.plain[id(output)] = (output, names[0])

    # ---- products and softmaxes ----

    def _multiplied(self, name: str, args: Any, result: Any) -> None:
        operands = [part for part in flat(args) if isinstance(part, Tensor)]
        if len(operands) != 2 or not isinstance(result, Tensor):
            return
        one, other = operands
        self._follow_plain(name, args, {}, operands, [])
        axes = contracted(name, args, one, other)
        first, second = self._mark(one), self._mark(other)
        for tensor, mark, axis in ((one, first, axes[0]), (other, second, axes[1])):
            if mark and mark.look and axis is not None:
                look = mark.look
                look.values_shared = shared_heads(other if tensor is one else one)
                if look.sums is None:
                    look.sums = tensor.detach().sum(axis)
                    look.complete = tensor.shape[axis] == look.weights.shape[look.axis] or look.axis != -1
                return
        if axes[0] is None or min(one.dim(), other.dim()) < 2 or other.dim() == 2:
            if other.dim() == 2:
                self._put(result, Mark(projected=True, sources=(one.detach(),)))
            return
        mine, theirs = first or Mark(), second or Mark()
        factor = None if mine.factor is None or theirs.factor is None else mine.factor * theirs.factor
        ratio = size_ratio(one, other)
        width = one.shape[axes[0]]
        product = (width, ratio, mine.projected and theirs.projected)
        shared = shared_heads(other if name != "einsum" else None)
        sources = mine.sources + theirs.sources
        self._put(result, Mark(factor, False, product, sources=sources, keys_shared=shared))

    def _softened(self, args: Any, kwargs: dict[str, Any], weights: Tensor) -> None:
        scores = args[0] if args else kwargs.get("input")
        axis = kwargs.get("dim", args[1] if len(args) > 1 else -1)
        if not isinstance(scores, Tensor) or scores.dim() < 2 or not isinstance(axis, int):
            return
        mark = self._mark(scores)
        width, ratio, projected = mark.product if mark and mark.product else (None, None, False)
        factor = mark.factor if mark and mark.product else None
        axis = axis if axis < 0 else axis - scores.dim()
        look = Look(
            self._where(),
            scores.detach().clone(),
            weights.detach().clone(),
            axis,
            factor,
            width,
            ratio,
            projected,
            sources=mark.sources if mark and mark.product else (),
            keys_shared=mark.keys_shared if mark else None,
        )
        self._put(weights, Mark(look=look))
        self._keep_live(weights)
        self.found.append(look)

    def _fused(self, args: Any, kwargs: dict[str, Any]) -> None:
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = dict(zip(names, args, strict=False)) | kwargs
        query, key = given["query"].detach(), given["key"].detach()
        if given.get("dropout_p"):
            self.dropped.append((self._where(), float(given["dropout_p"])))
        if key.dim() > 2 and key.shape[-3] != query.shape[-3]:
            key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        width = query.shape[-1]
        own, theirs = (self._mark(given[name]) or Mark() for name in ("query", "key"))
        scale = given.get("scale")
        scale = 1 / math.sqrt(width) if scale is None else float(scale)
        factor = None if own.factor is None or theirs.factor is None else own.factor * theirs.factor * scale
        scores = query @ key.transpose(-2, -1) * scale  # (…, n, m)
        mask = given.get("attn_mask")
        if given.get("is_causal"):
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        if mask is not None:
            bool_mask = mask.dtype == torch.bool
            scores = scores.masked_fill(~mask, -math.inf) if bool_mask else scores + mask.detach()
        ratio = size_ratio(query, key)
        weights = scores.softmax(-1)
        projected = own.projected and theirs.projected
        look = Look(self._where(), scores, weights, -1, factor, width, ratio, projected, weights.sum(-1))
        look.sources = own.sources + theirs.sources
        look.keys_shared, look.values_shared = shared_heads(given["key"]), shared_heads(given["value"])
        self.found.append(look)
