"""What the other rooms require of their arguments, and what they say where it is not so.

Each function returns where all is well. Otherwise it raises ValueError, or TypeError for the wrong kind of
thing, with the name of the argument, what was expected and what came.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from attnlab.shapes import Keys, Lengths, Mask, Queries, Values

# ---- numbers ----


def at_least(least: int, **numbers: int) -> None:
    """`require.at_least(1, heads=heads)` wants a whole number, 1 or more."""
    for name, number in numbers.items():
        if not hasattr(number, "__index__"):  # whole numbers of every kind have it, NumPy's too
            raise TypeError(f"{name} must be a whole number, got {number!r}")
        if number < least:
            raise ValueError(f"{name} must be at least {least}, got {number}")


def above_zero(**numbers: float) -> None:
    """`require.above_zero(base=base)` wants a number above 0, whole or not."""
    for name, number in numbers.items():
        if number <= 0:
            raise ValueError(f"{name} must be above 0, got {number}")


def stretch(factor: float, slow: float, fast: float, how: str) -> None:
    """`require.stretch(4, 1, 32, "mixed")` wants a factor of 1 or more, and a way that there is."""
    ways = ("interpolated", "larger base", "mixed")
    if how not in ways:
        raise ValueError(f"how must be one of {', '.join(map(repr, ways))}, got {how!r}")
    if not factor >= 1:
        raise ValueError(f"factor must be at least 1, got {factor}")
    if not 0 <= slow < fast:
        raise ValueError(f"slow must be at least 0 and below fast, got slow = {slow} and fast = {fast}")


def even(**widths: int) -> None:
    """`require.even(d_k=d_k)` wants 2, 4, 6 …"""
    for name, width in widths.items():
        if width < 2 or width % 2:
            raise ValueError(f"{name} must be even, since pairs of columns turn together, got {width}")


def dropout(share: float) -> None:
    """`require.dropout(0.1)` is fine; `require.dropout(1.0)` raises, since nothing would be left."""
    if not 0 <= share < 1:
        raise ValueError(f"dropout must be at least 0 and below 1, got {share}")


def divisor(heads: int, d_model: int) -> None:
    """`require.divisor(heads=8, d_model=512)` is fine: each head has 64 of the 512 numbers."""
    if heads < 1 or d_model % heads != 0:
        raise ValueError(f"heads must divide d_model, got d_model = {d_model} and heads = {heads}")


def groups(groups: int, heads: int, d_model: int) -> None:
    """`require.groups(groups=2, heads=6, d_model=96)` is fine: three heads share each group's keys."""
    divisor(heads, d_model)
    even(d_k=d_model // heads)
    if groups < 1 or heads % groups:
        raise ValueError(f"groups must divide heads, got heads = {heads} and groups = {groups}")


def same_rows(keys: Keys, before: Keys) -> None:
    """`require.same_rows(keys, cache.keys)` wants the batch and the heads that a cache began with."""
    if keys.shape[:-2] != before.shape[:-2] or keys.shape[-1] != before.shape[-1]:
        expected = (*before.shape[:-2], "…", before.shape[-1])
        raise ValueError(f"keys must fit the cache, {expected}, got {tuple(keys.shape)}")


def kept(length: int, remembered: int) -> None:
    """`require.kept(3, cache.length)` wants no more words than are remembered."""
    at_least(0, length=length)
    if length > remembered:
        raise ValueError(f"length must be at most {remembered}, the words remembered, got {length}")


def decay(share: float) -> None:
    """`require.decay(0.9)` is fine, and so is 1, which forgets nothing."""
    if not 0 < share <= 1:
        raise ValueError(f"decay must be above 0 and at most 1, got {share}")


def last_positions(n: int, m: int) -> None:
    """`require.last_positions(2, 5)` is fine: 2 queries can be the last of 5 positions."""
    if not 0 <= n <= m:
        wanted = "n must be from 0 to m, since the queries are the last n positions"
        raise ValueError(f"{wanted}, got n = {n}, m = {m}")


def chunk(queries: object) -> None:
    """`require.chunk(16)` is fine, and so are None and "auto"."""
    if queries not in (None, "auto") and not (isinstance(queries, int) and queries >= 1):
        raise ValueError(f'chunk must be None, "auto" or at least 1 query, got {queries!r}')


# ---- shapes ----


def axes(name: str, tensor: Tensor, *leading: str, **expected: int | None) -> None:
    """`require.axes("key", key, "…", m=None, d_k=64)` wants (…, m, d_k = 64): any length m, and d_k of 64.

    "…" stands for any axes. Without it there may be none but those that are named.
    """
    shape = tuple(tensor.shape)
    others = len(shape) - len(expected)
    right_number = others >= 0 if leading else others == 0
    if not right_number or any(
        length not in (None, came) for length, came in zip(expected.values(), shape[others:], strict=True)
    ):
        named = (axis if length is None else f"{axis} = {length}" for axis, length in expected.items())
        raise ValueError(f"{name} must be ({', '.join((*leading, *named))}), got {shape}")


def same_shape(wanted: str, tensor: Tensor, expected: Sequence[int]) -> None:
    """`require.same_shape("block must keep the shape", added, inputs.shape)` begins its message like this."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{wanted} {tuple(expected)}, got {type(tensor).__name__}")
    if tensor.shape != tuple(expected):
        raise ValueError(f"{wanted} {tuple(expected)}, got {tuple(tensor.shape)}")


def leading_axes(**tensors: Tensor) -> torch.Size:
    """`require.leading_axes(query=query, key=key)` is the shape before (length, width), which all must fit.

    >>> leading_axes(query=torch.ones(2, 1, 5, 8), key=torch.ones(3, 7, 8))
    torch.Size([2, 3])
    """
    (first_name, first), *_ = tensors.items()
    for name, tensor in tensors.items():
        if tensor.dim() < 2:
            raise ValueError(f"{name} must be (…, length, width), got {tuple(tensor.shape)}")
        if tensor.device != first.device:
            raise ValueError(f"{name} must be on {first.device}, as {first_name} is, got {tensor.device}")
    shapes = [tensor.shape[:-2] for tensor in tensors.values()]
    # First the usual case: broadcast_shapes takes longer than attention over a short sequence.
    if shapes[1:] == shapes[:-1]:
        return shapes[0]
    try:
        return torch.broadcast_shapes(*shapes)  # type: ignore[no-any-return, no-untyped-call]
    except RuntimeError:
        got = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(f"the leading axes must be equal or 1, got {got}") from None


def matching(query: Queries, key: Keys) -> None:
    """`require.matching(query, key)` wants (…, n, d_k) and (…, m, d_k)."""
    leading_axes(query=query, key=key)
    axes("key", key, "…", m=None, d_k=query.shape[-1])


def vectors(name: str, tensor: Tensor, **width: int | None) -> None:
    """`require.vectors("inputs", inputs, d_model=512)` wants (…, time, d_model = 512), floating-point."""
    if not tensor.is_floating_point():
        raise TypeError(f"{name} must be floating-point vectors, got {tensor.dtype}")
    axes(name, tensor, "…", time=None, **width)


def same_words(query: Queries, key: Keys, value: Values) -> None:
    """`require.same_words(query, key, value)` wants a query, a key and a value of each word."""
    vectors("query", query, d_k=None)
    axes("key", key, "…", time=query.shape[-2], d_k=query.shape[-1])
    axes("value", value, "…", time=query.shape[-2], d_v=None)
    for name, tensor in {"key": key, "value": value}.items():
        vectors(name, tensor, width=None)
    leading_axes(query=query, key=key, value=value)


def full_precision(**tensors: Tensor) -> None:
    """`require.full_precision(query=query, key=key)` wants all in float32, or all in float64."""
    dtypes = [tensor.dtype for tensor in tensors.values()]
    if dtypes[0] not in (torch.float32, torch.float64) or len({*dtypes}) > 1:
        *names, last = tensors
        wanted = f"{', '.join(names)} and {last} must be all float32 or all float64"
        raise TypeError(f"{wanted}, got {', '.join(map(str, dtypes))}")


def create_graph_off(name: str) -> None:
    """`require.create_graph_off("tiled")`, called on the way back, refuses to be differentiated once more."""
    if torch.is_grad_enabled():  # which it is there for create_graph=True alone
        wanted = f"create_graph must be False on the way back through {name}"
        raise ValueError(f"{wanted}, got True: take attend for second derivatives")


# ---- masks ----


def lengths(given: Lengths) -> None:
    """`require.lengths(torch.tensor([3, 1]))` is fine."""
    if given.dim() != 1 or given.dtype == torch.bool or given.is_floating_point():
        came = f"{tuple(given.shape)} of {given.dtype}"
        raise ValueError(f"lengths must be (batch,) whole numbers, got {came}")


def boolean(name: str, given: Tensor, true: str = "== 0") -> None:
    """`require.boolean("mask", mask)` says how a mask of 0 and -inf becomes one: here with `mask == 0`."""
    if given.dtype != torch.bool:
        hint = f"a mask of 0 and -inf becomes one with `{name} {true}`"
        raise TypeError(f"{name} must be boolean, got {given.dtype}: {hint}")


def mask(given: Mask) -> None:
    """`require.mask(causal(3))` is fine; a mask (batch, time) raises, with what to write instead."""
    boolean("mask", given)
    if given.dim() == 2:
        hint = "write mask[:, None] if that is (batch, m), mask[None] if it is (n, m)"
        raise ValueError(f"mask must be (batch, n, m), got {tuple(given.shape)}: {hint}")
    axes("mask", given, batch=None, n=None, m=None)


def masks(given: Sequence[Mask]) -> None:
    """`require.masks([causal(3), padding(lengths)])` wants one or more masks that fit each other."""
    if not given:
        raise ValueError("masks must be at least one, got none")
    for each in given:
        mask(each)
    shapes = [tuple(each.shape) for each in given]
    if any(len({*lengths} - {1}) > 1 for lengths in zip(*shapes, strict=True)):
        raise ValueError(f"masks must have axes that are equal or 1, got {shapes}")


def mask_fits(given: Mask, scores: Sequence[int], device: torch.device) -> None:
    """`require.mask_fits(mask, scores.shape, scores.device)` wants (…, n, m), or 1 in place of any but m.

    And as many axes as the scores have: PyTorch would let (batch, m) act on (n, m), or (batch, 1, m) on
    (heads, n, m), without a word where the lengths happen to agree.
    """
    boolean("mask", given)
    if given.device != device:
        raise ValueError(f"mask must be on {device}, as the scores are, got {given.device}")
    if (
        given.dim() != len(scores)
        or given.shape[-1] != scores[-1]
        or any(length not in (1, wanted) for length, wanted in zip(given.shape, scores, strict=True))
    ):
        wanted = f"{tuple(scores)}, or 1 in place of any but the last"
        raise ValueError(f"mask must be {wanted}, got {tuple(given.shape)}")


def masks_of_multihead(heads: int, attn_mask: Tensor | None, key_padding_mask: Tensor | None) -> None:
    """`require.masks_of_multihead(8, attn_mask, None)` wants masks of nn.MultiheadAttention, True = block."""
    if attn_mask is None and key_padding_mask is None:
        raise ValueError("attn_mask or key_padding_mask must be given, got neither")
    at_least(1, heads=heads)
    if attn_mask is not None:
        boolean("attn_mask", attn_mask, "!= 0")
        if attn_mask.dim() == 3 and len(attn_mask) % heads == 0:
            first = attn_mask[::heads].repeat_interleave(heads, dim=0)  # (batch · heads, n, m)
            if (attn_mask != first).any():
                raise ValueError(
                    "attn_mask must hide the same from every head of an example, and it does not"
                )
        elif attn_mask.dim() != 2:
            got = f"{tuple(attn_mask.shape)} and heads = {heads}"
            raise ValueError(f"attn_mask must be (n, m) or (batch · heads, n, m), got {got}")
    if key_padding_mask is not None:
        boolean("key_padding_mask", key_padding_mask, "!= 0")
        axes("key_padding_mask", key_padding_mask, batch=None, m=None)


# ---- training ----


def one_length(tensors: Sequence[Tensor]) -> None:
    """`require.one_length([inputs, targets])` wants as many inputs as targets, and at least one."""
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise TypeError(f"tensors must be tensors, got {_kinds(tensors)}")
    lengths = [len(tensor) for tensor in tensors]
    if len(set(lengths)) != 1 or lengths[0] == 0:
        raise ValueError(f"tensors must have one length, the number of examples, got lengths {lengths}")


def batch(given: object) -> None:
    """`require.batch((inputs, targets))` wants two or more tensors."""
    if not isinstance(given, (tuple, list)):
        raise TypeError(f"each batch must be a tuple (inputs, …, targets), got {type(given).__name__}")
    if len(given) < 2 or not all(isinstance(part, Tensor) for part in given):
        raise TypeError(f"each batch must hold tensors (inputs, …, targets), got {_kinds(given)}")


def _kinds(parts: Sequence[object]) -> str:
    return "(" + ", ".join(type(part).__name__ for part in parts) + ")"


def validation_for(validation: object, **wishes: object) -> None:
    """`require.validation_for(validation, patience=3)` wants the data that patience is about."""
    for name, wish in wishes.items():
        if wish is not None and validation is None:
            raise ValueError(f"validation must be given with {name}, got None")


def optimizer_of(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """`require.optimizer_of(model, optimizer)` wants one that updates this model.

    Updating another model's weights would raise no error: the loss would just never fall.
    """
    updated = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    if not any(id(parameter) in updated for parameter in model.parameters()):
        raise ValueError("optimizer must hold model's parameters, got others: use model.parameters()")


def same_weights(models: Sequence[nn.Module]) -> None:
    """`require.same_weights([build(seed) for seed in range(20)])` wants weights of the same shapes in all."""
    if not models:
        raise ValueError("models must hold at least one model, got none")
    shapes = [[tuple(tensor.shape) for tensor in (*model.parameters(), *model.buffers())] for model in models]
    for number, others in enumerate(shapes):
        if others != shapes[0]:
            raise ValueError(f"models[{number}] must have weights of shapes {shapes[0]}, got {others}")


# ---- pieces of text ----


def some_text(text: str) -> None:
    """`require.some_text("the")` is fine; "" has no bytes to learn from."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {type(text).__name__}")
    if not text:
        raise ValueError("text must hold at least one byte, got none")


def merge(pair: Sequence[int], place: int, known: int) -> None:
    """`require.merge((116, 104), place=0, known=256)` wants two pieces that are there before it."""
    if len(pair) != 2 or not all(0 <= number < known for number in pair):
        raise ValueError(f"merges[{place}] must join two pieces from 0 to {known - 1}, got {tuple(pair)}")


def spelled(pieces: Sequence[str], special: Container[int], letters: Iterable[str]) -> None:
    """`require.spelled(["h", "Ġh"], special=[], letters=letters())` wants letters that stand for bytes."""
    known = {*letters}
    for place, piece in enumerate(pieces):
        if place not in special and not known.issuperset(piece):
            raise ValueError(f"pieces[{place}] must be of letters that stand for bytes, got {piece!r}")


def listed(merges: Sequence[str], number: Container[str]) -> None:
    """`require.listed(["h i"], {"h": 0, "i": 1, "hi": 2})` wants pieces of the list, and what they make."""
    for place, merge in enumerate(merges):
        pair = merge.split(" ")
        if len(pair) != 2 or not all(piece in number for piece in (*pair, "".join(pair))):
            wanted = "must join two pieces of the list to a third"
            raise ValueError(f"merges[{place}] {wanted}, got {merge!r}")


def ids_below(vocabulary: int, ids: Sequence[int], name: str = "ids") -> None:
    """`require.ids_below(1024, [5, 1023])` wants numbers of pieces that there are."""
    strays = [number for number in ids if not 0 <= number < vocabulary]
    if strays:
        raise ValueError(f"{name} must be from 0 to {vocabulary - 1}, got {strays[0]}")


def messages(given: Sequence[object], roles: Sequence[str]) -> None:
    """`require.messages([{"role": "user", "content": "Hi"}], ["user"])` wants one or more, like this."""
    if not given:
        raise ValueError("messages must hold at least one, got none")
    for place, message in enumerate(given):
        if not isinstance(message, Mapping) or {*message} != {"role", "content"}:
            got = sorted(message) if isinstance(message, Mapping) else type(message).__name__
            raise ValueError(f"messages[{place}] must have a role and a content, got {got}")
        if message["role"] not in roles:
            wanted = f"messages[{place}]'s role must be one of {', '.join(roles)}"
            raise ValueError(f"{wanted}, got {message['role']!r}")
        if not isinstance(message["content"], str):
            came = type(message["content"]).__name__
            raise TypeError(f"messages[{place}]'s content must be a str, got {came}")


def ids(given: Tensor, vocabulary: int, context: int) -> None:
    """`require.ids(ids, vocabulary=1024, context=128)` wants (B, T) of them, with T up to 128."""
    if given.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"ids must be int64 or int32, got {given.dtype}")
    axes("ids", given, B=None, T=None)
    if given.shape[1] > context:
        raise ValueError(f"ids must be at most {context} long, the model's context, got {given.shape[1]}")
    if given.numel() and not 0 <= int(given.min()) <= int(given.max()) < vocabulary:
        raise ValueError(
            f"ids must be from 0 to {vocabulary - 1}, got {int(given.min())} to {int(given.max())}"
        )


def places(given: Tensor, ids: Tensor, longest: int) -> None:
    """`require.places(places, ids, longest=128)` wants one place, from 0 to 127, for each id (B, T)."""
    if given.dim() != 2 or given.shape[0] not in (1, len(ids)) or given.shape[1] != ids.shape[1]:
        raise ValueError(f"places must be {tuple(ids.shape)}, as ids are, got {tuple(given.shape)}")
    first, last = (float(place) for place in given.aminmax()) if given.numel() else (0, 0)
    if not 0 <= first <= last < longest:
        wanted = f"places must be from 0 to below {longest}, the model's longest"
        raise ValueError(f"{wanted}, got {first:g} to {last:g}")


def rows_of_ids(rows: Sequence[Sequence[int]]) -> None:
    """`require.rows_of_ids([[5, 1], [7]])` wants one row or more, and at least one whole number in each."""
    if not len(rows):
        raise ValueError("rows must hold at least one row, got none")
    for place, row in enumerate(rows):
        if not isinstance(row, Sequence):
            raise TypeError(f"rows[{place}] must be a list of ids, got {type(row).__name__}")
        if not row:
            raise ValueError(f"rows[{place}] must hold at least one id, got none")
        at_least(0, **{f"rows[{place}][{column}]": number for column, number in enumerate(row)})


def one_row(ids: Tensor) -> None:
    """`require.one_row(ids)` wants (1, T), with at least one id."""
    if ids.dim() != 2 or len(ids) != 1 or not ids.numel():
        raise ValueError(f"ids must be one row, (1, T), with at least one id, got {tuple(ids.shape)}")


def room(count: int, ids: Tensor, longest: int) -> None:
    """`require.room(50, ids, longest=128)` wants ids (B, T) and 50 more to fit into what a model can read."""
    at_least(1, count=count)
    if ids.shape[-1] + count > longest:
        raise ValueError(
            f"count must be at most {max(0, longest - ids.shape[-1])}, as ids are {ids.shape[-1]} and the "
            f"models read {longest}, got {count}"
        )


def crop(length: int, row: Tensor) -> None:
    """`require.crop(128, row)` wants a row from which 129 ids can be cut: the last is only predicted."""
    at_least(1, length=length)
    if length >= len(row):
        raise ValueError(f"length must be below {len(row)}, the ids in the row, got {length}")


def same_sizes(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """`require.same_sizes(model, checkpoint["model"])` wants the weights of a model of these very sizes."""
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    came = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    for name in sorted(wanted.keys() | came.keys()):
        if wanted.get(name) != came.get(name):
            expected, got = (
                "no such weight" if shapes.get(name) is None else str(shapes[name])
                for shapes in (wanted, came)
            )
            raise ValueError(f"the checkpoint's {name} must be {expected}, as in the model, got {got}")
