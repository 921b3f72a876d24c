"""The exercise `assembled_layer`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as

from chapters.the_transformer.exercises import (
    check_assembled_layer,
)

layer = check_assembled_layer.reference


def layer_in_steps(x, mask, attention, feed_forward, norm_1, norm_2):
    normal = norm_1(x)
    x = torch.add(x, attention(normal, normal, normal, mask)[0])
    return feed_forward(norm_2(x)) + x


def layer_in_place(x, mask, attention, feed_forward, norm_1, norm_2):
    x += attention(norm_1(x), mask=mask)[0]
    x += feed_forward(norm_2(x))
    return x


RIGHT = {check_assembled_layer: {"in steps": layer_in_steps}}


NAMED = {
    check_assembled_layer: {
        "norms behind": lambda x, mask, attention, feed, n1, n2: n2(
            n1(x + attention(x, mask=mask)[0]) + feed(n1(x + attention(x, mask=mask)[0]))
        ),
        "no residual": lambda x, mask, attention, feed, n1, n2: feed(n2(attention(n1(x), mask=mask)[0])),
        "mask not used": lambda x, mask, attention, feed, n1, n2: (
            x + attention(n1(x))[0] + feed(n2(x + attention(n1(x))[0]))
        ),
        "mask as the key": lambda x, mask, attention, feed, n1, n2: x + attention(n1(x), mask)[0],
        "mask reversed": lambda x, mask, *others: layer(x, ~mask, *others),
        "norm_1 on the road": lambda x, mask, attention, feed, n1, n2: (
            (h := n1(x) + attention(n1(x), mask=mask)[0]) + feed(n2(h))
        ),
        "norms behind the blocks": lambda x, mask, attention, feed, n1, n2: (
            (h := x + n1(attention(x, mask=mask)[0])) + n2(feed(h))
        ),
        "one residual around both": lambda x, mask, attention, feed, n1, n2: (
            feed(n2(attention(n1(x), mask=mask)[0])) + x
        ),
        "weights added": lambda x, mask, attention, feed, n1, n2: (
            (h := x + attention(n1(x), mask=mask)[1]) + feed(n2(h))
        ),
        "both results added": lambda x, mask, attention, feed, n1, n2: x + attention(n1(x), mask=mask),
    }
}


UNKNOWN = {
    check_assembled_layer: {
        "a little more": changed(layer, lambda outputs: outputs + 0.01),
        "twice": lambda *parts: layer(layer(*parts), *parts[1:]),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_an_input_that_is_changed_is_told_beside_the_gradient_that_it_costs():
    said = " ".join(str(check_assembled_layer.judge(layer_in_place)).split())
    assert "not with inputs that need gradients" in said
    assert "It changes x" in said
