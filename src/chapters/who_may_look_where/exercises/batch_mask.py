"""Make the mask of a batch: causal, and without the filler."""

import attnlab
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.who_may_look_where.exercises.masks_in_parts import _batch_mask, _ones

_SHOWN: Mistakes = {
    "one place of filler too many": (
        "One place of filler may still be looked at: the last word of a text of length 3 has place 2.",
        lambda places, lengths: places <= lengths[:, None],
    ),
    "one word too few": (
        "The last word of each text is hidden, too.",
        lambda places, lengths: places < lengths[:, None] - 1,
    ),
    "first length for all": (
        "Every text is masked by the first one's length.",
        lambda places, lengths: (places < lengths[:1, None]).expand(len(lengths), -1),
    ),
    "filler in front": (
        "Your mask has the filler in front. Here it stands at the end: the first places are words.",
        lambda places, lengths: places >= len(places) - lengths[:, None],
    ),
    "filler shown": (
        "The filler may be looked at and the words may not.",
        lambda places, lengths: places >= lengths[:, None],
    ),
}


_EARLIER: Mistakes = {
    "not causal": (
        "The filler is hidden, but every word may look at those that come after it.",
        _ones,
    ),
    "one place ahead": (
        "Off by one: every word sees the word after it, which is the one that it is to guess.",
        lambda n: _ones(n).tril(1),
    ),
    "not itself": (
        "Off by one: a word may look at itself, so the diagonal belongs to what is shown.",
        lambda n: _ones(n).tril(-1),
    ),
    "the future": (
        "This is turned round: a word sees itself and what comes later. Rows are queries: `tril` keeps what "
        "lies on and below the diagonal.",
        lambda n: _ones(n).triu(),
    ),
    "the future alone": (
        "This is the table of what is hidden: here True means that a query may look.",
        lambda n: _ones(n).triu(1),
    ),
}


_JOINED: Mistakes = {
    "no filler hidden": (
        "The mask is causal, but filler may be looked at.",
        lambda shown, earlier: earlier.expand(len(shown), -1, -1),
    ),
    "either": (
        "You let a key be seen where one of the two masks allows it. Both must: `&`, not `|`.",
        lambda shown, earlier: shown[:, None] | earlier,
    ),
    # Under a causal mask this comes to the same as hiding rows and columns: words see no filler anyway.
    "filler hidden as a query": (
        "The rows of the filler are empty in your mask. Hide its columns alone: (B, 1, n) lines up with "
        "keys. A row that nobody reads still needs a key to look at, or its softmax is 0 / 0.",
        lambda shown, earlier: shown[:, :, None] & earlier,
    ),
    "rows and columns of filler hidden, not causal": (
        "Rows and columns of the filler are hidden, where the columns alone should be; and every word may "
        "look at those that come after it.",
        lambda shown, earlier: shown[:, :, None] & shown[:, None],
    ),
    "True for blocked": (
        "The right table, with True and False in each other's place: here True means that a query may look.",
        lambda shown, earlier: ~(shown[:, None] & earlier),
    ),
}


check_batch_mask = Exercise(
    "batch_mask",
    difficulty=2,
    minutes=10,
    takes=("lengths", "n"),
    returns=("mask",),
    reference=_batch_mask,
    cases=(
        Case("right for one text without filler", whole(3), 3),
        Case("right for one text with filler", whole(2), 4),
        Case("right for two texts", whole(4, 2), 4),
        Case("right for three texts", whole(1, 5, 3), 6),
        Case("right for a single place", whole(1, 1), 1),
    ),
    mistakes=in_parts(_batch_mask, shown=_SHOWN, earlier=_EARLIER, join=_JOINED),
    trainable=False,
    without=(attnlab,),
)
