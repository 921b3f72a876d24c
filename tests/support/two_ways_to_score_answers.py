"""Answers to the exercises of *two ways to score* that several of its tests begin with."""

import torch
from exercise_cases import named, weighing_by
from torch import nn
from torch.nn import functional as F

from attnlab import scores


def turned_table(query, key, query_weight, key_weight, vector):
    """The scores of the code to repair, which are right but for (…, m, n)."""
    asked, offered = (query @ query_weight.T).unsqueeze(-3), (key @ key_weight.T).unsqueeze(-2)
    return (asked + offered).tanh() @ vector


def attention_by(score, softmax):
    return weighing_by(lambda *inputs: softmax(score(*inputs)))


broken_attention = attention_by(turned_table, lambda table: table.softmax(-1).mT)


def by_hidden_unit(query, key, query_weight, key_weight, vector):
    units = zip(query_weight, key_weight, vector, strict=True)
    return sum(v * ((query @ w).unsqueeze(-1) + (key @ u).unsqueeze(-2)).tanh() for w, u, v in units)


def by_exponentials(query, key, query_weight, key_weight, vector):
    inside = (query @ query_weight.T).unsqueeze(-2) + (key @ key_weight.T).unsqueeze(-3)
    return (2 * torch.sigmoid(2 * inside) - 1) @ vector


def by_einsum(query, key, query_weight, key_weight, vector):
    asked = torch.einsum("...nd,hd->...nh", query, query_weight)[..., :, None, :]
    offered = torch.einsum("...md,hd->...mh", key, key_weight)[..., None, :, :]
    return torch.einsum("...nmh,h->...nm", torch.tanh(asked + offered), vector)


class KeyByKey(nn.Module):
    """The query is put beside each key, and one matrix reads both."""

    def forward(self, query, key, query_weight, key_weight, vector):
        weight = torch.cat([query_weight, key_weight], dim=1)
        columns = []
        for one in key.split(1, dim=-2):  # (…, 1, d_k)
            pairs = torch.cat([query, one.expand(*query.shape[:-1], -1)], dim=-1)
            columns.append(F.linear(F.linear(pairs, weight).tanh(), vector[None]))
        return torch.cat(columns, dim=-1)


SCORES = named(by_hidden_unit, by_exponentials, by_einsum) | {
    "a module, key by key": KeyByKey(),
    "turned": lambda *inputs: turned_table(*inputs).mT,
    "attnlab, lean": lambda *inputs: scores.additive(*inputs, chunk=2),
    "attnlab's concat": lambda query, key, left, right, vector: scores.concat(
        query, key, torch.cat([left, right], dim=-1), vector
    ),
}
