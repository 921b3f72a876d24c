"""What `checkup` finds of the faults it is held against. A test counts them all again.

Faults are planted by line in six of the book's models: most were written before the tool, the others before
it was tried on them. Found is what no healthy model of the family has. Named is what leads to the right line
of inquiry or to the right layer, and `BOTH` counts those that lead to both at once.
"""

from typing import NamedTuple


class Held(NamedTuple):
    """`Held(faults=40, found=36, named=35)` is one family: planted, found, and named."""

    faults: int
    found: int
    named: int


class Missed(NamedTuple):
    """`Missed("GPT", "no softmax", "…")` is a fault of which no finding tells, and what lets it pass."""

    family: str
    fault: str
    why: str


HELD: dict[str, Held] = {
    "LanguageModel": Held(faults=57, found=52, named=52),
    "GPT": Held(faults=57, found=45, named=44),
    "Today": Held(faults=52, found=48, named=47),
    "Transformer": Held(faults=33, found=30, named=30),
    "Bahdanau": Held(faults=14, found=13, named=13),
    "Luong": Held(faults=13, found=11, named=10),
}
BOTH: dict[str, int] = {
    "LanguageModel": 41, "GPT": 42, "Today": 39, "Transformer": 26, "Bahdanau": 10, "Luong": 8,
}  # fmt: skip

# Of the faults that were written after the tool.
AFTER: Held = Held(faults=26, found=22, named=21)

MISSED: tuple[Missed, ...] = (
    Missed(
        "LanguageModel", "one head for all",
        "One head is a right model, too: how many were meant, no test knows.",
    ),
    Missed(
        "LanguageModel", "positions added twice",
        "Twice a table of waves is a table of waves, only louder.",
    ),
    Missed(
        "LanguageModel", "the stream lost in the second layer",
        "It gets lost behind the layer, and each layer is asked by itself.",
    ),
    Missed(
        "LanguageModel", "scaled down once more in evaluation",
        "With dropout, training and evaluation differ anyway: by how much is not compared.",
    ),
    Missed(
        "LanguageModel", "one word's vector never learns",
        "Whether the table gets a gradient is asked, not whether each of its rows does.",
    ),
    Missed("GPT", "no softmax", "There are models that attend without one: no rule is broken."),
    Missed(
        "GPT", "the stream doubled in the second block",
        "It is doubled behind the block, and each block is asked by itself.",
    ),
    Missed(
        "GPT", "a curve that is flat nearly everywhere",
        "It is asked whether something bends, and whether units are silent, not how steep a curve is.",
    ),
    Missed(
        "GPT", "the output table is a copy",
        "The table still gets a gradient, from the end where ids are read.",
    ),
    Missed("GPT", "all starts at nothing", "The first loss is ln V, and it learns one batch by heart."),
    Missed(
        "GPT", "the second block writes thirty times as much",
        "The stream gets less than twenty times as large, and up to there sizes are let pass.",
    ),
    Missed(
        "GPT", "statistics of the batch",
        "In evaluation it uses what it kept, and rows are by themselves; training is not compared.",
    ),
    Missed(
        "GPT", "exp without the maximum taken off",
        "The scores of a new model are small: nothing is too large for exp.",
    ),
    Missed(
        "GPT", "ids in one byte",
        "Most ids of its batch fit into a byte, and no two are compared with each other.",
    ),
    Missed(
        "GPT", "logits in another order than the ids",
        "A table learns in any order: only beside stored weights is one wrong.",
    ),
    Missed("GPT", "logits of a hundredth", "Small logits are those of a model that knows nothing yet."),
    Missed(
        "GPT", "logits rounded to bfloat16",
        "Three digits are right, and no test asks for more of the output.",
    ),
    Missed(
        "Today", "values turned, too",
        "Its scores still depend on distances alone; values are not asked.",
    ),
    Missed(
        "Today", "what attention adds is added twice",
        "Twice what a matrix gives is what another matrix gives.",
    ),
    Missed(
        "Today", "what is read is detached from its table",
        "The table still gets a gradient, from the end where logits are made.",
    ),
    Missed(
        "Today", "frequencies by a division without remainder",
        "One pair turns and the others hardly do: that two turn alike is not asked.",
    ),
    Missed(
        "Transformer", "embeddings not scaled up",
        "Whether positions drown the words is asked only of models that read one sequence.",
    ),
    Missed(
        "Transformer", "log-probabilities turned round",
        "Logits may be any numbers, and it learns with these.",
    ),
    Missed(
        "Transformer", "places counted from the end of the longest row",
        "Other ids are put in the place of filler, but not more or less filler behind a row.",
    ),
    Missed(
        "Bahdanau", "each step begins from the encoder's last state",
        "What is found in the source still tells of the words before, so that each place seems to see them.",
    ),
    Missed("Luong", "the encoder's words still frozen", "Tables of words are often kept frozen on purpose."),
    Missed(
        "Luong", "exp without the maximum taken off",
        "The scores of a new model are small: nothing is too large for exp.",
    ),
)  # fmt: skip

# Found, and told of another layer and another line of inquiry.
ELSEWHERE: tuple[tuple[str, str], ...] = (
    ("GPT", "all biases start at one"),
    ("Today", "frequencies rounded with the weights"),
    ("Luong", "padding can never be said, nor <start>"),
)

HEALTHY: int = 108
FALSE_ALARMS: tuple[str, ...] = ()
# A second bank, in other styles, by somebody who had not read the tool, as it was before what it showed was
# mended: found is what no healthy model of the style has, accused are so many of the healthy ones.
STRANGE: Held = Held(faults=125, found=96, named=92)
STRANGE_HEALTHY, ACCUSED_THEN = 106, 37
