"""The exercises of “Queries, keys and values that learn”."""

from chapters.queries_keys_and_values_that_learn.exercises.narrow_pair import check_narrow_pair
from chapters.queries_keys_and_values_that_learn.exercises.narrowest_heads import check_narrowest_heads
from chapters.queries_keys_and_values_that_learn.exercises.projection_shapes import check_projection_shapes
from chapters.queries_keys_and_values_that_learn.exercises.repaired_roles import check_repaired_roles
from chapters.queries_keys_and_values_that_learn.exercises.self_attention import check_self_attention

__all__ = [
    "EXERCISES",
    "check_narrow_pair",
    "check_narrowest_heads",
    "check_projection_shapes",
    "check_repaired_roles",
    "check_self_attention",
]

# In the order of the chapter.
EXERCISES = (
    check_projection_shapes,
    check_self_attention,
    check_repaired_roles,
    check_narrow_pair,
    check_narrowest_heads,
)
