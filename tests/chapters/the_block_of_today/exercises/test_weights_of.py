"""The exercise `weights_of`, tried as readers would."""

import pytest
import torch
from exercise_cases import changed, judged_as, named
from torch import nn

from attnlab.today.model import Today
from chapters.the_block_of_today.exercises.weights_of import check_weights_of

NAMES = check_weights_of.takes


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


RIGHT = {check_weights_of: named(in_one_line, of_shapes, of_modules)}


def counted(block=None, outside=None, keys=lambda d, heads, groups: d * groups // heads):
    """A reader's function, in which one step may be another."""

    def code(vocabulary, hidden_size, intermediate_size, layers, heads, key_value_heads, tied):
        d, k = hidden_size, keys(hidden_size, heads, key_value_heads)
        inner = 2 * d * d + 2 * d * k + 3 * d * intermediate_size + 2 * d
        inner = block(inner, d, k, intermediate_size) if block else inner
        outer = vocabulary * d * (1 if tied else 2) + d
        outer = outside(vocabulary, d, tied) if outside else outer
        return layers * inner + outer

    return code


def with_biases(*config):
    _, d, wide, layers, heads, groups, _ = config
    one_block = [d, d * groups // heads, d * groups // heads, d, wide, wide, d]
    return in_one_line(*config) + layers * sum(one_block)


NAMED = {
    check_weights_of: {
        "a key for each head": counted(keys=lambda d, heads, groups: d),
        "one head of keys": counted(keys=lambda d, heads, groups: d // heads),
        "heads of a group": counted(keys=lambda d, heads, groups: d // groups),
        "values forgotten": counted(block=lambda inner, d, k, wide: inner - d * k),
        "queries shared as well": counted(block=lambda inner, d, k, wide: inner - d * d + d * k),
        "nothing written back": counted(block=lambda inner, d, k, wide: inner - d * d),
        "no gate": counted(block=lambda inner, d, k, wide: inner - wide * d),
        "4 times as wide": counted(block=lambda inner, d, k, wide: inner + 3 * d * (4 * d - wide)),
        "one norm a block": counted(block=lambda inner, d, k, wide: inner - d),
        "no norms in blocks": counted(block=lambda inner, d, k, wide: inner - 2 * d),
        "LayerNorms": counted(block=lambda inner, d, k, wide: inner + 2 * d),
        "norms of one number": counted(block=lambda inner, d, k, wide: inner - 2 * d + 2),
        "no last norm": counted(outside=lambda vocabulary, d, tied: vocabulary * d * (2 - tied)),
        "a last LayerNorm": counted(outside=lambda vocabulary, d, tied: (vocabulary * (2 - tied) + 2) * d),
        "one block": lambda *config: in_one_line(*config[:3], 1, *config[4:]),
        "always tied": lambda *config: in_one_line(*config[:-1], True),
        "never tied": lambda *config: in_one_line(*config[:-1], False),
        "tied the wrong way round": lambda *config: in_one_line(*config[:-1], not config[-1]),
        "no tables": counted(outside=lambda vocabulary, d, tied: d),
        "biases": with_biases,
        "bytes": changed(of_shapes, lambda count: 2 * count),
        "bytes of float32": changed(of_shapes, lambda count: 4 * count),
        "in billions": changed(of_shapes, lambda count: count / 10**9),
    }
}
UNKNOWN = {
    check_weights_of: {
        "of the tables alone": lambda vocabulary, hidden_size, *_: vocabulary * hidden_size,
        "words": changed(of_shapes, str),
        "a pair": changed(of_shapes, lambda count: (count, count)),
        "one too many": changed(of_shapes, lambda count: count + 1),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


@pytest.mark.parametrize("case", check_weights_of.cases, ids=lambda case: case.label)
def test_it_counts_what_our_model_has(case):
    config = dict(zip(NAMES, case.fresh(), strict=True))
    if config["hidden_size"] // config["heads"] % 2:
        pytest.skip("our model turns pairs of columns")
    with torch.device("meta"):
        model = Today(
            config["vocabulary"], config["hidden_size"], config["heads"], config["key_value_heads"],
            config["intermediate_size"], config["layers"], longest=8, tied=config["tied"],
        )  # fmt: skip
    assert sum(weight.numel() for weight in model.parameters()) == check_weights_of.reference(
        *config.values()
    )
