"""What the tests of the exercises share: lists of answers, how they are judged, right code and wrong code."""

import itertools

import pytest
import torch
from torch.nn import functional as F

# --- lists of answers ---


def cases(answers):
    """`@cases({check_soft_lookup: LOOKUPS, …})` calls test(check, name, answer) with every entry of each."""
    return pytest.mark.parametrize(
        ("check", "name", "answer"),
        [
            pytest.param(check, name, answer, id=f"{check.name}-{name}")
            for check, own in answers.items()
            for name, answer in own.items()
        ],
    )


def judged_as(right, named, unknown):
    """`test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)`: a chapter's answers, judged.

    Each is a dictionary of checks, of dictionaries of answers. Those in `named` have the name that the report
    must give; of those in `unknown` no catalogue knows anything.
    """

    @cases(right)
    def accepted(check, name, answer):
        report = check.judge(answer)
        assert report.passed, report

    @cases(named)
    def rejected_by_name(check, name, answer):
        report = check.judge(answer)
        assert not report.passed, report
        assert report.mistake == name, report

    @cases(unknown)
    def rejected_without_a_wrong_name(check, name, answer):
        assert_rejected_without_a_name(check, answer)

    return accepted, rejected_by_name, rejected_without_a_wrong_name


def named(*codes):
    """`named(by_loop)` is {"by loop": by_loop}."""
    return {code.__name__.replace("_", " "): code for code in codes}


def combined(make, *parts):
    """`combined(make, PRODUCTS, SOFTMAXES)` is what `make` makes of each product with each softmax."""
    return {
        ", ".join(name for name, _ in choice): make(*(part for _, part in choice))
        for choice in itertools.product(*(part.items() for part in parts))
    }


# --- how code is judged ---


def words(report):
    """The report's text without its line breaks, which may fall anywhere in a sentence."""
    return " ".join(repr(report).split())


def assert_rejected_without_a_name(check, answer):
    """No name of its catalogue is right for it: the report tells what is seen, or shows an input."""
    report = check.judge(answer)
    assert report.state == "not yet", report
    assert report.mistake not in check.mistakes, report
    assert not [name for name, (sentence, _) in check.mistakes.items() if sentence in words(report)], report
    assert "→" in words(report), report
    assert "could not go on" not in words(report), report


def assert_still_broken(check, answer, marks):
    """The code to repair, as the chapter gives it: the cases that pass nevertheless are the clue."""
    report = check.judge(answer)
    assert report.mistake == "still broken", report
    assert [line.split()[0] for line in report.lines[: len(marks)]] == list(marks), report


def assert_trains(loss, *parameters):
    """Gradient descent brings `loss()` down to less than a tenth."""
    losses = []
    for _ in range(200):
        losses.append(loss())
        gradients = torch.autograd.grad(losses[-1], parameters)
        # By hand, since the first of PyTorch's optimizers takes seconds: it loads a compiler.
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter -= gradient
    assert losses[-1] < losses[0] / 10, f"from {losses[0]:.3g} to {losses[-1]:.3g}"


def assert_right_shapes(puzzle, names):
    """`names` are the tensors and functions in the puzzle's expressions."""
    for expression, shape in puzzle.shapes.items():
        assert eval(expression, names).shape == shape, expression


# --- right, in other words ---


def looped_dot(query, key):
    if query.dim() > 2:
        return torch.stack([looped_dot(*pair) for pair in zip(query, key, strict=True)])
    return torch.stack([torch.stack([torch.dot(one, other) for other in key]) for one in query])


PRODUCTS = {
    "mT": lambda query, key: query @ key.mT,
    "transpose": lambda query, key: torch.matmul(query, key.transpose(-2, -1)),
    "key first": lambda query, key: (key @ query.mT).mT,
    "einsum": lambda query, key: torch.einsum("...nd,...md->...nm", query, key),
    "sum": lambda query, key: (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1),
    "loops": looped_dot,
}  # fmt: skip


def shifted_exp(scores):
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


SOFTMAXES = {
    "torch": lambda scores: torch.softmax(scores, dim=-1),
    "module": torch.nn.Softmax(dim=-1),
    "shifted": shifted_exp,
    "log": lambda scores: scores.log_softmax(-1).exp(),
    "logsumexp": lambda scores: (scores - scores.logsumexp(-1, keepdim=True)).exp(),
    "in float64": lambda scores: scores.double().softmax(-1).to(scores.dtype),
}  # fmt: skip


def weighing_by(weigh):
    """Attention with the weights `weigh(query, key, …)`."""

    def code(query, key, value, *more):
        weights = weigh(query, key, *more)
        return weights @ value, weights

    return code


def fused(query, key, value, **options):
    # With the identity as values, what comes out is the weights.
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    return tuple(F.scaled_dot_product_attention(query, key, mixed, **options) for mixed in (value, identity))


def in_other_words(attention):
    """The same answers from other code."""

    def one_query_at_a_time(query, key, value, *more):
        rows = [attention(query[..., i : i + 1, :], key, value, *more) for i in range(query.shape[-2])]
        outputs, weights = zip(*rows, strict=True)
        return torch.cat(outputs, -2), torch.cat(weights, -2)

    def gated_and_summed(query, key, value, *more):
        weights = attention(query, key, value, *more)[1]
        return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2), weights

    def list_of_two(*inputs):
        return list(attention(*inputs))

    return named(one_query_at_a_time, gated_and_summed, list_of_two)


# --- wrong, in ways that the catalogue does not hold ---


def changed(solution, change):
    """The solution's answer, and then a change of it."""
    return lambda *inputs: change(solution(*inputs))


def reweighted(attention, change):
    """With the changed weights come outputs that follow from them."""

    def code(query, key, value, *more):
        weights = change(attention(query, key, value, *more)[1])
        return weights @ value, weights

    return code


SCORE_CHANGES = {
    "sign turned": torch.neg,
    "sign lost": torch.abs,
    "keys reversed": lambda scores: scores.flip(-1),
    "one hundredth too large": lambda scores: scores * 1.01,
    "shifted": lambda scores: scores + 0.01,
    "rounded": lambda scores: scores.round(decimals=1),
    "centred": lambda scores: scores - scores.mean(-1, keepdim=True),
    "future hidden": torch.tril,
}  # fmt: skip
WEIGHT_CHANGES = {
    "uniform but for the best": lambda weights: weights.where(weights == weights.amax(-1, keepdim=True), 0.1),
    "keys reversed": lambda weights: weights.flip(-1),
    "future hidden": torch.tril,
    "dropout": lambda weights: F.dropout(weights, 0.1),
    "rounded": lambda weights: weights.round(decimals=1),
    "one hundredth too large": lambda weights: weights * 1.01,
    "squared": torch.square,
}  # fmt: skip


def faults_of_scores(scores):
    """Of `scores(query, key, …)`."""
    return {name: changed(scores, change) for name, change in SCORE_CHANGES.items()}


def faults_of_attention(attention):
    """Of `attention(query, key, value, …)`, which returns the output and the weights."""
    faults = {name: reweighted(attention, change) for name, change in WEIGHT_CHANGES.items()}
    return faults | {
        "output alone": changed(attention, lambda results: results[0]),
        "values halved": lambda query, key, value, *more: attention(query, key, value / 2, *more),
        "values reversed": lambda query, key, value, *more: attention(query, key, value.flip(-2), *more),
        "last key forgotten": lambda query, key, value, *more: attention(
            query, key[..., :-1, :], value[..., :-1, :], *more
        ),
    }


def faults_of_trainable_attention(attention):
    """And those that matter to gradients alone."""
    return faults_of_attention(attention) | {
        "weights detached": changed(attention, lambda results: (results[0], results[1].detach())),
    }
