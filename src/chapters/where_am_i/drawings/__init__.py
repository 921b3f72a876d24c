"""The drawings of “Where am I?”: clocks, arrows that turn, and the places where a position can go in."""

from chapters.where_am_i.drawings.longer_sequences import half_a_turn, pairings, tips, verdicts
from chapters.where_am_i.drawings.opening import added, clocks, counting, same_bag
from chapters.where_am_i.drawings.three_places import penalties, three_places, turned

__all__ = [
    "added",
    "clocks",
    "counting",
    "half_a_turn",
    "pairings",
    "penalties",
    "same_bag",
    "three_places",
    "tips",
    "turned",
    "verdicts",
]
