"""Texts as batches, through torchtext 0.6.0, with its traps covered and no download, ever.

A data set is read where a reader has put it, and the book's own sample of it only when that is asked for.
"""

import os
import random
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torchtext import data, datasets

# Set, it hides a reader's own data: the outputs that are stored in the chapters are the sample's.
ONLY_SAMPLE_VARIABLE = "ATTNLAB_ONLY_SAMPLE"
DATA = Path(__file__).resolve().with_name("data")
WIKITEXT2 = "wikitext-2/wikitext-2"
IMDB = "imdb/aclImdb"
# What must be in the folder of each. torchtext downloads where it finds no folder, and reads half of a half.
NEEDED = {
    WIKITEXT2: ("wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"),
    IMDB: ("train/pos/*.txt", "train/neg/*.txt", "test/pos/*.txt", "test/neg/*.txt"),
}


def folder(name: str, sample: bool = False, root: Path = DATA) -> Path:
    """`folder(WIKITEXT2, sample=True)` is where the data set lies: a reader's own copy, or else the sample.

    Without sample=True it is the copy or nothing. Where there is nothing, an error says what to do.
    """
    if name not in NEEDED:
        raise ValueError(f"name must be one of {', '.join(NEEDED)}, got {name!r}")
    places = [] if sample and os.environ.get(ONLY_SAMPLE_VARIABLE) else [root / name]
    if sample:
        places.append(root / "sample" / name)
    looked = []
    for place in places:
        missing = [file for file in NEEDED[name] if not any(place.glob(file))]
        if not missing:
            return place
        looked.append(f"{place} lacks {', '.join(missing)}.")
    ask = "" if sample else " For the book's own small sample, ask for it: sample=True."
    raise FileNotFoundError(
        f"{' '.join(looked)} Nothing is downloaded: {root / 'README.md'} says where to get the data and how "
        f"to put them there.{ask}"
    )


def is_sample(place: Path, root: Path = DATA) -> bool:
    """`is_sample(folder(IMDB, sample=True))` is False where a reader has put the data set itself."""
    return place.is_relative_to(root / "sample")


def wikitext2(text: Any, sample: bool = False, root: Path = DATA) -> tuple[Any, Any, Any]:
    """`train, valid, test = wikitext2(field, sample=True)`: one example each, its text one list of tokens."""
    # With path=, torchtext reads; with its default, root=, it downloads first.
    train, valid, test = datasets.WikiText2.splits(text, path=str(folder(WIKITEXT2, sample, root)))
    return train, valid, test


def imdb(text: Any, label: Any, sample: bool = False, root: Path = DATA) -> tuple[Any, Any]:
    """`train, test = imdb(text, label, sample=True)`: reviews with their labels, "pos" and then "neg".

    They come in the order of their numbers, where torchtext takes whatever order the disk has; and whole,
    where it stops at the end of the first line.

    >>> train, test = imdb(data.Field(tokenize=str.split), data.LabelField(), sample=True)
    >>> len(train), len(test), train[1].text[:3], train[1].label
    (26, 12, ['A', 'perfect', 'film.'], 'pos')
    """
    place = folder(IMDB, sample, root)
    return _reviews(place / "train", text, label), _reviews(place / "test", text, label)


def _reviews(place: Path, text: Any, label: Any) -> Any:
    fields = [("text", text), ("label", label)]
    examples = [
        data.Example.fromlist([" ".join(file.read_text(encoding="utf-8").splitlines()), sentiment], fields)
        for sentiment in ("pos", "neg")
        for file in sorted((place / sentiment).glob("*.txt"), key=_number)
    ]
    reviews = data.Dataset(examples, fields)
    reviews.sort_key = lambda review: len(review.text)
    return reviews


def _number(file: Path) -> tuple[int, str]:
    """`_number(Path("12_8.txt"))` is (12, "12_8"), so that 12 comes after 2."""
    return int(file.stem.partition("_")[0]), file.stem


def by_length(
    examples: Any, batch_size: int, seed: int | None = None, device: torch.device | str = "cpu"
) -> list[Any]:
    """`by_length(train, batch_size=4, seed=0)` is an epoch of batches, each of reviews of about one length.

    The batches come in an order shuffled by the seed, and the longest review of a batch is its first. Without
    a seed they go from the shortest to the longest.
    """
    before = random.getstate()
    random.seed(seed)  # the iterator takes the state that Python's generator has now
    try:
        batches = data.BucketIterator(
            examples,
            batch_size,
            device=device,
            shuffle=seed is not None,
            sort=seed is None,
            sort_within_batch=True,  # without it, and with shuffle, nothing at all is sorted by length
        )
    finally:
        random.setstate(before)
    return list(batches)


def next_token_batches(
    dataset: Any, batch_size: int, steps: int, device: torch.device | str = "cpu"
) -> list[tuple[Tensor, Tensor]]:
    """`for text, target in next_token_batches(train, 8, 35):` goes through a language-modelling data set.

    Both are (steps, batch), or (batch, steps) of a batch-first field; the last may have fewer steps. Column b
    goes on in the next batch where it stopped, and target is text, one token later. The field keeps its
    eos_token, which torchtext's iterator clears.
    """
    field = dataset.fields["text"]
    eos_token = field.eos_token
    try:
        batches = data.BPTTIterator(dataset, batch_size, steps, device=device)
        return [(batch.text, batch.target) for batch in batches]
    finally:
        field.eos_token = eos_token
