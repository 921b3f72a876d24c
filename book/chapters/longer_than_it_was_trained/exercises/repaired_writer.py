"""Repair a writer whose words stand at the wrong places, and whose cache outlives its text."""

import torch

from attnlab.today.model import Today
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.longer_than_it_was_trained.exercises.repaired_writer_mistakes import MISTAKES
from chapters.longer_than_it_was_trained.exercises.repaired_writer_parts import CACHED, _written, by_cache


def _case(label: str, seed: int, texts: int, length: int, count: int) -> Case:
    """With a model of random weights, so large that each word hangs on all before it, and on its place."""
    torch.manual_seed(seed)
    model = Today(24, d_model=16, heads=2, groups=1, hidden=32, layers=2, longest=64, spread=0.5).eval()
    source = torch.Generator().manual_seed(seed)
    return Case(label, model, torch.randint(24, (texts, length), generator=source, device="cpu"), count)


with torch.random.fork_rng(devices=[]):
    CASES = (
        _case("the first word of a text is right", 1, 1, 5, 1),
        _case("the words behind it are right", 8, 1, 4, 8),
        _case("so is the first word of a second text", 3, 3, 4, 1),
        _case("does all of this", 11, 3, 4, 8),
    )

check_repaired_writer = Exercise(
    "repaired_writer",
    difficulty=3,
    minutes=25,
    takes=("model", "texts", "count"),
    returns=("written", "read"),
    reference=_written,
    ask=by_cache,
    meanings={"read": CACHED},
    cases=CASES,
    mistakes=MISTAKES,
    trainable=False,
)
