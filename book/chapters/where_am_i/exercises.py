"""The exercises of “Where am I?”."""

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnlab.positions import alibi_bias, sinusoidal
from bookkit.checking import guard
from bookkit.checking.attempts import Case, described
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, but, in_answer, in_parts
from bookkit.checking.puzzle import ShapePuzzle
from bookkit.checking.report import Check, Report
from bookkit.checking.wording import arrow


def _pair_start(column: Any) -> Any:
    """The first column of the pair that a column, or each of a tensor of them, belongs to."""
    return column - column % 2


def _radian(
    column: Any,
    d_model: int,
    base: float,
    *,
    exponent: Callable[..., Any] = lambda column, d_model: _pair_start(column) / d_model,
    power: Callable[..., Any] = pow,
) -> Any:
    """How many positions it takes a column, or each of a tensor of them, to turn by 1."""
    return power(base, exponent(column, d_model))


_EXPONENTS: Mistakes = {
    "exponent doubled": (
        "The exponent is twice too large. Pair i has 2i / d_model; where i goes 0, 2, 4, … it is 2i already.",
        lambda column, d_model: 2 * _pair_start(column) / d_model,
    ),
    "exponent halved": (
        "The exponent is half of what it should be. With i = 0, 1, 2, … for the pairs it is 2i / d_model.",
        lambda column, d_model: column // 2 / d_model,
    ),
    "an angle for each column": (
        "Right for even columns; but the odd ones have an angle of their own. Sine and cosine come in pairs "
        "that share one: columns 0 and 1, columns 2 and 3.",
        lambda column, d_model: column / d_model,
    ),
    "column doubled": (
        "The exponent is twice too large, and odd columns have one of their own. i numbers the pairs: "
        "columns 6 and 7 are pair 3, and 2i is 6.",
        lambda column, d_model: 2 * column / d_model,
    ),
    "pairs from column 1": (
        "Your pairs are one column off. Columns are counted from 0: 0 and 1 are the first pair.",
        lambda column, d_model: _pair_start(column + 1) / d_model,
    ),
    "last pair at the base": (
        "Your exponents go from 0 to 1, so that the last pair reaches the base. Other code does that, too; "
        "here pair i has 2i / d_model, and the last one stops short of 1.",
        lambda column, d_model: column // 2 / max(d_model // 2 - 1, 1),
    ),
}
_POWERS: Mistakes = {
    "power upside down": (
        "The power is upside down: later pairs of columns turn more slowly, so that their waves are longer.",
        lambda base, exponent: base**-exponent,
    ),
    "10000 for every base": (
        "Right for base 10000. But the base is an input, and the code does not use it.",
        lambda base, exponent: 10000.0**exponent,
    ),
    "base 1000": (
        "The numbers fit a base that is ten times smaller than the one given.",
        lambda base, exponent: (base / 10) ** exponent,
    ),
}


def _waves(angles: Tensor) -> Tensor:
    return torch.stack((angles[:, 0::2].sin(), angles[:, 1::2].cos()), dim=-1).flatten(-2)


def _table(
    length: int,
    d_model: int,
    base: float,
    *,
    places: Callable[[int], Tensor] = lambda length: torch.arange(length, device="cpu"),
    wave: Callable[[Tensor], Tensor] = _waves,
    **turn: Callable[..., Any],
) -> Tensor:
    """The table in parts, each of which can be mistaken; what is left over are the parts of `_radian`."""
    columns = torch.arange(d_model, device="cpu", dtype=torch.float64)
    # An angle for each column, though pairs share theirs: (length, 1) / (d_model,) -> (length, d_model)
    return wave(places(length).unsqueeze(-1) / _radian(columns, d_model, base, **turn)).float()


_PLACES: Mistakes = {
    "positions from 1": (
        "The positions begin with 1. The first word stands at 0, and its row is 0, 1, 0, 1, …",
        lambda length: torch.arange(1, length + 1, device="cpu"),
    ),
}
_WAVES: Mistakes = {
    "sine in every column": (
        "Both columns of each pair are sines. The odd ones hold the cosine of the same angle; without it row "
        "0 is all zeros.",
        torch.sin,
    ),
    "cosine in every column": (
        "Both columns of each pair are cosines. The even ones hold the sine of the same angle.",
        torch.cos,
    ),
    "sine and cosine swapped": (
        "Sines and cosines have changed places: column 0 is a sine, so row 0 begins 0, 1.",
        lambda angles: torch.stack((angles[:, 0::2].cos(), angles[:, 1::2].sin()), dim=-1).flatten(-2),
    ),
    "all sines first": (
        "All sines stand in the left half and all cosines in the right. Other libraries do that, too, but "
        "here sine and cosine of one angle are neighbours.",
        lambda angles: torch.cat((angles[:, 0::2].sin(), angles[:, 1::2].cos()), dim=-1),
    ),
    "angles alone": (
        "These are the angles, each one twice. Take the sine of one and the cosine of the other.",
        lambda angles: angles,
    ),
}

# --- the table ------------------------------------------------------------------------------------


check_sinusoidal_table = Exercise(
    "sinusoidal_table",
    difficulty=2,
    minutes=10,
    takes=("length", "d_model", "base"),
    returns=("table",),
    reference=sinusoidal,
    # Small bases for the larger tables: where the power is upside down, float32 can tell its angles, too.
    cases=(
        Case("right for two positions and four columns", 2, 4, 10000.0),
        Case("right for a single position", 1, 6, 10000.0),
        Case("right for another base", 5, 6, 50.0),
        Case("right for more columns than positions", 7, 16, 100.0),
        Case("right for more positions than columns", 40, 8, 20.0),
    ),
    mistakes=in_parts(_table, exponent=_EXPONENTS, power=_POWERS, places=_PLACES, wave=_WAVES)
    | in_answer(
        _table,
        {
            "zeros": (
                "These are all zeros. Is the table ever filled? `table[:, 0::2] = …` writes into the even "
                "columns.",
                torch.zeros_like,
            ),
        },
    ),
)

# --- say the shapes -------------------------------------------------------------------------------

# positions is (5000, 1), frequencies (8,), table (5000, 16), words (32, 6, 16), query (32, 4, 6, 4).
check_position_shapes = ShapePuzzle(
    "position_shapes",
    difficulty=1,
    minutes=5,
    shapes={
        "positions * frequencies": (5000, 8),
        "table[:, 0::2]": (5000, 8),
        "table.unsqueeze(0)": (1, 5000, 16),
        "words + table[:6]": (32, 6, 16),
        "table[:6] @ table[:6].T": (6, 6),
        "table[7] @ table[10]": (),
        "shift_rotation(5, 16)": (16, 16),
        "rotate(query)": (32, 4, 6, 4),
        "alibi_bias(4, 6, 6)": (4, 6, 6),
    },
    mistakes={
        "one column of angles": (
            "a column of 5000 times a row of 8 is spread both ways: every position with every frequency.",
            {"positions * frequencies": (5000, 1)},
        ),
        "one row of angles": (
            "there is a product for each position, not only for each frequency.",
            {"positions * frequencies": (8,)},
        ),
        "angle for each column": (
            "there is one frequency for each pair of columns, so half as many as columns.",
            {"positions * frequencies": (5000, 16)},
        ),
        "all columns": (
            "0::2 takes every other column, beginning with the first.",
            {"table[:, 0::2]": (5000, 16)},
        ),
        "every other row": (
            "the comma comes first: `:` is for the rows, all of them, and 0::2 for the columns.",
            {"table[:, 0::2]": (2500, 16)},
        ),
        "a copy for each example": (
            "a new axis has length 1. It is spread over the batch only when something is added to it.",
            {"table.unsqueeze(0)": (32, 5000, 16)},
        ),
        "words appended": (
            "positions are added to the words, number by number. Nothing gets longer or wider.",
            {"words + table[:6]": (32, 12, 16)},
        ),
        "width appended": (
            "positions are added, not set beside the words: the sum is as wide as either.",
            {"words + table[:6]": (32, 6, 32)},
        ),
        "batch forgotten": (
            "the batch is missing. One set of six rows serves every example of it.",
            {"words + table[:6]": (6, 16), "rotate(query)": (4, 6, 4)},
        ),
        "columns with columns": (
            "this is columns against columns. Here rows meet rows: one number for each pair of positions.",
            {"table[:6] @ table[:6].T": (16, 16)},
        ),
        "product of elements": (
            "`@` of two vectors multiplies and adds up. A single number is left, which has no axis.",
            {"table[7] @ table[10]": (16,)},
        ),
        "a single number with an axis": (
            "a single number has no axis at all, where [3.0] has one of length 1.",
            {"table[7] @ table[10]": (1,)},
        ),
        "one matrix a pair": (
            "the 2-by-2 blocks stand along the diagonal of one large matrix that is zero elsewhere.",
            {"shift_rotation(5, 16)": (8, 2, 2)},
        ),
        "one matrix a step": (
            "five steps at once are one rotation: a single matrix.",
            {"shift_rotation(5, 16)": (5, 16, 16)},
        ),
        "one row a step": (
            "5 is how far it shifts. The matrix takes all 16 columns of a row to 16 new ones.",
            {"shift_rotation(5, 16)": (5, 16)},
        ),
        "scores for queries": (
            "turning a query leaves it as wide as it was. Scores come later, when it meets the keys.",
            {"rotate(query)": (32, 4, 6, 6)},
        ),
        "heads forgotten": (
            "each head has a slope of its own, and so a bias of its own.",
            {"alibi_bias(4, 6, 6)": (6, 6)},
        ),
        "a bias for each example": (
            "the distances are the same in every example: the bias has no batch axis, and is spread over it.",
            {"alibi_bias(4, 6, 6)": (32, 4, 6, 6)},
        ),
    },
)

# --- a wavelength ---------------------------------------------------------------------------------


def _wavelength(column: int, d_model: int, base: float, **turn: Callable[..., Any]) -> float:
    """How many positions a column takes for one turn: columns 0 and 1 take 2π."""
    return math.tau * float(_radian(column, d_model, base, **turn))


check_wavelength = Exercise(
    "wavelength",
    difficulty=2,
    minutes=5,
    takes=("column", "d_model", "base"),
    returns=("wavelength",),
    reference=_wavelength,
    cases=(
        Case("right for the first column", 0, 16, 10000.0),
        Case("right for an even column", 6, 16, 10000.0),
        Case("right for an odd column", 7, 16, 10000.0),
        Case("right for another width and base", 5, 12, 500.0),
        Case("right for the last column", 511, 512, 10000.0),
    ),
    mistakes=in_parts(_wavelength, exponent=_EXPONENTS, power=_POWERS)
    | in_answer(
        _wavelength,
        {
            "without 2π": (
                "This is where the angle reaches 1. A whole turn is 2π.",
                lambda right: right / math.tau,
            ),
            "a whole turn is 360": (
                "This counts degrees. torch.sin and the formula take radians: a turn is 2π.",
                lambda right: 360 * right / math.tau,
            ),
            "the frequency": (
                "This is the angle that one position adds. The wavelength is how many positions fill a turn: "
                "2π divided by it.",
                lambda right: math.tau / right,
            ),
        },
    ),
)

# --- rotary, by halves ----------------------------------------------------------------------------


def _turned_halves(
    vectors: Tensor,
    *,
    places: Callable[[int], Tensor] = lambda length: torch.arange(length, device="cpu"),
    apart: Callable[[Tensor], tuple[Tensor, ...]] = lambda vectors: vectors.chunk(2, dim=-1),
    turn: Callable[..., tuple[Tensor, Tensor]] = lambda x, y, sin, cos: (
        x * cos - y * sin,
        x * sin + y * cos,
    ),
    together: Callable[[tuple[Tensor, Tensor]], Tensor] = lambda pair: torch.cat(pair, dim=-1),
    **radian: Callable[..., Any],
) -> Tensor:
    """Rotary in parts that can be mistaken; what is left over are the parts of `_radian`."""
    length, d_k = vectors.shape[-2:]
    columns = torch.arange(
        0, d_k, 2, device="cpu", dtype=torch.float64
    )  # the first of each pair, in the paper
    angle = places(length).unsqueeze(-1) / _radian(columns, d_k, 10000.0, **radian)  # (T, d_k / 2)
    sin, cos = angle.sin().to(vectors.dtype), angle.cos().to(vectors.dtype)
    return together(turn(*apart(vectors), sin, cos))


_NEIGHBOURS: Mistakes = {
    "neighbours": (
        "This turns neighbours, as the paper does. Here column i turns with column i + d_k/2: take the "
        "vectors apart in the middle.",
        lambda vectors: _turned_halves(
            vectors,
            apart=lambda vectors: (vectors[..., 0::2], vectors[..., 1::2]),
            together=lambda pair: torch.stack(pair, dim=-1).flatten(-2),
        ),
    ),
    "halves woven": (
        "The halves are turned rightly, and then woven like neighbours. Put them back side by side.",
        lambda vectors: _turned_halves(vectors, together=lambda pair: torch.stack(pair, dim=-1).flatten(-2)),
    ),
    "neighbours side by side": (
        "This turns neighbours and puts the results side by side. The columns must come back where they "
        "were: take the vectors apart in the middle.",
        lambda vectors: _turned_halves(
            vectors, apart=lambda vectors: (vectors[..., 0::2], vectors[..., 1::2])
        ),
    ),
}

check_rotated_halves = Exercise(
    "rotated_halves",
    difficulty=2,
    minutes=10,
    takes=("vectors",),
    returns=("turned",),
    reference=_turned_halves,
    cases=(
        # A single row stands at position 0, where nothing turns.
        Case("right for a single vector", *draw(51, (1, 4))),
        Case("right for one pair of columns", *draw(52, (3, 2))),
        Case("right for several pairs", *draw(53, (5, 8))),
        Case("right for a batch with heads", *draw(54, (2, 3, 4, 8))),
        Case("right in float64", *draw(55, (2, 6, 4), dtype=torch.float64)),
    ),
    mistakes=_NEIGHBOURS
    | in_parts(
        _turned_halves,
        turn={
            "turned back": (
                "The vectors turn the other way round: it is x·cos − y·sin, and x·sin + y·cos.",
                lambda x, y, sin, cos: (x * cos + y * sin, y * cos - x * sin),
            ),
            "a sign lost": (
                "One sign is wrong, so that lengths change: it is x·cos − y·sin, and x·sin + y·cos.",
                lambda x, y, sin, cos: (x * cos + y * sin, x * sin + y * cos),
            ),
            "added": (
                "This adds the table to the vectors. Rotary adds nothing: it turns.",
                lambda x, y, sin, cos: (x + sin, y + cos),
            ),
            "multiplied": (
                "Each half is multiplied by one wave alone. Both parts of a pair mix: x·cos − y·sin, and "
                "x·sin + y·cos.",
                lambda x, y, sin, cos: (x * cos, y * sin),
            ),
        },
        places={
            "positions from 1": (
                "The positions begin with 1. The first vector stands at 0, and does not turn.",
                lambda length: torch.arange(1, length + 1, device="cpu"),
            ),
        },
        exponent={
            "exponent doubled": (
                "The exponent is twice too large. Pair i has 2i / d_k; arange(0, d_k, 2) is 2i already.",
                lambda column, d_k: 2 * column / d_k,
            ),
            "exponent halved": (
                "The exponent is half of what it should be. With i = 0, 1, 2, … for the pairs it is 2i / "
                "d_k.",
                lambda column, d_k: column / 2 / d_k,
            ),
        },
        power={
            "power upside down": (
                "The power is upside down: later pairs turn more slowly, not faster.",
                lambda base, exponent: base**-exponent,
            ),
            "one angle for all": (
                "All pairs turn alike. Each has its own frequency, 10000 to the power of −2i / d_k.",
                lambda base, exponent: torch.ones_like(exponent),
            ),
        },
    ),
)

# --- repair ---------------------------------------------------------------------------------------


def _positions(
    inputs: Tensor,
    *,
    axis: int = 1,
    base: float = 10000.0,
    add: Callable[[Tensor, Tensor], Tensor] = torch.add,
    **parts: Callable[..., Any],
) -> Tensor:
    """The repaired code in parts that can be mistaken; what is left over are the parts of `_table`."""
    return add(inputs, _table(inputs.shape[axis], inputs.shape[-1], base, **parts).to(inputs.dtype))


# Each fault: what is said of it while it is there, and the part that it is.
FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "length": ("how many rows are taken (which axis holds the words?)", {"axis": 0}),
    "base": ("the base", {"base": 1000.0}),
    "sine": ("the odd columns (what does row 0 hold there?)", {"wave": torch.sin}),
    "doubled": (
        "the exponent of both columns (i goes 0, 2, 4, …)",
        {"power": lambda base, exponent: base ** (2 * exponent)},
    ),
    "apart": (
        "the angle of the odd columns (with whom do they share it?)",
        {"exponent": lambda column, d_model: column / d_model},
    ),
}


def _with_faults(*faults: str) -> Callable[[Tensor], Tensor]:
    return partial(_positions, **{part: code for fault in faults for part, code in FAULTS[fault][1].items()})


check_repaired_positions = Exercise(
    "repaired_positions",
    difficulty=3,
    minutes=15,
    takes=("inputs",),
    returns=("outputs",),
    reference=_positions,
    # One width but for the last: the loop over the columns came with the code, and deserves no remark.
    cases=(
        Case("right for one sentence of one word", *draw(41, (1, 1, 8))),
        Case("right for one sentence of five words", *draw(42, (1, 5, 8))),
        # As many sentences as words: a length read from the wrong axis goes unnoticed here.
        Case("right for six sentences of six words", *draw(43, (6, 6, 8))),
        Case("right for three sentences of seven words", *draw(44, (3, 7, 8))),
        Case("right in float64", *draw(45, (2, 9, 16), dtype=torch.float64)),
    ),
    mistakes={
        "still broken": (
            "All five faults that it came with are still there. Begin with the axis that holds the words, "
            "then look at row 0.",
            _with_faults(*FAULTS),
        ),
        "a row for each sentence": (
            "Every word of a sentence gets the row of the sentence's number, not that of its own place.",
            partial(_positions, axis=0, add=lambda inputs, rows: inputs + rows.unsqueeze(1)),
        ),
    }
    # Every way to have mended some of the faults and not the others.
    | {
        f"left: {', '.join(left)}": (
            f"Faults mended: {len(FAULTS) - count} of {len(FAULTS)}. Look again at "
            f"{'; '.join(FAULTS[fault][0] for fault in left)}.",
            _with_faults(*left),
        )
        for count in range(1, len(FAULTS))
        for left in itertools.combinations(FAULTS, count)
    }
    | in_parts(
        _positions,
        exponent={
            "doubled in the second line": (
                "The exponent is mended in the first of the two lines. In the second it is still doubled.",
                lambda column, d_model: (1 + column % 2) * _pair_start(column) / d_model,
            ),
            "base of the second line": (
                "The base is mended in the first of the two lines, and not in the second.",
                # 1000 is 10000 to the power of 3/4.
                lambda column, d_model: (1 - column % 2 / 4) * _pair_start(column) / d_model,
            ),
        },
        places=_PLACES,
        wave=but(_WAVES, "sine in every column"),
        add={
            "table alone": (
                "The words have vanished: this is the table alone. Return inputs plus the table.",
                lambda inputs, rows: rows,
            ),
            "multiplied": ("The words are multiplied by the table. Positions are added.", torch.mul),
            "words scaled": (
                "The words are multiplied by √d_model, as some models do. Here they stay as they are.",
                lambda inputs, rows: inputs * math.sqrt(inputs.shape[-1]) + rows,
            ),
        },
    ),
)

# --- repair: ALiBi --------------------------------------------------------------------------------


def _penalties(
    heads: int,
    n: int,
    m: int,
    *,
    first: int = 1,
    sign: int = -1,
    start: Callable[[int, int], int] = lambda n, m: m - n,
) -> Tensor:
    """ALiBi in parts that can be mistaken: which head is the first, the sign, where the queries begin."""
    slope = 2.0 ** (-8 * torch.arange(first, heads + first, device="cpu") / heads)
    queries = start(n, m) + torch.arange(n, device="cpu").unsqueeze(-1)  # (n, 1)
    distance = (queries - torch.arange(m, device="cpu")).abs()  # (n, m)
    return sign * slope[:, None, None] * distance


PENALTY_FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "slopes": ("the slopes (with 8 heads, what is the first?)", {"first": 0}),
    "places": (
        "where the queries stand (the last one stands where the last key does)",
        {"start": lambda n, m: 0},
    ),
    "sign": ("the sign (should a far key score more?)", {"sign": 1}),
}


def _left(*faults: str) -> Callable[..., Tensor]:
    return partial(
        _penalties, **{part: code for name in faults for part, code in PENALTY_FAULTS[name][1].items()}
    )


check_repaired_penalties = Exercise(
    "repaired_penalties",
    difficulty=3,
    minutes=10,
    takes=("heads", "n", "m"),
    returns=("bias",),
    reference=alibi_bias,
    cases=(
        # At distance 0 the faults do nothing.
        Case("right for one query and one key", 2, 1, 1),
        Case("right for as many queries as keys", 2, 3, 3),
        Case("right for as many queries as keys", 8, 4, 4),
        Case("right for fewer queries than keys", 4, 1, 5),
        Case("right for fewer queries than keys", 1, 2, 6),
    ),
    mistakes={
        "still broken": (
            "All three faults that it came with are still there. Begin with the sign: a far key must not "
            "gain.",
            _left(*PENALTY_FAULTS),
        ),
        "keys counted from the end": (
            "The first query stands where the first key does not: with n queries and m keys, it stands at m "
            "- n.",
            partial(_penalties, start=lambda n, m: m - 1),
        ),
    }
    | {
        f"left: {', '.join(left)}": (
            f"Faults mended: {len(PENALTY_FAULTS) - count} of {len(PENALTY_FAULTS)}. Look again at "
            f"{'; '.join(PENALTY_FAULTS[name][0] for name in left)}.",
            _left(*left),
        )
        for count in range(1, len(PENALTY_FAULTS))
        for left in itertools.combinations(PENALTY_FAULTS, count)
    },
)

# --- an experiment: how far a hand reaches --------------------------------------------------------

STARTS = 5
PATIENCE = 120.0  # seconds for all that the check runs: readers train, perhaps longer than the chapter's
# What is asked, and between which shares the mean must lie. At 96 a hand of 63 positions has
# made far more than half a turn, one of 314 has not.
ASKED: dict[tuple[float, int], tuple[str, float, float]] = {
    (314.0, 24): ("copies at the training length", 0.9, 1.0),
    (314.0, 96): ("a hand of 314 positions still copies at 96", 0.85, 1.0),
    (63.0, 96): ("a hand of 63 positions has let go at 96", 0.0, 0.25),
    (63.0, 48): ("a hand of 63 positions is letting go at 48", 0.35, 0.9),
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ReachExperiment(Check):
    """`check_reach(my_reach)` runs the reader's own experiment, and judges what it must show.

    A mistake is a sentence, and the mean shares that it leads to, in the order of `ASKED`.
    """

    def mistaken(self, mistake: Any) -> Any:
        """`check.mistaken(means)` is an experiment that finds these shares, each start a little off them."""
        shares = dict(zip(ASKED, mistake, strict=True))
        return lambda wave, length: shares[wave, length] + 0.01 * torch.arange(-2, 3, device="cpu")

    def right_work(self) -> Any:
        """`check.right_work()` is an experiment that finds shares in the middle of what is asked for."""
        return self.mistaken([(low + high) / 2 for _, low, high in ASKED.values()])

    def judge(self, work: Any) -> Report:
        """`check.judge(my_reach)` asks for four shares: a hand that reaches, and one that doesn't."""
        if work is None or work is ...:
            return self._unwritten()
        if not callable(work):
            return self._not_yet(f"Give the check the function itself: check_{self.name}(my_reach).")
        found: list[Tensor] = []
        until = time.monotonic() + PATIENCE
        for wave, length in ASKED:
            outcome = guard.guarded(partial(work, wave, length), until)
            if isinstance(outcome.error, guard.TimeUpError):
                return self._not_yet(f"It takes more than {PATIENCE:g} seconds. Fewer steps will do.")
            if outcome.error is not None:
                return self._not_yet(described(outcome.error))
            if outcome.value is None or outcome.value is ...:
                return self._unwritten()
            if complaint := _no_shares(outcome.value):
                return self._not_yet(complaint)
            found.append(torch.as_tensor(outcome.value, device="cpu").detach().double())
        return self._judged(found)

    def _judged(self, found: list[Tensor]) -> Report:
        means = [shares.mean().item() for shares in found]
        lines, held = [], []
        for (label, low, high), mean in zip(ASKED.values(), means, strict=True):
            held.append(low <= mean <= high)
            lines.append(f"  {'✓' if held[-1] else '✗'} {label}: {mean:.0%} right")
        differ = found[-1].max() - found[-1].min() > 1e-6
        lines.append(f"  {'✓' if differ else '✗'} the starts differ")
        if all(held) and differ:
            return Report(self.name, "passed", tuple(lines))
        if all(held):
            words = "Every start finds the same share: give each a seed of its own."
            return Report(self.name, "not yet", tuple(lines) + arrow(words), "one start many times")
        name = self._mistake(means)
        words = (
            self.mistakes[name][0]
            if name
            else "This is not what such readers show. Are they trained to copy from three back, at length 24?"
        )
        return Report(self.name, "not yet", tuple(lines) + arrow(words), name)

    def _mistake(self, means: list[float]) -> str | None:
        """The mistake that lies on the same side of every bound."""
        for name, (_, others) in self.mistakes.items():
            if all(
                _side(mean, asked) == _side(other, asked)
                for mean, other, asked in zip(means, others, ASKED.values(), strict=True)
            ):
                return name
        return None

    def _unwritten(self) -> Report:
        words = "Put your code in the place of the `...`, and run the cell again."
        return Report(self.name, "not written yet", arrow(words))

    def _not_yet(self, words: str) -> Report:
        return Report(self.name, "not yet", arrow(words))


def _side(mean: float, asked: tuple[str, float, float]) -> int:
    """-1 below what is asked, 1 above it, else 0."""
    _, low, high = asked
    return (mean > high) - (mean < low)


def _no_shares(answer: object) -> str:
    """Why this is not a share for each start; '' where it is."""
    if not isinstance(answer, (Tensor, list, tuple)):
        return f"It returns {type(answer).__name__}, where a tensor with a share for each start is expected."
    try:
        shares = torch.as_tensor(answer, device="cpu")
    except (TypeError, ValueError):
        return "It returns something else than numbers: a share for each start is expected."
    if shares.dim() != 1 or len(shares) < STARTS:
        return (
            f"It returns shape {tuple(shares.shape)}, where (starts,) is expected, with at least {STARTS} "
            "starts: return each start's own share, not their mean."
        )
    if not ((shares >= 0) & (shares <= 1)).all():
        return "A share lies between 0 and 1. Divide by how many answers there are."
    return ""


check_reach = ReachExperiment(
    "reach",
    difficulty=4,
    minutes=40,
    mistakes={
        "not trained": (
            "Not even sequences of the training length are copied. Is the trained reader the one that is "
            "tested?",
            (0.1, 0.1, 0.1, 0.1),
        ),
        "lengths mixed up": (
            "The hand of 63 positions copies everything. Is it trained at 24 and tested at `length`, and "
            "not both at the same length?",
            (0.97, 0.97, 0.97, 0.97),
        ),
        "wave for base": (
            "Even a hand of 314 positions lets go at 96. Is the wave taken for the base? The slow hand "
            "turns by base^(-1/2) a position, and its wave is 2π over that.",
            (0.97, 0.3, 0.1, 0.5),
        ),
        "without 2π": (
            "The hand of 63 positions reaches far, and that of 314 does not: both are too slow. Its wave is "
            "a whole turn, 2π over the frequency base^(-1/2).",
            (0.97, 0.4, 0.97, 0.97),
        ),
        "early positions counted": (
            "At 96 the hand of 63 positions still gets a good part right. Are the first positions counted? "
            "Only the last 24 lie beyond what was trained.",
            (0.97, 0.97, 0.4, 0.8),
        ),
        "trained too little": (
            "At the training length much is copied, but not nearly all of it. Are the readers trained long "
            "enough?",
            (0.69, 0.26, 0.16, 0.67),  # after 25 steps
        ),
    },
)
