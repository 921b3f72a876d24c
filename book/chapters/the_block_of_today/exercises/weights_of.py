"""Count the weights of a model from its configuration."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.the_block_of_today.exercises.weights_of_mistakes import MISTAKES
from chapters.the_block_of_today.exercises.weights_of_parts import _weights_of

check_weights_of = Exercise(
    "weights_of",
    difficulty=2,
    minutes=15,
    takes=(
        "vocabulary", "hidden_size", "intermediate_size", "layers", "heads", "key_value_heads", "tied",
    ),
    returns=("weights",),
    reference=_weights_of,
    cases=(
        Case("right for a tiny model", 10, 12, 20, 1, 3, 3, True),
        Case("right for two blocks", 7, 10, 14, 2, 5, 5, True),
        Case("right with shared keys", 11, 24, 17, 3, 6, 2, True),
        Case("right with two tables", 13, 8, 9, 2, 4, 1, False),
        Case("right for Llama 2 7B", 32000, 4096, 11008, 32, 32, 32, False),
        Case("right for Llama 3 8B", 128256, 4096, 14336, 32, 32, 8, False),
        Case("right for Llama 3.2 1B", 128256, 2048, 8192, 16, 32, 8, True),
    ),
    mistakes=MISTAKES,
)  # fmt: skip
