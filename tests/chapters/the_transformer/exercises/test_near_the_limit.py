"""The exercise `near_the_limit`, tried as readers would."""

import math

import exercise_cases
import pytest
import torch
from exercise_cases import judged_as
from the_transformer_answers import handed_in, results
from torch import nn
from torch.nn import functional as F

from attnlab.corpora import agreement
from attnlab.runtime import generator
from attnlab.transformer import LanguageModel
from chapters.the_transformer import models
from chapters.the_transformer.exercises import (
    check_near_the_limit,
)
from chapters.the_transformer.exercises.near_the_limit_parts import _excess, _spoken_of

# Each answer is a training.
pytestmark = pytest.mark.thorough


def test_a_function_is_asked_for_where_the_check_calls_it_in_a_way_of_its_own():
    assert "Give the check the function itself" in exercise_cases.words(
        check_near_the_limit.judge((3, 0.1, []))
    )


def over_all_words():
    """The excess over the exact entropy: measured on other sentences than the limit, which is as honest."""
    nats, words = agreement.expected()
    known, excess, samples = results()
    return known, excess + _spoken_of("fresh").limit - nats / words, samples


def bits(known, excess, samples):
    return known, excess / math.log(2), samples


def with_padding():
    known, _, samples = results()
    fresh = _spoken_of("fresh")
    loss = F.cross_entropy(known(fresh.previous).flatten(0, 1), fresh.targets.flatten()).item()
    return known, loss - fresh.limit, samples


def each_alike():
    """The mean of each sentence's own loss, less the limit."""
    known, _, samples = results()
    fresh = _spoken_of("fresh")
    rows = zip(known(fresh.previous), fresh.targets, strict=True)
    losses = [F.cross_entropy(logits, targets, ignore_index=0).item() for logits, targets in rows]
    return known, sum(losses) / len(losses) - fresh.limit, samples


def loss_alone():
    known, excess, samples = results()
    return known, excess + _spoken_of("fresh").limit, samples


class Copies(nn.Module):
    """Trained on targets that were not shifted."""

    def forward(self, words):
        return 9.0 * F.one_hot(words, len(models.WORDS))


class Chances(nn.Module):
    """A trained one, behind a softmax of its own."""

    def forward(self, words):
        return results()[0](words).softmax(-1)


class Untrained(nn.Module):
    def forward(self, words):
        return torch.zeros(*words.shape, len(models.WORDS))


class Peeks(nn.Module):
    def forward(self, words):
        return 9.0 * F.one_hot(words.roll(-1, 1), len(models.WORDS))


def test_a_model_that_was_trained_passes():
    """What the chapter's solution does, with fewer steps: the check accepts what is learned."""
    torch.manual_seed(0)
    small = LanguageModel(len(models.WORDS), d_model=16, heads=2, hidden=32, layers=1)
    report = check_near_the_limit.judge(lambda: (small, _excess(small), results()[2]))
    assert [line.strip()[0] for line in report.lines[:4]] == list("✓✗✓✓")


def test_a_report_asks_in_words():
    report = check_near_the_limit.judge(handed_in(excess="small"))
    assert "    question = is its excess right?" in repr(report), report
    assert check_near_the_limit.judge(lambda: ...).state == "not written yet"


RIGHT = {
    check_near_the_limit: {
        "a list": lambda: list(results()),
        "as text": handed_in(samples=[" ".join(words) for words in results()[2]]),
        "a tensor": handed_in(excess=torch.tensor(results()[1])),
        "the exact limit": over_all_words,
        "as one writes": handed_in(
            samples=[" ".join(words).capitalize().replace(" .", ".") for words in results()[2]]
        ),
    }
}


NAMED = {
    check_near_the_limit: {
        "nothing learned": handed_in(model=Untrained(), excess=_excess(Untrained())),
        "leak": handed_in(model=Peeks(), excess=_excess(Peeks())),
        "not shifted": handed_in(model=Copies(), excess=_excess(Copies())),
        "bits": lambda: bits(*results()),
        "padding counted": with_padding,
        "the loss itself": loss_alone,
        "limit less loss": handed_in(excess=-results()[1]),
        "each sentence alike": each_alike,
        "probabilities": handed_in(model=Chances(), excess=_excess(Chances())),
        "too few": handed_in(samples=results()[2][:50]),
        "one sentence": handed_in(samples=[["the", "dogs", "see", "."]] * 100),
        "no full stop": handed_in(samples=[words[:-1] for words in results()[2]]),
        "copied": handed_in(samples=agreement.sentences(100, generator(1))),
        "marks in them": handed_in(samples=[["<start>", *words] for words in results()[2]]),
        "gone on behind the full stop": handed_in(samples=[[*words, "the"] for words in results()[2]]),
        "not grammatical": handed_in(samples=[words[::-1] for words in results()[2]]),
        "broken off": handed_in(samples=[words[:6] for words in results()[2]]),
        "numbers": handed_in(samples=models.texts(results()[2]).targets),
    }
}


UNKNOWN = {
    check_near_the_limit: {
        "a guess": handed_in(excess=0.5),
        "words for a number": handed_in(excess="small"),
        "two things": lambda: results()[:2],
        "no model": handed_in(model=3),
        "logits of another shape": handed_in(model=lambda words: torch.zeros(3)),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
