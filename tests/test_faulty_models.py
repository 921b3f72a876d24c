"""The ill models that `checkup` is held against. What it finds in one shows that something is wrong.

Where it finds nothing it is asked here whether a fault is one.
"""

import math
import re
import sys
from collections import Counter

import pytest
import torch
from faulty_models import FAULTS, faulty, healthy
from faulty_models.families import FAMILIES, TRANSLATORS
from faulty_models.kinds import INQUIRIES, ROOTS, SOURCE, Change, Fault
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
@pytest.mark.parametrize("family", FAMILIES)
def test_a_healthy_model_of_a_family_does_not_differ_from_another(family):
    (model, batch), (like, _) = healthy(family), healthy(family)
    assert max(differences(model, like, batch).values()) < 1e-4


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


def test_where_a_fault_sits_is_a_part_of_its_model():
    """Of the healthy one: a fault may take the part away."""
    names = {family: [name for name, _ in healthy(family)[0].named_modules()] for family in FAMILIES}
    for fault in FAULTS:
        if fault.where is not None:
            sits_in = [name for name in names[fault.model] if re.fullmatch(fault.where, name)]
            assert sits_in, str(fault)
            assert "" not in sits_in, str(fault)


def of_the_book() -> dict[str, object]:
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ROOTS}


def test_nothing_of_the_book_stays_changed():
    """Neither the modules nor what they hold: a fault lives in modules that nobody else can import."""
    healthy("Bahdanau")  # so that all are there
    before = of_the_book()
    held = {name: dict(vars(module)) for name, module in before.items()}
    for fault in {fault.changes[0].file: fault for fault in FAULTS}.values():
        model, _ = faulty(fault)
        assert type(model) is not type(healthy(fault.model)[0])
    raises = Change("attnlab/attention.py", "def attend(", "1 / 0 =")  # when it is imported
    with pytest.raises(SyntaxError):
        faulty(Fault("Bahdanau", "no Python", ("sight",), None, (raises,)))
    after = of_the_book()
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    assert all(dict(vars(module)) == held[name] for name, module in after.items())
    assert sys.modules["attnlab"].transformer is sys.modules["attnlab.transformer"]
    assert TRANSLATORS in after
