"""Say the shapes of a gate, which multiplies, and of a weighted sum."""

from bookkit.checking.puzzle import ShapePuzzle

# features and attention are (8, 64); query is (8, 1, 16), key (8, 10, 16), value (8, 10, 64) and weights
# (8, 1, 10): 8 examples, 10 items each.
check_gate_shapes = ShapePuzzle(
    "gate_shapes",
    difficulty=2,
    minutes=5,
    shapes={
        "attention * features": (8, 64),
        "attention.sum(-1)": (8,),
        "query @ key.mT": (8, 1, 10),
        "weights.sum(-1)": (8, 1),
        "weights @ value": (8, 1, 64),
        "weights.mT * value": (8, 10, 64),
        "(weights.mT * value).sum(-2)": (8, 64),
    },
    mistakes={
        "gate that sums": (
            "a gate multiplies number by number. As many come out as went in: nothing is summed.",
            {"attention * features": (8,)},
        ),
        "gate as a matrix product": (
            "`*` multiplies number by number. It is `@` that would join every row with every row.",
            {"attention * features": (8, 8), "weights.mT * value": (8, 10, 10)},
        ),
        "summed over the examples": (
            "dim=-1 is the last axis; that is the one that goes, and the examples stay.",
            {"attention.sum(-1)": (64,), "weights.sum(-1)": (1, 10)},
        ),
        "axis kept": (
            "a sum takes its axis away, unless keepdim=True asks for it to stay with length 1.",
            {
                "attention.sum(-1)": (8, 1),
                "weights.sum(-1)": (8, 1, 1),
                "(weights.mT * value).sum(-2)": (8, 1, 64),
            },
        ),
        "axis of the query lost": (
            "the axis of the queries has length 1, and `@` keeps it.",
            {"query @ key.mT": (8, 10), "weights @ value": (8, 64)},
        ),
        "width kept": (
            "a dot product sums over the width 16, so that axis is gone: what is left is one number for each "
            "query with each key.",
            {"query @ key.mT": (8, 10, 16)},
        ),
        "one weight for each feature": (
            "a weighted sum has one weight for each item, 10 of them, and the items are what it sums over.",
            {"weights @ value": (8, 10, 64), "(weights.mT * value).sum(-2)": (8, 10, 64)},
        ),
        "summed over the features": (
            "the sum must run over the items. Here the features went away and the items stayed.",
            {"(weights.mT * value).sum(-2)": (8, 10), "weights @ value": (8, 1, 10)},
        ),
        "gate that mixes": (
            "weights.mT is (8, 10, 1): its last axis is stretched to the 64 features, so that each item "
            "keeps its row.",
            {"weights.mT * value": (8, 1, 64)},
        ),
    },
)
