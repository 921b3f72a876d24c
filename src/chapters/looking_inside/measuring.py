"""What a change inside costs: the reader of repeated letters, and the translator."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.hooks import RemovableHandle

from attnlab.inside import heads_changed, watched, zeroed
from attnlab.masks import causal
from chapters.looking_inside import models
from chapters.looking_inside.models import Repeated
from chapters.translating_with_attention import models as translating
from chapters.translating_with_attention.models import Sentences

# ---- repeated letters ----


@torch.no_grad()
def loss_in_first_round(model: Any, read: Repeated) -> float:
    """`loss_in_first_round(model, read)` is the loss where nothing can be known."""
    logits, unknown = model(read.words), ~read.known[:, :-1]
    return F.cross_entropy(logits[:, :-1][unknown], read.words[:, 1:][unknown]).item()


def hidden(model: Any, place: int) -> RemovableHandle:
    """`hidden(model, 0)` is a hook that hides one place of layer 2 from all behind it."""

    def change(attention: Any, inputs: Any, options: dict[str, Any]) -> Any:
        mask = causal(models.LENGTH, device=inputs[0].device).clone()
        mask[:, place + 1 :, place] = False
        return inputs, options | {"mask": mask}

    hook: RemovableHandle = model.layers[1].self_attention.register_forward_pre_hook(change, with_kwargs=True)
    return hook


# ---- the translator ----


@torch.no_grad()
def translating_loss(translator: Any, pairs: Sentences) -> float:
    """`translating_loss(translator, pairs)` is the loss over all words of the pairs."""
    logits = translator(pairs.source, pairs.lengths, pairs.previous).flatten(0, 1)
    return F.cross_entropy(logits, pairs.targets.flatten(), ignore_index=translating.PADDING).item()


def costs_and_looks(
    translator: Any, pairs: Sentences
) -> tuple[dict[tuple[str, int], float], dict[tuple[str, int], float]]:
    """`cost, at_gold = costs_and_looks(translator, pairs)`, for each head: its attention's name, and which.

    What the loss gains without it, and of a head that reads across the share of words for which it looks
    where gold does.
    """
    is_word = (pairs.targets != translating.PADDING) & (pairs.targets != translating.END)
    gold = (pairs.gold > 0) & is_word[..., None]  # (N, T, S)
    with watched(translator) as looks:
        whole = translating_loss(translator, pairs)
    cost, at_gold = {}, {}
    for name, each in looks.items():
        for head in range(4):
            with heads_changed(translator.get_submodule(name), zeroed(head)):
                cost[name, head] = translating_loss(translator, pairs) - whole
            if "cross" in name:
                hits = gold.gather(-1, each[:, head].argmax(-1, keepdim=True)).sum()
                at_gold[name, head] = (hits / is_word.sum()).item()
    return cost, at_gold


def saved_alone(translator: Any, pairs: Sentences, layer: int) -> tuple[float, list[float]]:
    """`saved, alone = saved_alone(translator, pairs, 0)`: what four heads save, each head's share."""
    attention = translator.decoder[layer].cross_attention

    def loss(kept: Tensor) -> float:
        with heads_changed(attention, lambda heads: heads * kept[:, None].to(heads)):
            return translating_loss(translator, pairs)

    none = loss(torch.zeros(4))
    saved = none - loss(torch.ones(4))
    return saved, [(none - loss(one)) / saved for one in torch.eye(4)]
