"""Answers to the exercises of *looking inside* that several of its tests begin with."""

import torch
from torch.nn import functional as F

from attnlab.inside import heads_changed, watched, zeroed
from chapters.looking_inside.exercises import (
    check_head_scores,
)

scores = check_head_scores.reference


def without_by_context(model, words, layer, head):
    with heads_changed(model.layers[layer].self_attention, zeroed(head)):
        return model(words)


def looks_and_costs(model, words, periods):
    """Sentence by sentence."""

    def loss():
        with torch.no_grad():
            logits = model(words)
        parts = [F.cross_entropy(logits[b, p:-1], words[b, p + 1 :]) for b, p in enumerate(periods.tolist())]
        return torch.stack(parts).mean()

    with watched(model) as weights:
        before = loss()
    looks, costs = [], []
    for layer, each in zip(model.layers, weights.values(), strict=True):
        of_sentences = [scores(each[b], p)[1] for b, p in enumerate(periods.tolist())]
        looks.append(torch.stack(of_sentences).mean(0))
        costs.append([])
        for head in range(each.shape[1]):
            with heads_changed(layer.self_attention, zeroed(head)):
                costs[-1].append(loss() - before)
    return torch.stack(looks), torch.tensor(costs)
