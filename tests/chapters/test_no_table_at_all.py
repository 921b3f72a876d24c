"""“No table at all”: what only its exercises say, and its chart."""

import pytest
import torch
from exercise_cases import telling, told
from living_charts import drawn

from attnlab.today.linear import linear
from attnlab.today.state import gated_delta
from chapters.no_table_at_all import charts
from chapters.no_table_at_all.exercises.delta_rule import check_delta_rule
from chapters.no_table_at_all.exercises.linear_recurrence import check_linear_recurrence
from chapters.no_table_at_all.exercises.wider_features import check_wider_features

test_a_reader_is_told = telling(
    # A wrong table is a table first of all.
    told(
        check_linear_recurrence,
        lambda query, key, value, decay: (query @ key.mT) @ value,
        mistake="a table",
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


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("decay", "words"),
    [(0.9, "a half after 6.6"), (0.99, "a half after more than 64"), (1, "and nothing is ever lost")],
)
def test_the_readout_says_what_a_decay_leaves(decay: float, words: str) -> None:
    picture = drawn(charts.fading(), decay=decay)
    assert words in picture
    assert f"after 20 words {decay**20:.2f} is left" in picture
