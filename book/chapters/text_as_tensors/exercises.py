"""The exercises of “Text as tensors”."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnlab.attention import attend
from attnlab.masks import for_heads, padding
from attnlab.runtime import generator
from attnlab.scores import scaled_dot
from attnlab.shapes import Keys, Lengths, Queries, Scores, Values, Weights
from bookkit.checker import Case, Exercise, Mistake, Report, check
from bookkit.puzzle import ShapePuzzle, WrongShapes, check_shapes


def _draw(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers between -2 and 2, in eighths: exact in every dtype, and the same on every machine."""
    whole = torch.randint(-16, 17, shape, generator=generator(seed), device="cpu")
    return whole.to(dtype) / 8


# --- pad and cut ----------------------------------------------------------------------------------

Ends = Callable[[Tensor, int, bool, int], Tensor]


def _ids(*numbers: int) -> Tensor:
    return torch.tensor(numbers, dtype=torch.int64, device="cpu")


def _filled(count: int, pad: int) -> Tensor:
    return _ids(*[pad] * count)


def _fitted(ids: Tensor, length: int, front: bool, pad: int) -> Tensor:
    if front:
        kept = ids[max(0, len(ids) - length) :]
        return torch.cat([_filled(length - len(kept), pad), kept])
    kept = ids[:length]
    return torch.cat([kept, _filled(length - len(kept), pad)])


def _of_two_ends(cut_front: Callable[[bool], bool], pad_front: Callable[[bool], bool]) -> Ends:
    """A mistake in which end is cut, or which is padded."""

    def fitted(ids: Tensor, length: int, front: bool, pad: int) -> Tensor:
        kept = _fitted(ids, min(length, len(ids)), cut_front(front), pad)
        return _fitted(kept, length, pad_front(front), pad)

    return fitted


def _negative_start(ids: Tensor, length: int, front: bool, pad: int) -> Tensor:
    kept = ids[len(ids) - length :] if front else ids[:length]
    return _fitted(kept, length, front, pad)


def _uncut(ids: Tensor, length: int, front: bool, pad: int) -> Tensor:
    return _fitted(ids, max(length, len(ids)), front, pad)


def _unpadded(ids: Tensor, length: int, front: bool, pad: int) -> Tensor:
    return _fitted(ids, min(length, len(ids)), front, pad)


def _one_too_many(ids: Tensor, length: int, front: bool, pad: int) -> Tensor:
    return _fitted(ids, length + 1, front, pad)


def _ids_case(label: str, ids: Tensor, length: int, front: bool, pad: int) -> Case:
    return Case(label, {"ids": ids, "length": length, "front": front, "pad": pad})


FITTED = Exercise(
    name="fitted",
    difficulty=2,
    minutes=10,
    reference=_fitted,
    returns=("row",),
    cases=(
        _ids_case("right for a short text, at the back", _ids(7, 9, 8), 5, False, 0),
        _ids_case("right for a short text, at the front", _ids(7, 9, 8), 5, True, 0),
        _ids_case("right for a long text, at the back", _ids(4, 5, 9, 6, 8, 7), 4, False, 0),
        _ids_case("right for a long text, at the front", _ids(4, 5, 9, 6, 8, 7), 4, True, 0),
        _ids_case("right for a text that fits", _ids(2, 4, 3), 3, True, 0),
        _ids_case("right for a text that fits", _ids(2, 4, 3), 3, False, 0),
        _ids_case("right for another padding number", _ids(8, 7), 4, True, 1),
        _ids_case("right for a much longer row", _ids(8, 7), 9, True, 1),
    ),
    mistakes=(
        Mistake(
            "back alone",
            "You pad and cut at the back, whatever `front` says.",
            lambda ids, length, front, pad: _fitted(ids, length, False, pad),
        ),
        Mistake(
            "front alone",
            "You pad and cut at the front, whatever `front` says.",
            lambda ids, length, front, pad: _fitted(ids, length, True, pad),
        ),
        Mistake(
            "ends exchanged",
            "Front and back are exchanged: with front=True the padding comes before the text, and the first "
            "tokens are the ones to go.",
            lambda ids, length, front, pad: _fitted(ids, length, not front, pad),
        ),
        Mistake(
            "cut at the back always",
            "The padding is where it belongs, but you cut at the back always. With front=True the first "
            "tokens go, and the last ones stay.",
            _of_two_ends(lambda front: False, lambda front: front),
        ),
        Mistake(
            "padded at the back always",
            "The cutting is right, but you pad at the back always.",
            _of_two_ends(lambda front: front, lambda front: False),
        ),
        Mistake(
            "cut at the front always",
            "The padding is where it belongs, but you cut at the front always. With front=False the first "
            "tokens stay.",
            _of_two_ends(lambda front: True, lambda front: front),
        ),
        Mistake(
            "padded at the front always",
            "The cutting is right, but you pad at the front always.",
            _of_two_ends(lambda front: front, lambda front: True),
        ),
        Mistake(
            "cut at the wrong end",
            "You pad at the right end and cut at the other one. With front=True both happen at the front.",
            _of_two_ends(lambda front: not front, lambda front: front),
        ),
        Mistake(
            "a negative start",
            "Right, but for a short text at the front: there len(ids) - length is negative, and Python "
            "counts a negative start from the end. max(0, …) stops it at the first token.",
            _negative_start,
        ),
        Mistake(
            "not cut",
            "A text that is too long comes back as it was. What is left to do is the cutting.",
            _uncut,
        ),
        Mistake(
            "not padded",
            "A text that is too short comes back as it was. What is left to do is the padding.",
            _unpadded,
        ),
        Mistake(
            "0 for every padding",
            "You pad with 0. Take the number that was given: in a vocabulary of torchtext it is 1.",
            lambda ids, length, front, pad: _fitted(ids, length, front, 0),
        ),
        Mistake("one too many", "Each row is one number too long.", _one_too_many),
        Mistake(
            "turned round",
            "The tokens come out in the reverse order.",
            lambda ids, length, front, pad: _fitted(ids, length, front, pad).flip(0),
        ),
        Mistake(
            "nothing but padding",
            "This is padding throughout: no token has got in.",
            lambda ids, length, front, pad: _filled(length, pad),
        ),
    ),
    trainable=False,
)


def check_fitted(function: object) -> Report:
    """`check_fitted(my_function)` tests function(ids, length, front, pad) -> a row of just that length.

    >>> check_fitted(lambda ids, length, front, pad: ids[:length]).state
    'not yet'
    """
    return check(FITTED, function)


# --- a vocabulary ---------------------------------------------------------------------------------

Words = Sequence[str]
SPECIALS = ("<unk>", "<pad>")


def _ranked(training: Words, min_freq: int) -> list[str]:
    counts = Counter(word for word in training if word not in SPECIALS)
    return sorted(
        (word for word in counts if counts[word] >= min_freq), key=lambda word: (-counts[word], word)
    )


def _look_up(vocabulary: Sequence[str], words: Words, unknown: int = 0) -> Tensor:
    number = {word: place for place, word in enumerate(vocabulary)}
    return _ids(*[number.get(word, unknown) for word in words])


def _numbers(training: Words, min_freq: int, words: Words) -> Tensor:
    return _look_up([*SPECIALS, *_ranked(training, min_freq)], words)


def _from_order(order: Callable[[Counter[str], int], list[str]]) -> Callable[[Words, int, Words], Tensor]:
    """A mistake in which words get a number, or in what order."""

    def numbers(training: Words, min_freq: int, words: Words) -> Tensor:
        counts = Counter(word for word in training if word not in SPECIALS)
        return _look_up([*SPECIALS, *order(counts, min_freq)], words)

    return numbers


def _frequent(counts: Counter[str], min_freq: int) -> list[str]:
    return [word for word in counts if counts[word] >= min_freq]


def _dropped(training: Words, min_freq: int, words: Words) -> Tensor:
    known = {*SPECIALS, *_ranked(training, min_freq)}
    return _numbers(training, min_freq, [word for word in words if word in known])


def _counted_specials(training: Words, min_freq: int, words: Words) -> Tensor:
    counts = Counter(training)
    order = sorted(_frequent(counts, min_freq), key=lambda word: (-counts[word], word))
    return _look_up([*SPECIALS, *order], words)


def _words_case(label: str, training: str, min_freq: int, words: str) -> Case:
    return Case(
        label, {"training": tuple(training.split()), "min_freq": min_freq, "words": tuple(words.split())}
    )


NUMBERS = Exercise(
    name="numbers",
    difficulty=2,
    minutes=15,
    reference=_numbers,
    returns=("ids",),
    cases=(
        _words_case("right for words that it knows", "the rock sea sea the sea", 1, "rock the sea the"),
        _words_case("right for words that it does not know", "sea sea sea the the rock", 1, "the old sea"),
        _words_case(
            "right for words of equal frequency", "tide moon sun moon tide sun quay", 1, "quay sun moon tide"
        ),
        _words_case("right with min_freq", "a a a b b b c c d d e", 2, "e d c b a"),
        _words_case("right with min_freq", "a a a b b b c c d d e", 3, "e d c b a"),
        _words_case(
            "right where <unk> stands in the text", "<unk> sea <unk> sea <unk> the", 1, "the <unk> sea <pad>"
        ),
    ),
    mistakes=(
        Mistake(
            "no specials",
            "Your numbers begin with the words. 0 is for what is unknown and 1 for padding, so the most "
            "frequent word is 2.",
            lambda training, min_freq, words: _look_up(_ranked(training, min_freq), words),
        ),
        Mistake(
            "no padding",
            "The most frequent word is 1 with you. That number is for padding; the words begin at 2.",
            lambda training, min_freq, words: _look_up(["<unk>", *_ranked(training, min_freq)], words),
        ),
        Mistake(
            "specials exchanged",
            "0 is for <unk> and 1 for <pad>; you have them the other way round.",
            lambda training, min_freq, words: _look_up(
                ["<pad>", "<unk>", *_ranked(training, min_freq)], words, unknown=1
            ),
        ),
        Mistake(
            "-1 for unknown",
            "A word that is not in the vocabulary gets -1. No row of an embedding has that number: it "
            "gets 0.",
            lambda training, min_freq, words: _look_up(
                [*SPECIALS, *_ranked(training, min_freq)], words, unknown=-1
            ),
        ),
        Mistake(
            "padding for unknown",
            "A word that is not in the vocabulary gets 1, the number of padding, and would be masked "
            "away. It gets 0.",
            lambda training, min_freq, words: _look_up(
                [*SPECIALS, *_ranked(training, min_freq)], words, unknown=1
            ),
        ),
        Mistake(
            "unknown dropped",
            "Words that are not in the vocabulary are left out, so the text becomes shorter. Each gets 0.",
            _dropped,
        ),
        Mistake(
            "more than min_freq",
            "A word that occurs just min_freq times belongs in: >=, not >.",
            lambda training, min_freq, words: _numbers(training, min_freq + 1, words),
        ),
        Mistake(
            "min_freq ignored",
            "Every word of the training text gets a number, whatever min_freq says.",
            lambda training, min_freq, words: _numbers(training, 1, words),
        ),
        Mistake(
            "rarest first",
            "The rarest word comes first with you. The most frequent one does.",
            _from_order(
                lambda counts, min_freq: sorted(
                    _frequent(counts, min_freq), key=lambda word: (counts[word], word)
                )
            ),
        ),
        Mistake(
            "ties as they came",
            "Words of equal frequency stand in the order in which they came, so that another text of the "
            "same words gives other numbers. Sort ties by the alphabet. (Counter.most_common leaves them "
            "as they came.)",
            _from_order(lambda counts, min_freq: [w for w, n in counts.most_common() if n >= min_freq]),
        ),
        Mistake(
            "ties reversed",
            "Words of equal frequency come in the reverse of the alphabet: reverse=True turned both "
            "round. Sort by (-count, word).",
            _from_order(
                lambda counts, min_freq: sorted(
                    _frequent(counts, min_freq), key=lambda word: (counts[word], word), reverse=True
                )
            ),
        ),
        Mistake(
            "alphabet alone",
            "The words are in the order of the alphabet. Frequency comes first, and the alphabet settles "
            "ties.",
            _from_order(lambda counts, min_freq: sorted(_frequent(counts, min_freq))),
        ),
        Mistake(
            "order of appearance",
            "The words are numbered in the order in which they come. The most frequent one goes first.",
            _from_order(_frequent),
        ),
        Mistake(
            "<unk> counted",
            "Right, but for a text that holds <unk> itself: you count it as a word, and it gets a second "
            "number. Leave the specials out of the count.",
            _counted_specials,
        ),
        Mistake(
            "built on the wrong text",
            "The vocabulary is built from the words to be numbered. It must come from the training text, "
            "or the test set leaks into it.",
            lambda training, min_freq, words: _numbers(words, min_freq, words),
        ),
        Mistake(
            "built on both texts",
            "The words to be numbered are counted with the training text. In a test set that would be a "
            "leak, and nothing would ever be unknown.",
            lambda training, min_freq, words: _numbers((*training, *words), min_freq, words),
        ),
    ),
    trainable=False,
)


def check_numbers(function: object) -> Report:
    """`check_numbers(my_function)` tests function(training, min_freq, words) -> a number for each word.

    >>> check_numbers(lambda training, min_freq, words: torch.tensor([2])).passed
    False
    """
    return check(NUMBERS, function)


# --- repair: a padding mask on the wrong axis -----------------------------------------------------

Hidden = Callable[[Scores, Lengths], Scores]


def _shown(scores: Scores, lengths: Lengths) -> Tensor:
    return torch.arange(scores.shape[-1], device="cpu") < lengths[:, None]  # (batch, m)


def _masked(query: Queries, key: Keys, value: Values, lengths: Lengths) -> tuple[Tensor, Weights | None]:
    return attend(query, key, value, mask=for_heads(padding(lengths, key.shape[-2])))


def _weighing_by(weights_of: Callable[[Scores, Tensor], Weights]) -> Callable[..., object]:
    """A mistake in what becomes of the scores; the function also gets what may be seen, (batch, m)."""

    def attention(query: Queries, key: Keys, value: Values, lengths: Lengths) -> tuple[Tensor, Weights]:
        scores = scaled_dot(query, key)  # (batch, heads, n, m)
        weights = weights_of(scores, _shown(scores, lengths))
        return weights @ value, weights

    return attention


def _hiding(scores: Scores, hidden: Tensor) -> Weights:
    return scores.masked_fill(hidden, -math.inf).softmax(-1)


def _each(shown: Tensor) -> Tensor:
    return shown[:, None, None]  # (batch, 1, 1, m)


def _mask_case(label: str, heads: int, n: int, m: int, lengths: Tensor, seed: int) -> Case:
    batch, d = len(lengths), 4
    inputs = {
        "query": _draw(seed, batch, heads, n, d),
        "key": _draw(seed + 1, batch, heads, m, d),
        "value": _draw(seed + 2, batch, heads, m, 3),
        "lengths": lengths,
    }
    return Case(label, inputs)


PADDING_MASK = Exercise(
    name="padding_mask",
    difficulty=3,
    minutes=10,
    reference=_masked,
    returns=("output", "weights"),
    cases=(
        # The broken code passes the first of these, which is the clue; in the second it runs and is wrong.
        _mask_case("right for 1 text and 2 heads", 2, 3, 4, _ids(3), 41),
        _mask_case("right for 2 texts and 2 heads", 2, 3, 4, _ids(4, 2), 51),
        _mask_case("right for 3 texts and 2 heads", 2, 5, 6, _ids(6, 1, 4), 61),
        _mask_case("right for 2 texts and 1 head", 1, 3, 5, _ids(2, 5), 71),
        _mask_case("right for as many queries as texts", 2, 4, 4, _ids(4, 3, 2, 1), 81),
    ),
    mistakes=(
        Mistake(
            "still broken",
            "The mask still has three axes: (batch, 1, m), which PyTorch takes for (heads, n, m) of every "
            "example. It needs an axis of length 1 for the heads and one for the queries.",
            _weighing_by(lambda scores, shown: _hiding(scores, ~shown.unsqueeze(1))),
        ),
        Mistake(
            "no mask",
            "The mask is gone, and with it the padding is seen again.",
            _weighing_by(lambda scores, shown: scores.softmax(-1)),
        ),
        Mistake(
            "reversed",
            "The mask is turned round: the padding is seen and the text is hidden.",
            _weighing_by(lambda scores, shown: _hiding(scores, _each(shown))),
        ),
        Mistake(
            "not unsqueezed",
            "The mask (batch, m) is taken for (n, m), the queries and keys of all examples alike. It "
            "needs two more axes of length 1, between the batch and the keys.",
            _weighing_by(lambda scores, shown: _hiding(scores, ~shown)),
        ),
        Mistake(
            "on the queries",
            "The mask lies on the queries: (batch, 1, n, 1) hides rows. It is the keys that must not be "
            "seen: (batch, 1, 1, m).",
            _weighing_by(lambda scores, shown: _hiding(scores, ~shown[:, None, : scores.shape[-2], None])),
        ),
        Mistake(
            "one too many shown",
            "One padded key is still seen: the last position of a text of length 3 is 2.",
            _weighing_by(
                lambda scores, shown: _hiding(
                    scores, torch.arange(scores.shape[-1], device="cpu") > shown.sum(-1)[:, None, None, None]
                )
            ),
        ),
        Mistake(
            "one too few shown",
            "The last token of each text is hidden, too.",
            _weighing_by(
                lambda scores, shown: _hiding(
                    scores,
                    torch.arange(scores.shape[-1], device="cpu") >= shown.sum(-1)[:, None, None, None] - 1,
                )
            ),
        ),
        Mistake(
            "hidden after the softmax",
            "The padding is set to 0 after the softmax, so that the weights no longer sum to 1.",
            _weighing_by(lambda scores, shown: scores.softmax(-1) * _each(shown)),
        ),
        Mistake(
            "score 0",
            "The padding gets the score 0, not -inf. 0 is a score like any other: e^0 = 1 is a good share.",
            _weighing_by(lambda scores, shown: (scores * _each(shown)).softmax(-1)),
        ),
        Mistake(
            "filled with 0",
            "The weights of the padding come out as 0, but so do all the others: the softmax got lost.",
            _weighing_by(lambda scores, shown: scores.masked_fill(~_each(shown), 0)),
        ),
        Mistake(
            "softmax over the queries",
            "The softmax runs over the queries, dim=-2. The mask is right; the weights of each query must "
            "sum to 1.",
            _weighing_by(
                lambda scores, shown: scores.masked_fill(~_each(shown), -math.inf).softmax(-2).nan_to_num()
            ),
        ),
        Mistake(
            "first length for all",
            "Every example is masked by the first one's length.",
            _weighing_by(lambda scores, shown: _hiding(scores, ~_each(shown[:1]))),
        ),
        Mistake(
            "longest for all",
            "Every example is masked by the longest one's length.",
            _weighing_by(lambda scores, shown: _hiding(scores, ~_each(shown.any(0, keepdim=True)))),
        ),
    ),
    # Whole numbers such as lengths have no gradient, and the check asks for that of every input.
    trainable=False,
)


def check_padding_mask(function: object) -> Report:
    """`check_padding_mask(my_function)` tests function(query, key, value, lengths) -> output, weights.

    >>> check_padding_mask(lambda query, key, value, lengths: attend(query, key, value)).mistake
    'no mask'
    """
    return check(PADDING_MASK, function)


# --- say the shapes -------------------------------------------------------------------------------

# 2003 tokens in 8 columns: 251 rows, the last of them partly padding. 35 steps a batch: 7 · 35 = 245, and the
# last batch has the 5 rows that are left, since the very last row has no next token.
BATCH_SHAPES = ShapePuzzle(
    name="batch_shapes",
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
    mistakes=(
        WrongShapes(
            "rounded down",
            "2003 / 8 is not whole, and torchtext pads the text until it is: it rounds up.",
            {"columns": (250, 8), "batches[-1].text": (4, 8)},
        ),
        WrongShapes(
            "batch first",
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
        WrongShapes(
            "time first",
            "with batch_first=True the batch is the first axis.",
            {"batch_first.text": (35, 8)},
        ),
        WrongShapes(
            "target one shorter",
            "each of the 35 tokens has a next one, and the target holds them all; it reaches one row "
            "further down.",
            {"first.target": (34, 8), "first.target.flatten()": (272,)},
        ),
        WrongShapes(
            "target one longer",
            "the target starts one row later and ends one row later, so it is as long as the text.",
            {"first.target": (36, 8), "first.target.flatten()": (288,)},
        ),
        WrongShapes(
            "one token a column",
            "the target holds the next token of every place, not just that of the last one.",
            {"first.target": (8,), "first.target.flatten()": (8,)},
        ),
        WrongShapes(
            "the last one full",
            "7 batches of 35 rows make 245, and only a few rows are left for the last batch.",
            {"batches[-1].text": (35, 8)},
        ),
        WrongShapes(
            "the last row with no target",
            "the very last row is only a target: no token comes after it.",
            {"batches[-1].text": (6, 8)},
        ),
        WrongShapes(
            "embedding instead of",
            "an embedding puts a vector in the place of each number, so an axis is added, of width 16.",
            {"embedding(first.text)": (35, 16)},
        ),
        WrongShapes(
            "vocabulary for width",
            "the embedding's matrix has 5000 rows, one for each word; what comes out of it is one row, of "
            "width 16.",
            {"embedding(first.text)": (35, 8, 5000)},
        ),
        WrongShapes(
            "width for vocabulary",
            "the model gives a score for every word that might come next: 5000 of them, not the width of "
            "a vector.",
            {"model(first.text)": (35, 8, 16), "model(first.text).flatten(0, 1)": (280, 16)},
        ),
        WrongShapes(
            "one word each",
            "the model does not say which word comes next; it gives every one of the 5000 a score.",
            {"model(first.text)": (35, 8), "model(first.text).flatten(0, 1)": (280,)},
        ),
        WrongShapes(
            "all flat",
            "flatten(0, 1) joins the first two axes and leaves the last one alone.",
            {"model(first.text).flatten(0, 1)": (1400000,)},
        ),
    ),
)


def check_batch_shapes(answers: object) -> Report:
    """`check_batch_shapes(my_shapes)` tests a dictionary of shapes, or a function that returns one.

    >>> check_batch_shapes(BATCH_SHAPES.shapes).passed
    True
    """
    return check_shapes(BATCH_SHAPES, answers)
