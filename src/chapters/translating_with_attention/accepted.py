"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from chapters.translating_with_attention.exercises import (
    check_alignment_error_rate,
    check_attention_decoder,
    check_beam_search,
    check_one_look,
    check_repaired_company,
    check_words_read,
)

# --- one_look ---


def look_by_loop(scores, states, words):
    shifted = scores - scores[:words].max()
    powers = [shifted[place].exp() if place < words else shifted[place] * 0 for place in range(len(scores))]
    weights = torch.stack(powers) / sum(powers)
    return weights, (weights[:, None] * states).sum(0)


def look_at_a_part(scores, states, words):
    weights = torch.cat([scores[:words].softmax(0), scores[words:] * 0])
    return weights, weights[:words] @ states[:words]


# --- alignment_error_rate ---


def rate_by_counting(weights, gold):
    hits = sum(bool(gold[t, weights[t].argmax()]) for t in range(len(gold)))
    return 1 - 2 * hits / (len(gold) + gold.sum())


def rate_by_one_hot(weights, gold):
    links = F.one_hot(weights.argmax(1), weights.shape[1]).bool()
    return float(1 - 2 * (links & gold).sum() / (links.sum() + gold.sum()))


# --- repaired_company ---


def contexts_one_by_one(states, memory, lengths):
    return torch.stack(
        [
            (mine @ theirs[:length].mT).softmax(-1) @ theirs[:length]
            for mine, theirs, length in zip(states, memory, lengths, strict=True)
        ]
    )


def contexts_fused(states, memory, lengths):
    shown = torch.arange(memory.shape[1]) < lengths[:, None]
    return F.scaled_dot_product_attention(states, memory, memory, attn_mask=shown[:, None], scale=1.0)


# --- beam_search ---


def likeliest_and_the_rest(rows, ended, width, end):
    kept = sorted(rows, key=lambda one: one[1], reverse=True)[:width]
    return [one for one in kept if one[0][-1] != end], ended + [one for one in kept if one[0][-1] == end]


def refilled(rows, ended, width, end):
    """As many go on as the beam is wide. What comes in is less likely than what ended: nothing changes."""
    going_on = [one for one in rows if one[0][-1] != end]
    return (
        likeliest_and_the_rest(going_on, [], width, end)[0],
        likeliest_and_the_rest(rows, ended, width, end)[1],
    )


def beam_of_tuples(
    table,
    start,
    end,
    width,
    choose=likeliest_and_the_rest,
    stop=lambda rows, ended: False,
    longest=20,
    among=lambda rows, ended: ended or rows,
):
    rows, ended = [((start,), 0.0)], []
    for _ in range(longest):
        longer = [
            ((*row, word), total + float(table[row[-1], word]))
            for row, total in rows
            for word in range(len(table))
            if table[row[-1], word] > -math.inf
        ]
        rows, ended = choose(longer, ended, width, end)
        if not rows or stop(rows, ended):
            break
    row, total = max(among(rows, ended), key=lambda one: one[1])
    return list(row[1:]), total


# --- attention_decoder ---


class MyDecoder(nn.Module):
    """Each step is a method, for the mistakes to change."""

    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.W, self.U = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, 1, bias=False)
        self.gru, self.word = nn.GRUCell(2 * width, width), nn.Linear(2 * width, words)

    def forward(self, previous, state, memory, mask):
        logits, looked = [], []
        keys = self.U(memory)
        for step in range(previous.shape[1]):
            weights = self.weigh(self.scores(state, keys), mask[:, 0])
            context = torch.einsum("bs,bsd->bd", weights, memory)
            state = self.gru(self.fed(self.embedding(previous[:, step]), context), state)
            logits.append(self.word(self.read(state, context)))
            looked.append(weights)
        return torch.stack(logits, dim=1), torch.stack(looked, dim=1)

    def scores(self, state, keys):
        return self.v(torch.tanh(self.W(state).unsqueeze(1) + keys)).squeeze(-1)  # (B, S)

    def weigh(self, scores, mask):
        return scores.masked_fill(~mask, -math.inf).softmax(-1)

    def fed(self, word, context):
        return torch.cat([word, context], dim=-1)

    def read(self, state, context):
        return torch.cat([state, context], dim=-1)


def variant(base=MyDecoder, **methods):
    return type("MyDecoder", (base,), methods)


class KeysAtEachStep(MyDecoder):
    def forward(self, previous, state, memory, mask):
        logits, looked = [], []
        for word in self.embedding(previous).unbind(1):
            scores = self.v((self.W(state)[:, None] + self.U(memory)).tanh()).mT  # (B, 1, S)
            weights = F.softmax(scores + torch.where(mask, 0.0, -math.inf).to(scores), dim=-1)
            context = (weights @ memory).squeeze(1)
            state = self.gru(torch.hstack([word, context]), state)
            logits.append(self.word(torch.hstack([state, context])))
            looked.append(weights)
        return [torch.stack(logits, 1), torch.cat(looked, 1)]


# --- words_read ---


def one_other_word(model, source, words):
    """Each word replaced by its successor; which of them moves a row most."""
    return replaced_by(model, source, lambda word: (word + 1) % words)


def replaced_by(model, source, other_word, enough=None):
    logits, moved = model(source)[0], []
    for place in range(len(source)):
        other = source.clone()
        other[place] = other_word(int(other[place]))
        moved.append((model(other)[0] - logits).abs().sum(-1))
    if enough is not None:  # the last of those that move it so much
        rows = torch.stack(moved, dim=-1).tolist()
        return [max((place for place, by in enumerate(row) if by > enough), default=-1) for row in rows]
    most, places = torch.stack(moved).max(0)
    return torch.where(most > 1e-6, places, -1).tolist()


ACCEPTED = {
    check_one_look: {"loop": look_by_loop, "a part": look_at_a_part},
    check_alignment_error_rate: {"counting": rate_by_counting, "one-hot": rate_by_one_hot},
    check_repaired_company: {"one by one": contexts_one_by_one, "fused": contexts_fused},
    check_beam_search: {
        "tuples": beam_of_tuples,
        "filled up": partial(beam_of_tuples, choose=refilled),
        "stops when nothing likelier can come": partial(
            beam_of_tuples,
            stop=lambda rows, ended: (
                ended and max(total for _, total in ended) > max(total for _, total in rows)
            ),
        ),
        "a tensor": lambda *inputs: (torch.tensor(beam_of_tuples(*inputs)[0]), beam_of_tuples(*inputs)[1]),
    },
    check_attention_decoder: {
        "keys once": MyDecoder,
        "keys at each step": KeysAtEachStep,
        "-1e9": variant(weigh=lambda self, scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1)),
    },
    check_words_read: {"one other word": one_other_word},
}
