"""The drawings: from a text to a text that grows, its pieces, its crops, the model, and what is drawn."""

from chapters.a_gpt_of_your_own.drawings.model import model
from chapters.a_gpt_of_your_own.drawings.opening import chain
from chapters.a_gpt_of_your_own.drawings.row import crops, cut
from chapters.a_gpt_of_your_own.drawings.writing import stays

__all__ = ["chain", "crops", "cut", "model", "stays"]
