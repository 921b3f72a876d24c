"""Where Hugging Face's GPT2LMHeadModel keeps what our GPT keeps: the same weights under other names."""

from collections.abc import Mapping

import torch
from torch import Tensor

# Ours, theirs. Behind each name stands .weight or .bias; in the place of * the number of a block.
NAMES = {
    "pieces": "transformer.wte",
    "places": "transformer.wpe",
    "blocks.*.before_attention": "transformer.h.*.ln_1",
    "blocks.*.attention.project": "transformer.h.*.attn.c_attn",
    "blocks.*.attention.write": "transformer.h.*.attn.c_proj",
    "blocks.*.before_network": "transformer.h.*.ln_2",
    "blocks.*.widen": "transformer.h.*.mlp.c_fc",
    "blocks.*.narrow": "transformer.h.*.mlp.c_proj",
    "norm": "transformer.ln_f",
}
BOTH_ENDS = "lm_head.weight"  # their table of pieces, named once more where it is read backwards


def to_theirs(ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`theirs.load_state_dict(to_theirs(model.state_dict()))` gives their model the weights of ours."""
    theirs = {}
    for name, weight in ours.items():
        their_name = renamed(name, NAMES)
        theirs[their_name] = turned(weight, their_name)
    return theirs | {BOTH_ENDS: ours["pieces.weight"]}


def to_ours(theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`model.load_state_dict(to_ours(theirs.state_dict()))` gives our model the weights of theirs."""
    if not torch.equal(theirs[BOTH_ENDS], theirs["transformer.wte.weight"]):
        raise ValueError(f"theirs must have one table at both ends, got a {BOTH_ENDS} of its own")
    back = {their: our for our, their in NAMES.items()}
    return {renamed(name, back): turned(weight, name) for name, weight in theirs.items() if name != BOTH_ENDS}


def renamed(name: str, names: Mapping[str, str]) -> str:
    """`renamed("blocks.2.widen.bias", NAMES)` is "transformer.h.2.mlp.c_fc.bias"."""
    layer, _, kind = name.rpartition(".")
    block = next(filter(str.isdecimal, layer.split(".")), "")
    return f"{names[layer.replace(f'.{block}.', '.*.')]}.{kind}".replace("*", block)


def turned(weight: Tensor, their_name: str) -> Tensor:
    """`turned(weight, "transformer.h.0.mlp.c_fc.weight")` is its transpose: their blocks multiply by rows."""
    return weight.T if weight.dim() == 2 and ".h." in their_name else weight
