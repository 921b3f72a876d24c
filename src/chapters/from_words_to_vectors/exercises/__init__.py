"""The exercises of “From words to vectors”."""

from chapters.from_words_to_vectors.exercises.learned_vectors import check_learned_vectors
from chapters.from_words_to_vectors.exercises.nearest import check_nearest
from chapters.from_words_to_vectors.exercises.neighbour_counts import check_neighbour_counts
from chapters.from_words_to_vectors.exercises.skip_gram_loss import check_skip_gram_loss
from chapters.from_words_to_vectors.exercises.table_gradient import check_table_gradient

__all__ = [
    "EXERCISES",
    "check_learned_vectors",
    "check_nearest",
    "check_neighbour_counts",
    "check_skip_gram_loss",
    "check_table_gradient",
]

# In the order of the chapter.
EXERCISES = (
    check_table_gradient,
    check_nearest,
    check_neighbour_counts,
    check_skip_gram_loss,
    check_learned_vectors,
)
