"""The drawings of “Heat maps, drawn and judged”, “Greedy, and a beam” and “Mistakes people make here”."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    box,
    column,
    draw,
    grid,
    joined,
    note,
    over,
    row,
    text,
)
from bookkit.pictures.svg import label, line
from chapters.translating_with_attention.drawings.pieces import SOURCE, TARGET, _facing


def counted(links: Sequence[tuple[int, int]], gold: Sequence[tuple[int, int]]) -> None:
    """`counted([(1, 0), (1, 1)], [(0, 0), (1, 1)])` has a translator's links and gold's."""
    missed = [link for link in gold if link not in links]
    wrong = [link for link in links if link not in gold]

    def arrange(narrow: bool) -> Part:
        ours = [(i, j, "ink" if (i, j) in gold else "query") for i, j in links]
        drawn = _facing(SOURCE, TARGET, [*ours, *((i, j, "grey") for i, j in missed)], narrow)
        words = note("blue: ours alone · dotted: gold alone")
        return column(drawn, words, gap=10)

    def told(pairs: Sequence[tuple[int, int]]) -> str:
        return ", ".join(f"{TARGET[j]} with {SOURCE[i]}" for i, j in pairs)

    draw(
        arrange,
        alt=f"“{' '.join(SOURCE)}” faces “{' '.join(TARGET)}”. The translator's links: "
        f"{told(links)}. Of them "
        f"{told(wrong)} is in no gold link, and the gold link {told(missed)} is missed.",
    )


def circle() -> None:
    """`circle()` has two that wait for each other, and no first."""

    def arrange(narrow: bool) -> Part:
        turns = [
            box("c_t", name=f"{turn}", colour="output")
            if turn % 2 == 0
            else box("s_t", name=f"{turn}", colour="query", learned=True)
            for turn in range(3)
        ]
        needs = [Arrow(f"{turn}", f"{turn + 1}", "needs") for turn in range(3)]
        return joined(row(*turns, text("…").named("3"), gap=56), *needs)

    draw(arrange, alt="The context c needs the state s, which needs the context c, and so on.")


# ---- interventions ----
def interventions(shares: Mapping[str, Tensor], looks: Sequence[str]) -> None:
    """`interventions({"dot": shares}, ["own", "gold"])` has exact matches by translator and by weights."""
    names = list(shares)
    numbers = [shares[name].tolist() for name in names]

    def arrange(narrow: bool) -> Part:
        return grid(
            numbers,
            rows=names,
            columns=looks,
            colour="output",
            shaded=True,
            cell=(58, 34) if narrow else (96, 34),
        )

    told = "; ".join(
        f"{name}: " + ", ".join(f"{look} {share:.2f}" for look, share in zip(looks, row, strict=True))
        for name, row in zip(names, numbers, strict=True)
    )
    draw(
        arrange,
        alt=f"The share of sentences that are exactly right, by whose weights are looked with. {told}.",
    )


# ---- a beam ----
def tree(first: Mapping[str, float], then: Mapping[str, Mapping[str, float]], width: int) -> None:
    """`tree({"lo": 0.6, "la": 0.4}, {"lo": {…}, "la": {…}}, width=2)` has two words, and their odds."""
    rows = {f"{a} {b}": first[a] * odds for a in first for b, odds in then[a].items()}
    best = max(rows, key=lambda name: rows[name])
    likely = max(first, key=lambda name: first[name])
    greedy = f"{likely} {max(then[likely], key=lambda name: then[likely][name])}"

    def arrange(narrow: bool) -> Part:
        wide, high = (300.0, 40.0) if narrow else (560.0, 40.0)
        marks, count = "", len(rows)
        middle, tops = high * count / 2, {}
        place = 0
        for a, odds in then.items():
            tops[a] = high * (place + len(odds) / 2)
            for b in odds:
                y, name = high * (place + 0.5), f"{a} {b}"
                colour = "output" if name == best else "query" if name == greedy else "grey"
                thick = 2.5 if name in (best, greedy) else 1.5
                marks += line(wide * 0.36, tops[a], wide * 0.56, y, colour=colour, width=thick)
                marks += label(wide * 0.46, (tops[a] + y) / 2 - 5, f"{odds[b]:g}", size=13, colour="grey")
                share = f"{b}  {rows[name]:.2f}"
                said = {best: " likeliest", greedy: " greedy"}.get(name, "")
                marks += label(wide * 0.58, y + 5, share, colour=colour, anchor="start", bold=bool(said))
                marks += label(wide * 0.99, y + 5, said, size=13, colour=colour, anchor="end")
                place += 1
            colour = "output" if best.startswith(a) else "query"
            marks += line(wide * 0.1, middle, wide * 0.26, tops[a], colour=colour, width=2.5)
            marks += label(wide * 0.18, (middle + tops[a]) / 2 - 6, f"{first[a]:g}", size=13, colour="grey")
            marks += label(wide * 0.31, tops[a] + 5, a, colour=colour, bold=True)
        marks += label(wide * 0.05, middle + 5, "start")
        return over(wide, high * count, marks)

    told = "; ".join(f"{name} {share:.2f}" for name, share in rows.items())
    draw(
        arrange,
        alt=f"A tree of two words and what each is likely to be followed by. The rows and their "
        f"probabilities: {told}. "
        f"Greedy search takes “{greedy}”; the likeliest is “{best}”, which a beam of {width} finds.",
    )
