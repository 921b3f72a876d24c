"""What a reader can look at in the page, of a model too large to run there, and its picture."""

from functools import cache

from bookkit.pictures.drawings import Part, as_text
from bookkit.pictures.svg import SMALL, Place, label, rectangle
from bookkit.playground import Data, Picture, Recorded
from chapters.a_real_model_opened import explored

LAYERS, HEADS = 30, 9
BITS = 1000  # as they are stored
# Where a head loses nothing that can be seen, its square still is.
FAINTEST = 0.04


@cache
def smollm2() -> Data:
    """`smollm2()["texts"][0]["pieces"]` are those of the first text that can be chosen."""
    texts = [{"name": name, **measured} for name, measured in explored.stored().items()]
    return {"kind": "Heads", "layers": LAYERS, "heads": HEADS, "texts": texts}


@cache
def the_heads_that_say_paris() -> Picture:
    """`the_heads_that_say_paris()` has a square for each head, by what its removal does to the answer."""
    measured = explored.stored()["A capital"]
    answer, chance = measured["next"][0]
    lost = [-bits[0] / BITS for bits in measured["removals"]]  # of each head, layer after layer
    worst = max(range(len(lost)), key=lost.__getitem__)
    said, sure = answer.strip("·"), as_text(100 * chance, 0)
    named = f"head {worst % HEADS} of block {worst // HEADS}"  # counted from 0, as in the chapter's code
    few = sum(bits > 0.5 for bits in lost)
    return Picture(
        "After “The capital of France is” it says",
        said,
        _grid(lost, said, 600),
        _grid(lost, said, 320),
        f"A square for each head, nine in each of {LAYERS} columns, which are the blocks. {said} has "
        f"{sure} %: the fuller a square, the less without its head. Without {named} it loses "
        f"{as_text(lost[worst], 1)} bits, without {few - 1} others more than half a bit, "
        f"and without {len(lost) - few} less.",
        "Take out a head and see what the model says then, for six texts.",
        f"The fuller a head’s square, the less {said} without it: least without {named}.",
    )


def _grid(lost: list[float], said: str, width: float) -> Part:
    size, largest = width / LAYERS, max(lost)
    marks = ""
    for place, bits in enumerate(lost):
        layer, head = divmod(place, HEADS)
        spot = Place(layer * size + 1, head * size + 1, size - 2, size - 2)
        # By the root: a tenth of the largest can still be seen.
        share = FAINTEST + (1 - FAINTEST) * (max(bits, 0) / largest) ** 0.5
        marks += rectangle(spot, "faint", fill="output", opacity=share, corner=2)
    bottom = HEADS * size
    marks += label(1, bottom + 16, "block 0", size=SMALL, colour="grey", anchor="start")
    marks += label(width - 1, bottom + 16, f"block {LAYERS - 1}", size=SMALL, colour="grey", anchor="end")
    middle = f"fuller: without it, less {said}"
    marks += label(width / 2, bottom + 16, middle, size=SMALL, colour="grey")
    return Part(width, bottom + 22, marks)


RECORDED = {"smollm2": Recorded(smollm2, the_heads_that_say_paris)}
