"""The tool as a whole: options, bad input, the report, and what it costs."""

import math
import re

import pytest
import torch
from checkup_cases import IDS, Small, small
from headings import anchors
from torch import nn
from torch.nn import functional as F

from attnlab.transformer import GPT, Transformer
from bookkit.memory import peak_memory
from checkup import Finding, Report, assert_healthy, checkup, sections

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
    class Wrapped(Small):
        def forward(self, ids):
            return {"scores": super().forward(ids)}

    torch.manual_seed(0)
    assert not checkup(Wrapped(), IDS, logits=lambda model, ids: model(ids)["scores"]).findings
    with pytest.raises(TypeError, match=r"model must return logits, a tensor, or .* got dict"):
        checkup(Wrapped(), IDS)


def test_assert_healthy_tells_what_it_found():
    torch.manual_seed(0)
    assert_healthy(Small(), IDS)
    with pytest.raises(AssertionError, match=r"1 found:\n  \[scores\] blocks.0.attention: products"):
        assert_healthy(small("no divisor"), IDS)


# ---- bad input ----


class Returns(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.make, self.layer = make, nn.Linear(2, 2)

    def forward(self, ids):
        return self.make(ids)


def raises(words):
    raise RuntimeError(words)


BAD = [
    (lambda: ("GPT", IDS), TypeError, "model must be an nn.Module, got str"),
    (lambda: (Returns(lambda _: None), IDS), TypeError, "model must return logits, .* got NoneType"),
    (lambda: (Returns(lambda ids: torch.zeros(*ids.shape, 5, dtype=torch.long)), IDS), ValueError,
        r"model must return logits .* got torch.int64 \(3, 9, 5\)"),
    (lambda: (Returns(lambda _: raises("one\ntwo\nthree")), IDS), ValueError,
        "model must accept the batch, got RuntimeError: one$"),
    (lambda: (Returns(lambda ids: torch.zeros(len(ids), 2, 3, 4)), IDS), ValueError,
        r"model must return logits \(B, T, V\), as one that 'writes', got torch.float32 \(3, 2, 3, 4\)"),
    (lambda: (Returns(lambda ids: torch.zeros(len(ids), 4, 5)), IDS), ValueError,
        r"batch must hold whole numbers \(B, T\) that fit logits \(3, 4, 5\), got \{'0': \(3, 9\)\}"),
    (lambda: (Transformer(9, 9, 8, 2, 8, 1), IDS), ValueError,
        "model must accept the batch, got TypeError: .* missing 2 required positional arguments"),
    (lambda: (nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, device="meta")), IDS), ValueError,
        "model must be on one device, got cpu and meta"),
    (lambda: (nn.Identity(), IDS), ValueError, "model must have parameters, got none"),
    (lambda: (Small().to("meta"), IDS), ValueError, "model must have numbers, got one on the device meta"),
    (lambda: (Small(), IDS.tolist()), TypeError, r"batch must be ids \(B, T\), .* got list"),
    (lambda: (Small(), IDS[:0]), ValueError, "batch must hold at least one id"),
    (lambda: (Small(), IDS.to("meta")), ValueError, "batch must be on cpu, where the model is, got meta"),
    (lambda: (Small(), IDS + 50), ValueError, "model must accept the batch, got IndexError in words"),
    (lambda: (Small(), IDS, {"kind": "sings"}), ValueError, "kind must be one of .* got 'sings'"),
    (lambda: (Small(), IDS, {"seconds": 0}), ValueError, "seconds must be above 0, got 0"),
    (lambda: (Small(), IDS, {"padding": 0.5}), TypeError, "padding must be an id, .* got float"),
    (lambda: (Small(), IDS, {"loss": 3}), TypeError, "loss must be a function"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "error", "words"), BAD)
def test_bad_input_is_told_in_one_line(make, error, words):
    model, batch, *options = make()
    with pytest.raises(error, match=words) as told:
        checkup(model, batch, **dict(*options))
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
    report = checkup(small("no divisor"), IDS)
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


@pytest.mark.parametrize("name", [name for name in vars(sections) if name.isupper()])
def test_each_section_that_a_finding_refers_to_exists(name):
    page, _, wanted = getattr(sections, name).partition("#")
    assert wanted in anchors(page)


# ---- what it costs: calls of the model, and memory beside that of a step of its training ----

CPU = torch.device("cpu")


def a_gpt():
    return GPT(8000, 256, heads=8, layers=10, context=128), (torch.randint(8000, (8, 64)),), {}


def a_translator():
    model = Transformer(6000, 6000, d_model=256, heads=8, hidden=1024, layers=4, dropout=0.1)
    lengths = torch.tensor([40, 30, 20, 35, 40, 12, 9, 33])
    source = torch.randint(1, 6000, (8, 40)).masked_fill(torch.arange(40) >= lengths[:, None], 0)
    return model, (source, lengths, torch.randint(1, 6000, (8, 36))), {"padding": 0}


def step_of(model, batch):
    """One step of training, from nothing: gradients, and what Adam keeps. The weights count to neither."""
    optimizer = torch.optim.AdamW(model.parameters())
    F.cross_entropy(model(*batch)[:, :-1].flatten(0, 1), batch[-1][:, 1:].flatten()).backward()
    optimizer.step()
    optimizer.zero_grad()


@pytest.mark.weekly
@pytest.mark.parametrize("build", [a_gpt, a_translator])
def test_ten_million_weights_take_few_calls_and_no_more_memory_than_three_steps(build):
    torch.manual_seed(0)
    model, batch, options = build()
    assert 9e6 < sum(weight.numel() for weight in model.parameters()) < 13e6
    calls = []
    watched = nn.modules.module.register_module_forward_pre_hook(
        lambda module, _: calls.append(1) if type(module) is type(model) else None
    )
    with watched:
        report = checkup(model, batch, **options)
    assert len(calls) < 70
    assert not report.findings
    step = peak_memory(lambda: step_of(model, batch), CPU)
    assert peak_memory(lambda: checkup(model, batch, **options), CPU) < 3 * step
