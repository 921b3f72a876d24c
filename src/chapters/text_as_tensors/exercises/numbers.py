"""Number the words of a text by a vocabulary built on another."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts
from chapters.text_as_tensors.exercises.floats import _FLOATS

Words: TypeAlias = Sequence[str]


SPECIALS = ("<unk>", "<pad>")


def _numbers(
    training: Words,
    min_freq: int,
    words: Words,
    order: Part = lambda counts: sorted(counts, key=lambda word: (-counts[word], word)),
    specials: Words = SPECIALS,
    skipped: Words = SPECIALS,
    unknown: int = 0,
) -> Tensor:
    counts = Counter(word for word in training if word not in skipped)
    frequent = [word for word in order(counts) if counts[word] >= min_freq]
    number = {word: place for place, word in enumerate([*specials, *frequent])}
    return whole(*[number.get(word, unknown) for word in words])


_ORDERS: Mistakes = {
    "order of appearance": ("Words are numbered as they come. The most frequent goes first.", list),
    "alphabet alone": ("Frequency comes first, and the alphabet settles ties.", sorted),
    "rarest first": (
        "The rarest word comes first with you. The most frequent one does.",
        lambda counts: sorted(counts, key=lambda word: (counts[word], word)),
    ),
    "ties as they came": (
        "Ties stand as they came, as Counter.most_common leaves them. Sort them by the alphabet.",
        lambda counts: [word for word, _ in counts.most_common()],
    ),
    "ties reversed": (
        "Ties come in the reverse of the alphabet: reverse=True turned both round. Sort by (-count, word).",
        lambda counts: sorted(counts, key=lambda word: (counts[word], word), reverse=True),
    ),
}


_NUMBERED: Mistakes = {
    "no specials": ("0 is for <unk>, 1 for <pad>: words begin at 2.", partial(_numbers, specials=())),
    "no padding": ("1 is for padding, so the words begin at 2.", partial(_numbers, specials=SPECIALS[:1])),
    "<pad> unknown": ("<pad> has a number of its own: 1.", partial(_numbers, specials=("<unk>", ""))),
    "-1 for unknown": ("What is unknown gets 0. No row has the number -1.", partial(_numbers, unknown=-1)),
    "padding for unknown": ("Unknown words get 0: padding is masked away.", partial(_numbers, unknown=1)),
    "specials exchanged": (
        "0 is for <unk> and 1 for <pad>; you have them the other way round.",
        partial(_numbers, specials=SPECIALS[::-1], unknown=1),
    ),
    "unknown dropped": (
        "Words that are not in the vocabulary are left out, so the text becomes shorter. Each gets 0.",
        lambda training, least, words: (ids := _numbers(training, least, words, unknown=-1))[ids >= 0],
    ),
    "<unk> counted": ("A text may hold <unk>: it is no word to be counted.", partial(_numbers, skipped=())),
    "a place kept for <unk>": (
        "<unk> is counted as a word of the training text, and every word after it is one too high.",
        lambda text, least, words: _numbers([word.replace("unk", "u") for word in text], least, words),
    ),
    "more than min_freq": (
        "A word that occurs just min_freq times belongs in: >=, not >.",
        lambda training, least, words: _numbers(training, least + 1, words),
    ),
    "min_freq ignored": (
        "Every word of the training text gets a number, whatever min_freq says.",
        lambda training, least, words: _numbers(training, 1, words),
    ),
    "built on the wrong text": (
        "You count the words that are to be numbered. Count the training text, or the test set leaks in.",
        lambda training, least, words: _numbers(words, least, words),
    ),
    "built on both texts": (
        "The words to be numbered are counted too. In a test set that is a leak, and nothing is unknown.",
        lambda training, least, words: _numbers((*training, *words), least, words),
    ),
}


_TEXTS = (
    ("right for words that it knows", "the rock sea sea the sea", 1, "rock the sea the"),
    # Capitals in two frequencies of their own: in ties, whether they come first would be anybody's guess.
    (
        "right for words that it does not know",
        "sea sea sea sea The The The the the rock",
        1,
        "the old The Sea",
    ),
    ("right for words of equal frequency", "tide moon sun moon tide sun quay", 1, "quay sun moon tide"),
    ("right with min_freq", "a a a b b b c c d d e", 2, "e d c b a"),
    ("right with min_freq", "a a a b b b c c d d e", 3, "e d c b a"),
    ("right where <unk> stands in the text", "<unk> sea <unk> sea <unk> the", 1, "the <unk> sea <pad>"),
)


check_numbers = Exercise(
    "numbers",
    difficulty=2,
    minutes=15,
    takes=("training", "min_freq", "words"),
    returns=("ids",),
    reference=_numbers,
    cases=[
        Case(label, tuple(training.split()), min_freq, tuple(words.split()))
        for label, training, min_freq, words in _TEXTS
    ],
    mistakes=in_parts(_numbers, order=_ORDERS) | _NUMBERED | in_answer(_numbers, _FLOATS),
)
