"""The figures of “Fewer keys, or none”, a file for each section."""

from chapters.fewer_keys_or_none.figures import keys, state

__all__ = ["keys", "state"]
