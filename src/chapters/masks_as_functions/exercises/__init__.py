"""The exercises of “Masks as functions”, from texts that do not see each other to the fewest tiles."""

from chapters.masks_as_functions.exercises.counted_tiles import check_counted_tiles
from chapters.masks_as_functions.exercises.document_rule import check_document_rule
from chapters.masks_as_functions.exercises.fewest_tiles import check_fewest_tiles
from chapters.masks_as_functions.exercises.repaired_rules import check_repaired_rules

__all__ = [
    "EXERCISES",
    "check_counted_tiles",
    "check_document_rule",
    "check_fewest_tiles",
    "check_repaired_rules",
]

# In the order of the chapter.
EXERCISES = (check_document_rule, check_counted_tiles, check_repaired_rules, check_fewest_tiles)
