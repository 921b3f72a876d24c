"""“No table at all”: what only its exercises say."""

import torch
from exercise_cases import telling, told

from attnlab.today.linear import linear
from attnlab.today.state import gated_delta
from chapters.no_table_at_all.exercises.delta_rule import check_delta_rule
from chapters.no_table_at_all.exercises.linear_recurrence import check_linear_recurrence
from chapters.no_table_at_all.exercises.wider_features import check_wider_features

test_a_reader_is_told = telling(
    # A wrong table is a table first of all.
    told(
        check_linear_recurrence, lambda query, key, value, decay: (query @ key.mT) @ value, mistake="a table"
    ),
    told(check_delta_rule, gated_delta, "✗ is written without what is there already"),
    told(check_wider_features, lambda keys: keys.sum(), "For 32 keys, (32, m) is expected, and () came"),
    told(check_wider_features, lambda keys: torch.eye(len(keys), 64), mistake="counts the company"),
)


def test_the_room_gives_the_same_from_vectors_whose_features_these_are():
    for case in check_linear_recurrence.cases:
        query, key, value, decay = case.fresh()
        vectors = (torch.where(each > 1, each - 1, each.log()) for each in (query, key))
        expected = check_linear_recurrence.reference(query, key, value, decay)
        torch.testing.assert_close(linear(*vectors, value, decay, 4), expected)
