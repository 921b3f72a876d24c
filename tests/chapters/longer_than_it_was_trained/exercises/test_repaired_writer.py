"""The exercise `repaired_writer`, tried as readers would."""

import exercise_cases
import pytest
import torch
from exercise_cases import judged_as, named, words

from attnlab.attention import Cache
from attnlab.masks import causal
from chapters.longer_than_it_was_trained.exercises import check_repaired_writer

pytestmark = pytest.mark.thorough


def broken(model, texts, count):
    """The notebook's."""
    caches, rows = [Cache() for _ in model.blocks], []
    for text in texts:
        row = new = text[None]  # (1, T)
        for _ in range(count):
            places = torch.arange(new.shape[1])[None]
            new = model(new, caches, places=places)[:, -1:].argmax(-1)  # (1, 1)
            row = torch.cat([row, new], dim=1)
        rows.append(row)
    return torch.cat(rows)


def mended(
    fresh=lambda model: [Cache() for _ in model.blocks], place=lambda before, n: before, ask=-1, kept=0
):
    """A reader's writer, in which one step may be another."""

    def code(model, texts, count):
        rows, caches = [], fresh(model)
        for text in texts:
            caches = caches if kept else fresh(model)
            row = text.tolist()
            new = row
            for _ in range(count):
                start = place(caches[0].length, len(text))
                places = torch.arange(start, start + len(new))[None]
                new = [int(model(torch.tensor([new]), caches, places=places)[0, ask].argmax())]
                row += new
            rows.append(torch.tensor(row))
        return torch.stack(rows)

    return code


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


def masked(mask):
    def code(model, texts, count):
        rows = []
        for text in texts:
            caches, row = [Cache() for _ in model.blocks], text[None]
            new = row
            for _ in range(count):
                n, m = new.shape[1], row.shape[1]
                new = model(new, caches, visible=mask(n, m))[:, -1:].argmax(-1)
                row = torch.cat([row, new], 1)
            rows.append(row)
        return torch.cat(rows)

    return code


def reading(choose):
    """What is read next, of the row so far and the new word."""

    def code(model, texts, count):
        rows = []
        for text in texts:
            caches, row = [Cache() for _ in model.blocks], text[None]
            new = row
            for _ in range(count):
                word = model(new, caches)[:, -1:].argmax(-1)
                row = torch.cat([row, word], 1)
                new = choose(row)
            rows.append(row)
        return torch.cat(rows)

    return code


def forgetful(model, texts, count):
    row = new = texts
    for _ in range(count):
        start = row.shape[1] - new.shape[1]
        places = torch.arange(start, row.shape[1])[None]
        new = model(new, [Cache() for _ in model.blocks], places=places)[:, -1:].argmax(-1)
        row = torch.cat([row, new], 1)
    return row


def all_anew(model, texts, count):
    for _ in range(count):
        texts = torch.cat([texts, model(texts)[:, -1:].argmax(-1)], 1)
    return texts


def in_one_place(model, texts, count):
    caches, row = [Cache() for _ in model.blocks], texts
    new = row
    for _ in range(count):
        new = model(new, caches, places=torch.zeros_like(new))[:, -1:].argmax(-1)
        row = torch.cat([row, new], 1)
    return row


RIGHT = {
    check_repaired_writer: named(all_texts_at_once, word_by_word)
    | {"mended": mended(), "with its mask": masked(causal)}
}
NAMED = {
    check_repaired_writer: {
        "places start again at 0": mended(place=lambda before, n: 0),
        "the cache kept between texts": mended(kept=1),
        "places of the written words alone": mended(place=lambda before, n: max(0, before - n)),
        "one place too far": mended(place=lambda before, n: before + (before > 0)),
        "the place of the word before": mended(place=lambda before, n: max(0, before - 1)),
        "all at place 0": in_one_place,
        "one cache for all blocks": mended(fresh=lambda model: [Cache()] * len(model.blocks)),
        "a fresh cache for each word": forgetful,
        "the mask begins at the first key": masked(lambda n, m: torch.ones(1, n, m).tril().bool()),
        "all read again": reading(lambda row: row),
        "one word behind": reading(lambda row: row[:, -2:-1]),
        "the first place asked": mended(ask=0),
        "only what was written": lambda model, texts, count: mended()(model, texts, count)[:, -count:],
        "without a cache": all_anew,
    }
}
UNKNOWN = {
    check_repaired_writer: {
        "nothing": lambda model, texts, count: torch.cat([texts, 0 * texts[:, :1].repeat(1, count)], 1),
        "a row too many": lambda model, texts, count: mended()(model, texts, count)[None],
        "texts reversed": lambda model, texts, count: mended()(model, texts, count).flip(0),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_the_broken_writer_gets_nothing_right_but_a_first_word():
    exercise_cases.assert_still_broken(check_repaired_writer, broken, "✓✗✗✗")


def test_whoever_reads_twice_is_told_so():
    assert "each step reads the whole text anew" in words(check_repaired_writer.judge(all_anew))
