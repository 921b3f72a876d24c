"""The charts of “Long and fast”, a file for each section."""

from chapters.long_and_fast.charts import costs, tiles

__all__ = ["costs", "tiles"]
