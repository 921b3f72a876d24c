"""“Who may look where?”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import functools
import math

import exercise_cases
import pytest
import torch
from exercise_cases import changed, combined, judged_as, named
from torch.nn import functional as F

from attnlab import masks
from attnlab.attention import masked_softmax
from chapters.who_may_look_where.exercises import (
    check_batch_mask,
    check_empty_row,
    check_for_module,
    check_leak_proofs,
    check_mask_shapes,
    check_repaired_mask,
)
from chapters.who_may_look_where.exercises.leak_proofs import suspects

SHAPES = check_mask_shapes.shapes
batch_mask, for_module = check_batch_mask.reference, check_for_module.reference
decoder, prove = check_repaired_mask.reference, check_leak_proofs.reference


def test_the_shapes_are_what_attnlab_makes():
    padding, causal = masks.padding(torch.tensor([7, 4, 2])), masks.causal(5, 7)
    names = {"padding": padding, "causal": causal, "both": masks.combine(padding, causal)}
    names |= {"for_heads": masks.for_heads, "to_multihead": masks.to_multihead}
    names |= {"masked_softmax": masked_softmax, "scores": torch.zeros(3, 4, 5, 7)}
    exercise_cases.assert_right_shapes(check_mask_shapes, names)


def broken_decoder(query, key, value, lengths):
    n = query.shape[-2]
    future = torch.ones(n, n).triu().bool()
    filler = torch.arange(n) >= lengths[:, None]
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(future | filler[:, None], -1e9).softmax(-1)
    return weights @ value, weights


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_mask, broken_decoder, "✓✗✗✗✗")


def test_the_code_to_improve_has_right_weights_and_no_gradient():
    def added(scores, mask):
        return (scores + torch.where(mask, 0.0, -math.inf)).softmax(-1).nan_to_num()

    assert check_empty_row.judge(added).mistake == "NaN on the way back"


@pytest.mark.parametrize(("place", "leaks"), list(enumerate([False, True, True, True, True, False])))
def test_four_of_the_six_suspects_leak(place, leaks):
    model = suspects()[place]
    one = torch.randint(6, (50, 8), generator=torch.Generator().manual_seed(0))
    moved = 0.0
    for start in range(1, 8):
        other = torch.cat([one[:, :start], (one[:, start:] + 1) % 6], dim=-1)
        moved = max(moved, (model(one) - model(other))[:, :start].abs().max().item())
    assert (moved > 0.1) is leaks


# --- right, in other words ---


def by_positions(lengths, n):
    place = torch.arange(n)
    return (place[:, None] >= place) & (place < lengths[:, None, None])


def by_loops(lengths, n):
    rows = [[[j <= i and j < length for j in range(n)] for i in range(n)] for length in lengths.tolist()]
    return torch.tensor(rows)


def by_products(lengths, n):
    is_word = (torch.arange(n) < lengths[:, None]).int()
    return (is_word[:, None] * torch.ones(n, n, dtype=torch.int32).tril()).bool()


EMPTY_ROWS = {
    "zeros afterwards": lambda scores, mask: (
        scores.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0)
    ),
    "the lowest number there is": lambda scores, mask: (
        scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1) * mask
    ),
    "by hand": lambda scores, mask: _by_hand(scores, mask),
    "attnlab": masked_softmax,
    "where": lambda scores, mask: (
        torch.where(mask | ~mask.any(-1, keepdim=True), scores, -math.inf).softmax(-1) * mask
    ),
}


def _by_hand(scores, mask):
    highest = scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True).detach()
    powers = torch.where(mask, (scores - highest).clamp(max=0).exp(), 0.0)
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total > 0, total, 1.0)


def masked_by(hide):
    def attention(query, key, value, lengths):
        shown = batch_mask(lengths, query.shape[-2])
        weights = hide(query @ key.mT / math.sqrt(query.shape[-1]), shown)
        return weights @ value, weights

    return attention


def fused(query, key, value, lengths):
    return exercise_cases.fused(query, key, value, attn_mask=batch_mask(lengths, query.shape[-2]))


def in_one_batch(model):
    """Many texts at once, and the first that convicts."""
    one, end = torch.randint(6, (2, 64, 8), generator=torch.Generator().manual_seed(1))
    for place in range(7, 0, -1):
        other = torch.cat([one[:, :place], end[:, place:]], dim=-1)
        apart = (model(one) - model(other))[:, :place].abs().amax((1, 2))
        if apart.max() > 1e-9:
            return [one[apart.argmax()], other[apart.argmax()], torch.tensor(place)]
    return None


def with_torchs_own_numbers(model):
    """As one draws without thinking of generators."""
    for _ in range(20):
        one = torch.randint(6, (1, 8))
        for place in range(1, 8):
            other = one.clone()
            other[:, place:] = (other[:, place:] + 1) % 6
            if not torch.allclose(model(one)[:, :place], model(other)[:, :place]):
                return one, other, place
    return None


RIGHT = {
    check_mask_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "a function": lambda: dict(SHAPES),
    },
    check_batch_mask: named(by_positions, by_loops, by_products)
    | {"attnlab": lambda lengths, n: masks.combine(masks.padding(lengths, n), masks.causal(n))},
    check_for_module: {
        "attnlab": lambda mask, heads: (~mask).repeat_interleave(heads, 0),
        "expanded": lambda mask, heads: ~mask[:, None].expand(-1, heads, -1, -1).flatten(0, 1),
        "stacked": lambda mask, heads: torch.stack([~one for one in mask for _ in range(heads)]),
    },
    check_empty_row: EMPTY_ROWS,
    check_repaired_mask: combined(masked_by, EMPTY_ROWS)
    | exercise_cases.in_other_words(decoder)
    | named(fused),
    check_leak_proofs: named(in_one_batch, with_torchs_own_numbers) | {"the reference": prove},
}
# Rows taken one at a time would be other texts: the mask knows their places.
del RIGHT[check_repaired_mask]["one query at a time"]

# --- as learners got it wrong ---


def proof_by(change, compare=lambda one, other, place: not torch.allclose(one[:, :place], other[:, :place])):
    def find(model):
        source = torch.Generator().manual_seed(3)
        for _ in range(8):
            one = torch.randint(6, (1, 8), generator=source)
            for place in range(1, 8):
                other = change(one.clone(), place)
                if compare(model(one), model(other), place):
                    return one, other, place
        return None

    return find


def future_moved(text, place):
    text[:, place:] = 5 - text[:, place:]
    return text


def past_moved(text, place):
    text[:, :place] = 5 - text[:, :place]
    return text


NAMED = {
    check_mask_shapes: {
        "no axis for the queries": SHAPES | {"padding": (3, 7)},
        "no axis for the texts": SHAPES | {"causal": (5, 7)},
        "written out for every head": SHAPES | {"for_heads(both)": (3, 4, 5, 7)},
        "heads on an axis of their own": SHAPES | {'to_multihead(both, heads=4)["attn_mask"]': (3, 4, 5, 7)},
        "our shape in their module": SHAPES
        | {'to_multihead(padding, heads=4)["key_padding_mask"]': (3, 1, 7)},
        "as many queries as keys": SHAPES | {"causal": (1, 7, 7)},
    },
    check_batch_mask: {
        "True for blocked": lambda lengths, n: ~by_positions(lengths, n),
        "one place ahead": lambda lengths, n: (
            (torch.arange(n) < lengths[:, None])[:, None] & torch.ones(n, n).tril(1).bool()
        ),
        "not causal": lambda lengths, n: (torch.arange(n) < lengths[:, None])[:, None].repeat(1, n, 1),
        "no filler hidden": lambda lengths, n: torch.ones(len(lengths), n, n).bool().tril(),
        "either": lambda lengths, n: (
            (torch.arange(n) < lengths[:, None])[:, None] | torch.ones(n, n).bool().tril()
        ),
        "the future": lambda lengths, n: (
            (torch.arange(n) < lengths[:, None])[:, None] & torch.ones(n, n).bool().triu()
        ),
        "one place of filler too many": lambda lengths, n: by_positions(lengths + 1, n),
    },
    check_for_module: {
        "not turned round": lambda mask, heads: mask.repeat_interleave(heads, 0),
        "heads not neighbours": lambda mask, heads: ~torch.cat([mask] * heads),
        "heads left out": lambda mask, heads: ~mask,
        "heads on an axis of their own": lambda mask, heads: ~torch.stack([mask] * heads, 1),
        "neither turned nor in order": lambda mask, heads: torch.cat([mask] * heads),
        "transposed": lambda mask, heads: ~mask.repeat_interleave(heads, 0).mT,
    },
    check_empty_row: {
        "-1e9": lambda scores, mask: torch.where(mask, scores, -1e9).softmax(-1),
        "NaN": lambda scores, mask: torch.where(mask, scores, -math.inf).softmax(-1),
        "NaN on the way back": lambda scores, mask: F.softmax(
            scores + (~mask).to(scores.dtype).masked_fill(~mask, -math.inf), -1
        ).nan_to_num(0),
        "-1e9 added": lambda scores, mask: (scores + (~mask) * -1e9).softmax(-1),
        "score 0, weight 0": lambda scores, mask: torch.where(mask, scores, 0.0).softmax(-1) * mask,
        "hidden after the softmax": lambda scores, mask: torch.where(mask, scores.softmax(-1), 0),
        "overflow": lambda scores, mask: F.normalize(scores.exp() * mask, p=1, dim=-1),
        "no mask": lambda scores, mask: scores.softmax(-1),
    },
    check_repaired_mask: {
        "NaN in the first row": masked_by(
            lambda scores, shown: scores.masked_fill(
                ~(shown & ~torch.eye(shown.shape[-1]).bool()), -math.inf
            ).softmax(-1)
        ),
        "one place ahead": lambda query, key, value, lengths: _with_mask(
            torch.ones(query.shape[-2], query.shape[-2]).tril(1).bool(), query, key, value, lengths
        ),
        "not causal": lambda query, key, value, lengths: _with_mask(
            torch.ones(query.shape[-2], query.shape[-2]).bool(), query, key, value, lengths
        ),
        "one place of the past hidden": lambda query, key, value, lengths: _with_mask(
            torch.ones(query.shape[-2], query.shape[-2]).tril(-2).bool(), query, key, value, lengths
        ),
        "first length for all": lambda query, key, value, lengths: decoder(
            query, key, value, lengths[:1].expand(len(lengths))
        ),
        "hidden after the softmax": masked_by(lambda scores, shown: scores.softmax(-1) * shown),
        "score 0": masked_by(lambda scores, shown: torch.where(shown, scores, 0.0).softmax(-1)),
        "softmax over the queries": masked_by(
            lambda scores, shown: scores.masked_fill(~shown, -math.inf).softmax(-2)
        ),
        "results swapped": lambda *inputs: decoder(*inputs)[::-1],
        "filler seen": lambda query, key, value, lengths: decoder(
            query, key, value, torch.full_like(lengths, query.shape[-2])
        ),
    },
    check_leak_proofs: {
        "the past changed": proof_by(past_moved),
        "the changed place compared": proof_by(
            future_moved, lambda one, other, place: not torch.allclose(one, other)
        ),
        "to the last bit": proof_by(
            future_moved, lambda one, other, place: not torch.equal(one[:, :place], other[:, :place])
        ),
        "nothing changed": proof_by(lambda text, place: text),
    },
}


def _with_mask(earlier, query, key, value, lengths):
    filler = torch.arange(query.shape[-2]) >= lengths[:, None]
    hidden = ~earlier | filler[:, None]
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(hidden, -math.inf).softmax(-1)
    return weights @ value, weights


# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_batch_mask: {
        "nothing shown": lambda lengths, n: torch.zeros(len(lengths), n, n, dtype=torch.bool),
        "everything shown": lambda lengths, n: torch.ones(len(lengths), n, n, dtype=torch.bool),
        "itself alone": lambda lengths, n: torch.eye(n).bool().expand(len(lengths), n, n),
        "numbers": lambda lengths, n: by_positions(lengths, n).float(),
        "an axis for heads": lambda lengths, n: by_positions(lengths, n).unsqueeze(1),
        "turned on its side": lambda lengths, n: by_positions(lengths, n).mT,
        "texts reversed": lambda lengths, n: by_positions(lengths, n).flip(0),
    },
    check_for_module: {
        "to be added": lambda mask, heads: (
            torch.zeros(mask.shape).masked_fill(~mask, -math.inf).repeat_interleave(heads, 0)
        ),
        "rows reversed": lambda mask, heads: ~mask.repeat_interleave(heads, 0).flip(1),
        "one head too many": lambda mask, heads: ~mask.repeat_interleave(heads + 1, 0),
    },
    check_empty_row: {
        "halved": changed(masked_softmax, lambda weights: weights / 2),
        "rounded": changed(masked_softmax, lambda weights: weights.round(decimals=1)),
        "dropout": changed(masked_softmax, functools.partial(F.dropout, p=0.3)),
        "detached": changed(masked_softmax, torch.Tensor.detach),
        "keys reversed": changed(masked_softmax, lambda weights: weights.flip(-1)),
        "at a temperature": lambda scores, mask: masked_softmax(scores / 2, mask),
        "output of another shape": changed(masked_softmax, lambda weights: weights.sum(-1)),
    },
    check_repaired_mask: {
        name: fault
        for name, fault in exercise_cases.faults_of_trainable_attention(decoder).items()
        if name not in ("future hidden", "last key forgotten")
    },
    check_leak_proofs: {
        "a yes": lambda model: True,
        "two texts and no place": lambda model: (torch.zeros(1, 8).long(), torch.ones(1, 8).long()),
        "a place outside": lambda model: (torch.zeros(1, 8).long(), torch.ones(1, 8).long(), 9),
        "words that are none": lambda model: (torch.full((1, 8), 7), torch.full((1, 8), 7), 3),
        "everyone convicted alike": lambda model: (
            torch.tensor([[0, 1, 2, 3, 4, 5, 0, 1]]),
            torch.tensor([[0, 1, 2, 3, 4, 5, 1, 2]]),
            6,
        ),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
