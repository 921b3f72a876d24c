"""The exercise `attention_decoder`, tried as readers would."""

import math

import pytest
import torch
from exercise_cases import judged_as, words
from torch import nn
from torch.nn import functional as F

from attnlab.attention import masked_softmax
from chapters.translating_with_attention.exercises import (
    check_attention_decoder,
)

pytestmark = pytest.mark.thorough


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


def test_the_decoder_names_at_least_twenty_mistakes():
    assert len(check_attention_decoder.mistakes) >= 20


def test_a_loop_over_the_steps_is_right_and_the_same_product_at_each_is_remarked_on():
    said = words(check_attention_decoder.judge(MyDecoder))
    assert "remark" not in said
    assert "computed twice" in words(check_attention_decoder.judge(KeysAtEachStep))


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


def weighed(change):
    return variant(weigh=lambda self, scores, mask: change(scores, mask))


def loops(**changes):
    """The decoder with other steps: `ask`, `step` and `read` are given all there is."""

    def forward(self, previous, state, memory, mask):
        first, context, logits, looked = state, torch.zeros_like(state), [], []
        for word in self.embedding(previous).unbind(1):
            if "late" in changes:
                state = self.gru(torch.cat([word, context], -1), state)
            asks = first if "first" in changes else word if "word" in changes else state
            weights = self.weigh(self.scores(asks, self.U(memory)), mask[:, 0])
            context = (weights[:, None] @ memory)[:, 0]
            before = state
            if "late" not in changes:
                start = first if "fixed" in changes else state
                state = self.gru(torch.cat([word, context], -1), start)
            read = before if "old" in changes else state
            logits.append(self.word(torch.cat([read, context], -1)))
            looked.append(weights)
        return torch.stack(logits, 1), torch.stack(looked, 1)

    return variant(forward=forward)


def dotted(decoder, previous, state, memory, mask):
    keys = nn.Identity()
    other = variant(scores=lambda self, state, memory: (memory @ state[..., None])[..., 0])(7, 4)
    other.load_state_dict(decoder.state_dict())
    other.to(memory.dtype).U = keys
    return other(previous, state, memory, mask)


class NothingInIt(nn.Module):
    def __init__(self, words, width):
        super().__init__()

    def forward(self, previous, state, memory, mask):
        return memory, mask


RIGHT = {
    check_attention_decoder: {
        "keys once": MyDecoder,
        "keys at each step": KeysAtEachStep,
        "-1e9": variant(weigh=lambda self, scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1)),
    }
}


NAMED = {
    check_attention_decoder: {
        "ready-made": variant(weigh=lambda self, scores, mask: masked_softmax(scores, mask)),
        "no tanh": variant(scores=lambda self, state, keys: self.v(self.W(state)[:, None] + keys)[..., 0]),
        "dot product": variant(
            forward=lambda self, previous, state, memory, mask: dotted(self, previous, state, memory, mask)
        ),
        "state left out": variant(
            scores=lambda self, state, keys: self.v(self.W(state).tanh()[:, None] + keys.tanh())[..., 0]
        ),
        "log-probabilities": variant(
            forward=lambda self, *inputs: (lambda logits, weights: (logits.log_softmax(-1), weights))(
                *MyDecoder.forward(self, *inputs)
            )
        ),
        "no mask": weighed(lambda scores, mask: scores.softmax(-1)),
        "reversed": weighed(lambda scores, mask: scores.masked_fill(mask, -math.inf).softmax(-1)),
        "hidden after the softmax": weighed(
            lambda scores, mask: scores.softmax(-1).masked_fill(~mask, 0),
        ),
        "score 0": weighed(lambda scores, mask: scores.masked_fill(~mask, 0).softmax(-1)),
        "softmax over the batch": weighed(
            lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(0),
        ),
        "context first": variant(fed=lambda self, word, context: torch.cat([context, word], -1)),
        "context not read": variant(
            fed=lambda self, word, context: torch.cat([word, context.new_zeros(context.shape)], -1)
        ),
        "read in the wrong order": variant(read=lambda self, state, context: torch.cat([context, state], -1)),
        "first state asks": loops(first=True),
        "word asks": loops(word=True),
        "state never moves on": loops(fixed=True),
        "old state read": loops(old=True),
        "looks after its step": loops(late=True),
        "probabilities": variant(
            forward=lambda self, *inputs: (lambda logits, weights: (logits.softmax(-1), weights))(
                *MyDecoder.forward(self, *inputs)
            )
        ),
        "results swapped": variant(forward=lambda self, *inputs: MyDecoder.forward(self, *inputs)[::-1]),
        "time first": variant(
            forward=lambda self, *inputs: tuple(x.transpose(0, 1) for x in MyDecoder.forward(self, *inputs))
        ),
        "last step alone": variant(
            forward=lambda self, *inputs: tuple(x[:, -1:] for x in MyDecoder.forward(self, *inputs))
        ),
    }
}


UNKNOWN = {
    check_attention_decoder: {
        "made of nothing": NothingInIt,
        "logits alone": variant(forward=lambda self, *inputs: MyDecoder.forward(self, *inputs)[0]),
        "dropout": weighed(lambda scores, mask: F.dropout(scores.masked_fill(~mask, -1e9).softmax(-1), 0.3)),
        "memory reversed": variant(
            forward=lambda self, previous, state, memory, mask: MyDecoder.forward(
                self, previous, state, memory.flip(1), mask
            )
        ),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
