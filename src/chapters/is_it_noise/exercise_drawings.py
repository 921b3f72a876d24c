"""The drawings beside the exercises: what comes in, and what is to be found."""

from bookkit.pictures.drawings import Part, across, box, column, draw, grid, note, row, text


def drawn_texts() -> None:
    """`drawn_texts()` has pieces with the text of each, and two draws of texts."""

    def arrange(narrow: bool) -> Part:
        pieces = column(
            grid([["2", "3", "9", "8", "9", "4"]], title="first", colour="query", cell=(34, 28)),
            grid([["2", "2", "7", "8", "8", "5"]], title="second", colour="key", cell=(34, 28)),
            grid([["0", "0", "1", "1", "1", "2"]], title="text", cell=(34, 28)),
            gap=6,
        )
        draws = column(
            grid([["1", "1", "0"], ["2", "0", "2"]], title="draws", cell=(34, 28)),
            note("twice text 1 and once text 0;\nonce text 0 and twice text 2"),
            gap=6,
        )
        return across(narrow, pieces, draws, gap=36)

    draw(
        arrange,
        alt="Six pieces with their bits for two models, the number of the text that each stands in (0, 0, 1, "
        "1, 1, 2), and two draws of three texts: 1, 1, 0 and 2, 0, 2.",
    )


def tried() -> None:
    """`tried()` has a table of losses for each side: rates down, seeds across, on two sorts of text."""

    def arrange(narrow: bool) -> Part:
        def side(name: str, colour: str) -> Part:
            empty = [["", "", ""]] * 3
            one = grid(empty, colour=colour, cell=(26, 22), rows=("rate 1", "rate 2", "rate 3"))
            return column(text(name, bold=True), row(one, gap=8), note("seeds across"), gap=6)

        chosen = box(column("choose a rate", note("by validation text"), gap=2), colour="grey")
        told = box(column("report it", note("on test text"), gap=2), colour="value")
        arrow = text("↓" if narrow else "→")
        sides = row(side("ours", "query"), side("theirs", "key"), gap=16)
        return across(narrow, sides, arrow, chosen, arrow, told, gap=12)

    draw(
        arrange,
        alt="For ours and for theirs a table of losses, rates down and seeds across. A rate is chosen by "
        "validation text, and what is reported is measured on test text.",
    )
