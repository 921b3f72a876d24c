"""The exercises of “From words to vectors”."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, logsigmoid, normalize

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts
from chapters.from_words_to_vectors.counting import count, neighbours, squeezed, surprise
from chapters.from_words_to_vectors.grammar import VOCABULARY, share_found, written

# --- the gradient of a table ----------------------------------------------------------------------


def _gradient(ids: Tensor, incoming: Tensor, vocabulary: int) -> Tensor:
    gradient = torch.zeros(vocabulary, incoming.shape[-1], dtype=incoming.dtype, device="cpu")
    return gradient.index_add(0, ids, incoming)


def _last_one_wins(ids: Tensor, incoming: Tensor, vocabulary: int) -> Tensor:
    gradient = torch.zeros(vocabulary, incoming.shape[-1], dtype=incoming.dtype, device="cpu")
    for number, row in zip(ids.tolist(), incoming, strict=True):
        gradient[number] = row
    return gradient


def _times_read(ids: Tensor, vocabulary: int) -> Tensor:
    return torch.bincount(ids, minlength=vocabulary).clamp(min=1)[:, None]


check_table_gradient = Exercise(
    "table_gradient",
    difficulty=2,
    minutes=10,
    takes=("ids", "incoming", "vocabulary"),
    returns=("gradient",),
    reference=_gradient,
    trainable=False,
    cases=(
        Case("right where every word occurs once", whole(2, 0, 1), *draw(11, (3, 2)), 3),
        Case("right where a row is not read", whole(4, 1), *draw(12, (2, 3)), 6),
        Case("right where a word is read twice", whole(1, 3, 1), *draw(13, (3, 2)), 4),
        Case("right for a longer text", whole(5, 2, 5, 0, 5, 2, 6), *draw(14, (7, 4)), 9),
    ),
    mistakes={
        "the last one wins": (
            "A word that is read several times keeps only its last gradient. `gradient[ids] = incoming` "
            "overwrites; the gradients of all its places add up.",
            _last_one_wins,
        ),
        "the mean of its places": (
            "You take the mean over a word's places. Each place is a path to the same row, and gradients of "
            "several paths add up.",
            lambda ids, incoming, vocabulary: (
                _gradient(ids, incoming, vocabulary) / _times_read(ids, vocabulary)
            ),
        ),
        "divided by the length": (
            "Everything is divided by the number of words. That belongs to a mean loss, and is in `incoming` "
            "already.",
            lambda ids, incoming, vocabulary: _gradient(ids, incoming, vocabulary) / len(ids),
        ),
        "a row for each place": (
            "These are the gradients as they came, a row for each place of the text. Send each to the row of "
            "the table that was read there.",
            lambda ids, incoming, vocabulary: incoming.clone(),
        ),
        "places for numbers": (
            "The gradient of place i went to row i. It belongs to row ids[i], which was read there.",
            lambda ids, incoming, vocabulary: _gradient(
                torch.arange(len(ids), device="cpu") % vocabulary, incoming, vocabulary
            ),
        ),
        "every row": (
            "Every row gets the sum of all gradients. Only the rows that were read get any.",
            lambda ids, incoming, vocabulary: incoming.sum(0).expand(vocabulary, -1).clone(),
        ),
        "how often": (
            "This counts how often each row was read. Multiply by what came back for it.",
            lambda ids, incoming, vocabulary: _gradient(ids, torch.ones_like(incoming), vocabulary),
        ),
        "nothing but zeros": (
            "These are all zeros. If you loop, does the loop write into what you return?",
            lambda ids, incoming, vocabulary: torch.zeros(vocabulary, incoming.shape[-1], device="cpu"),
        ),
    },
)

# --- nearest words --------------------------------------------------------------------------------


def _cosines(vectors: Tensor) -> Tensor:
    unit = normalize(vectors, dim=-1)
    return unit @ unit.mT


def _without_oneself(alike: Tensor) -> Tensor:
    return alike.clone().fill_diagonal_(-torch.inf)


def _nearest(
    vectors: Tensor,
    k: int,
    *,
    compare: Part = _cosines,
    leave_out: Part = _without_oneself,
    pick: Part = lambda alike, k: alike.topk(k).indices,
) -> Tensor:
    result: Tensor = pick(leave_out(compare(vectors)), k)
    return result


check_nearest = Exercise(
    "nearest",
    difficulty=2,
    minutes=10,
    takes=("vectors", "k"),
    returns=("ids",),
    reference=_nearest,
    trainable=False,
    cases=(
        Case("right for the nearest one", *draw(41, (5, 3)), 1),
        Case("right for the nearest three", *draw(42, (9, 4)), 3),
        Case(
            "right for rows of very different lengths",
            draw(43, (8, 3))[0] * torch.tensor([0.1, 5, 1, 30, 0.02, 2, 9, 0.5])[:, None],
            2,
        ),
        Case("right for all others", *draw(44, (6, 4)), 5),
    ),
    mistakes=in_parts(
        _nearest,
        compare={
            "dot product": (
                "You compare by dot product, in which long rows win. Divide each row by its length first.",
                lambda vectors: vectors @ vectors.mT,
            ),
            "distance": (
                "You compare by distance, in which a short row is far from a long one that points the same "
                "way. Divide each row by its length first.",
                lambda vectors: -torch.cdist(vectors, vectors),
            ),
            "columns made equal": (
                "You divide the columns by their lengths: dim=0. It is the rows that are words: dim=-1.",
                lambda vectors: normalize(vectors, dim=0) @ normalize(vectors, dim=0).mT,
            ),
            "divided by the sum": (
                "You divide each row by its sum. Its length is the root of the sum of its squares.",
                lambda vectors: (
                    (vectors / vectors.sum(-1, keepdim=True)) @ (vectors / vectors.sum(-1, keepdim=True)).mT
                ),
            ),
            "without the sign": (
                "You drop the sign of the cosine. Two rows that point opposite ways are not alike.",
                lambda vectors: _cosines(vectors).abs(),
            ),
        },
        leave_out={
            "oneself first": (
                "Each word's nearest is itself. Fill the diagonal with -torch.inf before you pick.",
                lambda alike: alike,
            ),
            "the diagonal set to 0": (
                "The diagonal is 0, and a cosine may be less than that: a word then comes before those that "
                "point away from it. Fill it with -torch.inf.",
                lambda alike: alike.clone().fill_diagonal_(0),
            ),
        },
        pick={
            "the farthest": (
                "These are the words that are least alike.",
                lambda alike, k: alike.masked_fill(alike.isinf(), torch.inf).topk(k, largest=False).indices,
            ),
            "the wrong way round": (
                "The right words, the least alike first. The nearest comes first.",
                lambda alike, k: alike.topk(k).indices.flip(-1),
            ),
            "cosines for ids": (
                "These are the cosines. `topk(k)` has them as `values`, and the words as `indices`.",
                lambda alike, k: alike.topk(k).values,
            ),
            "one for all": (
                "You pick over all words at once: `dim=0` goes down the columns. Pick along each row.",
                lambda alike, k: alike.topk(k, dim=0).indices,
            ),
        },
    ),
)

# --- repair: neighbours counted across sentences --------------------------------------------------

Sentences = Sequence[Sequence[int]]


def _to_the_left(place: int, window: int) -> range:
    return range(max(0, place - window), place)


def _to_the_right(place: int, window: int, length: int) -> range:
    return range(place + 1, min(length, place + window + 1))


def _neighbours(
    sentences: Sentences,
    vocabulary: int,
    window: int,
    *,
    apart: Part = list,
    left: Part = _to_the_left,
    right: Part = _to_the_right,
    add: Part = lambda so_far: so_far + 1,
) -> Tensor:
    counts = torch.zeros(vocabulary, vocabulary, device="cpu")
    for sentence in apart(sentences):
        for place, word in enumerate(sentence):
            for other in (*left(place, window), *right(place, window, len(sentence))):
                counts[word, sentence[other]] = add(counts[word, sentence[other]])
    return counts


_WINDOWS: Mistakes = {
    "still broken": (
        "The fault that it came with is still there: the last word of a sentence is counted as a neighbour "
        "of the first word of the next. Count within each sentence.",
        partial(_neighbours, apart=lambda sentences: [[word for each in sentences for word in each]]),
    ),
    "only the first sentence": (
        "Only the first sentence is counted.",
        partial(_neighbours, apart=lambda sentences: sentences[:1]),
    ),
    "only to the left": (
        "Only the neighbours to the left are counted.",
        partial(_neighbours, right=lambda place, window, length: ()),
    ),
    "only to the right": (
        "Only the neighbours to the right are counted.",
        partial(_neighbours, left=lambda place, window: ()),
    ),
    "a word beside itself": (
        "Every word is counted as its own neighbour. Leave out the place in the middle.",
        partial(_neighbours, left=lambda place, window: range(max(0, place - window), place + 1)),
    ),
    "one short on the right": (
        "On the right the window is one word short: Python's ranges end before their end.",
        partial(
            _neighbours,
            right=lambda place, window, length: range(place + 1, min(length, place + window)),
        ),
    ),
    "one short": (
        "The window is one word short on either side: Python's ranges end before their end.",
        lambda sentences, vocabulary, window: _neighbours(sentences, vocabulary, window - 1),
    ),
    "one too far": (
        "The window reaches one word too far on either side.",
        lambda sentences, vocabulary, window: _neighbours(sentences, vocabulary, window + 1),
    ),
    "only next door": (
        "Only the words next door are counted, whatever the window.",
        lambda sentences, vocabulary, window: _neighbours(sentences, vocabulary, 1),
    ),
    "yes or no": (
        "This says whether two words were neighbours, and not how often.",
        partial(_neighbours, add=lambda so_far: 1),
    ),
}

check_neighbour_counts = Exercise(
    "neighbour_counts",
    difficulty=2,
    minutes=10,
    takes=("sentences", "vocabulary", "window"),
    returns=("counts",),
    reference=_neighbours,
    cases=(
        # In a single sentence there is no end to cross, and the broken code passes: the clue.
        Case("right for a single sentence", ((0, 1, 2, 0, 3),), 4, 2),
        Case("right for two sentences", ((0, 1, 2), (3, 1, 4)), 5, 2),
        Case("right for another window", ((0, 1, 2, 3, 4, 1, 5), (5, 0, 4, 2)), 6, 3),
        Case("right for a word that stands near itself", ((0, 1, 0, 2), (3, 3, 1)), 4, 2),
        Case("right for sentences shorter than the window", ((0, 1), (2, 0), (1, 2, 3)), 4, 4),
    ),
    mistakes=_WINDOWS
    | in_answer(
        _neighbours,
        {
            "both directions twice": (
                "Each pair is counted twice. The window sees it once from either word already.",
                lambda counts: counts + counts.mT,
            ),
            "nothing on the diagonal": (
                "A word that occurs twice in a window is its own neighbour, too. Leave out the place in the "
                "middle, not the word.",
                lambda counts: counts * (1 - torch.eye(len(counts), device="cpu")),
            ),
            "shares": (
                "The counts of each row are divided by their sum. Asked for are the counts.",
                lambda counts: counts / counts.sum(-1, keepdim=True).clamp(min=1),
            ),
        },
    ),
)

# --- the loss of skip-gram ------------------------------------------------------------------------


def _loss(
    word: Tensor,
    neighbour: Tensor,
    strangers: Tensor,
    *,
    near: Part = lambda score: -logsigmoid(score),
    far: Part = lambda scores: -logsigmoid(-scores).sum(-1),
    gather: Part = Tensor.mean,
) -> Any:
    score = (word * neighbour).sum(-1)  # (B,)
    scores = (strangers @ word.unsqueeze(-1)).squeeze(-1)  # (B, k)
    return gather(near(score) + far(scores))


def _against_all(word: Tensor, neighbour: Tensor, strangers: Tensor) -> Tensor:
    every = torch.cat([neighbour.unsqueeze(1), strangers], dim=1)  # (B, 1 + k, d)
    scores = (every @ word.unsqueeze(-1)).squeeze(-1)
    return cross_entropy(scores, torch.zeros(len(word), dtype=torch.int64, device="cpu"))


def _nothing(score: Tensor) -> Tensor:
    return 0 * score


_NEAR: Mistakes = {
    "strangers alone": (
        "The neighbour plays no part: this is the strangers' half of the loss.",
        _nothing,
    ),
    "neighbour pushed away": (
        "The neighbour is treated like a stranger, and pushed away. Its score should grow: -log σ(score).",
        lambda score: -logsigmoid(-score),
    ),
}
_FAR: Mistakes = {
    "neighbour alone": (
        "The strangers play no part. Then all words can be made alike, and the loss is 0.",
        lambda scores: 0 * scores.sum(-1),
    ),
    "strangers drawn near": (
        "The strangers are drawn near like the neighbour. Their scores need a minus inside the sigmoid.",
        lambda scores: -logsigmoid(scores).sum(-1),
    ),
    "the mean of the strangers": (
        "You take the mean over the strangers of a pair; the formula has their sum.",
        lambda scores: -logsigmoid(-scores).mean(-1),
    ),
    "one sigmoid for all strangers": (
        "The strangers' scores are added up before the sigmoid. Each has a sigmoid of its own.",
        lambda scores: -logsigmoid(-scores.sum(-1)),
    ),
    "a minus before the logarithm": (
        "log σ(-x) is not -log σ(x): the minus belongs inside the sigmoid.",
        lambda scores: logsigmoid(scores).sum(-1),
    ),
    "the first stranger alone": (
        "Only the first stranger of each pair is counted.",
        lambda scores: -logsigmoid(-scores[:, 0]),
    ),
}
_GATHERED: Mistakes = {
    "the sum over the pairs": (
        "You add the pairs up. Take their mean, so that the step does not grow with the batch.",
        Tensor.sum,
    ),
    "a loss for each pair": ("This is a loss for each pair. What is left to do is their mean.", Tensor.clone),
    "the sign": ("The sign is wrong: this falls where the loss should grow.", lambda each: -each.mean()),
}
_WAYS: Mistakes = {
    "overflow": (
        "Right, but for large scores: there the sigmoid rounds to 0, and the logarithm of 0 is infinite. "
        "logsigmoid takes both steps at once.",
        partial(
            _loss,
            near=lambda score: -score.sigmoid().log(),
            far=lambda scores: -(-scores).sigmoid().log().sum(-1),
        ),
    ),
    "no logarithm": (
        "The logarithm is missing: these are the sigmoids themselves.",
        partial(
            _loss,
            near=lambda score: -score.sigmoid(),
            far=lambda scores: -(-scores).sigmoid().sum(-1),
        ),
    ),
    "strangers against the neighbour": (
        "The strangers are compared with the neighbour. They are strangers to the word.",
        lambda word, neighbour, strangers: (
            _loss(word, neighbour, strangers[:, :0]) + _loss(neighbour, neighbour, strangers, near=_nothing)
        ),
    ),
    "a softmax": (
        "This is a softmax over the neighbour and the strangers. Here each pair is a question of its own, "
        "yes or no, with a sigmoid.",
        _against_all,
    ),
}

check_skip_gram_loss = Exercise(
    "skip_gram_loss",
    difficulty=2,
    minutes=15,
    takes=("word", "neighbour", "strangers"),
    returns=("loss",),
    reference=_loss,
    cases=(
        Case("right for one pair and one stranger", *draw(31, (1, 3), (1, 3), (1, 1, 3))),
        Case("right for one pair and several strangers", *draw(32, (1, 4), (1, 4), (1, 5, 4))),
        Case("right for a batch", *draw(33, (6, 4), (6, 4), (6, 5, 4))),
        Case("right for as many strangers as pairs", *draw(34, (3, 2), (3, 2), (3, 3, 2))),
        Case(
            "right for large scores",
            *(40 * each for each in draw(35, (4, 8), (4, 8), (4, 5, 8))),
        ),
    ),
    mistakes=in_parts(_loss, near=_NEAR, far=_FAR, gather=_GATHERED) | _WAYS,
)

# --- experiment: vectors from text ----------------------------------------------------------------

# Of the words of known class, counted and squeezed or trained, all find their like; by chance a quarter do.
_WIDEST, _ENOUGH, _HALF = 16, 0.9, 0.45


def _pairs(seed: int) -> tuple[Tensor, Tensor]:
    """The pairs of a text of 400 sentences, in a vocabulary with its numbers dealt out anew."""
    numbers = torch.randperm(len(VOCABULARY), generator=generator(seed))
    return numbers[neighbours(written(400, 500 + seed))], numbers


def _judged(vectors_of: Part, texts: int) -> Any:
    """What is wrong with the vectors' shape and numbers, how many words find their like, and where else.

    The worst text decides. Percentages in steps, since each training gives others: enough is enough.
    """
    found = []
    for seed in range(texts):
        pairs, numbers = _pairs(seed)
        answer = vectors_of(pairs.clone(), len(VOCABULARY))
        if answer is None or answer is ...:
            return answer
        found.append(_seen(torch.as_tensor(answer).detach().double(), pairs, numbers))
    *faults, percent, beside = zip(*found, strict=True)
    return *map(max, faults), min(percent), max(beside)


def _seen(vectors: Tensor, pairs: Tensor, numbers: Tensor) -> tuple[int, int, int, int, int, int]:
    if vectors.dim() != 2 or len(vectors) != len(VOCABULARY):
        return 1, 0, 0, 0, 0, 0
    too_wide = int(vectors.shape[1] > _WIDEST)
    if not vectors.isfinite().all():
        return 0, too_wide, 1, 0, 0, 0
    alike = _cosines(vectors)[numbers][:, numbers]  # in the grammar's own order
    if alike.min() > 0.9:
        return 0, too_wide, 0, 1, 0, 0
    nearest = alike.fill_diagonal_(-torch.inf).argmax(-1)
    beside = count(pairs)[numbers][:, numbers].gather(1, nearest[:, None]) > 0
    if beside.double().mean() > 0.5:
        return 0, too_wide, 0, 0, 0, 100
    share = share_found(nearest)
    return 0, too_wide, 0, 0, 100 if share >= _ENOUGH else 50 if share >= _HALF else 0, 0


def _random(pairs: Tensor, vocabulary: int) -> Tensor:
    return torch.randn(vocabulary, _WIDEST, generator=generator(0))


def _half_lost(pairs: Tensor, vocabulary: int) -> Tensor:
    """Some words as they should be, the others as they would be without training."""
    vectors = squeezed(count(pairs)).float()
    lost = pairs[:, 0].bincount().argsort()[::3]
    vectors[lost] = _random(pairs, vocabulary)[lost]
    return vectors


def _first_order(pairs: Tensor, vocabulary: int) -> Tensor:
    """As if one table served for words and neighbours: words come to lie with those beside them."""
    strength, directions = torch.linalg.eigh(surprise(count(pairs)))
    strongest = strength.argsort(descending=True)[:_WIDEST]
    vectors: Tensor = directions[:, strongest] * strength[strongest].clamp(min=0).sqrt()
    return vectors


check_learned_vectors = Exercise(
    "learned_vectors",
    difficulty=4,
    minutes=40,
    takes=("texts",),
    returns=(
        "wrong_number_of_rows",
        "too_many_columns",
        "not_finite",
        "all_alike",
        "percent_that_find_their_like",
        "percent_nearest_to_a_neighbour",
    ),
    reference=lambda pairs, vocabulary: squeezed(count(pairs)),
    ask=_judged,
    trainable=False,
    cases=[Case("in each of three texts, words find their like", 3)],
    mistakes={
        "not trained": (
            "The vectors know next to nothing of the classes. Are these the trained ones, with steps and "
            "columns enough?",
            _random,
        ),
        "as wide as the vocabulary": (
            f"The classes are found, but the vectors are too wide: at most {_WIDEST} columns.",
            lambda pairs, vocabulary: count(pairs),
        ),
        "all alike": (
            "All vectors point the same way. Is anything pushed apart? Strangers must be.",
            lambda pairs, vocabulary: torch.ones(vocabulary, _WIDEST),
        ),
        "one table for both": (
            "Each word has come to lie near the words that stand beside it, and not near those that stand in "
            "its place. Words and neighbours need a table each.",
            _first_order,
        ),
        "some of them": (
            "Some words find their like, and too few. Are there columns, steps and strangers enough?",
            _half_lost,
        ),
        "not finite": (
            "Some numbers are not finite. Is a logarithm taken of 0, or is the learning rate too large?",
            lambda pairs, vocabulary: torch.full((vocabulary, _WIDEST), torch.nan),
        ),
        "another number of rows": (
            "The table must have a row for each word of the vocabulary, and has another number. Is there a "
            "row for each pair?",
            lambda pairs, vocabulary: torch.ones(len(pairs), _WIDEST),
        ),
    },
)
