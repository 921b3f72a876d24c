"""The exercise `induction_head`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as
from looking_inside_answers import looks_and_costs

from attnlab.inside import watched
from chapters.looking_inside.exercises import (
    check_induction_head,
)


def which_by_product(*inputs):
    looks, costs = looks_and_costs(*inputs)
    return divmod(int((looks * costs * (looks > 0.2)).argmax()), looks.shape[1])


def which_by_threshold(*inputs, least=0.6, rank=max):
    looks, costs = looks_and_costs(*inputs)
    return tuple(rank((looks > least).nonzero().tolist(), key=lambda place: costs[*place]))


def which_as_a_list(*inputs):
    return list(which_by_product(*inputs))


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


RIGHT = {
    check_induction_head: {
        "product": which_by_product,
        "threshold": which_by_threshold,
        "a list": which_as_a_list,
    }
}


NAMED = {
    check_induction_head: {
        "by its looks": by_looks,
        "by its cost": by_cost,
        "the same word": by_the_same_word,
        "one place too late": lambda model, words, periods: by_looks(
            model, words, periods.double().mean().round().long().expand_as(periods)
        ),
        "counted from 1": lambda *inputs: [number + 1 for number in which_by_product(*inputs)],
        "layer counted from 1": changed(which_by_product, lambda place: (place[0] + 1, place[1])),
        "head first": lambda *inputs: which_by_product(*inputs)[::-1],
        "costs least": lambda *inputs: which_by_threshold(*inputs, rank=min),
        "the first that looks": lambda *inputs: (looks_and_costs(*inputs)[0] > 0.5).nonzero()[0].tolist(),
        "no head looks": lambda *inputs: which_by_threshold(*inputs, least=0.9),
    }
}


UNKNOWN = {
    check_induction_head: {
        "always the first": lambda model, words, periods: (0, 0),
        "in the last layer": lambda *inputs: (
            len(inputs[0].layers) - 1,
            int(looks_and_costs(*inputs)[1][-1].argmax()),
        ),
        "a number": lambda model, words, periods: 1,
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
