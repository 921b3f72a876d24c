"""The scores: equal to their formulas pair by pair, the lean additive one in values, gradients and memory."""

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensors import (
    HALVES,
    META,
    TOLERANCE,
    assert_same,
    assert_same_gradients,
    learnable,
    quick,
    random,
    several,
)
from torch import Tensor
from torch.func import grad, vmap

from attnlab import scores
from attnlab.scores import Additive, Concat, General, additive, concat, dot, general, scaled_dot
from bookkit.memory import peak_memory

Chunk = int | Literal["auto"] | None
# One query at a time, a chunk that may leave a rest, one that holds all the queries, and the chosen one.
CHUNKS: list[Chunk] = [1, 2, 100, "auto"]
# By a score: its formula for one query and one key, and the shapes of its weights.
FORMULAS: dict[Callable[..., Tensor], tuple[Callable[..., Tensor], Callable[..., list]]] = {
    dot: (lambda q, k: (q * k).sum(), lambda d_q, d_k, h: []),
    scaled_dot: (lambda q, k: (q * k).sum() / math.sqrt(len(k)), lambda d_q, d_k, h: []),
    general: (lambda q, k, w: q @ w @ k, lambda d_q, d_k, h: [(d_q, d_k)]),
    concat: (
        lambda q, k, w, v: v @ torch.tanh(w @ torch.cat([q, k])),
        lambda d_q, d_k, h: [(h, d_q + d_k), (h,)],
    ),
    additive: (
        lambda q, k, w, u, v: v @ torch.tanh(w @ q + u @ k),
        lambda d_q, d_k, h: [(h, d_q), (h, d_k), (h,)],
    ),
}


def pair_by_pair(query: Tensor, key: Tensor, formula: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """The score of each query with each key, computed alone."""
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    queries = query.expand(*leading, -1, -1).reshape(-1, *query.shape[-2:])
    keys = key.expand(*leading, -1, -1).reshape(-1, *key.shape[-2:])
    found = [formula(q, k) for i in range(len(queries)) for q in queries[i] for k in keys[i]]
    return torch.stack(found).view(*leading, query.shape[-2], key.shape[-2])


@pytest.mark.parametrize("score", FORMULAS)
@quick
@given(st.data())
def test_equals_its_formula(score: Callable[..., Tensor], data: st.DataObject) -> None:
    formula, weights = FORMULAS[score]
    dtype = data.draw(st.sampled_from(list(TOLERANCE)))
    # The last two broadcast: each example's one query set meets two key sets, and one key set serves all.
    leading = st.sampled_from([((), ()), ((2,), (2,)), ((2, 2), (2, 2)), ((2, 1), (2, 2)), ((2,), ())])
    of_query, of_key = data.draw(leading)
    n, m, d_query, d_key = (data.draw(st.integers(1, 4)) for _ in range(4))
    if score in (dot, scaled_dot):
        d_key = d_query
    shapes = (
        (*of_query, n, d_query),
        (*of_key, m, d_key),
        *weights(d_query, d_key, data.draw(st.integers(1, 3))),
    )
    inputs = learnable(*several(*shapes, dtype=dtype, seed=1))
    more = {"chunk": data.draw(st.sampled_from([None, *CHUNKS]))} if score is additive else {}
    ours = score(*inputs, **more)
    theirs = pair_by_pair(*inputs[:2], lambda q, k: formula(q, k, *inputs[2:]))
    assert_same(ours, theirs)
    assert_same_gradients(ours, theirs, inputs)


def test_scaled_dot_stays_in_range_where_dot_overflows() -> None:
    query = torch.full((1, 256), 20.0, dtype=torch.float16)
    assert dot(query, query).item() == math.inf  # 20 · 20 · 256 = 102400; float16 ends at 65504
    assert scaled_dot(query, query).item() == 6400


# Sums of at most 8 numbers of order 1, rounded once for each product in a row: a few steps of the type.
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("score", [scaled_dot, general, concat, additive, partial(additive, chunk=2)])
def test_half_precision(score: Callable[..., Tensor], dtype: torch.dtype) -> None:
    _, weights = FORMULAS[getattr(score, "func", score)]
    inputs = several((2, 5, 8), (2, 6, 8), dtype=dtype)
    inputs += [weight / 4 for weight in several(*weights(8, 8, 4), dtype=dtype, seed=2)]
    ours, exact = score(*inputs), score(*(each.double() for each in inputs))
    assert ours.dtype == dtype
    steps = 16 * torch.finfo(dtype).eps
    torch.testing.assert_close(ours.double(), exact, rtol=steps, atol=steps)


# ---- lean ----


def of_additive(*leading: int, n: int = 5, m: int = 4) -> list[Tensor]:
    return learnable(*several((*leading, n, 3), (*leading, m, 2), (6, 3), (6, 2), (6,)))


@pytest.mark.parametrize("chunk", CHUNKS)
def test_lean_equals_plain_twice(chunk: Chunk) -> None:
    inputs, seconds = of_additive(2), []
    lean, plain = additive(*inputs, chunk=chunk), additive(*inputs)
    assert_same(lean, plain)
    for found in (lean, plain):
        first = torch.autograd.grad(found.square().sum(), inputs, create_graph=True)
        seconds.append((first, torch.autograd.grad(sum(x.square().sum() for x in first), inputs)))
    torch.testing.assert_close(*seconds)


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0)])
def test_no_queries_or_no_keys(n: int, m: int) -> None:
    inputs = of_additive(2, n=n, m=m)
    found = additive(*inputs, chunk="auto")
    assert found.shape == (2, n, m)
    assert all(x.eq(0).all() for x in torch.autograd.grad(found.sum(), inputs))


def test_memory_is_a_sixteenth_of_plain() -> None:
    shapes = (512, 64), (512, 64), (64, 64), (64, 64), (64,)  # n = m = 512, everything else 64
    inputs = learnable(*several(*shapes, dtype=torch.float32))

    def forward(chunk: Chunk) -> None:
        with torch.no_grad():
            additive(*inputs, chunk=chunk)

    def both_ways(chunk: Chunk) -> None:
        torch.autograd.grad(additive(*inputs, chunk=chunk).sum(), inputs)

    for run in (forward, both_ways):
        lean, plain = (peak_memory(partial(run, chunk), torch.device("cpu")) for chunk in ("auto", None))
        assert 0 < lean <= plain / 16


def test_many_seeds_at_once_are_scored_lean_and_learn_plain() -> None:
    query, key = several((2, 5, 3), (2, 4, 2))
    # One set of weights for each of 3 seeds, as torch.func stacks them.
    parameters = learnable(*several((3, 6, 3), (3, 6, 2), (3, 6)))

    def loss(*weights: Tensor, chunk: Chunk = None) -> Tensor:
        return additive(query, key, *weights, chunk=chunk).softmax(-1).square().sum()

    lean = partial(loss, chunk=2)
    one_by_one = torch.stack([loss(*weights) for weights in zip(*parameters, strict=True)])
    assert_same(vmap(loss)(*parameters), one_by_one)
    assert_same(vmap(lean)(*parameters), one_by_one)
    (gradient,) = torch.autograd.grad(one_by_one.sum(), parameters[:1])
    assert_same(vmap(grad(loss))(*parameters), gradient)


@pytest.mark.thorough
def test_compiles() -> None:
    inputs = of_additive()
    compiled = torch.compile(lambda *args: additive(*args, chunk=2), backend="aot_eager", fullgraph=True)
    ours, theirs = compiled(*inputs), additive(*inputs)
    assert_same(ours, theirs)
    assert_same_gradients(ours, theirs, inputs)


# ---- modules ----


@pytest.mark.parametrize(
    ("module", "function", "shapes"),
    [
        (General(2, 3), general, {"weight": (2, 3)}),
        (Concat(2, 3, hidden=8), concat, {"weight": (8, 5), "vector": (8,)}),
        (Additive(2, 3, hidden=8, chunk=1), additive,
            {"query_weight": (8, 2), "key_weight": (8, 3), "vector": (8,)}),
    ],
)  # fmt: skip
def test_a_module_is_its_function_with_weights(module, function, shapes) -> None:
    assert {name: tuple(p.shape) for name, p in module.named_parameters()} == shapes
    query, key = several((4, 2), (5, 3), dtype=torch.float32)
    assert_same(module(query, key), function(query, key, *module.parameters()))
    module(query, key).sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())
    meta = module.to("meta")(torch.empty(6, 4, 2, device=META), torch.empty(6, 5, 3, device=META))
    assert meta.shape == (6, 4, 5)


def test_weights_are_drawn_as_linear_draws_its_own() -> None:
    torch.manual_seed(0)
    for module in (General(200, 300), Concat(200, 300, hidden=400), Additive(200, 300, hidden=400)):
        for parameter in module.parameters():
            bound = 1 / math.sqrt(parameter.shape[-1])
            # Evenly between the bounds: 400 draws or more leave less than a twentieth empty at an end.
            assert bound * 0.95 < parameter.max() <= bound
            assert -bound <= parameter.min() < -bound * 0.95


def test_chunk_reaches_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = []
    monkeypatch.setattr(scores, "additive", lambda *args: chunks.append(args[-1]))
    for chunk in (None, 4, "auto"):
        Additive(2, 3, hidden=8, chunk=chunk)(random(4, 2), random(5, 3))
    assert chunks == [None, 4, "auto"]


# ---- what cannot work ----

ONES = torch.ones(1, 2)
QUERY, KEY, VECTOR = torch.ones(2, 4, 2), torch.ones(2, 5, 3), torch.ones(8)
OF_QUERY, OF_KEY = torch.ones(8, 2), torch.ones(8, 3)


@pytest.mark.parametrize(
    "score",
    [
        dot,
        scaled_dot,
        lambda query, key: general(query, key, torch.ones(2, 2)),
        lambda query, key: concat(query, key, torch.ones(1, 4), torch.ones(1)),
        lambda query, key: additive(query, key, ONES, ONES, torch.ones(1)),
    ],
)
@pytest.mark.parametrize(
    ("query", "key", "words"),
    [
        (torch.ones(2), torch.ones(5, 2), "query must be (…, length, width), got (2,)"),
        (torch.ones(5, 2), torch.ones(2), "key must be (…, length, width), got (2,)"),
        (torch.ones(3, 4, 2), torch.ones(2, 5, 2), "query (3, 4, 2), key (2, 5, 2)"),
        (torch.ones(4, 2), torch.ones(5, 2, device="meta"), "key must be on cpu, as query is, got meta"),
    ],
)
def test_a_query_and_a_key_that_do_not_fit_are_refused(score, query, key, words) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        score(query, key)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dot(QUERY, KEY), "key must be (…, m, d_k = 2), got (2, 5, 3)"),
        (lambda: scaled_dot(QUERY, KEY), "key must be (…, m, d_k = 2), got (2, 5, 3)"),
        (lambda: general(QUERY, KEY, OF_QUERY), "weight must be (d_query = 2, d_key = 3), got (8, 2)"),
        (lambda: concat(QUERY, KEY, torch.ones(5, 8), VECTOR),
            "weight must be (hidden = 8, d_query_and_d_key = 5), got (5, 8)"),
        (lambda: additive(QUERY, KEY, OF_QUERY.T, OF_KEY, VECTOR), "query_weight must be (hidden = 8, d_q"),
        (lambda: additive(QUERY, KEY, OF_QUERY, OF_KEY.T, VECTOR), "key_weight must be (hidden = 8, d_key"),
        (lambda: additive(QUERY, KEY, OF_QUERY, OF_KEY, VECTOR[:, None]), "vector must be (hidden = 8), got"),
        *(
            (
                lambda chunk=chunk: additive(QUERY, KEY, OF_QUERY, OF_KEY, VECTOR, chunk),
                f'chunk must be None, "auto" or at least 1 query, got {chunk!r}',
            )
            for chunk in (0, 1.5, "large")
        ),
    ],
)  # fmt: skip
def test_weights_and_chunks_that_do_not_fit_are_refused(call: Callable[[], Tensor], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        call()
