"""The exercise `patched`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as
from looking_inside_answers import without_by_context

from attnlab.inside import heads_changed
from chapters.looking_inside.exercises import (
    check_patched,
)


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


def removed(model, words, other, layer, head, pair):
    logits = without_by_context(model, words, layer, head)[0, -1]
    return patched_by_hand(model, words, other, layer, head, pair)[0], logits[pair[0]] - logits[pair[1]]


def only_kept(model, words, other, layer, head, pair):
    kept = []
    with heads_changed(model.layers[layer].self_attention, kept.append):
        model(other)


RIGHT = {check_patched: {"hooks": patched_by_hand, "log-probabilities": patched_by_log_probability}}


NAMED = {
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
    }
}


UNKNOWN = {
    check_patched: {
        "one number": changed(patched_by_hand, lambda both: both[0]),
        "half the difference": changed(patched_by_hand, lambda both: [each / 2 for each in both]),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
