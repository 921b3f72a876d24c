"""The figures of “Long and fast”, a file for each section."""

from chapters.long_and_fast.figures import costs, tiles

__all__ = ["costs", "tiles"]
