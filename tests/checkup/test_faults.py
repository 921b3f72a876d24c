"""Each line of inquiry on a small model: with the fault it is found and named, without nothing is found."""

import pytest
import torch
from checkup_cases import (
    FAULTS,
    IDS,
    OF_READERS,
    STYLES,
    Encoder,
    Remembering,
    Small,
    Translator,
    faulty,
    small,
)

from checkup import checkup

pytestmark = pytest.mark.thorough

MASK = (torch.arange(9) < torch.tensor([9, 6, 4])[:, None]).long()
PADDED = {"ids": IDS * MASK, "attention_mask": MASK}


def examined(model, batch=IDS, **options):
    report = checkup(model, batch, **options)
    failed = [tried for tried in report.tried if "could not be tried" in tried.seen]
    assert not failed
    return report


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_and_named(fault):
    inquiry, where, *_ = FAULTS[fault]
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


@pytest.mark.parametrize("style", STYLES)
def test_other_ways_to_write_the_same(style):
    found = examined(small(style), (IDS, IDS.roll(1)) if style == "a loss, too" else IDS).findings
    doubtful = [finding.inquiry for finding in found if finding.severity == "doubtful"]
    assert doubtful == (["numbers"] if style == "hidden by a number" else []), found
    assert len(found) == len(doubtful), found


def test_a_leak_past_a_mask_that_is_right_is_told_as_one():
    assert "are 0" in checkup(small("heads joined by a view"), IDS).findings[0].seen
    assert "are 0" not in checkup(small("sees the next"), IDS).findings[0].seen


def test_log_probabilities_are_as_good_as_logits():
    class Logarithms(Small):
        def forward(self, ids):
            return super().forward(ids).log_softmax(-1)

    report = examined(Logarithms())
    assert not report.findings
    assert any(tried.seen.startswith("logarithms of probabilities") for tried in report.tried)


def test_who_sees_whom_is_kept_for_the_picture():
    sees = torch.tensor(examined(Small()).sight)
    assert torch.equal(sees, torch.ones_like(sees).tril())


# ---- filler ----


@pytest.mark.parametrize(
    "fault", ["no mask", "mask of the first row", "mean with filler", "reads left to right"]
)
def test_a_reader_with_a_mask(fault):
    classes = fault == "mean with filler"
    options = {"kind": "classifies" if classes else "fills in", "padding": 0}
    assert not examined(Encoder(classes), PADDED, **options).findings
    report = checkup(faulty(fault)["Encoder"](classes), PADDED, **options)
    assert OF_READERS[fault][0] in {finding.inquiry for finding in report.findings}, report


def test_filler_in_front():
    front = {"ids": IDS * MASK.flip(1), "attention_mask": MASK.flip(1)}
    found = checkup(Encoder(), front, kind="fills in").findings
    assert [finding.inquiry for finding in found] == ["padding"]
    assert not examined(faulty("places by mask")["Encoder"](), front, kind="fills in").findings
    unseen = checkup(Encoder(), front | {"attention_mask": 0 * MASK}, kind="fills in").findings
    assert unseen[0].inquiry == "numbers"


def test_filler_of_what_is_read():
    source = (IDS * MASK)[:, :8]
    assert not examined(Translator(), (source, IDS), padding=0).findings
    found = checkup(faulty("source unmasked")["Translator"](), (source, IDS), padding=0).findings
    assert "padding" in {finding.inquiry for finding in found}


def test_a_model_that_reads_both_sides_leaks_only_if_it_should_write():
    report = checkup(Encoder(), PADDED)
    assert report.findings[0].inquiry == "sight"


# ---- caches ----


@pytest.mark.parametrize("fault", ["", "cache shared", "cache forgotten", "past", "past forgotten"])
def test_a_cache(fault):
    report = examined(faulty(fault)["Remembering"]() if fault else Remembering())
    inquiry = OF_READERS[fault][0] if fault else ""
    assert {finding.inquiry for finding in report.findings} == ({inquiry} if inquiry else set()), report
    if not inquiry:
        assert any("word by word, in pieces, a second text" in tried.seen for tried in report.tried)
