"""The drawings of “Two ways to score”."""

from chapters.two_ways_to_score.drawings.mistakes_and_exercises import (
    one_example,
    shapes_of_a_score,
    turned_or_cut,
)
from chapters.two_ways_to_score.drawings.opening import bottleneck, two_networks
from chapters.two_ways_to_score.drawings.what_each_can_say import next_day, the_middle, what_is_written

__all__ = [
    "bottleneck",
    "next_day",
    "one_example",
    "shapes_of_a_score",
    "the_middle",
    "turned_or_cut",
    "two_networks",
    "what_is_written",
]
