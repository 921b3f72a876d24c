"""An experiment: plan a training after which a GRU remembers from afar."""

import math
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.three_ways_to_read_a_sequence.exercises.steps import _step

_BUDGET, _STEPS, _ASKED, _LONGEST = 2400, 300, 48, 100


_MODELS, _LETTERS, _STATE, _BATCH = 3, 8, 16, 16


def _plan(make: Callable[[], Any]) -> list[int]:
    made = returned(make())
    if hasattr(made, "tolist"):  # a tensor, or NumPy's array
        made = made.tolist()
    if not isinstance(made, list | tuple | range) or not all(
        isinstance(each, Integral) and not isinstance(each, bool) for each in made
    ):
        raise WrongTypeError("Return a list of whole numbers: a distance for each step of training.")
    return [int(each) for each in made]


def _texts(distance: int, batch: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    text = torch.randint(_LETTERS, (batch, distance + 1), generator=source, device="cpu")
    marked = text[:, 0].clone()
    text[:, 0] += _LETTERS
    text[:, -1] = 2 * _LETTERS
    return text, marked


def _read(weight: dict[str, Tensor], text: Tensor) -> Tensor:
    """The chapter's GRU, narrower, three starts side by side; scores (models, B, letters)."""
    state = torch.zeros(_MODELS, len(text), _STATE, device="cpu", dtype=torch.float64)
    # What each letter says is the same wherever it stands: multiplied once, and looked up for all places.
    said = weight["letter"] @ weight["word"] + weight["bias"]
    for from_word in said[:, text].unbind(2):
        state = _step(from_word, torch.baddbmm(weight["bias too"], state, weight["state"]), state)
    return state @ weight["answer"]


def _weights() -> dict[str, Tensor]:
    source, bound = torch.Generator("cpu").manual_seed(0), 1 / math.sqrt(_STATE)

    def weight(*shape: int, bound: float = bound) -> Tensor:
        drawn = torch.rand((_MODELS, *shape), generator=source, device="cpu", dtype=torch.float64)
        return (2 * drawn - 1) * bound

    return {
        "letter": weight(2 * _LETTERS + 1, _STATE, bound=math.sqrt(3)),
        "word": weight(_STATE, 3 * _STATE),
        "bias": weight(1, 3 * _STATE),
        "state": weight(_STATE, 3 * _STATE),
        "bias too": weight(1, 3 * _STATE),
        "answer": weight(_STATE, _LETTERS),
    }


def _recalled(distances: Sequence[int]) -> float:
    """The share right, by the middle one of three starts, of letters marked 48 back."""
    weights, source = _weights(), torch.Generator("cpu").manual_seed(1)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more would wait for each other: the products are small
    with torch.enable_grad():
        for weight in weights.values():
            weight.requires_grad_()
        optimizer = torch.optim.Adam(weights.values(), lr=0.02, fused=True)
        for distance in distances:
            text, marked = _texts(distance, _BATCH, source)
            scores = _read(weights, text).flatten(0, 1)
            loss = F.cross_entropy(scores, marked.repeat(_MODELS)) * _MODELS
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    text, marked = _texts(_ASKED, 200, source)
    with torch.no_grad():
        right = (_read(weights, text).argmax(-1) == marked).double().mean(-1)
    torch.set_num_threads(threads)
    return right.median().item()


def _budgeted(distances: Sequence[int]) -> int:
    """1 where the plan keeps to the rules; 0 where it spends too much, 2 for no distance, 3 for no step."""
    if not distances:
        return 3
    if min(distances) < 1 or max(distances) > _LONGEST:
        return 2
    return int(sum(distances) <= _BUDGET and len(distances) <= _STEPS)


def _remembers(make: Callable[[], Sequence[int]], question: str) -> int:
    distances = _plan(make)
    kept = _budgeted(distances)
    if question == "rules":
        return kept
    if kept != 1:
        return 0
    # 1 where it is right. Else what the plan was: 2 short texts, 3 long ones, 4 few steps, 5 others.
    if _recalled(distances) >= 0.8:
        return 1
    if max(distances) < 6:
        return 2
    if min(distances) > 20:
        return 3
    return 4 if len(distances) < 100 else 5


def _mixed(longest: int, budget: int = _BUDGET, shortest: int = 1) -> list[int]:
    source, plan = torch.Generator("cpu").manual_seed(0), list[int]()
    while True:
        drawn = int(torch.randint(shortest, longest + 1, (), generator=source, device="cpu"))
        if sum(plan) + drawn > budget or len(plan) == _STEPS:
            return plan
        plan.append(drawn)


def _plans() -> dict[str, tuple[str, Any]]:
    return {
        "48 alone": (
            "All your texts are long. That leaves few steps, in which next to no gradient arrives from so "
            "far. Where does a gradient arrive?",
            lambda: [_ASKED] * (_BUDGET // _ASKED),
        ),
        "short alone": (
            "All your texts are very short. It learns to look a few letters back; nothing makes it keep a "
            "letter for longer.",
            lambda: [2] * _STEPS,
        ),
        "too few steps": (
            "Your plan has few steps, and most of them at long distances, from which little is learned. "
            "Shorter texts cost less: take more of them.",
            lambda: [1, 60] * (_BUDGET // 61),
        ),
        "over the budget": (
            "Your distances add up to more than 2,400, or there are more than 300 of them.",
            lambda: [24] * 150,
        ),
        "no distance": (
            "A distance is from 1 to 100: at 0 the marked letter would be the question mark itself.",
            lambda: list(range(60)),
        ),
        "nothing": ("There is no step in your plan.", list),
    }


check_remembering = Exercise(
    "remembering",
    difficulty=4,
    minutes=40,
    takes=("question",),
    returns=("answer",),
    reference=lambda: _mixed(16),
    cases=(Case("keeps to the rules", "rules"), Case("remembers over 48 letters", "recalls")),
    mistakes=_plans(),
    trainable=False,
    ask=_remembers,
)
