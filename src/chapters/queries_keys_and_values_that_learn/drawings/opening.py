"""The drawings of the chapter's idea and “Attention with nothing to learn”."""

from collections.abc import Sequence

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
from bookkit.pictures.svg import label, line, vector
from chapters.queries_keys_and_values_that_learn.drawings.pieces import ROLES


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
