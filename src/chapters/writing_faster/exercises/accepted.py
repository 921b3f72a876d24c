"""Say which guesses a large model keeps, and what it draws from behind them."""

import torch
from torch import Tensor

from attnlab import decoding
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts


def _kept(p: Tensor, q: Tensor, u: Tensor) -> Tensor:
    """Which guesses pass, each for itself: p, q and u are theirs, (k,)."""
    return u < p / q


def _rest(p: Tensor, q: Tensor, guess: Tensor) -> Tensor:
    """What is left at the place of a refused guess, (V,)."""
    return (p - q).clamp(min=0)


def _accepted(
    p: Tensor,
    q: Tensor,
    guesses: Tensor,
    u: Tensor,
    *,
    passed: Part = _kept,
    counted: Part = lambda passed: passed.cumprod(0).sum(),
    rest: Part = _rest,
    scaled: Part = lambda rest: rest / rest.sum(),
    row: Part = lambda kept: kept,
    last: Part = lambda p, q: p[-1],
) -> tuple[int, Tensor]:
    """How many guesses are kept, and the chances of what comes then."""
    its = guesses[:, None]
    kept = int(counted(passed(p[:-1].gather(1, its)[:, 0], q.gather(1, its)[:, 0], u)))
    if kept >= len(q):
        return kept, last(p, q)
    place = row(kept)
    return kept, scaled(rest(p[place], q[min(place, len(q) - 1)], guesses[kept]))


def _likeliest(p: Tensor, q: Tensor, guesses: Tensor, u: Tensor) -> tuple[int, Tensor]:
    """Kept where it is what the large model holds for likeliest."""
    agree = p[:-1].argmax(-1) == guesses
    return _accepted(p, q, guesses, u, passed=lambda *_: agree)


def _one_row_late(p: Tensor, q: Tensor, guesses: Tensor, u: Tensor) -> tuple[int, Tensor]:
    """Each guess is judged by what the large model says behind it."""
    late = p[1:].gather(1, guesses[:, None])[:, 0]
    return _accepted(p, q, guesses, u, passed=lambda _, q, u: u < late / q)


def _without_the_guess(p: Tensor, q: Tensor, guess: Tensor) -> Tensor:
    return p.index_fill(0, guess, 0.0)


MISTAKES: Mistakes = in_parts(
    _accepted,
    passed={
        "ratio upside down": (
            "The ratio stands upside down. A guess is kept with chance min(1, p/q): surely where the large "
            "model holds it for likelier than the small one does.",
            lambda p, q, u: u < q / p,
        ),
        "kept where u is above": (
            "You keep a guess where `u` is *above* p/q. A number from 0 to 1 is below p/q with just the "
            "chance p/q.",
            lambda p, q, u: u > p / q,
        ),
        "kept with chance p": (
            "You keep a guess with chance p. It was guessed with chance q already: it is kept with p/q.",
            lambda p, q, u: u < p,
        ),
        "kept with chance q": (
            "You keep a guess with chance q, and the large model has no say. It is kept with p/q.",
            lambda p, q, u: u < q,
        ),
        "kept only where p is larger": (
            "You keep a guess only where p is at least q, and `u` plays no part. Where p is smaller it is "
            "kept, too, with chance p/q.",
            lambda p, q, u: p >= q,
        ),
        "kept where q is larger": (
            "You keep a guess where q is at least p, and `u` plays no part. It is kept with chance p/q.",
            lambda p, q, u: q >= p,
        ),
        "kept where u is no more": (
            "You keep a guess where `u` is just p/q. It must be *below*: `u` can be 0, and so can p.",
            lambda p, q, u: u <= p / q,
        ),
        "one u for all": (
            "All guesses are judged by the first number of `u`. Each has its own.",
            lambda p, q, u: u[0] < p / q,
        ),
    },
    counted={
        "counted behind a refusal": (
            "You count all guesses that pass. What stands behind a refused one was guessed behind a wrong "
            "word: stop at the first refusal.",
            lambda passed: passed.sum(),
        ),
        "only the first": (
            "You look at the first guess alone. The next ones count as long as none was refused.",
            lambda passed: passed[0].long(),
        ),
        "all or nothing": (
            "You keep all guesses or none. Those before the first refusal stay.",
            lambda passed: len(passed) * int(passed.all()),
        ),
    },
    rest={
        "drawn from p": (
            "Behind a refusal the chances are p. But p has been served in part already, by guesses that were "
            "kept: what is left is max(0, p - q).",
            lambda p, q, guess: p,
        ),
        "drawn from q": (
            "Behind a refusal you go on with the small model's chances, q. What is left is max(0, p - q).",
            lambda p, q, guess: q,
        ),
        "the guess taken out": (
            "You take the refused guess out of p. Take *all* of q off: what is left is max(0, p - q).",
            _without_the_guess,
        ),
        "the wrong one taken off": (
            "You take p off q. It is the large model that is owed something: max(0, p - q).",
            lambda p, q, guess: (q - p).clamp(min=0),
        ),
        "distance": (
            "You take the distance of p and q. Where q is larger nothing is left: `clamp(min=0)`, not "
            "`abs()`.",
            lambda p, q, guess: (p - q).abs(),
        ),
        "what both share": (
            "You take the smaller of p and q. That is what was kept; what is left is max(0, p - q).",
            lambda p, q, guess: torch.minimum(p, q),
        ),
    },
    scaled={
        "not scaled": (
            "The chances behind a refusal do not come to 1. Divide them by their sum.",
            lambda rest: rest,
        ),
        "softmax of the rest": (
            "You take a softmax of what is left, and it gives every 0 a chance again. Divide by the sum.",
            lambda rest: rest.softmax(-1),
        ),
    },
    row={
        "one place late": (
            "Behind a refusal you take p of the *next* place. The refused guess stood at place `kept`, and "
            "so do its chances.",
            lambda kept: kept + 1,
        ),
        "one place early": (
            "Behind a refusal you take p and q of the last guess that was kept. The refused one stood at "
            "place `kept`, and so do its chances.",
            lambda kept: max(0, kept - 1),
        ),
        "the first place": (
            "Behind a refusal you always take the chances of the first place. Take those of the refused "
            "guess.",
            lambda kept: 0,
        ),
    },
    last={
        "the last guess again": (
            "Where all are kept you return the chances of the last guess's own place. p has one row more: "
            "what comes behind all of them.",
            lambda p, q: p[-2],
        ),
        "the rest of the last": (
            "Where all are kept you take q off as well. Nobody has guessed there: the chances are the last "
            "row of p, as it is.",
            lambda p, q: (p[-1] - q[-1]).clamp(min=0) / (p[-1] - q[-1]).clamp(min=0).sum(),
        ),
    },
) | in_answer(
    _accepted,
    {
        "the new piece counted": (
            "You count the piece that is drawn anew, too. `kept` are the guesses that stay.",
            lambda answer: (answer[0] + 1, answer[1]),
        )
    },
)
MISTAKES |= {
    "p of the next row": (
        "You judge each guess by the row of p behind it. Row i of p is what the large model says in the "
        "place of guess i.",
        _one_row_late,
    ),
    "kept where it is the likeliest": (
        "You keep a guess where it is the likeliest of p. That is right where both always take the "
        "likeliest; here they draw: keep it with chance p/q.",
        _likeliest,
    ),
    "not clipped": (
        "Some chances behind a refusal are below 0. Where q is larger than p nothing is left: "
        "`clamp(min=0)`.",
        lambda *inputs: _accepted(*inputs, rest=lambda p, q, guess: p - q, scaled=lambda rest: rest),
    ),
    "the refused guess counted": (
        "You count the refused guess, too. `kept` are those before it.",
        lambda p, q, *drawn: (min(_accepted(p, q, *drawn)[0] + 1, len(q)), _accepted(p, q, *drawn)[1]),
    ),
    "counts what is refused": (
        "You count the guesses that are *not* kept. Asked for is how many are.",
        lambda p, q, guesses, u: (len(q) - _accepted(p, q, guesses, u)[0], _accepted(p, q, guesses, u)[1]),
    ),
}


def _shares(*rows: list[int]) -> Tensor:
    """Chances, given as per cents."""
    return torch.tensor(rows, dtype=torch.float64, device="cpu") / 100


def _numbers(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64, device="cpu")


_P = _shares([50, 30, 15, 5], [5, 15, 45, 35], [20, 40, 5, 35], [65, 5, 20, 10])
_Q = _shares([20, 60, 10, 10], [25, 35, 30, 10], [35, 30, 10, 25])


check_accepted = Exercise(
    "accepted",
    difficulty=3,
    minutes=30,
    takes=("p", "q", "guesses", "u"),
    returns=("kept", "chances"),
    reference=_accepted,
    cases=(
        Case("right where one guess is kept", _P[:2], _Q[:1], whole(1), _numbers(0.4)),
        Case("right where one guess is refused", _P[:2], _Q[:1], whole(1), _numbers(0.55)),
        Case("right where p is larger", _P[:2], _Q[:1], whole(0), _numbers(0.95)),
        Case("right where all are kept", _P, _Q, whole(0, 3, 2), _numbers(0.7, 0.9, 0.3)),
        Case("right where the first is refused", _P, _Q, whole(1, 3, 1), _numbers(0.8, 0.2, 0.4)),
        Case("right where one in the middle is refused", _P, _Q, whole(1, 1, 3), _numbers(0.2, 0.7, 0.5)),
        Case("right where the last is refused", _P, _Q, whole(2, 2, 0), _numbers(0.97, 0.1, 0.75)),
        Case(
            "right where one model never says a word",
            *(
                _shares([0, 60, 40], [50, 25, 25], [10, 80, 10]),
                _shares([30, 0, 70], [0, 55, 45]),
                whole(2, 1),
                _numbers(0.35, 0.5),
            ),
        ),
        Case(
            "right where u is 0",
            _shares([38, 62, 0], [38, 62, 0], [0, 50, 50], [10, 20, 70]),
            _shares([40, 60, 0], [40, 60, 0], [20, 30, 50]),
            whole(0, 0, 0),
            _numbers(0.5, 0.9, 0),
        ),
    ),
    mistakes=MISTAKES,
    without=(decoding,),
    trainable=False,
)
