"""Where Hugging Face's LlamaForCausalLM keeps what our model of today keeps: one model, two sets of names."""

from collections.abc import Mapping

import torch
from torch import Tensor

# Ours, theirs. Behind each name stands .weight; in the place of * the number of a block.
NAMES = {
    "pieces": "model.embed_tokens",
    "blocks.*.before_attention": "model.layers.*.input_layernorm",
    "blocks.*.attention.query": "model.layers.*.self_attn.q_proj",
    "blocks.*.attention.key": "model.layers.*.self_attn.k_proj",
    "blocks.*.attention.value": "model.layers.*.self_attn.v_proj",
    "blocks.*.attention.write": "model.layers.*.self_attn.o_proj",
    "blocks.*.before_network": "model.layers.*.post_attention_layernorm",
    "blocks.*.network.gate": "model.layers.*.mlp.gate_proj",
    "blocks.*.network.widen": "model.layers.*.mlp.up_proj",
    "blocks.*.network.narrow": "model.layers.*.mlp.down_proj",
    "norm": "model.norm",
    "next": "lm_head",
}
TABLE, NEXT = "model.embed_tokens.weight", "lm_head.weight"


def to_theirs(ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`theirs.load_state_dict(to_theirs(model.state_dict()))` gives their model the weights of ours.

    They name the last table always. Where both ends share one, it is the table of pieces once more.
    """
    theirs = {renamed(name, NAMES): weight for name, weight in ours.items()}
    return {NEXT: ours["pieces.weight"]} | theirs


def to_ours(theirs: Mapping[str, Tensor], tied: bool) -> dict[str, Tensor]:
    """`model.load_state_dict(to_ours(theirs.state_dict(), tied=True))` gives our model theirs."""
    if tied and not torch.equal(theirs[NEXT], theirs[TABLE]):
        raise ValueError(f"theirs must have one table at both ends, got a {NEXT} of its own")
    back = {their: our for our, their in NAMES.items()}
    return {renamed(name, back): weight for name, weight in theirs.items() if not (tied and name == NEXT)}


def renamed(name: str, names: Mapping[str, str]) -> str:
    """`renamed("blocks.2.network.widen.weight", NAMES)` is "model.layers.2.mlp.up_proj.weight"."""
    layer, _, kind = name.rpartition(".")
    block = next(filter(str.isdecimal, layer.split(".")), "")
    return f"{names[layer.replace(f'.{block}.', '.*.')]}.{kind}".replace("*", block)
