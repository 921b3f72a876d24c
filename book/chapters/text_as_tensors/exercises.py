"""The exercises of “Text as tensors”."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor

from attnlab.corpora.reviews import BLAME, PADDING, PRAISE, written
from attnlab.runtime import generator
from attnlab.scores import scaled_dot
from attnlab.shapes import Keys, Lengths, Queries, Scores, Values, Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, Part, but, in_answer, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import HIDING, WEIGHING, softmax
from bookkit.checking.puzzle import ShapePuzzle

Words: TypeAlias = Sequence[str]

SPECIALS = ("<unk>", "<pad>")

_FLOATS: Mistakes = {
    "floating-point numbers": (
        "Your numbers are floating-point ones, and whole ones are asked for. torch.zeros, torch.ones and "
        "torch.empty make such, unless they are given dtype=torch.int64.",
        Tensor.float,
    ),
}

# --- pad and cut ----------------------------------------------------------------------------------


def _fitted(ids: Tensor, length: int, front: bool, pad: int, cut: Part = bool, fill: Part = bool) -> Tensor:
    """`cut` and `fill` say of each whether it happens at the front."""
    kept = ids[max(0, len(ids) - length) :] if cut(front) else ids[:length]
    filler = whole(*[pad] * (length - len(kept)))
    return torch.cat([filler, kept] if fill(front) else [kept, filler])


def _negative_start(ids: Tensor, length: int, front: bool, pad: int) -> Tensor:
    return _fitted(ids[len(ids) - length :] if front else ids[:length], length, front, pad)


def _at_another_end(where: str, end: Part) -> Mistakes:
    return {
        f"cut at {where}": (
            f"You cut at {where}. The padding is where it belongs, and cutting goes with it.",
            partial(_fitted, cut=end),
        ),
        f"padded at {where}": (f"The cutting is right, but you pad at {where}.", partial(_fitted, fill=end)),
        f"both at {where}": (
            f"You pad and cut at {where}. front=True puts padding first, and cuts the first tokens.",
            partial(_fitted, cut=end, fill=end),
        ),
    }


check_fitted = Exercise(
    "fitted",
    difficulty=2,
    minutes=10,
    takes=("ids", "length", "front", "pad"),
    returns=("row",),
    reference=_fitted,
    cases=(
        Case("right for a short text, at the back", whole(7, 9, 8), 5, False, 0),
        Case("right for a short text, at the front", whole(7, 9, 8), 5, True, 0),
        Case("right for a long text, at the back", whole(4, 5, 9, 6, 8, 7), 4, False, 0),
        Case("right for a long text, at the front", whole(4, 5, 9, 6, 8, 7), 4, True, 0),
        Case("right for a text that fits", whole(2, 4, 3), 3, True, 0),
        Case("right for a text that fits", whole(2, 4, 3), 3, False, 0),
        Case("right for another padding number", whole(8, 7), 4, True, 1),
        Case("right for a much longer row", whole(8, 7), 9, True, 1),
    ),
    mistakes=_at_another_end("the back, whatever `front` says", lambda front: False)
    | _at_another_end("the front, whatever `front` says", lambda front: True)
    | _at_another_end("the wrong end", lambda front: not front)
    | in_answer(_fitted, _FLOATS)
    | {
        "a negative start": (
            "Right, but for a short text at the front: there len(ids) - length is negative, and Python "
            "counts a negative start from the end. max(0, …) stops it at the first token.",
            _negative_start,
        ),
        "not cut": (
            "A text that is too long comes back as it was. What is left to do is the cutting.",
            lambda ids, length, front, pad: _fitted(ids, max(length, len(ids)), front, pad),
        ),
        "not padded": (
            "A text that is too short comes back as it was. What is left to do is the padding.",
            lambda ids, length, front, pad: _fitted(ids, min(length, len(ids)), front, pad),
        ),
        "0 for every padding": (
            "You pad with 0. Take the number that was given: in a vocabulary of torchtext it is 1.",
            lambda ids, length, front, pad: _fitted(ids, length, front, 0),
        ),
        "one too many": (
            "Each row is one number too long.",
            lambda ids, length, front, pad: _fitted(ids, length + 1, front, pad),
        ),
        "turned round": (
            "The tokens come out in the reverse order.",
            lambda *inputs: _fitted(*inputs).flip(0),
        ),
        "not turned back": (
            "With front=True the row comes out backwards: turned round once, and not once more.",
            lambda ids, length, front, pad: _fitted(ids.flip(0) if front else ids, length, False, pad),
        ),
        "nothing but padding": (
            "This is padding throughout: no token has got in.",
            lambda ids, length, front, pad: whole(*[pad] * length),
        ),
    },
)

# --- a vocabulary ---------------------------------------------------------------------------------


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

# --- repair: a padding mask on the wrong axis -----------------------------------------------------


def _hidden(scores: Scores, shown: Tensor, weigh: Callable[[Scores], Weights] = softmax) -> Weights:
    return weigh(scores.masked_fill(~shown, -math.inf))


def _masked(
    query: Queries,
    key: Keys,
    value: Values,
    lengths: Lengths,
    show: Part = lambda places, lengths: places < lengths[:, None],  # (batch, m)
    place: Part = lambda shown, heads: shown[:, None, None],  # (batch, 1, 1, m)
    hide: Part = _hidden,
) -> tuple[Tensor, Weights]:
    shown = place(show(torch.arange(key.shape[-2], device="cpu"), lengths), query.shape[1])
    return mixed(hide(scaled_dot(query, key), shown), value)


_SHOWN: Mistakes = {
    "one too many shown": (
        "One padded key is still seen: the last position of a text of length 3 is 2.",
        lambda places, lengths: places <= lengths[:, None],
    ),
    "one too few shown": (
        "The last token of each text is hidden, too.",
        lambda places, lengths: places < lengths[:, None] - 1,
    ),
    "first length for all": (
        "Every example is masked by the first one's length.",
        lambda places, lengths: places < lengths[:1, None],
    ),
    "longest for all": (
        "Every example is masked by the longest one's length.",
        lambda places, lengths: places < lengths.max().view(1, 1),
    ),
}
_PLACED: Mistakes = {
    "still broken": (
        "The mask's batch lies under the heads: (batch, 1, m) is read as (heads, n, m) of every example. "
        "It needs an axis of length 1 for the heads and one for the queries.",
        lambda shown, heads: shown.unsqueeze(1),
    ),
    "not unsqueezed": (
        "(batch, m) is taken for (n, m). It needs two axes of length 1, between the batch and the keys.",
        lambda shown, heads: shown,
    ),
    "on the queries": (
        "(batch, 1, n, 1) hides queries. It is the keys that must not be seen: (batch, 1, 1, m).",
        lambda shown, heads: shown[:, None, :, None],
    ),
    "on queries and keys": (
        "The mask hides queries as well as keys, and one that may see nothing is NaN. Hide the keys alone.",
        lambda shown, heads: shown[:, None, :, None] & shown[:, None, None],
    ),
    "tiled": (
        "repeat and view deal the masks out wrongly. An axis of length 1 for the heads needs no copies.",
        lambda shown, heads: shown.repeat(heads, 1).view(len(shown), heads, 1, -1),
    ),
}


def _reviews(seed: int, heads: int, queries: int, lengths: Lengths, keys: int) -> list[Tensor]:
    batch = len(lengths)
    return [
        *draw(seed, (batch, heads, queries, 4), (batch, heads, keys, 4), (batch, heads, keys, 3)),
        lengths,
    ]


_QUERY, *_OTHERS = draw(91, (2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3), dtype=torch.float64)

check_padding_mask = Exercise(
    "padding_mask",
    difficulty=3,
    minutes=10,
    takes=("query", "key", "value", "lengths"),
    returns=("output", "weights"),
    reference=_masked,
    cases=(
        # The broken code passes the first of these, which is the clue; in the second it runs and is wrong.
        Case("right for 1 text and 2 heads", *_reviews(41, 2, 3, whole(3), 4)),
        Case("right for 2 texts and 2 heads", *_reviews(51, 2, 3, whole(4, 2), 4)),
        Case("right for 3 texts and 2 heads", *_reviews(61, 2, 5, whole(6, 1, 4), 6)),
        Case("right for 2 texts and 1 head", *_reviews(71, 1, 3, whole(2, 5), 5)),
        # In float64, since rounding grows with the scores.
        Case("right for large scores", 1024 * _QUERY, *_OTHERS, whole(3, 5)),
        Case("right for as many queries as texts", *_reviews(81, 2, 4, whole(4, 3, 2, 1), 4)),
    ),
    mistakes=in_parts(
        _masked,
        show=_SHOWN,
        place=_PLACED,
        hide=but(HIDING, "softmax over the queries") | in_parts(_hidden, weigh=WEIGHING),
    )
    | swapped(_masked, "output", "weights"),
)

# --- say the shapes -------------------------------------------------------------------------------

# 2003 tokens in 8 columns: 251 rows, the last of them partly padding. 35 steps a batch: 7 · 35 = 245, and the
# last batch has the 5 rows that are left, since the very last row has no next token.
check_batch_shapes = ShapePuzzle(
    "batch_shapes",
    difficulty=3,
    minutes=10,
    shapes={
        "columns": (251, 8),
        "first.text": (35, 8),
        "first.target": (35, 8),
        "batches[-1].text": (5, 8),
        "embedding(first.text)": (35, 8, 16),
        "model(first.text)": (35, 8, 5000),
        "model(first.text).flatten(0, 1)": (280, 5000),
        "first.target.flatten()": (280,),
        "batch_first.text": (8, 35),
    },
    mistakes={
        "rounded down": (
            "2003 / 8 is not whole, and torchtext pads the text until it is: it rounds up.",
            {"columns": (250, 8), "batches[-1].text": (4, 8)},
        ),
        "batch first": (
            "without batch_first=True time is the first axis, and each column is a stretch of the text.",
            {
                "columns": (8, 251),
                "first.text": (8, 35),
                "first.target": (8, 35),
                "batches[-1].text": (8, 5),
                "embedding(first.text)": (8, 35, 16),
                "model(first.text)": (8, 35, 5000),
            },
        ),
        "time first": (
            "with batch_first=True the batch is the first axis.",
            {"batch_first.text": (35, 8)},
        ),
        "target one shorter": (
            "each of the 35 tokens has a next one, and the target holds them all; it reaches one row further "
            "down.",
            {"first.target": (34, 8), "first.target.flatten()": (272,)},
        ),
        "target one longer": (
            "the target starts one row later and ends one row later, so it is as long as the text.",
            {"first.target": (36, 8), "first.target.flatten()": (288,)},
        ),
        "one token a column": (
            "the target holds the next token of every place, not just that of the last one.",
            {"first.target": (8,), "first.target.flatten()": (8,)},
        ),
        "target of scores": (
            "a target is the number of a word, one for each place. It is the model that gives every word a "
            "score.",
            {"first.target": (35, 8, 5000), "first.target.flatten()": (280, 5000)},
        ),
        "the last one full": (
            "7 batches of 35 rows make 245, and only a few rows are left for the last batch.",
            {"batches[-1].text": (35, 8)},
        ),
        "the last row with no target": (
            "the very last row is only a target: no token comes after it.",
            {"batches[-1].text": (6, 8)},
        ),
        "embedding instead of": (
            "an embedding puts a vector in the place of each number, so an axis is added, of width 16.",
            {"embedding(first.text)": (35, 16)},
        ),
        "vocabulary for width": (
            "the embedding's matrix has 5000 rows, one for each word; what comes out of it is one row, of "
            "width 16.",
            {"embedding(first.text)": (35, 8, 5000)},
        ),
        "width for vocabulary": (
            "the model gives a score for every word that might come next: 5000 of them, not the width of a "
            "vector.",
            {"model(first.text)": (35, 8, 16), "model(first.text).flatten(0, 1)": (280, 16)},
        ),
        "one word each": (
            "the model does not say which word comes next; it gives every one of the 5000 a score.",
            {"model(first.text)": (35, 8), "model(first.text).flatten(0, 1)": (280,)},
        ),
        "all flat": (
            "flatten(0, 1) joins the first two axes and leaves the last one alone.",
            {"model(first.text).flatten(0, 1)": (1400000,)},
        ),
        "other axes joined": (
            "axes 0 and 1 are joined, the first two: time and batch. The scores stay apart.",
            {"model(first.text).flatten(0, 1)": (35, 40000)},
        ),
    },
)

# --- experiment: the cut that loses least ---------------------------------------------------------

_ROW = 12
# Percent of the opinions in long reviews. The better end alone keeps 58, five first and seven last words 88.
_ENOUGH = 78


def _cut(words: Tensor, head: int = 5, tail: int = 7) -> Tensor:
    return words if len(words) <= _ROW else torch.cat([words[:head], words[len(words) - tail :]])


def _judged(cut: Part, rows: Tensor, long: bool) -> Any:
    """How many reviews come back too long, how many in another order, and what percentage is kept.

    Of a short review all words count, of a long one the words of opinion: what is enough of them is enough.
    """
    reviews = [row[row != PADDING] for row in rows]
    cuts = [cut(words.clone()) for words in reviews]
    if any(each is ... for each in cuts):
        return ...
    kept = [torch.as_tensor(each) for each in cuts]
    too_many = sum(each.numel() > _ROW for each in kept)
    reordered = sum(not _in_order(each, words) for each, words in zip(kept, reviews, strict=True))
    count = _opinions if long else Tensor.numel
    share = 100 * sum(map(count, kept)) // sum(map(count, reviews))
    return too_many, reordered, min(share, _ENOUGH if long else 100)


def _in_order(kept: Tensor, words: Tensor) -> bool:
    rest = iter(words.tolist())
    return all(word in rest for word in kept.tolist())


def _opinions(words: Tensor) -> int:
    return int(((words >= PRAISE.start) & (words < BLAME.stop)).sum())


def _of_length(rows: Tensor, long: bool) -> Tensor:
    return rows[((rows != PADDING).sum(1) > _ROW) == long]


_ROWS, _ = written(900, generator(101))

check_cut = Exercise(
    "cut",
    difficulty=4,
    minutes=40,
    takes=("rows", "long"),
    returns=("too_many", "reordered", "percent_kept"),
    reference=_cut,
    ask=_judged,
    trainable=False,
    cases=(
        Case("reviews of up to 12 words stay whole", _of_length(_ROWS, long=False), False),
        Case("enough of the opinions in long reviews", _of_length(_ROWS, long=True)[:500], True),
    ),
    mistakes={
        "the first words": (
            "You keep the first 12 words, as torchtext does: 2 in 5 of the opinions. Where are the others?",
            lambda words: words[:_ROW],
        ),
        "the last words": (
            "You keep the last 12 words, as Keras does. That is the better end, but three in ten opinions "
            "stand at the other.",
            lambda words: words[-_ROW:],
        ),
        "the middle": (
            "You keep the middle of a review. Count where the opinions stand: most are at its two ends.",
            lambda words: words[max(0, (len(words) - _ROW) // 2) :][:_ROW],
        ),
        "every so many": (
            "You keep words at equal distances. Count where the opinions stand: most are at the two ends.",
            lambda words: words[:: -(-len(words) // _ROW)],
        ),
        "head and tail overlap": (
            "Right for long reviews. In a review of eight words head and tail overlap, and words come twice.",
            lambda words: torch.cat([words[:5], words[-7:]]),
        ),
        "tail before head": (
            "The right words, with the tail before the head. Keep them in their order.",
            lambda words: words if len(words) <= _ROW else torch.cat([words[-7:], words[:5]]),
        ),
        "too long": (
            "Of long reviews more than 12 words come back, and a row holds 12.",
            lambda words: words,
        ),
        "short ones lose words": (
            "Right for long reviews. A review of up to 12 words fits, and should stay whole.",
            lambda words: words[:5] if len(words) <= _ROW else _cut(words),
        ),
    },
)
