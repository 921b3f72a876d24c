"""The exercise `without_head`, tried as readers would."""

import copy

import pytest
import torch
from exercise_cases import judged_as, words
from looking_inside_answers import without_by_context
from torch.nn import functional as F

from attnlab.inside import heads_changed, zeroed
from chapters.looking_inside.exercises import (
    check_without_head,
)

without = without_by_context


def test_a_hook_left_behind_is_told_of_even_though_the_logits_are_right():
    report = check_without_head.judge(hook_left)
    assert "leaves its inputs and all settings as they were" in words(report)
    assert report.mistake == "hook left behind"


def without_columns(model, words, layer, head):
    model = copy.deepcopy(model)
    attention = model.layers[layer].self_attention
    width = attention.d_model // attention.heads
    with torch.no_grad():
        attention.out_proj.weight[:, head * width :][:, :width] = 0
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


RIGHT = {check_without_head: {"columns of a copy": without_columns}}


@pytest.mark.parametrize(
    ("work", "named"),
    [(without_by_context, "heads_changed and zeroed are"), (without_subtracted, "register_forward_hook is")],
)
def test_a_hook_which_the_text_asks_to_do_without_is_told(work, named):
    report = check_without_head.judge(work)
    assert report.mistake == "ready-made"
    assert f"{named} there already" in words(report)


NAMED = {
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
    }
}


UNKNOWN = {
    check_without_head: {
        "doubled": cut(lambda heads, head: 2 * heads),
        "shape kept, numbers not": lambda model, words, layer, head: torch.zeros_like(model(words)),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
