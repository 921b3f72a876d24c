"""The drawings of “Looking inside”: two heads that work together, and what is done to find out."""

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    faded,
    joined,
    note,
    operator,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL

ROUND = ("A", "B", "C", "D", "A")

# ---- two steps ----


def circuit() -> None:
    """`circuit()` follows one sequence: who stood before each word, and then who stands behind an A."""

    def arrange(narrow: bool) -> Part:
        gap, wide = (7, 58.0) if narrow else (26, 84.0)
        words = [
            box(text(word), name=f"word {place}", colour="key", width=wide)
            for place, word in enumerate(ROUND)
        ]
        known = [
            box(
                text(f"{word}\n" + (f"after {ROUND[place - 1]}" if place else "first"), size=SMALL),
                name=f"known {place}",
                colour="key",
                learned=True,
                width=wide,
                padding=5 if narrow else 10,
            )
            for place, word in enumerate(ROUND)
        ]
        answer = box(
            text("B", colour="output", bold=True), name="answer", colour="output", learned=True, width=wide
        )
        width = None if not narrow else 320
        whole = column(
            note("layer 1, a previous-token head: each word learns who stood before it", width=width),
            column(row(*words, gap=gap), row(*known, gap=gap), answer, gap=46, align="right"),
            note(
                "layer 2, an induction head: A asks “who came after an A?”, and takes what it finds",
                width=width,
            ),
            gap=12,
        )
        arrows = [
            Arrow(f"word {i}", f"known {i + 1}", colour="key", sides=("bottom", "top")) for i in range(4)
        ]
        look = Arrow("known 1", "answer", colour="query", sides=("bottom", "top"))
        return joined(whole, *arrows, look)

    draw(
        arrange,
        alt="The words A B C D A. In layer 1 an arrow leads from each word to the place behind it, which "
        "then holds its own word and the one before: B after A, C after B, and so on. In layer 2 the last A "
        "asks who came after A, an arrow leads from “B after A” to it, and what it says is B.",
    )


# ---- a head is changed ----

CHANGES = {
    "zero": ("0", "it says nothing"),
    "mean": ("mean", "it says what it says on average"),
    "exchange": ("another's", "it says what it said elsewhere"),
}


def changes() -> None:
    """`changes()` has what two heads found on its way to the output matrix, and three things to put there."""

    def one(name: str, words: str, why: str) -> Part:
        heads = row(
            faded(box("head 1", colour="value", learned=True, width=74)),
            box(text(words, bold=True), name=name, colour="orange", learned=True, width=86),
            gap=0,
        )
        out = box("W_O", name=f"{name} out", learned=True)
        return column(
            text(name, bold=True),
            joined(row(heads.named(f"{name} heads"), out, gap=26), Arrow(f"{name} heads", f"{name} out")),
            note(why),
            gap=6,
        )

    def arrange(narrow: bool) -> Part:
        return across(narrow, *(one(name, *each) for name, each in CHANGES.items()), gap=22 if narrow else 16)

    draw(
        arrange,
        alt="What two heads found, side by side, before the output matrix W_O. Head 1 stays; in the place of "
        "head 2 stands 0, or its mean, or what it found in another sequence.",
    )


# ---- two sentences exchange what a head found ----


def exchange() -> None:
    """`exchange()` has two sentences that differ in one letter, and exchange what a head found."""

    def arrange(narrow: bool) -> Part:
        def one(number: str, noun: str, verb: str, colour: str) -> Part:
            words = text(
                f"the {noun} near\nthe king …" if narrow else f"the {noun} near the king …", colour=colour
            )
            found = box(text("head"), name=f"{number} head", colour=colour, learned=True)
            said = box(text(verb, bold=True, colour=colour), name=f"{number} said", colour=colour, width=60)
            return row(words.named(f"{number} words"), found, said, gap=44 if narrow else 80)

        both = column(one("one", "dog", "see?", "query"), one("several", "dogs", "sees?", "key"), gap=56)
        arrows = [
            Arrow("one words", "one head", colour="query"),
            Arrow("several words", "several head", colour="key"),
            Arrow("one head", "several said", colour="query", sides=("right", "left")),
            Arrow("several head", "one said", colour="key", sides=("right", "left")),
        ]
        return joined(both, *arrows)

    draw(
        arrange,
        alt="Two sentences, “the dog near the king” and “the dogs near the king”. What one head found in the "
        "first goes on into the second, and the other way round. Will the first now say “see” and the second "
        "“sees”?",
    )


# ---- a probe and its controls ----


def probe() -> None:
    """`probe()` has a line that reads the number off a state, and the two rivals that it must beat."""

    def one(name: str, state: str, asked: str, faint: bool) -> Part:
        whole = joined(
            row(
                box(state, name=f"{name} state", colour="value", learned=not faint, width=150),
                operator("w · x + b", name=f"{name} line"),
                text(asked),
                gap=30,
            ),
            Arrow(f"{name} state", f"{name} line"),
        )
        return panel(whole, name)

    def narrow_one(name: str, state: str, asked: str, faint: bool) -> Part:
        return panel(
            column(
                box(state, colour="value", learned=not faint, width=150),
                row(operator("w · x + b"), text(asked), gap=10),
                gap=8,
            ),
            name,
        )

    def arrange(narrow: bool) -> Part:
        make = narrow_one if narrow else one
        return column(
            make("the probe", "trained model", "one or several?", False),
            make("control: nothing was learned", "random weights", "one or several?", True),
            make("control: nothing to find", "trained model", "heads or tails?", False),
            gap=12,
            align="left",
        )

    draw(
        arrange,
        alt="Three panels. The probe: a linear function of the trained model's state says whether the "
        "subject is one or several. First control: the same on a model with random weights. Second control: "
        "the trained model, but each noun's label was tossed with a coin.",
    )


# ---- a sink ----


def sink() -> None:
    """`sink()` has a query that finds nothing: its weights must go somewhere."""

    def arrange(narrow: bool) -> Part:
        gap = 8 if narrow else 30
        words = ("A", "B", "C", "D", "E")

        def one(name: str, weights: tuple[float, ...], title: str) -> Part:
            keys = [
                box(text(word), name=f"{name} {place}", colour="key", learned=True)
                for place, word in enumerate(words)
            ]
            asks = box("after E?", name=f"{name} asks", colour="query", learned=True)
            whole = column(row(*keys, gap=gap), asks, gap=54)
            arrows = [
                Arrow(
                    f"{name} {place}", f"{name} asks", colour="query", weight=weight, sides=("bottom", "top")
                )
                for place, weight in enumerate(weights)
                if weight
            ]
            return column(text(title, size=SMALL, bold=True), joined(whole, *arrows), gap=8)

        left = one("seen", (0.72, 0.07, 0.07, 0.07, 0.07), "nothing to find: look at the first")
        right = one("hidden", (0, 0.3, 0.2, 0.3, 0.2), "the first is hidden: it has to look")
        return across(narrow, left, right, gap=30 if narrow else 60)

    draw(
        arrange,
        alt="A query asks who came after E, and no E came before it. Its weights must sum to 1, and most "
        "goes to the first word. With that one hidden, they spread over words that are not the answer.",
    )
