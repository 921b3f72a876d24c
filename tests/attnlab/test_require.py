"""What is required of arguments: what passes without a word, and the words for what does not.

This is the table of all messages. The tests of other rooms ask whether a room requires what it must.
"""

import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attnlab import require

SHOWN, CPU = torch.ones(2, 4, 5).bool(), torch.device("cpu")
LINE, OTHER, UNBIASED = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2, bias=False)


def of(*shape: int, **more: object) -> Tensor:
    return torch.ones(shape, **more)


def sgd(model: nn.Module) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters())


def test_what_is_well_passes() -> None:
    require.at_least(1, heads=1, d_model=np.int64(2))
    require.at_least(0, offset=0)
    require.above_zero(base=0.5)
    require.stretch(1, 0, 0.5, "mixed")
    require.even(d_k=2, d_model=16)
    require.dropout(0.0)
    require.dropout(0.99)
    require.divisor(heads=3, d_model=3)
    require.last_positions(0, 0)
    require.last_positions(3, 3)
    for chunk in (None, "auto", 1):
        require.chunk(chunk)
    require.axes("x", of(2, 3), n=None, d=3)
    require.axes("x", of(3), "…", d=3)
    require.axes("x", of(5, 4, 2, 3), "…", n=None, d=3)
    require.same_shape("x must be", of(2, 3), (2, 3))
    require.matching(of(2, 1, 4, 3), of(6, 5, 3))
    require.vectors("x", of(5, 3).half(), d_k=None)
    require.full_precision(x=of(2).double(), y=of(3).double())
    with torch.no_grad():
        require.create_graph_off("tiled")
    require.lengths(torch.tensor([0, 3], dtype=torch.uint8))
    require.mask(SHOWN)
    require.masks([SHOWN[:1], SHOWN[:, :1], SHOWN])
    require.mask_fits(SHOWN[:1, :1], (2, 4, 5), CPU)
    require.masks_of_multihead(2, SHOWN[0], None)
    require.masks_of_multihead(1, SHOWN, SHOWN[:, 0])
    require.one_length([of(2), of(2, 3)])
    require.batch([of(2), of(2)])
    require.validation_for(None, patience=None)
    require.validation_for([], patience=3)
    require.optimizer_of(nn.Sequential(LINE, OTHER), sgd(OTHER))
    require.same_weights([LINE, OTHER])
    require.some_text(" ")
    require.merge((0, 255), place=0, known=256)
    require.merge([256, 256], place=1, known=257)
    require.ids_below(3, [])
    require.ids_below(3, [0, 2])
    require.ids(torch.tensor([[0, 2]], dtype=torch.int32), vocabulary=3, context=2)
    require.ids(torch.zeros(1, 0).long(), vocabulary=3, context=2)
    require.crop(1, torch.tensor([7, 8]))
    require.same_sizes(LINE, OTHER.state_dict())
    same = require.leading_axes(query=of(2, 3, 4, 5), key=of(2, 3, 6, 7))
    wider = require.leading_axes(query=of(4, 5), key=of(2, 1, 6, 7), value=of(3, 6, 7))
    assert (same, wider) == ((2, 3), (2, 3))


# With " … " in place of words that other lines have.
VALUES = [
    (lambda: require.at_least(2, n=2, m=1), "m must be at least 2, got 1"),
    (lambda: require.above_zero(base=0), "base must be above 0, got 0"),
    (lambda: require.even(d_k=0), "d_k must be even, since pairs of columns turn together, got 0"),
    (lambda: require.even(d_k=5), "d_k must be even … got 5"),
    (lambda: require.stretch(0.5, 1, 32, "mixed"), "factor must be at least 1, got 0.5"),
    (lambda: require.stretch(float("nan"), 1, 32, "mixed"), "factor must be at least 1, got nan"),
    (lambda: require.stretch(2, 2, 2, "mixed"),
        "slow must be at least 0 and below fast, got slow = 2 and fast = 2"),
    (lambda: require.stretch(2, -1, 2, "mixed"), "slow … got slow = -1 and fast = 2"),
    (lambda: require.stretch(2, 1, 2, "yarn"),
        "how must be one of 'interpolated', 'larger base', 'mixed', got 'yarn'"),
    (lambda: require.dropout(1.0), "dropout must be at least 0 and below 1, got 1.0"),
    (lambda: require.dropout(-0.1), "dropout … got -0.1"),
    (lambda: require.dropout(float("nan")), "dropout must … got nan"),
    (lambda: require.divisor(heads=0, d_model=6), "heads must divide d_model, got d_model = 6 and heads = 0"),
    (lambda: require.divisor(heads=-2, d_model=6), "got d_model = 6 and heads = -2"),
    (lambda: require.divisor(heads=4, d_model=6), "got d_model = 6 and heads = 4"),
    (lambda: require.groups(groups=4, heads=6, d_model=24),
        "groups must divide heads, got heads = 6 and groups = 4"),
    (lambda: require.groups(groups=0, heads=6, d_model=24), "got heads = 6 and groups = 0"),
    (lambda: require.groups(groups=1, heads=8, d_model=24), "d_k must be even … got 3"),
    (lambda: require.last_positions(3, 2), "n must be from 0 to m, since the queries … got n = 3, m = 2"),
    (lambda: require.last_positions(-1, 2), "got n = -1, m = 2"),
    (lambda: require.chunk(0), 'chunk must be None, "auto" or at least 1 query, got 0'),
    (lambda: require.axes("x", of(2, 3), n=None, d=2), "x must be (n, d = 2), got (2, 3)"),
    (lambda: require.axes("x", of(2, 3), d=3), "x must be (d = 3), got (2, 3)"),
    (lambda: require.axes("x", of(2, 3), "…", d=2), "x must be (…, d = 2), got (2, 3)"),
    (lambda: require.axes("x", of(3), "…", n=None, d=3), "x must be (…, n, d = 3), got (3,)"),
    (lambda: require.axes("x", of(), "…", d=1), "x must be (…, d = 1), got ()"),
    (lambda: require.same_shape("x must be", of(1, 3), of(2, 3).shape), "x must be (2, 3), got (1, 3)"),
    (lambda: require.leading_axes(a=of(3), b=of(2, 3)), "a must be (…, length, width), got (3,)"),
    (lambda: require.leading_axes(a=of(2, 3), b=of(2, 3, device="meta")),
        "b must be on cpu, as a is, got meta"),
    (lambda: require.leading_axes(a=of(2, 4, 3), b=of(3, 4, 3)),
        "the leading axes must be equal or 1, got a (2, 4, 3), b (3, 4, 3)"),
    (lambda: require.matching(of(4, 3), of(5, 2)), "key must be (…, m, d_k = 3), got (5, 2)"),
    (lambda: require.lengths(of(2)), "lengths must be (batch,) whole numbers, got (2,) of torch.float32"),
    (lambda: require.lengths(of(1, 2).long()), "lengths … got (1, 2) of torch.int64"),
    (lambda: require.lengths(of().long()), "lengths … got () of torch.int64"),
    (
        lambda: require.mask(SHOWN[0]),
        "mask must be (batch, n, m), got (4, 5): write mask[:, None] if that is (batch, m), "
        "mask[None] if it is (n, m)",
    ),
    (lambda: require.mask(SHOWN[None]), "mask must be (batch, n, m), got (1, 2, 4, 5)"),
    (lambda: require.masks([]), "masks must be at least one, got none"),
    (lambda: require.masks([SHOWN, SHOWN[:, :3]]),
        "masks must have axes that are equal or 1, got [(2, 4, 5), (2, 3, 5)]"),
    (lambda: require.mask_fits(SHOWN[..., :1], (2, 4, 5), CPU),
        "mask must be (2, 4, 5), or 1 in place of any but the last, got (2, 4, 1)"),
    (lambda: require.mask_fits(of(4, 4).bool(), (4, 4, 4), CPU), "mask must be (4, 4, 4) … got (4, 4)"),
    (lambda: require.mask_fits(SHOWN.to("meta"), (2, 4, 5), CPU),
        "mask must be on cpu, as the scores are, got meta"),
    (lambda: require.masks_of_multihead(2, None, None),
        "attn_mask or key_padding_mask must be given, got neither"),
    (lambda: require.masks_of_multihead(2, SHOWN[:1], None),
        "attn_mask must be (n, m) or (batch · heads, n, m), got (1, 4, 5) and heads = 2"),
    (lambda: require.masks_of_multihead(2, None, SHOWN),
        "key_padding_mask must be (batch, m), got (2, 4, 5)"),
    (lambda: require.one_length([of(2), of(3)]),
        "tensors must have one length, the number of examples, got lengths [2, 3]"),
    (lambda: require.validation_for(None, patience=3), "validation must be given with patience, got None"),
    (lambda: require.optimizer_of(LINE, sgd(OTHER)),
        "optimizer must hold model's parameters, got others: use model.parameters()"),
    (lambda: require.same_weights([]), "models must hold at least one model, got none"),
    (lambda: require.same_weights([nn.BatchNorm1d(2, affine=False), nn.BatchNorm1d(3, affine=False)]),
        "models[1] must have weights of shapes [(2,), (2,), ()], got [(3,), (3,), ()]"),
    (torch.enable_grad()(lambda: require.create_graph_off("tiled")),
        "create_graph must be False on the way back through tiled, got True: take attend … derivatives"),
    (lambda: require.some_text(""), "text must hold at least one byte, got none"),
    (lambda: require.merge((257, 4), 1, 257), "merges[1] must join two pieces from 0 to 256, got (257, 4)"),
    (lambda: require.merge([4, -1], 0, 256), "merges[0] must join two pieces from 0 to 255, got (4, -1)"),
    (lambda: require.merge((1, 2, 3), 0, 256), "merges[0] … got (1, 2, 3)"),
    (lambda: require.merge((97,), 0, 256), "merges[0] … got (97,)"),
    (lambda: require.ids_below(3, [0, 3, 9]), "ids must be from 0 to 2, got 3"),
    (lambda: require.ids_below(3, [-1]), "ids must be from 0 to 2, got -1"),
    (lambda: require.ids(torch.tensor([0]), 3, 2), "ids must be (B, T), got (1,)"),
    (lambda: require.ids(of(1, 3).long(), 3, 2), "ids must be at most 2 long, the model's context, got 3"),
    (lambda: require.ids(torch.tensor([[1, 3]]), 3, 2), "ids must be from 0 to 2, got 1 to 3"),
    (lambda: require.ids(torch.tensor([[-1, 2]]), 3, 2), "ids must be from 0 to 2, got -1 to 2"),
    (lambda: require.crop(0, of(5)), "length must be at least 1, got 0"),
    (lambda: require.crop(5, of(5)), "length must be below 5, the ids in the row, got 5"),
    (lambda: require.same_sizes(LINE, nn.Linear(3, 2).state_dict()),
        "the checkpoint's weight must be (2, 2), as in the model, got (2, 3)"),
    (lambda: require.same_sizes(LINE, UNBIASED.state_dict()),
        "the checkpoint's bias must be (2,), as in the model, got no such weight"),
    (lambda: require.same_sizes(UNBIASED, LINE.state_dict()),
        "the checkpoint's bias must be no such weight, as in the model, got (2,)"),
]  # fmt: skip
KINDS = [
    (lambda: require.at_least(1, epochs=1.5), "epochs must be a whole number, got 1.5"),
    (lambda: require.vectors("x", of(2, 3).int(), d_k=3),
        "x must be floating-point vectors, got torch.int32"),
    (lambda: require.boolean("mask", of(2)),
        "mask must be boolean, got torch.float32: a mask of 0 and -inf becomes one with `mask == 0`"),
    (lambda: require.masks_of_multihead(2, of(4, 5), None),
        "attn_mask must be boolean … becomes one with `attn_mask != 0`"),
    (lambda: require.masks_of_multihead(2, None, of(4, 5)),
        "key_padding_mask must be boolean … becomes one with `key_padding_mask != 0`"),
    (lambda: require.same_shape("x must be", None, (2, 3)), "x must be (2, 3), got NoneType"),
    (lambda: require.one_length([of(2), [1, 2]]), "tensors must be tensors, got (Tensor, list)"),
    (lambda: require.batch(of(2)), "each batch must be a tuple (inputs, …, targets), got Tensor"),
    (lambda: require.batch((of(2),)), "each batch must hold tensors (inputs, …, targets), got (Tensor)"),
    (lambda: require.batch((of(2), [1.0])), "each batch … got (Tensor, list)"),
    (lambda: require.some_text(b"the"), "text must be a str, got bytes"),
    (lambda: require.full_precision(x=of(2), y=of(2).double()),
        "x and y must be all float32 or all float64, got torch.float32, torch.float64"),
    (lambda: require.full_precision(a=of(2).half(), b=of(2).half(), c=of(2).half()),
        "a, b and c must be all float32 or all float64 … torch.float16, torch.float16"),
    (lambda: require.ids(of(1, 2), 3, 2), "ids must be int64 or int32, got torch.float32"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "call", "words"),
    [(ValueError, *row) for row in VALUES] + [(TypeError, *row) for row in KINDS],
)
def test_what_cannot_work_raises_and_says_why(
    error: type[Exception], call: Callable[[], object], words: str
) -> None:
    with pytest.raises(error, match=".*".join(map(re.escape, words.split(" … "))) + "$"):
        call()
