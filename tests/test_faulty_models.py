"""The ill models that `checkup` is held against. What it finds in one shows that something is wrong.

Where it finds nothing it is asked here whether a fault is one.
"""

import math
from collections import Counter

import pytest
import torch
from faulty_models import FAULTS, faulty, healthy
from faulty_models.kinds import INQUIRIES, SOURCE, Fault
from torch import Tensor, nn
from torch.nn import functional as F

from chapters.the_repair_shop import held

Batch = tuple[Tensor, ...]
LEAST = 1e-3  # far above rounding: equal models differ by 1e-5 at most
MISSED = {f"{one.family}: {one.fault}" for one in held.MISSED}


def difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest between two tensors, as a share of the spread of theirs, which are finite."""
    assert theirs.isfinite().all()
    apart = (ours - theirs).abs().max() / theirs.std()
    return apart.item() if ours.isfinite().all() else math.inf


def gradients(model: nn.Module, batch: Batch) -> dict[str, Tensor]:
    """None at all counts as zeros."""
    loss = F.cross_entropy(model(*batch)[:, :-1].flatten(0, 1), batch[-1][:, 1:].flatten())
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    found = iter(torch.autograd.grad(loss, weights, allow_unused=True, materialize_grads=True))
    return {
        name: next(found) if weight.requires_grad else torch.zeros_like(weight)
        for name, weight in model.named_parameters()
    }


def differences(model: nn.Module, like: nn.Module, batch: Batch) -> dict[str, float]:
    """In evaluation, so that nothing is drawn."""
    model.eval()
    like.eval()
    found = {"start": difference(model(*batch), like(*batch))}
    model.load_state_dict(like.state_dict(), strict=False)
    found["equal weights"] = difference(model(*batch), like(*batch))
    ours, theirs = gradients(model, batch), gradients(like, batch)
    found["gradients"] = max(difference(ours[name], theirs[name]) for name in theirs if theirs[name].any())
    for weight in [*model.parameters(), *like.parameters()]:
        weight.data *= 30
    found["large weights"] = difference(model(*batch), like(*batch))
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if str(fault) in MISSED], ids=str)
def test_a_fault_that_is_missed_shows(fault: Fault):
    model, batch = faulty(fault)
    like, _ = healthy(fault.model)
    found = differences(model, like, batch)
    assert max(found.values()) > LEAST, found


@pytest.mark.thorough
def test_each_fault_can_be_planted_in_the_book_as_it_is():
    for fault in FAULTS:
        texts: dict[str, str] = {}
        for change in fault.changes:
            before = texts.get(change.file) or (SOURCE / change.file).read_text("utf-8")
            texts[change.file] = change.made(before)
            assert texts[change.file] != before, str(fault)
        for text in texts.values():
            compile(text, str(fault), "exec")


def test_faults_have_a_name_each_and_a_line_of_inquiry():
    assert {*Counter(map(str, FAULTS)).values()} == {1}
    assert {fault.inquiries[0] for fault in FAULTS} == {*INQUIRIES}
    assert {each for fault in FAULTS for each in fault.inquiries} == {*INQUIRIES}
