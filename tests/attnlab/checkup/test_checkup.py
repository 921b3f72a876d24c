"""The tool as a whole: sound models, options, bad input, and that nothing is touched."""

import contextlib
import math
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from checkup_cases import IDS, WORDS, Small
from clocks import Clock
from torch import nn
from torch.nn import functional as F
from torch.overrides import _get_current_function_mode

from attnlab.checkup import Finding, Report, assert_healthy, checkup
from attnlab.runtime import TIDYING
from attnlab.today.model import Today
from attnlab.transformer import GPT, LanguageModel, Transformer

SOURCE, LENGTHS = torch.randint(1, WORDS, (3, 8)), torch.tensor([8, 5, 3])


class Stack(nn.Module):
    """PyTorch's own layers under a causal mask."""

    def __init__(self, norm_first):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, 16), nn.Embedding(16, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, 0.1, batch_first=True, norm_first=norm_first)
        self.stack = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.next = nn.Linear(16, WORDS)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.next(self.stack(x, mask=mask, is_causal=True))


def trained(model):
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(20):
        optimizer.zero_grad()
        F.cross_entropy(model(IDS)[:, :-1].flatten(0, 1), IDS[:, 1:].flatten()).backward()
        optimizer.step()
    return model


SOUND = {
    "GPT": lambda: (GPT(WORDS, 16, 2, 2, 16, dropout=0.1), IDS),
    "a trained GPT": lambda: (trained(GPT(WORDS, 16, 2, 1, 16)), IDS),
    "Today": lambda: (Today(WORDS, 24, 6, 2, 20, 2, 16), IDS),
    "Today in bfloat16": lambda: (Today(WORDS, 12, 2, 2, 20, 1, 16, tied=False).bfloat16(), IDS[:1]),
    "LanguageModel": lambda: (LanguageModel(WORDS, 16, 2, 32, 2), IDS),
    "Transformer": lambda: (Transformer(WORDS, 30, 16, 2, 32, 2), (SOURCE, LENGTHS, IDS)),
    "Transformer of 2017": lambda: (
        Transformer(WORDS, 30, 15, 3, 32, 1, 0.1, norm_first=False),
        (SOURCE, LENGTHS, IDS[:, :6]),
    ),
    "PyTorch's": lambda: (Stack(norm_first=False), IDS),
    "PyTorch's, norm first": lambda: (Stack(norm_first=True).double().eval(), IDS),
}


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_found_in_a_sound_model(name):
    torch.manual_seed(0)
    model, batch = SOUND[name]()
    report = checkup(model, batch)
    assert not report.findings, report
    assert not [tried for tried in report.tried if "could not be tried" in tried.seen], report


def test_nothing_is_found_in_hugging_faces_models():
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": WORDS, "num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": 16}
    torch.manual_seed(0)
    gpt = transformers.GPT2Config(
        vocab_size=WORDS, n_positions=16, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1
    )
    mask = torch.ones_like(IDS)
    mask[1, 6:] = 0
    for model, batch in (
        (transformers.GPT2LMHeadModel(gpt), IDS),
        (transformers.LlamaForCausalLM(transformers.LlamaConfig(intermediate_size=24, **sizes)), IDS),
        (
            transformers.BertForMaskedLM(transformers.BertConfig(intermediate_size=24, **sizes)),
            {"input_ids": IDS, "attention_mask": mask},
        ),
    ):
        report = checkup(model, batch)
        assert not report.findings, report
        assert not [tried for tried in report.tried if "could not be tried" in tried.seen], report


# ---- options ----


def mean_over_next(model, ids):
    return F.cross_entropy(model(ids)[:, :-1].transpose(1, 2), ids[:, 1:])


WRONG_LOSSES = {
    "not shifted": lambda model, ids: F.cross_entropy(model(ids).transpose(1, 2), ids),
    "filler counted": mean_over_next,
    "a sum": lambda model, ids: F.cross_entropy(
        model(ids)[:, :-1].transpose(1, 2), ids[:, 1:], ignore_index=0, reduction="sum"
    ),
    "of probabilities": lambda model, ids: F.cross_entropy(
        model(ids)[:, :-1].softmax(-1).transpose(1, 2), ids[:, 1:], ignore_index=0
    ),
}


@pytest.mark.parametrize("what", WRONG_LOSSES)
def test_a_loss_that_is_not_the_mean_over_next_ids(what):
    ids = IDS.clone()
    ids[1, 5:] = 0
    found = checkup(Small(), ids, loss=WRONG_LOSSES[what], padding=0).findings
    assert [finding.inquiry for finding in found] == ["output"]
    assert what in found[0].seen


def test_a_right_loss():
    report = checkup(Small(), IDS, loss=mean_over_next)
    assert not report.findings
    assert any(tried.seen.endswith(": the mean over next ids") for tried in report.tried)


def test_an_adapter():
    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Small()

        def forward(self, ids):
            return {"scores": self.inner(ids)}

    torch.manual_seed(0)
    assert not checkup(Wrapped(), IDS, logits=lambda model, ids: model(ids)["scores"]).findings
    with pytest.raises(TypeError, match=r"model must return logits, a tensor, or .* got dict"):
        checkup(Wrapped(), IDS)


def test_assert_healthy_tells_what_it_found():
    torch.manual_seed(0)
    assert_healthy(Small(), IDS)
    with pytest.raises(AssertionError, match=r"1 found:\n  \[scores\] blocks.0.attention: products"):
        assert_healthy(Small("no divisor"), IDS)


# ---- nothing is touched ----


def everything(model):
    hooks = [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules()]
    return (
        {name: tensor.clone() for name, tensor in model.state_dict().items()},
        [weight.grad for weight in model.parameters()],
        [weight.requires_grad for weight in model.parameters()],
        [module.training for module in model.modules()],
        hooks,
        [{k: v for k, v in vars(module).items() if not k.startswith("_")} for module in model.modules()],
        (torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()),
        (torch.get_default_dtype(), torch.is_grad_enabled()),
    )


def same(before, after):
    weights, others = zip(before, after, strict=True), []
    for one, other in weights:
        if isinstance(one, dict):
            others.append(one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one))
        else:
            others.append(str(one) == str(other))
    return all(others)


@pytest.mark.parametrize("fault", ["", "no divisor", "writes to its batch", "keeps a state", "detached"])
def test_the_model_is_as_it_was(fault):
    model, ids = Small(fault), IDS.clone()
    model.blocks[0].eval()
    model.next.requires_grad_(False)
    (model(ids.clone()) ** 2).sum().backward()
    model.words.weight.grad = None
    before, hook = everything(model), model.register_forward_hook(lambda *_: None)
    before = everything(model)
    checkup(model, ids)
    assert same(before, everything(model))
    assert torch.equal(ids, IDS)
    hook.remove()


def test_it_is_as_it_was_after_an_error():
    class Rude(Small):
        def forward(self, ids):
            self.eval()
            torch.set_default_dtype(torch.float64)
            self.words.weight.data.zero_()
            np.random.seed(1)
            raise RuntimeError("no")

    model = Rude()
    before = everything(model)
    with pytest.raises(ValueError, match="model must accept the batch, got RuntimeError: no"):
        checkup(model, IDS, logits=lambda _, ids: model(ids))  # the model itself, not the copy
    assert same(before, everything(model))


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


def retries(clock, ids):
    for _ in range(100 if len(ids) == 1 else 0):
        try:
            clock.passes(1)
        except Exception:
            continue


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
        (retries, "a row alone, and many rows, one id, and two"),
        (swallows, "what the softmax sums over"),
    ],
)
def test_when_time_is_up_the_model_is_as_it_was_and_what_is_left_is_told(first, rest, monkeypatch):
    clock = Clock(monkeypatch)
    torch.manual_seed(0)
    model = Small()
    before = everything(model)
    report = checkup(model, IDS, logits=adapter(clock, first))
    assert not report.findings
    assert report.tried[-1].seen.startswith("time was up: ")
    assert rest in report.tried[-1].seen
    assert same(before, everything(model))
    assert not _get_current_function_mode(), "nobody watches any more"
    assert clock.now < 10 + 60


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
    assert "time was up" in report.tried[-1].seen


# ---- bad input ----


class Returns(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.make, self.layer = make, nn.Linear(2, 2)

    def forward(self, ids):
        return self.make(ids)


def raises(words):
    raise RuntimeError(words)


class OnTwoDevices(nn.Module):
    def __init__(self):
        super().__init__()
        self.here, self.there = nn.Linear(2, 2), nn.Linear(2, 2, device="meta")


BAD = {
    "no module": (lambda: ("GPT", IDS, {}), TypeError, "model must be an nn.Module, got str"),
    "nothing": (
        lambda: (Returns(lambda _: None), IDS, {}),
        TypeError,
        "model must return logits, .* got NoneType",
    ),
    "an empty tuple": (
        lambda: (Returns(lambda _: ()), IDS, {}),
        TypeError,
        "model must return logits, .* got tuple",
    ),
    "whole numbers": (
        lambda: (Returns(lambda ids: torch.zeros(*ids.shape, 5, dtype=torch.long)), IDS, {}),
        ValueError,
        r"model must return logits .* got torch.int64 \(3, 9, 5\)",
    ),
    "an error of many lines": (
        lambda: (Returns(lambda _: raises("one\ntwo\nthree")), IDS, {}),
        ValueError,
        "model must accept the batch, got RuntimeError: one$",
    ),
    "shapes without numbers": (
        lambda: (Small().to("meta"), IDS, {}),
        ValueError,
        "model must have numbers, got one on the device meta",
    ),
    "a list": (lambda: (Small(), IDS.tolist(), {}), TypeError, r"batch must be ids \(B, T\), .* got list"),
    "another shape": (
        lambda: (Returns(lambda ids: torch.zeros(len(ids), 2, 3, 4)), IDS, {}),
        ValueError,
        r"model must return logits \(B, T, V\), as one that 'writes', got torch.float32 \(3, 2, 3, 4\)",
    ),
    "other places": (
        lambda: (Returns(lambda ids: torch.zeros(len(ids), 4, 5)), IDS, {}),
        ValueError,
        r"batch must hold whole numbers \(B, T\) that fit logits \(3, 4, 5\), got \{'0': \(3, 9\)\}",
    ),
    "more arguments": (
        lambda: (Transformer(9, 9, 8, 2, 8, 1), IDS, {}),
        ValueError,
        "model must accept the batch, got TypeError: .* missing 2 required positional arguments",
    ),
    "two devices": (OnTwoDevices, ValueError, "model must be on one device, got cpu and meta"),
    "no parameters": (lambda: (nn.Identity(), IDS, {}), ValueError, "model must have parameters, got none"),
    "no batch": (lambda: (Small(), None, {}), TypeError, r"batch must be ids \(B, T\), .* got NoneType"),
    "an empty batch": (lambda: (Small(), IDS[:0], {}), ValueError, "batch must hold at least one id"),
    "another device": (
        lambda: (Small(), IDS.to("meta"), {}),
        ValueError,
        "batch must be on cpu, where the model is, got meta",
    ),
    "a kind": (lambda: (Small(), IDS, {"kind": "sings"}), ValueError, "kind must be one of .* got 'sings'"),
    "seconds": (lambda: (Small(), IDS, {"seconds": 0}), ValueError, "seconds must be above 0, got 0"),
    "padding": (lambda: (Small(), IDS, {"padding": 0.5}), TypeError, "padding must be an id, .* got float"),
    "a loss": (lambda: (Small(), IDS, {"loss": 3}), TypeError, "loss must be a function"),
    "ids too large": (
        lambda: (Small(), IDS + 50, {}),
        ValueError,
        "model must accept the batch, got IndexError in words",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_in_one_line(case):
    make, error, words = BAD[case]
    given = make()
    model, batch, options = given if isinstance(given, tuple) else (given, IDS, {})
    with pytest.raises(error, match=words) as told:
        checkup(model, batch, **options)
    assert "\n" not in str(told.value)


def test_nan_is_found_and_nothing_else_of_it_is_raised():
    model = Small()
    model.blocks[1].network.narrow.weight.data[0] = math.nan
    report = checkup(model, IDS)
    found = [finding for finding in report.findings if finding.inquiry == "numbers"]
    assert found[0].where == "blocks.1.network.narrow"
    everywhere = checkup(Returns(lambda ids: torch.full((*ids.shape, 5), math.nan)), IDS)
    assert everywhere.findings


# ---- the report ----


def test_the_words_of_a_report():
    torch.manual_seed(0)
    report = checkup(Small("no divisor"), IDS)
    words = str(report)
    assert words.startswith(f"{len(report.tried)} tests tried, 1 finding.")
    assert "✗ the divisor of scores" in words
    assert "1. blocks.0.attention [scores, wrong]" in words
    assert "healthy" not in (words + report._repr_html_()).lower()
    assert max(map(len, words.splitlines())) <= 100


def test_the_pictures_are_escaped_and_take_the_page_s_colour():
    report = Report(
        sizes={"<b>": 1.0, "two": float("nan")}, entropies={"a": [1.0, 2.0]}, sight=[[True, False]] * 2
    )
    report.findings.append(Finding("sight", "<i>", "a < b", "1 & 2", "page.html#there"))
    page = report._repr_html_()
    assert page.count("<svg") == 3
    assert not re.search(r"<b>|<i>|a < b|1 & 2", page)
    assert set(re.findall(r'fill="([^"]+)"', page)) == {"currentColor"}
    assert all(int(size) >= 12 for size in re.findall(r'font-size="(\d+)"', page))
