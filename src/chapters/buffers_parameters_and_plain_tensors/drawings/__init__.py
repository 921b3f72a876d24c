"""The drawings, made from what the chapter's cells found."""

from chapters.buffers_parameters_and_plain_tensors.drawings.exercises import to_count, to_deploy
from chapters.buffers_parameters_and_plain_tensors.drawings.opening import answers, drawers, stray
from chapters.buffers_parameters_and_plain_tensors.drawings.training_and_saving import (
    files,
    rule,
    survivors,
    two_questions,
)

__all__ = [
    "answers",
    "drawers",
    "files",
    "rule",
    "stray",
    "survivors",
    "to_count",
    "to_deploy",
    "two_questions",
]
