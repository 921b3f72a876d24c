"""The drawings of “One row, two meanings” and “Exercises”."""

from collections.abc import Mapping, Sequence

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    faded,
    grid,
    joined,
    note,
    panel,
    row,
)
from chapters.from_words_to_vectors.drawings.pieces import BELOW, Words


def one_word_twice(word: str, sentences: Mapping[str, Words]) -> None:
    """`one_word_twice("bat", {"the man feeds his bat": ["dog"]})` has a word read, and where it leans."""

    def scene(number: int, sentence: str, near: Words) -> Part:
        words = sentence.split()
        last = words.index(word)
        boxes = [
            box(each, name=f"{number} word {place}", colour="query" if place == last else "key", padding=6)
            for place, each in enumerate(words)
        ]
        out = box(f"{word} + what it read", name=f"{number} out", colour="output", learned=True)
        said = note(f"leans to {', '.join(near)}")
        whole = column(row(*boxes, gap=6), column(out, said, gap=4), gap=46)
        # The verb and the word that says whose it is get nearly all the weight.
        read = [
            Arrow(f"{number} word {place}", f"{number} out", colour="key", weight=0.4, sides=BELOW)
            for place in (2, 3)
        ]
        return panel(
            joined(
                whole,
                *read,
                Arrow(f"{number} word {last}", f"{number} out", colour="query", sides=("bottom", "right")),
            )
        )

    def arrange(narrow: bool) -> Part:
        return across(narrow, *(scene(i, *one) for i, one in enumerate(sentences.items())), gap=16)

    told = "; ".join(f"in “{each}” it leans to {', '.join(near)}" for each, near in sentences.items())
    draw(
        arrange,
        alt=f"The word {word} in two sentences takes up what it reads from the verb and from the word before "
        f"it: {told}.",
    )


def window_at_the_end(first: Words, second: Words) -> None:
    """`window_at_the_end(["feeds", "his", "bat"], ["the", "man"])` stops a window where a sentence ends."""

    def arrange(narrow: bool) -> Part:
        cell = (46, 30) if narrow else (64, 30)
        one = grid([list(first)], name="first", colour="key", cell=cell)
        other = faded(grid([list(second)], cell=cell))
        last = len(first) - 1
        words = column(one, note(f"{first[last]} has two neighbours"), gap=64)
        reached = joined(
            words,
            *[
                Arrow(f"first.0.{last}", f"first.0.{last - step}", colour="query", sides=("bottom", "bottom"))
                for step in (1, 2)
            ],
        )
        beyond = column(other, note("another sentence: none of these"), gap=20 if narrow else 64)
        return across(narrow, reached, beyond, gap=30)

    draw(
        arrange,
        alt=f"Two sentences that follow each other. The last word of the first, {first[-1]}, has the two "
        "words before it as neighbours, and none of the next sentence.",
    )


def from_pairs_to_table(pairs: Sequence[Sequence[int]], vocabulary: int, width: int) -> None:
    """`from_pairs_to_table([[17, 3]], 31, 16)` is what an experiment gets, and what it gives back."""

    def arrange(narrow: bool) -> Part:
        given = [[str(number) for number in pair] for pair in pairs]
        asked = grid([*given, ["…", "…"]], title="pairs", colour="key", cell=(36, 24))
        back = grid(
            [[""] * 5] * 5, title="table", colour="value", cell=(19, 20), shape=f"[{vocabulary}, {width}]"
        )
        yours = box("your code", name="yours", learned=True)
        parts = row(asked.named("asked"), yours, back.named("back"), gap=26 if narrow else 60)
        return joined(parts, Arrow("asked", "yours"), Arrow("yours", "back"))

    draw(
        arrange,
        alt=f"Pairs of ids go into your code, and a table comes out, of {vocabulary} rows and at most "
        f"{width} columns.",
    )
