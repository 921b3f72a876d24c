"""What the page shows of SmolLM2 without a kernel: for six texts, measured once and stored in explored.json.

The model has 135 million numbers, too many for a page. `python -m chapters.a_real_model_opened.explored`
measures anew, in two minutes.
"""

import base64
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnlab.corpora.listed import ListedPieces
from attnlab.inside import heads_changed
from attnlab.today import looks, opened
from attnlab.today.gguf import File
from attnlab.today.model import Today

STORED = Path(__file__).with_name("explored.json")
LIKELIEST = 4  # pieces that may come next, whose chances without each head are stored
OF_THE_LENS = 3  # pieces that are likeliest behind a layer
FRENCH = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello in French."}]
TEXTS: dict[str, Callable[[ListedPieces], list[int]]] = {
    "A capital": lambda cut: cut.encode("The capital of France is"),
    "Made-up names": lambda cut: cut.encode("Tovak, Miru, Quag, Tovak, Miru,"),
    "One key": lambda cut: cut.encode("The key to the cabinets on the wall"),
    "Who gets it": lambda cut: cut.encode("When Mary and John went to the store, John gave a drink to"),
    "Python": lambda cut: cut.encode("def area(width, height):\n    return width *"),
    "A chat": lambda cut: opened.chat(cut, FRENCH),
}
Measured = dict[str, Any]


def shown(cut: ListedPieces, number: int) -> str:
    """`shown(pieces, 260)` is a piece with signs for what can't be seen: "·the"."""
    special = {place: name for name, place in cut.special.items()}
    text = special.get(number) or cut.bytes[number].decode(errors="replace")
    return text.replace(" ", "·").replace("\n", "↵").replace("\xa0", "nbsp")


def _each_without_one(found: Tensor) -> Tensor:
    heads = found.shape[2]
    return found * (1 - torch.eye(heads, device=found.device))[:, None, :, None]  # (heads, T, heads, d_k)


@torch.no_grad()
def removals(model: Today, ids: Tensor, of: Tensor) -> Tensor:
    """`removals(model, ids, of=likeliest)` are bits that the chances of these pieces gain without a head.

    (layers, heads, pieces). Each head of a layer is taken out of a copy of the text of its own.
    """
    before = model(ids)[0, -1].log_softmax(-1)[of]
    lost = []
    for attention in looks.attentions(model):
        with heads_changed(attention, _each_without_one):
            logits = model(ids.expand(attention.heads, -1))[:, -1]  # (heads, vocabulary)
        lost.append(logits.log_softmax(-1)[:, of] - before)
    return torch.stack(lost) / torch.log(torch.tensor(2.0))


def measured(model: Today, cut: ListedPieces, numbers: list[int]) -> Measured:
    """`measured(model, pieces, ids)` is what the page has of a text: weights, lens and removals.

    A weight is a byte, of 255; a bit is a thousand; only what a piece may look at is stored.
    """
    ids = torch.tensor([numbers])
    behind = looks.lens(model, ids).softmax(-1)  # (layers + 1, vocabulary)
    likeliest = behind[-1].topk(LIKELIEST).indices

    def named(row: Tensor, count: int) -> list[list[Any]]:
        best = row.topk(count)
        return [
            [shown(cut, number), round(chance, 4)]
            for number, chance in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]

    looked = looks.weights(model, ids)  # (layers, heads, T, T)
    seen = torch.tril_indices(len(numbers), len(numbers))
    packed = (looked[..., seen[0], seen[1]] * 255).round().to(torch.uint8)  # (layers, heads, T(T + 1)/2)
    return {
        "pieces": [shown(cut, number) for number in numbers],
        "next": named(behind[-1], LIKELIEST),
        "lens": [named(row, OF_THE_LENS) for row in behind],
        "ranks": [int((row > row[likeliest[0]]).sum()) + 1 for row in behind],
        "removals": (removals(model, ids, likeliest) * 1000).round().int().flatten(0, 1).tolist(),
        "weights": base64.b64encode(packed.numpy().tobytes()).decode(),
    }


@cache
def stored() -> dict[str, Measured]:
    """`stored()["A capital"]["next"][0]` is ["·Paris", 0.77]."""
    found: dict[str, Measured] = json.loads(STORED.read_text("utf-8"))
    return found


def main() -> None:
    """`main()` measures all texts, and stores what was found."""
    torch.set_num_threads(1)
    file = File(opened.wheel())
    model, cut = opened.model(file), opened.pieces(file)
    found = {name: measured(model, cut, numbers(cut)) for name, numbers in TEXTS.items()}
    lines = (f"{json.dumps(name)}:{json.dumps(each, separators=(',', ':'))}" for name, each in found.items())
    STORED.write_text("{" + ",\n".join(lines) + "}\n", "utf-8")


if __name__ == "__main__":
    main()
