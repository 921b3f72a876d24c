"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.positions import rotate
from attnlab.today.model import turned
from bookkit.other_words import named
from chapters.the_block_of_today.exercises.gated_width import check_gated_width
from chapters.the_block_of_today.exercises.repaired_groups import check_repaired_groups
from chapters.the_block_of_today.exercises.turned_halves import check_turned_halves
from chapters.the_block_of_today.exercises.weights_of import check_weights_of

# --- turned_halves ---


def as_attnlab(vectors, places, base):
    d_k = vectors.shape[-1]
    frequencies = base ** (-torch.arange(0, d_k, 2).double() / d_k)
    return turned(vectors, places[:, None] * frequencies)


def with_a_rotated_half(vectors, places, base):
    """As in Hugging Face's code: each angle twice, and the halves changed over with a minus."""
    half = vectors.shape[-1] // 2
    frequencies = base ** -(torch.arange(half).double() / half)
    angles = torch.outer(places.double(), frequencies).repeat(1, 2)
    cos, sin = angles.cos().to(vectors), angles.sin().to(vectors)
    other = torch.cat((-vectors[..., half:], vectors[..., :half]), dim=-1)
    return vectors * cos + other * sin


def column_by_column(vectors, places, base):
    made, d_k = vectors.clone(), vectors.shape[-1]
    for row, place in enumerate(places.tolist()):
        for pair in range(d_k // 2):
            angle = place / base ** (2 * pair / d_k)
            x, y = vectors[..., row, pair], vectors[..., row, pair + d_k // 2]
            made[..., row, pair] = math.cos(angle) * x - math.sin(angle) * y
            made[..., row, pair + d_k // 2] = math.sin(angle) * x + math.cos(angle) * y
    return made


def as_complex_numbers(vectors, places, base):
    x, y = vectors.double().tensor_split(2, dim=-1)
    angles = places[:, None] * torch.logspace(0, -1, x.shape[-1] + 1, base, dtype=torch.float64)[:-1]
    pairs = torch.complex(x, y) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], -1).to(vectors.dtype)


def by_neighbours(vectors, places, base):
    """The columns brought beside each other, turned as in *Where am I?*, and brought back."""
    half, most = vectors.shape[-1] // 2, int(places.max()) + 1
    order = torch.arange(2 * half).view(2, half).T.flatten()
    spread = vectors.new_zeros(*vectors.shape[:-2], most, 2 * half)
    spread[..., places, :] = vectors[..., order]
    return rotate(spread, base=base)[..., places, :][..., order.argsort()]


def pair_by_pair(vectors, places, base):
    made, d_k = torch.empty_like(vectors), vectors.shape[-1]
    for one in range(d_k // 2):
        other = one + d_k // 2
        angles = places.double() * base ** (-2 * one / d_k)
        c, s = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
        x, y = vectors[..., one], vectors[..., other]
        made[..., one], made[..., other] = x * c - y * s, x * s + y * c
    return made


# --- weights_of ---


def in_one_line(vocabulary, hidden_size, intermediate_size, layers, heads, key_value_heads, tied):
    d = hidden_size
    shared = 2 * d * d * key_value_heads // heads
    return (2 - tied) * vocabulary * d + layers * (2 * d * d + shared + 3 * d * intermediate_size + 2 * d) + d


def of_shapes(vocabulary, hidden_size, intermediate_size, layers, heads, key_value_heads, tied):
    d, keys = hidden_size, key_value_heads * (hidden_size // heads)
    block = [(d, d), (keys, d), (keys, d), (d, d), *3 * [(intermediate_size, d)], (1, d), (1, d)]
    shapes = layers * block + [(vocabulary, d)] * (1 if tied else 2) + [(1, d)]
    return sum(rows * columns for rows, columns in shapes)


def of_modules(vocabulary, hidden_size, intermediate_size, layers, heads, key_value_heads, tied):
    """Made on the device without memory."""
    with torch.device("meta"):
        keys = hidden_size // heads * key_value_heads
        block = nn.ModuleList(
            nn.Linear(hidden_size, width, bias=False)
            for width in (hidden_size, hidden_size, keys, keys, *3 * [intermediate_size])
        )
        table = nn.Embedding(vocabulary, hidden_size)
    counted = [sum(weight.numel() for weight in part.parameters()) for part in (block, table)]
    return layers * (counted[0] + 2 * hidden_size) + counted[1] * (1 + (not tied)) + hidden_size


# --- gated_width ---


def rounded_by_hand(hidden, multiple):
    width = math.ceil(2 * hidden / 3)
    return width + (-width) % multiple


def as_llamas(hidden, multiple):
    return multiple * ((int(2 * hidden / 3) + multiple - 1) // multiple)


def counted_up(hidden, multiple):
    width = multiple
    while 3 * width < 2 * hidden:
        width += multiple
    return width


# --- repaired_groups ---


def angles_of(places, d_k):
    return places[:, None] * 10000.0 ** (-torch.arange(0, d_k, 2) / d_k)


def by_gqa(query, key, value, places):
    angles = angles_of(places, query.shape[-1])
    query, key = turned(query, angles), turned(key, angles)
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)


def group_by_group(query, key, value, places):
    shared, angles = query.shape[1] // key.shape[1], angles_of(places, query.shape[-1])
    found = [
        F.scaled_dot_product_attention(
            turned(query[:, each * shared : (each + 1) * shared], angles),
            turned(key[:, each, None], angles).expand(-1, shared, -1, -1),
            value[:, each, None].expand(-1, shared, -1, -1),
            is_causal=True,
        )
        for each in range(key.shape[1])
    ]
    return torch.cat(found, dim=1)


def with_an_axis_of_groups(query, key, value, places):
    angles = angles_of(places, query.shape[-1])
    asks = turned(query, angles).unflatten(1, (key.shape[1], -1))  # (B, groups, shared, T, d_k)
    scores = asks @ turned(key, angles)[:, :, None].mT / query.shape[-1] ** 0.5
    hidden = torch.ones(scores.shape[-2:]).triu(1).bool()
    return (scores.masked_fill(hidden, -math.inf).softmax(-1) @ value[:, :, None]).flatten(1, 2)


ACCEPTED = {
    check_gated_width: named(rounded_by_hand, as_llamas, counted_up),
    check_repaired_groups: named(by_gqa, group_by_group, with_an_axis_of_groups),
    check_turned_halves: named(
        as_attnlab, with_a_rotated_half, column_by_column, as_complex_numbers, by_neighbours, pair_by_pair
    ),
    check_weights_of: named(in_one_line, of_shapes, of_modules),
}
