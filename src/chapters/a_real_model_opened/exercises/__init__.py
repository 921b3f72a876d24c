"""The exercises, each in a file of its own."""

from bookkit.checking.report import Check

# In the order of the chapter.
EXERCISES: tuple[Check, ...] = ()
