"""The exercise `left_behind`, tried as readers would."""

import numpy as np
import torch
from exercise_cases import judged_as

from chapters.buffers_parameters_and_plain_tensors.exercises import (
    check_left_behind,
)

left_behind = check_left_behind.reference


def tensors(model):
    return [value for module in model.modules() for value in vars(module).values() if torch.is_tensor(value)]


def total(tensors):
    return sum(tensor.numel() for tensor in tensors)


def test_the_reference_finds_what_a_move_really_leaves_behind():
    for case in check_left_behind.cases:
        (model,) = case.fresh()
        expected = left_behind(model)
        assert total(tensor for tensor in tensors(model.to("meta")) if not tensor.is_meta) == expected


def behind_by_state(model):
    owned = [(module, vars(module) | module._parameters | module._buffers) for module in model.modules()]
    lost = [own[name] for module, own in owned for name in own if name not in module.state_dict()]
    return total(value for value in lost if torch.is_tensor(value))


RIGHT = {
    check_left_behind: {
        "sizes": lambda model: sum(value.shape.numel() for value in tensors(model)),
        "a numpy integer": lambda model: np.sum([value.numel() for value in tensors(model)], dtype=np.int64),
    }
}


NAMED = {
    check_left_behind: {
        "tensors counted": lambda model: len(tensors(model)),
        "children only": lambda model: sum(
            left_behind(child, lambda own: [own]) for child in model.children()
        ),
        "not in the state_dict": behind_by_state,
        "each name once": lambda model: total(
            {name: v for m in model.modules() for name, v in vars(m).items() if torch.is_tensor(v)}.values()
        ),
        "changes its inputs": lambda model: total(v for v in tensors(model.to("meta")) if not v.is_meta),
        "lists as well": lambda model: (
            left_behind(model)
            + total(each for one in model.modules() for each in vars(one).get("several", []))
        ),
    }
}


UNKNOWN = {
    check_left_behind: {
        "matrices only": lambda model: total(tensor for tensor in tensors(model) if tensor.dim() == 2),
        "floating point only": lambda model: total(filter(torch.is_floating_point, tensors(model))),
        "without gradients": lambda model: total(v for v in tensors(model) if not v.requires_grad),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
