"""Say the shapes on the way to general, additive and concat scores."""

from bookkit.checking.puzzle import ShapePuzzle

# query is (8, 50, 32), key (8, 200, 48) and the general weight (32, 48); there are 64 hidden units.
_SHAPES = {
    "query @ weight": (8, 50, 48),
    "query @ weight @ key.mT": (8, 50, 200),
    "query @ query_weight.T": (8, 50, 64),
    "asked.unsqueeze(-2)": (8, 50, 1, 64),
    "asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200, 64),
    "hidden @ vector": (8, 50, 200),
    "concat_weight": (64, 80),
    "vector.grad": (64,),
}


check_score_shapes = ShapePuzzle(
    "score_shapes",
    difficulty=2,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "as wide as the query": (
            "this is still as wide as a query. The matrix leads to something of another width.",
            {"query @ weight": (8, 50, 32), "query @ query_weight.T": (8, 50, 32)},
        ),
        "a row for each component": (
            "the sum runs over the query's components, and their axis goes. What stays is a row for each "
            "query.",
            {"query @ weight": (8, 32, 48)},
        ),
        "width kept": (
            "the sum runs over the width, so that axis is gone. What is left is one number for each query "
            "with each key.",
            {"query @ weight @ key.mT": (8, 50, 48), "hidden @ vector": (8, 50, 200, 64)},
        ),
        "queries and keys swapped": (
            "the queries are the rows, and the keys the columns.",
            {
                "query @ weight @ key.mT": (8, 200, 50),
                "hidden @ vector": (8, 200, 50),
                "asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 200, 50, 64),
            },
        ),
        "batch forgotten": (
            "the axis of the batch is missing. `@` turns the last two axes into new ones and keeps those in "
            "front.",
            {expression: shape[1:] for expression, shape in _SHAPES.items() if len(shape) > 2},
        ),
        "new axis in front": (
            "-2 counts in the new shape, from its end: the new axis comes last but one.",
            {"asked.unsqueeze(-2)": (8, 1, 50, 64)},
        ),
        "new axis at the end": (
            "that is what unsqueeze(-1) does. -2 is the place before the last axis.",
            {"asked.unsqueeze(-2)": (8, 50, 64, 1)},
        ),
        "axes of length 1": (
            "an axis of length 1 is stretched to the other's length when two tensors are added.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 1, 64)},
        ),
        "lengths added": (
            "adding two tensors does not put them end to end: axes of length 1 are stretched, and the "
            "numbers are added.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 250, 64)},
        ),
        "hidden units forgotten": (
            "there are 64 hidden numbers for each query with each key, and nothing has summed them yet.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200)},
        ),
        "laid end to end": (
            "adding puts no hidden numbers beside others: two sides of 64 give 64.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200, 128)},
        ),
        "concat turned": (
            "as with the two matrices it is made of, the hidden units are the rows.",
            {"concat_weight": (80, 64)},
        ),
        "concat one above the other": (
            "the query and the key are laid end to end, and so are the columns that read them.",
            {"concat_weight": (128, 32)},
        ),
        "concat for one side": (
            "this is one of the two matrices it is made of.",
            {"concat_weight": (64, 32)},
        ),
        "the scores' gradient": (
            "this is the gradient on the scores. A gradient has the shape of what it is a gradient on.",
            {"vector.grad": (8, 50, 200)},
        ),
        "gradient of one number": (
            "the loss is a single number, but it has a derivative for each component of the vector.",
            {"vector.grad": ()},
        ),
        "a vector for each example": (
            "all examples share one vector: its gradient is the sum over them.",
            {"vector.grad": (8, 64)},
        ),
    },
)
