"""Put rows of different lengths into one batch in which all end together."""

from attnlab import decoding
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.the_block_of_today.exercises.left_padded_mistakes import MISTAKES
from chapters.the_block_of_today.exercises.left_padded_parts import _left_padded

check_left_padded = Exercise(
    "left_padded",
    difficulty=2,
    minutes=20,
    takes=("rows", "filler"),
    returns=("ids", "visible", "places"),
    reference=_left_padded,
    cases=(
        Case("right for one row", [[4, 7, 5]], 0),
        Case("right for rows of two lengths", [[3, 8, 6, 9], [5, 4]], 0),
        Case("right for rows of many lengths", [[2], [5, 1, 4], [7, 8, 6, 9, 3], [4, 6, 5]], 1),
        Case("right where the filler stands in a text", [[9, 4, 9], [9, 6, 5, 9, 7], [9]], 9),
        Case("right for rows of one length", [[5, 6], [7, 5]], 3),
    ),
    mistakes=MISTAKES,
    without=(decoding,),
    trainable=False,
)
