"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.inside import heads_changed, watched, zeroed
from chapters.looking_inside.circuits import INDUCTION, PREVIOUS, Circuit
from chapters.looking_inside.exercises import (
    check_head_scores,
    check_induction_forms,
    check_induction_head,
    check_patched,
    check_repaired_probe,
    check_without_head,
)

# --- shared ---


scores = check_head_scores.reference


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


# --- head_scores ---


def scores_by_loop(weights, period):
    length = weights.shape[-1]
    before = [weights[:, t, t - 1] for t in range(1, length)]
    after = [weights[:, t, t - period + 1] for t in range(period, length)]
    return torch.stack(before).mean(0), torch.stack(after).mean(0)


def scores_by_mask(weights, period):
    places = torch.arange(weights.shape[-1])
    back = places[:, None] - places  # (T, T)
    found = []
    for wanted in (back == 1, (back == period - 1) & (places[:, None] >= period)):
        found.append((weights * wanted).sum((-2, -1)) / wanted.sum())
    return found


# --- without_head ---


def without_columns(model, words, layer, head):
    model = copy.deepcopy(model)
    attention = model.layers[layer].self_attention
    width = attention.d_model // attention.heads
    with torch.no_grad():
        attention.out_proj.weight[:, head * width :][:, :width] = 0
        return model(words)


# --- induction_head ---


def which_by_product(*inputs):
    looks, costs = looks_and_costs(*inputs)
    return divmod(int((looks * costs * (looks > 0.2)).argmax()), looks.shape[1])


def which_by_threshold(*inputs, least=0.6, rank=max):
    looks, costs = looks_and_costs(*inputs)
    return tuple(rank((looks > least).nonzero().tolist(), key=lambda place: costs[*place]))


def which_as_a_list(*inputs):
    return list(which_by_product(*inputs))


# --- patched ---


def patched_by_hand(model, words, other, layer, head, pair, where=slice(None)):
    """With hooks of one's own."""
    attention = model.layers[layer].self_attention
    width = attention.d_model // attention.heads
    own, kept = slice(head * width, (head + 1) * width), []

    def put(module, inputs):
        mixed = inputs[0].clone()
        mixed[:, where, own] = kept[0][:, where, own]
        return mixed

    hook = attention.out_proj.register_forward_pre_hook(lambda _, given: kept.append(given[0]))
    model(other)
    hook.remove()
    before = model(words)[0, -1]
    hook = attention.out_proj.register_forward_pre_hook(put)
    after = model(words)[0, -1]
    hook.remove()
    return [float(logits[pair[0]] - logits[pair[1]]) for logits in (before, after)]


def patched_by_log_probability(model, words, other, layer, head, pair):
    """The softmax takes the same from both logits."""
    both = [
        logits.log_softmax(-1)
        for logits in (model(words)[0, -1], patched_logits(model, words, other, layer, head))
    ]
    return tuple(each[pair[0]] - each[pair[1]] for each in both)


def patched_logits(model, words, other, layer, head):
    """Both sentences as one batch, and the head's findings turned round."""

    def turned(heads):
        return torch.cat(
            [heads[:, :, :head], heads[:, :, head : head + 1].flip(0), heads[:, :, head + 1 :]], 2
        )

    with heads_changed(model.layers[layer].self_attention, turned):
        return model(torch.cat([words, other]))[0, -1]


# --- repaired_probe ---


def probe_by_normal_equations(states, verbs, labels, controls):
    read = torch.stack([state[verb - 1] for state, verb in zip(states, verbs, strict=True)]).double()
    half, found = len(read) // 2, []
    for of in (labels.double(), controls.double()):
        known = read[:half]
        direction = torch.linalg.solve(known.mT @ known, known.mT @ of[:half])
        found.append(((read[half:] @ direction).sign() == of[half:]).double().mean())
    return found


def mended_but(*faults, told=lambda found, of: found[:, 0] * of > 0):
    """The probe by a reader, with some of its faults left."""

    def probe(states, verbs, labels, controls):
        places = verbs if "verb" in faults else verbs - 1
        read = states[torch.arange(len(states)), places]
        half = len(read) // 2
        known, new = (slice(None), slice(None)) if "test" in faults else (slice(half), slice(half, None))

        def share(of):
            fitted = torch.linalg.lstsq(read[known], of[known, None]).solution
            return told(read[new] @ fitted, of[new]).double().mean()

        return share(labels), 0.5 if "control" in faults else share(controls)

    return probe


# --- induction_forms ---


hand_made = check_induction_forms.reference


def handed(two=None, one=None, gap=lambda gap: gap):
    """The hand-made models, or others in their place."""

    def models():
        its_two, its_one, its_gap = hand_made()
        return two or its_two, one or its_one, gap(its_gap)

    return models


class InDisguise(nn.Module):
    """Any module will do that holds attnlab's attention."""

    def __init__(self, model):
        super().__init__()
        self.inner = model
        self.train()

    def forward(self, words):
        return 1.1 * self.inner(words)


# Two heads that look, and each of them alone would do.
TWICE = Circuit({(0, 1): PREVIOUS, (1, 2): INDUCTION, (1, 0): INDUCTION}, 2, sure=2)
ACCEPTED = {
    check_head_scores: {"loop": scores_by_loop, "mask": scores_by_mask},
    check_without_head: {"columns of a copy": without_columns},
    check_induction_head: {
        "product": which_by_product,
        "threshold": which_by_threshold,
        "a list": which_as_a_list,
    },
    check_patched: {"hooks": patched_by_hand, "log-probabilities": patched_by_log_probability},
    check_repaired_probe: {"normal equations": probe_by_normal_equations, "mended": mended_but()},
    check_induction_forms: {
        "rounded": handed(gap=lambda gap: round(gap, 1)),
        "a tensor": handed(gap=lambda gap: torch.tensor([gap])),
        "in another module": handed(one=InDisguise(hand_made()[1])),
        "two heads": handed(TWICE),
    },
}
