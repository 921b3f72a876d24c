"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import torch
from torch.nn import functional as F

from bookkit.other_words import named
from chapters.no_table_at_all.exercises.linear_recurrence import check_linear_recurrence

# --- linear_recurrence ---


def word_by_word(query, key, value, decay):
    state = torch.zeros(key.shape[1], value.shape[1])
    total = torch.zeros(key.shape[1])
    outputs = torch.empty(value.shape)
    for t in range(len(query)):
        state = decay * state + key[t][:, None] * value[t][None, :]
        total = decay * total + key[t]
        outputs[t] = (query[t] @ state) / (query[t] * total).sum()
    return outputs


def with_a_value_of_1_more(query, key, value, decay):
    value = F.pad(value, (0, 1), value=1.0)
    state, rows = 0, []
    for q, k, v in zip(query, key, value, strict=True):
        state = state * decay + torch.einsum("i,j->ij", k, v)
        rows.append(q @ state)
    rows = torch.stack(rows)
    return rows[:, :-1] / rows[:, -1:]


def faded_after_reading(query, key, value, decay):
    """All fades at the end of a step, the new word too: that is the next step's beginning."""
    state, total, rows = 0, 0, []
    for q, k, v in zip(query, key, value, strict=True):
        state, total = state + torch.outer(v, k), total + k
        rows.append(state @ q / (q @ total))
        state, total = decay * state, decay * total
    return torch.stack(rows)


def as_a_running_mean(query, key, value, decay):
    """Both are scaled alike, and that cancels."""
    keep = min(decay, 0.5)
    state, total, rows, scale = 0, 0, [], 1.0
    for q, k, v in zip(query, key, value, strict=True):
        scale = scale * keep / decay
        state, total = keep * state + scale * torch.outer(k, v), keep * total + scale * k
        rows.append(q @ state / (q @ total))
    return torch.stack(rows)


def all_states_at_once(query, key, value, decay):
    """A cumulative sum holds T states, and no table."""
    left = (decay ** -torch.arange(len(key)).double())[:, None]
    states = (left[:, :, None] * key[:, :, None] * value[:, None, :]).cumsum(0)
    totals = (left * key).cumsum(0)
    found = torch.einsum("td,tdv->tv", query.double(), states)
    return (found / (query * totals).sum(-1, keepdim=True)).float()


ACCEPTED = {
    check_linear_recurrence: named(
        word_by_word, with_a_value_of_1_more, faded_after_reading, as_a_running_mean, all_states_at_once
    ),
}
