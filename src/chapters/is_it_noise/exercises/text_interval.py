"""An interval for the difference of two models, from texts that are drawn again."""

import torch
from torch import Tensor

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts, swapped


def _of_texts(bits: Tensor, text: Tensor, count: int) -> Tensor:
    """The bits of each text, (texts,)."""
    return torch.zeros(count, dtype=bits.dtype, device=bits.device).index_add(0, text, bits)


def _a_byte(bits: Tensor, size: Tensor, draws: Tensor) -> Tensor:
    """Bits a byte of each draw, (times,)."""
    return bits[draws].sum(1) / size[draws].sum(1)


def _ends(found: Tensor) -> tuple[Tensor, Tensor]:
    return found.quantile(0.025), found.quantile(0.975)


def _interval(
    first: Tensor,
    second: Tensor,
    text: Tensor,
    size: Tensor,
    draws: Tensor,
    *,
    summed: Part = _of_texts,
    again: Part = lambda draws: draws,
    ratio: Part = _a_byte,
    joined: Part = lambda first, second: second - first,
    ends: Part = _ends,
) -> tuple[Tensor, Tensor]:
    """The middle 95 % of what draws of texts say of second minus first, in bits a byte."""
    ours, theirs = (summed(bits, text, len(size)) for bits in (first, second))
    found = joined(ratio(ours, size, draws), ratio(theirs, size, again(draws)))
    low, high = ends(found)
    return low, high


def _pieces_drawn(
    first: Tensor, second: Tensor, text: Tensor, size: Tensor, draws: Tensor
) -> tuple[Tensor, Tensor]:
    apart = second - first
    return _ends(apart[draws].sum(1) / size[text][draws].sum(1))


def _mean_pieces(
    first: Tensor, second: Tensor, text: Tensor, size: Tensor, draws: Tensor
) -> tuple[Tensor, Tensor]:
    return _ends((second - first)[draws].mean(1))


def _each_text_once(
    first: Tensor, second: Tensor, text: Tensor, size: Tensor, draws: Tensor
) -> tuple[Tensor, Tensor]:
    apart = _of_texts(second - first, text, len(size))
    return _ends(torch.stack([apart[each].sum() / size[each].sum() for each in map(torch.unique, draws)]))


def _ends_of_two(
    first: Tensor, second: Tensor, text: Tensor, size: Tensor, draws: Tensor
) -> tuple[Tensor, Tensor]:
    both = (_ends(_a_byte(_of_texts(bits, text, len(size)), size, draws)) for bits in (first, second))
    (low, high), (other_low, other_high) = both
    return other_low - low, other_high - high


def _by_pieces(bits: Tensor, text: Tensor, count: int) -> Tensor:
    return _of_texts(bits, text, count) / torch.bincount(text, minlength=count)


MISTAKES: Mistakes = (
    in_parts(
        _interval,
        summed={
            "a mean for each text": (
                "You take the mean over a text's pieces. Bits a byte are all bits by all bytes: sum them up.",
                _by_pieces,
            ),
            "one piece of each text": (
                "`sums[text] += bits` keeps one piece of each text: an index that comes twice is written "
                "twice, not added to. `index_add` adds.",
                lambda bits, text, count: torch.zeros(count, dtype=bits.dtype).index_put((text,), bits),
            ),
            "no place for texts without pieces": (
                "The last text has no pieces, and no place in your sums. `bincount` wants "
                "`minlength=len(size)`, to count it as 0.",
                lambda bits, text, count: torch.bincount(text, weights=bits),
            ),
        },
        again={
            "not paired": (
                "The second model is asked on other texts than the first: hard texts then come to one of "
                "them alone. Use the same draw for both.",
                lambda draws: draws.roll(1, 0),
            ),
            "the second model not drawn": (
                "The second model is judged on all texts as they are, and the first on those drawn. Draw "
                "for both.",
                lambda draws: torch.arange(draws.shape[1], device=draws.device).expand_as(draws),
            ),
        },
        ratio={
            "a mean of ratios": (
                "You take each text's bits a byte, and then their mean: a short text weighs as much as a "
                "long one. Divide the sum of the bits by the sum of the bytes.",
                lambda bits, size, draws: (bits / size)[draws].mean(1),
            ),
            "bytes not drawn": (
                "The bits are those of the texts drawn, the bytes those of all texts. Draw both.",
                lambda bits, size, draws: bits[draws].sum(1) / size.sum(),
            ),
            "bits, not bits a byte": (
                "These are bits. Divide by the bytes of the texts that were drawn.",
                lambda bits, size, draws: bits[draws].sum(1),
            ),
            "bits a text": (
                "You divide by the number of texts. Divide by their bytes.",
                lambda bits, size, draws: bits[draws].mean(1),
            ),
        },
        joined={
            "first minus second": (
                "The sign is turned: asked for is how much more the second needs, `second - first`.",
                lambda first, second: first - second,
            ),
            "the first model alone": (
                "This is an interval for the first model's own bits. Subtract, draw by draw, and then "
                "take ends.",
                lambda first, second: first,
            ),
            "the second model alone": (
                "This is an interval for the second model's own bits. Subtract, draw by draw, and then "
                "take ends.",
                lambda first, second: second,
            ),
        },
        ends={
            "90 %": (
                "From 5 to 95 % lie 90 % of the draws. For 95 % leave out 2.5 % at either end.",
                lambda found: (found.quantile(0.05), found.quantile(0.95)),
            ),
            "spreads around the mean": (
                "You go 1.96 spreads to either side of the mean. Asked for is where the middle 95 % of the "
                "draws end: `quantile`.",
                lambda found: (found.mean() - 1.96 * found.std(), found.mean() + 1.96 * found.std()),
            ),
            "the lowest and the highest": (
                "These are the outermost draws, which move farther apart the more you draw. Take quantiles.",
                lambda found: (found.min(), found.max()),
            ),
            "divided by the draws": (
                "You divide the draws' spread by the root of how many there are. The draws' own spread is "
                "the error; with more draws you only know it better.",
                lambda found: (
                    found.mean() - 1.96 * found.std() / len(found) ** 0.5,
                    found.mean() + 1.96 * found.std() / len(found) ** 0.5,
                ),
            ),
        },
    )
    | {
        "pieces for texts": (
            "`draws` are numbers of texts, and you take the pieces of these numbers. Sum up each text first.",
            _pieces_drawn,
        ),
        "each text once": (
            "A text that was drawn twice counts once with you. `bits[draws]` has it twice.",
            _each_text_once,
        ),
        "the ends of two intervals": (
            "You make an interval for each model and subtract their ends, which come from different draws. "
            "Subtract draw by draw, then take ends.",
            _ends_of_two,
        ),
        "the mean of pieces": (
            "You draw pieces, by the numbers of texts, and take their mean. Sum up each text first, then "
            "draw texts.",
            _mean_pieces,
        ),
    }
    | swapped(_interval, "low", "high")
)


def _case(label: str, pieces: list[int], times: int, number: int) -> Case:
    """With texts of so many pieces, some of which are hard, for both models."""
    source = generator(number)
    count = len(pieces)
    text = torch.repeat_interleave(torch.arange(count, device="cpu"), torch.tensor(pieces, device="cpu"))
    hard = torch.rand(count, generator=source, dtype=torch.float64, device="cpu") * 5 + 1
    both = torch.rand(2, len(text), generator=source, dtype=torch.float64, device="cpu")
    bits = hard[text] * (1 + both * torch.tensor([[0.5], [0.9]], dtype=torch.float64, device="cpu"))
    size = 3 * torch.tensor(pieces, device="cpu") + torch.randint(9, (count,), generator=source)
    draws = torch.randint(count, (times, count), generator=source)
    return Case(label, *bits, text, size, draws)


check_text_interval = Exercise(
    "text_interval",
    difficulty=3,
    minutes=25,
    takes=("first", "second", "text", "size", "draws"),
    returns=("low", "high"),
    reference=_interval,
    cases=(
        _case("right for texts of equal length", [4, 4, 4], 20, 1),
        _case("right where the last text has no pieces", [5, 3, 6, 0], 30, 4),
        _case("long texts weigh more", [2, 12, 5, 9], 50, 2),
        _case("right for many texts", [3, 30, 7, 1, 14, 9, 22, 5, 5, 11], 200, 3),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
