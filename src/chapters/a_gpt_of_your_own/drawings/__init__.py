"""The drawings: from a text to a text that grows, its pieces, its crops, the model, and what is drawn."""

from chapters.a_gpt_of_your_own.drawings.helpings import accumulation
from chapters.a_gpt_of_your_own.drawings.model import model
from chapters.a_gpt_of_your_own.drawings.opening import chain
from chapters.a_gpt_of_your_own.drawings.row import crops, cut

__all__ = ["accumulation", "chain", "crops", "cut", "model"]
