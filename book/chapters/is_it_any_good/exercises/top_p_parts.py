"""What `check_top_p` asks with, in parts that can be mistaken."""

from torch import Tensor

from bookkit.checking.mistakes import Part


def _not_enough_before(ordered: Tensor, p: float) -> Tensor:
    """What stays of chances in falling order: each before which there is not yet enough."""
    return ordered.cumsum(-1) - ordered < p


def _in_place(ordered: Tensor, places: Tensor) -> Tensor:
    return ordered.gather(-1, places.argsort(-1))


def _nucleus(
    logits: Tensor,
    temperature: float,
    p: float,
    *,
    shares: Part = lambda logits, temperature: (logits / temperature).softmax(-1),
    stays: Part = _not_enough_before,
    falling: bool = True,
    left: Part = lambda ordered, kept: ordered * kept,
    back: Part = _in_place,
    scaled: Part = lambda left: left / left.sum(-1, keepdim=True),
) -> Tensor:
    ordered, places = shares(logits, temperature).sort(dim=-1, descending=falling, stable=True)
    chances: Tensor = back(scaled(left(ordered, stays(ordered, p))), places)
    return chances
