"""Write a whole language model, from an empty file."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.transformer import LanguageModel
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, but, in_parts
from bookkit.checking.mistakes.causal import CAUSAL
from bookkit.checking.mistakes.heads import JOINING, SPLITTING
from bookkit.checking.mistakes.norms import NORMS
from bookkit.checking.mistakes.weighing import DIVISORS
from bookkit.checking.mistakes.wirings import WIRINGS
from chapters.the_transformer.exercises.filled import _WIDTH
from chapters.the_transformer.exercises.language_model_parts import _LINEARS, _LONGEST, _spoken, _texts
from chapters.the_transformer.exercises.position_mistakes import _PLACED, _TABLES
from chapters.the_transformer.exercises.whole_model import _fed, _Model, _placed, _written_onto

_CHANCE = generator(0)

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
        "Only the last word's logits come back. In training every word predicts the next: (B, T, words).",
        lambda logits: logits[:, -1:],
    ),
    "last word alone, without its axis": (
        "Only the last word's logits come back, (B, words). In training every word predicts the next: (B, "
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
        # By a chance of its own: PyTorch's belongs to the reader.
        lambda logits: 2 * logits * (torch.rand(logits.shape, generator=_CHANCE) < 0.5),
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


MISTAKES: Mistakes = in_parts(
    _Model,
    embed=_EMBEDDED,
    table=_TABLES,
    place=_PLACED,
    wire=WIRINGS,
    norm=NORMS,
    project=_PROJECTED,
    split=but(SPLITTING, "not transposed"),
    divisor=but(
        DIVISORS,
        "root of the first axis",
        "root of the second axis",
        "root of every element",
        "root of the keys",
    ),
    weigh=CAUSAL,
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
            "The layers are one and the same, so often: [layer] * layers copies no numbers. Make each anew.",
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
) | {
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
}


check_language_model = Exercise(
    "language_model",
    difficulty=5,
    minutes=90,
    takes=("words", "heads", "layers", "zeros"),
    returns=("logits", "numbers_trained"),
    reference=LanguageModel,
    ask=_spoken,
    trainable=False,
    cases=(
        # Where nothing that is known explains a fault, these say in which part it is.
        _texts("right without its blocks, where W_O and narrow are 0", 57, 1, 3, 1, 1, "W_O", "narrow"),
        _texts("right with its feed-forward network alone, where W_O is 0", 58, 1, 3, 1, 1, "W_O"),
        _texts("right with its attention alone, where narrow is 0", 59, 1, 3, 1, 1, "narrow"),
        _texts("right for one word", 51, 1, 1, 1, 1),
        _texts("right for three words", 52, 1, 3, 1, 1),
        _texts("right in heads", 53, 1, 5, 3, 1),
        _texts("right for a batch", 54, 2, 5, 2, 1),
        _texts("right in layers", 55, 3, 6, 3, 3),
        _texts("right for a long text", 56, 2, _LONGEST, 2, 2),
    ),
    mistakes=MISTAKES,
)
