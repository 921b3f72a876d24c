"""An experiment: the smallest cache that hardly costs anything."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.fewer_keys_or_none.exercises.smallest_cache_mistakes import MISTAKES, passing
from chapters.fewer_keys_or_none.exercises.smallest_cache_parts import FIRST, LIMIT, LOST, results

check_smallest_cache = Exercise(
    "smallest_cache",
    difficulty=4,
    minutes=45,
    takes=("question",),
    returns=("answer",),
    reference=passing,
    ask=results,
    cases=(
        Case("gives back keys and values that attention can read", FIRST),
        Case("keeps nothing outside itself", "does it keep all in itself?"),
        Case(f"loses at most {LOST} nats a piece", "does it lose little?"),
        Case(f"keeps at most {LIMIT:.0f} bits a place", "is it small?"),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
