"""The drawings of “Queries, keys and values that learn”, made from the chapter's own numbers."""

import math
from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor
from torch.nn.functional import normalize

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    grid,
    joined,
    note,
    operator,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import arrowhead, circle, curve, label, line, vector

ROLES = (
    ("query", "W_Q", "q", "what it asks by"),
    ("key", "W_K", "k", "what it is found by"),
    ("value", "W_V", "v", "what it hands over"),
)


def three_vectors(word: str) -> None:
    """`three_vectors("barked")` has one vector in three roles, and beside it three made of it."""

    def arrange(narrow: bool) -> Part:
        cell = (16, 16) if narrow else (18, 18)

        def stack(colour: str, name: str, numbers: int, title: str = "") -> Part:
            return grid([[""]] * numbers, name=name, title=title, colour=colour, cell=cell)

        def fan(*lanes: Part, arrows: list[Arrow], gap: float, given: str) -> Part:
            named = column(stack("grey", given, 4, "x"), text(word, bold=True), gap=4)
            whole = row(named, column(*lanes, gap=gap, align="left"), gap=26 if narrow else 34)
            return joined(whole, *arrows)

        roles = [note(words).named(words) for *_, words in ROLES]
        without = fan(
            *roles,
            arrows=[Arrow("same", words, colour=colour) for colour, *_, words in ROLES],
            gap=34,
            given="same",
        )
        learned = fan(
            *(
                row(
                    box(matrix, name=matrix, colour=colour, learned=True),
                    stack(colour, letter, 2, letter),
                    note(words, width=84 if narrow else None),
                    gap=16 if narrow else 22,
                )
                for colour, matrix, letter, words in ROLES
            ),
            arrows=[
                Arrow(start, end, colour=colour, sides=("right", "left"))
                for colour, matrix, letter, _ in ROLES
                for start, end in (("x", matrix), (matrix, letter))
            ],
            gap=12,
            given="x",
        )
        one = panel(without, "nothing learned: one vector, three roles")
        three = panel(learned, "learned: three matrices, three vectors")
        return across(narrow, one, three, gap=16)

    draw(
        arrange,
        alt=f"The vector x of the word “{word}”, twice. Left, with nothing learned, the same vector is what "
        "the word asks by, what it is found by and what it hands over. Right, three learned matrices, W_Q, "
        "W_K and W_V, make three vectors of it: q to ask by, k to be found by, v to hand over.",
    )


def with_itself(
    words: Sequence[str], vectors: Tensor, scores: Tensor, weights: Tensor, output: Tensor
) -> None:
    """`with_itself(words, X, scores, weights, output)` is softmax(XXᵀ)X in numbers."""

    def arrange(narrow: bool) -> Part:
        cell = (38, 28) if narrow else (46, 30)

        def table(numbers: Tensor, title: str, colour: str, **more: object) -> Part:
            return grid(numbers, title=title, colour=colour, cell=cell, **more)  # type: ignore[arg-type]

        given = table(vectors, "X", "grey", rows=words, digits=0)
        turned = table(vectors.mT, "Xᵀ", "grey", digits=0)
        scored = table(scores, "scores", "grey", digits=0, name="scores")
        names = () if narrow else words
        shares = table(weights, "weights", "query", rows=words, columns=names, shaded=True, name="weights")
        softmax = operator("softmax of each row", name="softmax")
        again = table(vectors, "X", "grey", digits=0)
        mixed = table(output, "output", "output")
        if narrow:
            whole = column(
                row(given, "×", turned, gap=8),
                row("=", scored, gap=8),
                softmax,
                shares,
                row("×", again, "=", mixed, gap=8),
                gap=16,
            )
            return joined(whole, Arrow("scores", "softmax"), Arrow("softmax", "weights"))
        whole = column(
            row(given, "×", turned, "=", scored, gap=18),
            row(softmax, shares, "×", again, "=", mixed, gap=14),
            gap=20,
        )
        return joined(whole, Arrow("softmax", "weights"))

    told = "; ".join(
        f"{word}: " + ", ".join(f"{other} {share:.2f}" for other, share in zip(words, shares, strict=True))
        for word, shares in zip(words, weights.tolist(), strict=True)
    )
    draw(
        arrange,
        alt="Matrices of numbers for three words. X times X transposed is the table of scores, which is its "
        f"own mirror image. The softmax of each row gives the weights. {told}. Weights times X is the "
        "output.",
    )


def longer_wins(words: Sequence[str], vectors: Tensor) -> None:
    """`longer_wins(words, X)` has the words as arrows: a longer one in the same direction scores more."""
    first, asking = words[0], words[-1]
    with_first, with_itself = (vectors[-1] @ vectors[place] for place in (0, -1))

    def arrange(narrow: bool) -> Part:
        unit, left, low = 76, 40, 190
        edge = 2.3 * unit

        def plane(rows: Tensor, words_of: str) -> Part:
            marks = [
                line(left, low, left + edge, low),
                line(left, low, left, low - edge),
                label(left + edge, low + 30, "thing", size=13, colour="grey", anchor="end"),
                label(left - 6, low - edge + 12, "event", size=13, colour="grey", anchor="end"),
            ]
            for word, (x, y) in zip(words, (unit * rows).tolist(), strict=True):
                colour = "query" if word == asking else "key"
                # Two arrows on one line are drawn side by side.
                lift = 0 if y else 9 if word == asking else -9
                marks.append(vector(left, low + lift, left + x, low - y + lift, colour=colour))
                if y:
                    marks.append(label(left + 10, low - y + 12, word, colour=colour, anchor="start"))
                else:
                    under = low + (29 if lift > 0 else -17)
                    marks.append(label(left + x - 4, under, word, colour=colour, anchor="end"))
            return column(over(left + edge + 8, low + 36, *marks), note(words_of, width=210), gap=4)

        scores = f"“{asking}” · “{first}” = {with_first:g}, “{asking}” · “{asking}” = {with_itself:g}"
        one = plane(vectors, f"{scores}: the longer one wins")
        same = plane(
            normalize(vectors, dim=-1), "all of length one: nothing scores more than the word itself"
        )
        return across(narrow, one, same, gap=40)

    draw(
        arrange,
        alt=f"The words as arrows, twice. Left, “{first}” is twice as long as “{asking}” and points the same "
        f"way, so “{asking}” scores more with “{first}” than with itself. Right, all arrows are equally "
        "long, and no other arrow gives a word a higher score than it gives itself.",
    )


def three_products(words: Sequence[str], vectors: Tensor, *matrices: Tensor) -> None:
    """`three_products(words, X, W_Q, W_K, W_V)` has the three products with their shapes and numbers."""
    results = [vectors @ matrix for matrix in matrices]

    def arrange(narrow: bool) -> Part:
        cell = (34, 26) if narrow else (36, 28)

        def table(numbers: Tensor, title: str, colour: str, rows: Sequence[str] = ()) -> Part:
            shape = f"({len(numbers)}, {numbers.shape[-1]})"
            return grid(numbers, title=title, colour=colour, rows=rows, digits=0, cell=cell, shape=shape)

        given = table(vectors, "X", "grey", words)
        lanes = [
            column(
                row(
                    *((given, "×") if narrow else ()),
                    table(matrix, title, colour),
                    "=",
                    table(result, letter, colour),
                    gap=7,
                ),
                note(words_of),
                gap=2,
            )
            for (colour, title, _, words_of), letter, matrix, result in zip(
                ROLES, "QKV", matrices, results, strict=True
            )
        ]
        return column(*lanes, gap=16) if narrow else row(given, text("×"), row(*lanes, gap=18), gap=9)

    def told(numbers: Tensor) -> str:
        return "; ".join(
            f"{word} {', '.join(f'{number:g}' for number in own)}"
            for word, own in zip(words, numbers.tolist(), strict=True)
        )

    draw(
        arrange,
        alt="X, a row of numbers for each word, is multiplied by three matrices. The queries are "
        f"{told(results[0])}. The keys are {told(results[1])}. The values are {told(results[2])}.",
    )


def game_of_tag(names: Sequence[str], chased: Sequence[int], scarves: Sequence[str]) -> None:
    """`game_of_tag(["fox", "owl"], [1, 0], ["red", "blue"])` has the animals in their ring."""
    order = [0]
    while len(order) < len(names):
        order.append(chased[order[-1]])

    def arrange(narrow: bool) -> Part:
        radius, middle = 110, 165

        def at(place: int, stretch: float = 1) -> tuple[float, float]:
            angle = 2 * math.pi * place / len(order) - math.pi / 2
            return middle + 1.1 * radius * stretch * math.cos(angle), 140 + radius * stretch * math.sin(angle)

        marks = []
        for place, animal in enumerate(order):
            (x1, y1), (x2, y2) = at(place), at(place + 1)
            (from_x, to_x), (from_y, to_y) = (
                (one + 0.3 * (other - one), one + 0.7 * (other - one)) for one, other in ((x1, x2), (y1, y2))
            )
            marks.append(vector(from_x, from_y, to_x, to_y, colour="query", width=1.5))
            marks += [
                label(x1, y1 + 1, names[animal], bold=True, colour="key"),
                label(x1, y1 + 18, scarves[animal], size=13, colour="value"),
            ]
        ring = over(2 * middle, 285, *marks)
        asks, found = names[order[0]], names[order[1]]
        words = column(
            text(f"{asks} asks:", bold=True, colour="query"),
            note("which colour is the scarf of the one I chase?"),
            text(f"found by its name: {found}", bold=True, colour="key"),
            text(f"handed over: {scarves[order[1]]}", bold=True, colour="value"),
            gap=6,
        )
        return across(narrow, ring, words, gap=20)

    told = ", ".join(
        f"the {names[animal]} in {scarves[animal]} chases the {names[chased[animal]]}" for animal in order
    )
    draw(arrange, alt=f"Six animals in a ring: {told}. The {names[order[0]]} asks for the scarf of the "
         f"{names[order[1]]}.")  # fmt: skip


def training_loop() -> None:
    """`training_loop()` is the circle of training: examples, answers, loss, gradient, step."""

    def arrange(narrow: bool) -> Part:
        stops = {
            "examples": ("grey", "games, and the right answers"),
            "attention": ("query", "with its numbers W_Q, W_K, W_V"),
            "loss": ("grey", "how wrong: −log of what the right answer got"),
            "gradient": ("grey", "which way each number makes it worse"),
            "step": ("grey", "each a little the other way"),
        }
        boxes = {
            name: box(name, name=name, colour=colour, learned=name == "attention", width=92)
            for name, (colour, _) in stops.items()
        }
        notes = {name: note(words, width=140) for name, (_, words) in stops.items()}
        ring = [*stops]
        arrows = [Arrow(*pair) for pair in pairwise(ring)]
        if narrow:
            lines = column(*(row(boxes[name], notes[name], gap=12) for name in ring), gap=24, align="left")
            (y, end) = (lines.places[name].point("left")[1] for name in ("step", "attention"))
            back = curve([(30, y), (8, y), (8, end), (22, end)], colour="query", width=1.5)
            back += arrowhead(22, end, (1, 0), 8, "query")
            return joined(over(lines.width + 30, lines.height, (lines, 30, 0), back), *arrows)
        above = [column(notes[name], boxes[name], gap=6) for name in ring[:3]]
        below = [column(boxes[name], notes[name], gap=6) for name in ("step", "gradient")]
        whole = column(
            row(*above, gap=50, align="bottom"), row(*below, gap=50, align="top"), gap=30, align="right"
        )
        return joined(whole, *arrows, Arrow("step", "attention", colour="query"))

    draw(
        arrange,
        alt="A circle. Examples go into the attention, whose learned numbers are W_Q, W_K and W_V. What "
        "comes out gives the loss, the loss gives the gradient, the gradient a small step, and the step "
        "changes the attention.",
    )


def own_and_handed() -> None:
    """`own_and_handed()` has two colours in one place, and in two."""
    colours = ("red", "blue", "white")

    def arrange(narrow: bool) -> Part:
        cell = (48, 28)

        def sum_of(own: Sequence[str], handed: Sequence[str], both: Sequence[str]) -> Part:
            def stack(numbers: Sequence[str], title: str, colour: str, rows: Sequence[str] = ()) -> Part:
                return grid(
                    [[number] for number in numbers], title=title, colour=colour, rows=rows, cell=cell
                )

            places = (*colours, *colours)[: len(own)]
            given, mixed = stack(own, "own", "grey", places), stack(handed, "handed", "value")
            return row(given, "+", mixed, "=", stack(both, "sum", "output"), gap=9)

        one = panel(
            column(sum_of("100", "001", "101"), note("red and white: but which is whose?"), gap=6),
            "without W_V",
        )
        other = panel(
            column(sum_of("100000", "000001", "100001"), note("above its own, below the other’s"), gap=6),
            "W_V can choose the place",
        )
        return across(narrow, one, other, gap=18)

    draw(
        arrange,
        alt="A word's own vector plus what it is handed, twice. Without W_V both colours, red and white, "
        "stand in the same three places, and the sum does not tell which is whose. With W_V the other's "
        "colour is handed over in places of its own.",
    )


def one_matrix(d: int, d_k: int) -> None:
    """`one_matrix(18, 6)` has the tall matrix W_Q times the flat one, which is a square."""

    def arrange(narrow: bool) -> Part:
        scale = (100 if narrow else 126) / d

        def block(title: str, high: int, wide: int, colour: str, words: str) -> Part:
            part = grid([[""]], title=title, colour=colour, cell=(wide * scale, high * scale), shape=words)
            return part

        tall = block("W_Q", d, d_k, "query", f"({d}, {d_k})")
        flat = block("W_K^T", d_k, d, "key", f"({d_k}, {d})")
        square = block("M", d, d, "grey", f"({d}, {d})")
        return row(tall, "×", flat, "=", square, gap=8 if narrow else 22)

    draw(
        arrange,
        alt=f"A tall matrix, W_Q, {d} by {d_k}, times a flat one, W_K transposed, {d_k} by {d}, is a square "
        f"one, M, {d} by {d}.",
    )


def shapes_to_say() -> None:
    """`shapes_to_say()` has words and three matrices with their sides by letter."""

    def arrange(narrow: bool) -> Part:
        def block(title: str, colour: str, wide: float, high: float, shape: str) -> Part:
            return grid([[""]], title=title, colour=colour, cell=(wide, high), shape=shape)

        words = block("words", "grey", 60, 60, "(n, d)")
        matrices = [
            block(matrix, colour, wide, 60, shape)
            for (colour, matrix, *_), wide, shape in zip(
                ROLES, (30, 30, 44), ("(d, d_k)", "(d, d_k)", "(d, d_v)"), strict=True
            )
        ]
        return row(words, "×", row(*matrices, gap=16 if narrow else 30), gap=8 if narrow else 20)

    draw(
        arrange,
        alt="Blocks with their sides: words, n by d, times three matrices: W_Q and W_K, d by d_k, and W_V, "
        "d by d_v.",
    )


def two_ends(names: Sequence[str]) -> None:
    """`two_ends(["cat", "dog", "fox"])` has keys of one number on a line, where the ends alone can win."""

    def arrange(narrow: bool) -> Part:
        wide = 290
        step = wide / (len(names) + 1)
        marks = [line(0, 60, wide, 60)]
        for place, name in enumerate(names, start=1):
            best = place in (1, len(names))
            marks += [
                circle(step * place, 60, 7, colour="key", fill="key" if best else "paper"),
                label(step * place, 92, name, size=14),
            ]
        marks += [
            vector(wide / 2 - 20, 30, 30, 30, colour="query"),
            vector(wide / 2 + 20, 30, wide - 30, 30, colour="query"),
        ]
        whole = over(wide, 100, *marks)
        words = note(
            "With one number the highest score is at one end of the line or at the other.", width=210
        )
        return across(narrow, whole, words, gap=24)

    draw(
        arrange,
        alt=f"Names on a line: {', '.join(names)}. A query points to the left or to the right, so that "
        f"only {names[0]} and {names[-1]}, at the ends, are filled.",
    )
