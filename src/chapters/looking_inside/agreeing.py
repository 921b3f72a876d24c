"""The language model that makes verbs agree: what its heads and its states tell of the subject's number."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.corpora import agreement
from attnlab.runtime import generator
from bookkit import weights
from chapters.the_transformer import models

_NUMBER_OF = {word: number for number, word in enumerate(models.WORDS)}
VERBS = torch.tensor([[_NUMBER_OF[verb], _NUMBER_OF[verb + "s"]] for verb in agreement.VERBS])


def language_model(device: torch.device, *, stored: bool = True) -> Any:
    """`language_model(device)` is the book's own: which head does what, each training settles anew.

    With `stored=False` it is that of this run.
    """
    model = models.LANGUAGE_MODELS["language-model"]().to(device)
    weights.load("the_transformer/language-model", model, *([weights.STORED] if stored else []))
    return model


def dog_and_dogs(device: torch.device) -> Tensor:
    """`dog_and_dogs(device)` is “the dog near the king” and “the dogs near the king”: (2, 6)."""
    texts = (f"the {noun} near the king".split() for noun in ("dog", "dogs"))
    rows = [[models.WORDS.index(agreement.START), *map(_NUMBER_OF.__getitem__, words)] for words in texts]
    return torch.tensor(rows, device=device)


class Written(NamedTuple):
    """`written.verb` (N,) says where the verbs of drawn sentences stand; ids are (N, T)."""

    previous: Tensor
    targets: Tensor
    verb: Tensor
    subject: Tensor
    plural: Tensor  # whether the subject is several
    far: Tensor  # whether words stand between it and its verb
    rows: Tensor


def written(device: torch.device, count: int = 2000) -> Written:
    """`written(device).verb` are the places of 2000 verbs."""
    sentences = agreement.sentences(count, generator(77))
    places = torch.tensor([agreement.verb_and_subject(words) for words in sentences])
    verb, subject = places.T
    several = [words[at].endswith("s") for words, at in zip(sentences, subject, strict=True)]
    texts = models.texts(sentences)
    parts = (*texts, verb, subject, torch.tensor(several), verb - subject > 1, torch.arange(count))
    return Written(*(part.to(device) for part in parts))


@torch.no_grad()
def says_see(model: Any, words: Tensor) -> list[float]:
    """`says_see(model, dog_and_dogs(device))` is the chance of “see” against “sees”: of all such verbs."""
    chances = model(words)[:, -1].softmax(-1)[:, VERBS.to(words.device)].sum(1)  # (B, 2)
    shares: list[float] = (chances / chances.sum(-1, keepdim=True))[:, 0].tolist()
    return shares


@torch.no_grad()
def agrees(model: Any, texts: Written) -> float:
    """`agrees(model, texts)` is how often the right number is the likelier, far from the subject."""
    reaching = texts.previous[texts.far]
    at_verb = torch.arange(len(reaching), device=reaching.device), texts.verb[texts.far]
    chances = model(reaching)[at_verb].softmax(-1)  # (sentences, words)
    see, sees = chances[:, VERBS.to(reaching.device)].sum(1).T
    share: float = ((see > sees) == texts.plural[texts.far]).float().mean().item()
    return share


def on_subject(looks: Tensor, texts: Written) -> Tensor:
    """`on_subject(looks, texts)` is each head's mean weight on the subject, at a verb far from it: (heads,).

    What heads looked at, (sentences, heads, T, T), is from those sentences alone.
    """
    rows = torch.arange(len(looks), device=looks.device)
    looked = looks.transpose(1, 2)[rows, texts.verb[texts.far]]  # (sentences, heads, T)
    return looked[rows, :, texts.subject[texts.far] + 1].mean(0)


@torch.no_grad()
def between_layers(model: Any, texts: Written) -> list[Tensor]:
    """`between_layers(model, texts)`: before the layers, between them and behind, three of (N, T, d)."""
    found: list[Tensor] = []
    parts = (model.positions, *model.layers)
    hooks = [part.register_forward_hook(lambda _, __, output: found.append(output)) for part in parts]
    model(texts.previous)
    for hook in hooks:
        hook.remove()
    return found


def agrees_without(model: Any, texts: Written, direction: Tensor) -> float:
    """`agrees_without(model, texts, direction)`: the same with a direction taken out of every last state."""
    hook = model.layers[1].register_forward_hook(
        lambda _, __, output: output - (output @ direction)[..., None] * direction
    )
    share = agrees(model, texts)
    hook.remove()
    return share


def between_means(states: Tensor, plural: Tensor) -> tuple[Tensor, Tensor]:
    """`direction, right = between_means(states, plural)`: from one half's means, tried on the other half."""
    (learned, unseen), (several, asked) = states.tensor_split(2), plural.tensor_split(2)
    means = learned[several].mean(0), learned[~several].mean(0)
    direction, middle = F.normalize(means[0] - means[1], dim=0), (means[0] + means[1]) / 2
    return direction, (((unseen - middle) @ direction > 0) == asked).float().mean()
