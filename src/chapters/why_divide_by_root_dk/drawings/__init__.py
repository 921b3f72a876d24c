"""The drawings, made from the chapter's own numbers."""

from chapters.why_divide_by_root_dk.drawings.gradients import derivatives, gradients, look_up, shapes, spreads
from chapters.why_divide_by_root_dk.drawings.opening import freezing, idea, walks

__all__ = [
    "derivatives",
    "freezing",
    "gradients",
    "idea",
    "look_up",
    "shapes",
    "spreads",
    "walks",
]
