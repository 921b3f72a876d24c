"""What a training in the page is told: its task, its model, how it is trained, and what a reader may change.

The chapters' training.py have the benches; each is a `Bench`.
"""

from typing import NamedTuple

from bookkit.training.tasks import Settings

MODEL: Settings = {
    "words": "learned",  # a table of vectors, or "ones": a 1 in a word's own place, and else 0
    "width": None,  # of a place's vector
    "spread": 1.0,  # of the first numbers in the table: the root of their variance
    "scaled": False,  # whether words are multiplied by √width
    "positions": "none",  # "learned", "sinusoidal", "rotary", "ALiBi"
    "longest": 0,  # rows of what is learned for places
    "layers": 1,
    "heads": 1,
    "queryWidth": None,  # of each head: dₖ, and width / heads unless something else is said
    "valueWidth": None,  # the same for values
    # "tied" is W_Q = W_K. With "of places" every place has a query and a key of its own, whatever its word.
    "matrices": "all",  # "tied", "only values", "no values", "of places"
    "attention": "softmax",  # "linear": each score is φ(q) · φ(k), above 0, and is shared out as it is
    "output": True,  # whether there is a W_O
    "sight": "so far",  # "all", "one too many", "after the softmax"
    "divisor": "root",  # √dₖ, or "none", or "width", dₖ
    "hidden": 0,  # of the network behind each attention; 0 is none
    "road": False,  # whether x is added to what a block makes of it
    "norm": "none",  # "before", "after"
    "biases": False,
    "readOut": True,  # whether a matrix reads the answer off
    "loudness": 1.0,  # first weights of matrices, as a multiple of nn.Linear's
}
TRAINING: Settings = {
    "rows": None,  # sequences a step
    "steps": None,
    "rate": None,
    "warmUp": 0,  # steps that the rate climbs
    "falls": False,  # whether it then falls to 0
    "betas": [0.9, 0.999],
    "last": 0,  # steps at the end whose sequences are `longer`
    "longer": None,
    "clip": 0,  # the most that all gradients may be long together; 0 is no limit
    "loss": "crossEntropy",  # "squares"
}


class Finding(NamedTuple):
    """`Finding("one head", "right", at_most=0.7)` holds of every seed, on sequences that are new."""

    lane: str
    what: str  # "right" or "loss"; "first" is the loss at the beginning
    at_least: float = float("-inf")
    at_most: float = float("inf")
    length: int | None = None  # of the sequences, where it is not that of training


class Bench(NamedTuple):
    """`Bench(question, task, model, training, lanes, finds)` is what one section lets its readers train."""

    question: str
    task: Settings
    model: Settings
    training: Settings
    # What each lane is called, and what it changes, part by part: {"one head": {"model": {"heads": 1}}}.
    # The first changes nothing.
    lanes: dict[str, dict[str, Settings]]
    finds: list[Finding]
    found: str  # in words, what a reader should see

    def settings(self, lane: str | None = None) -> dict[str, Settings]:
        """`bench.settings("one head")` are those of a lane, whole; without a name, of the first."""
        change = self.lanes[lane] if lane else {}
        return {
            "task": self.task | change.get("task", {}),
            "model": MODEL | self.model | change.get("model", {}),
            "training": TRAINING | self.training | change.get("training", {}),
        }
