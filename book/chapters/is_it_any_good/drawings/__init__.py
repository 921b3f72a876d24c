"""The drawings: who foretells one piece, what is left to draw from, and what is copied."""

from chapters.is_it_any_good.drawings.writing import stays

__all__ = ["stays"]
