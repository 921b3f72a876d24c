"""The chart."""
