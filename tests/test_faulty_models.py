"""The models that `attnlab.checkup` is held against: is each fault one, and is each healthy model healthy?"""

import copy
import re
import sys
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from faulty_models import FAULTS, faulty, healthy, options
from faulty_models.families import FAMILIES, TRANSLATORS
from faulty_models.kinds import BOOK, INQUIRIES, ROOTS, Fault
from healthy_models import HEALTHY
from torch import Tensor, nn
from torch.nn import functional as F

Batch = tuple[Tensor, ...]


class Raised:
    """What comes in place of logits where a model raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def logits_of(model: nn.Module, batch: Batch) -> Tensor | Raised:
    with torch.no_grad():
        try:
            return model.eval()(*batch)
        except (RuntimeError, ValueError) as error:
            return Raised(error)


def difference(ours: Tensor | Raised, theirs: Tensor | Raised) -> float:
    """The largest between two logits, as a share of their spread; infinite where one can't be compared."""
    if isinstance(ours, Raised) or isinstance(theirs, Raised):
        return float("inf") * (isinstance(ours, Raised) != isinstance(theirs, Raised))
    ours, theirs = ours.double(), theirs.double()
    if ours.shape != theirs.shape or not ours.isfinite().all() or not theirs.isfinite().all():
        return float("inf")
    return ((ours - theirs).abs().max() / theirs.std()).item()


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
    names = [name for name, weight in model.named_parameters()]
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    found = iter(torch.autograd.grad(loss, weights, allow_unused=True, materialize_grads=True))
    return {
        name: next(found) if weight.requires_grad else torch.zeros_like(weight)
        for name, weight in zip(names, model.parameters(), strict=True)
    }


def in_gradients(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    ours, theirs = gradients(of_equal_weights(model, like), batch), gradients(like, batch)
    assert ours.keys() == theirs.keys()
    return max(difference(ours[name], theirs[name]) for name in theirs)


def in_parameters(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    """How many are missing, or are one with another."""
    return len([*like.parameters()]) - len([*model.parameters()])


def in_half_precision(model: nn.Module, like: nn.Module, batch: Batch, dtype=torch.float16) -> float:
    """With the same weights; in full precision both say the same."""
    model = of_equal_weights(model, like)
    assert difference(logits_of(model, batch), logits_of(like, batch)) < 1e-4
    lower = [logits_of(copy.deepcopy(each).to(dtype), batch) for each in (model, like)]
    assert isinstance(lower[1], Tensor)
    assert lower[1].isfinite().all()
    if isinstance(lower[0], Tensor) and lower[0].dtype != dtype:
        return float("inf")
    return difference(*lower)


def in_bfloat16(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    return in_half_precision(model, like, batch, torch.bfloat16)


def with_large_weights(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    """As they are both say the same; with weights thirty times as large the healthy one's are finite."""
    model = of_equal_weights(model, like)
    assert difference(logits_of(model, batch), logits_of(like, batch)) < 1e-4
    for each in (model, like):
        for weight in each.parameters():
            weight.data *= 30
    theirs = logits_of(like, batch)
    assert isinstance(theirs, Tensor)
    assert theirs.isfinite().all()
    return difference(logits_of(model, batch), theirs)


def where_word_0_stands(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    batch = (*batch[:-1], batch[-1].index_fill(1, torch.tensor([2]), 0))
    theirs = logits_of(like, batch)
    assert isinstance(theirs, Tensor)
    assert theirs.isfinite().all()
    ours = logits_of(model, batch)
    return float("inf") if isinstance(ours, Raised) or not ours.isfinite().all() else 0.0


def in_parts(model: nn.Module, batch: Batch) -> Tensor | Raised:
    """The logits of a text that is read in three parts, with a cache."""
    (ids,) = batch
    try:
        # The model's own kind of cache, which may have the fault.
        own = type(model).forward.__globals__["Cache"]
        caches = model.caches() if hasattr(model, "caches") else [own() for _ in model.blocks]
        with torch.no_grad():
            parts = ids.split([4, 3, ids.shape[1] - 7], dim=1)
            return torch.cat([model.eval()(part, caches) for part in parts], dim=1)
    except (RuntimeError, ValueError) as error:
        return Raised(error)


def with_a_cache(model: nn.Module, like: nn.Module, batch: Batch) -> float:
    """Without a cache both say the same, and the healthy one with a cache, too."""
    model, theirs = of_equal_weights(model, like), logits_of(like, batch)
    assert difference(logits_of(model, batch), theirs) < 1e-4
    assert difference(in_parts(like, batch), theirs) < 1e-4
    return difference(in_parts(model, batch), theirs)


# By what a fault shows: how far the faulty model is from the healthy one of its family.
MEASURES: dict[str, Callable[[nn.Module, nn.Module, Batch], float]] = {
    "logits": with_equal_weights,
    "start": at_their_start,
    "two runs": between_two_runs,
    "gradients": in_gradients,
    "parameters": in_parameters,
    "half precision": in_half_precision,
    "bfloat16": in_bfloat16,
    "large numbers": with_large_weights,
    "word 0": where_word_0_stands,
    "cache": with_a_cache,
}
# Far above rounding: equal models differ by 1e-5 at most.
LEAST = 1e-3


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
def test_a_fault_stands_in_one_place_and_shows(fault: Fault):
    for change in fault.changes:
        source = (BOOK / change.file).read_text("utf-8")
        assert change.old != change.new
        if change.which is None:
            assert source.count(change.old) == 1, (change.file, change.old, source.count(change.old))
        else:
            assert source.count(change.old) > change.which
    model, batch = faulty(fault)
    assert model.training
    like, _ = healthy(fault.model)
    found = MEASURES[fault.shows](model, like, batch)
    assert found > LEAST, f"{found:.1e} by {fault.shows}"


def test_faults_have_a_name_each_and_a_line_of_inquiry():
    assert len(FAULTS) >= 64
    assert {*Counter(map(str, FAULTS)).values()} == {1}
    assert {fault.inquiry for fault in FAULTS} == {*INQUIRIES}
    assert {each for fault in FAULTS for each in fault.also_right} <= {*INQUIRIES}
    assert {fault.model for fault in FAULTS} == {*FAMILIES}
    assert all(options(fault).keys() == {"kind", "padding"} for fault in FAULTS)


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
    faults = {fault.file: fault for fault in FAULTS}
    for fault in faults.values():
        model, _ = faulty(fault)
        assert type(model) is not type(healthy(fault.model)[0])
    after = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ROOTS}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    assert all(dict(vars(module)) == held[name] for name, module in after.items())
    assert sys.meta_path == path
    assert sys.modules["attnlab"].transformer is sys.modules["attnlab.transformer"]
    assert TRANSLATORS in after


def test_a_fault_that_raises_when_it_is_imported_leaves_nothing_behind():
    fault = FAULTS[0]
    wrong = Fault(
        fault.name, fault.model, type(fault.change)(fault.file, fault.old, "1 / 0 ="), None, "sight", "logits"
    )
    healthy(fault.model)
    before = dict(sys.modules)
    with pytest.raises(SyntaxError):
        faulty(wrong)
    assert dict(sys.modules) == before


# ---- healthy models ----


@pytest.mark.thorough
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_model_runs_both_ways(name: str):
    model, batch, options = HEALTHY[name]()
    assert {*options} <= {"kind", "logits", "loss", "padding"}
    if isinstance(batch, Tensor):
        found = model(batch)
    else:
        found = model(**batch) if isinstance(batch, dict) else model(*batch)
    logits = found if isinstance(found, Tensor) else getattr(found, "logits", None)
    logits = found[0] if logits is None else logits
    assert logits.isfinite().all()
    assert logits.dim() == (2 if options.get("kind") == "classifies" else 3)
    logits.float().logsumexp(-1).sum().backward()
    gradients = [weight.grad for weight in model.parameters()]
    assert all(each is None or each.isfinite().all() for each in gradients)
    assert any(each is not None and each.any() for each in gradients)


def test_there_are_healthy_models_enough():
    assert len(HEALTHY) >= 34
