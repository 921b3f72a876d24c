"""The exercises of “Translating with attention”, from one look to a whole decoder."""

from chapters.translating_with_attention.exercises.alignment_error_rate import check_alignment_error_rate
from chapters.translating_with_attention.exercises.attention_decoder import check_attention_decoder
from chapters.translating_with_attention.exercises.beam_search import check_beam_search
from chapters.translating_with_attention.exercises.one_look import check_one_look
from chapters.translating_with_attention.exercises.repaired_company import check_repaired_company
from chapters.translating_with_attention.exercises.words_read import check_words_read

__all__ = [
    "EXERCISES",
    "check_alignment_error_rate",
    "check_attention_decoder",
    "check_beam_search",
    "check_one_look",
    "check_repaired_company",
    "check_words_read",
]

# In the order of the chapter.
EXERCISES = (
    check_one_look,
    check_alignment_error_rate,
    check_repaired_company,
    check_beam_search,
    check_attention_decoder,
    check_words_read,
)
