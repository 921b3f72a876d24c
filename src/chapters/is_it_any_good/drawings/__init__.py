"""The drawings: how a reader is judged, how far it sees, and what is left to draw from."""

from chapters.is_it_any_good.drawings.opening import weighed
from chapters.is_it_any_good.drawings.sight import sight
from chapters.is_it_any_good.drawings.writing import stays

__all__ = ["sight", "stays", "weighed"]
