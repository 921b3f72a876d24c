"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math

import torch
from torch import nn

from attnlab.training.run import row_of
from bookkit.other_words import named
from chapters.a_gpt_of_your_own.exercises import (
    check_byte_pieces,
    check_gpt_start,
    check_honest_crops,
    check_top_p,
)

# --- byte_pieces ---


def joined(ids, pair, new):
    out, i = [], 0
    while i < len(ids):
        there = tuple(ids[i : i + 2]) == tuple(pair)
        out.append(new if there else ids[i])
        i += 2 if there else 1
    return out


def text_of(merges, ids, errors="replace"):
    spelled = {number: bytes([number]) for number in range(256)}
    for place, (left, right) in enumerate(merges):
        spelled[256 + place] = spelled[left] + spelled[right]
    return b"".join(spelled[number] for number in ids).decode(errors=errors)


def in_the_lists_order(merges, chunk, ids):
    """The same: a merge can't bring about the pair of one that was learned before it."""
    cut = list(chunk.encode("utf-8"))
    for place, pair in enumerate(merges):
        cut = joined(cut, pair, 256 + place)
    return cut, text_of(merges, ids)


def as_a_tensor_and_by_recursion(merges, chunk, ids):
    def spell(number):
        if number < 256:
            return bytes([number])
        left, right = merges[number - 256]
        return spell(left) + spell(right)

    text = str(b"".join(map(spell, ids)), "utf-8", "replace")
    return torch.tensor(in_the_lists_order(merges, chunk, ids)[0]), text


def written_into(merges, chunk, ids):
    """Over a list that grows shorter while the loop runs: at its end a slice is empty."""
    cut = list(chunk.encode())
    for place, pair in enumerate(merges):
        for i in range(len(cut)):
            if cut[i : i + 2] == list(pair):
                cut[i : i + 2] = [256 + place]
    return [cut, text_of(merges, ids)]


# --- honest_crops ---


def row_without(texts, end, held_out):
    row = []
    for text in texts[: len(texts) - held_out]:
        if all(text != other for other in texts[len(texts) - held_out :]):
            row += text
            row.append(end)
    return row


def cut(row, length, starts):
    rows = [row[start : start + length + 1] for start in starts if start + length < len(row)]
    both = torch.tensor(rows)
    return both[:, :-1], both[:, 1:]


def by_unfold(texts, end, held_out, length, starts):
    """All crops there are, and of these the ones that are asked for."""
    row = row_of((text for text in texts if text not in texts[-held_out:]), end)
    windows = row.unfold(0, length + 1, 1)  # (starts with room, length + 1)
    chosen = windows[[start for start in starts if start < len(windows)]]
    return chosen[:, :-1], chosen[:, 1:]


def by_index(texts, end, held_out, length, starts):
    row = torch.tensor(row_without(texts, end, held_out))
    first = torch.tensor([start for start in starts if start <= len(row) - length - 1])
    places = first[:, None] + torch.arange(length)
    return [row[places], row[places + 1]]


# --- gpt_start ---


def by_modules_and_then_by_names(model):
    """As nanoGPT does, which leaves the norms as PyTorch makes them."""

    def draw(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    model.apply(draw)
    for name, weight in model.named_parameters():
        if name.endswith(("write.weight", "narrow.weight")):
            nn.init.normal_(weight, mean=0.0, std=0.02 / math.sqrt(2 * len(model.blocks)))
    return model


def block_by_block(model):
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * 0.02 if weight.dim() > 1 else torch.zeros_like(weight))
        for block in model.blocks:
            for layer in (block.attention.write, block.narrow):
                layer.weight /= (2 * len(model.blocks)) ** 0.5
        for module in model.modules():
            if isinstance(module, nn.LayerNorm):
                module.weight.fill_(1)


def with_new_parameters(model):
    source = torch.Generator().manual_seed(7)
    for name, module in model.named_modules():
        if hasattr(module, "weight") and not isinstance(module, nn.LayerNorm):
            adds = name.endswith(("write", "narrow"))
            spread = 0.02 * (2 * len(model.blocks)) ** -0.5 if adds else 0.02
            module.weight = nn.Parameter(torch.randn(module.weight.shape, generator=source) * spread)
            if isinstance(module, nn.Linear):
                module.bias.data.zero_()


def without_tails(model):
    """Nothing beyond five spreads, which no one sees."""
    by_modules_and_then_by_names(model)
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.data.clamp_(-0.1, 0.1)


# --- top_p ---


def row_by_row(logits, temperature, p):
    out = torch.zeros_like(logits)
    for row, into in zip((logits / temperature).softmax(-1), out, strict=True):
        total = 0.0
        for place in row.argsort(descending=True).tolist():
            if total >= p:
                break
            into[place] = row[place]
            total += float(row[place])
        into /= into.sum()
    return out


def by_masked_logits(logits, temperature, p):
    logits = logits / temperature
    ordered, places = logits.softmax(-1).sort(dim=-1, descending=True)
    goes = ordered.cumsum(-1) - ordered >= p
    goes = torch.zeros_like(goes).scatter(-1, places, goes)
    return logits.masked_fill(goes, -torch.inf).softmax(-1)


def sorted_and_scattered(logits, temperature, p):
    shares = (logits / temperature).softmax(-1)
    ordered, places = torch.sort(shares, dim=-1, descending=True)
    kept = torch.where(ordered.cumsum(-1) - ordered < p, ordered, torch.zeros_like(ordered))
    return torch.zeros_like(shares).scatter(-1, places, kept / kept.sum(-1, keepdim=True))


def from_below(logits, temperature, p):
    """As Hugging Face’s library does: what comes to 1 - p, added up from the least likely, goes."""
    logits = logits / temperature
    ordered, places = torch.sort(logits)
    goes = ordered.softmax(-1).cumsum(-1) <= 1 - p
    goes[:, -1] = False
    return logits.masked_fill(goes.scatter(1, places, goes), -torch.inf).softmax(-1)


ACCEPTED = {
    check_byte_pieces: named(in_the_lists_order, as_a_tensor_and_by_recursion, written_into),
    check_honest_crops: named(by_unfold, by_index),
    check_gpt_start: named(by_modules_and_then_by_names, block_by_block, with_new_parameters, without_tails),
    check_top_p: named(row_by_row, by_masked_logits, from_below, sorted_and_scattered),
}
