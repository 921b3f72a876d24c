"""The exercise `head_jobs`, tried as readers would."""

import copy

import torch
from exercise_cases import judged_as
from many_heads_answers import alone, columns, right

from chapters.many_heads.exercises import (
    check_head_jobs,
)

jobs_of = check_head_jobs.reference


def put_back(model, x, names):
    """In the model itself, as it was in the end."""
    weight, jobs = model.attention.W_O.weight.data, []
    kept = weight.clone()
    for head in range(model.attention.heads):
        weight[:, columns(model, head)] = 0
        share = right(model, x, names)
        jobs.append(int(share.argmin()) if share.min() < 0.5 else -1)
        weight.copy_(kept)
    return jobs


def values_silenced(model, x, names):
    """Another place where a head can be taken away: what it hands on."""
    jobs = []
    for head in range(model.attention.heads):
        damaged = copy.deepcopy(model)
        damaged.attention.W_V.weight.data[columns(model, head)] = 0
        damaged.attention.W_V.bias.data[columns(model, head)] = 0
        lost = right(model, x, names) - right(damaged, x, names)
        jobs.append(lost.argmax().item() if lost.max() > 0.5 else -1)
    return tuple(jobs)


def most_looked_at(model, x, names):
    """For each head the neighbour that its weights point at, on average."""
    weights = model(x)[1].mean(0)  # (heads, 8, 8)
    jobs = []
    for head in weights:
        away = torch.stack([head.roll(-k, 1).diagonal().mean() for k in range(8)]).argmax().item()
        said = x[..., :8].argmax(-1).roll(-away, 1).unsqueeze(-1)
        jobs.append(int((said == names).double().mean((0, 1)).argmax()))
    return jobs


def steps(model, x, names):
    """How many seats on each head looks, by its weights alone."""
    looked = model(x)[1].argmax(-1)  # (tables, heads, 8)
    return ((looked - torch.arange(8)) % 8).mode(-1).values.mode(0).values


def with_a_threshold_of(lost):
    def jobs(model, x, names):
        found = []
        for head in range(model.attention.heads):
            damaged = copy.deepcopy(model)
            damaged.attention.W_O.weight.data[:, columns(model, head)] = 0
            gone = right(model, x, names) - right(damaged, x, names)
            found.append(int(gone.argmax()) if gone.max() > lost else -1)
        return found

    return jobs


RIGHT = {
    check_head_jobs: {
        "put back": put_back,
        "each alone": alone,
        "values silenced": values_silenced,
        "a threshold of a half": with_a_threshold_of(0.5),
    }
}


NAMED = {
    check_head_jobs: {
        "read off the weights": most_looked_at,
        "seats for places": steps,
        "seats for places, back and forth": lambda *inputs: (steps(*inputs) + 3) % 8 - 3,
        "nobody has a job": with_a_threshold_of(0.95),
        "counted from 1": lambda *inputs: [job + 1 if job >= 0 else -1 for job in jobs_of(*inputs).tolist()],
    }
}


UNKNOWN = {
    check_head_jobs: {
        "always the first": lambda model, x, names: [0] * model.attention.heads,
        "a number": lambda model, x, names: 1,
        "too few": lambda model, x, names: [0],
        "left damaged": lambda model, x, names: [
            model.attention.W_O.weight.data[:, columns(model, head)].zero_() is None
            for head in range(model.attention.heads)
        ],
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
