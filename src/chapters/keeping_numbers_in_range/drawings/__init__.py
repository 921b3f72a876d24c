"""The drawings, made from the chapter's own numbers."""

from chapters.keeping_numbers_in_range.drawings.opening import by_hand, idea, shared
from chapters.keeping_numbers_in_range.drawings.road import (
    arrangements,
    clipped,
    encoder_layer,
    mistaken,
    without_norm,
)

__all__ = [
    "arrangements",
    "by_hand",
    "clipped",
    "encoder_layer",
    "idea",
    "mistaken",
    "shared",
    "without_norm",
]
