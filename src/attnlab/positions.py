"""Where am I? Attention can't tell: add positions to words, turn queries and keys by them, or bias scores."""

import math
from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn

from attnlab import require
from attnlab.scores import scaled_dot
from attnlab.shapes import Keys, Queries, Scores, Vectors


def sinusoidal(
    length: int,
    d_model: int,
    base: float = 10000.0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | None = None,
) -> Tensor:
    """`sinusoidal(5000, 16)` is the table of shape (5000, 16) that gives each position its own row.

    Columns come in pairs, the sine and the cosine of one angle: position / base^(2i / d_model) in pair i. Of
    the last pair an odd d_model keeps only the sine.

    >>> sinusoidal(1, 6).tolist()
    [[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]]
    >>> [round(value, 4) for value in sinusoidal(2, 5)[1].tolist()]
    [0.8415, 0.5403, 0.0251, 0.9997, 0.0006]
    """
    require.at_least(0, length=length)
    # Angles are float64 until whole turns are taken off: at position 5000 float32 is off by 2e-4 radians.
    positions = torch.arange(length, device=device).unsqueeze(-1)  # (length, 1)
    angles = (positions * _frequencies(d_model, base, device)).remainder(2 * math.pi)  # (length, pairs)
    # A float32 table takes its sines in float32, as most code does: differences between rows then print the
    # same last digits. Taken in float64 and rounded, some sines would differ by one float32 step.
    angles = angles.to(torch.promote_types(dtype, torch.float32))
    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (length, pairs, 2)
    return pairs.flatten(-2)[:, :d_model].to(dtype)  # (length, d_model)


def shift_rotation(shift: float, d_model: int, base: float = 10000.0) -> Tensor:
    """`shift_rotation(3, 16) @ table[7]` is `table[10]`: 3 steps are one rotation from anywhere.

    Each pair of columns turns by its own angle, so the (d_model, d_model) matrix is zero but for
    2-by-2 blocks along its diagonal. It is float64: shift a table of `dtype=torch.float64`.

    >>> table = sinusoidal(20, 16, dtype=torch.float64)
    >>> torch.allclose(shift_rotation(3, 16) @ table[7], table[10])
    True
    """
    require.even(d_model=d_model)
    angles = shift * _frequencies(d_model, base)  # (pairs,)
    sines, cosines = torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)  # the columns of the table
    rotation = torch.zeros(d_model, d_model, dtype=torch.float64)
    # sin(p + k) = cos k · sin p + sin k · cos p
    rotation[sines, sines] = angles.cos()
    rotation[sines, cosines] = angles.sin()
    # cos(p + k) = cos k · cos p - sin k · sin p
    rotation[cosines, cosines] = angles.cos()
    rotation[cosines, sines] = -angles.sin()
    return rotation


def rotate(vectors: Queries | Keys, offset: int = 0, base: float = 10000.0) -> Tensor:
    """`rotate(query)` turns (…, T, d_k), each pair of columns in row p by p times the pair's angle.

    Turn queries and keys alike, and their dot product depends on how far apart they stand, not on where. The
    first row has position `offset`: that is where a new query stands when the earlier keys are in a cache.
    Pairs are neighbours (0 and 1, 2 and 3), as in the paper; some libraries pair column i with i + d_k/2,
    which is this with the columns in another order.

    >>> vector = torch.tensor([[1.0, 0.0]])
    >>> [round(value, 4) for value in rotate(vector, offset=1)[0].tolist()]
    [0.5403, 0.8415]
    """
    require.vectors("vectors", vectors, d_k=None)
    require.even(d_k=vectors.shape[-1])
    require.at_least(0, offset=offset)
    table = sinusoidal(offset + vectors.shape[-2], vectors.shape[-1], base, vectors.dtype, vectors.device)
    return _turn(vectors, table[offset:])


def rotary(query: Queries, key: Keys) -> Scores:
    """`MultiHeadAttention(512, 8, score=rotary)` turns each head's queries and keys by where they stand.

    The last query stands where the last key does, so that n < m fits a cache of earlier keys.

    >>> whole = rotary(torch.ones(3, 4), torch.ones(3, 4))
    >>> torch.allclose(rotary(torch.ones(1, 4), torch.ones(3, 4)), whole[2:])
    True
    """
    n, m = query.shape[-2], key.shape[-2]
    require.last_positions(n, m)
    return scaled_dot(rotate(query, offset=m - n), rotate(key))  # (…, n, m)


def stretched(
    frequencies: Tensor, factor: float, longest: int, how: str, slow: float = 1, fast: float = 32
) -> Tensor:
    """`stretched(model.frequencies, 4, longest=128, how="mixed")` are slower turns, for 512 places.

    "interpolated" divides them all by the factor. A "larger base" divides the slowest pair by it, and leaves
    the fastest. "mixed" leaves pairs that turn `fast` times within longest, divides those that turn less than
    `slow` times, and takes a straight way between.

    >>> stretched(torch.tensor([1.0, 0.1, 0.01]), 4, longest=128, how="larger base").tolist()
    [1.0, 0.05000000074505806, 0.0024999999441206455]
    """
    require.stretch(factor, slow, fast, how)
    require.at_least(1, longest=longest)
    if how == "interpolated":
        return frequencies / factor
    if how == "larger base":
        along = torch.linspace(0, 1, len(frequencies), device=frequencies.device)  # from fast pairs to slow
        return frequencies * factor**-along
    turns = longest * frequencies / (2 * math.pi)
    stays = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return frequencies * (stays + (1 - stays) / factor)


def alibi_slopes(heads: int) -> list[float]:
    """`alibi_slopes(8)` is 1/2, 1/4, … 1/256: how steeply each head's scores fall with distance.

    For a power of two, head h of H has slope 2^(-8h/H). For other numbers, as in the paper: all slopes of the
    next smaller power of two, then every other slope of the next larger one, as far as needed.

    >>> alibi_slopes(8)[:3], alibi_slopes(3)
    ([0.5, 0.25, 0.125], [0.0625, 0.00390625, 0.25])
    """
    require.at_least(1, heads=heads)
    power = 2 ** (heads.bit_length() - 1)
    slopes = [2 ** (-8 * head / power) for head in range(1, power + 1)]
    between = [2 ** (-8 * head / (2 * power)) for head in range(1, 2 * power, 2)]
    return slopes + between[: heads - power]


def alibi_bias(
    heads: int, n: int, m: int, dtype: torch.dtype = torch.float32, device: torch.device | None = None
) -> Scores:
    """`scaled_dot(query, key) + alibi_bias(heads, n, m)` favours near keys: the bias is (heads, n, m).

    It is -slope · |distance|, with a slope for each head. The last query stands where the last key does, so
    that n < m fits a cache of earlier keys. Under a causal mask only the past counts; without one, the bias
    is the same in both directions.

    >>> alibi_bias(1, 2, 3).mul(-256).tolist()
    [[[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]]
    """
    require.last_positions(n, m)
    queries = torch.arange(m - n, m, device=device).unsqueeze(-1)  # (n, 1)
    distances = (queries - torch.arange(m, device=device)).abs()  # (n, m)
    slopes = torch.tensor(alibi_slopes(heads), dtype=torch.float64, device=device)  # (heads,)
    # Rounded at the end: bfloat16 can't even count distances beyond 256.
    return (-slopes[:, None, None] * distances).to(dtype)  # (heads, n, m)


def alibi(query: Queries, key: Keys) -> Scores:
    """`MultiHeadAttention(512, 8, score=alibi)` favours near keys, each head by a slope of its own.

    >>> alibi(torch.zeros(1, 2, 4), torch.zeros(1, 3, 4)).equal(alibi_bias(1, 2, 3))
    True
    """
    require.axes("query", query, "…", heads=None, n=None, d_k=None)
    heads, n = query.shape[-3:-1]
    bias = alibi_bias(heads, n, key.shape[-2], query.dtype, query.device)  # (heads, n, m)
    return scaled_dot(query, key) + bias  # (…, heads, n, m)


class _Table(nn.Module):
    """`_Table(16, max_length=100, base=10000.0).rows(0, 200)` is (200, 16): the table grows if it must.

    The table is a buffer, so that it moves with the model. It is not persistent: the arguments say all that
    is in it, and a model saved with one max_length can then be loaded into one with another.
    """

    table: Tensor

    def __init__(self, width: int, max_length: int, base: float) -> None:
        super().__init__()
        self.base = base
        table = sinusoidal(max_length, width, base, torch.get_default_dtype())
        self.register_buffer("table", table, persistent=False)

    def rows(self, start: int, length: int) -> Tensor:
        """`rows(2, 3)` are rows 2, 3 and 4."""
        end = start + length
        if end > len(self.table):
            # A table made in inference mode could not take part in training later.
            with torch.inference_mode(False):
                # At least twice as long, so that a text that grows word by word seldom needs a new table.
                self.table = self._table(max(end, 2 * len(self.table)))
        return self.table[start:end]

    def _table(self, length: int) -> Tensor:
        return sinusoidal(length, self.table.shape[-1], self.base, self.table.dtype, self.table.device)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """`module.double()`, `module.to(…)` and `module.to_empty(…)` all come through here.

        Float32 numbers made float64 keep their error, and to_empty leaves whatever the memory held. Filled
        anew, the table is right after each.
        """
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.table.copy_(self._table(self.table.shape[-2]))
        return self


class SinusoidalPositions(_Table):
    """`SinusoidalPositions(d_model=16)(words)` adds row t of the table to word t of (B, T, 16).

    A sequence longer than max_length makes the table grow. Nothing here is learned or saved.

    >>> SinusoidalPositions(d_model=4)(torch.zeros(2, 1, 4)).tolist()
    [[[0.0, 1.0, 0.0, 1.0]], [[0.0, 1.0, 0.0, 1.0]]]
    """

    def __init__(
        self, d_model: int, max_length: int = 5000, base: float = 10000.0, dropout: float = 0.0
    ) -> None:
        super().__init__(d_model, max_length, base)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Vectors, offset: int = 0) -> Vectors:
        """`SinusoidalPositions(16)(words)` has the shape and the dtype of words, (B, T, 16).

        The first word stands at position `offset`: behind those that a cache remembers.
        """
        require.vectors("inputs", inputs, d_model=self.table.shape[-1])
        require.at_least(0, offset=offset)
        rows = self.rows(offset, inputs.shape[-2]).to(inputs.dtype)  # (T, d_model)
        outputs: Vectors = self.dropout(inputs + rows)  # (B, T, d_model)
        return outputs


class RotaryPositions(_Table):
    """`RotaryPositions(d_k=16)(query)` is `rotate(query)`, with the sines and cosines looked up.

    >>> query = torch.ones(2, 4, 10, 16)
    >>> torch.equal(RotaryPositions(d_k=16)(query), rotate(query))
    True
    """

    def __init__(self, d_k: int, max_length: int = 5000, base: float = 10000.0) -> None:
        require.even(d_k=d_k)
        super().__init__(d_k, max_length, base)

    def forward(self, vectors: Queries | Keys, offset: int = 0) -> Tensor:
        """`RotaryPositions(16)(query)` has the shape and the dtype of query, (B, heads, T, 16)."""
        require.vectors("vectors", vectors, d_k=self.table.shape[-1])
        require.at_least(0, offset=offset)
        return _turn(vectors, self.rows(offset, vectors.shape[-2]))


class LearnedPositions(nn.Module):
    """`LearnedPositions(d_model=16, max_length=100)(words)` adds row t of a learned table to word t.

    It has no row for a position past max_length, and raises ValueError there.

    >>> LearnedPositions(d_model=16, max_length=100)(torch.zeros(2, 30, 16)).shape
    torch.Size([2, 30, 16])
    """

    def __init__(self, d_model: int, max_length: int, dropout: float = 0.0) -> None:
        super().__init__()
        # Variance 1/2, the mean square of a sine: neither kind of position starts out louder than the other.
        self.table = nn.Parameter(torch.randn(max_length, d_model) * math.sqrt(0.5))
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Vectors, offset: int = 0) -> Vectors:
        """`LearnedPositions(16, 100)(words)` has the shape of words, (B, T, 16), with T at most 100.

        The first word stands at position `offset`: behind those that a cache remembers.
        """
        require.vectors("inputs", inputs, d_model=self.table.shape[-1])
        require.at_least(0, offset=offset)
        end = offset + inputs.shape[-2]
        if end > len(self.table):
            raise ValueError(f"inputs has {end} positions, and max_length is {len(self.table)}")
        outputs: Vectors = self.dropout(inputs + self.table[offset:end])  # (B, T, d_model)
        return outputs


def _frequencies(d_model: int, base: float, device: torch.device | None = None) -> Tensor:
    """`_frequencies(16, 10000.0)` runs from 1 down to 10000^(-14/16): radians per position, in each pair."""
    require.at_least(1, d_model=d_model)
    require.above_zero(base=base)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64, device=device) / d_model  # (pairs,)
    return base**-exponents


def _turn(vectors: Queries | Keys, table: Tensor) -> Tensor:
    """`_turn(vectors, table)` turns the pairs of (…, T, d_k) by the angles that (T, d_k) holds."""
    table = table.to(vectors.dtype)
    sin, cos = table[:, 0::2], table[:, 1::2]  # (T, pairs) each
    x, y = vectors[..., 0::2], vectors[..., 1::2]  # (…, T, pairs) each
    return torch.stack((x * cos - y * sin, x * sin + y * cos), dim=-1).flatten(-2)  # (…, T, d_k)
