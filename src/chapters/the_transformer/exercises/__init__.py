"""The exercises of “The Transformer”: a layer, a whole language model, its cache, and one that is ill."""

from chapters.the_transformer.exercises.assembled_layer import check_assembled_layer
from chapters.the_transformer.exercises.cached_step import check_cached_step
from chapters.the_transformer.exercises.language_model import check_language_model
from chapters.the_transformer.exercises.near_the_limit import check_near_the_limit
from chapters.the_transformer.exercises.next_words import check_next_words
from chapters.the_transformer.exercises.repaired_model import check_repaired_model

__all__ = [
    "EXERCISES",
    "check_assembled_layer",
    "check_cached_step",
    "check_language_model",
    "check_near_the_limit",
    "check_next_words",
    "check_repaired_model",
]

# In the order of the chapter.
EXERCISES = (
    check_assembled_layer,
    check_language_model,
    check_next_words,
    check_cached_step,
    check_repaired_model,
    check_near_the_limit,
)
