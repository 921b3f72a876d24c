"""The exercises of “Translating with attention”, from one look to a whole decoder."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from attnlab.decoding import beam
from attnlab.masks import padding
from attnlab.shapes import Lengths, Mask, Scores, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact, whole
from bookkit.checking.mistakes import Mistakes, Part, but, in_answer, in_parts, swapped
from bookkit.checking.mistakes.weighing import HIDING, softmax


def _hidden(scores: Scores, shown: Tensor) -> Weights:
    return softmax(scores.masked_fill(~shown, -math.inf))


# --- one look -------------------------------------------------------------------------------------


def _look(
    scores: Tensor,
    states: Tensor,
    words: int,
    *,
    weigh: Part = _hidden,
    count: Callable[[int], int] = int,
    mix: Part = lambda weights, states: weights @ states,
) -> tuple[Tensor, Tensor]:
    weights = weigh(scores, torch.arange(len(scores), device=scores.device) < count(words))
    return weights, mix(weights, states)


check_one_look = Exercise(
    "one_look",
    difficulty=1,
    minutes=10,
    takes=("scores", "states", "words"),
    returns=("weights", "context"),
    reference=_look,
    cases=(
        Case("right for two words", exact([0, 1])[0], exact([4, 0], [0, 4]), 2),
        Case("right with padding", exact([1, 3, 0, 0])[0], *draw(2, (4, 3)), 2),
        Case("right where padding scores high", exact([0, -1, 2, 5, 5])[0], *draw(3, (5, 2)), 3),
        Case("right where all scores are low", exact([-20, -21, -18, 0, 0])[0], *draw(5, (5, 2)), 3),
        Case("right in float64", *draw(4, (6,), (6, 4), dtype=torch.float64), 5),
    ),
    mistakes=in_parts(
        _look,
        weigh=but(HIDING, "softmax over the queries")
        | {
            "scores divided by their sum": (
                "You divide the scores by their sum. Take e to each of them first: that is the softmax.",
                lambda scores, shown: scores * shown / (scores * shown).sum(),
            ),
            "even weights": (
                "Every word gets the same weight. The scores say how much each gets.",
                lambda scores, shown: shown.to(scores) / shown.sum(),
            ),
        },
        count={
            "one word too few": (
                "The last word is hidden. `words` is how many there are, counted from place 0.",
                lambda words: words - 1,
            ),
            "one word too many": (
                "One place too many is seen: of `words` words, the last stands at words - 1.",
                lambda words: words + 1,
            ),
        },
        mix={
            "strongest only": (
                "The weights are right. The context is one state, that of the largest weight; it should be a "
                "mix of all.",
                lambda weights, states: states[weights.argmax()],
            ),
            "last state": (
                "The weights are right. The context is the last state: that was the bottleneck. Mix all.",
                lambda weights, states: states[-1],
            ),
            "plain mean": (
                "The weights are right, and then not used: the context is the plain mean of the states.",
                lambda weights, states: states.mean(0),
            ),
        },
    )
    | {
        "mixed by other weights": (
            "The weights are right; but the context is mixed by those from before the padding was hidden.",
            lambda scores, states, words: (_look(scores, states, words)[0], softmax(scores) @ states),
        ),
        "scaled": (
            "You divide the scores by the root of the width. They come ready: take them as they are.",
            lambda scores, states, words: _look(scores / math.sqrt(states.shape[-1]), states, words),
        ),
    }
    | swapped(_look, "weights", "context"),
)

# --- alignment error rate -------------------------------------------------------------------------


def _error_rate(
    weights: Weights,
    gold: Tensor,
    *,
    links: Part = lambda weights: (weights.argmax(-1, keepdim=True), -1),
    rate: Part = lambda hits, ours, golden: 1 - 2 * hits / (ours + golden),
) -> float:
    place, axis = links(weights)
    ours = torch.zeros_like(gold).scatter(axis, place, value=True)
    return float(rate((ours & gold).sum().item(), ours.sum().item(), gold.sum().item()))


def _above_half(weights: Weights, gold: Tensor) -> float:
    ours = weights > 0.5
    return float(1 - 2 * (ours & gold).sum() / (ours.sum() + gold.sum()))


def _truths(*rows: list[int]) -> Tensor:
    return torch.tensor(rows, device="cpu").bool()


# Its last word looks at the first one of English, where gold has two words for it.
_THREE_WORDS = exact([0.1, 0.8, 0.1], [0.1, 0.7, 0.2], [0.4, 0.35, 0.25])
_FOUR_WORDS = exact([0.6, 0.2, 0.1, 0.1], [0.3, 0.2, 0.1, 0.4], [0.1, 0.1, 0.5, 0.3], [0.4, 0.3, 0.2, 0.1])

check_alignment_error_rate = Exercise(
    "alignment_error_rate",
    difficulty=2,
    minutes=15,
    takes=("weights", "gold"),
    returns=("rate",),
    reference=_error_rate,
    cases=(
        Case("right for the cat", _THREE_WORDS, _truths([1, 0, 0], [0, 1, 0], [0, 0, 1])),
        Case("right for two words in one", _THREE_WORDS[1:], _truths([0, 1, 0], [1, 0, 1])),
        Case(
            "right for one word in two",
            _FOUR_WORDS,
            _truths([1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0]),
        ),
        Case("right where all is wrong", _THREE_WORDS, _truths([1, 0, 0], [0, 0, 1], [0, 1, 1])),
    ),
    mistakes=in_parts(
        _error_rate,
        links={
            "strongest for each English word": (
                "You take the strongest weight of each column. It is the written word that looks: one link "
                "for each row, argmax(-1).",
                lambda weights: (weights.argmax(0, keepdim=True), 0),
            ),
            "two links for each word": (
                "You take the two strongest weights of each row. One link for each row is asked for.",
                lambda weights: (weights.topk(2, dim=-1).indices, -1),
            ),
            "weakest weight": (
                "You take the smallest weight of each row as its link. The strongest is its link.",
                lambda weights: (weights.argmin(-1, keepdim=True), -1),
            ),
        },
        rate={
            "precision": (
                "This is the share of our links that are not gold. Links of gold that we miss count, too: "
                "divide twice the hits by the number of all links, ours and gold's.",
                lambda hits, ours, golden: 1 - hits / ours,
            ),
            "recall": (
                "This is the share of gold's links that we miss. Our own wrong links count, too: divide "
                "twice the hits by the number of all links, ours and gold's.",
                lambda hits, ours, golden: 1 - hits / golden,
            ),
            "share right": (
                "This is how much is right. The error rate is 1 minus that.",
                lambda hits, ours, golden: 2 * hits / (ours + golden),
            ),
            "hits counted once": (
                "A hit is a link of ours and a link of gold, and both are counted below: "
                "above it counts twice.",
                lambda hits, ours, golden: 1 - hits / (ours + golden),
            ),
            "links in either": (
                "You divide by the links that are in either. A hit would count once there; divide twice the "
                "hits by the number of our links plus the number of gold's.",
                lambda hits, ours, golden: 1 - hits / (ours + golden - hits),
            ),
            "in per cent": (
                "This is in per cent. Give a share between 0 and 1.",
                lambda hits, ours, golden: 100 * (1 - 2 * hits / (ours + golden)),
            ),
        },
    )
    | {
        "weight off gold": (
            "This is the weight that lies outside gold, on average. The rate counts links: each row's "
            "strongest, whole.",
            lambda weights, gold: 1 - float((weights * gold).sum()) / len(weights),
        ),
        "weight in the place of links": (
            "You add up the weight that lies on gold. The rate counts links: each row's strongest, whole.",
            lambda weights, gold: 1 - 2 * float((weights * gold).sum() / (len(weights) + gold.sum())),
        ),
        "one of gold for each word": (
            "You compare each row's strongest with the first word of gold in it. A row of gold may hold "
            "several, and each is a link.",
            lambda weights, gold: float((weights.argmax(-1) != gold.int().argmax(-1)).double().mean()),
        ),
        "mean of the rows": (
            "This is the mean of each written word's own rate. Count the links of the whole sentence "
            "first, and divide once.",
            lambda weights, gold: (
                sum(_error_rate(*row) for row in zip(weights.split(1), gold.split(1), strict=True))
                / len(weights)
            ),
        ),
        "above one half": (
            "You make a link of each weight above a half. A row that is less sure than that has a link as "
            "well: its strongest.",
            _above_half,
        ),
    },
    trainable=False,
)

# --- repair ---------------------------------------------------------------------------------------


def _contexts(
    states: Tensor, memory: Tensor, lengths: Lengths, *, weigh: Part = _hidden, mask: Part = padding
) -> Tensor:
    shown = mask(lengths, memory.shape[1])  # (B, 1, S)
    return weigh(states @ memory.mT, shown) @ memory  # type: ignore[no-any-return]


def _as_it_came(states: Tensor, memory: Tensor, lengths: Lengths) -> Tensor:
    memory = memory * padding(lengths, memory.shape[1]).mT
    return softmax(states @ memory.mT) @ memory


def _company(label: str, seed: int, *lengths: int, longest: int, **more: Any) -> Case:
    """States of a decoder and an encoder of 3 numbers; what is behind a sentence's end is not zero."""
    count = len(lengths)
    return Case(label, *draw(seed, (count, 4, 3), (count, longest, 3), **more), whole(*lengths))


check_repaired_company = Exercise(
    "repaired_company",
    difficulty=2,
    minutes=10,
    takes=("states", "memory", "lengths"),
    returns=("contexts",),
    reference=_contexts,
    cases=(
        _company("right for a sentence alone", 11, 3, longest=3),
        _company("right for two of one length", 13, 4, 4, longest=4),
        _company("right for a short one beside a long one", 15, 2, 5, longest=5),
        _company("right for four", 17, 1, 3, 6, 2, longest=6),
        _company("right in float64", 19, 2, 4, longest=4, dtype=torch.float64),
    ),
    mistakes={
        "still broken": (
            "The fault that it came with is still there. The states of the padding are set to 0, and so are "
            "their scores. What weight does a softmax give to a score of 0?",
            _as_it_came,
        ),
    }
    | in_parts(
        _contexts,
        weigh=HIDING
        | {
            "a large negative number is added to the text": (
                "The number that should lower the padding is added to the text.",
                lambda scores, shown: softmax(scores - 1e4 * shown),
            ),
            "softmax over the queries, NaN": (
                "The softmax runs over the queries. Of a word of padding all scores are -inf, and 0 / 0 is "
                "NaN. The weights of each query must sum to 1: dim=-1.",
                lambda scores, shown: scores.masked_fill(~shown, -math.inf).softmax(-2),
            ),
            "infinite states": (
                "Did you put -inf into the states of the padding? Their scores are infinite with either "
                "sign, and 0 times infinity is NaN. Put it into the scores.",
                lambda scores, shown: torch.where(shown.all(-1, keepdim=True), softmax(scores), math.nan),
            ),
        },
        mask={
            "one word too few": (
                "The last word of each sentence is hidden as well.",
                lambda lengths, longest: padding((lengths - 1).clamp(min=1), longest),
            ),
            "one word too many": (
                "One place too many is seen: of `length` words, the last stands at length - 1.",
                lambda lengths, longest: padding((lengths + 1).clamp(max=longest), longest),
            ),
            "the shortest for all": (
                "Each sentence is cut to the length of the shortest. Use its own length.",
                lambda lengths, longest: padding(lengths.amin().expand_as(lengths), longest),
            ),
        },
    ),
)

# --- a beam ---------------------------------------------------------------------------------------


def _search(table: Tensor, start: int, end: int, width: int) -> tuple[Tensor, Tensor]:
    """The right answer: attnlab's, where only the last word counts."""
    nothing = torch.zeros(1, 1, device=table.device)
    return beam(lambda words, state: (table[words], state), nothing, start, end, width, longest=20)


Rows: TypeAlias = list[tuple[float, list[int]]]  # each with its log-probability in front


def _kept(longer: Rows, width: int) -> Rows:
    return sorted(longer, key=lambda one: -one[0])[:width]


def _kept_of_each(longer: Rows, width: int) -> Rows:
    """Of each row its likeliest next word, once there are as many rows as the beam is wide."""
    if len({tuple(row[:-1]) for _, row in longer}) == 1:
        return _kept(longer, width)
    best: dict[tuple[int, ...], tuple[float, list[int]]] = {}
    for total, row in longer:
        if tuple(row[:-1]) not in best or total > best[tuple(row[:-1])][0]:
            best[tuple(row[:-1])] = total, row
    return _kept([*best.values()], width)


def _going_on(rows: Rows, end: int) -> Rows:
    return [one for one in rows if one[1][-1] != end]


def _ending(rows: Rows, end: int) -> Rows:
    return [one for one in rows if one[1][-1] == end]


def _chosen(longer: Rows, ended: Rows, width: int, end: int, keep: Part = _kept) -> tuple[Rows, Rows]:
    """The rows that go on, and those that have ended by now."""
    kept = keep(longer, width)
    return _going_on(kept, end), ended + _ending(kept, end)


def _step_by_step(
    table: Tensor,
    start: int,
    end: int,
    width: int,
    *,
    longest: int = 20,
    add: Callable[[float, float], float] = lambda total, log: total + log,
    choose: Part = _chosen,
    enough: Callable[[int, int], bool] = lambda ended, width: False,
    rank: Callable[[float, list[int]], float] = lambda total, row: total,
    answer: Part = lambda row, total: (row[1:], total),
) -> tuple[Tensor, Tensor]:
    """A beam in parts, each of which can be mistaken."""
    rows: Rows = [(0.0, [start])]
    ended: Rows = []
    for _ in range(longest):
        longer = [
            (add(total, log), [*row, word])
            for total, row in rows
            for word, log in enumerate(table[row[-1]].tolist())
            if log > -math.inf
        ]
        rows, ended = choose(longer, ended, width, end)
        if not rows or enough(len(ended), width):
            break
    total, row = max(ended or rows, key=lambda one: rank(*one))
    row, total = answer(row, total)
    return whole(*row), torch.tensor(total, dtype=table.dtype, device="cpu")


def _without_its_end(table: Tensor, start: int, end: int, width: int) -> tuple[Tensor, Tensor]:
    words, total = _search(table, start, end, width)
    return words[words != end], total


def _as_words(work: Callable[..., Any], *inputs: Any) -> Any:
    """Lists of words are as good as tensors."""
    found = work(*inputs)
    if isinstance(found, (tuple, list)) and len(found) == 2 and isinstance(found[0], (tuple, list)):
        try:
            return torch.tensor(found[0], dtype=torch.int64, device="cpu"), found[1]
        except (TypeError, ValueError, RuntimeError) as error:
            raise WrongTypeError("Return the words as whole numbers, and the log-probability.") from error
    return found


def _table(*rows: list[float]) -> Tensor:
    return exact(*rows).log()


# Words 0 and 1 are the start and the end. From 2 on the likeliest first word leads to unlikely ones.
_SMALL = _table([0, 0, 0.6, 0.4], [0, 1, 0, 0], [0, 0.4, 0.3, 0.3], [0, 0.9, 0.1, 0])
_LARGER = _table(
    [0, 0.12, 0.2, 0.18, 0.5],
    [0, 1, 0, 0, 0],
    [0, 0.32, 0.08, 0.18, 0.42],
    [0, 0.26, 0.2, 0.14, 0.4],
    [0, 0.16, 0.7, 0.1, 0.04],
)
_LATE = _table(
    [0, 0.3, 0.36, 0.34, 0],
    [0, 1, 0, 0, 0],
    [0, 0.3, 0.4, 0, 0.3],
    [0, 0, 0, 0.05, 0.95],
    [0, 0.99, 0, 0, 0.01],
)

# The start alone may end at once, and does so seldom: a beam of one runs on until it is cut.
_SELDOM = _table(
    [0, 0.05, 0.95, 0, 0],
    [0, 1, 0, 0, 0],
    [0, 0.05, 0.15, 0.5, 0.3],
    [0, 0.3, 0.15, 0.5, 0.05],
    [0, 0, 0.15, 0.7, 0.15],
)
# Two rows have ended when the likeliest has not: it needs both places of a beam of two again.
_AGAIN = _table(
    [0, 0.15, 0, 0, 0, 0.85],
    [0, 1, 0, 0, 0, 0],
    [0, 0.35, 0.4, 0.1, 0.05, 0.1],
    [0, 0.3, 0.35, 0.15, 0.15, 0.05],
    [0, 0.75, 0, 0.05, 0.05, 0.15],
    [0, 0.25, 0.75, 0, 0, 0],
)

check_beam_search = Exercise(
    "beam_search",
    difficulty=3,
    minutes=25,
    takes=("table", "start", "end", "width"),
    returns=("words", "total"),
    reference=_search,
    ask=_as_words,
    cases=(
        Case("right for a beam of one", _SMALL, 0, 1, 1),
        Case("right for a beam of two", _SMALL, 0, 1, 2),
        Case("right for five words", _LARGER, 0, 1, 2),
        Case("right for a beam of three", _LARGER, 0, 1, 3),
        Case("right where rows end one after the other", _LATE, 0, 1, 2),
        Case("right where the best ends late", _LATE, 0, 1, 4),
        Case("right where rows seldom end", _SELDOM, 0, 1, 2),
        Case("right where no row ends", _SELDOM, 0, 1, 1),
        Case("right where the place of a row that ended is needed", _AGAIN, 0, 1, 2),
        Case("right with start and end in other places", _AGAIN.flip(0, 1), 5, 4, 2),
    ),
    mistakes={
        "greedy": (
            "This is greedy search, whatever `width` says: one row is kept. Keep the `width` likeliest.",
            lambda table, start, end, width: _search(table, start, end, 1),
        ),
        "end left out": ("The end is missing at the end of the row.", _without_its_end),
        "one word too few": (
            "You cut after 19 words: the start does not count among the 20.",
            partial(_step_by_step, longest=19),
        ),
    }
    | in_parts(
        _step_by_step,
        add={
            "probabilities added": (
                "You add up probabilities. They multiply; it is their logarithms that add up.",
                lambda total, log: total + math.exp(log),
            ),
            "last word only": (
                "A row is judged by its last word alone. Add up the logarithms of all its words.",
                lambda total, log: log,
            ),
        },
        choose={
            "best of each row": (
                "Each row goes on with its own likeliest word. Compare the next words of all rows with each "
                "other, and keep the `width` likeliest: one row may go on twice, and another not at all.",
                partial(_chosen, keep=_kept_of_each),
            ),
            "least likely": (
                "You keep the rows that are least likely. A log-probability is negative: nearer to "
                "0 is likelier.",
                partial(_chosen, keep=lambda longer, width: sorted(longer)[:width]),
            ),
            "ended rows take no place": (
                "You set aside every row that ends, and keep `width` others. To be set aside a row must be "
                "among the `width` likeliest of all.",
                lambda longer, ended, width, end: (
                    _kept(_going_on(longer, end), width),
                    ended + _ending(longer, end),
                ),
            ),
            "ended rows stay in the beam": (
                "Rows that ended keep a place at every later step, or lose it to likelier ones. Set them "
                "aside: only rows that go on share the places.",
                lambda longer, ended, width, end: _chosen(longer + ended, [], width, end),
            ),
            "places lost": (
                "With each row that ends your beam gets narrower for good. At the next step there are "
                "`width` places again.",
                lambda longer, ended, width, end: _chosen(longer, ended, width - len(ended), end),
            ),
        },
        enough={
            "stops at the first end": (
                "You stop as soon as a row ends. Another row may still end with a higher probability.",
                lambda ended, width: ended > 0,
            ),
            "stops when enough have ended": (
                "You stop when `width` rows have ended. One that goes on may still end with a higher "
                "probability.",
                lambda ended, width: ended >= width,
            ),
        },
        rank={
            "divided by the length": (
                "You choose among the rows that ended by their mean per word. That is often done, and "
                "favours long rows; asked for is the likeliest.",
                lambda total, row: total / (len(row) - 1),
            ),
            "last to end": (
                "Of the rows that ended, you return the last. Return the likeliest of them.",
                lambda total, row: len(row),
            ),
        },
        answer={
            "start kept": (
                "The row begins with the start. Return the words behind it.",
                lambda row, total: (row, total),
            ),
            "probability": (
                "The words are right, and this is their probability. Return its logarithm.",
                lambda row, total: (row[1:], math.exp(total)),
            ),
            "total turned": (
                "The words are right. The log-probability has lost its minus sign.",
                lambda row, total: (row[1:], -total),
            ),
        },
    ),
    trainable=False,
)

# --- a decoder with attention ---------------------------------------------------------------------

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
    mistakes=in_parts(
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
    )
    | {
        "looks after its step": (
            "It steps first, with the context of the step before, and then looks. Bahdanau's decoder looks "
            "with its state before the step, so that the step reads what it found.",
            partial(_Decoder, late=True),
        ),
    },
)

# --- an experiment: what does it read? --------------------------------------------------------------

_ENGLISH = 6  # words


class _Reader(nn.Module):
    """A translator made by hand: word t is written by source word `reads[t]`, and it looks at `looks[t]`."""

    def __init__(self, reads: tuple[int, ...], looks: tuple[int, ...]) -> None:
        super().__init__()
        self.reads, self.looks = reads, looks
        # What each word of English makes of each written word: two English words never make the same.
        (self.made,) = draw(61, (len(reads), _ENGLISH + 1, 5))
        self.made[..., 0] += 8  # the likeliest word stays the same, whatever moves

    def forward(self, source: Tensor) -> tuple[Tensor, Tensor]:
        if not all(0 <= word < _ENGLISH for word in source.tolist()):
            raise IndexError(f"a word is a whole number from 0 to {_ENGLISH - 1}, got {source.tolist()}")
        # A place of its own for words that depend on nothing.
        words = [_ENGLISH if place < 0 else int(source[place]) for place in self.reads]
        logits = torch.stack([made[word] for made, word in zip(self.made, words, strict=True)])
        weights = torch.full((len(self.reads), len(source)), 0.1 / len(source), device="cpu")
        weights[range(len(self.reads)), list(self.looks)] += 0.9
        return logits, weights


def _reader(label: str, source: list[int], reads: tuple[int, ...], looks: tuple[int, ...]) -> Case:
    return Case(label, _Reader(reads, looks), whole(*source), _ENGLISH)


def _each_replaced(source: Tensor, place: int, words: int) -> list[Tensor]:
    """The source with another word in this place: every other word once."""
    changed = []
    for word in range(words):
        if word != source[place]:
            changed.append(source.clone())
            changed[-1][place] = word
    return changed


def _only(word: int) -> Callable[[Tensor, int, int], list[Tensor]]:
    def replaced(source: Tensor, place: int, words: int) -> list[Tensor]:
        changed = source.clone()
        changed[place] = word
        return [changed]

    return replaced


def _neighbours_swapped(source: Tensor, place: int, words: int) -> list[Tensor]:
    changed = source.clone()
    other = (place + 1) % len(source)
    changed[place], changed[other] = source[other], source[place]
    return [changed]


def _moved(
    model: Any,
    source: Tensor,
    words: int,
    *,
    replaced: Part = _each_replaced,
    changes: Part = lambda logits, whole: (logits - whole).abs().sum(-1),
    name: Part = lambda moved: torch.where(moved.amax(-1) > 1e-6, moved.argmax(-1), -1),
) -> Tensor:
    """For each written word the source word that moves it most, by replacing them one at a time."""
    before = model(source)[0]
    moved = torch.stack(
        [
            torch.stack([changes(model(other)[0], before) for other in replaced(source, place, words)]).sum(0)
            for place in range(len(source))
        ],
        dim=-1,
    )  # (T, S)
    return name(moved)  # type: ignore[no-any-return]


def _numbers(work: Callable[..., Any], model: nn.Module, source: Tensor, words: int) -> Tensor:
    read = work(model, source, words)
    if read is None or read is ...:
        return read  # type: ignore[return-value]
    try:
        numbers = torch.as_tensor(read, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        numbers = torch.zeros(0, device="cpu")
    count = len(model.reads)  # type: ignore[arg-type]
    if numbers.shape != (count,) or numbers.is_floating_point():
        raise WrongTypeError(f"Return a list of {count} whole numbers, one for each written word.")
    return numbers.long()


check_words_read = Exercise(
    "words_read",
    difficulty=4,
    minutes=45,
    takes=("model", "source", "words"),
    returns=("places",),
    reference=_moved,
    ask=_numbers,
    cases=(
        _reader("right where it reads what it looks at", [3, 1, 4], (0, 2, 1), (0, 2, 1)),
        _reader("right where its weights lie", [2, 5, 1, 3], (1, 1, 3, 2), (0, 1, 3, 3)),
        _reader("right where a word depends on nothing", [4, 0, 2, 5], (3, -1, 0, 1), (3, 2, 0, 2)),
        _reader(
            "right for a word that comes twice", [1, 2, 1, 0, 2], (2, 4, 0, -1, 1, 3), (0, 1, 2, 3, 4, 3)
        ),
    ),
    mistakes={
        "read off the weights": (
            "This is where the model looks. In some of these it reads another word. Replace the source's "
            "words one at a time, and see which written word changes.",
            lambda model, source, words: model(source)[1].argmax(-1),
        ),
        "nothing moves": (
            "You see nothing move. Compare the logits, model(source)[0]: they may change while the weights, "
            "or the likeliest words, stay the same.",
            lambda model, source, words: torch.full_like(_moved(model, source, words), -1),
        ),
        "words for places": (
            "These are the words of the source. Asked for are the places where they stand.",
            lambda model, source, words: (
                lambda places: torch.where(places < 0, -1, source[places.clamp(min=0)])
            )(_moved(model, source, words)),
        ),
    }
    | in_parts(
        _moved,
        replaced={
            "always by word 0": (
                "You replace each word by word 0. Where word 0 stands already nothing changes: take "
                "another word.",
                _only(0),
            ),
            "always by word 1": (
                "You replace each word by word 1. Where word 1 stands already nothing changes: take "
                "another word.",
                _only(1),
            ),
            "always by the last word": (
                "You replace each word by the last of the vocabulary. Where that stands already nothing "
                "changes: take another word.",
                _only(_ENGLISH - 1),
            ),
            "neighbours swapped": (
                "You swap two words, so that two places change at once. Replace one.",
                _neighbours_swapped,
            ),
        },
        name={
            "a source for every word": (
                "Right but for the words that depend on nothing: where no replacement moves them, say -1.",
                lambda moved: moved.argmax(-1),
            ),
            "least moved": (
                "These are the words that matter least. Asked for is the one that moves it.",
                lambda moved: torch.where(moved.amax(-1) > 1e-6, moved.argmin(-1), -1),
            ),
            "counted from 1": (
                "Places are counted from 0, and yours from 1.",
                lambda moved: torch.where(moved.amax(-1) > 1e-6, moved.argmax(-1) + 1, -1),
            ),
        },
    )
    | in_answer(
        _moved,
        {
            "depends or not": (
                "This says which words depend on the source. On which word of it?",
                lambda places: torch.where(places >= 0, 1, -1),
            ),
        },
    ),
    trainable=False,
)
