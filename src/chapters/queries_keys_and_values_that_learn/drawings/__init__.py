"""The drawings of “Queries, keys and values that learn”, made from the chapter's own numbers."""

from chapters.queries_keys_and_values_that_learn.drawings.opening import (
    longer_wins,
    three_vectors,
    with_itself,
)
from chapters.queries_keys_and_values_that_learn.drawings.three_roles import (
    game_of_tag,
    three_products,
    training_loop,
)
from chapters.queries_keys_and_values_that_learn.drawings.what_can_be_left_out import (
    one_matrix,
    own_and_handed,
    shapes_to_say,
    two_ends,
)

__all__ = [
    "game_of_tag",
    "longer_wins",
    "one_matrix",
    "own_and_handed",
    "shapes_to_say",
    "three_products",
    "three_vectors",
    "training_loop",
    "two_ends",
    "with_itself",
]
