"""The way from symptom to cause, as data: the drawing and the tree that one walks are both made from it."""

from chapters.the_repair_shop.tree.kinds import Cause, Fork, Symptom, causes
from chapters.the_repair_shop.tree.starting import TOO_HIGH, TOO_LOW
from chapters.the_repair_shop.tree.training import NAN, NOT_FALLING, SPIKES, STOPS_EARLY, TOO_FAR
from chapters.the_repair_shop.tree.using import RUBBISH, SLOW, TRAINING, VALIDATION

__all__ = ["TREE", "Cause", "Fork", "Symptom", "causes"]

TREE: tuple[Symptom, ...] = (
    TOO_HIGH,
    TOO_LOW,
    NOT_FALLING,
    STOPS_EARLY,
    TOO_FAR,
    SPIKES,
    NAN,
    VALIDATION,
    TRAINING,
    RUBBISH,
    SLOW,
)
