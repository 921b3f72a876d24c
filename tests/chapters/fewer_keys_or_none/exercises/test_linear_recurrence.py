"""The exercise `linear_recurrence`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F

from attnlab.today.linear import linear
from chapters.fewer_keys_or_none.exercises.linear_recurrence import check_linear_recurrence


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


def carrying(start=None, add=None, ask=None, sums=None):
    """A reader's loop, in which one step may be another."""

    def code(query, key, value, decay):
        state = torch.zeros(key.shape[1], value.shape[1]) if start is None else start
        total = torch.zeros(key.shape[1])
        outputs = []
        for t, (q, k, v) in enumerate(zip(query, key, value, strict=True)):
            old = state, total
            plain = decay * state + k.unsqueeze(1) * v
            state = plain if add is None else add(state, k, v, decay, t)
            total = decay * total + k if sums is None else sums(total, k, decay)
            outputs.append(q @ state / (q @ total) if ask is None else ask(q, state, total, *old, t))
        return torch.stack(outputs)

    return code


def tabled(query, key, value, decay):
    places = torch.arange(len(query))
    weights = torch.tril(query @ key.mT * decay ** (places[:, None] - places))
    return weights @ value / weights.sum(1, keepdim=True)


def from_all_words(query, key, value, decay):
    left = decay ** torch.arange(len(key) - 1, -1, -1.0)[:, None]
    return query @ ((left * key).T @ value) / (query @ (left * key).sum(0))[:, None]


RIGHT = {
    check_linear_recurrence: named(
        word_by_word, with_a_value_of_1_more, faded_after_reading, as_a_running_mean, all_states_at_once
    )
}
NAMED = {
    check_linear_recurrence: {
        "turned over": carrying(add=lambda s, k, v, decay, t: decay * s + v[:, None] * k),
        "state not decayed": carrying(add=lambda s, k, v, decay, t: s + k[:, None] * v),
        "new word fades, too": carrying(add=lambda s, k, v, decay, t: (s + k[:, None] * v) * decay),
        "each decay only once": carrying(add=lambda s, k, v, decay, t: s + k[:, None] * v * decay**t),
        "nothing kept": carrying(add=lambda s, k, v, decay, t: k[:, None] * v),
        "sum of keys not decayed": carrying(sums=lambda total, k, decay: total + k),
        "one word late": carrying(ask=lambda q, s, z, s_old, z_old, t: q @ s_old / (q @ z_old)),
        "state one word late": carrying(ask=lambda q, s, z, s_old, z_old, t: q @ s_old / (q @ z)),
        "not divided": carrying(ask=lambda q, s, z, s_old, z_old, t: q @ s),
        "divided by the keys alone": carrying(ask=lambda q, s, z, s_old, z_old, t: q @ s / z.sum()),
        "divided number by number": carrying(ask=lambda q, s, z, s_old, z_old, t: q @ (s / z[:, None])),
        "divided by words": carrying(ask=lambda q, s, z, s_old, z_old, t: q @ s / (t + 1)),
        "a table": tabled,
        "decay lost": lambda query, key, value, decay: word_by_word(query, key, value, 1),
        "sees ahead": from_all_words,
        "features of features": lambda *inputs: linear(*inputs, chunk=1),
    }
}
UNKNOWN = {
    check_linear_recurrence: {
        "the values": lambda query, key, value, decay: value,
        "decay squared": lambda query, key, value, decay: word_by_word(query, key, value, decay**2),
        "keys and queries swapped": lambda query, key, value, decay: word_by_word(key, query, value, decay),
        "in float64": changed(word_by_word, torch.Tensor.double),
        "a word too few": changed(word_by_word, lambda outputs: outputs[:-1]),
        "a list": changed(word_by_word, torch.Tensor.tolist),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_a_wrong_table_is_a_table_first_of_all():
    report = check_linear_recurrence.judge(lambda query, key, value, decay: (query @ key.mT) @ value)
    assert report.mistake == "a table", report


def test_words_are_more_than_numbers_in_any_state():
    """Else a state would be taken for a table, also one with a column more."""
    for case in check_linear_recurrence.cases:
        query, key, value, _ = case.inputs
        assert len(query) > 1 + max(query.shape[1], value.shape[1])
        assert min(query.min(), key.min()) > 0


def test_the_room_gives_the_same_from_vectors_whose_features_these_are():
    for case in check_linear_recurrence.cases:
        query, key, value, decay = case.fresh()
        vectors = (torch.where(each > 1, each - 1, each.log()) for each in (query, key))
        expected = check_linear_recurrence.reference(query, key, value, decay)
        torch.testing.assert_close(linear(*vectors, value, decay, 4), expected)
