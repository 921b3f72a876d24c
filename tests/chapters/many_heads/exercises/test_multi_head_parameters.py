"""The exercise `multi_head_parameters`, tried as readers would."""

from exercise_cases import changed, judged_as
from torch import nn

from chapters.many_heads.exercises import (
    check_multi_head_parameters,
)

parameters_of = check_multi_head_parameters.reference


def test_the_reference_counts_what_a_layer_holds():
    for d_model, heads, bias in ((4, 1, True), (6, 3, False), (512, 8, True)):
        layer = nn.MultiheadAttention(d_model, heads, bias=bias)
        assert parameters_of(d_model, heads, bias) == sum(each.numel() for each in layer.parameters())


RIGHT = {
    check_multi_head_parameters: {
        "pytorch's": lambda d, heads, bias: sum(
            each.numel() for each in nn.MultiheadAttention(d, heads, bias=bias, device="meta").parameters()
        ),
        "head by head": lambda d, heads, bias: heads * 3 * d * (d // heads) + d * d + (4 * d if bias else 0),
        "d + 1": lambda d, heads, bias: 4 * d * (d + 1) if bias else 4 * d * d,
    }
}


NAMED = {
    check_multi_head_parameters: {
        "no output matrix": lambda d, heads, bias: 3 * d * d + (3 * d if bias else 0),
        "biases forgotten": lambda d, heads, bias: 3 * heads * d * (d // heads) + d**2,
        "no output bias": lambda d, heads, bias: 3 * d * (d + bias) + d * d,
        "one bias": lambda d, heads, bias: 4 * d * d + (d if bias else 0),
        "a whole layer for each head": lambda d, heads, bias: sum(4 * d * (d + bias) for _ in range(heads)),
        "one head only": lambda d, heads, bias: 4 * d * (d + bias) // heads,
    }
}


UNKNOWN = {
    check_multi_head_parameters: {
        "half": changed(parameters_of, lambda number: number // 2),
        "one more": changed(parameters_of, lambda number: number + 1),
        "fifth matrix": lambda d, heads, bias: 5 * (d * d + bias * d),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
