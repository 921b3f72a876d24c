"""Say the shapes of what layer norm and batch norm share."""

from bookkit.checking.puzzle import ShapePuzzle

# x is (2, 10, 5): examples, tokens, features.
_SHAPES = {
    "x.mean(-1)": (2, 10),
    "x.mean((0, 1))": (5,),
    "x.mean(-1, keepdim=True)": (2, 10, 1),
    "nn.LayerNorm(5)(x)": (2, 10, 5),
    "nn.LayerNorm(5).weight": (5,),
    "nn.LayerNorm((10, 5)).weight": (10, 5),
    "nn.BatchNorm1d(5)(x.mT)": (2, 5, 10),
    "nn.BatchNorm1d(5).running_mean": (5,),
}


check_norm_shapes = ShapePuzzle(
    "norm_shapes",
    difficulty=2,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "the axes that go": (
            "these are the axes that the mean runs over, and they are gone. What is left are the others.",
            {"x.mean(-1)": (5,), "x.mean((0, 1))": (2, 10)},
        ),
        "one axis for two": (
            "a mean over two axes takes both away.",
            {"x.mean((0, 1))": (10, 5)},
        ),
        "one number": (
            "that would be one mean for everything. There is one for each place that is left.",
            dict.fromkeys(("x.mean(-1)", "x.mean((0, 1))"), ()),
        ),
        "keepdim forgotten": (
            "with keepdim=True the axis stays, with length 1.",
            {"x.mean(-1, keepdim=True)": (2, 10)},
        ),
        "kept at its length": (
            "keepdim keeps the axis and not its length: one mean is left on it.",
            {"x.mean(-1, keepdim=True)": (2, 10, 5)},
        ),
        "a norm that averages": (
            "a norm uses the means, and does not return them: as many numbers come out as went in.",
            {"nn.LayerNorm(5)(x)": (2, 10), "nn.BatchNorm1d(5)(x.mT)": (2, 10)},
        ),
        "a gain for each token": (
            "all tokens share the gain. It has one number for each place of the vector.",
            {"nn.LayerNorm(5).weight": (10, 5), "nn.BatchNorm1d(5).running_mean": (10, 5)},
        ),
        "a matrix for the gain": (
            "a gain multiplies number by number; nothing is mixed. That takes no matrix.",
            {"nn.LayerNorm(5).weight": (5, 5)},
        ),
        "a single gain": (
            "there is more than one gain: every place has its own.",
            {"nn.LayerNorm(5).weight": (), "nn.LayerNorm((10, 5)).weight": ()},
        ),
        "last axis alone": (
            "this one normalises over the last *two* axes, tokens and features together, and has a gain "
            "for each place.",
            {"nn.LayerNorm((10, 5)).weight": (5,)},
        ),
        "turned back": (
            "the input was turned to (2, 5, 10), and nobody turned it back.",
            {"nn.BatchNorm1d(5)(x.mT)": (2, 10, 5)},
        ),
        "a mean for each example": (
            "batch norm has one mean for each feature, whatever the batch: what it keeps can't depend on "
            "how many examples there are.",
            {"nn.BatchNorm1d(5).running_mean": (2, 5)},
        ),
    },
)
