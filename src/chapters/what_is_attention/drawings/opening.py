"""The drawings of the chapter's idea and “Queries, keys and values, with three words”."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    as_text,
    box,
    column,
    draw,
    faded,
    grid,
    joined,
    note,
    operator,
    over,
    row,
    text,
)


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
        return ", ".join(as_text(number, digits) for number in numbers.tolist())

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
