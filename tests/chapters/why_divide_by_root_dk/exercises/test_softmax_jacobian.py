"""The exercise `softmax_jacobian`, tried as readers would."""

import itertools

import exercise_cases
import torch
from exercise_cases import changed, combined, judged_as
from why_divide_by_root_dk_answers import softmax

from chapters.why_divide_by_root_dk.exercises import (
    check_softmax_jacobian,
)

jacobian_of = check_softmax_jacobian.reference


def jacobian_entry_by_entry(p):
    size = p.shape[-1]
    result = p.new_zeros(*p.shape, size)
    for i, j in itertools.product(range(size), repeat=2):
        result[..., i, j] = p[..., i] * (float(i == j) - p[..., j])
    return result


FROM_PROBABILITIES = {
    "eye": lambda p: p.unsqueeze(-1) * (torch.eye(p.shape[-1], dtype=p.dtype) - p.unsqueeze(-2)),
    "einsum": lambda p: torch.diag_embed(p) - torch.einsum("...i,...j->...ij", p, p),
    "@": lambda p: p.diag_embed() - p[..., :, None] @ p[..., None, :],
    "entry by entry": jacobian_entry_by_entry,
}


def flat(one_row):
    def jacobian(scores):
        rows = [one_row(row) for row in scores.reshape(-1, scores.shape[-1])]
        return torch.stack(rows).view(*scores.shape, scores.shape[-1])

    return jacobian


def by_autograd(row):
    row = row.clone().requires_grad_()
    return torch.stack([torch.autograd.grad(p, row, retain_graph=True)[0] for p in row.softmax(-1)])


JACOBIANS = combined(changed, exercise_cases.SOFTMAXES, FROM_PROBABILITIES) | {
    "autograd.grad": flat(by_autograd),
    "vmap of jacrev": lambda scores: (
        torch.func.vmap(torch.func.jacrev(softmax))(scores.reshape(-1, scores.shape[-1]))
    ).view(*scores.shape, scores.shape[-1]),
}


RIGHT = {check_softmax_jacobian: JACOBIANS}


NAMED = {
    check_softmax_jacobian: {
        "the sigmoid's & sigmoid": lambda scores: torch.diag_embed(scores.sigmoid() * (1 - scores.sigmoid())),
        "only the diagonal": lambda scores: scores.softmax(-1) * (1 - scores.softmax(-1)),
        "no softmax": FROM_PROBABILITIES["einsum"],
        "p_i(1 - p_j) everywhere": lambda scores: (
            scores.softmax(-1)[..., :, None] @ (1 - scores.softmax(-1))[..., None, :]
        ),
        "softmax over dim=0": lambda scores: FROM_PROBABILITIES["@"](torch.softmax(scores, 0)),
        "every row by every row": torch.func.jacrev(softmax),
        "of log-softmax": lambda scores: (
            torch.eye(scores.shape[-1], dtype=scores.dtype) - scores.softmax(-1).unsqueeze(-2)
        ),
    }
}


UNKNOWN = {
    check_softmax_jacobian: {
        "halved": changed(jacobian_of, lambda jacobian: jacobian / 2),
        "columns reversed": changed(jacobian_of, lambda jacobian: jacobian.flip(-1)),
        "at a temperature": lambda scores: jacobian_of(2 * scores),
        "squared": changed(jacobian_of, lambda jacobian: jacobian @ jacobian),
        "absolute": changed(jacobian_of, torch.abs),
        "outer product": lambda scores: scores.softmax(-1)[..., None] * scores.softmax(-1)[..., None, :],
        "norm": changed(jacobian_of, lambda jacobian: jacobian.norm(dim=(-2, -1))),
        "clamped scores": lambda scores: jacobian_of(scores.clamp(-1, 1)),
        "upper half": changed(jacobian_of, torch.triu),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
