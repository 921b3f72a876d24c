"""Whether `checkup` finds what the chapter says it finds: each planted fault, each healthy model.

`make test` tries a few healthy models, `.ci/run` all of them, and one fault in eight of each family.
"""

import math
import re
from collections import Counter
from functools import cache

import pytest
import torch
from faulty_models import FAULTS, faulty, further, healthy, options
from faulty_models.families import FAMILIES
from faulty_models.kinds import INQUIRIES, SOURCE, Fault
from healthy_models import HEALTHY
from tiers import left_to
from torch import Tensor, nn
from torch.nn import functional as F

from chapters.the_repair_shop import held
from checkup import Finding, checkup

NO_HURRY = 300.0  # seconds: what time cuts short is no matter here
MISSED = {(one.family, one.fault) for one in held.MISSED}
AFTER = {str(fault) for fault in further.FAULTS}


@cache
def found_in(fault: Fault) -> tuple[Finding, ...]:
    """The healthy models of all families are without findings: see below."""
    model, batch = faulty(fault)
    return tuple(checkup(model, batch, seconds=NO_HURRY, **options(fault)).findings)


def right(fault: Fault, finding: Finding) -> tuple[bool, bool]:
    """Whether the line of inquiry is, and whether the layer is."""
    in_layer = fault.where is not None and re.fullmatch(fault.where, finding.where) is not None
    return finding.inquiry in fault.inquiries, in_layer


def is_named_by_both(fault: Fault) -> bool:
    """A finding without a layer is of the whole model: then its line of inquiry must be right."""
    found = [right(fault, one) for one in found_in(fault)]
    return any(line and (layer or fault.where is None) for line, layer in found)


def of(family: str) -> list[Fault]:
    return [fault for fault in FAULTS if fault.model == family]


EIGHTH = [fault for family in FAMILIES for fault in of(family)[::8]]


@pytest.mark.thorough
@pytest.mark.parametrize("fault", left_to(pytest.mark.weekly, FAULTS, but=EIGHTH), ids=str)
def test_a_fault_is_found_and_named_unless_the_chapter_says_otherwise(fault: Fault):
    place = (fault.model, fault.name)
    found = found_in(fault)
    assert bool(found) == (place not in MISSED), found
    named = any(any(right(fault, one)) for one in found)
    assert named == (place not in MISSED | {*held.ELSEWHERE}), found


@pytest.mark.weekly
@pytest.mark.parametrize("family", FAMILIES)
def test_both_layer_and_line_are_as_often_right_as_the_chapter_says(family: str):
    assert sum(map(is_named_by_both, of(family))) == held.BOTH[family]


def counted(faults: list[Fault]) -> held.Held:
    found = [fault for fault in faults if (fault.model, fault.name) not in MISSED]
    named = [fault for fault in found if (fault.model, fault.name) not in held.ELSEWHERE]
    return held.Held(len(faults), len(found), len(named))


def test_the_counts_follow_from_the_lists():
    assert {family: counted(of(family)) for family in FAMILIES} == held.HELD
    assert counted([fault for fault in FAULTS if str(fault) in AFTER]) == held.AFTER
    known = {(fault.model, fault.name) for fault in FAULTS}
    assert len(MISSED) == len(held.MISSED)
    assert MISSED | {*held.ELSEWHERE} <= known
    assert all(one.why for one in held.MISSED)


AT_ONCE = ["a GPT", "the model of today in bfloat16", "a decoder alone, with learned positions"]
AT_ONCE += ["a Transformer with its norms behind", "nn.TransformerEncoder, norms first"]
OTHERS = [name for name in HEALTHY if name not in AT_ONCE]


@pytest.mark.parametrize(
    "name",
    [
        *AT_ONCE,
        *(pytest.param(name, marks=pytest.mark.thorough) for name in OTHERS[::4]),
        *(pytest.param(name, marks=pytest.mark.weekly) for place, name in enumerate(OTHERS) if place % 4),
    ],
)
def test_nothing_is_found_in_a_healthy_model(name: str):
    torch.manual_seed(0)
    model, batch, more = HEALTHY[name]()
    report = checkup(model, batch, seconds=NO_HURRY, **more)
    assert bool(report.findings) == (name in held.FALSE_ALARMS), report
    assert not [tried for tried in report.tried if "could not be tried" in tried.seen], report


def test_all_healthy_models_are_counted():
    assert len(HEALTHY) == held.HEALTHY
    assert {*held.FALSE_ALARMS} <= {*HEALTHY}


# ---- whether a fault is one: where the tool finds nothing, it is asked here ----

Batch = tuple[Tensor, ...]
LEAST = 1e-3  # far above rounding: equal models differ by 1e-5 at most


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
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if (fault.model, fault.name) in MISSED], ids=str)
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
