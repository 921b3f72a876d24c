"""The exercises of “Who may look where?”."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from attnlab import masks
from attnlab.attention import masked_softmax
from attnlab.scores import scaled_dot
from attnlab.shapes import Keys, Lengths, Mask, Queries, Scores, Values, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact, whole
from bookkit.checking.mistakes import Mistakes, but, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import HIDING, WEIGHING, softmax
from bookkit.checking.puzzle import ShapePuzzle

# --- say the shapes -------------------------------------------------------------------------------

# 3 texts with lengths 7, 4 and 2, 4 heads, 5 queries, 7 keys.
_SHAPES = {
    "padding": (3, 1, 7),
    "causal": (1, 5, 7),
    "both": (3, 5, 7),
    "for_heads(both)": (3, 1, 5, 7),
    "masked_softmax(scores, for_heads(both))": (3, 4, 5, 7),
    'to_multihead(padding, heads=4)["key_padding_mask"]': (3, 7),
    'to_multihead(both, heads=4)["attn_mask"]': (12, 5, 7),
}
_FOR_KEYS, _FOR_PAIRS = list(_SHAPES)[-2:]

check_mask_shapes = ShapePuzzle(
    "mask_shapes",
    difficulty=1,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "no axis for the queries": (
            "this is one row for each text, and no axis for the queries. It stays, with length 1, so that "
            "nothing can be lined up with the wrong axis.",
            {"padding": (3, 7)},
        ),
        "no axis for the texts": (
            "this is one table, and no axis for the texts. It stays, with length 1.",
            {"causal": (5, 7), "both": (5, 7)},
        ),
        "written out for every query": (
            "all queries of a text see alike, so one row is enough for them: that axis has length 1.",
            {"padding": (3, 5, 7)},
        ),
        "written out for every text": (
            "all texts see alike, so one table is enough for them: that axis has length 1.",
            {"causal": (3, 5, 7)},
        ),
        "as many queries as keys": (
            "there are 5 queries and 7 keys: a row for each query.",
            {"causal": (1, 7, 7), "both": (3, 7, 7)},
        ),
        "as many keys as queries": (
            "there are 5 queries and 7 keys: a column for each key.",
            {"causal": (1, 5, 5), "both": (3, 5, 5), "padding": (3, 1, 5)},
        ),
        "the longest of one axis lost": (
            "where one mask has length 1 and the other more, what both allow has the longer of the two.",
            {"both": (1, 1, 7)},
        ),
        "written out for every head": (
            "all heads see alike, so their axis has length 1 and nothing is copied.",
            {"for_heads(both)": (3, 4, 5, 7)},
        ),
        "heads in front": (
            "the batch comes first, then the heads.",
            {"for_heads(both)": (1, 3, 5, 7)},
        ),
        "the mask's own axis": (
            "the mask is spread over the heads: there is a weight for each head, query and key of each text.",
            {"masked_softmax(scores, for_heads(both))": (3, 1, 5, 7)},
        ),
        "summed over the keys": (
            "softmax makes a weight of every score: as many numbers come out as went in.",
            {"masked_softmax(scores, for_heads(both))": (3, 4, 5)},
        ),
        "our shape in their module": (
            "nn.MultiheadAttention takes a row for each text here, without an axis for the queries.",
            {_FOR_KEYS: (3, 1, 7)},
        ),
        "a row for every head": (
            "the module spreads this one over its heads by itself.",
            {_FOR_KEYS: (12, 7)},
        ),
        "heads on an axis of their own": (
            "nn.MultiheadAttention wants three axes here: texts and heads share the first.",
            {_FOR_PAIRS: (3, 4, 5, 7)},
        ),
        "heads left out": (
            "nn.MultiheadAttention wants a table for every head of every text.",
            {_FOR_PAIRS: (3, 5, 7)},
        ),
    },
)

# --- the mask of a batch --------------------------------------------------------------------------

Table = Callable[..., Mask]


def _batch_mask(
    lengths: Lengths,
    n: int,
    *,
    shown: Table = lambda places, lengths: places < lengths[:, None],  # (B, n)
    earlier: Table = lambda n: torch.ones(n, n, dtype=torch.bool, device="cpu").tril(),  # (n, n)
    join: Table = lambda shown, earlier: shown[:, None] & earlier,  # (B, n, n)
) -> Mask:
    return join(shown(torch.arange(n, device="cpu"), lengths), earlier(n))


def _ones(n: int) -> Mask:
    return torch.ones(n, n, dtype=torch.bool, device="cpu")


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
    "filler hidden as a query": (
        "You hide the rows of the filler, where its columns must be hidden: (B, 1, n) lines up with keys.",
        lambda shown, earlier: shown[:, :, None] & earlier,
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
)

# --- from one convention to the other -------------------------------------------------------------


def _for_module(
    mask: Mask,
    heads: int,
    *,
    spread: Callable[[Mask, int], Mask] = lambda mask, heads: mask.repeat_interleave(heads, dim=0),
    turn: Callable[[Mask], Mask] = torch.logical_not,
) -> Mask:
    return turn(spread(mask, heads))


check_for_module = Exercise(
    "for_module",
    difficulty=2,
    minutes=5,
    takes=("mask", "heads"),
    returns=("attn_mask",),
    reference=_for_module,
    cases=(
        Case("right for one text and one head", masks.causal(3, device=torch.device("cpu")), 1),
        Case("right for one text and two heads", masks.causal(2, 4, device=torch.device("cpu")), 2),
        Case("right for two texts and three heads", _batch_mask(whole(2, 3), 3), 3),
        Case("right for three texts and two heads", _batch_mask(whole(1, 4, 2), 4), 2),
    ),
    mistakes=in_parts(
        _for_module,
        turn={
            "not turned round": (
                "The shape is right, and True still means “may look”. For nn.MultiheadAttention it means "
                "blocked.",
                lambda mask: mask,
            ),
            "transposed": (
                "Queries and keys have changed places. The table stays as it is: a row for each query.",
                lambda mask: ~mask.mT,
            ),
        },
        spread={
            "heads not neighbours": (
                "`repeat` puts the texts one after the other and then all of them again. The module counts "
                "the heads of the first text, then those of the second: `repeat_interleave`.",
                lambda mask, heads: mask.repeat(heads, 1, 1),
            ),
            "heads left out": (
                "The tables are right, but there is one for each text. The module wants one for each head of "
                "each text.",
                lambda mask, heads: mask,
            ),
            "heads on an axis of their own": (
                "The tables are right; but the module wants three axes, (B · h, n, m).",
                lambda mask, heads: mask[:, None].expand(-1, heads, -1, -1),
            ),
            "first text for all": (
                "Every text gets the first one's table.",
                lambda mask, heads: mask[:1].repeat(heads * len(mask), 1, 1),
            ),
        },
    )
    | {
        "neither turned nor in order": (
            "Two things at once: True still means “may look”, and the heads of one text are not neighbours.",
            lambda mask, heads: mask.repeat(heads, 1, 1),
        ),
    },
    trainable=False,
)

# --- a masked softmax that survives the empty row --------------------------------------------------


def _with_gradient(work: Callable[..., object], scores: Scores, mask: Mask) -> tuple[object, Tensor]:
    """The weights, and the gradient that comes back to the scores."""
    with torch.enable_grad():
        leaf = scores.clone().requires_grad_()
        weights = work(leaf * 1, mask)
        if not isinstance(weights, Tensor) or weights.shape != scores.shape:
            return weights, torch.zeros_like(scores)
        if not weights.requires_grad:
            raise WrongTypeError("No gradient reaches the scores: are they detached, or turned into numbers?")
        factors = torch.arange(1, weights.numel() + 1, device="cpu").cos().view_as(weights)
        (gradient,) = torch.autograd.grad((weights * factors).sum(), leaf)
    return weights.detach(), gradient


def _filled(scores: Scores, mask: Mask, value: float) -> Weights:
    return scores.masked_fill(~mask, value).softmax(-1)


def _shares_of_powers(scores: Scores, mask: Mask) -> Weights:
    powers = scores.exp() * mask
    return powers / powers.sum(-1, keepdim=True).clamp_min(1e-12)


_EMPTY = torch.tensor([[True, True, False, True], [False, False, False, False]], device="cpu")
_SOME = torch.tensor([[True, False, False, True], [False, True, True, False]], device="cpu")

check_empty_row = Exercise(
    "empty_row",
    difficulty=3,
    minutes=15,
    takes=("scores", "mask"),
    returns=("weights", "gradient"),
    reference=masked_softmax,
    cases=(
        Case("right where every row sees something", *draw(3, (2, 4)), _SOME),
        Case("right where a row sees nothing", *draw(5, (2, 4)), _EMPTY),
        Case("right for large scores", exact([0, 800, 0, 1], [3, 1, 2, 900]), _SOME),
        Case("right for a batch", *draw(7, (3, 2, 4)), _EMPTY[None]),
        Case("right in float64", *draw(9, (2, 3, 2, 4), dtype=torch.float64), _EMPTY[None, None]),
    ),
    mistakes={
        "-1e9": (
            "A row that sees nothing comes out even: each hidden key gets the same share. It should be all "
            "zeros.",
            partial(_filled, value=-1e9),
        ),
        "-1e9 added": (
            "With -1e9 added to all of it, a row that sees nothing gives its weight to hidden keys. It "
            "should be all zeros.",
            lambda scores, mask: (scores + torch.where(mask, 0.0, -1e9)).softmax(-1),
        ),
        "score 0, weight 0": (
            "The hidden keys get the score 0, and e^0 = 1 is counted before their weights are set to 0: the "
            "rows no longer sum to 1.",
            lambda scores, mask: scores.masked_fill(~mask, 0.0).softmax(-1) * mask,
        ),
        "NaN": (
            "A row that sees nothing is NaN: every score in it is -∞, and the softmax is 0/0.",
            partial(_filled, value=-math.inf),
        ),
        "NaN on the way back": (
            "The weights are right, and the gradient is NaN: the softmax of the empty row is 0/0, and what "
            "puts zeros in its place comes too late for the way back. Keep -∞ out of such a row.",
            lambda scores, mask: (scores + torch.where(mask, 0.0, -math.inf)).softmax(-1).nan_to_num(),
        ),
        "overflow": (
            "Right, but for large scores: there exp is infinite. Hide first, and let softmax do the rest.",
            _shares_of_powers,
        ),
        "divided by the new sum": (
            "Right, until a hidden score is far ahead: the softmax has then rounded all the others to 0. "
            "Hide before the softmax.",
            lambda scores, mask: (
                scores.softmax(-1) * mask / (scores.softmax(-1) * mask).sum(-1, keepdim=True).clamp_min(1e-12)
            ),
        ),
        "empty row shown": (
            "A row that sees nothing comes out as if it saw everything: its scores must not be hidden from "
            "the softmax, but its weights must be 0 in the end.",
            lambda scores, mask: scores.masked_fill(~mask & mask.any(-1, keepdim=True), -math.inf).softmax(
                -1
            ),
        ),
        "all rows lost": (
            "One row that sees nothing empties all the others of its table, too: ask for each row by itself, "
            "mask.any(-1, keepdim=True).",
            lambda scores, mask: masked_softmax(scores, mask) * mask.any(-1).all(),
        ),
    }
    | {
        name: (
            sentence.replace("The padding gets", "A hidden key gets").replace("padding", "hidden keys"),
            code,
        )
        for name, (sentence, code) in but(HIDING, "softmax over the queries", "reversed", "no mask").items()
    }
    | {
        "no mask": ("The mask plays no part.", lambda scores, mask: scores.softmax(-1)),
        "reversed": (
            "The mask is read the wrong way round. True means that a key may be looked at.",
            lambda scores, mask: masked_softmax(scores, ~mask),
        ),
        "softmax over the queries": (
            "The softmax runs over the queries, dim=-2. Each row is to sum to 1: dim=-1.",
            lambda scores, mask: scores.masked_fill(~mask, -math.inf).softmax(-2).nan_to_num(),
        ),
    },
    trainable=False,
    ask=_with_gradient,
)

# --- repair: a mask that is off by one ------------------------------------------------------------


def _hidden(
    scores: Scores, hidden: Mask, value: float = -math.inf, weigh: Callable[[Scores], Weights] = softmax
) -> Weights:
    return weigh(scores.masked_fill(hidden, value))


def _decoder(
    query: Queries,
    key: Keys,
    value: Values,
    lengths: Lengths,
    *,
    future: Table = lambda n: _ones(n).triu(1),
    filler: Table = lambda places, lengths: places >= lengths[:, None],
    join: Table = lambda future, filler: future | filler[:, None],
    hide: Callable[..., Weights] = _hidden,
) -> tuple[Tensor, Weights]:
    n = query.shape[-2]
    hidden = join(future(n), filler(torch.arange(n, device="cpu"), lengths))  # (B, n, n)
    return mixed(hide(scaled_dot(query, key), hidden), value)


def _broken(query: Queries, key: Keys, value: Values, lengths: Lengths) -> tuple[Tensor, Weights]:
    return _decoder(
        query, key, value, lengths, future=lambda n: _ones(n).triu(), hide=partial(_hidden, value=-1e9)
    )


def _texts(seed: int, n: int, lengths: Lengths) -> list[Tensor]:
    batch = len(lengths)
    return [*draw(seed, (batch, n, 4), (batch, n, 4), (batch, n, 3)), lengths]


check_repaired_mask = Exercise(
    "repaired_mask",
    difficulty=3,
    minutes=15,
    takes=("query", "key", "value", "lengths"),
    returns=("output", "weights"),
    reference=_decoder,
    cases=(
        # The broken code passes the first of these, which is the clue: -1e9 over a single key is weight 1.
        Case("right for a text of one word", *_texts(101, 1, whole(1))),
        Case("right for a text of two words", *_texts(111, 2, whole(2))),
        Case("right for a text with filler", *_texts(121, 5, whole(3))),
        Case("right for three texts", *_texts(131, 4, whole(4, 1, 3))),
        Case("right for as many texts as places", *_texts(141, 3, whole(2, 3, 1))),
    ),
    mistakes={
        "still broken": (
            "The fault that it came with is still there. A single word is right by accident: what does the "
            "first row of the mask hide, and what does -1e9 make of a row that hides everything?",
            _broken,
        ),
        "NaN in the first row": (
            "-∞ in the place of -1e9 only shows what was wrong before: the first word may look at nothing. "
            "Which places does `triu()` mark?",
            partial(_decoder, future=lambda n: _ones(n).triu()),
        ),
        "zeros in the first row": (
            "The first word now gets zeros. It should look at itself: the diagonal must not be hidden.",
            lambda query, key, value, lengths: mixed(
                masked_softmax(
                    scaled_dot(query, key),
                    ~_ones(query.shape[-2]).triu()
                    & (torch.arange(query.shape[-2], device="cpu") < lengths[:, None])[:, None],
                ),
                value,
            ),
        ),
    }
    | in_parts(
        _decoder,
        future={
            "one place ahead": (
                "Now it is off by one the other way: every word sees the word after it. `triu(1)` begins "
                "just above the diagonal.",
                lambda n: _ones(n).triu(2),
            ),
            "not causal": ("Now nothing hides the future.", lambda n: ~_ones(n)),
            "one place of the past hidden": (
                "Now still more is hidden: `triu(-1)` begins below the diagonal, `triu(1)` above it.",
                lambda n: _ones(n).triu(-1),
            ),
            "the past hidden": (
                "Now the past is hidden and the future seen. In this code True means hidden.",
                lambda n: _ones(n).tril(-1),
            ),
        },
        filler={
            "filler seen": ("The filler is seen: what hid it is gone.", lambda places, lengths: places < 0),
            "one place of filler too many": (
                "One place of filler is seen: a text of length 3 ends at place 2.",
                lambda places, lengths: places > lengths[:, None],
            ),
            "one word too few": (
                "The last word of each text is hidden, too.",
                lambda places, lengths: places >= lengths[:, None] - 1,
            ),
            "first length for all": (
                "Every text is masked by the first one's length.",
                lambda places, lengths: (places >= lengths[:1, None]).expand(len(lengths), -1),
            ),
        },
        join={
            "both for either": (
                "A key is hidden only where both masks hide it. What either hides must be hidden: `|`.",
                lambda future, filler: future & filler[:, None],
            ),
            "on the queries": (
                "The filler is hidden as a query. It is its columns that must go: (B, 1, n).",
                lambda future, filler: future | filler[:, :, None],
            ),
            "not unsqueezed": (
                "(B, n) is taken for (n, n), or does not fit: the mask of the filler needs an axis for the "
                "queries, filler[:, None].",
                lambda future, filler: (future | filler).expand(len(filler), -1, -1),
            ),
        },
        hide=in_parts(_hidden, weigh=but(WEIGHING, "softmax over dim=1", "overflow", "one maximum for all"))
        | {
            "hidden after the softmax": (
                "What is hidden is set to 0 after the softmax, so that the weights no longer sum to 1.",
                lambda scores, hidden: scores.softmax(-1).masked_fill(hidden, 0),
            ),
            "score 0": (
                "What is hidden gets the score 0. That is a score like any other: e^0 = 1 is a good share.",
                partial(_hidden, value=0.0),
            ),
        },
    )
    | swapped(_decoder, "output", "weights"),
)

# --- an experiment: which of them leak? -------------------------------------------------------------

_WORDS, _PLACES, _WIDE = 6, 8, 16
_END = 5  # the word that some code takes for the end of a text


class Suspect(nn.Module):
    """`Suspect(1)(words)` reads words, (batch, 8), and guesses the next of each: (batch, 8, 6)."""

    def __init__(self, seed: int, mask: Mask | None = None) -> None:
        super().__init__()
        source = torch.Generator("cpu").manual_seed(seed)
        shapes = [(_WORDS + _PLACES, wide) for wide in (_WIDE, _WIDE, _WORDS, _WORDS)]
        weights = [
            torch.randn(shape, generator=source, dtype=torch.float64, device="cpu") for shape in shapes
        ]
        self.query, self.key, self.value, self.own = map(nn.Parameter, weights)
        self.mask = (_ones(_PLACES).tril() if mask is None else mask)[None]  # (1, 8, 8)

    def shown(self, words: Tensor) -> Mask:
        """`suspect.shown(words)` is the mask for this text."""
        return self.mask

    def weigh(self, scores: Scores, mask: Mask) -> Weights:
        """`suspect.weigh(scores, mask)` are the weights."""
        return masked_softmax(scores, mask)

    def forward(self, words: Tensor) -> Tensor:
        """`suspect(words)` has a row of six scores for each word."""
        place = torch.eye(_PLACES, dtype=torch.float64, device="cpu").expand(len(words), -1, -1)
        x = torch.cat([one_hot(words, _WORDS).double(), place], dim=-1)  # (batch, 8, 14)
        scores = (x @ self.query) @ (x @ self.key).mT / _WIDE
        return self.weigh(scores, self.shown(words)) @ (x @ self.value) + x @ self.own


class _MaskedLate(Suspect):
    def weigh(self, scores: Scores, mask: Mask) -> Weights:
        return scores.softmax(-1) * mask


class _EndSeenByAll(Suspect):
    def shown(self, words: Tensor) -> Mask:
        return self.mask | (words == _END)[:, None]


class _Rounding(Suspect):
    def forward(self, words: Tensor) -> Tensor:
        # As where sums are taken in another order when the text is another: in the 13th digit.
        return super().forward(words) + 1e-12 * words.double().mean(-1)[:, None, None]


def _one_hole() -> Mask:
    mask = _ones(_PLACES).tril()
    mask[5, 6] = True
    return mask


def suspects() -> list[nn.Module]:
    """`for model in suspects(): prove(model)` goes through six readers, some of which leak."""
    made = [
        Suspect(1),
        Suspect(2, _ones(_PLACES)),
        Suspect(3, _one_hole()),
        _MaskedLate(4),
        _EndSeenByAll(5),
        _Rounding(6),
    ]
    return [model.requires_grad_(False) for model in made]


_ACQUITTED, _CONVICTED, _NO_COMMON_START, _NO_DIFFERENCE = range(4)


def _judged(prove: Callable[..., object], model: nn.Module) -> int:
    """What the proof shows, if it is one; tried on the model itself."""
    with torch.random.fork_rng(devices=[]):  # texts may be drawn in whatever way comes to mind
        proof = prove(model)
    if proof is None:
        return _ACQUITTED
    parts = list(proof) if isinstance(proof, tuple | list) else []
    texts, place = parts[:2], parts[-1] if len(parts) == 3 else None
    if isinstance(place, Tensor) and place.numel() == 1:
        place = place.item()
    right = all(
        isinstance(text, Tensor) and text.numel() == _PLACES and text.dtype == torch.int64 for text in texts
    )
    if len(parts) != 3 or not right or isinstance(place, bool) or not isinstance(place, int):
        raise WrongTypeError("Return None, or a proof: two texts of 8 word numbers each, and a place.")
    one, other = (text.view(1, _PLACES) for text in texts)
    if not 0 < place < _PLACES or not all(((text >= 0) & (text < _WORDS)).all() for text in (one, other)):
        raise WrongTypeError("In a proof, words are numbers from 0 to 5, and the place is from 1 to 7.")
    if not torch.equal(one[:, :place], other[:, :place]):
        return _NO_COMMON_START
    before, after = model(one)[:, :place], model(other)[:, :place]
    return _CONVICTED if (before - after).abs().max() > 1e-6 else _NO_DIFFERENCE


def _prove(
    model: nn.Module,
    *,
    tries: int = 8,
    places: tuple[int, ...] = tuple(range(1, _PLACES)),
    start: Callable[[Tensor], Tensor] = lambda text: text,
    change: Callable[[Tensor, int], Tensor] = lambda text, place: torch.cat(
        [text[:, :place], (text[:, place:] + 1) % _WORDS], dim=-1
    ),
    differ: Callable[[Tensor, Tensor, int], object] = lambda one, other, place: (
        (one - other)[:, :place].abs().max() > 1e-6
    ),
) -> tuple[Tensor, Tensor, int] | None:
    """Tries every place in several drawn texts."""
    source = torch.Generator("cpu").manual_seed(0)
    for _ in range(tries):
        one = start(torch.randint(_WORDS, (1, _PLACES), generator=source, device="cpu"))
        for place in places:
            other = change(one, place)
            if differ(model(one), model(other), place):
                return one, other, place
    return None


_NAMES = (
    "acquits a model that does not leak",
    "convicts one without a mask",
    "convicts one with a single hole",
    "convicts one masked after the softmax",
    "convicts one that shows one word to all",
    "acquits one whose last digits move",
)

check_leak_proofs = Exercise(
    "leak_proofs",
    difficulty=4,
    minutes=40,
    takes=("model",),
    returns=("verdict",),
    reference=_prove,
    cases=[Case(name, model) for name, model in zip(_NAMES, suspects(), strict=True)],
    mistakes=in_parts(
        _prove,
        differ={
            "the changed place compared": (
                "An honest model is convicted: you compare outputs where a word has changed, and those may "
                "change with it. Only the outputs before must not.",
                lambda one, other, place: (one - other)[:, : place + 1].abs().max() > 1e-6,
            ),
            "to the last bit": (
                "One honest model is convicted: its outputs differ in the 12th digit, as they do where "
                "sums are taken in another order. Allow for rounding, with torch.allclose.",
                lambda one, other, place: not torch.equal(one[:, :place], other[:, :place]),
            ),
            "small differences overlooked": (
                "The small leaks got away. A leak moves every score a little before it moves the best guess; "
                "what is larger than rounding, 1e-6 say, is a difference.",
                lambda one, other, place: (one.argmax(-1) != other.argmax(-1))[:, :place].any(),
            ),
        },
        change={
            "the past changed": (
                "Your two texts differ before the place that you name. What comes first must be the same in "
                "both, and what comes later must not.",
                lambda text, place: torch.cat([(text[:, :place] + 1) % _WORDS, text[:, place:]], dim=-1),
            ),
            "nothing changed": (
                "Nobody is convicted. Four of the six leak: are your two texts different at all?",
                lambda text, place: text,
            ),
        },
        start={
            "one text alone": (
                "A leak got away. You try one text alone, and one model leaks only where a certain word "
                "comes up. Draw many texts.",
                torch.zeros_like,
            ),
        },
    )
    | {
        "one place alone": (
            "The model with a single hole got away. Change everything from a place on, compare everything "
            "before it, and do so for every place.",
            partial(_prove, places=(1,)),
        ),
    },
    trainable=False,
    ask=_judged,
)
