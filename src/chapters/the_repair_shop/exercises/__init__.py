"""The exercises of “The repair shop”, from a test of one's own to a fault that no test finds."""

from chapters.the_repair_shop.exercises.leaks import check_leaks
from chapters.the_repair_shop.exercises.own_fault import check_own_fault
from chapters.the_repair_shop.exercises.repaired_places import check_repaired_places
from chapters.the_repair_shop.exercises.update_sizes import check_update_sizes

__all__ = ["EXERCISES", "check_leaks", "check_own_fault", "check_repaired_places", "check_update_sizes"]

# In the order of the chapter.
EXERCISES = (check_leaks, check_update_sizes, check_repaired_places, check_own_fault)
