"""The checks of the chapter, a function for each place where its page says how many hold."""

import copy
from functools import partial

import torch
from torch.nn import functional as F

from attnlab.attention import Cache
from attnlab.decoding import chances, left_padded, speculated, written
from attnlab.masks import causal
from attnlab.runtime import generator
from bookkit import weights
from bookkit.claims import claim
from chapters.a_gpt_of_your_own import models as gpt_models
from chapters.writing_faster import figures
from chapters.writing_faster.measuring import behind, pieces_a_reading, times, times_as_fast
from chapters.writing_faster.models import arithmetic


def likeliest(logits):
    return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).float()


def a_cache_changes_nothing(large, ids, through, go_on):
    with torch.no_grad():
        whole = large(ids)
        kept = [([], []) for _ in large.blocks]
        alone = [
            through(large, piece, place, kept)
            for place, piece in enumerate(ids.split(1, dim=1))
        ]
        gap = (torch.cat(alone, dim=1) - whole).abs().max()
        caches = [Cache() for _ in large.blocks]
        in_parts = torch.cat(
            [large(part, caches) for part in ids.split([9, 1, 14], dim=1)], dim=1
        )
    claim("piece by piece and at once: largest difference of logits", gap, at_most=1e-4)
    claim(
        "attnlab's caches: largest difference", (in_parts - whole).abs().max(), at_most=1e-4
    )

    same = go_on(large, ids, 40, generator(1), likeliest)
    claim(
        "written with a cache and without: the same",
        same.equal(written(large, ids, 40, generator(1), 128, likeliest)),
    )
    numbers = sum(
        cache.keys[0, :, 0].numel() + cache.values[0, :, 0].numel() for cache in caches
    )
    claim("numbers kept for a piece", numbers, expected=192)
    claim("with a head of its own for each query", numbers * 6 / 2, expected=576)


def arithmetic_without_a_cache(lengths, of_last):
    for n, expected in ((8, 5.5), (128, 88)):
        name = f"arithmetic of piece {n} without a cache, over with one"
        claim(name, of_last[lengths.index(n)], expected=expected, rel=0.005)
    least = min(times / n for n, times in zip(lengths, of_last, strict=True))
    most = max(times / n for n, times in zip(lengths, of_last, strict=True))
    claim("of n times, at any length: least", least, expected=2 / 3, abs=0.03)
    claim("of n times, at any length: most", most, expected=2 / 3, abs=0.03)


def logits_are_for_the_last_alone(large, lengths):
    of_logits = (
        2 * large.pieces.weight.numel()
    )  # a multiplication and an addition for each weight
    for n in (lengths[0], lengths[-1]):
        share = of_logits / arithmetic(large, n, cached=True)
        claim(f"logits, of the arithmetic for piece {n}", share, expected=1 / 3, abs=0.03)


def many_pieces_at_once(large, small, hollow):
    kinds = {
        "5 pieces of one text": behind(large, 5),
        "5 texts, a piece each": behind(large, 1, rows=5),
        "128 pieces of one text": behind(large, 128),
        "one piece, hardly any weights": behind(hollow, 1),
        "one piece, the draft model": behind(small, 1),
    }
    one, *others = times(behind(large, 1), *kinds.values())
    # On a core with much else to do: twice 1.1 to 1.6, 2.6 to 3.5, 0.78 to 0.95, and
    # 0.23 to 0.53, once 0.8.
    bounds = ((0.9, 2), (0.9, 2), (1.5, 10), (0.4, 1.3), (1 / 7, 1))
    for name, taken, (least, most) in zip(kinds, others, bounds, strict=True):
        claim(f"{name}, over one piece: time", taken / one, at_least=least, at_most=most)
    for name, expected in zip(kinds, (1.2, 1.2, 3.2, 0.8, 0.5), strict=True):
        claim(f"stored: {name}", figures.TIMES[name], expected=expected, abs=0.05)
    each = (figures.TIMES["5 pieces of one text"] - 1) / 4
    claim("stored: what each of 5 pieces adds", each, expected=1 / 20, abs=0.02)
    faster = 5 / figures.TIMES["5 texts, a piece each"]
    claim("stored: five texts at once, times as fast", faster, expected=4, abs=0.5)
    claim("weights, hardly any", size_of(hollow), expected=2700, abs=50)
    claim("weights of the large model", size_of(large), expected=547_000, abs=500)


def as_alone(model, rows, new):
    alone = [
        written(model, torch.tensor([row]), 12, generator(0), 128, likeliest)[0, -12:]
        for row in rows
    ]
    return (new == torch.stack(alone)).all(dim=1).sum()


def rows_are_written_as_alone(write_together, large, rows, filler, together, spoilt):
    padded, visible, places = left_padded(rows, filler)
    claim("rows written as alone", as_alone(large, rows, together), expected=8)
    from_the_left = torch.arange(padded.shape[1]).expand_as(places)
    without_places = write_together(large, padded, visible, from_the_left, count=12)
    claim(
        "rows as alone, places forgotten", as_alone(large, rows, without_places), expected=8
    )
    claim(
        "place at which the shortest then starts", (places[0] == 0).sum() - 1, expected=16
    )
    spared = as_alone(large, rows, spoilt)
    claim("rows as alone, filler in sight", spared, expected=3, abs=2)
    exact = copy.deepcopy(large).double()
    with torch.no_grad():
        last = exact(padded, visible=visible, places=places)[:, -1]
        gap = max(
            (last[b] - exact(torch.tensor([row]))[0, -1]).abs().max()
            for b, row in enumerate(rows)
        )
    claim("a batch and its rows alone: largest difference", gap, at_most=1e-12)


def learned_places_care(texts):
    gpt = gpt_models.gpt()
    weights.load("a_gpt_of_your_own/gpt", gpt)
    further = copy.deepcopy(gpt)
    further.places.weight.data = gpt.places.weight.data.roll(-16, dims=0)
    begun = torch.tensor([text[:31] for text in texts[:40]])
    with torch.no_grad():
        other = gpt(begun).argmax(-1) != further(begun).argmax(-1)
    claim(
        "learned places, 16 on: share of other pieces",
        other.float().mean(),
        expected=0.25,
        abs=0.12,
    )


def chances_stay(kept, left, p, counted):
    together = kept + (1 - kept.sum()) * left / left.sum()
    claim(
        "by hand: off the large model's chances by",
        (together - p).abs().max(),
        at_most=1e-12,
    )
    # Three times the error of so many draws.
    claim("counted, off by at most", (counted - p).abs().max(), at_most=0.005)


def guesses_leave_the_chances(large, small, ids, begun, go_on):
    greedy = speculated(large, small, ids, 60, generator(0), 4, likeliest)
    claim(
        "the likeliest: the same text",
        greedy.ids.equal(go_on(large, ids, 60, generator(0), likeliest)),
    )
    three, begun = partial(chances, top_k=3), torch.tensor([begun[:24]])
    source, draws, counted = generator(0), 250, {}
    for _ in range(draws):
        *_, first, second = (
            speculated(large, small, begun, 2, source, 1, three).ids[0].tolist()
        )
        counted[first, second] = counted.get((first, second), 0) + 1 / draws
    wanted = of_pairs(large, begun, three)
    # 250 draws from nine pairs are off by 0.06 in the mean.
    claim(
        "two pieces, counted: off the large model's chances by",
        distance(counted, wanted),
        at_most=0.12,
    )
    theirs = of_pairs(small, begun, three)
    claim("the small model's, off by", distance(theirs, wanted), at_least=0.25)


@torch.no_grad()
def of_pairs(model, begun, three):
    """The chances of the next two pieces, each one of the three likeliest."""
    first, pairs = three(model(begun)[0, -1]), {}  # (words,)
    for one in first.nonzero().flatten().tolist():
        second = three(model(torch.cat([begun, torch.tensor([[one]])], dim=1))[0, -1])
        for two in second.nonzero().flatten().tolist():
            pairs[one, two] = float(first[one] * second[two])
    return pairs


def distance(some, others):
    return sum(abs(some.get(pair, 0) - others.get(pair, 0)) for pair in some | others) / 2


def what_guesses_cost(large, small, texts, go_on):
    # Three texts here. On six it was 0.54, on held-out text 0.53; pieces 2.03 to 2.17.
    some = [
        speculated(large, small, torch.tensor([text[:24]]), 80, generator(1))
        for text in texts[:3]
    ]
    with torch.no_grad():
        shares = [
            [model(each.ids).softmax(-1)[0, 23:-1] for model in (large, small)]
            for each in some
        ]
    overlap = sum(torch.minimum(*both).sum(-1).mean() for both in shares) / 3
    claim("a guess is kept, on average, with chance", overlap, expected=0.53, abs=0.07)
    readings = [1 + guess for each in some for guess in each.kept]
    claim(
        "pieces a reading, four guesses",
        sum(readings) / len(readings),
        expected=2.08,
        abs=0.3,
    )
    claim(
        "pieces a reading, by the sum",
        sum(0.53**k for k in range(5)),
        expected=2.04,
        abs=0.005,
    )

    claim("stored: four guesses", figures.PIECES[3], expected=2.08, abs=0.005)
    each_adds = (figures.COSTS[3] - 1) / 4
    claim("stored: what each of four guesses adds", each_adds, expected=0.55, abs=0.005)
    measured = zip(figures.COSTS, figures.PIECES, strict=True)
    claim(
        "stored: the cost above the pieces everywhere",
        all(cost > many for cost, many in measured),
    )
    claim(
        "weights, large over small",
        size_of(large) / size_of(small),
        expected=7,
        abs=0.1,
    )
    guessed_for = 4 * figures.TIMES["one piece, the draft model"]
    claim("stored: four readings of the draft model", guessed_for, expected=2.0, abs=0.05)
    cost = figures.TIMES["5 pieces of one text"] + guessed_for
    claim("stored: five pieces and four guesses", cost, expected=3.2, abs=0.05)
    claim("stored: cost at four guesses", figures.COSTS[3], expected=3.2, abs=0.05)
    guessed, one_by_one = times(
        lambda: speculated(large, small, torch.tensor([texts[4][:24]]), 40, generator(0)),
        lambda: go_on(large, torch.tensor([texts[4][:24]]), 40, generator(0)),
        repeats=3,
    )
    # On a core with much else to do: 1.5 to 2.
    claim(
        "four guesses over piece by piece: time",
        guessed / one_by_one,
        at_least=1.05,
        at_most=4,
    )


def what_better_guesses_gain():
    ours = times_as_fast(0.53, 4, 0.55)
    claim("four guesses as good as ours: times as fast", ours, expected=0.64, abs=0.005)
    cheap = (pieces_a_reading(0.53, 4) - 1) / 4
    claim("four pay where each costs less than", cheap, expected=0.26, abs=0.005)
    better = times_as_fast(0.8, 4, 0.05)
    claim("kept 8 times in 10, a 20th each: times as fast", better, expected=2.8, abs=0.05)


def padded_on_the_right(write_together, large, rows, filler):
    longest = max(map(len, rows))
    ids = torch.tensor([row + [filler] * (longest - len(row)) for row in rows])
    in_sight = causal(longest).expand(len(rows), -1, -1)
    new = write_together(
        large, ids, in_sight, torch.arange(longest).expand_as(ids), count=12
    )
    claim(
        "padded on the right: rows as alone",
        as_alone(large, rows, new),
        expected=1,
        abs=1,
    )


def size_of(model):
    return sum(weight.numel() for weight in model.parameters())


def only_the_first_key(found, values, large, texts, go_on):
    gap = (found - values[:, :, :1]).abs().max()
    claim("is_causal, one query of six: off the first value by", gap, at_most=1e-6)

    def as_is_causal(new, caches):
        before, length = caches[0].length, new.shape[1]
        first = torch.ones(1, length, before + length, dtype=torch.bool).tril()
        return large(new, caches, visible=first)

    as_is_causal.blocks = large.blocks
    same, firsts, different = 0, 0, 0
    for text in texts[:8]:
        begun = torch.tensor([text[:24]])
        right, wrong = (
            go_on(model, begun, 40, generator(0), likeliest)[0, 24:]
            for model in (large, as_is_causal)
        )
        same, firsts = same + (right == wrong).sum(), firsts + (right == wrong)[0]
        different = max(different, wrong[-20:].unique().numel())
    claim("behind is_causal, the first new piece of eight texts: right", firsts, expected=8)
    # With these weights 11, and 4 different ones.
    claim("behind is_causal, all pieces of 320: as without", same, at_most=60)
    claim("of each text's last 20 pieces, different ones: most", different, at_most=8)
