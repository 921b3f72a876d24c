"""An experiment: beat what the book's networks reached on a tenth of the text."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.is_it_any_good.exercises.beat_the_book_mistakes import MISTAKES, made
from chapters.is_it_any_good.exercises.beat_the_book_parts import FIRST, results

check_beat_the_book = Exercise(
    "beat_the_book",
    difficulty=4,
    minutes=45,
    takes=("question",),
    returns=("answer",),
    reference=made(),
    ask=results,
    cases=(
        Case("its pieces lose nothing", FIRST),
        Case("it sees no later id", "does it see later ids?"),
        Case("it needs fewer bits a byte than counting", "is it below the bar?"),
        Case("your number is what it needs", "is your number right?"),
    ),
    mistakes=MISTAKES,
    trainable=False,
    seconds=60.0,
)
