"""An experiment: beat what the book's networks reached on a tenth of the text."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.a_gpt_of_your_own.exercises.beat_the_book_mistakes import MISTAKES, made
from chapters.a_gpt_of_your_own.exercises.beat_the_book_parts import results

check_beat_the_book = Exercise(
    "beat_the_book",
    difficulty=4,
    minutes=45,
    takes=("question",),
    returns=("answer",),
    reference=made(),
    ask=results,
    cases=(
        Case("its pieces lose nothing", "pieces"),
        Case("it sees no later id", "causal"),
        Case("it needs fewer bits a byte than counting", "level"),
        Case("your number is what it needs", "claim"),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
