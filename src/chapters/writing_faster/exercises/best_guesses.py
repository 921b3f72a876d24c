"""Find how many guesses pay."""

from collections.abc import Sequence

from attnlab import decoding
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Part, in_answer, in_parts


def _powers(chance: float, k: int) -> float:
    """1 + chance + … + chance to the k: what comes in any case, the first guess, the second."""
    return float(sum(chance**kept for kept in range(k + 1)))


def _first_of_the_best(speeds: Sequence[float]) -> int:
    return max(range(len(speeds)), key=speeds.__getitem__)


def _best_guesses(
    chance: float,
    cost: float,
    most: int,
    *,
    pieces: Part = _powers,
    costs: Part = lambda cost, k: 1 + k * cost,
    tried: Part = lambda most: range(most + 1),
    best: Part = _first_of_the_best,
) -> tuple[int, float]:
    speeds = [pieces(chance, k) / costs(cost, k) for k in tried(most)]
    place = best(speeds)
    return tried(most)[place], speeds[place]


def _pieces_a_reading(chance: float, cost: float, most: int) -> tuple[int, float]:
    guesses, speed = _best_guesses(chance, cost, most)
    return guesses, speed * (1 + guesses * cost)


check_best_guesses = Exercise(
    "best_guesses",
    difficulty=2,
    minutes=20,
    takes=("chance", "cost", "most"),
    returns=("guesses", "speed"),
    reference=_best_guesses,
    cases=(
        Case("right for a good draft model", 0.8, 0.1, 8),
        Case("right for our own, which does not pay", 0.53, 0.8, 8),
        Case("right for a middling one", 0.6, 0.25, 6),
        Case("right for one that could guess more", 0.9, 0.02, 5),
        Case("right for one that is always right", 1.0, 0.15, 4),
        Case("right for one that is always wrong", 0.0, 0.05, 3),
        Case("right where none and one are equally good", 0.5, 0.5, 3),
    ),
    mistakes=in_parts(
        _best_guesses,
        pieces={
            "no piece of its own": (
                "You count the guesses that are kept. The reading adds one piece more, whatever becomes of "
                "them.",
                lambda chance, k: _powers(chance, k) - (k > 0),
            ),
            "each guess for itself": (
                "You count k · chance guesses. The second is kept only if the first was: 1 + chance + "
                "chance² + …",
                lambda chance, k: 1 + k * chance,
            ),
            "all or nothing": (
                "You count all k guesses, or none. Those before the first refusal are kept, too.",
                lambda chance, k: 1 + k * chance**k,
            ),
            "one power too many": (
                "One guess too many is counted: k guesses go up to chance to the power k.",
                lambda chance, k: _powers(chance, k + 1),
            ),
            "one power too few": (
                "One guess is missing: k guesses go up to chance to the power k.",
                lambda chance, k: _powers(chance, max(k - 1, 0)),
            ),
            "the chance of a refusal": (
                "You take `chance` for that of a refusal. It is that of being kept.",
                lambda chance, k: _powers(1 - chance, k),
            ),
        },
        costs={
            "guesses cost nothing": (
                "The guesses cost nothing with you, so that more are always better. Each costs `cost`.",
                lambda cost, k: 1.0,
            ),
            "the reading costs nothing": (
                "The guesses alone are paid for. The reading costs 1.",
                lambda cost, k: k * cost if k else 1.0,
            ),
            "one guess paid": (
                "You pay for one guess. There are k of them, one after the other.",
                lambda cost, k: 1 + cost * min(k, 1),
            ),
            "each piece read costs 1": (
                "You pay 1 for each guess that is read. A reading costs 1, however many pieces it reads: "
                "that is the point of it.",
                lambda cost, k: 1 + k * (1 + cost),
            ),
        },
        tried={
            "one at least": (
                "Where nothing is gained, no guess is best: 0, at a speed of 1.",
                lambda most: range(1, most + 1),
            ),
            "the most left out": (
                "You stop before `most`. It may be tried, too: `range(most + 1)`.",
                lambda most: range(most),
            ),
        },
        best={
            "the slowest": (
                "You take the number with the least speed.",
                lambda speeds: min(range(len(speeds)), key=speeds.__getitem__),
            ),
            "as many as possible": (
                "You take as many guesses as are allowed. Late guesses are rarely kept, and cost as much as "
                "the first.",
                lambda speeds: len(speeds) - 1,
            ),
            "the largest of equally good": (
                "Of equally good numbers you take the largest. Take the smallest: a guess that gains nothing "
                "is not made.",
                lambda speeds: max(range(len(speeds)), key=lambda k: (speeds[k], k)),
            ),
        },
    )
    | in_answer(
        _best_guesses,
        {
            "a piece's cost": (
                "The number is right. In place of the speed you return what a piece costs: turn it upside "
                "down.",
                lambda right: (right[0], 1 / right[1]),
            ),
            "results swapped": (
                "Both results are right, in the wrong order: return guesses, speed.",
                lambda right: right[::-1],
            ),
        },
    )
    | {
        "pieces a reading": (
            "The number is right. In place of the speed you return how many pieces a reading writes: divide "
            "by what it costs.",
            _pieces_a_reading,
        ),
    },
    without=(decoding,),
    trainable=False,
)
