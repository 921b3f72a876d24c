"""Small exercises of every kind, on which the machinery is tried without the book's own."""

import dataclasses
from functools import partial

import torch
from torch import nn

from attnlab.scores import scaled_dot
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import but, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import WEIGHING, softmax
from bookkit.checking.puzzle import ShapePuzzle

exercise = partial(Exercise, difficulty=1, minutes=1)


def small(reference, *cases, takes, **more):
    """An exercise without mistakes of its own, whose cases are their inputs."""
    labelled = tuple(Case(f"right for case {number}", *inputs) for number, inputs in enumerate(cases, 1))
    asked = {"takes": takes, "returns": ("answer",), "reference": reference, "cases": labelled}
    return exercise("small", mistakes={}, **asked | more)


check_scores = exercise(
    "scores",
    minutes=5,
    takes=("query", "key"),
    returns=("scores",),
    reference=scaled_dot,
    cases=(
        Case("right for one query", exact([1, 2, 0, -1]), exact([1, 1, 1, 0], [0, 2, 1, -1], [3, 0, 2, 2])),
        Case("right for more keys", *draw(1, (3, 5), (7, 5))),
        Case("right for more queries", *draw(3, (7, 6), (3, 6))),
        Case("right for heads", *draw(5, (2, 3, 5, 11), (2, 3, 7, 11))),
        Case("right in float64", *draw(7, (4, 3, 10), (4, 6, 10), dtype=torch.float64)),
    ),
    mistakes={
        "not scaled": ("These are the plain products.", lambda query, key: query @ key.mT),
        "not turned": ("The key must be turned.", lambda query, key: query @ key),
    },
)


def temperate(query, key, value, temperature, weigh=softmax):
    return mixed(weigh(query @ key.mT / temperature), value)


check_attention = Exercise(
    "attention",
    difficulty=2,
    minutes=5,
    takes=("query", "key", "value", "temperature"),
    returns=("output", "weights"),
    reference=temperate,
    cases=(
        Case("right for few keys", *draw(1, (3, 4), (2, 4), (2, 3)), 2.0),
        Case("right when cold", *draw(4, (4, 6), (5, 6), (5, 3), dtype=torch.float64), 1 / 512),
        Case("right for a batch", *draw(7, (2, 3, 4), (2, 5, 4), (2, 5, 2)), 4.0),
    ),
    mistakes=in_parts(temperate, weigh=but(WEIGHING, "plain mean")) | swapped(temperate, "output", "weights"),
)

check_weights = small(
    lambda query, key: (query @ key.mT).softmax(-1),
    draw(1, (3, 2), (2, 2)),
    draw(3, (5, 2), (4, 2)),
    takes=("query", "key"),
)

check_count = exercise(
    "count",
    takes=("rows", "columns", "doubled"),
    returns=("numbers",),
    reference=lambda rows, columns, doubled: (1 + doubled) * rows * columns,
    cases=(
        Case("right for a few", 2, 3, False),
        Case("right for many", 8191, 9, True),
        Case("right for one row", 1, 7, True),
    ),
    mistakes={"added": ("You add rows and columns.", lambda rows, columns, doubled: rows + columns)},
)


class Shift(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table, persistent=False)

    def forward(self, words):
        return words + self.table


class SavedShift(Shift):
    def __init__(self, table):
        nn.Module.__init__(self)
        self.register_buffer("table", table)


QUESTIONS = {
    "model(words)": lambda model, words: model(words),
    "saved": lambda model, words: len(model.state_dict()),
}

check_shift = exercise(
    "shift",
    takes=("table", "words", "asked"),
    returns=("answer",),
    reference=Shift,
    cases=(
        Case("adds the table", exact([1, 2]), exact([3, 4]), "model(words)"),
        Case("saves nothing", exact([1, 2]), exact([3, 4]), "saved"),
    ),
    mistakes={"persistent": ("The table is in every file.", SavedShift)},
    trainable=False,
    ask=lambda make, table, words, asked: QUESTIONS[asked](make(table), words),
)


class Holder(nn.Module):
    """It holds a plain tensor, a list of them, and a parameter; and, inside, another of its kind."""

    def __init__(self, inside=None):
        super().__init__()
        self.plain, self.listed = torch.ones(2, 3), [torch.zeros(4)]
        self.weight = nn.Parameter(torch.ones(5))
        self.inside = inside

    def __repr__(self):
        return "a module with a plain tensor of shape (2, 3)"


check_holder = exercise(
    "holder",
    takes=("model",),
    returns=("plain",),
    reference=lambda model: sum(module.plain.numel() for module in model.modules()),
    cases=(Case("right for one", Holder()), Case("right for two", Holder(Holder()))),
    mistakes={"outermost": ("Only the outermost is searched.", lambda model: model.plain.numel())},
)

check_shapes = ShapePuzzle(
    "shapes",
    difficulty=1,
    minutes=2,
    shapes={"query.mT": (64, 50), "query.sum()": ()},
    mistakes={"not turned": ("`mT` turns the last two axes.", {"query.mT": (50, 64)})},
)

# One of each kind that code can get wrong: a tensor, several results, a whole number.
REPRESENTATIVES = (check_scores, check_attention, check_count)
EXERCISES = (*REPRESENTATIVES, check_shift, check_holder)


def parted(query, key, multiply=torch.matmul, scale=lambda scores: scores / 2):
    return scale(multiply(query, key.mT))


PARTED = dataclasses.replace(
    check_scores,
    reference=parted,
    mistakes=in_parts(
        parted,
        multiply={"negative": ("The sign is wrong.", lambda query, key: -(query @ key))},
        scale={
            "cubed": ("This is a cube.", lambda scores: scores**3),
            "softmax": ("Weights are no scores.", lambda scores: scores.softmax(-1)),
        },
    ),
)
