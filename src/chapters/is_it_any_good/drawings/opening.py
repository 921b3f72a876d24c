"""The whole chapter in one drawing: how a text that nobody has read weighs what a reader expects."""

import numpy as np
import torch

from bookkit.pictures.drawings import TINT, Part, draw, left_note, over
from bookkit.pictures.svg import SMALL, SMALLEST, Place, label, line, rectangle
from chapters.a_gpt_of_your_own.rivals import KneserNey

READ = (
    "Return the degree of the node .",
    "Return the sum of the nodes .",
    "Return the degree of the sum .",
)
TEXT = "Return the degree of the sum of the nodes ."
# Who has read READ, and looks so many pieces back.
READERS = {1: "looks at nothing", 2: "looks one back", 3: "looks two back"}
MOST = 4.5  # bits: a bar of full length


def surprises() -> tuple[list[str], dict[int, list[float]]]:
    """`words, bits = surprises()`: the text's words, and what each costs each of the READERS."""
    known = sorted({word for sentence in READ for word in sentence.split()})
    number = {word: place for place, word in enumerate(known)}
    read = torch.tensor([number[word] for sentence in READ for word in sentence.split()])
    words = TEXT.split()
    ids = torch.tensor([number["."], *(number[word] for word in words)])  # behind the end of a sentence
    counted = {order: KneserNey(read, order).chances(ids, len(known)) for order in READERS}
    return words, {order: (-np.log2(each[1:])).tolist() for order, each in counted.items()}


def weighed() -> None:
    """`weighed()` has one text, the bits of each of its pieces for three readers, and their sums by bytes."""
    words, bits = surprises()
    sums = {order: (sum(each), sum(each) / (len(TEXT.encode()) - 1)) for order, each in bits.items()}
    colours = dict(zip(READERS, ("grey", "key", "output"), strict=True))

    def share(order: int) -> tuple[str, str]:
        total, by_byte = sums[order]
        return f"{total:.0f} bits,", f"{by_byte:.2f} a byte"

    def wide() -> Part:
        left, across, high, gap = 112.0, 45.0, 54.0, 16.0
        marks = ""
        for place, word in enumerate(words):
            frame = Place(left + across * place, 0, across, 26)
            marks += rectangle(frame, "query", fill="query", opacity=TINT)
            marks += label(frame.left + across / 2, 17.5, word, size=SMALLEST)
        for number, order in enumerate(READERS):
            top = 40 + (high + gap) * number
            marks += label(0, top + high - 8, READERS[order], size=SMALL, anchor="start")
            marks += line(left, top + high, left + across * len(words), top + high, width=1)
            for place, cost in enumerate(bits[order]):
                tall = high * cost / MOST
                bar = Place(left + across * place + 9, top + high - tall, across - 18, tall)
                marks += rectangle(bar, None, fill=colours[order], opacity=0.6)
            end = left + across * len(words) + 12
            for above, said in zip((26, 8), share(order), strict=True):
                marks += label(end, top + high - above, said, size=SMALL, anchor="start", bold=above == 8)
        bottom = 40 + (high + gap) * len(READERS)
        below = left_note(
            "All three have read the same three sentences, and this one is new. A bar is the surprise at "
            "a word, −log₂ of the chance that it was given.",
            690,
        )
        return over(left + across * len(words) + 100, bottom + below.height, marks, (below, 0, bottom))

    def phone() -> Part:
        left, room, gap, high = 62.0, 76.0, 12.0, 24.0
        marks = ""
        for number, order in enumerate(READERS):
            x = left + (room + gap) * number
            for place, said in enumerate(READERS[order].replace("looks ", "looks\n").split("\n")):
                marks += label(x, 12 + 15 * place, said, size=SMALLEST, anchor="start")
            for place, cost in enumerate(bits[order]):
                bar = Place(x, 40 + high * place + 4, room * cost / MOST, high - 8)
                marks += rectangle(bar, None, fill=colours[order], opacity=0.6)
            for place, said in enumerate(share(order)):
                y = 40 + high * len(words) + 16 + 16 * place
                marks += label(x, y, said, size=SMALLEST, anchor="start", bold=place == 1)
            marks += line(x, 38, x, 40 + high * len(words), width=1)
        for place, word in enumerate(words):
            marks += rectangle(
                Place(0, 40 + high * place, left - 6, high - 2), "query", fill="query", opacity=TINT
            )
            marks += label(left / 2 - 3, 40 + high * place + 15, word, size=SMALLEST)
        bottom = 40 + high * len(words) + 46
        below = left_note(
            "All three have read the same three sentences, and this one is new. A bar is the surprise at "
            "a word, −log₂ of its chance.",
            320,
        )
        return over(326, bottom + below.height, marks, (below, 0, bottom))

    costs = "; ".join(
        f"who {READERS[order]} needs {sums[order][0]:.0f} bits, {sums[order][1]:.2f} a byte" for order in sums
    )
    draw(
        lambda narrow: phone() if narrow else wide(),
        alt=f"The text “{TEXT}” and bars for the bits that each of its {len(words)} words costs "
        f"three readers who have read the same three sentences: {costs}.",
    )
