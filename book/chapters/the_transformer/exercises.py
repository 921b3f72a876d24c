"""The exercises of “The Transformer”: a layer, a whole language model, its cache, and one that is ill."""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.attention import MultiHeadAttention
from attnlab.corpora import agreement
from attnlab.layers import EncoderLayer, FeedForward, LayerNorm, ScaledEmbedding
from attnlab.masks import causal, padding
from attnlab.positions import SinusoidalPositions, sinusoidal
from attnlab.runtime import generator
from attnlab.shapes import Mask, Scores, Weights
from attnlab.transformer import LanguageModel
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact, whole
from bookkit.checking.mistakes import Mistakes, Part, but, in_parts
from bookkit.checking.mistakes.heads import JOINING, SPLITTING
from bookkit.checking.mistakes.weighing import DIVISORS, softmax
from bookkit.checking.wording import dtype
from chapters.the_transformer.models import WORDS, texts

# --- a layer of an encoder ------------------------------------------------------------------------

_WIDTH = 12


def _filled(module: nn.Module, seed: int) -> nn.Module:
    """The module with numbers that are the same on every machine: gains about 1, all others smaller."""
    for place, (name, parameter) in enumerate(module.named_parameters()):
        (numbers,) = draw(seed + place, tuple(parameter.shape))
        is_gain = parameter.dim() == 1 and name.endswith("weight")
        parameter.data = 1 + numbers / 4 if is_gain else 0.3 * numbers
    return module


def _parts(seed: int) -> list[nn.Module]:
    """A layer's attention, feed-forward network and two norms."""
    with torch.random.fork_rng(devices=[]):  # their first numbers are drawn, and replaced by ours
        modules = (
            MultiHeadAttention(_WIDTH, heads=3),
            FeedForward(_WIDTH, hidden=8),
            LayerNorm(_WIDTH),
            LayerNorm(_WIDTH),
        )
    return [_filled(module, seed + 100 * place) for place, module in enumerate(modules)]


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _wired(x: Tensor, attend: Part, feed: Part, norm_1: Part, norm_2: Part) -> Tensor:
    x = x + attend(norm_1(x))
    return x + feed(norm_2(x))  # type: ignore[no-any-return]


def _layer(
    x: Tensor,
    mask: Mask,
    attention: Part,
    feed_forward: Part,
    norm_1: Part,
    norm_2: Part,
    *,
    wire: Part = _wired,
) -> Tensor:
    return wire(  # type: ignore[no-any-return]
        x, lambda x: attention(x, mask=mask)[0], feed_forward, norm_1, norm_2
    )


# How a layer is put together, of two blocks and two norms, with one mistake in it.
_WIRED: Mistakes = {
    "norms behind": (
        "The norms stand behind the sums, as in the first Transformer. Here each stands before its block, "
        "and nothing but sums is on the road.",
        lambda x, attend, feed, norm_1, norm_2: _wired(
            norm_1(x + attend(x)), lambda x: 0, lambda x: norm_2(x + feed(x)) - x, _as_it_is, _as_it_is
        ),
    ),
    "norms behind the blocks": (
        "Each norm takes what its block answers. It stands before: x + block(norm(x)).",
        lambda x, attend, feed, norm_1, norm_2: _wired(
            x, lambda x: norm_1(attend(x)), lambda x: norm_2(feed(x)), _as_it_is, _as_it_is
        ),
    ),
    "attention without its norm": (
        "Attention reads x as it is: norm_1 is missing.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, _as_it_is, norm_2),
    ),
    "feed-forward without its norm": (
        "The feed-forward network reads x as it is: norm_2 is missing.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, norm_1, _as_it_is),
    ),
    "norm_1 on the road": (
        "norm_1 is on the road: attention's answer is added to the normed x. Add it to x itself.",
        lambda x, attend, feed, norm_1, norm_2: _wired(norm_1(x), attend, feed, _as_it_is, norm_2),
    ),
    "norm_2 on the road": (
        "norm_2 is on the road: the feed-forward network's answer is added to the normed x. Add it to x "
        "itself.",
        lambda x, attend, feed, norm_1, norm_2: _wired(
            norm_2(x + attend(norm_1(x))), lambda x: 0, feed, _as_it_is, _as_it_is
        ),
    ),
    "no norms": (
        "There are no norms: both blocks read x as it is.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, _as_it_is, _as_it_is),
    ),
    "one norm for both": (
        "Both blocks read through norm_1. The feed-forward network has a norm of its own, norm_2.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, norm_1, norm_1),
    ),
    "norms swapped": (
        "The norms have changed places: norm_1 stands before attention.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, norm_2, norm_1),
    ),
    "norms on the road": (
        "The norms are on the road: what is added to is the normed x. Hand it to the block alone, and add "
        "the answer to x itself.",
        lambda x, attend, feed, norm_1, norm_2: (
            norm_2(norm_1(x) + attend(norm_1(x))) + feed(norm_2(norm_1(x) + attend(norm_1(x))))
        ),
    ),
    "no residual": (
        "There is no road around the blocks: what they answer takes the place of x. Add it to x.",
        lambda x, attend, feed, norm_1, norm_2: feed(norm_2(attend(norm_1(x)))),
    ),
    "no residual around attention": (
        "The road leads around the feed-forward network alone. Add what attention answers to x, too.",
        lambda x, attend, feed, norm_1, norm_2: _wired(
            attend(norm_1(x)), lambda x: 0, feed, _as_it_is, norm_2
        ),
    ),
    "no residual around the feed-forward network": (
        "The road leads around attention alone. Add what the feed-forward network answers, too.",
        lambda x, attend, feed, norm_1, norm_2: feed(norm_2(x + attend(norm_1(x)))),
    ),
    "one residual around both": (
        "One road leads around both blocks together. Each has its own: add what attention answers to x, and "
        "to that what the feed-forward network makes of it.",
        lambda x, attend, feed, norm_1, norm_2: x + feed(norm_2(attend(norm_1(x)))),
    ),
    "side by side": (
        "The feed-forward network reads the layer's input. It comes second: it reads what attention has "
        "added to.",
        lambda x, attend, feed, norm_1, norm_2: x + attend(norm_1(x)) + feed(norm_2(x)),
    ),
    "attention's part lost": (
        "The second sum begins at the layer's input again, and what attention has added is lost. Begin "
        "where the first sum ended.",
        lambda x, attend, feed, norm_1, norm_2: x + feed(norm_2(x + attend(norm_1(x)))),
    ),
    "feed-forward first": (
        "The feed-forward network comes before attention. First the words look, then each thinks.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, feed, attend, norm_2, norm_1),
    ),
    "no feed-forward network": (
        "The feed-forward network is left out.",
        lambda x, attend, feed, norm_1, norm_2: x + attend(norm_1(x)),
    ),
    "no attention": (
        "Attention is left out: no word hears of another.",
        lambda x, attend, feed, norm_1, norm_2: x + feed(norm_2(x)),
    ),
}

check_assembled_layer = Exercise(
    "assembled_layer",
    difficulty=2,
    minutes=10,
    takes=("x", "mask", "attention", "feed_forward", "norm_1", "norm_2"),
    returns=("outputs",),
    reference=_layer,
    cases=(
        Case("right for one word", *draw(1, (1, 1, _WIDTH)), causal(1), *_parts(1000)),
        Case("right where every word sees all", *draw(2, (1, 3, _WIDTH)), padding(whole(3)), *_parts(2000)),
        Case("right under a causal mask", *draw(3, (2, 4, _WIDTH)), causal(4), *_parts(3000)),
        Case("right with padding", *draw(4, (2, 5, _WIDTH)), padding(whole(5, 2)), *_parts(4000)),
    ),
    mistakes=in_parts(_layer, wire=_WIRED)
    | {
        "mask not used": (
            "The mask does not reach attention: attention(…, mask=mask).",
            lambda x, mask, attention, *others: _layer(x, mask, lambda x, mask: attention(x), *others),
        ),
        "mask reversed": (
            "The mask is turned round before it is used. Here True means that a word may be seen. (In "
            "nn.MultiheadAttention it means that it may not.)",
            lambda x, mask, *others: _layer(x, ~mask, *others),
        ),
        "mask as the key": (
            "The mask is handed over as the key, attention's second input. Say which it is: mask=mask.",
            lambda x, mask, attention, *others: _layer(x, mask, lambda x, mask: attention(x, mask), *others),
        ),
        "keys not normed": (
            "The queries are normed, and keys and values are x itself. All three come from the normed x.",
            lambda x, mask, attention, *others: _layer(
                x, mask, lambda normed, mask: attention(normed, x, mask=mask), *others
            ),
        ),
        "values not normed": (
            "The values are x itself. Queries, keys and values all come from the normed x.",
            lambda x, mask, attention, *others: _layer(
                x, mask, lambda normed, mask: attention(normed, normed, x, mask=mask), *others
            ),
        ),
        "queries not normed": (
            "The queries are x itself. All three come from the normed x.",
            lambda x, mask, attention, feed_forward, norm_1, norm_2: _layer(
                x,
                mask,
                lambda x, mask: attention(x, norm_1(x), mask=mask),
                feed_forward,
                _as_it_is,
                norm_2,
            ),
        ),
        "weights added": (
            "Of attention's two results the weights are added. Take the output: attention(…)[0].",
            lambda x, mask, attention, *others: _layer(
                x, mask, lambda normed, mask: attention(normed, mask=mask)[1:], *others
            ),
        ),
        "both results added": (
            "Attention returns two things, its output and its weights. Take the first: attention(…)[0].",
            lambda x, mask, attention, feed_forward, norm_1, norm_2: x + attention(norm_1(x), mask=mask),
        ),
    },
)

# --- the whole model ------------------------------------------------------------------------------

_VOCABULARY, _HIDDEN = 7, 8
# What each of its layers is made of. The other parts are its embedding, its last norm, and its output matrix.
_LINEARS = ("W_Q", "W_K", "W_V", "W_O")
_NORMS = ("norm_1", "norm_2")
# attnlab's names for the same numbers.
_THEIRS = {
    "W_O": "self_attention.out_proj",
    "norm_1": "around_self_attention.norm",
    "norm_2": "around_feed_forward.norm",
    "widen": "feed_forward.widen",
    "narrow": "feed_forward.narrow",
}


class _Block(nn.Module):
    """What one layer is made of."""

    def __init__(self, d_model: int, hidden: int) -> None:
        super().__init__()
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in _LINEARS)
        self.norm_1, self.norm_2 = (nn.LayerNorm(d_model) for _ in _NORMS)
        self.widen, self.narrow = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)


def _looked_up(model: Any, words: Tensor) -> Tensor:
    return model.embedding(words) * math.sqrt(_WIDTH)  # type: ignore[no-any-return]


def _table(length: int, exponents: Tensor | None = None, start: int = 0, base: float = 10000.0) -> Tensor:
    """Angles, (length, pairs): of each position with each pair's frequency."""
    pairs = torch.arange(0, _WIDTH, 2, device="cpu") / _WIDTH if exponents is None else exponents
    positions = torch.arange(start, start + length, device="cpu")[:, None]
    return positions / base**pairs


def _woven(evens: Tensor, odds: Tensor) -> Tensor:
    return torch.stack([evens, odds], dim=-1).flatten(-2)


def _placed(length: int) -> Tensor:
    angles = _table(length)
    return _woven(angles.sin(), angles.cos())


def _shown(scores: Scores, change: Callable[[Tensor], Tensor] = torch.tril) -> Mask:
    """The mask that this makes of a square of ones: its last rows, where queries are fewer than keys."""
    n, m = scores.shape[-2:]
    return change(torch.ones(m, m, device="cpu"))[m - n :].bool()


def _under(mask: Mask, scores: Scores, value: float = -math.inf) -> Weights:
    return softmax(scores.masked_fill(~mask, value))


def _hidden(scores: Scores) -> Weights:
    return _under(_shown(scores), scores)


def _seen(change: Callable[[Tensor], Tensor], value: float = -math.inf) -> Callable[[Scores], Weights]:
    """Weights under another mask than tril."""
    return lambda scores: _under(_shown(scores, change), scores, value)


def _lowered(scores: Scores) -> Scores:
    return scores.masked_fill(~_shown(scores), -1e9)


def _normed(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias)


def _normed_by(
    spread: Callable[[Tensor], Tensor], mean: Callable[[Tensor], Tensor] = lambda x: x.mean(-1, keepdim=True)
) -> Callable[[Tensor, nn.LayerNorm], Tensor]:
    """A norm that divides by this spread of the numbers."""
    return lambda x, norm: (x - mean(x)) / spread(x) * norm.weight + norm.bias


def _fed(layer: Any, x: Tensor) -> Tensor:
    return layer.narrow(layer.widen(x).relu())  # type: ignore[no-any-return]


def _written_onto(x: Tensor, attend: Part, feed: Part, norm_1: Part, norm_2: Part) -> Tensor:
    x += attend(norm_1(x))
    x += feed(norm_2(x))
    return x


def _projected(layer: Any, x: Tensor) -> tuple[Tensor, ...]:
    return layer.W_Q(x), layer.W_K(x), layer.W_V(x)


def _split(x: Tensor, heads: int) -> Tensor:
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)  # (B, heads, T, d_k)


class _Model(nn.Module):
    """The whole model in parts, each of which can be mistaken."""

    def __init__(
        self,
        words: int,
        d_model: int,
        heads: int,
        hidden: int,
        layers: int,
        *,
        hold: Part = nn.ModuleList,
        keep: Part = lambda model: None,
        embed: Part = _looked_up,
        table: Part = _placed,
        place: Part = lambda vectors, table: vectors + table,
        go: Part = list,
        wire: Part = _wired,
        norm: Part = _normed,
        project: Part = _projected,
        split: Part = _split,
        divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
        weigh: Part = _hidden,
        join: Part = lambda found: found.transpose(1, 2).flatten(2),
        finish: Part = lambda layer, joined: layer.W_O(joined),
        feed: Part = _fed,
        end: Part = lambda model, x, norm: model.word(norm(x)),
        answer: Part = lambda logits: logits,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(words, d_model)
        self.layers = hold(_Block(d_model, hidden) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.word = nn.Linear(d_model, words)
        self.parts = embed, table, place, go, wire, norm, feed, end, answer
        self.parts_of_attention = project, split, divisor, weigh, join, finish
        keep(self)

    def forward(self, words: Tensor) -> Any:
        embed, table, place, go, wire, norm, feed, end, answer = self.parts
        x = place(embed(self, words), table(words.shape[1]))  # (B, T, d_model)
        for layer in go(self.layers):
            x = wire(
                x,
                partial(self._attend, layer),
                partial(feed, layer),
                *(partial(norm, norm=getattr(layer, name)) for name in _NORMS),
            )
        return answer(end(self, x, partial(norm, norm=self.norm)))

    def _attend(self, layer: _Block, x: Tensor) -> Tensor:
        project, split, divisor, weigh, join, finish = self.parts_of_attention
        query, key, value = (split(part, self.heads) for part in project(layer, x))
        weights = weigh(query @ key.mT / divisor(query, key))
        return finish(layer, join(weights @ value))  # type: ignore[no-any-return]


def _numbers(model: LanguageModel) -> dict[str, Tensor]:
    """attnlab's model, filled, and its numbers under the names that a reader gives them.

    At the start of a text word 0 is its position turned round, but for a little: there eps counts. And of
    three heads the last layer's first asks nothing: its scores are 0, which a score may be.
    """
    _filled(model, 7000)
    last: Any = model.layers[-1]
    for part in (last.self_attention.in_proj_weight, last.self_attention.in_proj_bias):
        part.data[: _WIDTH // 3] = 0
    (little,) = draw(6999, (_WIDTH,))
    model.embedding.weight.data[0] = (0.003 * little - sinusoidal(1, _WIDTH)[0]) / math.sqrt(_WIDTH)
    theirs = dict(model.state_dict())
    numbers = {"embedding.weight": theirs["embedding.weight"]}
    for kind in ("weight", "bias"):
        numbers |= {f"{name}.{kind}": theirs[f"{name}.{kind}"] for name in ("norm", "word")}
        for place in range(len(model.layers)):
            own = f"layers.{place}"
            three = theirs[f"{own}.self_attention.in_proj_{kind}"].chunk(3)
            numbers |= {f"{own}.{name}.{kind}": part for name, part in zip(_LINEARS, three, strict=False)}
            numbers |= {
                f"{own}.{name}.{kind}": theirs[f"{own}.{their}.{kind}"] for name, their in _THEIRS.items()
            }
    return numbers


def _inside(module: Any, name: str) -> Any:
    """The part of this name, wherever in the module it is; None where there is none."""
    found = getattr(module, name, None)
    if found is None and isinstance(module, nn.Module):
        found = next((each for path, each in module.named_modules() if path.split(".")[-1] == name), None)
    return found


def _put(model: Any, name: str, numbers: Tensor) -> Tensor:
    """model.layers[0].W_Q.weight.data = numbers, for the name "layers.0.W_Q.weight"."""
    *path, part, kind = name.split(".")
    holder = _inside(model, path[0])[int(path[1])] if path else model
    module = _inside(holder, part)
    parameter = getattr(module, kind, None)
    if not isinstance(parameter, Tensor) or parameter.shape != numbers.shape:
        came = "is missing" if parameter is None else f"is {type(parameter).__name__}"
        came = f"has shape {tuple(parameter.shape)}" if isinstance(parameter, Tensor) else came
        raise WrongTypeError(f"The check puts {tuple(numbers.shape)} numbers into {name}, which {came}.")
    parameter.data = numbers.clone()
    return parameter


def _spoken(work: Any, words: Tensor, heads: int, layers: int) -> Any:
    """The logits of the reader's model, with our numbers in it, and how many of these would train."""
    sizes = _VOCABULARY, _WIDTH, heads, _HIDDEN, layers
    with torch.random.fork_rng(devices=[]):  # first numbers are drawn, and replaced by ours
        theirs = LanguageModel(*sizes)
        model: Any = theirs if work is LanguageModel else work(*sizes)
    numbers = _numbers(theirs)
    named: list[Tensor] = [*theirs.parameters()]
    if model is not theirs:
        held = _inside(model, "layers")
        if not hasattr(held, "__len__") or len(held) != layers:
            raise WrongTypeError(f"For layers = {layers} the model needs `layers`, which holds as many.")
        named = [_put(model, name, own) for name, own in numbers.items()]
    model.eval()
    logits = model(words)
    if not isinstance(logits, Tensor):
        return logits if logits is None or logits is ... else (logits, 0)
    # Dropout may do the same twice to the few logits of one word.
    again = (model(words) for _ in range(max(1, 10 // words.numel())))
    if not all(torch.equal(logits.nan_to_num(), each.nan_to_num()) for each in again):
        raise WrongTypeError("Asked twice, in eval(), it does not give the same logits.")
    return logits, _reached(model, logits, named)


def _reached(model: nn.Module, logits: Tensor, named: Sequence[Tensor]) -> int:
    """Of the numbers that have a name, how many training would change."""
    parameters = [each for each in model.parameters() if each.requires_grad]
    with torch.enable_grad():
        loss = logits.double().square().sum()
        if not loss.requires_grad or not parameters:
            return 0
        try:
            gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        except RuntimeError as error:
            if "inplace" not in str(error):
                raise
            raise WrongTypeError("A tensor that the gradient needs was written into.") from None
    reached = [each for each, slope in zip(parameters, gradients, strict=True) if slope is not None]
    known = {id(each) for each in named}
    if any(id(each) not in known for each in reached):
        raise WrongTypeError("Training would change a parameter that has no name here.")
    return sum(each.numel() for each in reached)


_EMBEDDED: Mistakes = {
    "embedding not scaled": (
        "The embeddings are not multiplied by √d_model: beside the positions the words are too quiet.",
        lambda model, words: model.embedding(words),
    ),
    "embedding divided": (
        "The embeddings are divided by √d_model. Multiply.",
        lambda model, words: model.embedding(words) / math.sqrt(_WIDTH),
    ),
    "embedding times d_model": (
        "The embeddings are multiplied by d_model itself. It is its root.",
        lambda model, words: model.embedding(words) * _WIDTH,
    ),
}
_PLACED: Mistakes = {
    "no positions": (
        "No position is added: words are told apart by what they are, and not by where they stand.",
        lambda vectors, table: vectors,
    ),
    "positions scaled as well": (
        "The positions are multiplied by √d_model along with the words. Scale first, and then add.",
        lambda vectors, table: vectors + table * math.sqrt(_WIDTH),
    ),
    "positions multiplied": (
        "The positions are multiplied with the words. They are added.",
        lambda vectors, table: vectors * table,
    ),
    "positions of the texts": (
        "The positions count the texts of the batch, size(0), and not the words of a text, size(1). (In "
        "recipes whose batch is the second axis, it is the other way round.)",
        lambda vectors, table: vectors + _placed(len(vectors))[:, None],
    ),
}
_TABLES: Mistakes = {
    "sines, then cosines": (
        "All sines come first, and then all cosines. Here they take turns: sine and cosine of one angle are "
        "neighbours.",
        lambda length: torch.cat([_table(length).sin(), _table(length).cos()], dim=-1),
    ),
    "sines everywhere": (
        "There are sines in the odd columns, too. They hold the cosines of the same angles.",
        lambda length: _woven(_table(length).sin(), _table(length).sin()),
    ),
    "cosines first": (
        "Sine and cosine have changed places: the even columns hold sines.",
        lambda length: _woven(_table(length).cos(), _table(length).sin()),
    ),
    "counted from 1": (
        "Your first word stands at position 1. Positions are counted from 0.",
        lambda length: _woven(_table(length, start=1).sin(), _table(length, start=1).cos()),
    ),
    "an exponent for each column": (
        "Each column has an angle of its own, position / 10000^(column / d_model). The two of a pair share "
        "one, that of the even column.",
        lambda length: torch.where(
            torch.arange(_WIDTH, device="cpu") % 2 == 0,
            _table(length, torch.arange(_WIDTH, device="cpu") / _WIDTH).sin(),
            _table(length, torch.arange(_WIDTH, device="cpu") / _WIDTH).cos(),
        ),
    ),
    "half the exponent": (
        "The exponents go up by 1 / d_model from pair to pair. They go up by 2 / d_model: 2i / d_model for "
        "pair i.",
        lambda length: _woven(
            *(
                wave(_table(length, torch.arange(_WIDTH // 2, device="cpu") / _WIDTH))
                for wave in (torch.sin, torch.cos)
            )
        ),
    ),
    "twice 2": (
        "The exponents go up by 4 / d_model: arange(0, d_model, 2) counts by twos, and you take it twice.",
        lambda length: _woven(*(wave(_table(length, base=1e8)) for wave in (torch.sin, torch.cos))),
    ),
    "angles multiplied": (
        "The positions are multiplied by 10000^(2i / d_model), so that the angles run away. Divide.",
        lambda length: _woven(_table(length, base=1e-4).sin(), _table(length, base=1e-4).cos()),
    ),
}


def _variance(x: Tensor, unbiased: bool = False) -> Tensor:
    return x.var(-1, keepdim=True, correction=int(unbiased))


_NORMED: Mistakes = {
    "variance of a sample": (
        "The norm divides by d_model - 1, as torch.var and torch.std do unless told: these numbers are all "
        "there are, not a sample. correction=0.",
        _normed_by(lambda x: (_variance(x, unbiased=True) + 1e-5).sqrt()),
    ),
    "standard deviation of a sample": (
        "The norm divides by torch.std(…) + eps: that is the spread of a sample, with d_model - 1, and eps "
        "belongs inside the root.",
        _normed_by(lambda x: _variance(x, unbiased=True).sqrt() + 1e-5),
    ),
    "eps outside": (
        "The norm adds eps to the root. It belongs inside, to the variance: √(variance + eps).",
        _normed_by(lambda x: _variance(x).sqrt() + 1e-5),
    ),
    "RMS": (
        "This is an RMSNorm: the mean stays, and counts in the spread. A layer norm takes it away first.",
        _normed_by(
            lambda x: (x.square().mean(-1, keepdim=True) + 1e-5).sqrt(), mean=lambda x: torch.zeros(())
        ),
    ),
    "no eps": (
        "The norm has no eps, or next to none. Add 1e-5 to the variance, inside the root.",
        _normed_by(lambda x: _variance(x).sqrt()),
    ),
    "another eps": (
        "The norm's eps is 1e-6. nn.LayerNorm has 1e-5, and where numbers lie close together it counts.",
        _normed_by(lambda x: (_variance(x) + 1e-6).sqrt()),
    ),
    "divided by the variance": (
        "The norm divides by the variance. It is its root.",
        _normed_by(lambda x: _variance(x) + 1e-5),
    ),
    "mean kept": (
        "The norm does not take the mean away.",
        _normed_by(lambda x: (_variance(x) + 1e-5).sqrt(), mean=lambda x: torch.zeros(())),
    ),
    "no gain": (
        "The norm leaves out its gain, `weight`.",
        lambda x, norm: F.layer_norm(x, x.shape[-1:], None, norm.bias),
    ),
    "no bias": (
        "The norm leaves out its bias.",
        lambda x, norm: F.layer_norm(x, x.shape[-1:], norm.weight),
    ),
    "norm over the whole text": (
        "The norm runs over all words of a text together, so that each hears of the later ones. It is over "
        "one word's numbers.",
        lambda x, norm: F.layer_norm(x, x.shape[-2:]) * norm.weight + norm.bias,
    ),
    "norm over the words": (
        "The norm runs over the words, dim=1. It is over one word's numbers: dim=-1.",
        lambda x, norm: F.layer_norm(x.mT, x.shape[1:2]).mT * norm.weight + norm.bias,
    ),
}
_PROJECTED: Mistakes = {
    "values as they are": (
        "The values are not projected: W_V is missing.",
        lambda layer, x: (layer.W_Q(x), layer.W_K(x), x),
    ),
    "W_Q for all three": (
        "Queries, keys and values all go through W_Q. Each has a matrix of its own.",
        lambda layer, x: (layer.W_Q(x),) * 3,
    ),
    "keys through W_Q": (
        "The keys go through W_Q. They have a matrix of their own, W_K.",
        lambda layer, x: (layer.W_Q(x), layer.W_Q(x), layer.W_V(x)),
    ),
    "values through W_K": (
        "The values go through W_K. They have a matrix of their own, W_V.",
        lambda layer, x: (layer.W_Q(x), layer.W_K(x), layer.W_K(x)),
    ),
    "W_Q and W_K swapped": (
        "W_Q and W_K have changed places: queries go through W_Q.",
        lambda layer, x: (layer.W_K(x), layer.W_Q(x), layer.W_V(x)),
    ),
    "biases left out": (
        "The biases of W_Q, W_K and W_V are left out. Call the nn.Linear.",
        lambda layer, x: tuple(F.linear(x, getattr(layer, name).weight) for name in _LINEARS[:3]),
    ),
}
_WEIGHED: Mistakes = {
    "no mask": (
        "There is no causal mask: each word sees those that it should foretell.",
        softmax,
    ),
    "one word too many": (
        "The mask is off by one: each word sees the next, which it should foretell.",
        _seen(lambda ones: ones.tril(1)),
    ),
    "not itself": (
        "The mask is off by one: a word does not see itself, and the first sees nothing, which is 0 / 0.",
        _seen(lambda ones: ones.tril(-1)),
    ),
    "mask turned": (
        "The mask is turned on its side: each word sees itself and what comes after.",
        _seen(torch.triu),
    ),
    "mask reversed": (
        "The mask is reversed: what may be seen is hidden, and what comes after is seen.",
        _seen(lambda ones: 1 - ones.tril()),
    ),
    "mask reversed, in one call": (
        "The mask is reversed. F.scaled_dot_product_attention wants True where a word may be seen, and "
        "nn.MultiheadAttention where it may not.",
        lambda scores: _seen(lambda ones: 1 - ones.tril())(scores).nan_to_num(),
    ),
    "mask times -inf": (
        "The mask is multiplied by -inf, and 0 times -inf is NaN. masked_fill puts -inf where it belongs.",
        lambda scores: scores * math.nan,
    ),
    "hidden after the softmax": (
        "What is hidden is set to 0 after the softmax, so that weights no longer sum to 1. Give it the score "
        "-inf before.",
        lambda scores: softmax(scores) * _shown(scores),
    ),
    "hidden scores 0": (
        "What is hidden gets the score 0, which is a score like any other. Give it -inf.",
        _seen(torch.tril, value=0),
    ),
    "mask added": (
        "The mask is added to the scores: True counts as 1, which favours a word a little and hides none.",
        lambda scores: softmax(scores + _shown(scores)),
    ),
    "softmax over the queries": (
        "The softmax runs over the queries, dim=-2. Each query shares its weight out over the keys: dim=-1.",
        lambda scores: _lowered(scores).softmax(-2),
    ),
    "softmax over the heads": (
        "The softmax runs over the heads, dim=1. Each head shares its weight out over the keys: dim=-1.",
        lambda scores: _lowered(scores).softmax(1),
    ),
    "softmax over the batch": (
        "The softmax runs over the batch, dim=0. Each query shares its weight out over the keys: dim=-1.",
        lambda scores: _lowered(scores).softmax(0),
    ),
    "no softmax": (
        "The softmax is missing: these weights are the scores themselves.",
        lambda scores: scores * _shown(scores),
    ),
}
_FINISHED: Mistakes = {
    "output matrix left out": (
        "The output matrix is left out: the joined heads come back as they are. W_O mixes them.",
        lambda layer, joined: joined,
    ),
    "W_O without bias": (
        "The bias of W_O is left out.",
        lambda layer, joined: F.linear(joined, layer.W_O.weight),
    ),
}
_FED: Mistakes = {
    "no ReLU": (
        "There is nothing between widen and narrow, so that both are one matrix. A ReLU belongs there.",
        lambda layer, x: layer.narrow(layer.widen(x)),
    ),
    "GELU": (
        "There is a GELU between widen and narrow. Here it is a ReLU.",
        lambda layer, x: layer.narrow(F.gelu(layer.widen(x))),
    ),
    "ReLU at the end": (
        "There is a ReLU behind narrow as well: the network could only ever add.",
        lambda layer, x: _fed(layer, x).relu(),
    ),
    "ReLU before widen": (
        "The ReLU stands before widen. It stands between widen and narrow.",
        lambda layer, x: layer.narrow(layer.widen(x.relu())),
    ),
    "biases left out of the feed-forward network": (
        "The biases of the feed-forward network are left out. Call the nn.Linear.",
        lambda layer, x: F.linear(F.linear(x, layer.widen.weight).relu(), layer.narrow.weight),
    ),
}
_ENDED: Mistakes = {
    "no last norm": (
        "The last norm is missing: `word` reads the road as it is. It reads norm(x).",
        lambda model, x, norm: model.word(x),
    ),
    "tied": (
        "The words are scored with the embeddings. Here `word` has a matrix of its own.",
        lambda model, x, norm: F.linear(norm(x), model.embedding.weight, model.word.bias),
    ),
    "no bias of the words": (
        "The bias of `word` is left out.",
        lambda model, x, norm: F.linear(norm(x), model.word.weight),
    ),
    "not linked": (
        "The numbers are right, and no gradient arrives: detach(), .data, no_grad and the like cut the path.",
        lambda model, x, norm: model.word(norm(x)).detach(),
    ),
}
_ANSWERED: Mistakes = {
    "probabilities": (
        "The logits have gone through a softmax. Return them as they are: the loss takes its own.",
        lambda logits: logits.softmax(-1),
    ),
    "log-probabilities": (
        "The logits have gone through a log-softmax. Return them as they are.",
        lambda logits: logits.log_softmax(-1),
    ),
    "last word alone": (
        "Only the last word's logits come back. In training every word foretells the next: (B, T, words).",
        lambda logits: logits[:, -1:],
    ),
    "last word alone, without its axis": (
        "Only the last word's logits come back, (B, words). In training every word foretells the next: (B, "
        "T, words).",
        lambda logits: logits[:, -1],
    ),
    "first text alone": (
        "Only the first text of the batch comes back.",
        lambda logits: logits[:1],
    ),
    "words second": (
        "The logits are (B, words, T), as F.cross_entropy likes them. Asked for is (B, T, words).",
        lambda logits: logits.mT,
    ),
    "flattened": (
        "The logits are (B · T, words). F.cross_entropy likes them so; asked for is (B, T, words).",
        lambda logits: logits.flatten(0, 1),
    ),
    "likeliest words": (
        "These are the likeliest words. Return the logits.",
        lambda logits: logits.argmax(-1),
    ),
    "dropout always on": (
        "Asked twice it gives two answers, although it was set to eval(). F.dropout must be told: "
        "training=self.training. nn.Dropout knows by itself.",
        lambda logits: F.dropout(logits),
    ),
}


def _the_same(blocks: Iterator[nn.Module]) -> nn.ModuleList:
    made = list(blocks)
    return nn.ModuleList([made[0]] * len(made))


def _learned_table(model: _Model) -> None:
    """A table of positions among the parameters, which training reaches."""
    rows = nn.Parameter(_placed(_LONGEST))
    model.register_parameter("positions", rows)
    embed, _, *others = model.parts
    model.parts = embed, lambda length: rows[:length], *others  # type: ignore[assignment]


_LONGEST = 40


def _texts(label: str, seed: int, batch: int, length: int, heads: int, layers: int) -> Case:
    source = torch.Generator("cpu").manual_seed(seed)
    words = torch.randint(1, _VOCABULARY, (batch, length), generator=source, device="cpu")
    words[0, 0] = 0
    return Case(label, words, heads, layers)


check_language_model = Exercise(
    "language_model",
    difficulty=5,
    minutes=90,
    takes=("words", "heads", "layers"),
    returns=("logits", "numbers_trained"),
    reference=LanguageModel,
    ask=_spoken,
    trainable=False,
    cases=(
        _texts("right for one word", 51, 1, 1, 1, 1),
        _texts("right for three words", 52, 1, 3, 1, 1),
        _texts("right in heads", 53, 1, 5, 3, 1),
        _texts("right for a batch", 54, 2, 5, 2, 1),
        _texts("right in layers", 55, 3, 6, 3, 3),
        _texts("right for a long text", 56, 2, _LONGEST, 2, 2),
    ),
    mistakes=in_parts(
        _Model,
        embed=_EMBEDDED,
        table=_TABLES,
        place=_PLACED,
        wire=_WIRED,
        norm=_NORMED,
        project=_PROJECTED,
        split=but(SPLITTING, "not transposed"),
        divisor=but(
            DIVISORS,
            "root of the first axis",
            "root of the second axis",
            "root of every element",
            "root of the keys",
        ),
        weigh=_WEIGHED,
        join=JOINING,
        finish=_FINISHED,
        feed=_FED,
        end=_ENDED,
        answer=_ANSWERED,
        hold={
            "layers in a plain list": (
                "The logits are right. But the layers are in a plain list, where PyTorch does not see them: "
                "an optimizer would leave them as they are. Use nn.ModuleList.",
                list,
            ),
            "one layer for all": (
                "The layers are one and the same, so often: [layer] * layers copies no numbers. Make each "
                "anew.",
                _the_same,
            ),
        },
        keep={
            "positions learned": (
                "Training would change a parameter besides those that are drawn. Is it the table of "
                "positions, or an nn.Embedding of them? A buffer, or a table made anew, stays what it is.",
                _learned_table,
            ),
            "tied weights": (
                "`word` and `embedding` share one matrix. Here each has numbers of its own.",
                lambda model: setattr(model.word, "weight", model.embedding.weight),
            ),
        },
        go={
            "first layer alone": (
                "Only the first layer is used.",
                lambda layers: layers[:1],
            ),
            "last layer alone": (
                "Only the last layer counts: does each read what the one before it wrote?",
                lambda layers: layers[-1:],
            ),
            "last layer first": (
                "The layers are gone through from the last to the first.",
                lambda layers: list(layers)[::-1],
            ),
        },
    )
    | {
        "words for heads": (
            SPLITTING["not transposed"][0],
            partial(_Model, split=SPLITTING["not transposed"][1], join=lambda found: found.flatten(2)),
        ),
        "dealt out anew, there and back": (
            "The numbers are dealt out anew, into heads and back: a row of a head holds pieces of several "
            "words. Cut each word first, (B, T, heads, d_k), swap the axes, and undo both in the end.",
            partial(
                _Model,
                split=SPLITTING["view without transpose"][1],
                join=lambda found: found.reshape(len(found), found.shape[2], -1),
            ),
        ),
        "written into": (
            "No gradient could be computed: something writes into a tensor that it needs, as x += … does. "
            "Write x = x + …",
            partial(_Model, wire=_written_onto),
        ),
    },
)

# --- the next word, drawn -------------------------------------------------------------------------

_CALLS, _ROWS = 8, 1500
_CLOSE = 0.03  # of 12,000 draws, from their own chances: over twenty seeds at most .015


def _chances(logits: Tensor, temperature: float) -> Tensor:
    """The right chances. Word 0 is padding, which is never drawn."""
    logits = logits.double().index_fill(-1, whole(0), -math.inf)
    return (logits / temperature).softmax(-1) if temperature else _likeliest(logits)


def _safe(logits: Tensor) -> Tensor:
    return logits.double().index_fill(-1, whole(0), -math.inf)


def _likeliest(logits: Tensor) -> Tensor:
    """All of the chance for it, padding or not."""
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).double()


# What is drawn from at a temperature above 0, with one mistake in it: (logits, temperature) -> chances.
_WARM: Mistakes = {
    "multiplied": (
        "The logits are multiplied by the temperature. A high one must bring the chances together: divide.",
        lambda logits, temperature: (_safe(logits) * temperature).softmax(-1),
    ),
    "temperature used at 0 alone": (
        "The temperature makes no difference but at 0. (To divide the chances by it is no use, since they "
        "are made to sum to 1 again: divide the logits.)",
        lambda logits, temperature: _chances(logits, 1),
    ),
    "squared temperature": (
        "The logits are divided by the temperature twice.",
        lambda logits, temperature: _chances(logits, temperature**2),
    ),
    "always the likeliest": (
        "This is the likeliest word, at every temperature. That is right at 0 alone; else draw.",
        lambda logits, temperature: _chances(logits, 0),
    ),
    "softmax twice": (
        "The chances go through a second softmax, which brings them close together.",
        lambda logits, temperature: _chances(_chances(logits, temperature), 1),
    ),
    "softmax over the rows": (
        "The softmax runs over the rows, dim=0. The chances of one row's words sum to 1: dim=-1.",
        lambda logits, temperature: _chances((logits.double() / temperature).log_softmax(0), 1),
    ),
    "padding drawn but at 0": (
        "At 0 the padding, word 0, is left out, and else it is drawn as well. Give it the logit -inf.",
        lambda logits, temperature: (logits.double() / temperature).softmax(-1),
    ),
    "one place off but at 0": (
        "What is drawn is one too small: with the padding cut off, word 1 stands at place 0. Add 1.",
        lambda logits, temperature: _chances(logits, temperature).roll(-1, -1),
    ),
}
# What is drawn from at temperature 0, with one mistake in it.
_COLD: Mistakes = {
    "drawn at 0": (
        "At temperature 0 words are drawn as at 1. There the likeliest is meant: argmax.",
        lambda logits: _chances(logits, 1),
    ),
    "padding at 0": (
        "At temperature 0 word 0, the padding, is said where it is the likeliest. Leave it out there, too.",
        _likeliest,
    ),
    "one place off at 0": (
        "At temperature 0 the words are one too small: with the padding cut off, word 1 stands at place 0. "
        "Add 1.",
        lambda logits: _chances(logits, 0).roll(-1, -1),
    ),
}
# And at every temperature.
_ALWAYS: Mistakes = {
    "multiplied at 0, too": (
        "The logits are multiplied by the temperature, so that at 0 all words are alike. Divide, and take "
        "the likeliest at 0.",
        lambda logits, temperature: (
            (_safe(logits) * temperature).softmax(-1) if temperature else _chances(0 * logits, 1)
        ),
    ),
    "temperature not used": (
        "The temperature makes no difference. (To divide the chances by it is no use, since they are made to "
        "sum to 1 again: divide the logits.)",
        lambda logits, temperature: _chances(logits, 1),
    ),
    "all alike": (
        "Every word is as likely as the next: the logits play no part.",
        lambda logits, temperature: _chances(0 * logits, 1),
    ),
    "least likely": (
        "The less likely a word, the more often it is drawn: a sign is turned.",
        lambda logits, temperature: _chances(-logits, temperature),
    ),
    "first row for all": (
        "All words are drawn by the first row's chances. Each row has its own.",
        lambda logits, temperature: _chances(logits[:1].expand_as(logits), temperature),
    ),
    "padding drawn": (
        "Word 0, the padding, is drawn as well. Give it the logit -inf, and no chance is left to it.",
        lambda logits, temperature: (
            (logits.double() / temperature).softmax(-1) if temperature else _likeliest(logits)
        ),
    ),
    "padding's logit 0": (
        "The padding is given the logit 0, which is a logit like any other. Give it -inf.",
        lambda logits, temperature: (
            (logits.double().index_fill(-1, whole(0), 0) / temperature).softmax(-1)
            if temperature
            else _likeliest(logits.index_fill(-1, whole(0), 0))
        ),
    ),
    "one place off": (
        "All words are one too small: with the padding cut off, word 1 stands at place 0. Add 1 to what "
        "comes out.",
        lambda logits, temperature: _chances(logits, temperature).roll(-1, -1),
    ),
}


def _if_warm(chances: Part) -> Part:
    return lambda logits, temperature: (chances if temperature else _chances)(logits, temperature)


def _if_cold(chances: Part) -> Part:
    return lambda logits, temperature: _chances(logits, temperature) if temperature else chances(logits)


_DRAWN: Mistakes = (
    _ALWAYS
    | {name: (sentence, _if_warm(code)) for name, (sentence, code) in _WARM.items()}
    | {name: (sentence, _if_cold(code)) for name, (sentence, code) in _COLD.items()}
)


def _drawn(chances: Part) -> Callable[[Tensor, float, torch.Generator], Tensor]:
    """A draw of the next words, from these chances."""

    def draw(logits: Tensor, temperature: float, source: torch.Generator) -> Tensor:
        words: Tensor = chances(logits, temperature).multinomial(1, generator=source)
        return words[:, 0]

    return draw


def _not_greedy(logits: Tensor, temperature: float) -> Tensor:
    return (_safe(logits) / torch.tensor(float(temperature), device="cpu")).softmax(-1)


def _overflowing(logits: Tensor, temperature: float) -> Tensor:
    if temperature == 0:
        return _chances(logits, 0)
    powers = (_safe(logits).float() / temperature).exp()
    return powers / powers.sum(-1, keepdim=True)


def _one_for_all(logits: Tensor, temperature: float, source: torch.Generator) -> Tensor:
    return _drawn(_chances)(logits[:1], temperature, source).expand(len(logits))


def _written_into(logits: Tensor, temperature: float, source: torch.Generator) -> Tensor:
    logits[:, 0] = -math.inf
    return _drawn(_chances)(logits, temperature, source)


def _from_elsewhere(logits: Tensor, temperature: float, source: torch.Generator) -> Tensor:
    return _drawn(_chances)(logits, temperature, generator(0))


def _shares(work: Any, logits: Tensor, temperature: float) -> Any:
    """How often each word is drawn: the known chances themselves, where only chance is between."""
    given, calls = logits.repeat(_ROWS // len(logits), 1), []
    for seed in range(_CALLS):
        rows = given.clone()
        words = work(rows, temperature, generator(seed))
        if words is None or words is ...:
            return words
        if not isinstance(words, Tensor) or words.shape != given.shape[:1] or words.is_floating_point():
            whole_numbers = f"as many whole numbers, ({len(given)},)"
            came = type(words).__name__
            came = f"{dtype(words)} {tuple(words.shape)}" if isinstance(words, Tensor) else came
            raise WrongTypeError(f"For logits {tuple(given.shape)} return {whole_numbers}: it is {came}.")
        if not torch.equal(rows, given):
            raise WrongTypeError("It writes into the logits that it is given.")
        if words.min() < 0 or words.max() >= logits.shape[-1]:
            raise WrongTypeError(f"Words are numbers from 1 to {logits.shape[-1] - 1}: it says another.")
        calls.append(words.long())
    same = [torch.equal(calls[0], each) for each in calls]
    alike = [bool((words == words[0]).all()) for words in calls]
    if all(alike) and not all(same):
        raise WrongTypeError("In each call all rows get the same word.")
    counts = torch.stack([F.one_hot(words, logits.shape[-1]) for words in calls]).double()
    shares = counts.mean(0).view(-1, *logits.shape).mean(0)
    is_settled = bool(((shares == 0) | (shares == 1)).all())
    once, again = (work(given[:9].clone(), temperature, generator(0)) for _ in range(2))
    if not torch.equal(once, again) or (all(same) and not is_settled):
        raise WrongTypeError("Its words do not follow from `source`.")
    known = (chances(logits, temperature) for chances in (_chances, *(code for _, code in _DRAWN.values())))
    # What has no chance is never drawn.
    possible = ((_apart(shares, chances), chances) for chances in known if not shares[chances == 0].any())
    gap, nearest = min(possible, key=lambda each: each[0], default=(math.inf, shares))
    return nearest if gap < _CLOSE else shares.round(decimals=2)


def _apart(shares: Tensor, chances: Tensor) -> float:
    """By how much one would have to change to be the other."""
    return (shares - chances).abs().sum(-1).mean().item() / 2


_EASY = [2, 1.5, 0.5, -0.5, 1, -1]
_TWO = exact(_EASY, [-0.5, -1, 1, 2, 0.5, 1.5])

check_next_words = Exercise(
    "next_words",
    difficulty=3,
    minutes=20,
    takes=("logits", "temperature"),
    returns=("shares",),
    reference=_drawn(_chances),
    ask=_shares,
    trainable=False,
    cases=(
        Case("right at temperature 1", exact(_EASY), 1.0),
        Case("right at a low temperature", exact(_EASY), 0.5),
        Case("right at a high temperature", exact(_EASY), 2.0),
        Case("right for rows that differ", _TWO, 1.0),
        Case("the likeliest at temperature 0", _TWO, 0),
        Case("right for large logits", exact([3, 99, 98, 97.5]), 1.0),
    ),
    mistakes={name: (sentence, _drawn(code)) for name, (sentence, code) in _DRAWN.items()}
    | {
        "divided by 0": (
            "Right, but at temperature 0, where you divide by 0. There the likeliest word is meant: argmax.",
            _drawn(_not_greedy),
        ),
        "overflow": (
            "Right, but for large logits: there exp is infinite. Let torch.softmax do it.",
            _drawn(_overflowing),
        ),
        "one draw for all": (
            "One word is drawn for all rows. Each has chances of its own, and its own draw.",
            _one_for_all,
        ),
        "writes into the logits": (
            "The words are right, but the logits that were handed in are changed. Change a copy: "
            "masked_fill, or clone() first.",
            _written_into,
        ),
        "randomness from elsewhere": (
            "The words do not follow from `source`: twice the same must give the same words, and another "
            "one others. Hand it on, generator=source, and do not seed it.",
            _from_elsewhere,
        ),
        "no softmax": (
            "torch.multinomial gets numbers that are no chances: some are negative, infinite or NaN. Are the "
            "logits through a softmax?",
            _drawn(
                lambda logits, temperature: (
                    _safe(logits) / temperature if temperature else _chances(logits, 0)
                )
            ),
        ),
    },
)

# --- the cache ------------------------------------------------------------------------------------

Kept: TypeAlias = tuple[Tensor, Tensor]  # the keys (B, t, d) and the values (B, t, d) of t words


def _corner(n: int, m: int) -> Mask:
    return torch.ones(n, m, dtype=torch.bool, device="cpu").tril()


def _behind(kept: Kept, new: Kept) -> Kept:
    return torch.cat([kept[0], new[0]], dim=1), torch.cat([kept[1], new[1]], dim=1)


def _step(
    words: Tensor,
    kept: Kept,
    table: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    *,
    place: Part = lambda table, before, n: table[before : before + n],
    ask: Part = lambda x, words: x,
    new: Part = lambda x, words, w_k, w_v: (x @ w_k, x @ w_v),
    store: Part = _behind,
    read: Part = lambda stored, kept, new, w_k, w_v: stored,
    divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
    weigh: Part = _hidden,
    keep: Part = lambda stored, kept, new: stored,
) -> tuple[Tensor, Kept]:
    """The next n words through one attention, in parts that can be mistaken."""
    x = words + place(table, kept[0].shape[1], words.shape[1])  # (B, n, d)
    added = new(x, words, w_k, w_v)
    stored = store(kept, added)
    query, (keys, values) = ask(x, words) @ w_q, read(stored, kept, added, w_k, w_v)
    return weigh(query @ keys.mT / divisor(query, keys)) @ values, keep(stored, kept, added)


def _stepped(work: Any, text: Tensor, pieces: tuple[int, ...], table: Tensor, *matrices: Tensor) -> Any:
    """What the reader's step makes of a text that is given to it piece by piece."""
    outputs, empty = [], text[:, :0]
    kept: Any = empty, empty
    for words in torch.split(text, list(pieces), dim=1):
        came = work(words, kept, table, *matrices)
        if came is None or came is ...:
            return came
        try:
            output, (keys, values) = came
            outputs.append(output)
            kept = keys, values
            if not all(isinstance(part, Tensor) and part.dim() == 3 for part in (output, keys, values)):
                raise TypeError
        except (TypeError, ValueError):
            raise WrongTypeError("Return the output, (B, n, d), and a pair: all keys, all values.") from None
    return torch.cat(outputs, dim=1), *kept


def _piecewise(label: str, seed: int, batch: int, *pieces: int, **more: Any) -> Case:
    d, length = 4, sum(pieces)
    text, table, *matrices = draw(seed, (batch, length, d), (length + 2, d), *[(d, d)] * 3, **more)
    return Case(label, text, pieces, table, *(matrix / 2 for matrix in matrices))


check_cached_step = Exercise(
    "cached_step",
    difficulty=3,
    minutes=25,
    takes=("text", "pieces", "table", "W_Q", "W_K", "W_V"),
    returns=("outputs", "keys", "values"),
    reference=_step,
    ask=_stepped,
    trainable=False,
    cases=(
        _piecewise("right for the first word", 71, 1, 1),
        _piecewise("right word by word", 72, 1, 1, 1, 1),
        _piecewise("right for a text at once", 73, 2, 4),
        _piecewise("right for a beginning, and then word by word", 74, 2, 3, 1, 1),
        _piecewise("right in pieces", 75, 2, 2, 3, 1, 2),
        _piecewise("right in float64", 76, 2, 1, 2, 2, dtype=torch.float64),
    ),
    mistakes=in_parts(
        _step,
        place={
            "every step at position 0": (
                "Each piece begins at position 0 again. The first of these words stands behind all that is "
                "stored: at position keys.shape[1].",
                lambda table, before, n: table[:n],
            ),
            "one position too far": (
                "Each word stands one position too far. The first word of all is at 0.",
                lambda table, before, n: table[before + 1 : before + 1 + n],
            ),
            "one place for the piece": (
                "All words of a piece stand at one position, that of its first. They stand one behind "
                "the other.",
                lambda table, before, n: table[before : before + 1],
            ),
            "no positions": (
                "No positions are added.",
                lambda table, before, n: 0 * table[:n],
            ),
        },
        ask={
            "positions not asked": (
                "The queries come from the words without their positions. Use the same as for the keys.",
                lambda x, words: words,
            ),
        },
        new={
            "keys for values": (
                "The values are the keys once more. They come from W_V.",
                lambda x, words, w_k, w_v: (x @ w_k, x @ w_k),
            ),
            "matrices swapped": (
                "W_K and W_V have changed places.",
                lambda x, words, w_k, w_v: (x @ w_v, x @ w_k),
            ),
            "positions not stored": (
                "Keys and values come from the words without their positions. Add these first.",
                lambda x, words, w_k, w_v: (words @ w_k, words @ w_v),
            ),
            "positions not in the values": (
                "The values come from the words without their positions. Add these first, as for the keys.",
                lambda x, words, w_k, w_v: (x @ w_k, words @ w_v),
            ),
            "positions not in the keys": (
                "The keys come from the words without their positions. Add these first, as for the values.",
                lambda x, words, w_k, w_v: (words @ w_k, x @ w_v),
            ),
        },
        store={
            "new words in front": (
                "The new keys and values stand before the old ones. They belong behind.",
                lambda kept, new: _behind(new, kept),
            ),
            "stored twice": (
                "What is new is stored twice, and the cache grows by two for each word.",
                lambda kept, new: tuple(
                    torch.cat([old, added, added], dim=1) for old, added in zip(kept, new, strict=True)
                ),
            ),
            "the keys alone": (
                "The new keys are stored behind the old ones, and the new values in their place.",
                lambda kept, new: (torch.cat([kept[0], new[0]], dim=1), new[1]),
            ),
        },
        read={
            "old words not read": (
                "What is stored is not read: the new words see each other alone. Query all keys so far.",
                lambda stored, kept, new, w_k, w_v: new,
            ),
            "new words not read": (
                "The new words see what was stored before them, and not themselves.",
                lambda stored, kept, new, w_k, w_v: kept,
            ),
            "projected again": (
                "What is stored goes through W_K and W_V again at every step. It has been.",
                lambda stored, kept, new, w_k, w_v: (
                    torch.cat([kept[0] @ w_k, new[0]], dim=1),
                    torch.cat([kept[1] @ w_v, new[1]], dim=1),
                ),
            ),
        },
        weigh=but(_WEIGHED, "no mask", "softmax over the heads")
        | {
            "no mask": (
                "Right word by word; but in a longer piece a word sees those behind it. Hide them.",
                softmax,
            ),
            "mask from the first key on": (
                "The mask begins at the first key: a new word sees few of the stored ones. The last query "
                "sees the last key: tril(m - n). (is_causal=True has the same fault.)",
                lambda scores: _under(_corner(*scores.shape[-2:]), scores),
            ),
            "square mask": (
                "The mask is (n, n), and there are more keys than queries: it has a column for each key.",
                lambda scores: _under(_corner(scores.shape[-2], scores.shape[-2]), scores),
            ),
            "mask of the whole text": (
                "The mask has a row for every word so far, and there are fewer queries: take its last n.",
                lambda scores: _under(_corner(scores.shape[-1], scores.shape[-1]), scores),
            ),
        },
        divisor=but(
            DIVISORS,
            "root of the first axis",
            "root of the second axis",
            "root of every element",
            "root of d_model",
            "rounded root",
        ),
        keep={
            "not stored": (
                "The cache comes back as it was: the new keys and values are used, and not kept.",
                lambda stored, kept, new: kept,
            ),
            "new ones kept alone": (
                "Only the newest keys and values are kept, and the older ones forgotten.",
                lambda stored, kept, new: new,
            ),
            "pair swapped": (
                "Keys and values come back in the wrong order.",
                lambda stored, kept, new: stored[::-1],
            ),
        },
    )
    | {
        "words stored": (
            "The outputs are right. But what is stored are the words themselves, so that each goes through "
            "W_K and W_V again at every step. Project first, and store what comes out.",
            lambda words, kept, table, w_q, w_k, w_v: _step(
                words,
                kept,
                table,
                w_q,
                w_k,
                w_v,
                new=lambda x, words, w_k, w_v: (x, x),
                read=lambda stored, kept, new, w_k, w_v: (stored[0] @ w_k, stored[1] @ w_v),
            ),
        ),
        "bare words stored": (
            "The outputs are right. But what is stored are the words without their positions, so that all is "
            "computed anew at every step. Store the keys and values that come out.",
            lambda words, kept, table, w_q, w_k, w_v: (
                _step(torch.cat([kept[0], words], dim=1), (words[:, :0],) * 2, table, w_q, w_k, w_v)[0][
                    :, -words.shape[1] :
                ],
                _behind(kept, (words, words)),
            ),
        ),
        "all projected again": (
            "Stored keys and values go through W_K and W_V once more at every step, and are stored like "
            "that. Project the new words alone, and set what comes out behind the others.",
            lambda words, kept, table, w_q, w_k, w_v: _step(
                words,
                (kept[0] @ w_k, kept[1] @ w_v),
                table,
                w_q,
                w_k,
                w_v,
            ),
        ),
        "matrices turned": (
            "The matrices are turned: F.linear multiplies by weight.T. Here it is x @ w_q.",
            lambda words, kept, table, *matrices: _step(words, kept, table, *(each.mT for each in matrices)),
        ),
    },
)

# --- repair: one model, three faults --------------------------------------------------------------

_BAR, _STEPS = 0.5, 40


class _Patient(nn.Module):
    """A small language model in parts, each of which can be ill."""

    def __init__(
        self,
        words: int,
        *,
        hold: Part = nn.ModuleList,
        spread: float = 32**-0.5,
        mask: Part = lambda ones: ones.tril(),
        go: Part = lambda layers, x, mask: _in_turn(layers, x, mask),
        answer: Part = lambda logits: logits,
        keep: Part = lambda word: word,
    ) -> None:
        super().__init__()
        self.embedding, self.positions = ScaledEmbedding(words, 32), SinusoidalPositions(32)
        self.layers = hold(EncoderLayer(32, heads=4, hidden=64, norm_first=True) for _ in range(2))
        self.norm = LayerNorm(32)
        self.word = keep(nn.Parameter(torch.randn(32, words) * spread))
        self.parts = mask, go, answer

    def forward(self, words: Tensor) -> Tensor:
        mask, go, answer = self.parts
        shown = mask(torch.ones(1, words.shape[1], words.shape[1], device="cpu")).bool()
        x = go(self.layers, self.positions(self.embedding(words)), shown)
        return answer(self.norm(x) @ self.word)  # type: ignore[no-any-return]


def _in_turn(layers: Any, x: Tensor, mask: Mask) -> Tensor:
    for layer in layers:
        x = layer(x, mask)
    return x


def _random_texts(batch: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    source = generator(seed)
    previous, targets = (
        torch.randint(1, len(WORDS), (batch, length), generator=source, device="cpu") for _ in range(2)
    )
    return previous, targets


def _loss(model: Any, previous: Tensor, targets: Tensor) -> Tensor:
    logits = model(previous)
    if not isinstance(logits, Tensor) or logits.shape != (*previous.shape, len(WORDS)):
        came = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise WrongTypeError(
            f"For words {tuple(previous.shape)} the logits must be {(*previous.shape, len(WORDS))}, "
            f"not {came}."
        )
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


_LOUD = "Its first loss is far above that of guessing. How large are its logits at the start?"
_LEAK = "A word that comes later changes logits that come before it. How far does the mask let a word look?"
_LIST = "One batch is not learned by heart. Which numbers does the optimizer get from parameters()?"
_OPEN = "There is no mask left: every word sees all."
_TURNED = "The mask is turned on its side, or reversed: a word sees what comes after, and nothing before."
_NO_NUMBERS = "The logits are no numbers. Does the first word see nothing at all? tril() keeps the diagonal."
_TWO_ANSWERS = "Asked twice it gives other logits: is there a dropout that is always on?"
_DEAF = "No word hears of another: the mask hides all of them, or the layers are left out."
_LOOSE = (
    "`word` is a plain tensor, which no optimizer gets. (What is computed from a parameter is none: "
    "nn.Parameter(torch.randn(…) / …) divides first.)"
)
_SOFTENED = "It does not learn a batch by heart: the logits go through a softmax, and the loss takes another."
_CUT = (
    "One batch is not learned by heart: layers are registered, and to some no gradient arrives. Something "
    "cuts the path, or they are left out."
)
_SILENT = "The logits are the same, whatever the words are."
_SLOW = (
    "One batch is not learned by heart, though a gradient arrives at all parameters. What keeps the logits "
    "small, or noisy?"
)


# Each test says what it finds; "" is as it should be.


def _starts(model: Any) -> str:
    with torch.no_grad():
        gap = _loss(model, *_random_texts(32, 10, seed=1)).item() - math.log(len(WORDS))
    if not math.isfinite(gap):
        return _NO_NUMBERS
    return "" if gap < 1 else _LOUD


def _leaks(model: Any) -> str:
    words, length = _random_texts(1, 8, seed=2)[0], 8
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():  # an output that starts at 0 would hide everything
            parameter += 0.1 * torch.randn_like(parameter)
        before, again = model(words)[0], model(words)[0]
        moved = torch.zeros(length, length, dtype=torch.bool, device="cpu")  # (logits of i, word j)
        for place in range(length):
            other = words.clone()
            other[0, place] = words[0, place] % (len(WORDS) - 1) + 1
            moved[:, place] = ((model(other)[0] - before).abs() > 1e-5).any(-1)
    if not before.isfinite().all():
        return _NO_NUMBERS
    if not torch.equal(before, again):
        return _TWO_ANSWERS
    if not moved.any():
        return _SILENT
    if moved.all():
        return _OPEN
    if moved.triu(1).any():
        return _LEAK if moved.tril(-1).any() else _TURNED
    return "" if moved.tril(-1).any() else _DEAF


def _learns_by_heart(model: Any) -> str:
    batch, parameters = _random_texts(16, 12, seed=3), list(model.parameters())
    if type(getattr(model, "word", None)) is Tensor:
        return _LOOSE
    with torch.enable_grad():
        gives_chances = (model(batch[0]).sum(-1) - 1).abs().max() < 1e-3
        optimizer = torch.optim.Adam(parameters, lr=0.01, fused=True)
        for _ in range(_STEPS):
            loss = _loss(model, *batch)
            if not loss.requires_grad:
                return _CUT
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    if loss < _BAR:
        return ""
    if gives_chances:
        return _SOFTENED
    if isinstance(getattr(model, "layers", None), list | tuple):
        return _LIST
    return _CUT if any(each.grad is None for each in parameters) else _SLOW


_TESTS: dict[str, Callable[[Any], str]] = {
    "first loss": _starts,
    "leak": _leaks,
    "one batch": _learns_by_heart,
}


def _examined(work: Any, test: str) -> int:
    """1 where the test finds nothing."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if found := _TESTS[test](work(len(WORDS))):
            raise WrongTypeError(found)
    return 1


# What the model comes with.
_FAULTS: dict[str, dict[str, Any]] = {
    "loud": {"spread": 1.0},
    "leak": {"mask": lambda ones: ones.tril(1)},
    "list": {"hold": list},
}


def _ill(*faults: str, **more: Any) -> Callable[[int], nn.Module]:
    kinds: dict[str, Any] = {}
    for fault in faults:
        kinds |= _FAULTS[fault]
    return partial(_Patient, **kinds, **more)


check_repaired_model = Exercise(
    "repaired_model",
    difficulty=3,
    minutes=30,
    takes=("test",),
    returns=("outcome",),
    reference=_Patient,
    ask=_examined,
    trainable=False,
    cases=(
        Case("its first loss is that of guessing", "first loss"),
        Case("no later word changes what comes before", "leak"),
        Case("learns one batch by heart", "one batch"),
    ),
    mistakes={
        "still broken": (
            "All three faults are still there. Begin with the first loss: how large are the logits?",
            _ill("loud", "leak", "list"),
        ),
        "leak and list left": (f"The start is mended. {_LEAK}", _ill("leak", "list")),
        "loud and list left": (f"The leak is mended. {_LOUD}", _ill("loud", "list")),
        "loud and leak left": (f"It learns a batch by heart now. {_LOUD}", _ill("loud", "leak")),
        "list left": (f"Start and leak are mended. {_LIST}", _ill("list")),
        "leak left": (f"It starts and learns as it should. {_LEAK}", _ill("leak")),
        "loud left": (f"Nothing leaks, and all layers learn. {_LOUD}", _ill("loud")),
        "no mask": (_OPEN, _ill(mask=lambda ones: ones)),
        "mask turned": (_TURNED, _ill(mask=lambda ones: ones.triu())),
        "no numbers": (_NO_NUMBERS, _ill(answer=lambda logits: logits * math.nan)),
        "two answers": (_TWO_ANSWERS, _ill(answer=lambda logits: F.dropout(logits, 0.02))),
        "deaf": (_DEAF, _ill(mask=lambda ones: ones.tril().triu())),
        "word no parameter": (_LOOSE, _ill(keep=lambda word: word.detach())),
        "softmax at the end": (_SOFTENED, _ill(answer=lambda logits: logits.softmax(-1))),
        "cut off": (_CUT, _ill(go=lambda layers, x, mask: _in_turn(layers, x, mask).detach())),
    },
)

# --- an experiment: how near does a model come? ---------------------------------------------------

# Two seconds of training come within .06 to .10 nats, over five seeds; .81 to .91 of sentences are right.
_NEAR, _GRAMMATICAL, _WRITTEN = 0.15, 0.75, 100
_FRESH, _LEARNED = 300, 300


# What may be wrong with the results, question by question.
_SAID = {
    # causal
    "sees later words": "A later word changes earlier logits. Is there a causal mask?",
    # near
    "probabilities": (
        "What your model gives are chances, which sum to 1. Let it give logits: the loss takes its own "
        "softmax."
    ),
    "no number": "The loss is no number.",
    "below the limit": "Your model's loss is below the limit. Does it read what it should foretell?",
    "the grammar itself": (
        "This model knows the chances to the last digit: that is the grammar itself. Let one learn them."
    ),
    "not shifted": (
        "Your model says the word that it has just been given: its targets were not shifted. It learns "
        "targets, the word after each of previous."
    ),
    "by heart": (
        "On the sentences that it has learned the model is below the limit, and on fresh ones far above: it "
        "knows them by heart. Give it more of them, or fewer epochs."
    ),
    "nothing learned": (
        "The model is more than a nat a word above the limit: it has learned next to nothing. Does the "
        "optimizer hold its parameters, and does the loss fall?"
    ),
    "not near": (
        "The model has learned much of the grammar, and is more than .15 nats above the limit. More steps, a "
        "larger rate with a warm-up, smaller batches?"
    ),
    # measured
    "padding counted": (
        "Your excess counts the padding, which is easy to foretell. Leave it out: ignore_index=0."
    ),
    "bits": "Your excess is in bits, or a loss in bits less a limit in nats. Asked for are nats.",
    "limit less loss": "Your excess is the limit less the loss. It is the other way round.",
    "the loss itself": "This is the loss. Take the limit away from it.",
    "perplexity": (
        "This is the perplexity, e to the power of the loss. Asked for is the loss less the limit."
    ),
    "share of the perplexities": (
        "This is by what factor the perplexity is too large. Asked for is the loss less the limit."
    ),
    "share of the limit": "You divide by the limit. Take it away: the excess is the loss less the limit.",
    "measured against previous": (
        "You measure against the words that are given, not against those that follow: the targets are not "
        "shifted."
    ),
    "per sentence": "Your excess is that of a whole sentence. Asked for are nats a word.",
    "summed": "Your excess is that of all sentences together. Asked for are nats a word.",
    "limit of a sentence": (
        "You take away the nats of a whole sentence, expected()[0]. Divide them by its words, expected()[1]."
    ),
    "each sentence alike": (
        "You divide for each sentence, and then take the mean: words of short sentences count more. Add up "
        "all nats and all words, and divide at the end."
    ),
    "softmax before the loss": "There is a softmax before F.cross_entropy, which takes its own.",
    "measured on what it learned": (
        "You measure on the sentences that the model has learned. Take the fresh ones."
    ),
    "measured otherwise": (
        "Your excess is not what the check measures: the mean loss over the words of the fresh sentences, "
        "without padding, less the limit. Did you ask the model in eval()?"
    ),
    # samples
    "too few": "Asked for is a list of at least 100 sentences.",
    "numbers": "The sentences are numbers still. Look each up in models.WORDS.",
    "marks in them": "There are <start> or <padding> in the sentences. Leave both out.",
    "copied": (
        "The longer sentences are those that it has learned, or the fresh ones: copied, or written with the "
        "right words before each. Let the model read what it has written itself."
    ),
    "one sentence": (
        "There are few different sentences. Draw each word by its chance: the likeliest is always the same."
    ),
    "gone on behind the full stop": "The sentences go on behind their full stop. Cut them there.",
    "no full stop": "The sentences lack their full stop.",
    "broken off": "Many sentences break off before their full stop. Let the model go on until it comes.",
    "not grammatical": (
        "Fewer than three in four of the sentences are grammatical. Is the model trained, does it read "
        "<start> first, and are the words drawn at a temperature of 1 or less?"
    ),
}


class _Spoken(NamedTuple):
    """Sentences as a model is given them, and what one loses on them at least, in nats a word."""

    sentences: list[list[str]]
    previous: Tensor
    targets: Tensor
    limit: float


def _sentences_of(count: int, seed: int) -> _Spoken:
    written = agreement.sentences(count, generator(seed))
    surprises = [surprise for sentence in written for surprise in agreement.surprises(sentence)]
    return _Spoken(written, *texts(written), sum(surprises) / len(surprises))


@functools.cache
def _spoken_of(which: str) -> _Spoken:
    return _sentences_of(*((_FRESH, 1) if which == "fresh" else (_LEARNED, 0)))


def _logits(model: Any, previous: Tensor) -> Tensor:
    if isinstance(model, nn.Module):
        model.eval()
        device = next((parameter.device for parameter in model.parameters()), previous.device)
        previous = previous.to(device)
    with torch.no_grad():
        logits = model(previous)
    shape = (*previous.shape, len(WORDS))
    if not isinstance(logits, Tensor) or logits.shape != shape:
        came = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise WrongTypeError(
            f"model(previous), for words {tuple(previous.shape)}, must give logits {shape}: it is {came}."
        )
    return logits.detach().cpu().double()


def _mean_loss(logits: Tensor, targets: Tensor) -> float:
    """Without padding, which is word 0."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0).item()


def _excess(model: Any, which: str = "fresh") -> float:
    spoken = _spoken_of(which)
    return _mean_loss(_logits(model, spoken.previous), spoken.targets) - spoken.limit


def _seen_too_early(model: Any) -> str:
    words = _spoken_of("fresh").previous[:50, :8]
    other = words.clone()
    other[:, -1] = words[:, -1] % (len(WORDS) - 1) + 1
    gaps = (_logits(model, words) - _logits(model, other))[:, :-1]
    return "" if gaps.abs().max() < 1e-4 else "sees later words"


def _far(model: Any) -> str:
    spoken = _spoken_of("fresh")
    logits = _logits(model, spoken.previous)
    excess = _mean_loss(logits, spoken.targets) - spoken.limit
    if not math.isfinite(excess):
        return "no number"
    if abs(excess) < 1e-4:
        return "the grammar itself"
    if excess < 0:
        return "below the limit"
    if excess <= _NEAR:
        return ""
    real = spoken.targets != 0
    if (logits.argmax(-1) == spoken.previous)[real].double().mean() > 0.7:
        return "not shifted"
    if (logits.sum(-1) - 1).abs()[real].max() < 1e-3:
        return "probabilities"
    if _excess(model, "learned") < 0:
        return "by heart"
    return "nothing learned" if excess > 1 else "not near"


def _tellings(model: Any) -> Iterator[tuple[str, float]]:
    """What may be told in the place of the excess, each with its number. "" is right."""
    spoken, learned = _spoken_of("fresh"), _spoken_of("learned")
    logits = _logits(model, spoken.previous)
    loss = _mean_loss(logits, spoken.targets)
    real = spoken.targets != 0
    count, (entropy, words) = int(real.sum()), agreement.expected()
    losses = F.cross_entropy(logits.mT, spoken.targets, ignore_index=0, reduction="none")
    alike = (losses.sum(-1) / real.sum(-1)).mean().item()  # each sentence's own mean, and their mean
    least = [agreement.surprises(sentence) for sentence in spoken.sentences]
    loss_on_learned = _mean_loss(_logits(model, learned.previous), learned.targets)
    flat = logits.flatten(0, 1)
    for limit in (spoken.limit, entropy / words):
        yield "", loss - limit
        yield "padding counted", F.cross_entropy(flat, spoken.targets.flatten()).item() - limit
        yield "padding counted", loss * count / spoken.targets.numel() - limit
        yield "bits", (loss - limit) / math.log(2)
        yield "bits", loss / math.log(2) - limit
        yield "limit less loss", limit - loss
        yield "share of the perplexities", math.exp(loss - limit)
        yield "share of the limit", loss / limit
        yield "share of the limit", loss / limit - 1
        yield "measured against previous", _mean_loss(logits, spoken.previous) - limit
        yield "per sentence", (loss - limit) * count / _FRESH
        yield "summed", (loss - limit) * count
        yield "each sentence alike", alike - limit
        yield "softmax before the loss", _mean_loss(logits.softmax(-1), spoken.targets) - limit
        yield "measured on what it learned", loss_on_learned - limit
    yield "the loss itself", loss
    yield "perplexity", math.exp(loss)
    yield "limit of a sentence", loss - entropy
    yield "each sentence alike", alike - sum(sum(own) / len(own) for own in least) / len(least)
    yield "measured on what it learned", loss_on_learned - learned.limit


def _mismeasured(model: Any, excess: Any) -> str:
    try:
        told = float(excess)
    except (TypeError, ValueError):
        raise WrongTypeError("The second result must be a number: the excess in nats a word.") from None
    gaps: dict[str, float] = {}
    for name, number in _tellings(model):
        gap = abs(told - number) / max(1, abs(number))
        gaps[name] = min(gap, gaps.get(name, gap))
    if gaps[""] < 0.005:
        return ""
    closest, learned = min(gaps, key=gaps.__getitem__), "measured on what it learned"
    if gaps[closest] < 0.0005:
        return closest
    return learned if gaps[learned] < 0.005 else "measured otherwise"  # ours are 300 of what it has learned


def _misspoken(samples: Any) -> str:
    if isinstance(samples, Tensor):
        return "numbers"
    if not isinstance(samples, list | tuple) or len(samples) < _WRITTEN:
        return "too few"
    rows = [
        each.lower().replace(".", " .").split() if isinstance(each, str) else list(each) for each in samples
    ]
    if not all(isinstance(word, str) for row in rows for word in row):
        return "numbers"
    if sum(bool({WORDS[0], agreement.START} & set(row)) for row in rows) > len(rows) / 4:
        return "marks in them"
    long = [tuple(row) for row in rows if len(row) > 8]
    known = {tuple(sentence) for which in ("learned", "fresh") for sentence in _spoken_of(which).sentences}
    if long and sum(row in known for row in long) > len(long) / 2:
        return "copied"
    if len(set(map(tuple, rows))) < len(rows) / 4:
        return "one sentence"
    if _grammatical(rows) >= _GRAMMATICAL:
        return ""
    if (
        _grammatical([row[: row.index(agreement.END) + 1] if agreement.END in row else row for row in rows])
        >= _GRAMMATICAL
    ):
        return "gone on behind the full stop"
    if _grammatical([[*row, agreement.END] for row in rows]) > 1 / 2:
        return "no full stop"
    return (
        "broken off" if sum(agreement.END not in row for row in rows) > len(rows) / 4 else "not grammatical"
    )


def _grammatical(rows: Sequence[Sequence[str]]) -> float:
    """The share of them without a fault."""
    return sum(not agreement.fault(row) for row in rows) / len(rows)


def _results(work: Callable[[], Any], question: str) -> Any:
    """1 where there is nothing to say."""
    results = work()
    if results is None or results is ...:
        return results
    if not isinstance(results, tuple | list) or len(results) != 3 or not callable(results[0]):
        raise WrongTypeError("Return three things: the model, its excess, and a list of sentences.")
    model, excess, samples = results
    if isinstance(model, type):
        raise WrongTypeError(f"{model.__name__} is a class. Return the model that you have trained.")
    ask = {
        "causal": lambda: _seen_too_early(model),
        "near": lambda: _far(model),
        "measured": lambda: _mismeasured(model, excess),
        "samples": lambda: _misspoken(samples),
    }
    if name := ask[question]():
        raise WrongTypeError(_SAID[name])
    return 1


# Models made by hand, for the mistakes: (words so far, the next one) -> chances of the 37 words.


class _Knows(nn.Module):
    """`_Knows(0.95)` speaks as the grammar does, with a little of everything: nobody has to train it."""

    def __init__(self, share: float = 0.95) -> None:
        super().__init__()
        self.share = share

    def forward(self, previous: Tensor) -> Tensor:
        rows = torch.stack([torch.stack(_followed(tuple(row))) for row in previous.tolist()])
        return (self.share * rows + (1 - self.share) / len(WORDS)).log()


@functools.cache
def _followed(numbers: tuple[int, ...]) -> list[Tensor]:
    """The chances (37,) of the word after each; all zeros where the sentence has ended."""
    state: agreement.State | None = agreement.FIRST
    rows = []
    for place, number in enumerate(numbers):
        if place:
            state = agreement.following(state).get(WORDS[number], (0, None))[1] if state else None
        rows.append(_chances_behind(state))
    return rows


@functools.cache
def _chances_behind(state: agreement.State | None) -> Tensor:
    chances = torch.zeros(len(WORDS), dtype=torch.float64, device="cpu")
    for word, (chance, _) in (agreement.following(state) if state else {}).items():
        chances[WORDS.index(word)] = chance
    return chances


class _Spelled(nn.Module):
    """Logits that are made of the numbers of the words, (N, T) -> (N, T, 37)."""

    def __init__(self, spell: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.spell = spell

    def forward(self, previous: Tensor) -> Tensor:
        return self.spell(previous)


def _loud(words: Tensor) -> Tensor:
    return 8.0 * F.one_hot(words, len(WORDS)).double()


@functools.cache
def _heard() -> dict[tuple[int, ...], Tensor]:
    """What followed the same words in the sentences that were learned, and a little of everything."""
    learned = _spoken_of("learned")
    heard: dict[tuple[int, ...], Tensor] = {}
    for row, targets in zip(learned.previous.tolist(), learned.targets.tolist(), strict=True):
        for t, target in enumerate(targets):
            counts = heard.setdefault(tuple(row[: t + 1]), torch.full((len(WORDS),), 0.01, device="cpu"))
            counts[target] += 1
    return heard


def _by_heart(previous: Tensor) -> Tensor:
    unheard = torch.ones(len(WORDS), device="cpu")
    counts = [
        torch.stack([_heard().get(tuple(row[: t + 1]), unheard) for t in range(len(row))])
        for row in previous.tolist()
    ]
    chances = torch.stack(counts).double()
    return (chances / chances.sum(-1, keepdim=True)).log()


def _half_by_heart(previous: Tensor) -> Tensor:
    knows = _Knows(0.98)(previous).exp()
    mixed: Tensor = 0.9 * knows + 0.1 * _by_heart(previous).exp()
    return mixed.log()


def _handed_in(
    model: Callable[[], Any] = _Knows,
    tell: Callable[[Any], float] = _excess,
    write: Callable[[], Sequence[Any]] = lambda: agreement.sentences(_WRITTEN, generator(9)),
) -> Callable[[], tuple[Any, float, Sequence[Any]]]:
    def results() -> tuple[Any, float, Sequence[Any]]:
        made = model()
        return made, tell(made), write()

    return results


def _told(mistake: str) -> Callable[[Any], float]:
    """The number that stands for a mistake in measuring, of this model."""
    return lambda model: next(number for name, number in _tellings(model) if name == mistake)


def _changed(change: Callable[[list[str]], Any]) -> Callable[[], Sequence[Any]]:
    return lambda: [change(sentence) for sentence in agreement.sentences(_WRITTEN, generator(9))]


def _jumbled(words: list[str]) -> list[str]:
    return [*words[-2::-1], agreement.END]


# Results of which one is wrong, as _SAID says.
_ONE_WRONG: dict[str, Callable[[], Any]] = {
    "not shifted": _handed_in(lambda: _Spelled(_loud)),
    "nothing learned": _handed_in(lambda: _Knows(0.0)),
    "not near": _handed_in(lambda: _Knows(0.75)),
    "by heart": _handed_in(lambda: _Spelled(_by_heart)),
    "the grammar itself": _handed_in(lambda: _Knows(1 - 1e-9)),
    "probabilities": _handed_in(lambda: _Spelled(lambda words: _Knows()(words).exp())),
    **{
        mistake: _handed_in(tell=_told(mistake))
        for mistake in (
            "padding counted",
            "bits",
            "limit less loss",
            "the loss itself",
            "perplexity",
            "share of the perplexities",
            "share of the limit",
            "measured against previous",
            "per sentence",
            "summed",
            "limit of a sentence",
            "each sentence alike",
            "softmax before the loss",
        )
    },
    "measured on what it learned": _handed_in(
        lambda: _Spelled(_half_by_heart), tell=_told("measured on what it learned")
    ),
    "too few": _handed_in(write=lambda: agreement.sentences(9, generator(9))),
    "numbers": _handed_in(write=_changed(lambda words: [*range(len(words))])),
    "marks in them": _handed_in(write=_changed(lambda words: [agreement.START, *words])),
    "copied": _handed_in(write=lambda: _spoken_of("fresh").sentences[:_WRITTEN]),
    "one sentence": _handed_in(write=lambda: [["the", "king", "sees", "."]] * _WRITTEN),
    "gone on behind the full stop": _handed_in(write=_changed(lambda words: [*words, *words])),
    "no full stop": _handed_in(write=_changed(lambda words: words[:-1])),
    "broken off": _handed_in(write=_changed(lambda words: words[:5])),
    "not grammatical": _handed_in(write=_changed(_jumbled)),
}

check_near_the_limit = Exercise(
    "near_the_limit",
    difficulty=4,
    minutes=60,
    takes=("question",),
    returns=("answer",),
    reference=_handed_in(),
    ask=_results,
    trainable=False,
    cases=(
        Case("the model sees no later word", "causal"),
        Case("it comes near the limit on fresh sentences", "near"),
        Case("its excess is measured rightly", "measured"),
        Case("what it writes are sentences", "samples"),
    ),
    mistakes={
        "leak": (
            "Your model's loss is below the limit, and a later word changes its earlier logits: it reads "
            "what it should foretell. Is there a causal mask?",
            _handed_in(lambda: _Spelled(lambda words: _loud(words.roll(-1, dims=1)))),
        ),
        "not shifted, measured likewise": (
            "Your model says the word that it has just been given, and is measured by it: a loss below the "
            "limit. Its targets were not shifted.",
            _handed_in(lambda: _Spelled(_loud), tell=_told("measured against previous")),
        ),
    }
    | {name: (_SAID[name], code) for name, code in _ONE_WRONG.items()},
)
