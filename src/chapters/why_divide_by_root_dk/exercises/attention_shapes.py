"""Say the shapes on the way from queries to the gradient of a softmax."""

from bookkit.checking.puzzle import ShapePuzzle

# query is (8, 4, 50, 64), key (8, 4, 200, 64) and value (8, 4, 200, 32): batch, heads, length, width.
_SHAPES = {
    "query @ key.mT": (8, 4, 50, 200),
    "scores.std()": (),
    "scores.softmax(-1)": (8, 4, 50, 200),
    "weights.sum(-1)": (8, 4, 50),
    "weights @ value": (8, 4, 50, 32),
    "jacobian(softmax, one_row)": (200, 200),
    "query.grad": (8, 4, 50, 64),
}


_OF_HEADS = {expression: shape for expression, shape in _SHAPES.items() if len(shape) > 2}


check_attention_shapes = ShapePuzzle(
    "attention_shapes",
    difficulty=2,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "query and key swapped": (
            "the queries are the rows, and the keys the columns.",
            dict.fromkeys(("query @ key.mT", "scores.softmax(-1)"), (8, 4, 200, 50)),
        ),
        "d_k kept": (
            "a dot product sums over d_k, so that axis is gone. What is left is one number for each query "
            "with each key.",
            dict.fromkeys(("query @ key.mT", "scores.softmax(-1)"), (8, 4, 50, 64)),
        ),
        "heads forgotten": (
            "the axis of the heads is missing. Each head works for itself, and nothing here joins them.",
            {expression: (8, *sizes) for expression, (_, _, *sizes) in _OF_HEADS.items()},
        ),
        "batch forgotten": (
            "the axis of the batch is missing. `@` works on the last two axes and keeps those in front.",
            {expression: shape[1:] for expression, shape in _OF_HEADS.items()},
        ),
        "one head of one example": (
            "this is the shape for one head of one example. What became of the two axes in front?",
            {expression: shape[2:] for expression, shape in _OF_HEADS.items()},
        ),
        "spread of each row": (
            "without a dim, std() takes all the numbers together.",
            {"scores.std()": (8, 4, 50)},
        ),
        "a single number with an axis": (
            "a single number has no axis at all, where [3.0] has one of length 1.",
            {"scores.std()": (1,)},
        ),
        "softmax that sums": (
            "softmax makes a weight of every score: as many numbers come out as went in.",
            {"scores.softmax(-1)": (8, 4, 50)},
        ),
        "summed over the queries": (
            "-1 is the last axis, that of the keys. A sum over it leaves one number for each query.",
            {"weights.sum(-1)": (8, 4, 200)},
        ),
        "axis kept": (
            "a sum takes its axis away. Only with keepdim=True it stays, with length 1.",
            {"weights.sum(-1)": (8, 4, 50, 1)},
        ),
        "d_k for d_v": (
            "the output is a weighted sum of values, so it is as wide as a value, d_v, and not as a key.",
            {"weights @ value": (8, 4, 50, 64)},
        ),
        "an output for each key": (
            "there is one output for each query. The sum runs over the keys, so their axis is gone.",
            {"weights @ value": (8, 4, 200, 32)},
        ),
        "heads joined": (
            "this is what the heads make once they are joined. Here they are still apart.",
            {"weights @ value": (8, 50, 128)},
        ),
        "Jacobian as a vector": (
            "this is one derivative for each key. But every weight depends on every score.",
            {"jacobian(softmax, one_row)": (200,)},
        ),
        "Jacobian of all rows": (
            "this is the Jacobian of every row there is. Here it is that of one.",
            {"jacobian(softmax, one_row)": (8, 4, 50, 200, 200)},
        ),
        "Jacobian of queries and keys": (
            "one row holds the scores of a single query: every one of its axes belongs to the keys.",
            {"jacobian(softmax, one_row)": (50, 200)},
        ),
        "gradient of one number": (
            "the loss is a single number, but it has a derivative for each component of each query.",
            {"query.grad": ()},
        ),
        "the scores' gradient": (
            "this is the gradient on the scores. From there it goes back through `@`, to the queries.",
            {"query.grad": (8, 4, 50, 200)},
        ),
        "the keys' gradient": (
            "this is the gradient on the keys. A gradient has the shape of what it is a gradient on.",
            {"query.grad": (8, 4, 200, 64)},
        ),
    },
)
