"""The scores: equal to their formulas pair by pair, the lean additive one in values, gradients and memory."""

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import grad, vmap

from attnlab import scores
from attnlab.scores import Additive, Concat, General, additive, concat, dot, general, scaled_dot
from bookkit.memory import peak_memory

quick = settings(deadline=None, derandomize=True, max_examples=25)
# The goal. In float32 the largest sums below reach about 30, whose last digit is 2e-6.
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
Chunk = int | Literal["auto"] | None
# One query at a time, a chunk that may leave a rest, one that holds all the queries, and the chosen one.
CHUNKS: list[Chunk] = [1, 2, 100, "auto"]


def random(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def learnable(*tensors: Tensor) -> list[Tensor]:
    return [x.clone().requires_grad_() for x in tensors]


def assert_same(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=TOLERANCE[theirs.dtype])


def pair_by_pair(query: Tensor, key: Tensor, formula: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """The score of each query with each key, computed alone."""
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    queries = query.expand(*leading, -1, -1).reshape(-1, *query.shape[-2:])
    keys = key.expand(*leading, -1, -1).reshape(-1, *key.shape[-2:])
    scores = [formula(q, k) for i in range(len(queries)) for q in queries[i] for k in keys[i]]
    return torch.stack(scores).view(*leading, query.shape[-2], key.shape[-2])


@st.composite
def queries_and_keys(draw: st.DrawFn, same_width: bool = False) -> tuple[Tensor, Tensor]:
    dtype = draw(st.sampled_from(list(TOLERANCE)))
    # The last two broadcast: each example's one query set meets two key sets, and one key set serves all.
    leading = st.sampled_from([((), ()), ((2,), (2,)), ((2, 2), (2, 2)), ((2, 1), (2, 2)), ((2,), ())])
    query_leading, key_leading = draw(leading)
    n, m, d_query, d_key = (draw(st.integers(1, 4)) for _ in range(4))
    query = random(*query_leading, n, d_query, dtype=dtype, seed=1)
    return query, random(*key_leading, m, d_query if same_width else d_key, dtype=dtype, seed=2)


def check_against_formula(
    score: Callable[..., Tensor],
    formula: Callable[..., Tensor],
    query: Tensor,
    key: Tensor,
    *parameters: Tensor,
) -> None:
    inputs = learnable(query, key, *parameters)
    ours = score(*inputs)
    theirs = pair_by_pair(*inputs[:2], lambda q, k: formula(q, k, *inputs[2:]))
    assert_same(ours, theirs)
    backward = random(*ours.shape, dtype=ours.dtype, seed=9)
    for our_grad, their_grad in zip(
        torch.autograd.grad(ours, inputs, backward),
        torch.autograd.grad(theirs, inputs, backward),
        strict=True,
    ):
        assert_same(our_grad, their_grad)


class TestFormulas:
    @quick
    @given(queries_and_keys(same_width=True))
    def test_dot(self, inputs: tuple[Tensor, Tensor]) -> None:
        check_against_formula(dot, lambda q, k: (q * k).sum(), *inputs)

    @quick
    @given(queries_and_keys(same_width=True))
    def test_scaled_dot(self, inputs: tuple[Tensor, Tensor]) -> None:
        check_against_formula(scaled_dot, lambda q, k: (q * k).sum() / math.sqrt(len(k)), *inputs)

    @quick
    @given(queries_and_keys())
    def test_general(self, inputs: tuple[Tensor, Tensor]) -> None:
        query, key = inputs
        weight = random(query.shape[-1], key.shape[-1], dtype=query.dtype, seed=3)
        check_against_formula(general, lambda q, k, w: q @ w @ k, query, key, weight)

    @quick
    @given(queries_and_keys(), st.integers(1, 3))
    def test_concat_of_query_and_key_end_to_end(self, inputs: tuple[Tensor, Tensor], hidden: int) -> None:
        query, key = inputs
        weight = random(hidden, query.shape[-1] + key.shape[-1], dtype=query.dtype, seed=3)
        vector = random(hidden, dtype=query.dtype, seed=4)
        check_against_formula(
            concat, lambda q, k, w, v: v @ torch.tanh(w @ torch.cat([q, k])), query, key, weight, vector
        )

    @quick
    @given(queries_and_keys(), st.integers(1, 3), st.sampled_from([None, *CHUNKS]))
    def test_additive_plain_and_lean(self, inputs: tuple[Tensor, Tensor], hidden: int, chunk: Chunk) -> None:
        query, key = inputs
        check_against_formula(
            lambda *args: additive(*args, chunk=chunk),
            lambda q, k, w, u, v: v @ torch.tanh(w @ q + u @ k),
            query,
            key,
            random(hidden, query.shape[-1], dtype=query.dtype, seed=3),
            random(hidden, key.shape[-1], dtype=query.dtype, seed=4),
            random(hidden, dtype=query.dtype, seed=5),
        )

    def test_gradcheck(self) -> None:
        query, key, vector = random(2, 3, 2), random(2, 2, 4, seed=1), random(3, seed=2)
        weights = random(3, 2, seed=3), random(3, 4, seed=4)
        assert torch.autograd.gradcheck(general, learnable(query, key, random(2, 4)))
        assert torch.autograd.gradcheck(concat, learnable(query, key, random(3, 6), vector))
        for chunk in [None, *CHUNKS]:
            inputs = [*learnable(query, key, *weights, vector), chunk]
            assert torch.autograd.gradcheck(additive, inputs)

    def test_scaled_dot_stays_in_range_where_dot_overflows(self) -> None:
        query = torch.full((1, 256), 20.0, dtype=torch.float16)
        assert dot(query, query).item() == math.inf  # 20 · 20 · 256 = 102400; float16 ends at 65504
        assert scaled_dot(query, query).item() == 6400

    # Sums of at most 8 numbers of order 1, rounded once for each product in a row: a few steps of the type.
    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    def test_half_precision(self, dtype: torch.dtype) -> None:
        query, key = random(2, 5, 8, dtype=dtype), random(2, 6, 8, dtype=dtype, seed=1)
        weights = [random(4, 8, dtype=dtype, seed=seed) / 4 for seed in (2, 3)]
        vector = random(4, dtype=dtype, seed=4)
        for score in (
            lambda query, key, *_: scaled_dot(query, key),
            lambda query, key, w, u, v: general(query, key, w.T @ u),
            lambda query, key, w, u, v: concat(query, key, torch.cat([w, u], dim=1), v),
            additive,
            lambda *args: additive(*args, chunk=2),
        ):
            ours = score(query, key, *weights, vector)
            exact = score(query.double(), key.double(), *(w.double() for w in weights), vector.double())
            assert ours.dtype == dtype
            steps = 16 * torch.finfo(dtype).eps
            torch.testing.assert_close(ours.double(), exact, rtol=steps, atol=steps)


class TestLeanAdditive:
    @pytest.mark.parametrize("chunk", CHUNKS)
    def test_equals_plain(self, chunk: Chunk) -> None:
        inputs = learnable(random(2, 5, 3), random(2, 4, 2), random(6, 3), random(6, 2), random(6))
        lean, plain = additive(*inputs, chunk=chunk), additive(*inputs)
        assert_same(lean, plain)
        gradients = [torch.autograd.grad(scores.square().sum(), inputs) for scores in (lean, plain)]
        for ours, theirs in zip(*gradients, strict=True):
            assert_same(ours, theirs)

    @pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0)])
    def test_no_queries_or_no_keys(self, n: int, m: int) -> None:
        inputs = learnable(random(2, n, 3), random(2, m, 2), random(6, 3), random(6, 2), random(6))
        scores = additive(*inputs, chunk="auto")
        assert scores.shape == (2, n, m)
        assert all(x.eq(0).all() for x in torch.autograd.grad(scores.sum(), inputs))

    @pytest.mark.parametrize("keys", [(2, 256, 2), (256, 2)], ids=["keys of its own", "shared keys"])
    def test_auto_holds_the_cache_full_and_no_more(
        self, keys: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        held = []
        pair_by_pair = scores._pair_by_pair

        def record(query: Tensor, key: Tensor, vector: Tensor) -> Tensor:
            held.append((*query.shape[:-1], *key.shape[-2:]))
            return pair_by_pair(query, key, vector)

        monkeypatch.setattr(scores, "_pair_by_pair", record)
        additive(random(2, 70, 3), random(*keys), random(32, 3), random(32, 2), random(32), chunk="auto")
        assert held == [(2, 16, 256, 32)] * 4 + [(2, 6, 256, 32)]
        assert math.prod(held[0]) == scores.CHUNK_ELEMENTS

    def test_memory_is_a_sixteenth_of_plain(self) -> None:
        shapes = (512, 64), (512, 64), (64, 64), (64, 64), (64,)  # n = m = 512, everything else 64
        inputs = learnable(*(random(*shape, dtype=torch.float32) for shape in shapes))

        def forward(chunk: Chunk) -> None:
            with torch.no_grad():
                additive(*inputs, chunk=chunk)

        def both_ways(chunk: Chunk) -> None:
            torch.autograd.grad(additive(*inputs, chunk=chunk).sum(), inputs)

        for run in (forward, both_ways):
            lean, plain = (peak_memory(partial(run, chunk), torch.device("cpu")) for chunk in ("auto", None))
            assert 0 < lean <= plain / 16

    def test_many_seeds_at_once_are_scored_lean_and_learn_plain(self) -> None:
        query, key = random(2, 5, 3), random(2, 4, 2)
        # One set of weights for each of 3 seeds, as torch.func stacks them.
        parameters = learnable(random(3, 6, 3), random(3, 6, 2), random(3, 6))

        def loss(*weights: Tensor, chunk: Chunk = None) -> Tensor:
            return additive(query, key, *weights, chunk=chunk).softmax(-1).square().sum()

        lean = partial(loss, chunk=2)
        one_by_one = torch.stack([loss(*weights) for weights in zip(*parameters, strict=True)])
        assert_same(vmap(loss)(*parameters), one_by_one)
        assert_same(vmap(lean)(*parameters), one_by_one)
        (gradient,) = torch.autograd.grad(one_by_one.sum(), parameters[:1])
        assert_same(vmap(grad(loss))(*parameters), gradient)
        with pytest.raises(RuntimeError, match="saved tensor hooks"):
            vmap(grad(lean))(*parameters)
        with pytest.raises(RuntimeError, match="vmap"):
            vmap(lean)(*parameters).sum().backward()

    def test_a_second_derivative_is_that_of_plain(self) -> None:
        inputs = learnable(random(5, 3), random(4, 2), random(6, 3), random(6, 2), random(6))
        seconds = []
        for chunk in (2, None):
            loss = additive(*inputs, chunk=chunk).square().sum()
            first = torch.autograd.grad(loss, inputs, create_graph=True)
            seconds.append(torch.autograd.grad(sum(x.square().sum() for x in first), inputs))
        for ours, theirs in zip(*seconds, strict=True):
            torch.testing.assert_close(ours, theirs)

    @pytest.mark.thorough
    def test_compiles(self) -> None:
        inputs = learnable(random(5, 3), random(4, 2), random(6, 3), random(6, 2), random(6))
        compiled = torch.compile(lambda *args: additive(*args, chunk=2), backend="aot_eager", fullgraph=True)
        ours, theirs = compiled(*inputs), additive(*inputs)
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(
            torch.autograd.grad(ours.sum(), inputs), torch.autograd.grad(theirs.sum(), inputs)
        )


class TestModules:
    MODULES = (
        (General(2, 3), {"weight": (2, 3)}),
        (Concat(2, 3, hidden=8), {"weight": (8, 5), "vector": (8,)}),
        (Additive(2, 3, hidden=8), {"query_weight": (8, 2), "key_weight": (8, 3), "vector": (8,)}),
        (Additive(2, 3, hidden=8, chunk=1), {"query_weight": (8, 2), "key_weight": (8, 3), "vector": (8,)}),
    )

    @pytest.mark.parametrize(("module", "shapes"), MODULES)
    def test_parameters(self, module: nn.Module, shapes: dict[str, tuple[int, ...]]) -> None:
        assert {name: tuple(p.shape) for name, p in module.named_parameters()} == shapes

    def test_parameters_are_drawn_as_linear_draws_its_weight(self) -> None:
        torch.manual_seed(0)
        for module in (General(200, 300), Concat(200, 300, hidden=400), Additive(200, 300, hidden=400)):
            for parameter in module.parameters():
                bound = 1 / math.sqrt(parameter.shape[-1])
                # Evenly between the bounds: 400 draws or more leave less than a twentieth empty at an end.
                assert bound * 0.95 < parameter.max() <= bound
                assert -bound <= parameter.min() < -bound * 0.95

    def test_each_is_its_function(self) -> None:
        query, key = random(4, 2, dtype=torch.float32), random(5, 3, dtype=torch.float32)
        for module, _ in self.MODULES:
            function = {General: general, Concat: concat, Additive: additive}[type(module)]
            assert_same(module(query, key), function(query, key, *module.parameters()))
            module(query, key).sum().backward()
            assert all(parameter.grad is not None for parameter in module.parameters())

    def test_chunk_reaches_the_function(self, monkeypatch: pytest.MonkeyPatch) -> None:
        chunks = []
        monkeypatch.setattr(scores, "additive", lambda *args: chunks.append(args[-1]))
        for chunk in (None, 4, "auto"):
            Additive(2, 3, hidden=8, chunk=chunk)(random(4, 2), random(5, 3))
        assert chunks == [None, 4, "auto"]

    def test_state_dict_round_trip(self) -> None:
        first, second = Additive(2, 3, hidden=8), Additive(2, 3, hidden=8)
        second.load_state_dict(first.state_dict())
        query, key = random(4, 2, dtype=torch.float32), random(5, 3, dtype=torch.float32)
        assert first(query, key).equal(second(query, key))

    def test_on_meta(self) -> None:
        with torch.device("meta"):
            query, key = torch.empty(6, 4, 2), torch.empty(6, 5, 3)
            for module in (
                General(2, 3),
                Concat(2, 3, 8),
                Additive(2, 3, 8),
                Additive(2, 3, 8, chunk="auto"),
            ):
                assert module(query, key).shape == (6, 4, 5)


class TestErrors:
    QUERY, KEY, VECTOR = torch.ones(2, 4, 2), torch.ones(2, 5, 3), torch.ones(8)

    @pytest.mark.parametrize("score", [dot, scaled_dot])
    def test_width(self, score: Callable[..., Tensor]) -> None:
        with pytest.raises(ValueError, match=r"key must be \(…, m, d_k = 2\), got \(2, 5, 3\)"):
            score(self.QUERY, self.KEY)

    @pytest.mark.parametrize(
        ("query", "key", "message"),
        [
            (torch.ones(2), torch.ones(5, 2), r"query must be \(…, length, width\), got \(2,\)"),
            (torch.ones(5, 2), torch.ones(2), r"key must be \(…, length, width\), got \(2,\)"),
            (torch.ones(3, 4, 2), torch.ones(2, 5, 2), r"query \(3, 4, 2\), key \(2, 5, 2\)"),
            (torch.ones(4, 2), torch.ones(5, 2, device="meta"), "key must be on cpu, as query is, got meta"),
        ],
    )
    def test_pair(self, query: Tensor, key: Tensor, message: str) -> None:
        one = torch.ones(1, 2)
        for score in (
            dot,
            lambda query, key: general(query, key, torch.ones(2, 2)),
            lambda query, key: concat(query, key, torch.ones(1, 4), torch.ones(1)),
            lambda query, key: additive(query, key, one, one, torch.ones(1)),
        ):
            with pytest.raises(ValueError, match=message):
                score(query, key)

    def test_general_weight(self) -> None:
        with pytest.raises(ValueError, match=r"weight must be \(d_query = 2, d_key = 3\), got \(3, 2\)"):
            general(self.QUERY, self.KEY, torch.ones(3, 2))

    def test_concat_weight(self) -> None:
        with pytest.raises(
            ValueError, match=r"weight must be \(hidden = 8, d_query_and_d_key = 5\), got \(5, 8\)"
        ):
            concat(self.QUERY, self.KEY, torch.ones(5, 8), self.VECTOR)

    def test_additive_weights(self) -> None:
        right, wrong = (torch.ones(8, 2), torch.ones(8, 3)), (torch.ones(2, 8), torch.ones(3, 8))
        with pytest.raises(
            ValueError, match=r"query_weight must be \(hidden = 8, d_query = 2\), got \(2, 8\)"
        ):
            additive(self.QUERY, self.KEY, wrong[0], right[1], self.VECTOR)
        with pytest.raises(ValueError, match=r"key_weight must be \(hidden = 8, d_key = 3\), got \(3, 8\)"):
            additive(self.QUERY, self.KEY, right[0], wrong[1], self.VECTOR)
        with pytest.raises(ValueError, match=r"vector must be \(hidden = 8\), got \(8, 1\)"):
            additive(self.QUERY, self.KEY, *right, self.VECTOR[:, None])

    @pytest.mark.parametrize("chunk", [0, -1, 1.5, "large"])
    def test_chunk(self, chunk: object) -> None:
        with pytest.raises(
            ValueError, match=f'chunk must be None, "auto" or at least 1 query, got {chunk!r}'
        ):
            additive(self.QUERY, self.KEY, torch.ones(8, 2), torch.ones(8, 3), self.VECTOR, chunk=chunk)
