"""Models that are less simple than they look: afterwards they are as they were."""

import contextlib
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from checkup_cases import IDS, WIDTH, WORDS, Remembering, Small, small
from clocks import Clock
from torch import nn
from torch.nn.utils import prune
from torch.overrides import _get_current_function_mode
from torch.utils import _pytree as pytree

from checkup import assert_healthy, checkup
from checkup.limits import TIDYING
from checkup.untouched import untouched
from checkup.visit import TESTS


class Busy(Small):
    """One table at both ends, and a view of it; each call draws, counts, and adds a weight and a hook."""

    def __init__(self):
        super().__init__()
        self.next.weight = self.words.weight
        self.rows = self.words.weight.detach()[:3]
        self.batch_norm = nn.BatchNorm1d(WIDTH)
        self.register_buffer("kept", torch.zeros(WORDS), persistent=False)

    def forward(self, ids):
        for seed, draw in ((random.seed, random.random), (np.random.seed, np.random.rand)):
            seed(1)
            draw()
        torch.manual_seed(1)
        torch.rand(1)
        self.kept[0] += 1
        self.more, self.extra = nn.Linear(2, 2), nn.Parameter(torch.zeros(2))
        self.register_buffer("seen", ids.clone())
        self.register_forward_hook(lambda *_: None)
        self.words.requires_grad_(False)
        return super().forward(ids) + self.batch_norm(self.words(ids).mT).mT.sum(-1, keepdim=True)


class Lazy(Small):
    def __init__(self):
        super().__init__()
        self.next = nn.LazyLinear(WORDS)


def parametrized():
    model = Small()
    nn.utils.parametrizations.orthogonal(model.blocks[0].attention.write)
    nn.utils.parametrizations.weight_norm(model.next)
    return model


def pruned():
    """PyTorch's older ways: a weight that is made anew before each call, by a hook."""
    model = Small()
    prune.random_unstructured(model.next, "weight", 0.2)
    return model


def half_frozen_in_evaluation_with_gradients():
    model = Small().eval()
    model(IDS).square().sum().backward()
    model.blocks[0].network.train()
    model.next.weight.grad = None
    for weight in [*model.parameters()][1::2]:
        weight.requires_grad_(False)
    return model


MODELS = [Busy, parametrized, pruned, half_frozen_in_evaluation_with_gradients, Remembering]


def all_of(model):
    """All that can be told of a model from outside, to be compared."""
    modules = [*model.named_modules()]
    tensors = [*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)]
    return {
        "tensors": {name: (id(tensor), tensor._version, tensor.detach().clone()) for name, tensor in tensors},
        "gradients": [
            (id(weight.grad), None if weight.grad is None else weight.grad.clone())
            for weight in model.parameters()
        ],
        "asked": [(weight.requires_grad, weight.is_leaf) for weight in model.parameters()],
        "modes": [module.training for _, module in modules],
        "modules": [(name, id(module)) for name, module in modules],
        "attributes": [[*vars(module)] for _, module in modules],
        "hooks": [
            [*module._forward_hooks, *module._forward_pre_hooks, *module._backward_hooks]
            for _, module in modules
        ],
        "file": [*model.state_dict()],
        "chance": (torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()),
        "settings": (
            torch.get_default_dtype(),
            torch.is_grad_enabled(),
            torch.backends.mha.get_fastpath_enabled(),
        ),
    }


def without_versions(things):
    """That something was written, and put back, may show."""
    tensors = {name: (number, tensor) for name, (number, _, tensor) in things["tensors"].items()}
    return things | {"tensors": tensors}


def unlike(one, other):
    (ones, shape), (others, other_shape) = pytree.tree_flatten(one), pytree.tree_flatten(other)
    return shape != other_shape or any(
        not torch.equal(a, b) if isinstance(a, torch.Tensor) else a != b
        for a, b in zip(ones, others, strict=True)
    )


def differences(before, after):
    return [name for name in before if unlike(before[name], after[name])]


@pytest.mark.parametrize("build", MODELS)
def test_a_model_is_as_it_was(build):
    torch.manual_seed(0)
    model = build()
    before = all_of(model)
    report = checkup(model, IDS)
    assert not differences(before, all_of(model))
    assert len(report.tried) > 30


@pytest.mark.thorough
@pytest.mark.parametrize("build", MODELS)
def test_a_model_that_is_called_itself_is_as_it_was(build):
    """By an adapter that takes no heed of the copy it is given."""
    torch.manual_seed(0)
    model = build()
    before = without_versions(all_of(model))
    checkup(model, IDS, logits=lambda _, ids: model(ids))
    assert not differences(before, without_versions(all_of(model)))


def test_a_model_without_shapes_is_refused_and_stays_without():
    model = Lazy()
    with pytest.raises(ValueError, match=r"model must have weights with shapes, got next\.weight without"):
        checkup(model, IDS)
    assert model.next.has_uninitialized_params()
    model(IDS)
    assert not checkup(model, IDS).findings


@pytest.mark.thorough
def test_a_compiled_model_is_looked_at_as_it_was_written():
    torch.manual_seed(0)
    model = torch.compile(small("no divisor"), backend="eager")
    before = all_of(model)
    report = checkup(model, IDS)
    assert [finding.where for finding in report.findings] == ["blocks.0.attention"], report
    assert not differences(before, all_of(model))


def spoil(model):
    model.train().words.weight.grad.zero_()
    model.blocks = nn.ModuleList()
    del model.places
    torch.set_grad_enabled(False)
    torch.backends.mha.set_fastpath_enabled(False)
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    raise ZeroDivisionError


def test_what_an_error_leaves_is_put_back():
    model = half_frozen_in_evaluation_with_gradients()
    before = without_versions(all_of(model))
    with pytest.raises(ZeroDivisionError), untouched(model):
        spoil(model)
    assert not differences(before, without_versions(all_of(model)))


# ---- the time ----


def adapter(clock, first):
    """Does something before each call."""

    def logits(model, ids):
        first(clock, ids)
        return model(ids)

    return logits


def slow(clock, ids):
    clock.passes(0.5)


def hangs_later(clock, ids):
    if len(ids) == 1:
        clock.passes(60)


def swallows(clock, ids):
    """Whatever is raised while all operations are watched, and goes on until more is raised."""
    if _get_current_function_mode():
        with contextlib.suppress(BaseException):
            clock.passes(60)
        clock.passes(TIDYING)


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        (slow, "one batch by heart"),
        (hangs_later, "a row alone, and many rows, one id, and two"),
        (swallows, "what the softmax sums over"),
    ],
)
def test_when_time_is_up_the_model_is_as_it_was_and_what_is_left_is_told(first, rest, monkeypatch):
    clock = Clock(monkeypatch)
    torch.manual_seed(0)
    model = Small()
    before = all_of(model)
    report = checkup(model, IDS, logits=adapter(clock, first))
    assert not report.findings
    assert [one.test for one in report.tried] + report.untried == [test.name for test in TESTS]
    assert rest in ", ".join(report.untried)
    count = f"{len(report.tried)} of {len(TESTS)} tests tried, then time was up"
    assert str(report).startswith(f"{count}: none of them found anything.")
    assert " ".join(str(report).split()).endswith(f"{', '.join(report.untried)}.")
    assert f"<p>Not tried: {report.untried[0]}" in report._repr_html_()
    assert not differences(before, all_of(model))
    assert not _get_current_function_mode(), "nobody watches any more"
    assert clock.now < 10 + 60


def test_what_there_was_no_time_to_ask_is_no_pass(monkeypatch):
    logits = adapter(Clock(monkeypatch), slow)
    with pytest.raises(AssertionError, match=r"time was up: .*, one batch by heart\. Give it more"):
        assert_healthy(Small(), IDS, logits=logits)


def test_a_first_call_that_hangs_is_ended(monkeypatch):
    hangs = adapter(Clock(monkeypatch), lambda clock, ids: clock.passes(60))
    with pytest.raises(ValueError, match=r"seconds must be longer than one call takes, got 0\.3: model"):
        checkup(Small(), IDS, logits=hangs, seconds=0.3)


@pytest.mark.parametrize("traced", [True, False], ids=["traced", "asked between calls"])
def test_time_is_up_outside_the_main_thread_too(traced, monkeypatch):
    if not traced:
        monkeypatch.setattr(sys, "settrace", lambda _: None)
    with ThreadPoolExecutor(1) as pool:
        logits = adapter(Clock(monkeypatch), slow)
        report = pool.submit(checkup, Small(), IDS, logits=logits).result()
    assert report.untried
