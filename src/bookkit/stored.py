"""Numbers that take too long to measure at every run, beside what measures them."""

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

ANEW = "ATTNLAB_ANEW"  # set to 1, it has all of them measured
OF_OTHER_WEIGHTS = "of other weights"  # set to this, too, and none compared: for models trained afresh


class StoredError(AssertionError):
    """What is stored is not what is measured."""


def stored(numbers: Any, measure: Callable[[], Any], *, within: float) -> Tensor:
    """`stored(0.98, lambda: trained(heads=8).min(), within=0.02)` is 0.98, and nothing is trained.

    Where ATTNLAB_ANEW is 1 it is measured: it must come so near to what is stored, and comes back itself.
    `make refresh` sets that when the code of the chapter has changed, and `make test-variants` at each push.
    """
    expected = torch.as_tensor(numbers, dtype=torch.float64)
    wanted = os.environ.get(ANEW, "")
    if wanted not in ("1", OF_OTHER_WEIGHTS):
        return expected
    with torch.random.fork_rng():  # what comes after draws the same numbers in either case
        measured = torch.as_tensor(measure()).detach().to(expected)
    if wanted == OF_OTHER_WEIGHTS:
        return measured
    if measured.shape != expected.shape or not (measured - expected).abs().max() <= within:
        raise StoredError(f"Stored are {numbers}; measured anew they are {measured.tolist()}.")
    return measured
