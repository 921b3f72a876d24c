"""The drawings from “Predicting instead of counting” to “The table of a Transformer”."""

from collections.abc import Sequence

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
from bookkit.pictures.svg import circle, label, line, vector
from chapters.from_words_to_vectors.drawings.pieces import BELOW, Words, _beginning


def bottleneck(word: str, neighbour: str, strangers: Words, vocabulary: int, width: int) -> None:
    """`bottleneck("king", "his", ["soup"], 31, 16)` has a row of one table meet rows of another."""

    def arrange(narrow: bool) -> Part:
        asked = box(word, name="word", colour="query")
        words = _table("words", vocabulary, width, "query")
        contexts = _table("contexts", vocabulary, width, "key")
        others = [(neighbour, "neighbour: up ↑"), *((each, "stranger: down ↓") for each in strangers)]
        lines = [(box(each, name=each, colour="key", width=76), said) for each, said in others]
        meet = operator("·", name="meet")
        ways = [
            Arrow("word", "words", colour="query"),
            Arrow("words", "meet", colour="query"),
            Arrow("contexts", "meet", colour="key"),
        ]
        if narrow:
            tables = row(words, meet, contexts, gap=36)
            answers = row(*[column(part, note(said, width=80), gap=4) for part, said in lines], gap=10)
            ways += [Arrow(each, "contexts", colour="key", sides=BELOW[::-1]) for each, _ in others]
            return joined(column(column(asked, tables, gap=30), answers, gap=80), *ways)
        answers = column(*[row(part, _beginning(said, 112), gap=8) for part, said in lines], gap=6)
        ways += [Arrow(each, "contexts", colour="key") for each, _ in others]
        return joined(row(asked, words, meet, contexts, answers, gap=34), *ways)

    draw(
        arrange,
        alt=f"The word {word} picks a row from a table of {vocabulary} words by {width} numbers. Its dot "
        f"product with the row of the neighbour {neighbour}, from a second table, should grow; with those of "
        f"the strangers {', '.join(strangers)} it should fall.",
    )


def _table(name: str, rows: int, columns: int, colour: str) -> Part:
    cells = grid([[""] * 4] * 5, title=name, colour=colour, cell=(19, 17), shape=f"[{rows}, {columns}]")
    return cells.named(name)


def analogy(first: str, second: str, third: str, hoped: str) -> None:
    """`analogy("man", "woman", "king", "queen")` takes the step of one pair from a third word, twice."""

    def scene(
        title: str, said: str, step: tuple[float, float], hoped_at: tuple[float, float], *, crossed: bool
    ) -> Part:
        (across, up), start, other = step, (24.0, 118.0), (140.0, 118.0)
        marks = [
            vector(start[0], start[1], start[0] + across, start[1] - up, colour="key"),
            vector(other[0], other[1], other[0] + across, other[1] - up, colour="key"),
        ]
        places = {
            first: start,
            second: (start[0] + across, start[1] - up),
            third: other,
            hoped: hoped_at,
        }
        for word, (x, y) in places.items():
            colour = "output" if word == hoped else "query" if word == third else "grey"
            marks.append(circle(x, y, 5, colour=colour, fill=colour))
            below = word in (first, third)
            marks.append(label(x, y + 22, word) if below else label(x + 10, y - 2, word, anchor="start"))
        x, y = other
        if crossed:
            marks += [
                line(x - 9, y - 9, x + 9, y + 9, colour="ink"),
                line(x - 9, y + 9, x + 9, y - 9, colour="ink"),
            ]
        return panel(column(over(250, 150, *marks), note(said, width=250), gap=4), title)

    def arrange(narrow: bool) -> Part:
        question = text(f"{third} − {first} + {second}", bold=True)
        scenes = across(
            narrow,
            scene(
                "the step is long",
                f"It lands at {hoped}, whatever the answer.",
                (40, 84),
                (188, 30),
                crossed=False,
            ),
            scene(
                "the step is next to nothing",
                f"It lands at {third}, which may not answer. The next one is {hoped}.",
                (9, 12),
                (196, 90),
                crossed=True,
            ),
        )
        return column(question, scenes)

    draw(
        arrange,
        alt=f"{third} − {first} + {second}, twice. In one picture the step from {first} to {second} is long, "
        f"and taken from {third} it ends at {hoped}. In the other it is tiny and ends at {third} itself; but "
        f"{third} is crossed out, and {hoped} is the nearest word left.",
    )


def both_ends(vocabulary: int, d_model: int, ids: Sequence[int]) -> None:
    """`both_ends(20000, 512, [7, 2])` is a table at the entrance of a model, and turned over at its exit."""
    count = len(ids)

    def arrange(narrow: bool) -> Part:
        columns = (54, 104, 104) if narrow else (110, 190, 190)
        wide = 4 if narrow else 7

        def cells(title: str, colour: str, number: int, shape: str) -> Part:
            return grid([[""] * number] * count, title=title, colour=colour, cell=(17, 20), shape=shape)

        asked = grid([[str(number)] for number in ids], title="ids", cell=(52, 20), shape=f"[{count}]")
        table = box(text("table", bold=True), name="table", colour="value", learned=True, width=96)
        turned = box(text("table^T", bold=True), name="turned", colour="value", learned=True, width=96)
        upper = [
            asked.named("ids"),
            column(table, note(f"[{vocabulary}, {d_model}]"), operator(f"× √{d_model}"), gap=5).named(
                "look up"
            ),
            cells("vectors", "value", wide, f"[{count}, {d_model}]").named("vectors"),
        ]
        lower = [
            cells("outputs", "output", 3 if narrow else wide, f"[{count}, {d_model}]").named("outputs"),
            column(turned, note(f"[{d_model}, {vocabulary}]"), gap=5).named("compare"),
            cells("scores", "query", wide + 2, f"[{count}, {vocabulary}]").named("scores"),
        ]
        rows = [
            over(
                sum(columns) + 60,
                150,
                *(
                    (part, sum(columns[:i]) + 30 * i + (columns[i] - part.width) / 2, (150 - part.height) / 2)
                    for i, part in enumerate(parts)
                ),
            )
            for parts in (upper, lower)
        ]
        said = note("between the two: all the layers of the model")
        ways = [
            Arrow("ids", "look up"),
            Arrow("look up", "vectors"),
            Arrow("outputs", "compare"),
            Arrow("compare", "scores"),
        ]
        return joined(column(rows[0], said, rows[1], gap=10), *ways)

    draw(
        arrange,
        alt=f"At the entrance {count} ids look up rows of a table, {vocabulary} by {d_model}, times the root "
        f"of {d_model}: vectors, {count} by {d_model}. At the exit outputs of that shape meet the same "
        f"table, turned over, and give scores, {count} by {vocabulary}. All the layers lie between the two.",
    )
