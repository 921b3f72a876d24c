"""The exercise `leaks`, tried as readers would."""

import torch
from exercise_cases import judged_as, named

from chapters.the_repair_shop.exercises import check_leaks


def asked(
    change=lambda ids, t, v: (ids[:, t] + 1) % v, before=lambda t: slice(0, t), evaluated=True, one=False
):
    """A reader's test, in which one step may be another."""

    def code(model, ids):
        was = model.training
        if evaluated:
            model.eval()
        logits = model(ids).detach()
        said = []
        for t in range(ids.shape[1]):
            changed = ids.clone()
            changed[:, t] = change(ids, t, logits.shape[-1])
            moved = (model(changed).detach() - logits).abs()[:, before(t)]
            said.append(bool((moved > 1e-6).any()))
        model.train(was)
        return torch.tensor(any(said) if one else said)

    return code


def by_table(model, ids):
    """All pairs of places, and then what is seen."""
    was, places = model.training, ids.shape[1]
    model.eval()
    sees = torch.zeros(places, places, dtype=torch.bool)
    with torch.no_grad():
        base = model(ids)
        for t in range(places):
            new = ids.clone()
            new[:, t] = base.shape[-1] - 1 - new[:, t]
            new[:, t] = torch.where(new[:, t] == ids[:, t], 0 * new[:, t], new[:, t])
            sees[:, t] = ((model(new) - base).abs() > 1e-6).any(-1).any(0)
    model.train(was)
    return sees.triu(1).any(0)


def who_sees(model, ids):
    was, places = model.training, ids.shape[1]
    model.eval()
    sees = torch.zeros(places, places, dtype=torch.bool)
    with torch.no_grad():
        for t in range(places):
            new = ids.clone()
            new[:, t] = (new[:, t] + 1) % 9
            sees[:, t] = ((model(new) - model(ids)).abs() > 1e-6).any(-1).any(0)
    model.train(was)
    return sees.triu(1).any(1)


def all_from_there(model, ids):
    was = model.training
    model.eval()
    said = []
    with torch.no_grad():
        for t in range(ids.shape[1]):
            new = ids.clone()
            new[:, t:] = (new[:, t:] + 1) % 9
            said.append(((model(new) - model(ids))[:, :t].abs() > 1e-6).any())
    model.train(was)
    return torch.stack(said)


RIGHT = {check_leaks: named(by_table) | {"in a loop": asked()}}
NAMED = {
    check_leaks: {
        "while it trains": asked(evaluated=False),
        "all ids from there on": all_from_there,
        "always the id 0": asked(change=lambda ids, t, v: 0),
        "its own place": asked(before=lambda t: slice(0, t + 1)),
        "only the one before": asked(before=lambda t: slice(max(t - 1, 0), t)),
        "only the first": asked(before=lambda t: slice(0, min(t, 1))),
        "who sees instead of what is seen": who_sees,
        "one answer for all": asked(one=True),
        "the wrong way round": lambda model, ids: ~asked()(model, ids),
    }
}
UNKNOWN = {
    check_leaks: {
        "every second": lambda model, ids: torch.arange(ids.shape[1]) % 2 == 1,
        "the last": lambda model, ids: torch.arange(ids.shape[1]) == ids.shape[1] - 1,
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
