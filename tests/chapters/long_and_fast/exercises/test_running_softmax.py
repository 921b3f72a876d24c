"""The exercise `running_softmax`, tried as readers would."""

import math

import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F

from chapters.long_and_fast.exercises import check_running_softmax


def one_maximum(query, chunks):
    highest, total, mixed = torch.tensor(-math.inf), 0.0, 0.0
    for keys, values in chunks:
        if len(keys):
            scores = keys @ query / math.sqrt(len(query))
            before, highest = highest, torch.maximum(highest, scores.max())
            weights, kept = (scores - highest).exp(), (before - highest).exp()
            total, mixed = kept * total + weights.sum(), kept * mixed + weights @ values
    return mixed / total


def by_log_sums(query, chunks):
    """The output so far and the new one, each by its share of both sums."""
    output, so_far = torch.zeros(chunks[0][1].shape[-1]), torch.tensor(-math.inf)
    for keys, values in chunks:
        scores = keys @ query / len(query) ** 0.5
        if scores.numel():
            of_both = torch.logaddexp(so_far, scores.logsumexp(0))
            output = (so_far - of_both).exp() * output + (scores - of_both).exp() @ values
            so_far = of_both
    return output


def with_a_column_of_ones(query, chunks):
    state, highest = 0.0, -math.inf
    for keys, values in chunks:
        for key, value in zip(keys, values, strict=True):
            score = (key @ query).item() / math.sqrt(query.numel())
            higher = max(highest, score)
            both = torch.cat([value, torch.ones(1)])
            state = math.exp(highest - higher) * state + math.exp(score - higher) * both
            highest = higher
    return state[:-1] / state[-1]


def all_at_once(query, chunks):
    keys, values = (torch.cat(parts) for parts in zip(*chunks, strict=True))
    return F.softmax(keys @ query / math.sqrt(len(query)), 0) @ values


def carried(*, kept=None, total=None, mixed=None, highest=None, scale=None, start=-math.inf):
    """A reader's function, in which one step may be another."""
    kept = kept or (lambda before, now: torch.exp(before - now))
    total = total or (lambda kept, total, weights: kept * total + weights.sum())
    mixed = mixed or (lambda kept, mixed, weights, values: kept * mixed + weights @ values)
    highest = highest or (lambda before, scores: torch.stack([before, scores.max()]).max())

    def code(query, chunks):
        now, summed, blend = torch.tensor(start), torch.zeros(()), torch.zeros(chunks[0][1].shape[1])
        for keys, values in chunks:
            if keys.shape[0] == 0:
                continue
            scores = keys @ query / (scale or (lambda query, keys: math.sqrt(len(query))))(query, keys)
            before, now = now, highest(now, scores)
            weights, factor = torch.exp(scores - now), kept(before, now)
            summed = total(factor, summed, weights)
            blend = mixed(factor, blend, weights, values)
        return blend / summed

    return code


def of_chunks(join):
    def code(query, chunks):
        filled = [(keys, values) for keys, values in chunks if len(keys)]
        return join(
            torch.stack(
                [((keys @ query) / math.sqrt(len(query))).softmax(-1) @ values for keys, values in filled]
            )
        )

    return code


def without_a_maximum(query, chunks):
    total, mixed = 0.0, 0.0
    for keys, values in chunks:
        weights = torch.exp(keys @ query / math.sqrt(len(query)))
        total, mixed = total + weights.sum(), mixed + weights @ values
    return mixed / total


def maximum_of_nothing(query, chunks):
    for keys, _ in chunks:
        (keys @ query).max()
    return one_maximum(query, chunks)


def powers_of_two(query, chunks):
    highest, total, mixed = torch.tensor(-math.inf), 0.0, 0.0
    for keys, values in chunks:
        if len(keys):
            scores = keys @ query / math.sqrt(len(query))
            before, highest = highest, torch.maximum(highest, scores.max())
            weights, kept = 2 ** (scores - highest), (before - highest).exp()
            total, mixed = kept * total + weights.sum(), kept * mixed + weights @ values
    return mixed / total


def undivided(query, chunks):
    scores = torch.cat([keys for keys, _ in chunks]) @ query / math.sqrt(len(query))
    return (scores - scores.max()).exp() @ torch.cat([values for _, values in chunks])


RIGHT = {
    check_running_softmax: named(one_maximum, by_log_sums, with_a_column_of_ones, all_at_once)
    | {"step by step": carried()}
}
NAMED = {
    check_running_softmax: {
        "not divided by the root": carried(scale=lambda query, keys: 1),
        "divided by d_k": carried(scale=lambda query, keys: query.numel()),
        "root of the number of keys": carried(scale=lambda query, keys: math.sqrt(len(keys))),
        "sum not rescaled": carried(total=lambda kept, total, weights: total + weights.sum()),
        "only the last sum": carried(total=lambda kept, total, weights: weights.sum()),
        "new sum rescaled, too": carried(total=lambda kept, total, weights: (total + weights.sum()) * kept),
        "output not rescaled": carried(mixed=lambda kept, mixed, weights, values: mixed + weights @ values),
        "only the last values": carried(mixed=lambda kept, mixed, weights, values: weights @ values),
        "new values rescaled, too": carried(
            mixed=lambda kept, mixed, weights, values: kept * (mixed + weights @ values)
        ),
        "divided in each chunk": carried(
            mixed=lambda kept, mixed, weights, values: kept * mixed + (weights / weights.sum()) @ values
        ),
        "rescaled the wrong way": carried(kept=lambda before, now: torch.exp(now - before)),
        "difference without exp": carried(
            kept=lambda before, now: before - now if before.isfinite() else torch.zeros(())
        ),
        "maximum of the chunk": carried(highest=lambda before, scores: scores.max()),
        "minimum": carried(
            highest=lambda before, scores: scores.min() if before.isinf() else min(before, scores.min())
        ),
        "maximum from 0": carried(start=0.0),
        "powers of 2": powers_of_two,
        "never divided": undivided,
        "mean of the chunks": of_chunks(lambda outputs: outputs.mean(0)),
        "sum of the chunks": of_chunks(lambda outputs: outputs.sum(0)),
        "last chunk alone": of_chunks(lambda outputs: outputs[-1]),
        "overflow": without_a_maximum,
        "no empty chunk": maximum_of_nothing,
        "sum not rescaled & output not rescaled": carried(kept=lambda before, now: torch.ones(())),
    }
}


UNKNOWN = {
    check_running_softmax: {
        "values turned over": lambda query, chunks: one_maximum(
            query, [(keys, values.flip(-1)) for keys, values in chunks]
        ),
        "the best key's value": lambda query, chunks: all_at_once(
            1e6 * query, [(keys, values) for keys, values in chunks]
        ),
        "one hundredth too much": changed(one_maximum, lambda output: 1.01 * output),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
