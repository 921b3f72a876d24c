"""The exercise `alignment_error_rate`, tried as readers would."""

from exercise_cases import changed, judged_as
from torch.nn import functional as F

from chapters.translating_with_attention.exercises import (
    check_alignment_error_rate,
)

error_rate = check_alignment_error_rate.reference


def rate_by_counting(weights, gold):
    hits = sum(bool(gold[t, weights[t].argmax()]) for t in range(len(gold)))
    return 1 - 2 * hits / (len(gold) + gold.sum())


def rate_by_one_hot(weights, gold):
    links = F.one_hot(weights.argmax(1), weights.shape[1]).bool()
    return float(1 - 2 * (links & gold).sum() / (links.sum() + gold.sum()))


RIGHT = {check_alignment_error_rate: {"counting": rate_by_counting, "one-hot": rate_by_one_hot}}


NAMED = {
    check_alignment_error_rate: {
        "precision": lambda weights, gold: 1 - gold.gather(1, weights.argmax(1)[:, None]).double().mean(),
        "recall": lambda weights, gold: (
            1 - gold.gather(1, weights.argmax(1)[:, None]).sum().item() / gold.sum().item()
        ),
        "share right": lambda weights, gold: 1 - rate_by_counting(weights, gold),
        "strongest for each English word": lambda weights, gold: rate_by_counting(weights.mT, gold.mT),
        "weight off gold": lambda weights, gold: 1 - (weights * gold).sum(-1).mean(),
        "words without gold left out": lambda weights, gold: (
            1
            - 2
            * sum(bool(own[row.argmax()]) for row, own in zip(weights, gold, strict=True) if own.any())
            / int(gold.any(-1).sum() + gold.sum())
        ),
        "one of gold for each word": lambda weights, gold: (
            sum(
                int(row.argmax()) != row_of_gold.int().argmax()
                for row, row_of_gold in zip(weights, gold, strict=True)
            )
            / len(gold)
        ),
        "mean of the rows": lambda weights, gold: (
            1 - (2 * gold.gather(1, weights.argmax(1)[:, None])[:, 0] / (1 + gold.sum(1))).mean()
        ),
        "above one half": lambda weights, gold: (
            1 - 2 * ((weights > 0.5) & gold).sum() / ((weights > 0.5).sum() + gold.sum())
        ),
        "in per cent": lambda weights, gold: 100 * rate_by_one_hot(weights, gold),
    }
}


UNKNOWN = {
    check_alignment_error_rate: {
        "half": changed(error_rate, lambda rate: rate / 2),
        "nothing": lambda weights, gold: 0.0,
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
