"""Say the shapes of what three matrices make of words, and of a gradient."""

from bookkit.checking.puzzle import ShapePuzzle

# words is (8, 6, 18): 8 games of 6 words; to_query and to_key are (18, 4), to_value is (18, 10).
_SHAPES = {
    "words @ to_query": (8, 6, 4),
    "query @ key.mT": (8, 6, 6),
    "weights.sum(-1)": (8, 6),
    "weights @ value": (8, 6, 10),
    "words @ words.mT": (8, 6, 6),
    "to_query @ to_key.mT": (18, 18),
    "words @ (to_query @ to_key.mT)": (8, 6, 18),
    "to_value.grad": (18, 10),
}


check_projection_shapes = ShapePuzzle(
    "projection_shapes",
    difficulty=1,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "batch forgotten": (
            "the games are missing. `@` works on the last two axes and keeps the ones in front.",
            {expression: shape[1:] for expression, shape in _SHAPES.items() if len(shape) > 2},
        ),
        "width kept": (
            "the product sums over the 18 numbers of a word, and what comes out is as wide as the matrix "
            "on the right.",
            {"words @ to_query": (8, 6, 18)},
        ),
        "as wide as a word": (
            "the weights mix values, not words: each output is as wide as a value.",
            {"weights @ value": (8, 6, 18)},
        ),
        "numbers where words should be": (
            "the sum runs over the last axis of both, and a score is left for each word with each word.",
            {"query @ key.mT": (8, 4, 4), "words @ words.mT": (8, 18, 18)},
        ),
        "width of the keys kept": (
            "a score is one number for a query with a key: the four numbers of each are summed up.",
            {"query @ key.mT": (8, 6, 4)},
        ),
        "axis kept": (
            "a sum takes its axis away, unless keepdim=True asks for it to stay with length 1.",
            {"weights.sum(-1)": (8, 6, 1)},
        ),
        "one sum for each game": (
            "the sum runs over the last axis alone: one number is left for each word that asks.",
            {"weights.sum(-1)": (8,)},
        ),
        "as wide as a key": (
            "what is mixed are the values, so the output is as wide as they are.",
            {"weights @ value": (8, 6, 4)},
        ),
        "the narrow side": (
            "the four columns are what the sum runs over. What is left is a row and a column for each of a "
            "word's 18 numbers.",
            {"to_query @ to_key.mT": (4, 4), "words @ (to_query @ to_key.mT)": (8, 6, 4)},
        ),
        "a matrix for each game": (
            "all games share one matrix, and its gradient is the sum over them.",
            {"to_value.grad": (8, 18, 10)},
        ),
        "a product for each game": (
            "neither matrix knows of games: all of them share the two, and so their product.",
            {"to_query @ to_key.mT": (8, 18, 18)},
        ),
        "the output's gradient": (
            "this is the gradient on the output. A gradient has the shape of what it is a gradient on.",
            {"to_value.grad": (8, 6, 10)},
        ),
        "the values' gradient": (
            "this is the gradient on one game's values. A gradient has the shape of what it is a gradient "
            "on: here a matrix.",
            {"to_value.grad": (6, 10)},
        ),
    },
)
