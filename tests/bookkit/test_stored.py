"""Numbers that are stored are given back; measured anew they must be so near."""

import pytest
import torch

from bookkit.stored import ANEW, OF_OTHER_WEIGHTS, StoredError, stored


def test_what_is_stored_comes_back_and_nothing_is_measured(monkeypatch):
    monkeypatch.delenv(ANEW, raising=False)
    assert stored([0.1, 0.2], lambda: pytest.fail("this takes long"), within=0).tolist() == [0.1, 0.2]


def test_measured_anew_it_is_what_comes_back_and_draws_nothing_from_the_dice(monkeypatch):
    monkeypatch.setenv(ANEW, "1")
    before = torch.get_rng_state()
    assert stored(0.5, lambda: 0.6 + 0 * torch.rand(()), within=0.11).item() == pytest.approx(0.6)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("measured", [0.7, [0.5, 0.5], float("nan")])
def test_what_is_further_off_or_of_another_kind_is_refused(monkeypatch, measured):
    monkeypatch.setenv(ANEW, "1")
    with pytest.raises(StoredError, match="measured anew"):
        stored(0.5, lambda: measured, within=0.1)


def test_of_other_weights_it_is_only_measured(monkeypatch):
    monkeypatch.setenv(ANEW, OF_OTHER_WEIGHTS)
    assert stored(0.5, lambda: 0.9, within=0.1).item() == pytest.approx(0.9)
