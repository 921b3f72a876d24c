"""The chart draws what attnlab computes."""
