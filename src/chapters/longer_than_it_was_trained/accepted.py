"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math

import torch
from torch import nn

from attnlab.attention import Cache
from attnlab.masks import causal
from attnlab.positions import stretched
from bookkit import weights
from bookkit.other_words import named
from chapters.longer_than_it_was_trained.exercises import (
    check_longest_text,
    check_repaired_writer,
    check_stretched_turns,
)
from chapters.longer_than_it_was_trained.exercises.longest_text import untouched
from chapters.the_block_of_today.models import today

# --- stretched_turns ---


def pair_by_pair(frequencies, longest, factor, fast, slow):
    made = []
    for frequency in frequencies.tolist():
        turns = longest * frequency / (2 * math.pi)
        if turns >= fast:
            made.append(frequency)
        elif turns <= slow:
            made.append(frequency / factor)
        else:
            share = (turns - slow) / (fast - slow)
            made.append(share * frequency + (1 - share) * frequency / factor)
    return torch.tensor(made, dtype=frequencies.dtype)


def by_where(frequencies, longest, factor, fast, slow):
    waves = 2 * torch.pi / frequencies
    turns = longest / waves
    ramp = frequencies / factor * (1 + (factor - 1) * (turns - slow) / (fast - slow))
    return torch.where(turns > fast, frequencies, torch.where(turns < slow, frequencies / factor, ramp))


def by_lerp(frequencies, longest, factor, fast, slow):
    stays = ((longest * frequencies / math.tau - slow) / (fast - slow)).clip(0, 1)
    return torch.lerp(frequencies / factor, frequencies, stays)


# --- repaired_writer ---


def mended(model, texts, count):
    rows = []
    for text in texts:
        caches, row = [Cache() for _ in model.blocks], text.tolist()
        new = row
        for _ in range(count):
            start = caches[0].length
            places = torch.arange(start, start + len(new))[None]
            new = [int(model(torch.tensor([new]), caches, places=places)[0, -1].argmax())]
            row += new
        rows.append(torch.tensor(row))
    return torch.stack(rows)


def all_texts_at_once(model, texts, count):
    caches = [Cache() for _ in model.blocks]
    new = texts
    for _ in range(count):
        new = model(ids=new, caches=caches)[:, -1].argmax(-1, keepdim=True)
        texts = torch.cat([texts, new], 1)
    return texts


def word_by_word(model, texts, count):
    """The given words go in one by one, too."""
    rows = []
    for text in texts:
        caches, row = [Cache() for _ in model.blocks], list(text)
        for place in range(len(text) + count - 1):
            seen = causal(1, place + 1)
            logits = model(row[place].view(1, 1), caches, seen, torch.tensor([[place]]))
            row += [logits.argmax()] * (place + 1 == len(row))
        rows.append(torch.stack(row))
    return torch.stack(rows)


def with_its_mask(model, texts, count):
    rows = []
    for text in texts:
        caches, row = [Cache() for _ in model.blocks], text[None]
        new = row
        for _ in range(count):
            visible = causal(new.shape[1], row.shape[1])
            new = model(new, caches, visible=visible)[:, -1:].argmax(-1)
            row = torch.cat([row, new], 1)
        rows.append(row)
    return torch.cat(rows)


# --- longest_text ---


def stored(**changes):
    """The model that a reader loads, and what they set on it."""
    model = today()
    weights.load("the_block_of_today/today", model)
    model.longest = 512
    for name, value in changes.items():
        setattr(model, name, value)
    return model


def slower(how="mixed", factor=4.0, **ends):
    return stored(frequencies=stretched(untouched().frequencies, factor, 128, how, **ends))


class Around(nn.Module):
    """Something around the model."""

    def __init__(self, change):
        super().__init__()
        self.inner, self.change = slower(slow=1, fast=8), change

    def forward(self, ids):
        return self.change(self.inner, ids)


ACCEPTED = {
    check_stretched_turns: named(pair_by_pair, by_where, by_lerp),
    check_repaired_writer: named(all_texts_at_once, word_by_word, mended, with_its_mask),
    check_longest_text: {
        "mixed": lambda: slower(slow=1, fast=4),
        "a much larger base": lambda: slower("larger base", 24),
        "logarithms of chances": lambda: Around(lambda model, ids: model(ids).log_softmax(-1)),
    },
}
