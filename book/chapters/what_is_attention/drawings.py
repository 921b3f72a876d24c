"""The drawings of “What is attention?”, made from the chapter's own numbers."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    box,
    column,
    draw,
    faded,
    grid,
    joined,
    note,
    operator,
    over,
    panel,
    row,
    text,
    written,
)
from bookkit.pictures.svg import Place, circle, line, rectangle


def look_up(visitors: Mapping[int, int], hour: int, *, only: str = "") -> None:
    """`look_up({10: 20, 13: 80, 16: 50}, 14)` is the whole look-up: compare, share out, mix.

    With `only="share"` the other two steps are faded.
    """
    hours = torch.tensor(list(visitors), dtype=torch.float64)
    counts = torch.tensor(list(visitors.values()), dtype=torch.float64)
    scores = -(hour - hours).abs()
    weights = scores.softmax(-1)
    answer = f"{weights @ counts:.1f}"

    def arrange(narrow: bool) -> Part:
        cell = (46, 30) if narrow else (54, 32)

        def told(part: Part, step: str) -> Part:
            return part if only in step else faded(part)

        def line_of(step: str) -> str:
            return "grey" if only in step else "faint"

        def stack(numbers: Tensor, name: str, step: str, colour: str, digits: int = 0) -> Part:
            shaded = name == "weights"
            part = grid(
                numbers[:, None],
                name=name,
                title=name,
                colour=colour,
                digits=digits,
                shaded=shaded,
                cell=cell,
            )
            return told(part, step)

        asked = told(box(f"{hour} o’clock?", name="query", colour="query"), "compare")
        keys = stack(hours, "keys", "compare", "key")
        scored = stack(scores, "scores", "compare share", "grey")
        shares = stack(weights, "weights", "share mix", "query", digits=2)
        values = stack(counts, "values", "mix", "value")
        mixed = told(box(f"{answer} visitors", name="answer", colour="output", learned=True), "mix")
        notes = {
            "compare": ("1 compare", "minus the distance"),
            "share": ("2 share out", "e to each score, divided by their sum"),
            "mix": ("3 mix", "weight times value, added up"),
        }
        words = {
            step: told(column(text(title, bold=True), note(rest, width=150), gap=2), step)
            for step, (title, rest) in notes.items()
        }
        times = told(text("×"), "mix")
        if narrow:
            top = column(words["compare"], asked, gap=8)
            middle = row(keys, scored, shares, times, values, gap=14)
            low = row(words["share"], words["mix"], gap=16, align="top")
            whole = column(top, middle, low, mixed, gap=22)
            return joined(
                whole,
                Arrow("query", "keys", colour=line_of("compare"), sides=("left", "top")),
                Arrow("keys", "scores", colour=line_of("compare"), sides=("right", "left")),
                Arrow("scores", "weights", colour=line_of("share"), sides=("right", "left")),
            )
        first = row(asked, keys, scored, gap=28)
        second = row(told(operator("softmax", name="softmax"), "share"), shares, gap=22)
        third = row(times, values, mixed, gap=22)
        whole = row(
            column(first, words["compare"]),
            column(second, words["share"]),
            column(third, words["mix"]),
            gap=20,
            align="top",
        )
        return joined(
            whole,
            Arrow("query", "keys", colour=line_of("compare")),
            Arrow("keys", "scores", colour=line_of("compare")),
            Arrow("scores", "softmax", colour=line_of("share")),
            Arrow("softmax", "weights", colour=line_of("share")),
            Arrow("values", "answer", colour=line_of("mix")),
        )

    def listed(numbers: Tensor, digits: int = 0) -> str:
        return ", ".join(written(number, digits) for number in numbers.tolist())

    steps = {"share": " Only the second step stands out here.", "mix": " Only the third stands out here."}
    draw(
        arrange,
        alt=f"The query, {hour} o’clock, is compared with the keys {listed(hours)}, which gives the scores "
        f"{listed(scores)}. The softmax makes of them the weights {listed(weights, 2)}. They multiply the "
        f"values {listed(counts)}, and the sum is the answer: {answer} visitors." + steps.get(only, ""),
    )


def one_word_asks(
    words: Sequence[str], asking: str, query: Tensor, key: Tensor, value: Tensor, weights: Tensor
) -> None:
    """`one_word_asks(["dog", "it"], "it", query, key, value, weights)` has lines as thick as weights."""
    answer = weights @ value

    def arrange(narrow: bool) -> Part:
        cell = (30, 28) if narrow else (40, 30)

        def lines(*parts: Part) -> Part:
            return column(*parts, gap=5)

        def beside(words: str, height: float) -> Part:
            told = note(words)
            return over(told.width, height, (told, 0, (height - told.height) / 2))

        stacks = [
            lines(
                text(word, bold=True),
                grid(value[place][None], colour="value", digits=0, cell=cell),
                grid(key[place][None], colour="key", digits=0, cell=cell),
                text(f"{weights[place]:.2f}", colour="query").named(f"weight {place}"),
            )
            for place, word in enumerate(words)
        ]
        high = text(asking).height
        heads = lines(
            beside(" ", high), beside("value", cell[1]), beside("key", cell[1]), beside("weight", high)
        )
        asked = lines(
            grid(query[None], name="query", colour="query", digits=0, cell=cell),
            text(f"{asking} asks", bold=True, colour="query"),
        )
        told = lines(
            grid(answer[None], colour="output", cell=(46, cell[1])),
            text("what it gets", bold=True, colour="output"),
        )
        top = row(heads, *stacks, gap=26 if narrow else 52)
        whole = column(top, row(asked, told, gap=24 if narrow else 60), gap=44)
        bands = (
            Arrow("query", f"weight {place}", colour="query", weight=weight, sides=("top", "bottom"))
            for place, weight in enumerate(weights.tolist())
        )
        return joined(whole, *bands)

    shares = ", ".join(f"{word} {weight:.2f}" for word, weight in zip(words, weights.tolist(), strict=True))
    draw(
        arrange,
        alt=f"Each word has a key and a value of two numbers. From the query of “{asking}” a line leads to "
        f"each key, as thick as its weight: {shares}. What it gets is the mix of the values: animal "
        f"{answer[0]:.2f}, sound {answer[1]:.2f}.",
    )


def in_matrices(
    words: Sequence[str],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scores: Tensor,
    weights: Tensor,
    output: Tensor,
) -> None:
    """`in_matrices(words, query, key, value, scores, weights, output)` is softmax(QKᵀ)V with its shapes."""

    def arrange(narrow: bool) -> Part:
        cell = (34, 28) if narrow else (50, 30)
        n, m, d, wide = *scores.shape, query.shape[-1], value.shape[-1]

        def matrix(numbers: Tensor, title: str, shape: str, colour: str, **more: object) -> Part:
            return grid(numbers, title=title, shape=shape, colour=colour, cell=cell, **more)  # type: ignore[arg-type]

        asked = matrix(query, "Q", f"({n}, {d})", "query", rows=words, digits=0)
        turned = matrix(key.mT, "Kᵀ", f"({d}, {m})", "key", digits=0)
        names = () if narrow else words
        scored = matrix(scores, "scores", f"({n}, {m})", "grey", digits=0, columns=names, name="scores")
        sums = "" if narrow else ", each row sums to 1"
        shape = f"({n}, {m}){sums}"
        shares = matrix(
            weights, "weights", shape, "query", rows=words, columns=names, shaded=True, name="weights"
        )
        stored = matrix(value, "V", f"({m}, {wide})", "value", digits=0)
        mixed = matrix(output, "output", f"({n}, {wide})", "output")
        softmax = operator("softmax of each row", name="softmax")
        if narrow:
            whole = column(
                row(asked, "×", turned, "=", gap=8),
                row(scored, softmax, gap=26),
                row(shares, "×", stored, gap=8),
                row("=", mixed, gap=8),
                gap=16,
            )
            return joined(whole, Arrow("scores", "softmax"))
        whole = column(
            row(asked, "×", turned, "=", scored, gap=18),
            row(softmax, shares, "×", stored, "=", mixed, gap=14),
            gap=20,
        )
        return joined(whole, Arrow("softmax", "weights"))

    told = "; ".join(
        f"{word}: " + ", ".join(f"{other} {share:.2f}" for other, share in zip(words, shares, strict=True))
        for word, shares in zip(words, weights.tolist(), strict=True)
    )
    draw(
        arrange,
        alt="Five matrices of numbers, three words long. Q times K transposed is the table of scores, a "
        f"row for each query and a column for each key. The softmax of each row gives the weights. {told}. "
        "Weights times V is the output, a row for each word.",
    )


def three_roles(words: Sequence[str]) -> None:
    """`three_roles(["dog", "barked", "it"])` shows how the same words become queries, keys and values."""
    roles = (("query", "W_Q", "Q", "asks"), ("key", "W_K", "K", "offers"), ("value", "W_V", "V", "hands on"))

    def arrange(narrow: bool) -> Part:
        cell = (17, 18) if narrow else (20, 18)
        blank = [[""] * 4 for _ in words]
        rows = words if not narrow else ()
        given = grid(blank, name="X", title="X", rows=rows, cell=cell, shape="a row for each word")
        lanes = [
            row(
                box(matrix, name=matrix, colour=colour, learned=True),
                grid([[""] * 2 for _ in words], name=letter, title=letter, colour=colour, cell=cell),
                note(f"what it {verb}", width=60 if narrow else None),
                gap=20 if narrow else 34,
            )
            for colour, matrix, letter, verb in roles
        ]
        whole = row(given, column(*lanes, gap=2, align="left"), gap=20 if narrow else 60)
        arrows = [Arrow("X", matrix, colour=colour) for colour, matrix, _, _ in roles]
        arrows += [Arrow(matrix, letter, colour=colour) for colour, matrix, letter, _ in roles]
        return joined(whole, *arrows)

    draw(
        arrange,
        alt="From the matrix X, a row for each word, three arrows lead through three learned matrices: W_Q "
        "makes the queries Q, what each word asks; W_K the keys K, what it offers; W_V the values V, what "
        "it hands on.",
    )


def what_softmax_sees() -> None:
    """`what_softmax_sees()` is the squared distance multiplied out, with what cancels faded."""

    def arrange(narrow: bool) -> Part:
        def gone(formula: str, words: str) -> Part:
            return box(column(faded(text(formula, size=18)), note(words, width=150), gap=4), colour="faint")

        whole = box(column(text("−½ ‖q − k‖^2", size=18), note("near is high"), gap=4))
        kept = box(
            column(
                text("q · k", size=18, bold=True), note("how well they match: this stays", width=150), gap=4
            ),
            colour="output",
            learned=True,
        )
        asked = gone("½ ‖q‖^2", "the same for every key: the softmax does not see it")
        stored = gone("½ ‖k‖^2", "the same for every key, if all keys are equally long")
        if narrow:
            return column(whole, text("="), kept, text("−"), asked, text("−"), stored, gap=6)
        return row(whole, "=", kept, "−", asked, "−", stored, gap=10)

    draw(
        arrange,
        alt="Minus half the squared distance of q and k is a sum of three terms. The product q · k stays. "
        "Half the square of q is the same for every key, so the softmax does not see it. Half the square "
        "of k is the same for every key if all keys are equally long.",
    )


def gate_and_sum(features: Tensor, attention: Tensor, weights: Tensor, value: Tensor) -> None:
    """`gate_and_sum(features, attention, weights, value)` has a gate beside a weighted sum."""
    glimpse, mixed = attention * features, weights @ value

    def arrange(narrow: bool) -> Part:
        cell = (44, 30)

        def stack(numbers: Tensor, title: str, colour: str, digits: int = 1, shaded: bool = False) -> Part:
            numbers = numbers[:, None] if numbers.dim() == 1 else numbers
            return grid(numbers, title=title, colour=colour, digits=digits, shaded=shaded, cell=cell)

        gated = row(
            stack(attention, "shares", "query", shaded=True),
            "⊙",
            stack(features, "features", "value", digits=0),
            "=",
            stack(glimpse, "glimpse", "output"),
            gap=9,
        )
        summed = row(
            stack(weights, "weights", "query", digits=2, shaded=True),
            "×",
            stack(value, "values", "value", digits=0),
            "=",
            grid(mixed[None], title="output", colour="output", cell=cell),
            gap=9,
        )
        left = panel(
            column(gated, note("each number keeps its place; nothing is added up", width=260)), "a gate"
        )
        right = panel(
            column(summed, note("each row has one share; then the rows are added up", width=260)),
            "a weighted sum",
        )
        return column(left, right, gap=12) if narrow else row(left, right, gap=12)

    draw(
        arrange,
        alt="Left, a gate: three shares multiply three features, number by number, and three numbers come "
        "out. Right, a weighted sum: three weights that sum to 1 multiply three rows of values, the rows "
        "are added up, and one row comes out.",
    )


def two_rows_one_centre(corners: Tensor, rows: Sequence[Tensor]) -> None:
    """`two_rows_one_centre(corners, [one, other])` has a square for each row of weights, and its output."""

    def square(weights: Tensor, side: float) -> Part:
        marks = []
        places = [(28 + side * x, 28 + side * (1 - y)) for x, y in corners.tolist()]
        marks += [
            line(*one, *other, colour="faint")
            for one, other in zip(places, places[1:] + places[:1], strict=True)
        ]
        centre = (28 + side / 2, 28 + side / 2)
        for place, weight in zip(places, weights.tolist(), strict=True):
            marks += [line(*place, *centre, colour="query", width=0.5 + 12 * weight)]
        for place, weight in zip(places, weights.tolist(), strict=True):
            marks += [circle(*place, 5 + 24 * weight, colour="value", fill="paper")]
        marks += [circle(*centre, 8, colour="output", fill="output")]
        part = over(side + 56, side + 56, *marks)
        listed = ", ".join(f"{weight:.2f}" for weight in weights.tolist())
        return column(part, note(listed), gap=2)

    def arrange(narrow: bool) -> Part:
        squares = [square(weights, 72 if narrow else 110) for weights in rows]
        words = note("two rows of weights, one output: the centre", width=300)
        return column(row(*squares, gap=20 if narrow else 70), words, gap=8)

    draw(
        arrange,
        alt="Two squares whose corners are the values. In one, thick lines lead from the output in the "
        "centre to two opposite corners; in the other, to the other two. The output is the same.",
    )


def not_oneself(points: int = 4) -> None:
    """`not_oneself()` is a table of weights whose diagonal is empty: no point answers for itself."""

    def arrange(narrow: bool) -> Part:
        cell = (50, 30) if narrow else (64, 32)
        names = [f"point {place + 1}" for place in range(points)]
        rows = [["no" if i == j else "yes" for j in range(points)] for i in range(points)]
        columns = [str(place + 1) for place in range(points)]
        table = grid(rows, rows=names, columns=columns, colour="query", cell=cell, absent="no")
        words = note("each point is asked for, and all the others answer", width=150)
        return column(table, words) if narrow else row(table, words, gap=24)

    draw(
        arrange,
        alt=f"A table of {points} points as queries and the same {points} as keys. Its diagonal is empty: "
        "each point is predicted by all the others and not by itself.",
    )


def gated_half() -> None:
    """`gated_half()` shows PyTorch's gated linear unit: one half of the input says how much of the other."""

    def arrange(narrow: bool) -> Part:
        cell = (22, 24) if narrow else (28, 26)
        halves = row(
            grid([[""] * 4], name="features", title="features", colour="value", cell=cell),
            grid([[""] * 4], name="scores", title="scores", colour="query", cell=cell),
            gap=0,
        )
        squash = operator("sigmoid", name="sigmoid")
        passed = operator("⊙", name="gate")
        out = column(grid([[""] * 4], name="out", colour="output", cell=cell), note("half as long"), gap=4)
        whole = column(halves, row(passed, squash, gap=60), out, gap=26)
        return joined(
            whole,
            Arrow("features", "gate", colour="value", sides=("bottom", "top")),
            Arrow("scores", "sigmoid", colour="query", sides=("bottom", "top")),
            Arrow("sigmoid", "gate", colour="query"),
            Arrow("gate", "out", sides=("bottom", "top")),
        )

    draw(
        arrange,
        alt="The first half of a vector goes to a product, number by number. The second half goes through "
        "a sigmoid to the same product. What comes out is half as long.",
    )


def shapes_of_a_look_up() -> None:
    """`shapes_of_a_look_up()` has each tensor of a look-up as a block with its sides named."""

    def arrange(narrow: bool) -> Part:
        n, m, d, d_v = 44, 84, 30, 60

        def block(name: str, colour: str, wide: float, high: float, shape: str) -> Part:
            frame = rectangle(Place(0, 0, wide, high), colour, fill=colour, opacity=0.16)
            return column(text(name, bold=True, colour=colour), over(wide, high, frame), note(shape), gap=3)

        asked = block("query", "query", d, n, "(n, d)")
        turned = block("keyᵀ", "key", m, d, "(d, m)")
        shares = block("weights", "query", m, n, "(n, m)")
        stored = block("value", "value", d_v, m, "(m, d_v)")
        mixed = block("output", "output", d_v, n, "(n, d_v)")
        compared = row(asked, "×", turned, gap=10)
        mixing = row(shares, "×", stored, "=", mixed, gap=10)
        if narrow:
            return column(row(compared, "→", gap=12), mixing, gap=14)
        return row(compared, "→", mixing, gap=18)

    draw(
        arrange,
        alt="Blocks with their sides: query, n by d, times the key turned over, d by m, leads to the "
        "weights, n by m. They times the values, m by d_v, are the output, n by d_v.",
    )
