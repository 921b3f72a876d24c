"""What the prose says of the stored models beside the playgrounds, measured on their weights."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlab.corpora.grammar_check import Lingo, fault
from attnlab.inside import heads_changed, zeroed
from chapters.the_transformer import models, truth
from chapters.the_transformer.playground import loaded
from chapters.translating_with_attention.models import END, ENGLISH_WORDS, LINGO_WORDS, START, unseen_pairs

SEE, SEES = models.WORDS.index("see"), models.WORDS.index("sees")
DOGS = torch.tensor([[START, *map(models.WORDS.index, ["the", "dogs", "near", "the", "king"])]])


# ---- the translator ----


@torch.no_grad()
def translated(sentence: str) -> list[str]:
    """`translated("the dog sleeps")` are the words that the stored translator writes."""
    source = torch.tensor([[*map(ENGLISH_WORDS.index, sentence.split()), END]])
    lengths = torch.tensor([source.shape[1]])
    written = models.greedy(loaded("translator"), source, lengths)[0].tolist()  # type: ignore[arg-type]
    return [LINGO_WORDS[word] for word in written if word != END]


def without_looks_across() -> tuple[int, int]:
    """`right, good = without_looks_across()`, of fifty sentences: no look crosses in layer 2."""
    right = {" ".join(pair.english): [*pair.lingo] for pair in unseen_pairs(400)}
    with heads_changed(loaded("translator").decoder[1].cross_attention, torch.zeros_like):  # type: ignore[union-attr, index]
        written = {sentence: translated(sentence) for sentence in truth.to_translate()}
    same = sum(words == right[sentence] for sentence, words in written.items())
    return same, sum(not fault(words, Lingo) for words in written.values())


# ---- the language model ----


class Ahead(NamedTuple):
    """`see_against_sees().logits` is how far “see” is ahead; what each head and network adds to it."""

    logits: float
    heads: dict[str, float]
    networks: dict[str, float]


@torch.no_grad()
def see_against_sees(without: int | None = None) -> Ahead:
    """`see_against_sees(without=1)` is of a run in which head 2 of layer 2 is off."""
    model = loaded("language-model")
    attention = model.layers[1].self_attention  # type: ignore[union-attr, index]
    with _kept(model) as found:
        if without is None:
            logits = model(DOGS)[0, -1]
        else:
            with heads_changed(attention, zeroed(without)):
                logits = model(DOGS)[0, -1]
    shares = _shares(model, found)
    heads = {name: share for name, share in shares.items() if "head" in name}
    networks = {name: share for name, share in shares.items() if "network" in name}
    return Ahead(float(logits[SEE] - logits[SEES]), heads, networks)


def _shares(model: nn.Module, found: dict[str, Tensor]) -> dict[str, float]:
    stream = found["stream"]
    deviation = (stream.var(unbiased=False) + model.norm.eps).sqrt()  # type: ignore[union-attr, operator]
    direction = model.norm.weight * (model.word.weight[SEE] - model.word.weight[SEES])  # type: ignore[union-attr, index, operator]
    return {name: float((each - each.mean()) / deviation @ direction) for name, each in found.items()}


@contextmanager
def _kept(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """At the last place: what each head and each network adds to the stream, and the stream in the end."""
    found: dict[str, Tensor] = {}

    def heads(number: int, out: nn.Linear, mixed: Tensor) -> None:
        for head, (rows, share) in enumerate(zip(out.weight.chunk(4, 1), mixed.chunk(4), strict=True), 1):
            found[f"layer {number}, head {head}"] = rows @ share

    hooks = [model.norm.register_forward_pre_hook(lambda _, given: found.update(stream=given[0][0, -1]))]  # type: ignore[union-attr]
    for number, layer in enumerate(model.layers, 1):  # type: ignore[arg-type]
        out, network = layer.self_attention.out_proj, layer.feed_forward
        hooks += [
            out.register_forward_hook(lambda out, given, _, n=number: heads(n, out, given[0][0, -1])),
            network.register_forward_hook(
                lambda *given, n=number: found.update({f"network {n}": given[-1][0, -1]})
            ),
        ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()
