"""The drawings of the repair shop: a case, which test sees which fault, and the tree's trunk."""

from collections.abc import Collection, Mapping, Sequence

from bookkit.pictures.drawings import Part, column, draw, left_note, over, row
from bookkit.pictures.svg import SMALL, SMALLEST, Anchor, Place, circle, label, line, rectangle
from chapters.the_repair_shop.tree import TREE, Symptom

LINE_HIGH = 30.0
HUES = ("blue", "orange", "purple", "green")


def _groups() -> dict[str, list[Symptom]]:
    groups: dict[str, list[Symptom]] = {}
    for symptom in TREE:
        groups.setdefault(symptom.group, []).append(symptom)
    return groups


def case() -> None:
    """`case()` has the chapter's first patient in six steps, from what was seen to the proof."""
    steps = (
        ("the symptom", "the loss falls", "to about 1", "orange"),
        ("a guess", "it knows its text", "by heart", "grey"),
        ("a test clears it", "another text", "costs hardly more", "green"),
        ("a test convicts", "a letter changed:", "earlier places move", "orange"),
        ("the mend", "triu(2) becomes", "triu(1)", "blue"),
        ("the proof", "its mended twin", "ends at 1.7", "blue"),
    )

    def box(name: str, first: str, second: str, hue: str, wide: float) -> Part:
        marks = rectangle(Place(1, 22, wide - 2, 46), hue, fill=hue, opacity=0.14, corner=6)
        marks += label(wide / 2, 14, name, size=SMALL, bold=True)
        marks += label(wide / 2, 41, first, size=SMALLEST) + label(wide / 2, 58, second, size=SMALLEST)
        return over(wide, 70, marks)

    def arrange(narrow: bool) -> Part:
        each = [box(*step, wide=150 if narrow else 108) for step in steps]
        if not narrow:
            return row(*each, gap=6)
        return column(*(row(*each[first : first + 2], gap=14) for first in (0, 2, 4)), gap=14)

    words = "; ".join(f"{name}: {first} {second}" for name, first, second, _ in steps)
    draw(arrange, alt=f"A case in six steps. {words}.")


def trunk() -> None:
    """`trunk()` has what one sees, in four groups, and beside each symptom the first cheap test."""
    groups = _groups()

    def wide() -> Part:
        first, seen, asked = 120.0, 152.0, 418.0
        marks, top = "", 26.0
        marks += label(seen + 10, 14, "what you see", size=SMALL, colour="grey", anchor="start")
        marks += label(asked + 10, 14, "what to try first", size=SMALL, colour="grey", anchor="start")
        middles = []
        for (group, symptoms), hue in zip(groups.items(), HUES, strict=True):
            height = LINE_HIGH * len(symptoms)
            middle = top + height / 2 - 2
            middles.append(middle)
            words = group.split(" ", 2)
            lines = [group] if len(words) < 3 else [" ".join(words[:2]), " ".join(words[2:])]
            marks += rectangle(Place(18, middle - 19, first - 18, 38), hue, fill=hue, opacity=0.14, corner=6)
            for number, each in enumerate(lines):
                level = middle + 5 + (number - (len(lines) - 1) / 2) * 15
                marks += label((18 + first) / 2, level, each, size=SMALL)
            for number, symptom in enumerate(symptoms):
                y = top + LINE_HIGH * number + LINE_HIGH / 2 - 2
                marks += line(first, middle, seen, y, colour=hue)
                marks += rectangle(Place(seen, y - 12, 234, 24), hue, corner=5)
                marks += label(seen + 10, y + 5, symptom.seen, anchor="start", bold=True, size=SMALL + 1)
                marks += line(seen + 234, y, asked, y, colour=hue)
                marks += rectangle(Place(asked, y - 12, 286, 24), hue, fill=hue, opacity=0.14, corner=12)
                marks += label(asked + 10, y + 5, symptom.fork.test, anchor="start", size=SMALL + 1)
            top += height + 8
        marks = line(2, middles[0], 2, middles[-1], width=4) + marks
        marks += "".join(line(2, middle, 18, middle, width=3) for middle in middles)
        return over(710, top, marks)

    def narrow() -> Part:
        marks, top = "", 0.0
        for (group, symptoms), hue in zip(groups.items(), HUES, strict=True):
            marks += rectangle(Place(0, top, 314, 24), hue, fill=hue, opacity=0.14, corner=6)
            marks += label(10, top + 17, group, size=SMALL, anchor="start")
            start, top = top + 24, top + 28
            for symptom in symptoms:
                marks += label(28, top + 15, symptom.seen, size=SMALL + 1, anchor="start", bold=True)
                marks += label(28, top + 32, symptom.fork.test, size=SMALL, anchor="start", colour="grey")
                marks += line(10, top + 11, 24, top + 11, colour=hue)
                end, top = top + 11, top + 40
            marks += line(10, start, 10, end, colour=hue, width=3)
            top += 6
        return over(316, top, marks)

    words = ". ".join(
        f"{group.capitalize()}: "
        + "; ".join(f"{symptom.seen}, first try: {symptom.fork.test}" for symptom in symptoms)
        for group, symptoms in groups.items()
    )
    draw(
        lambda slim: narrow() if slim else wide(),
        alt=f"A tree from what one sees to the first cheap test, with four branches. {words}.",
    )


def seen_by(
    counts: Mapping[str, Sequence[int]],
    tests: Sequence[str],
    seeds: int,
    false: Collection[tuple[str, str]],
) -> None:
    """`seen_by({"no mask": [0, 5]}, ["first loss", "future"], 5, {})`: which test sees which fault."""

    def slanted(x: float, y: float, words: str) -> str:
        words = label(0, 0, words, size=SMALL, anchor="start")
        return f'<g transform="translate({x:.0f} {y:.0f}) rotate(-52)">{words}</g>'

    def grid(cell: float, left: float) -> Part:
        high, slim = 22.0, cell < 20
        top = 22.0 if slim else 98.0
        marks = "".join(
            label(left + cell * (number + 0.5), 14, chr(ord("a") + number), size=SMALLEST)
            if slim
            else slanted(left + cell * (number + 0.6), top - 6, test)
            for number, test in enumerate(tests)
        )
        for place, (fault, seen) in enumerate(counts.items()):
            y = top + high * place
            blind = not any(count == seeds for count in seen)
            marks += label(
                left - 8, y + 15, fault, size=SMALLEST if slim else SMALL, anchor="end",
                bold=blind, colour="orange" if blind else "ink",
            )  # fmt: skip
            for number, count in enumerate(seen):
                spot = Place(left + cell * number + 1, y + 1, cell - 2, high - 2)
                if (fault, tests[number]) in false:
                    marks += rectangle(spot, "blue")
                elif count:
                    marks += rectangle(spot, "blue", fill="blue", opacity=0.75 * count / seeds)
                else:
                    marks += circle(spot.left + spot.width / 2, y + high / 2, 1.5)
        return over(left + cell * len(tests) + 70, top + high * len(counts), marks)

    letters = ", ".join(f"{chr(ord('a') + number)} {test}" for number, test in enumerate(tests))

    def arrange(narrow: bool) -> Part:
        key = left_note(
            f"Filled: seen with each of {seeds} seeds; hollow: by a false witness; a dot: with none. "
            "Orange: no test sees it." + (f" Columns: {letters}." if narrow else ""),
            310 if narrow else 600,
        )
        picture = grid(11.5, 172.0) if narrow else grid(30.0, 230.0)
        return column(picture if not narrow else over(322, picture.height, (picture, 0, 0)), key, gap=10)

    words = "; ".join(
        f"{fault}: "
        + (
            ", ".join(
                f"{test} (a false witness)"
                if (fault, test) in false
                else test
                if count == seeds
                else f"{test} ({count})"
                for test, count in zip(tests, seen, strict=True)
                if count
            )
            or "nothing"
        )
        for fault, seen in counts.items()
    )
    missed = ", ".join(fault for fault, seen in counts.items() if not seen[-1])
    alt = f"Which of {len(tests)} tests sees which of {len(counts)} faults. {words}."
    draw(arrange, alt=f"{alt} The last column, {tests[-1]}, is empty for {missed}.")


def touched() -> None:
    """`touched()` has four tests: which ids are changed, and what must not move, or must."""
    cards = (
        ("change the future", "the old dogs", (8, 12), (0, 8), True),
        ("add filler", "the old cat ···", (12, 15), (0, 12), True),
        ("shuffle", "cdloe h atet", (0, 11), (11, 12), False),
        ("one word everywhere", "eeeeeeeeeeee", (0, 12), (0, 12), False),
    )

    def card(name: str, shown: str, change: tuple[int, int], watch: tuple[int, int], still: bool) -> Part:
        cell, marks = 21.0, label(0, 14, name, bold=True, size=SMALL + 1, anchor="start")
        hue = "green" if still else "blue"
        for number, letter in enumerate(shown):
            place = Place(cell * number, 24, cell - 2, 26)
            changed = change[0] <= number < change[1]
            marks += rectangle(
                place, "orange" if changed else "grey", fill="orange" if changed else "grey",
                opacity=0.3 if changed else 0.12,
            )  # fmt: skip
            marks += label(place.left + 9.5, 42, letter, size=SMALL)
        left, right = cell * watch[0], cell * watch[1] - 2
        marks += line(left, 58, right, 58, colour=hue, width=4)
        words = {
            "change the future": "what is said here may not move",
            "shuffle": "what is said at the end must move",
            "one word everywhere": "with places added, all must differ",
            "add filler": "the loss of these may not move",
        }[name]
        anchor: Anchor = "end" if name == "shuffle" else "start"
        x = right if name == "shuffle" else left
        marks += label(x, 76, words, size=SMALL, colour=hue, anchor=anchor)
        return over(15 * cell, 82, marks)

    def arrange(narrow: bool) -> Part:
        each = [card(*one) for one in cards]
        if narrow:
            return column(*each, gap=14, align="left")
        return column(row(*each[:2], gap=60), row(*each[2:], gap=60), gap=18, align="left")

    draw(
        arrange,
        alt="Four tests on rows of letters. Change the future: the last four letters are changed, and what "
        "is said at the eight before may not move. Add filler: three more behind the text, and the loss of "
        "the text may not move. Shuffle: all but the last are mixed, and what is said at the last must move. "
        "One word: the same letter everywhere, and where places are added to the stream, what is said must "
        "differ from place to place.",
    )


def read_by_mask() -> None:
    """`read_by_mask()` has which letters each place has read, in two layers without places."""
    letters = "cat"
    layers = (
        ("letters", [{letter} for letter in letters], "one letter each: nothing tells where it stands"),
        ("after layer 1", [set(letters[: u + 1]) for u in range(3)], "each has read a set of its own"),
        (
            "after layer 2",
            [set(letters[: u + 1]) for u in range(3)],
            "it tells them apart: order",
        ),
    )

    def arrange(narrow: bool) -> Part:
        cell, left, marks = 74.0, 0.0 if narrow else 110.0, ""
        high = 74.0 if narrow else 58.0
        for number, (name, seen, words) in enumerate(layers):
            top = high * number
            if narrow:
                marks += label(0, top + 14, name, size=SMALL, anchor="start", colour="grey")
                top += 20
            else:
                marks += label(0, top + 20, name, size=SMALL, anchor="start", colour="grey")
            for u, each in enumerate(seen):
                spot = Place(left + cell * u, top + 2, cell - 10, 28)
                marks += rectangle(spot, "blue", fill="blue", opacity=0.10 + 0.12 * len(each) * (number > 0))
                middle = spot.left + spot.width / 2
                said = letters[u] if number == 0 else "{" + ", ".join(letters[: u + 1]) + "}"
                marks += label(middle, top + 21, said, size=SMALL)
            if narrow:
                marks += label(0, top + 47, words, size=SMALLEST, anchor="start")
            else:
                marks += label(left + cell * 3 + 6, top + 20, words, size=SMALL, anchor="start")
        return over(320 if narrow else 680, high * 3, marks)

    draw(
        arrange,
        alt="Three letters, c, a, t, without places. Before any layer each place has one letter. After the "
        "first layer under a causal mask they have read c; c and a; c, a and t. These sets differ, and the "
        "second layer can tell them apart.",
    )
