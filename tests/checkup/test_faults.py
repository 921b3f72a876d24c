"""Each line of inquiry on a small model: with the fault it is found and named, without nothing is found."""

import pytest
import torch
from checkup_cases import IDS, Encoder, Remembering, Small, faulty, small

from checkup import checkup

pytestmark = pytest.mark.thorough

MASK = (torch.arange(9) < torch.tensor([9, 6, 4])[:, None]).long()
PADDED = {"ids": IDS * MASK, "attention_mask": MASK}
FOUND = {  # the fault: its line of inquiry, and where
    "sees the next": ("sight", "blocks.0.attention"),
    "sees only itself": ("sight", "blocks.0.attention"),
    "all alike": ("sight", ""),
    "blind start": ("numbers", "blocks.0.attention"),
    "masked late": ("scores", "blocks.0.attention"),
    "sums over queries": ("scores", "blocks.0.attention"),
    "no divisor": ("scores", "blocks.0.attention"),
    "divided by d_k": ("scores", "blocks.0.attention"),
    "queries cancel": ("scores", "blocks.0.attention"),
    "heads alike": ("scores", "blocks.0.attention"),
    "keys are queries": ("parameters", "blocks.0.attention.key"),
    "weights detached": ("parameters", "blocks.0.attention.query"),
    "no places": ("positions", "places"),
    "backwards": ("positions", ""),
    "no residual": ("stream", "blocks.0"),
    "doubled": ("stream", "blocks.0"),
    "norm unused": ("parameters", "blocks.0.norm_2"),
    "no activation": ("network", "blocks.0.network"),
    "activation last": ("network", "blocks.0.network"),
    "norm over places": ("network", "blocks.0.norm_1"),
    "norm over rows": ("batch", "blocks.0.norm_1"),
    "no root": ("network", "blocks.0.norm_1"),
    "norm in half": ("numbers", "blocks.0.norm_1"),
    "norm not cast back": ("numbers", "blocks.0.norm_1"),
    "unseen": ("parameters", "blocks[0]"),
    "one block twice": ("parameters", "blocks.0"),
    "one block left out": ("parameters", "blocks.1"),
    "detached": ("parameters", "words"),
    "frozen": ("parameters", "blocks.0.network.widen"),
    "plain table": ("parameters", "places"),
    "same start": ("start", "blocks.1.attention.query"),
    "large": ("start", ""),
    "zero gains": ("start", "blocks.0.norm_1"),
    "dropout always": ("evaluation", "blocks.0.network"),
    "keeps a state": ("evaluation", ""),
    "nan": ("numbers", ""),
    "probabilities": ("output", ""),
    "cut at 0": ("output", None),
    "writes to its batch": ("batch", ""),
    "squeezes": ("batch", None),
}


def examined(model, batch=IDS, **options):
    report = checkup(model, batch, **options)
    failed = [tried for tried in report.tried if "could not be tried" in tried.seen]
    assert not failed
    return report


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("fault", FOUND)
def test_a_fault_is_found_and_named(fault):
    inquiry, where = FOUND[fault]
    report = checkup(small(fault), IDS)
    assert inquiry in {finding.inquiry for finding in report.findings}, report
    named = {finding.where for finding in report.findings if finding.inquiry == inquiry}
    assert where is None or where in named, report


@pytest.mark.parametrize("ids", [IDS, IDS[:1], IDS[:, :1], IDS[:2, :4], torch.zeros_like(IDS)])
def test_without_a_fault_nothing_is_found(ids):
    assert not examined(Small(), ids).findings


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_in_any_precision_and_mode(dtype):
    assert not examined(Small().to(dtype).eval()).findings


def test_log_probabilities_are_as_good_as_logits():
    report = examined(small("logarithms"))
    assert not report.findings
    assert any(tried.seen.startswith("logarithms of probabilities") for tried in report.tried)


def test_who_sees_whom_is_kept_for_the_picture():
    sees = torch.tensor(examined(Small()).sight)
    assert torch.equal(sees, torch.ones_like(sees).tril())


# ---- filler ----


@pytest.mark.parametrize(
    ("fault", "classes", "inquiry"),
    [
        ("no mask", False, "padding"),
        ("mask of the first row", False, "padding"),
        ("mean with filler", True, "padding"),
        ("reads left to right", False, "sight"),
    ],
)
def test_a_reader_with_a_mask(fault, classes, inquiry):
    kind = "classifies" if classes else "fills in"
    assert not examined(Encoder(classes), PADDED, kind=kind, padding=0).findings
    report = checkup(faulty(fault)["Encoder"](classes), PADDED, kind=kind, padding=0)
    assert inquiry in {finding.inquiry for finding in report.findings}, report


def test_a_model_that_reads_both_sides_leaks_only_if_it_should_write():
    report = checkup(Encoder(), PADDED)
    assert report.findings[0].inquiry == "sight"


# ---- caches ----


@pytest.mark.parametrize("fault", ["", "cache shared", "cache forgotten"])
def test_a_cache(fault):
    report = examined(faulty(fault)["Remembering"]() if fault else Remembering())
    assert {finding.inquiry for finding in report.findings} == ({"cache"} if fault else set()), report
    if not fault:
        assert any("word by word, in pieces, a second text" in tried.seen for tried in report.tried)
