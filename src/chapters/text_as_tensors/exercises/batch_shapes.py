"""Say the shapes of batches of a running text, and of what a model makes of them."""

from bookkit.checking.puzzle import ShapePuzzle

# 2003 tokens in 8 columns: 251 rows, the last of them partly padding. 35 steps a batch: 7 · 35 = 245, and the
# last batch has the 5 rows that are left, since the very last row has no next token.
check_batch_shapes = ShapePuzzle(
    "batch_shapes",
    difficulty=3,
    minutes=10,
    shapes={
        "columns": (251, 8),
        "first.text": (35, 8),
        "first.target": (35, 8),
        "batches[-1].text": (5, 8),
        "embedding(first.text)": (35, 8, 16),
        "model(first.text)": (35, 8, 5000),
        "model(first.text).flatten(0, 1)": (280, 5000),
        "first.target.flatten()": (280,),
        "batch_first.text": (8, 35),
    },
    mistakes={
        "rounded down": (
            "2003 / 8 is not whole, and torchtext pads the text until it is: it rounds up.",
            {"columns": (250, 8), "batches[-1].text": (4, 8)},
        ),
        "batch first": (
            "without batch_first=True time is the first axis, and each column is a stretch of the text.",
            {
                "columns": (8, 251),
                "first.text": (8, 35),
                "first.target": (8, 35),
                "batches[-1].text": (8, 5),
                "embedding(first.text)": (8, 35, 16),
                "model(first.text)": (8, 35, 5000),
            },
        ),
        "time first": (
            "with batch_first=True the batch is the first axis.",
            {"batch_first.text": (35, 8)},
        ),
        "target one shorter": (
            "each of the 35 tokens has a next one, and the target holds them all; it reaches one row further "
            "down.",
            {"first.target": (34, 8), "first.target.flatten()": (272,)},
        ),
        "target one longer": (
            "the target starts one row later and ends one row later, so it is as long as the text.",
            {"first.target": (36, 8), "first.target.flatten()": (288,)},
        ),
        "one token a column": (
            "the target holds the next token of every place, not just that of the last one.",
            {"first.target": (8,), "first.target.flatten()": (8,)},
        ),
        "target of scores": (
            "a target is the number of a word, one for each place. It is the model that gives every word a "
            "score.",
            {"first.target": (35, 8, 5000), "first.target.flatten()": (280, 5000)},
        ),
        "the last one full": (
            "7 batches of 35 rows make 245, and only a few rows are left for the last batch.",
            {"batches[-1].text": (35, 8)},
        ),
        "the last row with no target": (
            "the very last row is only a target: no token comes after it.",
            {"batches[-1].text": (6, 8)},
        ),
        "embedding instead of": (
            "an embedding puts a vector in the place of each number, so an axis is added, of width 16.",
            {"embedding(first.text)": (35, 16)},
        ),
        "vocabulary for width": (
            "the embedding's matrix has 5000 rows, one for each word; what comes out of it is one row, of "
            "width 16.",
            {"embedding(first.text)": (35, 8, 5000)},
        ),
        "width for vocabulary": (
            "the model gives a score for every word that might come next: 5000 of them, not the width of a "
            "vector.",
            {"model(first.text)": (35, 8, 16), "model(first.text).flatten(0, 1)": (280, 16)},
        ),
        "one word each": (
            "the model does not say which word comes next; it gives every one of the 5000 a score.",
            {"model(first.text)": (35, 8), "model(first.text).flatten(0, 1)": (280,)},
        ),
        "all flat": (
            "flatten(0, 1) joins the first two axes and leaves the last one alone.",
            {"model(first.text).flatten(0, 1)": (1400000,)},
        ),
        "other axes joined": (
            "axes 0 and 1 are joined, the first two: time and batch. The scores stay apart.",
            {"model(first.text).flatten(0, 1)": (35, 40000)},
        ),
    },
)
