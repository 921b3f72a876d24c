"""The exercises, in the order of the chapter."""
