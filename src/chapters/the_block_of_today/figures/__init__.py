"""The figures of “The block of today”, a file for each section."""

from chapters.the_block_of_today.figures import block, writing

__all__ = ["block", "writing"]
