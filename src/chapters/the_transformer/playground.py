"""What a reader can open in the page: what it is told of the trained models, and a picture of each.

What depends on the training, such as the head that is shown first, is measured here on the stored weights.
"""

from functools import cache, partial

import torch
from torch import Tensor, nn

from attnlab.attention import MultiHeadAttention
from attnlab.corpora import agreement
from attnlab.corpora.grammar import Pair
from attnlab.inside import heads_changed, watched, zeroed
from attnlab.masks import padding
from attnlab.runtime import generator
from attnlab.transformer import LanguageModel, Transformer
from bookkit import weights
from bookkit.pictures.drawings import Part, as_text
from bookkit.pictures.svg import SMALL, Place, circle, label, rectangle, short
from bookkit.playground import Data, Openable, Picture
from chapters.the_transformer import models, truth
from chapters.translating_with_attention.models import (
    END,
    ENGLISH_WORDS,
    LINGO_WORDS,
    LONGEST,
    START,
    Sentences,
    sentences,
    unseen_pairs,
)

OFFERED = 12  # sentences that the page offers
ROW = 28  # pixels, as in book.css

# ---- what the page is told ----


@cache
def loaded(name: str) -> Transformer | LanguageModel:
    """`loaded("translator")` has the stored weights, as 32-bit numbers."""
    model = models.translator() if name == "translator" else models.LANGUAGE_MODELS[name]()
    weights.load(f"the_transformer/{name}", model)
    return model  # type: ignore[return-value]


@cache
def translator() -> Data:
    """`translator()` has the words of both languages, and sentences that are new to the model."""
    model = loaded("translator")
    assert isinstance(model, Transformer)
    offered = [" ".join(pair.english) for pair in unseen() if 5 <= len(pair.english) <= 9]
    return {
        "kind": "Transformer",
        "heads": _heads(model.encoder),
        "layers": len(model.encoder),
        "read": ENGLISH_WORDS,
        "written": LINGO_WORDS,
        "start": START,
        "end": END,
        "longest": LONGEST,
        "offered": offered[:OFFERED],
        "shown": head_that_aligns(model),
        "missed": head_that_is_missed(model, offered[0].split()),
        "truth": truth.english(),
        "fifty": truth.to_translate(),
    }


@cache
def language_model() -> Data:
    """`language_model()` has the words, the beginnings of sentences, and the grammar, as data."""
    model = loaded("language-model")
    assert isinstance(model, LanguageModel)
    place, head = head_that_finds_the_subject(model)
    return {
        "kind": "LanguageModel",
        "heads": _heads(model.layers),
        "layers": len(model.layers),
        "read": models.WORDS,
        "written": models.WORDS,
        "start": START,
        "end": models.WORDS.index(agreement.END),
        "longest": LONGEST,
        "offered": [" ".join(beginning) for beginning in beginnings()[:OFFERED]],
        "shown": [place, head],
        "grammar": grammar(),
        "verbs": truth.verbs(),
        "fifty": truth.before_verbs(),
    }


def _heads(layers: nn.ModuleList) -> int:
    heads: int = layers[0].self_attention.heads  # type: ignore[union-attr, assignment]
    return heads


def grammar() -> list[Data]:
    """`grammar()[0]` is {"the": [1.0, 1]}: what may come first, how likely it is, and the state behind it.

    States are numbered; behind the last word there is none, -1.
    """
    number = {agreement.FIRST: 0}
    rows: list[Data] = []
    waiting = [agreement.FIRST]
    for state in waiting:  # grows while it is read
        row = {}
        for word, (chance, behind) in agreement.following(state).items():
            if behind is not None and behind not in number:
                number[behind] = len(number)
                waiting.append(behind)
            row[word] = [round(chance, 5), -1 if behind is None else number[behind]]
        rows.append(row)
    return rows


@cache
def unseen() -> list[Pair]:
    """`unseen()` are pairs of sentences that the translator has not learned from."""
    return unseen_pairs(100)


def beginnings() -> list[list[str]]:
    """`beginnings()` stop before a verb whose subject stands four words or more before it."""
    drawn = agreement.sentences(200, generator(1))
    places = map(agreement.verb_and_subject, drawn)
    return [
        words[:verb] for words, (verb, subject) in zip(drawn, places, strict=True) if 4 <= verb - subject < 9
    ]


# ---- which head is shown first ----


def head_that_aligns(model: Transformer) -> tuple[str, int]:
    """`head_that_aligns(model)` looks most at the words that each word translates: its place and number."""
    read: Sentences = sentences(unseen())
    with watched(model) as found, torch.no_grad():
        model(read.source, read.lengths, read.previous)
    shares = {
        name: (each * (read.gold > 0)[:, None]).sum((0, 2, 3))
        for name, each in found.items()
        if name.endswith("cross_attention")
    }
    return _largest(shares)


@torch.no_grad()
def head_that_is_missed(model: Transformer, read: list[str]) -> tuple[str, int]:
    """`head_that_is_missed(model, ["the", "house"])` is the first without which the translation is another.

    It looks across, in the last layer: what a reader switches off first should change something.
    """
    name = f"decoder.{len(model.decoder) - 1}.cross_attention"
    attention: MultiHeadAttention = model.get_submodule(name)  # type: ignore[assignment]
    whole = translated(model, read)
    for head in range(attention.heads):
        with heads_changed(attention, zeroed(head)):
            if translated(model, read) != whole:
                return name, head
    raise ValueError(f"the model needs no single head of {name} for {' '.join(read)!r}")


def translated(model: Transformer, read: list[str]) -> list[int]:
    """`translated(model, ["the", "house"])` are the numbers of the words that the model writes."""
    source = torch.tensor([[*map(ENGLISH_WORDS.index, read), END]])
    written: list[int] = models.greedy(model, source, torch.tensor([source.shape[1]]))[0].tolist()
    return written


def head_that_finds_the_subject(model: LanguageModel) -> tuple[str, int]:
    """`head_that_finds_the_subject(model)` looks most, from where the verb comes, at its subject."""
    shares: dict[str, Tensor] = {}
    for words in beginnings():
        with watched(model) as found, torch.no_grad():
            model(_ids(words))
        for name, each in found.items():
            # After <start> and the article stands the subject.
            shares[name] = shares.get(name, 0) + each[0, :, -1, 2]
    return _largest(shares)


def _largest(shares: dict[str, Tensor]) -> tuple[str, int]:
    place = max(shares, key=lambda name: float(shares[name].max()))
    return place, int(shares[place].argmax())


def _ids(words: list[str]) -> Tensor:
    return torch.tensor([[START, *map(models.WORDS.index, words)]])


# ---- the pictures that stand in the page until the model is opened ----


@torch.no_grad()
def a_translation() -> Picture:
    """`a_translation()` joins each word that is written with those that one head looks at for it."""
    data, model = translator(), loaded("translator")
    assert isinstance(model, Transformer)
    read = data["offered"][0].split()
    source = torch.tensor([[*map(ENGLISH_WORDS.index, read), END]])
    lengths = torch.tensor([source.shape[1]])
    words = models.greedy(model, source, lengths)
    previous = torch.cat([torch.tensor([[START]]), words[:, :-1]], 1)
    place, head = data["shown"]
    memory = model.encode(source, padding(lengths))
    with watched(model) as found:
        model.decode(previous, memory, padding(lengths))
    weights_of_head = found[place][0, head]
    lingo = [LINGO_WORDS[word] for word in words[0, :-1]]
    return Picture(
        f"In Lingo “{' '.join(read)}” is",
        " ".join(lingo),
        _joined_words([*lingo, "end"], [*read, "end"], weights_of_head, 520),
        _joined_words([*lingo, "end"], [*read, "end"], weights_of_head, 320),
        f"On the left, one below the other, the words that the model writes: {' '.join(lingo)}. On the right "
        f"those that it has read: {' '.join(read)}. Lines lead from each written word to the words that one "
        "head looks at while it is written, the thicker the more it looks.",
        "Switch off the positions. What breaks?",
        "The lines show where one of the model’s heads looks while it writes each word.",
        slim="Type a sentence of your own.",
    )


def _joined_words(asking: list[str], found: list[str], weights: Tensor, width: float) -> Part:
    left, right = 0.3 * width, 0.7 * width
    bent = (right - left) / 2
    marks = ""
    for i, row in enumerate(weights.tolist()):
        for j, weight in enumerate(row):
            if weight < 0.05:
                continue
            y, to = ROW * (i + 1.5), ROW * (j + 1.5)
            bends = f"{short(left + bent)} {short(y)} {short(right - bent)} {short(to)}"
            marks += (
                f'<path d="M{short(left + 8)} {short(y)}C{bends} {short(right - 8)} {short(to)}"'
                ' fill="none" stroke="var(--blue)"'
                f' stroke-width="{short(1 + 5 * weight)}" stroke-opacity="{short(0.15 + 0.7 * weight)}"/>'
            )
    for x, anchor, title, colour, words in (
        (left, "end", "writes", "query", asking),
        (right, "start", "looks at", "key", found),
    ):
        marks += label(x, ROW * 0.7, title, size=SMALL, colour="grey", anchor=anchor)  # type: ignore[arg-type]
        for i, word in enumerate(words):
            ink = "grey" if word == "end" else colour
            marks += label(x, ROW * (i + 1.5) + 5, word, colour=ink, anchor=anchor)  # type: ignore[arg-type]
    return Part(width, ROW * (max(len(asking), len(found)) + 1), marks)


@torch.no_grad()
def the_next_word() -> Picture:
    """`the_next_word()` has a bar for each of the likeliest words, and marks what the grammar says."""
    data, model = language_model(), loaded("language-model")
    words = data["offered"][0].split()
    chances = model(_ids(words))[0, -1].softmax(-1)
    likeliest = chances.topk(6)
    allowed = agreement.following(_state(words))
    bars = [
        (models.WORDS[word], chance, allowed.get(models.WORDS[word], (0.0, None))[0])
        for chance, word in zip(likeliest.values.tolist(), likeliest.indices.tolist(), strict=True)
    ]
    said = ", ".join(f"{word} {100 * chance:.0f} %" for word, chance, _ in bars)
    return Picture(
        f"After “{' '.join(words)}” the likeliest word is",
        bars[0][0],
        _bars(bars, 520),
        _bars(bars, 320),
        f"Bars show how likely the model takes each word to come next: {said}. A ring on each bar shows how "
        "likely it is in the grammar.",
        "Switch off the head that finds the subject.",
        "The bars are the model’s chances for the next word; the rings are those of the grammar.",
    )


def _state(words: list[str]) -> agreement.State:
    state: agreement.State | None = agreement.FIRST
    for word in words:
        assert state is not None
        state = agreement.following(state)[word][1]
    assert state is not None
    return state


def _bars(bars: list[tuple[str, float, float]], width: float) -> Part:
    left, room = 0.2 * width, 0.62 * width
    largest = max(max(chance, allowed) for _, chance, allowed in bars)
    marks = ""
    for i, (word, chance, allowed) in enumerate(bars):
        y = ROW * i
        long = room * chance / largest
        marks += label(left - 10, y + ROW / 2 + 5, word, anchor="end")
        marks += rectangle(Place(left, y + 5, long, ROW - 10), None, fill="output", opacity=0.5, corner=3)
        marks += circle(left + room * allowed / largest, y + ROW / 2, 4, colour="ink", fill="paper")
        end = left + max(long, room * allowed / largest)
        marks += label(end + 10, y + ROW / 2 + 5, f"{as_text(100 * chance, 0)} %", size=SMALL, anchor="start")
    return Part(width, ROW * len(bars), marks)


MODELS = {
    "translator": Openable(partial(loaded, "translator"), translator, a_translation),
    "language-model": Openable(partial(loaded, "language-model"), language_model, the_next_word),
}
