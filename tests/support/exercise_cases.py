"""How tests judge somebody's code: what a report must say of it."""

import pytest
import torch


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


def told(check, work, said="", mistake=..., lines="", marks=()):
    """What a report on somebody's work says, the mistake that it names, and how its first lines begin."""
    label = next(each for each in (said, mistake, lines) if each and each is not ...)
    return pytest.param(check, work, said, mistake, lines, id=f"{check.name}-{label}", marks=marks)


def of(check, *rows, marks=()):
    """`*of(check_cut, (work, "Choose by"), (other, "expected", "no name"))` are rows of one exercise."""
    return [told(check, *row, marks=marks) for row in rows]


def telling(*rows):
    """`test_a_reader_is_told = telling(told(check_fitted, work, "Your numbers are"))`."""

    @pytest.mark.parametrize(("check", "work", "said", "mistake", "lines"), rows)
    def test(check, work, said, mistake, lines):
        report = check.judge(work)
        assert not report.passed, report
        assert said in words(report), report
        assert mistake in (..., report.mistake), report
        assert [line.split()[0] for line in report.lines[: len(lines)]] == [*lines], report

    return test


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
