"""The drawings: how a reader is judged, and what is left to draw from."""

from chapters.is_it_any_good.drawings.opening import weighed
from chapters.is_it_any_good.drawings.writing import stays

__all__ = ["stays", "weighed"]
