"""“Looking inside”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import copy

import exercise_cases
import torch
from exercise_cases import changed, judged_as, words
from torch import nn
from torch.nn import functional as F

from attnlab.inside import heads_changed, watched, zeroed
from attnlab.positions import LearnedPositions
from attnlab.transformer import LanguageModel
from chapters.looking_inside.circuits import INDUCTION, PREVIOUS, Circuit, Head
from chapters.looking_inside.exercises import (
    check_head_scores,
    check_induction_forms,
    check_induction_head,
    check_patched,
    check_repaired_probe,
    check_without_head,
)
from chapters.looking_inside.exercises.head_scores import SIX_PLACES

scores, without, which, patched, probed, hand_made = (
    check.reference
    for check in (
        check_head_scores,
        check_without_head,
        check_induction_head,
        check_patched,
        check_repaired_probe,
        check_induction_forms,
    )
)


def test_by_hand_the_scores_of_the_drawing_are_045_and_05():
    previous, induction = scores(torch.tensor([SIX_PLACES]), 3)
    assert torch.allclose(previous, torch.tensor([0.45]))
    assert torch.allclose(induction, torch.tensor([0.5]))


def test_a_head_that_is_heard_by_nobody_looks_more_surely_and_costs_nothing():
    _, deceiving, _ = check_induction_head.cases
    model, text, periods = deceiving.fresh()
    looks, costs = looks_and_costs(model, text, periods)
    assert looks[1, 0] > looks[1, 2] > 0.5
    assert abs(costs[1, 0]) < 0.05
    assert costs[1, 2] > 1


def test_the_one_who_stood_before_costs_more_than_the_induction_head():
    _, deceiving, _ = check_induction_head.cases
    _, costs = looks_and_costs(*deceiving.fresh())
    assert costs[0, 1] > costs[1, 2]


def test_a_hook_left_behind_is_told_of_even_though_the_logits_are_right():
    report = check_without_head.judge(hook_left)
    assert "leaves its inputs and all settings as they were" in words(report)
    assert report.mistake == "hook left behind"


def test_the_broken_probe_fails_every_case():
    exercise_cases.assert_still_broken(check_repaired_probe, broken_probe, "✗✗✗✗")


def test_each_fault_of_the_probe_has_a_case_that_it_alone_fails():
    for fault, case in (("test", 0), ("verb", 1), ("control", 2)):
        report = check_repaired_probe.judge(mended_but(fault))
        marks = [line.split()[0] for line in report.lines[:4]]
        assert marks == ["✗" if place in (case, 3) else "✓" for place in range(4)], report


def test_what_is_handed_over_is_asked_for_in_words():
    two, one, gap = hand_made()
    for handed, said in {
        (two, one): "three things",
        (two, "one layer", gap): "A model is expected, and str came",
        (two, LanguageModel(9, 8, 1, 8, 1), gap): "below 12",
        (two, one, "large"): "The gap is one number",
        (two, nn.Sequential(nn.Embedding(12, 12)), gap): "A model has no attention of attnlab's",
        (Circuit({}, 3), one, gap): "Two layers of attention and one are expected, and 3 and 1 came",
        (two, one, gap + 5): f"Your gap is {gap + 5:.2f}, and here one layer loses {gap:.2f} more",
        (two, one, float("nan")): "Your gap is nan",
    }.items():
        assert said in words(check_induction_forms.judge(lambda handed=handed: handed))


# --- right, in other words ---


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


def without_columns(model, words, layer, head):
    model = copy.deepcopy(model)
    attention = model.layers[layer].self_attention
    width = attention.d_model // attention.heads
    with torch.no_grad():
        attention.out_proj.weight[:, head * width :][:, :width] = 0
        return model(words)


def without_by_context(model, words, layer, head):
    with heads_changed(model.layers[layer].self_attention, zeroed(head)):
        return model(words)


def without_subtracted(model, words, layer, head):
    """What the head adds is taken from what the output matrix gives."""
    attention = model.layers[layer].self_attention
    width = attention.d_model // attention.heads
    own = slice(head * width, (head + 1) * width)

    def subtract(module, inputs, made):
        return made - F.linear(inputs[0][..., own], module.weight[:, own])

    hook = attention.out_proj.register_forward_hook(subtract)
    made = model(words)
    hook.remove()
    return made


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


def which_by_product(*inputs):
    looks, costs = looks_and_costs(*inputs)
    return divmod(int((looks * costs * (looks > 0.2)).argmax()), looks.shape[1])


def which_by_threshold(*inputs, least=0.6, rank=max):
    looks, costs = looks_and_costs(*inputs)
    return tuple(rank((looks > least).nonzero().tolist(), key=lambda place: costs[*place]))


def which_as_a_list(*inputs):
    return list(which_by_product(*inputs))


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


def handed(two=None, one=None, gap=lambda gap: gap):
    """The hand-made models, or others in their place."""

    def models():
        its_two, its_one, its_gap = hand_made()
        return two or its_two, one or its_one, gap(its_gap)

    return models


def drawn_anew():
    """A model of two layers as PyTorch draws it."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LanguageModel(12, 32, 1, 32, 2, positions=LearnedPositions(32, 20)).eval()


class InDisguise(nn.Module):
    """Any module will do that holds attnlab's attention."""

    def __init__(self, model):
        super().__init__()
        self.inner = model
        self.train()

    def forward(self, words):
        return 1.1 * self.inner(words)


# What the hand-made model of two layers loses.
TWO_LAYERS_LOSE = 0.67
# Two heads that look, and each of them alone would do.
TWICE = Circuit({(0, 1): PREVIOUS, (1, 2): INDUCTION, (1, 0): INDUCTION}, 2, sure=2)

RIGHT = {
    check_head_scores: {"loop": scores_by_loop, "mask": scores_by_mask},
    check_without_head: {
        "columns of a copy": without_columns,
        "attnlab's": without_by_context,
        "subtracted": without_subtracted,
    },
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

# --- as learners got it wrong ---


def broken_probe(states, verbs, labels, controls):
    read = states[torch.arange(len(states)), verbs]  # (N, width)
    direction = torch.linalg.lstsq(read, labels[:, None]).solution  # (width, 1)
    right = (read @ direction)[:, 0] * labels > 0
    return right.double().mean(), 0.5


def by_the_lessons_probe(states, verbs, labels, controls):
    read = states[torch.arange(len(states)), verbs - 1]
    half, inputs = len(read) // 2, F.pad(read, (0, 1), value=1.0)
    gram = inputs[:half].T @ inputs[:half] + torch.eye(inputs.shape[1])

    def share(of):
        line = torch.linalg.solve(gram, inputs[:half].T @ of[:half])
        return ((inputs[half:] @ line > 0) == (of[half:] > 0)).float().mean().item()

    return share(labels), share(controls)


def hook_left(model, words, layer, head):
    attention = model.layers[layer].self_attention
    width = attention.d_model // attention.heads

    def silence(module, inputs):
        mixed = inputs[0].clone()
        mixed[..., head * width : (head + 1) * width] = 0
        return (mixed,)

    attention.out_proj.register_forward_pre_hook(silence)
    return model(words)


def zeroed_for_good(model, words, layer, head):
    attention = model.layers[layer].self_attention
    width = attention.d_model // attention.heads
    attention.out_proj.weight.data[:, head * width : (head + 1) * width] = 0
    return model(words)


def written_while_recorded(model, words, layer, head):
    model = copy.deepcopy(model)
    attention = model.layers[layer].self_attention
    of_heads = attention.out_proj.weight.unflatten(1, (attention.heads, -1))
    of_heads[:, head] = 0
    return model(words)


def cut_after(model, words, layer, head):
    attention = model.layers[layer].self_attention
    width = attention.d_model // attention.heads

    def silence(module, inputs, made):
        made = made.clone()
        made[..., head * width : (head + 1) * width] = 0
        return made

    hook = attention.out_proj.register_forward_hook(silence)
    try:
        return model(words)
    finally:
        hook.remove()


def with_bias(model, words, layer, head):
    model = copy.deepcopy(model)
    model.layers[layer].self_attention.out_proj.bias.data.zero_()
    return without_columns(model, words, layer, head)


def cut(change):
    """Removes with attnlab's tool, by a change of (B, T, heads, d_k)."""

    def remove(model, words, layer, head):
        with heads_changed(model.layers[layer].self_attention, lambda heads: change(heads.clone(), head)):
            return model(words)

    return remove


def place_silenced(heads, head):
    heads[:, head] = 0
    return heads


def by_looks(*inputs):
    looks, _ = looks_and_costs(*inputs)
    return divmod(int(looks.argmax()), looks.shape[1])


def by_cost(*inputs):
    _, costs = looks_and_costs(*inputs)
    return divmod(int(costs.argmax()), costs.shape[1])


def by_the_same_word(model, words, periods):
    with watched(model) as weights:
        model(words)
    looks = [
        torch.stack([each[b].diagonal(-p, -2, -1).mean(-1) for b, p in enumerate(periods.tolist())]).mean(0)
        for each in weights.values()
    ]
    return divmod(int(torch.stack(looks).argmax()), looks[0].shape[0])


def removed(model, words, other, layer, head, pair):
    logits = without_by_context(model, words, layer, head)[0, -1]
    return patched_by_hand(model, words, other, layer, head, pair)[0], logits[pair[0]] - logits[pair[1]]


def only_kept(model, words, other, layer, head, pair):
    kept = []
    with heads_changed(model.layers[layer].self_attention, kept.append):
        model(other)


NAMED = {
    check_head_scores: {
        "own place": lambda weights, period: (
            weights.diagonal(0, 1, 2).mean(-1),
            scores(weights, period)[1],
        ),
        "the wrong triangle": lambda weights, period: (
            scores(weights.mT, period)[0],
            scores(weights, period)[1],
        ),
        "the same word": lambda weights, period: (
            scores(weights, period)[0],
            weights.diagonal(-period, 1, 2).mean(-1),
        ),
        "one row too many": lambda weights, period: (
            scores(weights, period)[0],
            weights.diagonal(1 - period, 1, 2).mean(-1),
        ),
        "first time counted": lambda weights, period: (
            scores(weights, period)[0],
            weights.diagonal(1 - period, 1, 2)[:, 1:].sum(-1) / weights.shape[-1],
        ),
        "over all places": lambda weights, period: tuple(
            found.sum(-1) / weights.shape[-1]
            for found in (weights.diagonal(-1, 1, 2), weights.diagonal(1 - period, 1, 2)[:, 1:])
        ),
        "heads averaged": lambda weights, period: tuple(each.mean() for each in scores(weights, period)),
        "both above the diagonal": lambda weights, period: (
            weights.diagonal(1, 1, 2).mean(-1),
            weights.diagonal(period - 1, 1, 2)[:, 1:].mean(-1),
        ),
        "one place too early": lambda weights, period: (
            scores(weights, period)[0],
            weights[:, period + 1 :].diagonal(0, 1, 2).mean(-1),
        ),
        "results swapped": lambda *inputs: scores_by_loop(*inputs)[::-1],
    },
    check_without_head: {
        "hook left behind": hook_left,
        "zeroed for good": zeroed_for_good,
        "after the output matrix": cut_after,
        "bias as well": with_bias,
        "written while recorded": written_while_recorded,
        "head counted from 1": lambda *inputs: without_columns(*inputs[:3], inputs[3] - 1),
        "a place": cut(place_silenced),
        "only that head": cut(lambda heads, head: heads - zeroed(head)(heads)),
        "all heads": cut(lambda heads, head: 0 * heads),
        "nothing": lambda model, words, layer, head: model(words),
        "layer counted from 1": lambda model, words, layer, head: without(model, words, layer - 1, head),
    },
    check_induction_head: {
        "by its looks": by_looks,
        "by its cost": by_cost,
        "the same word": by_the_same_word,
        "counted from 1": lambda *inputs: [number + 1 for number in which_by_product(*inputs)],
        "layer counted from 1": changed(which_by_product, lambda place: (place[0] + 1, place[1])),
        "head first": lambda *inputs: which_by_product(*inputs)[::-1],
        "costs least": lambda *inputs: which_by_threshold(*inputs, rank=min),
        "the first that looks": lambda *inputs: (looks_and_costs(*inputs)[0] > 0.5).nonzero()[0].tolist(),
        "no head looks": lambda *inputs: which_by_threshold(*inputs, least=0.9),
    },
    check_patched: {
        "last place only": lambda *inputs: patched_by_hand(*inputs, where=slice(-1, None)),
        "the other way round": lambda model, words, other, *rest: patched_by_hand(model, other, words, *rest),
        "from the same sentence": lambda model, words, other, *rest: patched_by_hand(
            model, words, words, *rest
        ),
        "turned": changed(patched_by_hand, lambda both: [-each for each in both]),
        "removed": removed,
        "nothing returned": only_kept,
        "head counted from 1": lambda *inputs: patched_by_hand(*inputs[:4], inputs[4] - 1, inputs[5]),
        "sign lost": changed(patched_by_hand, lambda both: [abs(each) for each in both]),
        "change alone": changed(patched_by_hand, lambda both: (both[0], both[1] - both[0])),
        "results swapped": changed(patched_by_hand, lambda both: both[::-1]),
    },
    check_repaired_probe: {
        "still broken": broken_probe,
        "tested on what it learned from": mended_but("test"),
        "reads the verb": mended_but("verb"),
        "chance in the place of a control": mended_but("control"),
        "the verb, and its own sentences": mended_but("verb", "test"),
        "no control, and its own sentences": mended_but("control", "test"),
        "no control, and the verb": mended_but("control", "verb"),
        "each against every label": mended_but(told=lambda found, of: found * of > 0),
        "true or false against 1 or −1": mended_but(told=lambda found, of: (found[:, 0] > 0) == of),
        "a bias": lambda states, *inputs: mended_but()(
            torch.cat([states, torch.ones_like(states[..., :1])], -1), *inputs
        ),
        "the lesson's probe": by_the_lessons_probe,
        "results swapped": changed(mended_but(), lambda both: both[::-1]),
    },
    check_induction_forms: {
        "models swapped": lambda: (*hand_made()[1::-1], hand_made()[2]),
        "no control": handed(one=TWICE),
        "one period": handed(Circuit({(0, 0): Head("place", "place", "next word", back=4)}, 2)),
        "untrained": handed(drawn_anew()),
        "control untrained": handed(one=Circuit({}, 1)),
        "gap turned": handed(gap=lambda gap: -gap),
        "loss of one layer": handed(gap=lambda gap: gap + TWO_LAYERS_LOSE),
        "ratio": handed(gap=lambda gap: TWO_LAYERS_LOSE / (gap + TWO_LAYERS_LOSE)),
    },
}

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_head_scores: {
        "halved": changed(scores, lambda both: (both[0], both[1] / 2)),
        "median": lambda weights, period: (
            weights.diagonal(-1, 1, 2).median(-1).values,
            scores(weights, period)[1],
        ),
    },
    check_without_head: {
        "doubled": cut(lambda heads, head: 2 * heads),
        "shape kept, numbers not": lambda model, words, layer, head: torch.zeros_like(model(words)),
    },
    check_induction_head: {
        "always the first": lambda model, words, periods: (0, 0),
        "in the last layer": lambda *inputs: (
            len(inputs[0].layers) - 1,
            int(looks_and_costs(*inputs)[1][-1].argmax()),
        ),
        "a number": lambda model, words, periods: 1,
    },
    check_patched: {
        "one number": changed(patched_by_hand, lambda both: both[0]),
        "half the difference": changed(patched_by_hand, lambda both: [each / 2 for each in both]),
    },
    check_repaired_probe: {
        "all right": lambda states, verbs, labels, controls: (1.0, 1.0),
        "first word": lambda states, verbs, labels, controls: mended_but()(
            states, torch.ones_like(verbs), labels, controls
        ),
    },
    check_induction_forms: {
        "a guessed gap": handed(gap=lambda gap: gap + 5),
        "no models": lambda: (1, 2, 3),
        "a model of something else": handed(one=nn.Linear(3, 3)),
    },
}

test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
