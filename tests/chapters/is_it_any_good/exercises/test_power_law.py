"""The exercise `power_law`, tried as readers would."""

import math
import statistics

import numpy as np
import torch
from exercise_cases import changed, judged_as, named

from chapters.is_it_any_good.exercises import check_power_law


def by_lstsq(updates, bits, asked):
    columns = torch.stack([torch.ones_like(updates), updates.log()], dim=-1)  # (n, 2)
    height, b = torch.linalg.lstsq(columns, bits.log().unsqueeze(-1)).solution.flatten()
    return height.exp(), b, (height + b * math.log(asked)).exp()


def by_polyfit(updates, bits, asked):
    b, height = np.polyfit(np.log(updates.numpy()), np.log(bits.numpy()), 1)
    return np.exp(height), b, np.exp(height) * asked**b


def by_polyfit_in_base_10(updates, bits, asked):
    b, height = np.polyfit(np.log10(updates.numpy()), np.log10(bits.numpy()), 1)
    return 10**height, b, 10 ** (height + b * np.log10(asked))


def in_base_2(updates, bits, asked):
    x, y = updates.log2(), bits.log2()
    b = ((x - x.mean()) * (y - y.mean())).mean() / x.var(correction=0)
    a = 2 ** (y.mean() - b * x.mean())
    return [a, b, a * asked**b]


def by_the_covariance(updates, bits, asked):
    spread = torch.cov(torch.stack([updates.log(), bits.log()]))  # (2, 2)
    b = spread[0, 1] / spread[0, 0]
    a = (bits.log().mean() - b * updates.log().mean()).exp()
    return a.item(), b.item(), (a * asked**b).item()


def by_sums(updates, bits, asked):
    n, x, y = len(updates), updates.log(), bits.log()
    b = (n * (x * y).sum() - x.sum() * y.sum()) / (n * (x * x).sum() - x.sum() ** 2)
    a = torch.exp((y.sum() - b * x.sum()) / n)
    return a, b, a * asked**b


def by_the_normal_equations(updates, bits, asked):
    columns = torch.stack([updates.log(), torch.ones(len(updates)).double()], -1)
    b, height = torch.linalg.solve(columns.T @ columns, columns.T @ bits.log())
    return torch.exp(height), b, torch.exp(height) * asked**b


def without_tensors(updates, bits, asked):
    b, height = statistics.linear_regression(
        *([math.log(each) for each in side.tolist()] for side in (updates, bits))
    )
    return math.exp(height), b, math.exp(height) * asked**b


def in_float32(updates, bits, asked):
    return by_lstsq(updates.float(), bits.float(), asked)


def fitted(fit, *, across=np.log, up=np.log, back=np.exp, foretell=lambda a, b, asked: a * asked**b):
    """A reader's function, in which one step may be another."""

    def code(updates, bits, asked):
        b, height = fit(across(updates.numpy()), up(bits.numpy()))
        return back(height), b, foretell(back(height), b, asked)

    return code


def polyfit(x, y):
    return np.polyfit(x, y, 1)


def itself(number):
    return number


def with_slope(slope):
    def fit(x, y):
        b = slope(x, y)
        return b, y.mean() - b * x.mean()

    return fit


def between_both_ends(x, y):
    b = (y[-1] - y[0]) / (x[-1] - x[0])
    return b, y[-1] - b * x[-1]


def without_ones(x, y):
    return np.linalg.lstsq(x[:, None], y, rcond=None)[0].item(), 0.0


def step_by_step(x, y):
    return np.mean(np.diff(y) / np.diff(x))


def mean_over_var(x, y):
    return np.mean((x - x.mean()) * (y - y.mean())) / torch.tensor(x).var().item()


def cov_over_var(x, y):
    return np.cov(x, y)[0, 1] / np.var(x)


def answer(change):
    return changed(by_polyfit, lambda results: change(*results))


RIGHT = {
    check_power_law: named(
        by_lstsq,
        by_polyfit,
        by_polyfit_in_base_10,
        in_base_2,
        by_the_covariance,
        by_sums,
        by_the_normal_equations,
        without_tensors,
        in_float32,
    )
}
NAMED = {
    check_power_law: {
        "updates without log": fitted(polyfit, across=itself),
        "bits without log": fitted(polyfit, up=itself),
        "updates without log & bits without log": fitted(polyfit, across=itself, up=itself),
        "bits without log & log a all along": fitted(polyfit, up=itself, back=itself),
        "no logarithms": fitted(polyfit, across=itself, up=itself, back=itself),
        "a straight line": fitted(
            polyfit, across=itself, up=itself, back=itself, foretell=lambda a, b, asked: a + b * asked
        ),
        "both exchanged in the fit": fitted(lambda x, y: np.polyfit(y, x, 1)),
        "slope taken for height": fitted(lambda x, y: np.polyfit(x, y, 1)[::-1]),
        "through both ends": fitted(between_both_ends),
        "mean of the steps": fitted(with_slope(step_by_step)),
        "through the origin": fitted(without_ones),
        "n and n - 1": fitted(with_slope(mean_over_var)),
        "n - 1 and n": fitted(with_slope(cov_over_var)),
        "log a all along": fitted(polyfit, back=itself),
        "log a handed over": answer(lambda a, b, foretold: (np.log(a), b, foretold)),
        "log of what is foretold": fitted(
            polyfit, foretell=lambda a, b, asked: np.log(a) + b * np.log(asked)
        ),
        "foretold at log asked": fitted(polyfit, foretell=lambda a, b, asked: a * np.log(asked) ** b),
        "sign of b": answer(lambda a, b, foretold: (a, -b, foretold)),
        "a and b exchanged": answer(lambda a, b, foretold: (b, a, foretold)),
        "log10 with exp": fitted(polyfit, across=np.log10, up=np.log10),
    }
}
UNKNOWN = {
    check_power_law: {
        "two numbers": answer(lambda a, b, foretold: (a, b)),
        "one tensor": answer(lambda *numbers: torch.tensor(numbers)),
        "zeros": lambda updates, bits, asked: (0.0, 0.0, 0.0),
        "a parabola": lambda updates, bits, asked: (
            *by_polyfit(updates, bits, asked)[:2],
            np.exp(np.polyval(np.polyfit(np.log(updates.numpy()), np.log(bits.numpy()), 2), np.log(asked))),
        ),
        "rounded": answer(lambda *numbers: tuple(round(number, 2) for number in numbers)),
        "the last bits": lambda updates, bits, asked: (*by_polyfit(updates, bits, asked)[:2], bits[-1]),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
