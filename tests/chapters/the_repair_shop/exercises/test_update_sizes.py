"""The exercise `update_sizes`, tried as readers would."""

import copy

import torch
from exercise_cases import judged_as, named

from chapters.the_repair_shop.exercises import check_update_sizes


def measured(
    share=lambda new, old: (new - old).norm() / old.norm(), keep=torch.clone, which=lambda w: w.dim() >= 2
):
    """A reader's function, in which one step may be another."""

    def code(model, step):
        matrices = [weight for weight in model.parameters() if which(weight)]
        before = [keep(weight.detach()) for weight in matrices]
        step()
        return torch.stack([share(w.detach(), old) for w, old in zip(matrices, before, strict=True)])

    return code


def by_a_copy(model, step):
    old = copy.deepcopy(model)
    step()
    return torch.tensor(
        [
            ((new - was).square().sum() / was.square().sum()).sqrt().item()
            for new, was in zip(model.parameters(), old.parameters(), strict=True)
            if new.ndim == 2
        ]
    )


def of_gradients(model, step):
    step()
    return torch.tensor(
        [
            0.0 if w.grad is None else (w.grad.norm() / w.norm()).item()
            for w in model.parameters()
            if w.ndim == 2
        ]
    )


RIGHT = {check_update_sizes: named(by_a_copy) | {"in a loop": measured()}}
NAMED = {
    check_update_sizes: {
        "no copy": measured(keep=lambda weight: weight),
        "biases and norms, too": measured(which=lambda weight: True),
        "without the table": measured(which=lambda weight: weight.dim() > 1 and weight.shape[0] != 7),
        "the size before, not the difference": measured(
            lambda new, old: (new.norm() - old.norm()) / old.norm()
        ),
        "the largest": measured(lambda new, old: (new - old).abs().max() / old.norm()),
        "over the weights after": measured(lambda new, old: (new - old).norm() / new.norm()),
        "not a share": measured(lambda new, old: (new - old).norm()),
        "one number for all": lambda model, step: measured()(model, step).mean(),
        "squared": measured(lambda new, old: (new - old).square().sum() / old.square().sum()),
        "turned round": measured(lambda new, old: old.norm() / (new - old).norm()),
        "the gradient": of_gradients,
    }
}
UNKNOWN = {check_update_sizes: {"a constant": lambda model, step: (step(), torch.full((3,), 0.1))[1]}}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
