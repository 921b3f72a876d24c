"""The ill models that `checkup` is held against: is each fault one, and does it show?"""

import copy
import math
import re
import sys
from collections import Counter
from functools import partial

import pytest
import torch
from faulty_models import FAULTS, faulty, healthy
from faulty_models.families import FAMILIES, TRANSLATORS
from faulty_models.kinds import INQUIRIES, ROOTS, Change, Fault
from torch import Tensor, nn
from torch.nn import functional as F

Batch = tuple[Tensor, ...]
LEAST = 1e-3  # far above rounding: equal models differ by 1e-5 at most


def difference(ours: Tensor | None, theirs: Tensor | None) -> float:
    """The largest between two logits, as a share of their spread; infinite where one can't be compared.

    None stands for a model that raised.
    """
    if ours is None or theirs is None:
        return 0.0 if ours is theirs else math.inf
    ours, theirs = ours.double(), theirs.double()
    if ours.shape != theirs.shape or not ours.isfinite().all() or not theirs.isfinite().all():
        return math.inf
    return ((ours - theirs).abs().max() / theirs.std()).item()


def logits_of(model: nn.Module, batch: Batch) -> Tensor | None:
    with torch.no_grad():
        try:
            return model.eval()(*batch)
        except (RuntimeError, ValueError):
            return None


def finite_logits(model: nn.Module, batch: Batch) -> Tensor:
    logits = logits_of(model, batch)
    assert logits is not None
    assert logits.isfinite().all()
    return logits


def of_equal_weights(model: nn.Module, like: nn.Module) -> nn.Module:
    """The faulty model with the healthy one's weights, as far as it has such."""
    weights = model.state_dict()
    fitting = {
        name: weight
        for name, weight in like.state_dict().items()
        if name in weights and weights[name].shape == weight.shape
    }
    model.load_state_dict(fitting, strict=False)
    return model


def at_their_start(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    return difference(logits_of(model, batch), logits_of(like, batch))


def with_equal_weights(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    return at_their_start(of_equal_weights(model, like), like, batch)


def between_two_runs(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    """In evaluation; the healthy model has none."""
    assert difference(logits_of(like, batch), logits_of(like, batch)) == 0
    return difference(logits_of(model, batch), logits_of(model, batch))


def gradients(model: nn.Module, batch: Batch) -> dict[str, Tensor]:
    """In evaluation, so that nothing is drawn; none at all counts as zeros."""
    model.eval()
    loss = F.cross_entropy(model(*batch)[:, :-1].flatten(0, 1), batch[-1][:, 1:].flatten())
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    found = iter(torch.autograd.grad(loss, weights, allow_unused=True, materialize_grads=True))
    return {
        name: next(found) if weight.requires_grad else torch.zeros_like(weight)
        for name, weight in model.named_parameters()
    }


def in_gradients(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    ours, theirs = gradients(of_equal_weights(model, like), batch), gradients(like, batch)
    assert ours.keys() == theirs.keys()
    return max(difference(ours[name], theirs[name]) for name in theirs)


def in_parameters(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    """How many are missing, or are one with another."""
    return len([*like.parameters()]) - len([*model.parameters()])


def in_half_precision(dtype: torch.dtype, model: nn.Module, like: nn.Module, batch: Batch) -> float:
    """In full precision both say the same."""
    assert with_equal_weights(model, like, batch) < 1e-4
    theirs = finite_logits(copy.deepcopy(like).to(dtype), batch)
    ours = logits_of(copy.deepcopy(model).to(dtype), batch)
    return math.inf if ours is not None and ours.dtype != dtype else difference(ours, theirs)


def with_large_weights(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    """As they are both say the same; with weights thirty times as large the healthy one's are finite."""
    assert with_equal_weights(model, like, batch) < 1e-4
    for each in (model, like):
        for weight in each.parameters():
            weight.data *= 30
    return difference(logits_of(model, batch), finite_logits(like, batch))


def where_word_0_stands(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    batch = (*batch[:-1], batch[-1].index_fill(1, torch.tensor([2]), 0))
    finite_logits(like, batch)
    ours = logits_of(model, batch)
    return math.inf if ours is None or not ours.isfinite().all() else 0.0


def in_parts(model: nn.Module, batch: Batch) -> Tensor | None:
    """The logits of a text that is read in three parts, with a cache."""
    (ids,) = batch
    # The model's own kind of cache, which may have the fault.
    own = type(model).forward.__globals__["Cache"]
    caches = model.caches() if hasattr(model, "caches") else [own() for _ in model.blocks]
    parts = [logits_of(model, (part, caches)) for part in ids.split([4, 3, ids.shape[1] - 7], dim=1)]
    return None if any(part is None for part in parts) else torch.cat(parts, dim=1)


def with_a_cache(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    """Without a cache both say the same, and the healthy one with a cache, too."""
    assert with_equal_weights(model, like, batch) < 1e-4
    theirs = logits_of(like, batch)
    assert difference(in_parts(like, batch), theirs) < 1e-4
    return difference(in_parts(model, batch), theirs)


# By what a fault shows: how far the faulty model is from the healthy one of its family.
MEASURES = {
    "logits": with_equal_weights,
    "start": at_their_start,
    "two runs": between_two_runs,
    "gradients": in_gradients,
    "parameters": in_parameters,
    "half precision": partial(in_half_precision, torch.float16),
    "bfloat16": partial(in_half_precision, torch.bfloat16),
    "large numbers": with_large_weights,
    "word 0": where_word_0_stands,
    "cache": with_a_cache,
}


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES)
def test_a_healthy_model_of_a_family_does_not_differ_from_another(family):
    for shows, measure in MEASURES.items():
        if shows == "cache" and family not in ("LanguageModel", "Today"):
            continue
        if shows in ("half precision", "large numbers") and family in ("Bahdanau", "Luong"):
            continue
        (model, batch), (like, _) = healthy(family), healthy(family)
        assert measure(model, like, batch) < 1e-4, shows


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_shows(fault: Fault):
    """That its text stands in one place, `Change.made` sees to."""
    torch.manual_seed(0)
    assert all(change.old != change.new for change in fault.changes)
    model, batch = faulty(fault)
    assert model.training
    like, _ = healthy(fault.model)
    assert MEASURES[fault.shows](model, like, batch) > LEAST


def test_faults_have_a_name_each_and_a_line_of_inquiry():
    assert len(FAULTS) >= 226
    assert {*Counter(map(str, FAULTS)).values()} == {1}
    assert {fault.inquiries[0] for fault in FAULTS} == {*INQUIRIES}
    assert {each for fault in FAULTS for each in fault.inquiries} == {*INQUIRIES}
    assert {fault.model for fault in FAULTS} == {*FAMILIES}


def test_where_a_fault_sits_is_a_part_of_its_model():
    """Of the healthy one: a fault may take the part away."""
    names = {family: [name for name, _ in healthy(family)[0].named_modules()] for family in FAMILIES}
    for fault in FAULTS:
        if fault.where is not None:
            sits_in = [name for name in names[fault.model] if re.fullmatch(fault.where, name)]
            assert sits_in, str(fault)
            assert "" not in sits_in, str(fault)


def test_nothing_of_the_book_stays_changed():
    """Neither the modules nor what they hold: a fault lives in modules that nobody else can import."""
    healthy("Bahdanau")  # so that all are there
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ROOTS}
    held = {name: dict(vars(module)) for name, module in before.items()}
    path = [*sys.meta_path]
    for fault in {fault.changes[0].file: fault for fault in FAULTS}.values():
        model, _ = faulty(fault)
        assert type(model) is not type(healthy(fault.model)[0])
    raises = Change("attnlab/attention.py", "def attend(", "1 / 0 =")  # when it is imported
    with pytest.raises(SyntaxError):
        faulty(Fault("Bahdanau", "no Python", ("sight",), None, (raises,), "logits"))
    after = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ROOTS}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    assert all(dict(vars(module)) == held[name] for name, module in after.items())
    assert sys.meta_path == path
    assert sys.modules["attnlab"].transformer is sys.modules["attnlab.transformer"]
    assert TRANSLATORS in after
