"""What `check_near_the_limit` asks with, in parts that can be mistaken."""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import agreement
from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from chapters.the_transformer.models import WORDS, texts

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
    "below the limit": "Your model's loss is below the limit. Does it read what it should predict?",
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
        "Your excess counts the padding, which is easy to predict. Leave it out: ignore_index=0."
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
    results = returned(work())
    if not isinstance(results, tuple | list) or len(results) != 3 or not callable(results[0]):
        raise WrongTypeError("Return three things: the model, its excess, and a list of sentences.")
    model, excess, samples = results
    if isinstance(model, type):
        raise WrongTypeError(f"{model.__name__} is a class. Return the model that you have trained.")
    ask = {
        "does it see later words?": lambda: _seen_too_early(model),
        "how near is it?": lambda: _far(model),
        "is its excess right?": lambda: _mismeasured(model, excess),
        "what does it write?": lambda: _misspoken(samples),
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


def _handed_in(
    model: Callable[[], Any] = _Knows,
    tell: Callable[[Any], float] = _excess,
    write: Callable[[], Sequence[Any]] = lambda: agreement.sentences(_WRITTEN, generator(9)),
) -> Callable[[], tuple[Any, float, Sequence[Any]]]:
    def results() -> tuple[Any, float, Sequence[Any]]:
        made = model()
        return made, tell(made), write()

    return results
