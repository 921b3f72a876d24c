"""The drawings of “Fewer keys, or none”, a file for each section."""

from chapters.fewer_keys_or_none.drawings import keys, state

__all__ = ["keys", "state"]
