"""“The Transformer”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import itertools
import math

import exercise_cases
import pytest
import torch
from exercise_cases import changed, judged_as
from torch import nn
from torch.nn import functional as F

from attnlab.attention import attend
from attnlab.corpora import agreement
from attnlab.layers import EncoderLayer, LayerNorm, ScaledEmbedding
from attnlab.masks import causal
from attnlab.positions import SinusoidalPositions, sinusoidal
from attnlab.runtime import generator
from attnlab.transformer import LanguageModel
from chapters.the_transformer import exercises, models
from chapters.the_transformer.exercises import (
    check_assembled_layer,
    check_cached_step,
    check_language_model,
    check_near_the_limit,
    check_next_words,
    check_repaired_model,
)

layer, draw_words, step, results = (
    check.reference
    for check in (check_assembled_layer, check_next_words, check_cached_step, check_near_the_limit)
)


class MyBlock(nn.Module):
    """Each step is a method, for the mistakes to change."""

    def __init__(self, d_model, heads, hidden):
        super().__init__()
        self.heads, self.d_k = heads, d_model // heads
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.widen, self.narrow = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.feed(self.norm_2(x))

    def attention(self, x):
        q, k, v = (self.cut(W(x)) for W in (self.W_Q, self.W_K, self.W_V))
        found = self.weigh(q @ k.transpose(-1, -2) / self.divisor()) @ v
        return self.W_O(self.glue(found))

    def cut(self, x):
        return x.view(*x.shape[:2], self.heads, self.d_k).transpose(1, 2)

    def divisor(self):
        return math.sqrt(self.d_k)

    def weigh(self, scores):
        later = torch.ones(scores.shape[-2:]).triu(1) == 1
        return scores.masked_fill(later, -math.inf).softmax(-1)

    def glue(self, x):
        return x.transpose(1, 2).reshape(len(x), -1, self.heads * self.d_k)

    def feed(self, x):
        return self.narrow(F.relu(self.widen(x)))


class MyModel(nn.Module):
    Block = MyBlock

    def __init__(self, words, d_model, heads, hidden, layers):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(words, d_model)
        self.layers = nn.ModuleList([self.Block(d_model, heads, hidden) for _ in range(layers)])
        self.norm = nn.LayerNorm(d_model)
        self.word = nn.Linear(d_model, words)

    def forward(self, words):
        x = self.begin(words)
        for block in self.layers:
            x = block(x)
        return self.finish(x)

    def begin(self, words):
        return self.embedding(words) * math.sqrt(self.d_model) + self.table(words.shape[1])

    def table(self, length):
        table = torch.zeros(length, self.d_model)
        position = torch.arange(length).unsqueeze(1)
        frequency = torch.exp(torch.arange(0, self.d_model, 2) * (-math.log(10000.0) / self.d_model))
        table[:, 0::2] = torch.sin(position * frequency)
        table[:, 1::2] = torch.cos(position * frequency)
        return table

    def finish(self, x):
        return self.word(self.norm(x))


def model(**methods):
    return type("MyModel", (MyModel,), methods)


def block(**methods):
    """The whole model, of blocks with other methods."""
    return model(Block=type("MyBlock", (MyBlock,), methods))


def normed(norm):
    """The whole model, with a class of its own for all its norms."""

    class Block(MyBlock):
        def __init__(self, d_model, heads, hidden):
            super().__init__(d_model, heads, hidden)
            self.norm_1, self.norm_2 = norm(d_model), norm(d_model)

    def made(self, *sizes):
        MyModel.__init__(self, *sizes)
        self.norm = norm(self.d_model)

    return model(Block=Block, __init__=made)


class MyNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return self.normal(x) * self.weight + self.bias

    def normal(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + 1e-5)


def norm(normal):
    return normed(type("MyNorm", (MyNorm,), {"normal": lambda self, x: normal(x)}))


# --- the exercises themselves ---


def test_the_whole_model_names_at_least_thirty_mistakes():
    assert len(check_language_model.mistakes) >= 30


@pytest.mark.parametrize("check", [check_assembled_layer, check_next_words, check_cached_step])
def test_others_name_at_least_six(check):
    assert len(check.mistakes) >= 6


def test_a_function_is_asked_for_where_the_check_calls_it_in_a_way_of_its_own():
    assert "Give the check the function itself" in exercise_cases.words(
        check_near_the_limit.judge((3, 0.1, []))
    )


def test_the_parts_are_together_the_model_of_the_library():
    assert check_language_model.judge(exercises._Model).passed


def test_the_broken_model_fails_all_three():
    exercise_cases.assert_still_broken(check_repaired_model, ModelToRepair, "✗✗✗")


def test_chances_with_mistakes_are_told_apart_by_counting():
    """Each two that differ at all differ by more than twice what counting is wrong by: see below."""
    for case in check_next_words.cases:
        known = [exercises._chances, *(code for _, code in exercises._DRAWN.values())]
        chances = [code(*case.inputs) for code in known]
        for first, second in itertools.combinations(chances, 2):
            gap = exercises._apart(first, second)
            assert gap < 1e-6 or gap > exercises._CLOSE, (case.label, gap)


@pytest.mark.parametrize("case", check_next_words.cases, ids=lambda case: case.label)
def test_counted_shares_lie_close_to_their_chances(case):
    logits, temperature = case.inputs
    rows = logits.repeat(exercises._ROWS // len(logits), 1)
    for seed in range(20):
        calls = [generator(100 * (seed + 1) + call) for call in range(exercises._CALLS)]
        drawn = torch.cat([draw_words(rows, temperature, source) for source in calls])
        shares = F.one_hot(drawn, logits.shape[-1]).double().view(-1, *logits.shape).mean(0)
        assert exercises._apart(shares, exercises._chances(logits, temperature)) < exercises._CLOSE / 2


def test_a_model_that_knows_the_grammar_is_at_the_limit():
    fresh = exercises._spoken_of("fresh")
    exact = exercises._Knows(1 - 1e-9)
    assert abs(exercises._mean_loss(exact(fresh.previous), fresh.targets) - fresh.limit) < 1e-6


# --- right, in other words ---


def layer_in_steps(x, mask, attention, feed_forward, norm_1, norm_2):
    normal = norm_1(x)
    x = torch.add(x, attention(normal, normal, normal, mask)[0])
    return feed_forward(norm_2(x)) + x


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


def gumbel(logits, temperature, source):
    """The largest of logits and noise is drawn by its chance."""
    logits = logits.masked_fill(torch.arange(logits.shape[1]) == 0, -math.inf)
    if not temperature:
        return logits.argmax(-1)
    noise = -torch.log(-torch.log(torch.rand(logits.shape, generator=source)))
    return (logits / temperature + noise).argmax(-1)


def by_cumulated_chances(logits, temperature, source):
    chances = exercises._chances(logits, temperature)
    places = torch.rand(len(logits), 1, generator=source, dtype=chances.dtype)
    return torch.searchsorted(chances.cumsum(-1), places).squeeze(1)


def row_by_row(logits, temperature, source):
    drawn = []
    for row in logits[:, 1:]:
        if temperature == 0:
            drawn.append(int(row.argmax()) + 1)
        else:
            shifted = ((row - row.max()) / temperature).exp()
            drawn.append(int(torch.multinomial(shifted, 1, generator=source)) + 1)
    return torch.tensor(drawn)


def word_by_word(words, kept, table, w_q, w_k, w_v):
    """No mask is needed where each word is added before it looks."""
    outputs, (keys, values) = [], kept
    for word in words.unbind(1):
        x = (word + table[keys.shape[1]])[:, None]
        keys, values = torch.cat([keys, x @ w_k], 1), torch.cat([values, x @ w_v], 1)
        outputs.append((x @ w_q @ keys.mT / math.sqrt(x.shape[-1])).softmax(-1) @ values)
    return torch.cat(outputs, 1), [keys, values]


def fused_step(words, kept, table, w_q, w_k, w_v):
    before, n = kept[0].shape[1], words.shape[1]
    x = words + table[before : before + n]
    keys, values = torch.cat((kept[0], x @ w_k), 1), torch.cat((kept[1], x @ w_v), 1)
    return attend(x @ w_q, keys, values, mask=causal(n, before + n))[0], (keys, values)


class Mended(nn.Module):
    """Each fault is a method, for the others to change."""

    def __init__(self, words):
        super().__init__()
        self.embedding, self.positions = ScaledEmbedding(words, 32), SinusoidalPositions(32)
        self.layers = self.hold(EncoderLayer(32, heads=4, hidden=64, norm_first=True) for _ in range(2))
        self.norm = LayerNorm(32)
        self.word = nn.Parameter(torch.randn(32, words) / self.loudness())

    def hold(self, layers):
        return nn.ModuleList(layers)

    def loudness(self):
        return math.sqrt(32)

    def mask(self, length):
        return causal(length)

    def forward(self, words):
        x = self.positions(self.embedding(words))
        for each in self.layers:
            x = each(x, self.mask(words.shape[1]))
        return self.norm(x) @ self.word


def mended(**methods):
    return type("Mended", (Mended,), methods)


class ModelToRepair(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embedding = ScaledEmbedding(words, 32)
        self.positions = SinusoidalPositions(32)
        self.layers = [EncoderLayer(32, heads=4, hidden=64, norm_first=True) for _ in range(2)]
        self.norm = LayerNorm(32)
        self.word = nn.Parameter(torch.randn(32, words))

    def forward(self, words):
        length = words.shape[1]
        mask = torch.ones(1, length, length, dtype=torch.bool, device=words.device).tril(1)
        x = self.positions(self.embedding(words))
        for each in self.layers:
            x = each(x, mask)
        return self.norm(x) @ self.word


def handed_in(**parts):
    """The reference's three results, with some of them others."""

    def my_results():
        made = dict(zip(("model", "excess", "samples"), results(), strict=True)) | parts
        return made["model"], made["excess"], made["samples"]

    return my_results


def over_all_words():
    """The excess over the exact entropy: measured on other sentences than the limit, which is as honest."""
    nats, words = agreement.expected()
    known, excess, samples = results()
    return known, excess + exercises._spoken_of("fresh").limit - nats / words, samples


RIGHT = {
    check_assembled_layer: {"in steps": layer_in_steps},
    check_language_model: {
        "step by step": MyModel,
        "of attnlab's parts": AttnlabParts,
        "nested, head by head": model(Block=NestedBlock),
        "by hand": normed(MyNorm),
        "a frozen parameter": model(
            __init__=frozen_table, table=lambda self, length: self.rows[:length]
        ),
        "a buffer": model(__init__=with_buffer, table=lambda self, length: self.rows[:length]),
        "-1e9": block(
            weigh=lambda self, scores: (
                scores + torch.full_like(scores, -1e9).triu(1)
            ).softmax(-1)
        ),
        "dropout": model(
            finish=lambda self, x: self.word(F.dropout(self.norm(x), 0.5, training=self.training))
        ),
    },
    check_next_words: {
        "Gumbel": gumbel,
        "cumulated": by_cumulated_chances,
        "row by row": row_by_row,
    },
    check_cached_step: {"word by word": word_by_word, "fused": fused_step},
    check_repaired_model: {
        "mended": Mended,
        "embedding as output": mended(
            forward=lambda self, words: (
                Mended.forward(self, words) + 0 * self.embedding.weight.sum()
            )
        ),
        "quiet start": mended(loudness=lambda self: 100),
        "a start at 0": mended(loudness=lambda self: math.inf),
        "dropout": mended(
            hold=lambda self, layers: nn.ModuleList(
                EncoderLayer(32, heads=4, hidden=64, dropout=0.1, norm_first=True) for _ in layers
            )
        ),
    },
    check_near_the_limit: {
        "a list": lambda: list(results()),
        "as text": handed_in(samples=[" ".join(words) for words in results()[2]]),
        "a tensor": handed_in(excess=torch.tensor(results()[1])),
        "the exact limit": over_all_words,
        "as one writes": handed_in(
            samples=[" ".join(words).capitalize().replace(" .", ".") for words in results()[2]]
        ),
    },
}  # fmt: skip

# --- as learners got it wrong ---


def layer_in_place(x, mask, attention, feed_forward, norm_1, norm_2):
    x += attention(norm_1(x), mask=mask)[0]
    x += feed_forward(norm_2(x))
    return x


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


def picky(logits):
    return logits.masked_fill(torch.arange(logits.shape[1]) == 0, -math.inf)


def sampled(chances):
    """Drawn from chances (B, words), however they were made."""
    return lambda logits, temperature, source: torch.multinomial(
        chances(logits, temperature), 1, generator=source
    ).squeeze(1)


def or_greedy(code):
    """Right at temperature 0."""
    return lambda logits, temperature, source: (
        code(logits, temperature, source) if temperature else picky(logits).argmax(-1)
    )


def times(logits, temperature, source):
    chances = (logits[:, 1:] * temperature).softmax(-1)
    return 1 + torch.multinomial(chances, 1, generator=source).squeeze(1)


def in_place(logits, temperature, source):
    logits[:, 0] = -math.inf
    return gumbel(logits, temperature, source)


def own_randomness(logits, temperature, source):
    return or_greedy(
        lambda logits, temperature, source: torch.multinomial(
            exercises._chances(logits, temperature), 1
        ).squeeze(1)
    )(logits, temperature, source)


def stepping(place=None, kept_in=None, mask=None, out=None):
    def code(words, kept, table, w_q, w_k, w_v):
        before, n = kept[0].shape[1], words.shape[1]
        x = words + (table[before : before + n] if place is None else place(table, before, n))
        new = x @ w_k, x @ w_v
        keys, values = (
            [torch.cat(pair, 1) for pair in zip(kept, new, strict=True)]
            if kept_in is None
            else kept_in(kept, new)
        )
        hidden = torch.ones(n, keys.shape[1]).tril(before) == 0 if mask is None else mask(n, before) == 0
        scores = (x @ w_q @ keys.mT / 2).masked_fill(hidden, -math.inf)
        stored = (keys, values) if out is None else out(kept, new, (keys, values))
        return scores.softmax(-1) @ values, stored

    return code


def stored_words(words, kept, table, w_q, w_k, w_v):
    before, n = kept[0].shape[1], words.shape[1]
    x = torch.cat([kept[0], words + table[before : before + n]], 1)
    output = attend(x[:, before:] @ w_q, x @ w_k, x @ w_v, mask=causal(n, before + n))[0]
    return output, (x, x)


def divided_outside(self, words):
    Mended.__init__(self, words)
    del self.word
    self.word = nn.Parameter(torch.randn(32, words)) / math.sqrt(32)


def bits(known, excess, samples):
    return known, excess / math.log(2), samples


def with_padding():
    known, _, samples = results()
    fresh = exercises._spoken_of("fresh")
    loss = F.cross_entropy(known(fresh.previous).flatten(0, 1), fresh.targets.flatten()).item()
    return known, loss - fresh.limit, samples


def each_alike():
    """The mean of each sentence's own loss, less the limit."""
    known, _, samples = results()
    fresh = exercises._spoken_of("fresh")
    rows = zip(known(fresh.previous), fresh.targets, strict=True)
    losses = [F.cross_entropy(logits, targets, ignore_index=0).item() for logits, targets in rows]
    return known, sum(losses) / len(losses) - fresh.limit, samples


def loss_alone():
    known, excess, samples = results()
    return known, excess + exercises._spoken_of("fresh").limit, samples


class Copies(nn.Module):
    """Trained on targets that were not shifted."""

    def forward(self, words):
        return 9.0 * F.one_hot(words, len(models.WORDS))


class Chances(nn.Module):
    """A trained one, behind a softmax of its own."""

    def forward(self, words):
        return results()[0](words).softmax(-1)


class Untrained(nn.Module):
    def forward(self, words):
        return torch.zeros(*words.shape, len(models.WORDS))


class Peeks(nn.Module):
    def forward(self, words):
        return 9.0 * F.one_hot(words.roll(-1, 1), len(models.WORDS))


NAMED = {
    check_assembled_layer: {
        "norms behind": lambda x, mask, attention, feed, n1, n2: n2(
            n1(x + attention(x, mask=mask)[0]) + feed(n1(x + attention(x, mask=mask)[0]))
        ),
        "no residual": lambda x, mask, attention, feed, n1, n2: feed(n2(attention(n1(x), mask=mask)[0])),
        "mask not used": lambda x, mask, attention, feed, n1, n2: (
            x + attention(n1(x))[0] + feed(n2(x + attention(n1(x))[0]))
        ),
        "mask as the key": lambda x, mask, attention, feed, n1, n2: x + attention(n1(x), mask)[0],
        "mask reversed": lambda x, mask, *others: layer(x, ~mask, *others),
        "norm_1 on the road": lambda x, mask, attention, feed, n1, n2: (
            (h := n1(x) + attention(n1(x), mask=mask)[0]) + feed(n2(h))
        ),
        "norms behind the blocks": lambda x, mask, attention, feed, n1, n2: (
            (h := x + n1(attention(x, mask=mask)[0])) + n2(feed(h))
        ),
        "one residual around both": lambda x, mask, attention, feed, n1, n2: (
            feed(n2(attention(n1(x), mask=mask)[0])) + x
        ),
        "weights added": lambda x, mask, attention, feed, n1, n2: (
            (h := x + attention(n1(x), mask=mask)[1]) + feed(n2(h))
        ),
        "both results added": lambda x, mask, attention, feed, n1, n2: x + attention(n1(x), mask=mask),
        "changes its inputs": layer_in_place,
    },
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
        "no norms": block(
            forward=lambda self, x: x + self.attention(x) + self.feed(x + self.attention(x))
        ),
        "one norm for both": block(
            forward=one_norm
        ),
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
        "mean kept": norm(
            lambda x: x / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()
        ),
        "no mask": weighed(lambda scores: scores.softmax(-1)),
        "one word too many": masked(lambda ones: ones.tril(1)),
        "not itself": masked(lambda ones: ones.tril(-1)),
        "mask turned": masked(lambda ones: ones.triu()),
        "mask reversed": masked(lambda ones: ones.triu(1)),
        "hidden after the softmax": weighed(lambda scores: scores.softmax(-1).tril()),
        "hidden scores 0": weighed(lambda scores: scores.tril().softmax(-1)),
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
        "output matrix left out": block(
            attention=without_output
        ),
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
                MyModel.begin(self, words)
                - self.table(words.shape[1])
                + self.table(words.shape[0])[:, None]
            )
        ),
        "twice 2": model(
            table=lambda self, length: SinusoidalPositions(self.d_model, base=1e8).rows(0, length)
        ),
        "norm_2 on the road": block(
            forward=lambda self, x: (
                (h := self.norm_2(x + self.attention(self.norm_1(x)))) + self.feed(h)
            )
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
    },
    check_next_words: {
        "multiplied": or_greedy(times),
        "multiplied at 0, too": times,
        "softmax over the rows": or_greedy(
            lambda logits, temperature, source: (
                1 + torch.multinomial((logits[:, 1:] / temperature).softmax(0), 1, generator=source)[:, 0]
            )
        ),
        "first row for all": lambda logits, temperature, source: draw_words(
            logits[:1].expand_as(logits), temperature, source
        ),
        "one place off": lambda *inputs: draw_words(*inputs) - 1,
        "one place off at 0": lambda logits, temperature, source: (
            draw_words(logits, temperature, source) if temperature else logits[:, 1:].argmax(-1)
        ),
        "padding at 0": lambda logits, temperature, source: (
            draw_words(logits, temperature, source) if temperature else logits.argmax(-1)
        ),
        "drawn at 0": lambda logits, temperature, source: draw_words(logits, temperature or 1, source),
        "no softmax": or_greedy(sampled(lambda logits, temperature: picky(logits) / temperature)),
        "temperature used at 0 alone": or_greedy(
            sampled(lambda logits, temperature: picky(logits).softmax(-1) / temperature)
        ),
        "always the likeliest": lambda logits, temperature, source: picky(logits).argmax(-1),
        "divided by 0": sampled(
            lambda logits, temperature: (picky(logits) / torch.tensor(temperature)).softmax(-1)
        ),
        "padding drawn": lambda logits, temperature, source: (
            torch.multinomial((logits / temperature).softmax(-1), 1, generator=source).squeeze(1)
            if temperature
            else logits.argmax(-1)
        ),
        "softmax twice": or_greedy(
            sampled(lambda logits, temperature: picky((picky(logits) / temperature).softmax(-1)).softmax(-1))
        ),
        "overflow": or_greedy(
            sampled(
                lambda logits, temperature: (
                    (picky(logits) / temperature).exp()
                    / (picky(logits) / temperature).exp().sum(-1, keepdim=True)
                )
            )
        ),
        "one draw for all": lambda logits, temperature, source: gumbel(
            logits[:1], temperature, source
        ).repeat(len(logits)),
        "writes into the logits": in_place,
        "randomness from elsewhere": own_randomness,
    },
    check_cached_step: {
        "every step at position 0": stepping(place=lambda table, before, n: table[:n]),
        "one position too far": stepping(place=lambda table, before, n: table[before + 1 : before + n + 1]),
        "not stored": stepping(out=lambda kept, new, stored: kept),
        "new ones kept alone": stepping(out=lambda kept, new, stored: new),
        "pair swapped": stepping(out=lambda kept, new, stored: (stored[1], stored[0])),
        "new words in front": stepping(
            kept_in=lambda kept, new: [torch.cat([b, a], 1) for a, b in zip(kept, new, strict=True)]
        ),
        "no mask": stepping(mask=lambda n, before: torch.ones(n, before + n)),
        "mask from the first key on": stepping(mask=lambda n, before: torch.ones(n, before + n).tril()),
        "square mask": stepping(mask=lambda n, before: torch.ones(n, n).tril()),
        "words stored": stored_words,
        "mask reversed": stepping(mask=lambda n, before: 1 - torch.ones(n, before + n).tril(before)),
        "mask of the whole text": stepping(mask=lambda n, before: torch.ones(before + n, before + n).tril()),
        "matrices turned": lambda words, kept, table, *matrices: step(
            words, kept, table, *(each.T for each in matrices)
        ),
    },
    check_repaired_model: {
        "still broken": ModelToRepair,
        "loud left": mended(loudness=lambda self: 1),
        "leak left": mended(mask=lambda self, length: torch.ones(1, length, length).tril(1).bool()),
        "list left": mended(hold=lambda self, layers: list(layers)),
        "leak and list left": mended(
            hold=lambda self, layers: list(layers),
            mask=lambda self, length: torch.ones(1, length, length).tril(1).bool(),
        ),
        "no mask": mended(mask=lambda self, length: None),
        "mask turned": mended(mask=lambda self, length: causal(length).mT),
        "softmax at the end": mended(forward=lambda self, words: Mended.forward(self, words).softmax(-1)),
        "deaf": mended(mask=lambda self, length: torch.eye(length)[None].bool()),
        "word no parameter": mended(__init__=divided_outside),
        "cut off": mended(forward=torch.no_grad()(Mended.forward)),
    },
    check_near_the_limit: {
        "nothing learned": handed_in(model=Untrained(), excess=exercises._excess(Untrained())),
        "leak": handed_in(model=Peeks(), excess=exercises._excess(Peeks())),
        "not shifted": handed_in(model=Copies(), excess=exercises._excess(Copies())),
        "bits": lambda: bits(*results()),
        "padding counted": with_padding,
        "the loss itself": loss_alone,
        "limit less loss": handed_in(excess=-results()[1]),
        "each sentence alike": each_alike,
        "probabilities": handed_in(model=Chances(), excess=exercises._excess(Chances())),
        "too few": handed_in(samples=results()[2][:50]),
        "one sentence": handed_in(samples=[["the", "dogs", "see", "."]] * 100),
        "no full stop": handed_in(samples=[words[:-1] for words in results()[2]]),
        "copied": handed_in(samples=agreement.sentences(100, generator(1))),
        "marks in them": handed_in(samples=[["<start>", *words] for words in results()[2]]),
        "gone on behind the full stop": handed_in(samples=[[*words, "the"] for words in results()[2]]),
        "not grammatical": handed_in(samples=[words[::-1] for words in results()[2]]),
        "broken off": handed_in(samples=[words[:6] for words in results()[2]]),
        "numbers": handed_in(samples=models.texts(results()[2]).targets),
    },
}  # fmt: skip

# --- wrong, in ways that no catalogue holds ---

UNKNOWN = {
    check_assembled_layer: {
        "a little more": changed(layer, lambda outputs: outputs + 0.01),
        "twice": lambda *parts: layer(layer(*parts), *parts[1:]),
    },
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
    },
    check_next_words: {
        "the two likeliest alone": or_greedy(
            sampled(
                lambda logits, temperature: (
                    (picky(logits) / temperature)
                    .masked_fill(picky(logits) < picky(logits).topk(2).values[:, -1:], -math.inf)
                    .softmax(-1)
                )
            )
        ),
        "seldom another at 0": lambda logits, temperature, source: draw_words(
            logits, max(temperature, 0.1), source
        ),
        "a column": lambda logits, temperature, source: draw_words(logits, temperature, source)[:, None],
    },
    check_cached_step: {
        "a little more": lambda *inputs: (step(*inputs)[0] * 1.01, step(*inputs)[1]),
        "one thing": lambda *inputs: step(*inputs)[0],
        "two positions too far": stepping(place=lambda table, before, n: table[before + 2 : before + n + 2]),
    },
    check_repaired_model: {
        "one logit": mended(forward=lambda self, words: Mended.forward(self, words)[..., :1]),
        "silent": mended(forward=lambda self, words: 0 * Mended.forward(self, words)),
        "in bounds": mended(forward=lambda self, words: Mended.forward(self, words).tanh()),
    },
    check_near_the_limit: {
        "a guess": handed_in(excess=0.5),
        "words for a number": handed_in(excess="small"),
        "two things": lambda: results()[:2],
        "no model": handed_in(model=3),
        "logits of another shape": handed_in(model=lambda words: torch.zeros(3)),
    },
}  # fmt: skip

test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_a_model_that_was_trained_passes():
    """What the chapter's solution does, with fewer steps: the check accepts what is learned."""
    torch.manual_seed(0)
    small = LanguageModel(len(models.WORDS), d_model=16, heads=2, hidden=32, layers=1)
    report = check_near_the_limit.judge(lambda: (small, exercises._excess(small), results()[2]))
    assert [line.strip()[0] for line in report.lines[:4]] == list("✓✗✓✓")


def test_two_faults_at_once_are_told_in_words():
    code = mended(mask=lambda self, length: None, hold=lambda self, layers: list(layers))
    assert "There is no mask left" in exercise_cases.words(check_repaired_model.judge(code))
    code = handed_in(model=exercises._Knows(0.75), excess=0.0)
    assert "has learned much of the grammar" in exercise_cases.words(check_near_the_limit.judge(code))
