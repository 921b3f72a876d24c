"""The exercise `language_model`, tried as readers would."""

import dataclasses
import math

import pytest
import torch
from exercise_cases import judged_as, words
from torch import nn
from torch.nn import functional as F
from whole_models import MyBlock, MyModel, MyNorm, block, model, norm, normed

from attnlab.attention import attend
from attnlab.layers import LayerNorm, ScaledEmbedding
from attnlab.masks import causal
from attnlab.positions import SinusoidalPositions, sinusoidal
from chapters.the_transformer.exercises import (
    check_language_model,
)
from chapters.the_transformer.exercises.language_model_mistakes import _Model

# Each answer is a training.
pytestmark = pytest.mark.thorough


def test_the_whole_model_names_at_least_thirty_mistakes():
    assert len(check_language_model.mistakes) >= 30


def test_the_parts_are_together_the_model_of_the_library():
    assert check_language_model.judge(_Model).passed


def test_a_failing_answer_leaves_the_random_numbers_as_they_were():
    """Neither what it draws itself, nor what the known mistakes draw when they are first tried, is left."""
    check = dataclasses.replace(check_language_model)  # one that nothing has been tried with
    before = torch.get_rng_state()
    report = check.judge(model(__init__=raising))
    assert "It raises RuntimeError: too wide" in words(report), report
    assert torch.equal(torch.get_rng_state(), before)


def raising(self, *sizes):
    MyModel.__init__(self, *sizes)
    raise RuntimeError("too wide")


def test_a_result_stretched_without_end_is_not_reckoned_with():
    stretched = torch.zeros(1).expand(1_000_000, 1_000_000)
    report = check_language_model.judge(model(forward=lambda self, words: stretched))
    assert "It returns a tensor of shape (1000000, 1000000): far too many numbers." in words(report), report


@pytest.mark.parametrize(
    ("code", "marks"),
    [
        # Its blocks, its feed-forward network alone, its attention alone; and both together.
        (block(feed=lambda self, x: self.narrow(F.silu(self.widen(x)))), "✓✗✓✗"),
        (block(attention=lambda self, x: 0.9 * MyBlock.attention(self, x)), "✓✓✗✗"),
        (model(begin=lambda self, words: self.norm(MyModel.begin(self, words))), "✗✗✗✗"),
    ],
    ids=["feed-forward network", "attention", "around"],
)
def test_what_is_not_known_is_told_in_which_part_it_is(code, marks):
    report = check_language_model.judge(code)
    assert [line.split()[0] for line in report.lines[: len(marks)]] == list(marks), report


class AttnlabParts(nn.Module):
    """Numbers in four matrices, and attention from the library."""

    def __init__(self, words, d_model, heads, hidden, layers):
        super().__init__()
        self.embedding, self.positions = ScaledEmbedding(words, d_model), SinusoidalPositions(d_model)
        self.layers = nn.ModuleList(MyBlockOfParts(d_model, heads, hidden) for _ in range(layers))
        self.norm, self.word = LayerNorm(d_model), nn.Linear(d_model, words)

    def forward(self, words):
        x = self.positions(self.embedding(words))
        for each in self.layers:
            x = each(x)
        return self.word(self.norm(x))


class MyBlockOfParts(MyBlock):
    def attention(self, x):
        q, k, v = (self.cut(W(x)) for W in (self.W_Q, self.W_K, self.W_V))
        return self.W_O(self.glue(attend(q, k, v, mask=causal(x.shape[1])[None])[0]))


class NestedBlock(nn.Module):
    """Attention and feed-forward network are modules of their own."""

    def __init__(self, d_model, heads, hidden):
        super().__init__()
        own = MyBlock(d_model, heads, hidden)
        self.attend, self.think = nn.ModuleDict(), nn.ModuleDict()
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            self.attend[name] = getattr(own, name)
        self.think["widen"], self.think["narrow"] = own.widen, own.narrow
        self.norm_1, self.norm_2, self.heads = own.norm_1, own.norm_2, heads

    def forward(self, x):
        normal, heads = self.norm_1(x), []
        d_k = x.shape[-1] // self.heads
        q, k, v = (self.attend[name](normal) for name in ("W_Q", "W_K", "W_V"))
        for head in range(self.heads):
            own = slice(head * d_k, (head + 1) * d_k)
            heads.append(
                F.scaled_dot_product_attention(q[..., own], k[..., own], v[..., own], is_causal=True)
            )
        x = x + self.attend["W_O"](torch.cat(heads, -1))
        return x + self.think["narrow"](self.think["widen"](self.norm_2(x)).clamp(min=0))


def with_buffer(self, *sizes):
    MyModel.__init__(self, *sizes)
    self.register_buffer("rows", sinusoidal(100, self.d_model))


def frozen_table(self, *sizes):
    MyModel.__init__(self, *sizes)
    self.rows = nn.Parameter(sinusoidal(100, self.d_model), requires_grad=False)


def post_norm(self, x):
    x = self.norm_1(x + self.attention(x))
    return self.norm_2(x + self.feed(x))


def one_norm(self, x):
    x = x + self.attention(self.norm_1(x))
    return x + self.feed(self.norm_1(x))


def without_output(self, x):
    q, k, v = (self.cut(W(x)) for W in (self.W_Q, self.W_K, self.W_V))
    return self.glue(self.weigh(q @ k.mT / self.divisor()) @ v)


def gone_through(self, words):
    x = self.begin(words)
    outputs = [each(x) for each in self.layers]
    return self.finish(outputs[-1])


def plain_list(self, *sizes):
    MyModel.__init__(self, *sizes)
    self.layers = list(self._modules.pop("layers"))


def shared(self, *sizes):
    MyModel.__init__(self, *sizes)
    self.layers = nn.ModuleList([self.layers[0]] * len(self.layers))


def guessed_table(self, *sizes):
    MyModel.__init__(self, *sizes)
    self.rows = nn.Embedding(40, self.d_model)


def tied(self, *sizes):
    MyModel.__init__(self, *sizes)
    self.word.weight = self.embedding.weight


def onto(self, x):
    x = x.clone()
    x += self.attention(self.norm_1(x))
    x += self.feed(self.norm_2(x))
    return x


def fused(**options):
    """Attention by PyTorch's own function."""

    def attention(self, x):
        parts = (self.cut(W(x)) for W in (self.W_Q, self.W_K, self.W_V))
        mask = {name: make(x.shape[1]) for name, make in options.items()}
        return self.W_O(self.glue(F.scaled_dot_product_attention(*parts, **mask)))

    return attention


def by_column(self, length):
    columns = torch.arange(self.d_model)
    angles = torch.arange(length)[:, None] / 10000 ** (columns / self.d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


def words_forgotten(self, words):
    x = MyModel.begin(self, words)
    words[:] = 0
    return x


def without_word(self, *sizes):
    MyModel.__init__(self, *sizes)
    del self.word


def angles_of(self, length):
    return torch.arange(length)[:, None] / 10000 ** (torch.arange(0, self.d_model, 2) / self.d_model)


def counted_up(self, length):
    return MyModel.table(self, length + 1)[1:]


def weighed(change):
    return block(weigh=lambda self, scores: change(scores))


def masked(change):
    return weighed(
        lambda scores: scores.masked_fill(change(torch.ones_like(scores)) == 0, -math.inf).softmax(-1)
    )


def attended(**parts):
    """Attention by another use of the four matrices."""

    def attention(self, x):
        q, k, v = parts["project"](self, x)
        found = self.weigh(self.cut(q) @ self.cut(k).mT / self.divisor()) @ self.cut(v)
        return self.W_O(self.glue(found))

    return block(attention=attention)


def ended(change):
    return model(finish=lambda self, x: change(MyModel.finish(self, x)))


RIGHT = {
    check_language_model: {
        "step by step": MyModel,
        "of attnlab's parts": AttnlabParts,
        "nested, head by head": model(Block=NestedBlock),
        "by hand": normed(MyNorm),
        "a frozen parameter": model(__init__=frozen_table, table=lambda self, length: self.rows[:length]),
        "a buffer": model(__init__=with_buffer, table=lambda self, length: self.rows[:length]),
        "-1e9": block(
            weigh=lambda self, scores: (scores + torch.full_like(scores, -1e9).triu(1)).softmax(-1)
        ),
        "dropout": model(
            finish=lambda self, x: self.word(F.dropout(self.norm(x), 0.5, training=self.training))
        ),
    }
}


NAMED = {
    check_language_model: {
        "embedding not scaled": model(
            begin=lambda self, words: self.embedding(words) + self.table(words.shape[1])
        ),
        "embedding times d_model": model(
            begin=lambda self, words: self.embedding(words) * self.d_model + self.table(words.shape[1])
        ),
        "no positions": model(begin=lambda self, words: self.embedding(words) * self.d_model**0.5),
        "positions scaled as well": model(
            begin=lambda self, words: (self.embedding(words) + self.table(words.shape[1])) * self.d_model**0.5
        ),
        "sines, then cosines": model(
            table=lambda self, length: torch.cat(
                [angles_of(self, length).sin(), angles_of(self, length).cos()], -1
            )
        ),
        "sines everywhere": model(
            table=lambda self, length: angles_of(self, length).sin().repeat_interleave(2, -1)
        ),
        "counted from 1": model(table=counted_up),
        "an exponent for each column": model(table=by_column),
        "norms behind": block(forward=post_norm),
        "no norms": block(forward=lambda self, x: x + self.attention(x) + self.feed(x + self.attention(x))),
        "one norm for both": block(forward=one_norm),
        "no residual": block(forward=lambda self, x: self.feed(self.norm_2(self.attention(self.norm_1(x))))),
        "side by side": block(
            forward=lambda self, x: x + self.attention(self.norm_1(x)) + self.feed(self.norm_2(x))
        ),
        "no feed-forward network": block(forward=lambda self, x: x + self.attention(self.norm_1(x))),
        "variance of a sample": norm(
            lambda x: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt()
        ),
        "standard deviation of a sample": norm(
            lambda x: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)
        ),
        "eps outside": norm(
            lambda x: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + 1e-5)
        ),
        "mean kept": norm(lambda x: x / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()),
        "no mask": weighed(lambda scores: scores.softmax(-1)),
        "one word too many": masked(lambda ones: ones.tril(1)),
        "not itself": masked(lambda ones: ones.tril(-1)),
        "mask turned": masked(lambda ones: ones.triu()),
        "mask reversed": masked(lambda ones: ones.triu(1)),
        "hidden after the softmax": weighed(lambda scores: scores.softmax(-1).tril()),
        "hidden scores 0": weighed(lambda scores: scores.tril().softmax(-1)),
        "softmax twice": weighed(
            lambda scores: (
                scores.masked_fill(torch.ones_like(scores).tril() == 0, -math.inf).softmax(-1).softmax(-1)
            )
        ),
        "softmax over the queries": weighed(
            lambda scores: scores.masked_fill(torch.ones_like(scores).tril() == 0, -math.inf).softmax(-2)
        ),
        "softmax over the heads": weighed(
            lambda scores: scores.masked_fill(torch.ones_like(scores).tril() == 0, -1e9).softmax(1)
        ),
        "not scaled": block(divisor=lambda self: 1),
        "divided by d_k": block(divisor=lambda self: self.d_k),
        "root of d_model": block(divisor=lambda self: math.sqrt(self.W_Q.in_features)),
        "view without transpose": block(
            cut=lambda self, x: x.view(x.shape[0], self.heads, x.shape[1], self.d_k)
        ),
        "joined without a transpose": block(glue=lambda self, x: x.reshape(len(x), x.shape[2], -1)),
        "values as they are": attended(project=lambda self, x: (self.W_Q(x), self.W_K(x), x)),
        "W_Q for all three": attended(project=lambda self, x: [self.W_Q(x)] * 3),
        "output matrix left out": block(attention=without_output),
        "no ReLU": block(feed=lambda self, x: self.narrow(self.widen(x))),
        "GELU": block(feed=lambda self, x: self.narrow(nn.GELU()(self.widen(x)))),
        "ReLU at the end": block(feed=lambda self, x: self.narrow(self.widen(x).relu()).relu()),
        "no last norm": model(finish=lambda self, x: self.word(x)),
        "probabilities": ended(lambda logits: F.softmax(logits, -1)),
        "last word alone": ended(lambda logits: logits[:, -1:, :]),
        "last word alone, without its axis": ended(lambda logits: logits[:, -1]),
        "words second": ended(lambda logits: logits.transpose(1, 2)),
        "likeliest words": ended(lambda logits: logits.argmax(dim=2)),
        "dropout always on": model(finish=lambda self, x: self.word(F.dropout(self.norm(x), 0.1))),
        "not linked": ended(torch.detach),
        "layers in a plain list": model(__init__=plain_list),
        "one layer for all": model(__init__=shared),
        "last layer alone": model(forward=gone_through),
        "positions of the texts": model(
            begin=lambda self, words: (
                MyModel.begin(self, words) - self.table(words.shape[1]) + self.table(words.shape[0])[:, None]
            )
        ),
        "twice 2": model(
            table=lambda self, length: SinusoidalPositions(self.d_model, base=1e8).rows(0, length)
        ),
        "norm_2 on the road": block(
            forward=lambda self, x: (h := self.norm_2(x + self.attention(self.norm_1(x)))) + self.feed(h)
        ),
        "attention without its norm": block(
            forward=lambda self, x: (h := x + self.attention(x)) + self.feed(self.norm_2(h))
        ),
        "RMS": norm(lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)),
        "mask times -inf": weighed(
            lambda scores: (scores + torch.ones_like(scores).triu(1) * -math.inf).softmax(-1)
        ),
        "mask reversed, in one call": block(
            attention=fused(attn_mask=lambda length: torch.ones(length, length).triu(1).bool())
        ),
        "words for heads": block(
            attention=fused(is_causal=bool),
            cut=lambda self, x: x.unflatten(-1, (self.heads, -1)),
            glue=lambda self, x: x.flatten(2),
        ),
        "dealt out anew, there and back": block(
            cut=lambda self, x: x.reshape(len(x), self.heads, -1, self.d_k),
            glue=lambda self, x: x.reshape(len(x), -1, self.heads * self.d_k),
        ),
        "written into": block(forward=onto),
        "flattened": ended(lambda logits: logits.view(-1, logits.shape[-1])),
        "tied weights": model(__init__=tied),
        "positions learned": model(
            __init__=guessed_table, table=lambda self, length: self.rows(torch.arange(length))
        ),
        "tied": model(finish=lambda self, x: self.norm(x) @ self.embedding.weight.T + self.word.bias),
        "changes its inputs": model(begin=words_forgotten),
    }
}


UNKNOWN = {
    check_language_model: {
        "a little louder": ended(lambda logits: 1.01 * logits),
        "base 1000": model(
            table=lambda self, length: SinusoidalPositions(self.d_model, base=1000.0).rows(0, length)
        ),
        "tanh": block(feed=lambda self, x: self.narrow(self.widen(x).tanh())),
        "no layers": model(__init__=lambda self, *sizes: MyModel.__init__(self, *sizes[:-1], 0)),
        "no name": model(__init__=without_word),
        "sees three words": masked(lambda ones: ones.tril().triu(-2)),
        "a number": model(forward=lambda self, words: 3),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
