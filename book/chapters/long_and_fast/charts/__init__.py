"""The charts of “Long and fast”, a file for each section."""

from chapters.long_and_fast.charts import costs, longer, tiles

__all__ = ["costs", "longer", "tiles"]
