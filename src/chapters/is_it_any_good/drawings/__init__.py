"""The drawings: how a reader is judged, and how far it sees."""

from chapters.is_it_any_good.drawings.opening import weighed
from chapters.is_it_any_good.drawings.sight import sight

__all__ = ["sight", "weighed"]
