"""What `check_out_of_the_band` measures on a reader's curves, and what it says of them."""

import math
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnlab.runtime import generator
from chapters.fourteen_patients.training import Training

SEEDS, UPDATES, IN_A_ROW = 5, 15, 10
LOOKED_AT = 6  # updates of the first of them
MOST = 8  # seeds whose beginning is looked at: each takes a part of a second
# The mean correlation of the ups and downs of two curves of one seed, over 15 updates of this page's
# training: 0.62 (a rate ten times too low) to 0.94 (half the rate); 0.64 for means of unequal parts, 0.76 for
# a rate ten times too high. Of curves of other seeds it is about 0, and the mean of five such is off by some
# 0.11: one in ten passes as pairs, which is better than to refuse pairs.
PAIRED = 0.15
OF_ANOTHER = 0.5  # of those that are each another row's
KEYS = ("seeds", "healthy", "ill", "leaves", "told")

SAID = {
    "too few seeds": f"Fewer than {SEEDS} seeds. Four healthy curves that lie together are still luck.",
    "one seed many times": (
        "Two healthy curves are the same. Give each training a seed of its own: `Training(seed)`."
    ),
    "healthy and ill exchanged": (
        "What is handed over as `ill` is this page's training, untouched. Have `healthy` and `ill` changed "
        "places?"
    ),
    "too few updates": (
        f"Fewer than {UPDATES} updates. Whether {IN_A_ROW} in a row lie outside can't be seen in so few."
    ),
    "not this training": (
        "The healthy curves don't begin as this page's do: `Training(seed)`, untouched, and `update()` "
        "again and again. Its `losses` hold each update's loss, from the first on."
    ),
    "nothing planted": "An ill curve is its healthy one, number for number: nothing was planted.",
    "pairs in another order": (
        "The ups and downs of an ill curve are those of another row's healthy one. Keep the rows of `ill` "
        "in the order of `seeds`."
    ),
    "not paired": (
        "Ill and healthy curves of a row have no ups and downs in common. Give both the same seed: then "
        "they read the same batches."
    ),
    "never leaves": (
        f"`leaves` is a number, but never do all ill curves lie outside the band, on one side, {IN_A_ROW} "
        "updates in a row. Then the answer is None: that is a result, too."
    ),
    "leaves after all": "`leaves` is None, but all ill curves do leave the band for ten updates in a row.",
    "never told": (
        f"`told` is a number, but never do all pairs differ to the same side for {IN_A_ROW} updates in a row."
    ),
    "told after all": "`told` is None, but all pairs do differ to the same side for ten updates in a row.",
    "one update is no row": (
        f"At `leaves` all ill curves are outside, but not for {IN_A_ROW} updates in a row from there. One "
        "alone can be luck."
    ),
    "one difference is no row": (
        f"At `told` all pairs differ to the same side, but not for {IN_A_ROW} updates in a row from there."
    ),
    "counted from 1": "Both numbers are one too large: the first update is number 0.",
    "end of the row": (
        "`leaves` is where ten updates in a row have been outside. Asked for is where the ten begin."
    ),
    "the mean alone": (
        "At `leaves` the *mean* of the ill curves is outside the band, and not yet each curve. A mean of "
        "five moves less than a single one."
    ),
    "pairs for the band": (
        "`leaves` is where the pairs can be told. The band takes no notice of pairs: all ill losses must be "
        "above its highest, or all below its lowest."
    ),
    "band for the pairs": (
        "`told` is where the band is left. Pairs tell it earlier: take each ill curve minus its own healthy "
        "one, and look when all are on one side of 0."
    ),
    "leaves too early": "At `leaves`, some ill curve is still within the band of the healthy ones.",
    "leaves too late": "The ill curves have left the band before the update that you give as `leaves`.",
    "told too early": "At `told`, the pairs do not all differ to the same side yet.",
    "told too late": "The pairs differ to the same side before the update that you give as `told`.",
}


class Curves(NamedTuple):
    """`Curves((0, 1), healthy, ill, leaves=26, told=16)`: losses (seeds, updates), and two updates."""

    seeds: tuple[int, ...]
    healthy: Tensor
    ill: Tensor
    leaves: int | None
    told: int | None


def outside(healthy: Tensor, ill: Tensor) -> Tensor:
    """`outside(healthy, ill)[0]` is True where all ill losses are above all healthy ones, `[1]` below."""
    above = (ill > healthy.amax(0)) | ill.isnan()
    return torch.stack([above.all(0), (ill < healthy.amin(0)).all(0)])  # (2, updates)


def apart(healthy: Tensor, ill: Tensor) -> Tensor:
    """`apart(healthy, ill)[0]` is True where each ill loss lies above its own twin's, `[1]` where below."""
    above = (ill > healthy) | ill.isnan()
    return torch.stack([above.all(0), (ill < healthy).all(0)])  # (2, updates)


def first_row(holds: Tensor) -> int | None:
    """`first_row(outside(healthy, ill))` is where ten in a row, on one side, begin for the first time."""
    rows = holds.unfold(1, IN_A_ROW, 1).all(2).any(0)
    return int(rows.int().argmax()) if rows.any() else None


def in_common(healthy: Tensor, ill: Tensor) -> Tensor:
    """`in_common(healthy, ill)[i, j]` is how the ups and downs of two curves are correlated."""

    def ups_and_downs(curves: Tensor) -> Tensor:
        steps = curves.diff(dim=1)
        steps = steps - steps.mean(0)  # what all seeds do together is no dice's
        alike: Tensor = steps / steps.norm(dim=1, keepdim=True).clamp(min=1e-9)
        return alike

    finite = int(ill.isfinite().all(0).int().cumprod(0).sum())
    common: Tensor = ups_and_downs(healthy[:, :finite]) @ ups_and_downs(ill[:, :finite]).T
    return common


@cache
def first_losses(seed: int, updates: int = 1) -> list[float]:
    """`first_losses(0)` is what this page's training begins with."""
    with torch.random.fork_rng(devices=[]):
        training = Training(seed)
        for _ in range(updates):
            training.update()
    return training.losses


@cache
def example() -> Curves:
    """`example()` are curves as such a training might give: they begin as it does."""
    seeds, updates = tuple(range(SEEDS)), 40
    source = generator(3)
    start = torch.tensor([first_losses(seed) for seed in seeds], device="cpu").double()
    place = torch.arange(updates, device="cpu").double()
    dice = 0.06 * torch.randn(SEEDS, updates, generator=source, device="cpu").double()
    own = 0.004 * torch.randn(SEEDS, updates, generator=source, device="cpu").double()
    dice[:, 0] = own[:, 0] = 0
    healthy = start - 2 + 2 * (-place / 12).exp() + dice
    ill = healthy + own + 0.02 * (place - 6).clamp(min=0)
    return with_right_numbers(Curves(seeds, healthy, ill, None, None))


def with_right_numbers(curves: Curves) -> Curves:
    """`with_right_numbers(curves)` has the two updates that follow from its curves."""
    return curves._replace(
        leaves=first_row(outside(curves.healthy, curves.ill)),
        told=first_row(apart(curves.healthy, curves.ill)),
    )


class Wrong(NamedTuple):
    """`wrong(curves).pairs` is the name of what is wrong with them, "" where nothing is."""

    curves: str = ""
    pairs: str = ""
    leaves: str = ""
    told: str = ""


def wrong(curves: Curves) -> Wrong:
    """`wrong(curves)` names what is wrong: with the curves, else with their pairs, else with the numbers."""
    if name := _of_curves(curves):
        return Wrong(curves=name)
    if name := _of_pairs(curves):
        return Wrong(pairs=name)
    right = with_right_numbers(curves)
    numbers = [(curves.leaves, right.leaves), (curves.told, right.told)]
    if all(given is not None and due is not None and given == due + 1 for given, due in numbers):
        return Wrong(leaves="counted from 1", told="counted from 1")
    return Wrong(leaves=_leaves(curves, right), told=_told(curves, right))


def _of_curves(curves: Curves) -> str:
    healthy, ill = curves.healthy, curves.ill
    if len(healthy) < SEEDS:
        return "too few seeds"
    if len(set(curves.seeds)) < len(curves.seeds) or len({*map(tuple, healthy.tolist())}) < len(healthy):
        return "one seed many times"
    if healthy.shape[1] < UPDATES:
        return "too few updates"
    ours = torch.tensor(first_losses(curves.seeds[0], LOOKED_AT), dtype=healthy.dtype, device="cpu")
    if [torch.allclose(each[0, :LOOKED_AT], ours, rtol=1e-3) for each in (healthy, ill)] == [False, True]:
        return "healthy and ill exchanged"
    begun = zip(curves.seeds[:MOST], healthy[:, 0].tolist(), strict=False)
    if not all(math.isclose(loss, *first_losses(seed), rel_tol=1e-3) for seed, loss in begun):
        return "not this training"
    return "nothing planted" if (healthy == ill).all(1).any() else ""


def _of_pairs(curves: Curves) -> str:
    if not curves.ill[:, :IN_A_ROW].isfinite().all():
        return ""  # too little is left in which dice could show
    common = in_common(curves.healthy, curves.ill)
    if common.diagonal().mean() >= PAIRED:
        return ""
    return "pairs in another order" if common.amax(1).mean() > OF_ANOTHER else "not paired"


def _leaves(curves: Curves, right: Curves) -> str:
    given, due = curves.leaves, right.leaves
    if given == due:
        return ""
    if given is None or due is None:
        return "leaves after all" if given is None else "never leaves"
    if given > due:
        return "end of the row" if given == due + IN_A_ROW - 1 else "leaves too late"
    if given == right.told:
        return "pairs for the band"
    if bool(outside(curves.healthy, curves.ill)[:, given].any()):
        return "one update is no row"
    mean = curves.ill.mean(0, keepdim=True)
    return "the mean alone" if given == first_row(outside(curves.healthy, mean)) else "leaves too early"


def _told(curves: Curves, right: Curves) -> str:
    given, due = curves.told, right.told
    if given == due:
        return ""
    if given is None or due is None:
        return "told after all" if given is None else "never told"
    if given > due:
        return "band for the pairs" if given == right.leaves else "told too late"
    alone = bool(apart(curves.healthy, curves.ill)[:, given].any())
    return "one difference is no row" if alone else "told too early"


def complaint(answer: Any) -> str:
    """`complaint(answer)` says why this can't be read as curves; "" where it can."""
    if type(answer) is not dict or set(answer) != set(KEYS):
        return f"Return a dictionary with the keys {', '.join(KEYS)}."
    try:
        shapes = [tuple(torch.as_tensor(answer[name], device="cpu").shape) for name in ("healthy", "ill")]
        seeds = [int(seed) for seed in answer["seeds"]]
    except (TypeError, ValueError, RuntimeError):
        return "`healthy` and `ill` are tensors (seeds, updates), and `seeds` their seeds, whole numbers."
    if len(shapes[0]) != 2 or shapes[0] != shapes[1]:
        return (
            f"`healthy` has shape {shapes[0]} and `ill` {shapes[1]}: both are (seeds, updates), each seed's "
            "own losses, not their mean."
        )
    if not all(0 <= seed < 2**32 for seed in seeds):
        return "A seed is a whole number from 0 to 2 ** 32 - 1."
    if len(seeds) != shapes[0][0]:
        return f"There are {len(seeds)} seeds, and {shapes[0][0]} curves."
    for name in ("leaves", "told"):
        if answer[name] is not None and (isinstance(answer[name], bool) or not isinstance(answer[name], int)):
            return (
                f"`{name}` is the number of an update, counted from 0, or None where it never comes to that."
            )
        if answer[name] is not None and not 0 <= answer[name] < shapes[0][1]:
            return f"`{name}` is {answer[name]}: there are updates 0 to {shapes[0][1] - 1}."
    if not torch.as_tensor(answer["healthy"]).isfinite().all():
        return "A healthy loss is no finite number."
    return ""


def read(answer: dict[str, Any]) -> Curves:
    """`read({"seeds": …})` are the reader's curves, as numbers of our own."""
    healthy, ill = (
        torch.as_tensor(answer[name], device="cpu").detach().double() for name in ("healthy", "ill")
    )
    return Curves(tuple(map(int, answer["seeds"])), healthy, ill, answer["leaves"], answer["told"])
