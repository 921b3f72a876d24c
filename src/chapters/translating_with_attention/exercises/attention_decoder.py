"""Write a decoder with attention, in Bahdanau's order, from an empty page."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

import attnlab
from attnlab.masks import padding
from attnlab.shapes import Mask, Scores
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, Part, but, in_parts
from bookkit.checking.mistakes.weighing import HIDING, softmax
from chapters.translating_with_attention.exercises.padding import _hidden

_WORDS, _WIDTH = 7, 4


# What it must be made of, and of which sizes.
_MADE_OF: dict[str, Callable[[], nn.Module]] = {
    "embedding": lambda: nn.Embedding(_WORDS, _WIDTH),
    "W": lambda: nn.Linear(_WIDTH, _WIDTH, bias=False),
    "U": lambda: nn.Linear(_WIDTH, _WIDTH, bias=False),
    "v": lambda: nn.Linear(_WIDTH, 1, bias=False),
    "gru": lambda: nn.GRUCell(2 * _WIDTH, _WIDTH),
    "word": lambda: nn.Linear(2 * _WIDTH, _WORDS),
}


def _added(decoder: Any, asks: Tensor, memory: Tensor) -> Scores:
    scores: Tensor = decoder.v((decoder.W(asks)[:, None] + decoder.keys(memory)).tanh())  # (B, S, 1)
    return scores.mT  # (B, 1, S)


def _beside(*parts: Tensor) -> Tensor:
    return torch.cat(parts, dim=-1)


class _Decoder(nn.Module):
    """The whole decoder in parts, each of which can be mistaken."""

    def __init__(
        self,
        words: int,
        width: int,
        *,
        score: Part = _added,
        weigh: Part = _hidden,
        mix: Part = lambda decoder, weights, memory: (weights @ memory)[:, 0],
        ask: Part = lambda decoder, state, first, word: state,
        feed: Part = lambda decoder, word, context, before: _beside(word, context),
        step: Part = lambda decoder, fed, state, first: decoder.gru(fed, state),
        late: bool = False,
        read: Part = lambda state, context, word, before: _beside(state, context),
        follow: Part = lambda decoder, logits, word: word,
        answer: Part = lambda logits, weights: (logits, weights),
    ) -> None:
        super().__init__()
        for name, make in _MADE_OF.items():
            self.add_module(name, make())
        self.parts = score, weigh, mix, ask, feed, step, read, follow, answer
        self.late = late
        self.made: Any = None

    def keys(self, memory: Tensor) -> Tensor:
        """`decoder.keys(memory)` is U's product, which no step changes: made once."""
        if self.made is None:
            self.made = self.U(memory)  # type: ignore[operator]
        made: Tensor = self.made
        return made

    def forward(self, previous: Tensor, state: Tensor, memory: Tensor, mask: Mask) -> Any:
        self.made = None
        score, weigh, mix, ask, feed, step, read, follow, answer = self.parts

        def look(asks: Tensor) -> tuple[Tensor, Tensor]:
            weights = weigh(score(self, asks, memory), mask)  # (B, 1, S)
            return weights, mix(self, weights, memory)

        logits: list[Tensor] = []
        looked: list[Tensor] = []
        first = state
        context = torch.zeros_like(state)
        for given in self.embedding(previous).unbind(1):  # type: ignore[operator]
            word = follow(self, logits, given)  # (B, width)
            before = state
            if self.late:
                state = step(self, feed(self, word, context, before), state, first)
                weights, context = look(state)
            else:
                weights, context = look(ask(self, state, first, word))
                state = step(self, feed(self, word, context, before), state, first)
            logits.append(self.word(read(state, context, word, before)))  # type: ignore[operator]
            looked.append(weights)
        return answer(torch.stack(logits, 1), torch.cat(looked, 1))


def _own_word(decoder: Any, logits: list[Tensor], word: Tensor) -> Tensor:
    return decoder.embedding(logits[-1].argmax(-1)) if logits else word


_SCORED: Mistakes = {
    "no tanh": (
        "The tanh is missing from the score: v · tanh(W s + U h).",
        lambda decoder, asks, memory: decoder.v(decoder.W(asks)[:, None] + decoder.U(memory)).mT,
    ),
    "tanh outside": (
        "The tanh stands around the score. It belongs inside, before v: v · tanh(W s + U h).",
        lambda decoder, asks, memory: decoder.v(decoder.W(asks)[:, None] + decoder.U(memory)).tanh().mT,
    ),
    "W and U swapped": (
        "W and U have changed places: W reads the decoder's state, U the encoder's.",
        lambda decoder, asks, memory: decoder.v((decoder.U(asks)[:, None] + decoder.W(memory)).tanh()).mT,
    ),
    "W for both": (
        "Both states go through W. The encoder's have a matrix of their own, U.",
        lambda decoder, asks, memory: decoder.v((decoder.W(asks)[:, None] + decoder.W(memory)).tanh()).mT,
    ),
    "dot product": (
        "This is the dot product of the states. Asked for is the additive score, v · tanh(W s + U h).",
        lambda decoder, asks, memory: asks[:, None] @ memory.mT,
    ),
    "state left out": (
        "The decoder's state has no say in where it looks. It is not in the score; or a tanh of its own "
        "parts it from U h, and what it adds to each score alike the softmax takes away.",
        lambda decoder, asks, memory: decoder.v(decoder.U(memory).tanh()).mT,
    ),
    "summed without v": (
        "You add up what tanh gives. v weighs it first.",
        lambda decoder, asks, memory: (
            (decoder.W(asks)[:, None] + decoder.U(memory)).tanh().sum(-1, keepdim=True).mT
        ),
    ),
}


_WEIGHED: Mistakes = but(HIDING, "softmax over the queries", "filled with 0") | {
    "mask added": (
        "The mask is added to the scores: True counts as 1, which favours a word a little and hides none.",
        lambda scores, mask: softmax(scores + mask),
    ),
    "softmax over the batch": (
        "The softmax runs over the batch, dim=0. It is over the source's words: the last axis.",
        lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(0),
    ),
    "no softmax": (
        "The softmax is missing: these weights are the scores themselves.",
        lambda scores, mask: scores.masked_fill(~mask, 0),
    ),
    "strongest only": (
        "One word gets all the weight. With a softmax each gets its share.",
        lambda scores, mask: torch.nn.functional.one_hot(
            scores.masked_fill(~mask, -1e9).argmax(-1), scores.shape[-1]
        ).to(scores),
    ),
}


_MIXED: Mistakes = {
    "what was scored is mixed": (
        "The context is a mix of U h. U is for the score alone: mix the states h themselves.",
        lambda decoder, weights, memory: (weights @ decoder.U(memory))[:, 0],
    ),
    "last state": (
        "The context is the last state of the source at every step, whatever the weights: the bottleneck.",
        lambda decoder, weights, memory: memory[:, -1],
    ),
    "plain mean": (
        "The context is the plain mean of the states. The weights are not used.",
        lambda decoder, weights, memory: memory.mean(1),
    ),
}


_ASKED: Mistakes = {
    "first state asks": (
        "It is the first state that looks, at every step. The state before this step, s_{t-1}, should.",
        lambda decoder, state, first, word: first,
    ),
    "word asks": (
        "The word before is what looks. It is the decoder's state that does, s_{t-1}.",
        lambda decoder, state, first, word: word,
    ),
}


_FED: Mistakes = {
    "context first": (
        "The step reads context and word in the wrong order: [word, context].",
        lambda decoder, word, context, before: _beside(context, word),
    ),
    "context not read": (
        "The step reads a zero where the context belongs. What it found must reach the next state.",
        lambda decoder, word, context, before: _beside(word, torch.zeros_like(context)),
    ),
    "word not read": (
        "The step does not read the word before: without it the decoder does not know what it has written.",
        lambda decoder, word, context, before: _beside(torch.zeros_like(word), context),
    ),
    "state in the place of the context": (
        "The step reads its own state where the context belongs.",
        lambda decoder, word, context, before: _beside(word, before),
    ),
}


_STEPPED: Mistakes = {
    "state never moves on": (
        "Every step begins at the first state. Hand each step the state that the one before left.",
        lambda decoder, fed, state, first: decoder.gru(fed, first),
    ),
    "state not changed": (
        "The state never changes: the step's new state is thrown away.",
        lambda decoder, fed, state, first: state,
    ),
    "old state forgotten": (
        "The GRU is called without its state, and begins at zero each time: gru(inputs, state).",
        lambda decoder, fed, state, first: decoder.gru(fed),
    ),
}


_READ: Mistakes = {
    "read in the wrong order": (
        "The read-out is given [context, state]; it should be [state, context].",
        lambda state, context, word, before: _beside(context, state),
    ),
    "old state read": (
        "The next word is read off the state before the step. Read it off the new one, s_t.",
        lambda state, context, word, before: _beside(before, context),
    ),
    "context not read out": (
        "The read-out is given a zero where the context belongs: [state, context].",
        lambda state, context, word, before: _beside(state, torch.zeros_like(context)),
    ),
    "word in the place of the context": (
        "The read-out is given [state, word before]; it should be [state, context].",
        lambda state, context, word, before: _beside(state, word),
    ),
}


_TOLD: Mistakes = {
    "results swapped": (
        "Both results are right, in the wrong order: return logits, weights.",
        lambda logits, weights: (weights, logits),
    ),
    "probabilities": (
        "The logits have gone through a softmax. Return them as they are: the loss takes its own.",
        lambda logits, weights: (logits.softmax(-1), weights),
    ),
    "log-probabilities": (
        "The logits have gone through a log-softmax. Return them as they are: the loss takes its own.",
        lambda logits, weights: (logits.log_softmax(-1), weights),
    ),
    "last step alone": (
        "Only the last step comes back. Keep the logits and the weights of every step.",
        lambda logits, weights: (logits[:, -1:], weights[:, -1:]),
    ),
    "time first": (
        "The steps stand before the sentences: torch.stack(…, dim=1) puts them second, (B, T, …).",
        lambda logits, weights: (logits.transpose(0, 1), weights.transpose(0, 1)),
    ),
}


MISTAKES: Mistakes = in_parts(
    _Decoder,
    score=_SCORED,
    weigh=_WEIGHED,
    mix=_MIXED,
    ask=_ASKED,
    feed=_FED,
    step=_STEPPED,
    read=_READ,
    follow={
        "its own words": (
            "It reads its own likeliest words. While it learns it is given the right ones, `previous`.",
            _own_word,
        ),
    },
    answer=_TOLD,
) | {
    "looks after its step": (
        "It steps first, with the context of the step before, and then looks. Bahdanau's decoder looks "
        "with its state before the step, so that the step reads what it found.",
        partial(_Decoder, late=True),
    ),
}


def _decoded(work: Any, previous: Tensor, state: Tensor, memory: Tensor, mask: Mask) -> Any:
    """What the reader's class, with our numbers in what it is made of, makes of the inputs."""
    with torch.random.fork_rng(devices=[]):  # its first numbers are drawn, and replaced by ours
        decoder = work(_WORDS, _WIDTH)
        wanted = {name: make() for name, make in _MADE_OF.items()}
    for place, (name, ours) in enumerate(wanted.items()):
        theirs = getattr(decoder, name, None)
        shapes = {label: value.shape for label, value in ours.state_dict().items()}
        if not isinstance(theirs, type(ours)) or shapes != {
            label: value.shape for label, value in theirs.state_dict().items()
        }:
            came = "is missing" if theirs is None else f"is {theirs!r}"
            raise WrongTypeError(
                f"With words = {_WORDS} and width = {_WIDTH} the decoder needs "
                f"{name} = nn.{ours!r}; {name} {came}."
            )
        for number, parameter in enumerate(theirs.parameters()):
            (values,) = draw(200 + 10 * place + number, tuple(parameter.shape))
            parameter.data = 0.7 * values.to(memory)
    return decoder(previous, state, memory, mask)


def _sentences(label: str, seed: int, *lengths: int, **more: Any) -> Case:
    """Three steps for each: a loop over them is no fault, and is not remarked on."""
    count, longest = len(lengths), max(lengths)
    source = torch.Generator("cpu").manual_seed(seed)
    previous = torch.randint(_WORDS, (count, 3), generator=source, device="cpu")
    state, memory = draw(seed, (count, _WIDTH), (count, longest, _WIDTH), **more)
    return Case(label, previous, state, memory, padding(whole(*lengths)))


check_attention_decoder = Exercise(
    "attention_decoder",
    difficulty=4,
    minutes=40,
    takes=("previous", "state", "memory", "mask"),
    returns=("logits", "weights"),
    reference=_Decoder,
    ask=_decoded,
    cases=(
        _sentences("right for one sentence", 31, 3),
        _sentences("right for two sentences", 33, 4, 4),
        _sentences("right with padding", 34, 2, 5),
        _sentences("right in float64", 35, 4, 3, 2, dtype=torch.float64),
    ),
    mistakes=MISTAKES,
    without=(attnlab,),
)
