"""The drawings of “From words to vectors”, made from the chapter's own words and numbers."""

from collections.abc import Mapping, Sequence

from torch import Tensor

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
    operator,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Side, circle, label, line, vector

Words = Sequence[str]
BELOW: tuple[Side, Side] = ("bottom", "top")
# A map by hand, for the first drawing: each group of words near one point, in shares of its side.
GROUPS = {
    "value": {"king": (0.16, 0.2), "queen": (0.42, 0.14), "boy": (0.3, 0.36)},
    "key": {"bread": (0.7, 0.5), "soup": (0.86, 0.36)},
    "output": {"eats": (0.2, 0.76), "cooks": (0.46, 0.86)},
}


def from_word_to_place(words: Words, table: Tensor, chosen: str) -> None:
    """`from_word_to_place(["the", "king"], table, "king")` leads from a word to its row, and to a place."""
    at = words.index(chosen)

    def arrange(narrow: bool) -> Part:
        colours = ["query" if word == chosen else "grey" for word in words]
        asked = [box(word, name=f"word {i}", colour=colours[i], padding=7) for i, word in enumerate(words)]
        cells = [
            grid(table[i : i + 1], name=f"row {i}", rows=[word], colour="value", digits=1, cell=(44, 26))
            for i, word in enumerate(words)
        ]
        rows = column(*[one if i == at else faded(one) for i, one in enumerate(cells)], gap=0, align="right")
        learned = note("learned from the words nearby")
        shelf = column(text("a row for each word", bold=True, size=SMALL), learned, rows, gap=4)
        title, places = text("a place among words", bold=True, size=SMALL), _map(170, 150)
        looked_up = row(column(*asked, gap=7), shelf, gap=36 if narrow else 70)
        if narrow:  # the title below, where no arrow crosses it
            whole = column(looked_up, column(places, title, gap=5), gap=24, align="right")
        else:
            whole = row(looked_up, column(title, places, gap=5), gap=70)
        return joined(
            whole,
            Arrow(f"word {at}", f"row {at}", colour="query", sides=("right", "left")),
            Arrow(f"row {at}", "map", colour="value", sides=("right", "top" if narrow else "left")),
        )

    draw(
        arrange,
        alt=f"The word {chosen} in the sentence “{' '.join(words)}” leads to its row in a table of numbers, "
        "and the row to a place on a map, where people lie near people and foods near foods.",
    )


def _map(width: float, height: float) -> Part:
    marks = []
    for colour, words in GROUPS.items():
        for word, (x, y) in words.items():
            marks.append(circle(x * width, y * height, 4, colour=colour, fill=colour))
            marks.append(label(x * width + 8, y * height + 4, word, size=SMALL, anchor="start"))
    return panel(over(width, height, *marks), name="map")


def one_hot_times_table(words: Words, table: Tensor, chosen: str) -> None:
    """`one_hot_times_table(["the", "king"], table, "king")` has a one-hot vector pick a row."""
    at = words.index(chosen)
    one_hot = [["1" if i == at else "0" for i in range(len(words))]]

    def arrange(narrow: bool) -> Part:
        asked = grid(one_hot, title="one-hot", colour="query", cell=(28, 28), shape=f"[1, {len(words)}]")
        cells = [
            grid(table[i : i + 1], rows=[word], colour="value", digits=1, cell=(46, 26))
            for i, word in enumerate(words)
        ]
        rows = column(*[one if i == at else faded(one) for i, one in enumerate(cells)], gap=0, align="right")
        shelf = column(text("table", bold=True, colour="value"), rows, note(f"[{len(words)}, 3]"), gap=4)
        got = grid(table[at : at + 1], title="row", colour="output", digits=1, cell=(46, 28), shape="[1, 3]")
        if narrow:
            return column(row(asked, "×", gap=10), shelf, row("=", got, gap=10), gap=10)
        return row(asked, "×", shelf, "=", got, gap=16)

    draw(
        arrange,
        alt=f"A row of {len(words)} numbers with a 1 at the place of “{chosen}” and 0 elsewhere, times a "
        f"table of {len(words)} rows of 3, is the table's row of “{chosen}”.",
    )


def rows_that_learn(words: Words, sentence: Words, gradient: Tensor) -> None:
    """`rows_that_learn(["the", "his"], ["the", "the"], gradient)` is a table's gradient, row by row."""
    times = [sentence.count(word) for word in words]

    def arrange(narrow: bool) -> Part:
        said = {0: "not read: stays as it is", 1: "read once", 2: "read twice: they add up"}
        lines = []
        for i, word in enumerate(words):
            numbers = grid(gradient[i : i + 1], colour="value", digits=0, cell=(34, 26))
            shown = numbers if times[i] else faded(numbers)
            lines.append(row(_beginning(word, 40), shown, _beginning(said[times[i]], 150), gap=10))
        read = row(*[box(word, padding=6) for word in sentence], gap=5)
        return column(read, text("gradient of the table", bold=True), column(*lines, gap=4), gap=8)

    often = ("not at all", "once", "twice")
    touched = [f"{word} {often[count]}" for word, count in zip(words, times, strict=True)]
    draw(
        arrange,
        alt=f"The gradient of a table after “{' '.join(sentence)}”. Rows were read: {', '.join(touched)}. "
        "What was not read has a gradient of zeros.",
    )


def _beginning(words: str, width: float) -> Part:
    """Words that begin at the left of so much room, so that lines of them stand flush."""
    return over(width, 26, label(0, 18, words, size=SMALL, colour="grey", anchor="start"))


def sliding_window(sentence: Words, place: int, window: int) -> None:
    """`sliding_window(["the", "king", "eats"], 1, 1)` has a word and its neighbours, and who lies outside."""
    near = [i for i in range(len(sentence)) if i != place and abs(i - place) <= window]

    def arrange(narrow: bool) -> Part:
        parts = []
        for i, word in enumerate(sentence):
            colour = "query" if i == place else "key" if i in near else "grey"
            part = box(word, name=f"word {i}", colour=colour, learned=i == place or i in near, padding=5)
            parts.append(part if i == place or i in near else faded(part))
        words = row(*parts, gap=6 if narrow else 22)
        middle = sentence[place]
        pairs = row(
            *[
                box(f"{middle}\n{sentence[i]}", name=f"pair {i}", colour="key", padding=6, width=62)
                for i in near
            ],
            gap=12 if narrow else 30,
        )
        said = note("each pair adds one to the table of counts")
        whole = column(column(words, pairs, gap=40), said, gap=10)
        return joined(whole, *[Arrow(f"word {i}", f"pair {i}", colour="key", sides=BELOW) for i in near])

    neighbours = ", ".join(sentence[i] for i in near)
    draw(
        arrange,
        alt=f"The sentence “{' '.join(sentence)}” with a window of {window} words on either side of "
        f"“{sentence[place]}”. It pairs with {neighbours}; what lies outside is faded.",
    )


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
                f"It lands at {hoped}, whoever may answer.",
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


def one_word_twice(word: str, sentences: Mapping[str, Words]) -> None:
    """`one_word_twice("bat", {"the man feeds his bat": ["dog"]})` has a word read, and what it comes near."""

    def scene(number: int, sentence: str, near: Words) -> Part:
        words = sentence.split()
        last = words.index(word)
        boxes = [
            box(each, name=f"{number} word {place}", colour="query" if place == last else "key", padding=6)
            for place, each in enumerate(words)
        ]
        out = box(f"{word} + what it read", name=f"{number} out", colour="output", learned=True)
        said = note(f"nearer to {', '.join(near)}")
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

    told = "; ".join(f"in “{each}” it comes nearer to {', '.join(near)}" for each, near in sentences.items())
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
