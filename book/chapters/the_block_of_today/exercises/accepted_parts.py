"""What `check_accepted` asks with, in parts that can be mistaken."""

from torch import Tensor

from bookkit.checking.mistakes import Part


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
