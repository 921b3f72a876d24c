"""The drawings of “The block of today”, a file for each section."""

from chapters.the_block_of_today.drawings import block, halves, numbers

__all__ = ["block", "halves", "numbers"]
