"""Cut a chunk of text into pieces by merges, and put a text together again."""

from attnlab.corpora import pieces
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.a_gpt_of_your_own.exercises.byte_pieces_mistakes import MISTAKES
from chapters.a_gpt_of_your_own.exercises.byte_pieces_parts import TOLD, _both, _pieces

_A_B, _B_C, _C_A = (97, 98), (98, 99), (99, 97)


check_byte_pieces = Exercise(
    "byte_pieces",
    difficulty=2,
    minutes=20,
    takes=("merges", "chunk", "ids"),
    returns=("ids of the chunk", "text of the ids"),
    reference=_pieces,
    ask=_both,
    cases=(
        Case("right for one merge", [(104, 97)], "ha", [256, 33]),
        Case("right for a merge that is there twice", [(104, 97)], "haha!", [256, 256, 33]),
        Case("right for three letters alike", [(97, 97)], "aaa", [256, 97, 98]),
        # The piece that a merge makes joins with what stands behind it, and with what stands before it.
        Case("right for merges of merges", [(116, 104), (256, 101)], "then", [257, 110, 256]),
        Case("right for merges of merges", [(104, 101), (116, 256)], "the", [116, 256, 257]),
        # The earliest is not always the first from the left, nor the last learned, the longest, the most
        # frequent, or the one of the smallest ids.
        Case("right where two merges want one letter", [_B_C, _A_B], "abc", [97, 256]),
        Case("right where two merges want one letter", [_C_A, _A_B], "cab", [99, 257]),
        Case("right where two merges want one letter", [_A_B, _B_C], "abcbc", [257, 256]),
        Case("right where two merges want one letter", [_B_C, _A_B, (97, 256)], "zabc", [122, 258]),
        Case("right where two merges want one letter", [_B_C, _A_B, (257, 99)], "abc", [258]),
        Case("right where the first merge is not there", [(120, 121), (104, 97)], "ha", [257, 256]),
        Case("right for letters of several bytes", [(116, 104)], "thé", [256, 195, 169]),
        Case("right for letters of several bytes", [(226, 130), (256, 172)], "7 €", [55, 257]),
        # As learned from “hé” and “hè”, which have the same first two bytes.
        Case("right for a letter that is cut in half", [(104, 195)], "hé", [256, 169, 256, 168]),
        Case("right for half a letter alone", [(104, 195)], "hè", [256, 33]),
    ),
    mistakes=MISTAKES,
    trainable=False,
    # The book's own: the task is to write it.
    without=(pieces,),
    meanings={"ids of the chunk": TOLD, "text of the ids": TOLD},
)
