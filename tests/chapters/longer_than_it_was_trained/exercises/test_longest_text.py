"""The exercise `longest_text`, tried as readers would."""

import pytest
import torch
from exercise_cases import judged_as, words
from torch import nn
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.masks import causal
from attnlab.positions import stretched
from attnlab.training.run import Run, row_of
from bookkit import weights
from chapters.longer_than_it_was_trained.exercises import check_longest_text
from chapters.longer_than_it_was_trained.exercises.longest_text_parts import (
    BAR,
    SAID,
    nats,
    near,
    pieces,
    untouched,
    windows,
)
from chapters.the_block_of_today.models import today

pytestmark = pytest.mark.thorough


def stored(**changes):
    """The model that a reader loads, and what they set on it."""
    model = today()
    weights.load("the_block_of_today/today", model)
    model.longest = 512
    for name, value in changes.items():
        setattr(model, name, value)
    return model


def slower(how="mixed", factor=4.0, **ends):
    return stored(frequencies=stretched(untouched().frequencies, factor, 128, how, **ends))


class Around(nn.Module):
    """Something around the model."""

    def __init__(self, change):
        super().__init__()
        self.inner, self.change = slower(slow=1, fast=8), change

    def forward(self, ids):
        return self.change(self.inner, ids)


def windowed(model, ids):
    n = ids.shape[1]
    return model(ids, visible=causal(n) & ~torch.ones(n, n).tril(-128).bool())


def only_128_at_a_time(model, ids):
    """Windows side by side: nothing is carried over."""
    return torch.cat([model(some) for some in ids.split(128, dim=1)], dim=1)


def places_divided(model, ids):
    model.frequencies = untouched().frequencies
    return model(ids, places=torch.arange(ids.shape[1])[None] / 4)


RIGHT = {
    check_longest_text: {
        "mixed": lambda: slower(slow=1, fast=4),
        "a much larger base": lambda: slower("larger base", 24),
        "logarithms of chances": lambda: Around(lambda model, ids: model(ids).log_softmax(-1)),
    }
}
NAMED = {
    check_longest_text: {
        "still 128": today,
        "as it is": stored,
        "interpolated alone": lambda: Around(places_divided),
        "not good enough": lambda: slower("larger base", 4),
        "only what is near": lambda: Around(windowed),
        "chances": lambda: Around(lambda model, ids: model(ids).softmax(-1)),
        "no number": lambda: Around(lambda model, ids: model(ids) - torch.inf),
        "another answer each time": lambda: Around(lambda model, ids: F.dropout(model(ids), 0.1)),
        "another vocabulary": lambda: Around(lambda model, ids: model(ids)[..., :512]),
        "rows of a batch mixed": lambda: Around(lambda model, ids: model(ids) + model(ids).sum(0)),
        "sees later ids": lambda: Around(
            lambda model, ids: model(ids, visible=torch.ones(1, *[ids.shape[1]] * 2).bool())
        ),
    }
}
UNKNOWN = {
    check_longest_text: {
        "a class": lambda: nn.Linear,
        "no model": lambda: 3,
        "the last place alone": lambda: Around(lambda model, ids: model(ids)[:, -1]),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_windows_side_by_side_see_nothing_far():
    assert check_longest_text.judge(lambda: Around(only_128_at_a_time)).mistake == "only what is near"


def test_the_window_is_one_of_128():
    assert near(6, 3).int().sum(-1)[0].tolist() == [1, 2, 3, 3, 3, 3]
    assert torch.equal(near() & causal(512), near())


@pytest.mark.parametrize(("model", "least", "most"), [
    (lambda: slower("interpolated"), BAR + 0.1, 1.0),
    (stored, 1.2, 2.2),
    (lambda: slower(slow=1, fast=4), 0.1, BAR - 0.1),
])  # fmt: skip
def test_the_bar_lies_well_between(model, least, most):
    assert least < nats(model()) - nats(untouched(), 128) < most


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda: nn.Linear, "Linear is a class. Hand over the model itself."),
        (lambda: "model", "A model is expected, and str came."),
        (today, SAID["still 128"]),
        (lambda: Around(lambda model, ids: ids), "must make logits (1, 2, 2048)"),
    ],
)
def test_what_is_no_such_thing_is_told(work, said):
    report = check_longest_text.judge(work)
    assert not report.passed
    assert said in words(report)


def trained(how, row, updates, rate):
    model = slower(how)
    Run(model, row, updates=updates, rate=rate, rows=2, length=512, warm_up=10).go(updates)
    return model


def test_interpolated_places_pass_after_a_little_training():
    row = row_of(map(pieces().encode, docstrings.split(["networkx"])[0]), pieces().end)
    model = trained("interpolated", row, 60, 1e-3)
    assert check_longest_text.judge(lambda: model).passed


def test_a_model_that_learned_what_it_is_judged_by_is_told():
    model = trained("mixed", windows().flatten(), 200, 3e-3)
    assert check_longest_text.judge(lambda: model).mistake == "knows what it is judged by"
