"""The exercise `mean_pooled`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as

from chapters.three_ways_to_read_a_sequence.exercises import (
    check_mean_pooled,
)


def by_weights(outputs, real):
    share = real.to(outputs.dtype) / real.sum(-1, keepdim=True)
    return (share.unsqueeze(-2) @ outputs).squeeze(-2)


def by_text(outputs, real):
    if outputs.dim() == 2:
        return outputs[real].mean(0)
    return torch.stack([row[keep].mean(0) for row, keep in zip(outputs, real, strict=True)])


RIGHT = {check_mean_pooled: {"weights": by_weights, "text by text": by_text}}


NAMED = {
    check_mean_pooled: {
        "padding counted": lambda outputs, real: outputs.sum(-2) / outputs.shape[-2],
        "divided by all": lambda outputs, real: torch.where(real.unsqueeze(-1), outputs, 0).mean(-2),
        "sum": lambda outputs, real: (real.to(outputs.dtype).unsqueeze(-2) @ outputs).squeeze(-2),
        "counted over all texts": lambda outputs, real: (
            torch.where(real.unsqueeze(-1), outputs, 0).sum(-2) / real.sum()
        ),
        "taken from the front": lambda outputs, real: by_weights(
            outputs, torch.arange(outputs.shape[-2]) < real.sum(-1, keepdim=True)
        ),
        "the words filled with 0": lambda outputs, real: (
            outputs.masked_fill(real.unsqueeze(-1), 0).sum(-2) / real.sum(-1, keepdim=True)
        ),
        "filled with -inf": lambda outputs, real: (
            outputs.masked_fill(~real.unsqueeze(-1), -torch.inf).sum(-2) / real.sum(-1, keepdim=True)
        ),
        "one mean for all texts": lambda outputs, real: outputs[real].sum(0) / real.sum(),
        "padding left out, over the features": lambda outputs, real: (
            (outputs * real.unsqueeze(-1)).sum(-1) / real.sum(-1).unsqueeze(-1)
        ),
        "not added up": lambda outputs, real: outputs * real.unsqueeze(-1),
        "divided twice": lambda outputs, real: (
            (outputs * real.unsqueeze(-1)).mean(-2) / real.sum(-1).unsqueeze(-1)
        ),
        "axes counted from the front": lambda outputs, real: (
            (outputs * real[..., None]).sum(1) / real[..., None].sum(1)
        ),
        "the last word": lambda outputs, real: (
            torch.stack([row[keep][-1] for row, keep in zip(outputs, real, strict=True)])
            if outputs.dim() == 3
            else outputs[real][-1]
        ),
        "no axis for the features": lambda outputs, real: (outputs * real).sum(-2) / real.sum(-1),
        "a count without its axis": lambda outputs, real: (outputs * real[..., None]).sum(-2) / real.sum(-1),
        "last place": lambda outputs, real: outputs[..., -1, :].clone(),
        "over the features": lambda outputs, real: outputs.sum(-1) / outputs.shape[-1],
    }
}


UNKNOWN = {
    check_mean_pooled: {
        "turned": changed(check_mean_pooled.reference, torch.neg),
        "squared": lambda outputs, real: by_weights(outputs**2, real),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
