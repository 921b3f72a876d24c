"""The checks of the chapter, a function for each place where its page says how many hold."""

import copy
import math
from functools import partial

import torch
from torch.nn import functional as F

from attnlab.attention import Cache
from attnlab.decoding import chances, left_padded, speculated, written
from attnlab.layers import RMSNorm
from attnlab.masks import causal
from attnlab.positions import rotate
from attnlab.runtime import generator
from attnlab.today.model import Today, turned
from bookkit import weights
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.a_gpt_of_your_own import models as gpt_models
from chapters.is_it_noise.measuring import half_widths
from chapters.the_block_of_today import figures
from chapters.the_block_of_today.measuring import behind, times
from chapters.the_block_of_today.mixed import KINDS, fitted, weights_in
from chapters.the_block_of_today.models import RATES_OF, UPDATES_OF, arithmetic, narrow


def likeliest(logits):
    return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).float()


def root_mean_square(rms_norm):
    claim("square of 3", 3**2, expected=9)
    claim("mean of squares", (3**2 + 4**2) / 2, expected=12.5)
    claim("its root", 12.5**0.5, expected=3.54, abs=0.005)
    some, norm = torch.randn(2, 5, 8, generator=generator(0)), RMSNorm(8)
    gap = (rms_norm(some, norm.weight) - norm(some)).abs().max()
    claim("attnlab's RMSNorm likewise", gap, at_most=1e-6)
    far = torch.tensor([103.0, 104.0])
    claim(
        "RMSNorm of (103, 104): near 1", (rms_norm(far, 1.0) - 1).abs().max(), at_most=0.01
    )
    claim("LayerNorm of (103, 104)", F.layer_norm(far, (2,))[1], expected=1, abs=1e-3)


def gates():
    bent = F.silu(torch.tensor([2.0, -2.0]))
    claim("SiLU of 2", bent[0], expected=1.76, abs=0.005)
    claim("SiLU of -2", bent[1], expected=-0.24, abs=0.005)
    claim("weights of SwiGLU over the ReLU network's", 3 * 256 / (2 * 384), expected=1)


def halves_are_neighbours(turned_halves):
    some = torch.randn(2, 5, 8, generator=generator(0))  # queries, and keys
    order = [0, 2, 4, 6, 1, 3, 5, 7]  # first of each pair, then second
    query, key = turned_halves(some[..., order], torch.arange(5))
    by_neighbours = rotate(some)
    gap = (query @ key.mT - by_neighbours[0] @ by_neighbours[1].mT).abs().max()
    claim("scores in halves are those of neighbours", gap, at_most=1e-5)
    angles = torch.arange(5)[:, None] * 10000.0 ** (-torch.arange(0, 8, 2) / 8)
    came = turned_halves(some, torch.arange(5))
    claim("attnlab turns likewise", (came - turned(some, angles)).abs().max(), at_most=1e-6)


def the_same_block(block, rms_norm, tiny, few):
    with torch.no_grad():
        stream = tiny.pieces.weight[few]  # (B, T, d_model)
        for each in tiny.blocks:
            stream = block(stream, torch.arange(40), 6, 2, each.state_dict())
        logits = rms_norm(stream, tiny.norm.weight) @ tiny.pieces.weight.T
        # Logits are as large as 10; two orders of the same sums differ in their last digits.
        gap = (logits - tiny(few)).abs().max()
        claim("these cells are attnlab's model", gap, at_most=1e-4)
    with torch.device("meta"):
        counts = [
            weights_in(Today(2048, 96, 6, 2, 320, layers=3, longest=128, tied=tied))
            for tied in (True, False)
        ]
    claim(
        "a second table, more weights",
        counts[1] / counts[0] - 1,
        at_least=1 / 3,
        at_most=0.4,
    )


def what_was_measured_once():
    bits = figures.block.CHANGES  # see there
    means = {name: sum(seeds) / 3 for name, seeds in bits.items()}
    gains = {name: means["2017"] - mean for name, mean in means.items()}
    for name, expected in (("rotary", 0.09), ("untied", 0.19), ("today", 0.05)):
        claim(f"stored: {name}, bits less", gains[name], expected=expected, abs=0.007)
        ahead = min(bits["2017"]) - max(bits[name])
        claim(
            f"stored: {name}, its worst seed ahead of 2017's best by", ahead, at_least=0.03
        )
    unseen = ("norm first", "SwiGLU", "2 groups", "no biases")
    furthest = max(abs(gains[name]) for name in unseen)
    claim("stored: means of what does not show, off 2017's", furthest, at_most=0.02)
    claim("stored: RMSNorm, bits less", gains["RMSNorm"], expected=0.02, abs=0.005)
    claim("stored: RMSNorm, each seed lower", max(bits["RMSNorm"]) < min(bits["2017"]))
    apart = max(max(seeds) - min(seeds) for seeds in bits.values())
    claim("stored: seeds of one kind, apart", apart, expected=0.03, abs=0.005)
    for name, gain, half in (
        ("rotary", 0.087, 0.01),
        ("today", 0.048, 0.01),
        ("RMSNorm", 0.018, 0.018),
    ):
        one, other = (torch.tensor([bits[each]]) for each in ("2017", name))
        _, as_groups = half_widths(one, other)
        claim(
            f"stored: {name}, bits less, to a thousandth",
            gains[name],
            expected=gain,
            abs=0.0006,
        )
        claim(f"stored: {name}, half its interval", as_groups, expected=half, abs=0.0006)

    more = means["today"] - means["rotary"]
    claim("stored: today, bits more than rotary alone", more, expected=0.04, abs=0.005)
    gone = means["today"] - means["today, norm behind"]
    claim("stored: of that, gone with the norm behind", gone, expected=0.025, abs=0.005)
    ahead = min(bits["today"]) - max(bits["today, norm behind"])
    claim(
        "stored: norm behind, its worst seed ahead of today's best by", ahead, at_least=0.01
    )
    of_today = means["today"] - means["today, untied"]
    claim(
        "stored: a second table in today's block, bits less",
        of_today,
        expected=0.03,
        abs=0.006,
    )
    equal = {name: sum(seeds) / 3 for name, seeds in figures.block.EQUAL_UPDATES.items()}
    left = means["2017"] - equal["untied"]
    claim(
        "stored: a second table, at equal updates: bits less", left, expected=0.12, abs=0.01
    )
    behind = equal["today, untied"] - means["today"]
    claim(
        "stored: a second table in today's block, at equal updates: bits more",
        behind,
        at_least=0.03,
    )


def what_narrow_networks_gain():
    def measured():
        texts, _ = gpt_models.learned()
        return [narrow(seed, texts) for seed in range(3)]

    # At twice the rate 2.316, with seed 0.
    bits = stored([2.237, 2.253, 2.242], measured, within=0.02)
    of_2017 = torch.tensor(figures.block.CHANGES["2017"]).mean()
    claim(
        "narrow networks with one table, bits less",
        of_2017 - bits.mean(),
        expected=0.03,
        abs=0.01,
    )
    untied = max(figures.block.CHANGES["untied"])
    claim(
        "the worst with two tables, ahead of the best of these by",
        bits.min() - untied,
        at_least=0.1,
    )


def what_was_trained():
    torch.manual_seed(0)
    made = {name: fitted(kind, 2048, 96, 6, 3, spread=0.06) for name, kind in KINDS.items()}
    counts = [weights_in(each) for each in made.values()]
    claim("most weights over fewest", max(counts) / min(counts), at_most=1.01)
    for name, expected in (("2017", 384), ("untied", 44), ("SwiGLU", 256)):
        width = made[name].blocks[0].network.widen.out_features
        claim(f"{name}: width", width, expected=expected)
    claim("updates of 2017", UPDATES_OF["2017"], expected=600)
    claim("updates of today", UPDATES_OF["today"], expected=575)
    claim("updates of untied", UPDATES_OF["untied"], expected=790)
    claim("all rates are 4e-3 or 8e-3", set(RATES_OF.values()) == {4e-3, 8e-3})


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


def arithmetic_without_a_cache(large, lengths, of_last):
    for n, expected in ((8, 5.5), (128, 88)):
        name = f"arithmetic of piece {n} without a cache, over with one"
        claim(name, of_last[lengths.index(n)], expected=expected, rel=0.005)
    least = min(times / n for n, times in zip(lengths, of_last, strict=True))
    most = max(times / n for n, times in zip(lengths, of_last, strict=True))
    claim("of n times, at any length: least", least, expected=2 / 3, abs=0.03)
    claim("of n times, at any length: most", most, expected=2 / 3, abs=0.03)
    every = arithmetic(large, 128, cached=False, every=True) / arithmetic(
        large, 128, cached=True
    )
    claim("with logits for every piece, 128 pieces", every, expected=128)


def many_pieces_at_once(large, small):
    one, five, all_of_it, helper = times(
        behind(large, 1), behind(large, 5), behind(large, 128), behind(small, 1)
    )
    # On a core with much else to do: 2.6 to 3.5, 1.2 to 1.6, and 0.23 to 0.4, once 0.8.
    claim(
        "128 pieces at once, over one behind a cache: time",
        all_of_it / one,
        at_least=1.5,
        at_most=10,
    )
    claim("5 pieces at once, over one: time", five / one, at_most=2)
    claim(
        "the small model's piece, over the large one's: time",
        helper / one,
        at_least=1 / 7,
        at_most=1,
    )


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
    # With these weights three.
    claim("rows as alone, filler in sight", as_alone(large, rows, spoilt), at_most=5)
    exact = copy.deepcopy(large).double()
    for model, bound in ((exact, 1e-12), (large, 1e-4)):
        with torch.no_grad():
            last = model(padded, visible=visible, places=places)[:, -1]
            gap = max(
                (last[b] - model(torch.tensor([row]))[0, -1]).abs().max()
                for b, row in enumerate(rows)
            )
        claim(
            f"a batch and its rows alone, {last.dtype}: largest difference",
            gap,
            at_most=bound,
        )
    claim("float32: the difference can be seen", gap, at_least=1e-7)


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

    claim("stored: four guesses", figures.writing.PIECES[3], expected=2.08, abs=0.005)
    measured = zip(figures.writing.COSTS, figures.writing.PIECES, strict=True)
    claim(
        "stored: the cost above the pieces everywhere",
        all(cost > many for cost, many in measured),
    )
    claim(
        "weights, large over small",
        weights_in(large) / weights_in(small),
        expected=7,
        abs=0.1,
    )
    claim(
        "stored: 8 pieces, time without a cache",
        figures.writing.TIMES[0],
        expected=1.0,
        abs=0.05,
    )
    claim(
        "stored: 128 pieces, time without a cache",
        figures.writing.TIMES[-1],
        expected=2.3,
        abs=0.05,
    )
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


def only_the_first_place_agrees(agree):
    claim("at the first place, the likeliest piece is the same", agree[0], expected=1)
    claim("at the others, in this share of the texts", agree[1:].mean(), at_most=0.4)


def frequencies_are_rounded(right, wrong, tiny):
    claim(
        "at the first place, logits off by", (right - wrong)[:, 0].abs().max(), at_most=1e-4
    )
    exact = 10000.0 ** (-torch.arange(0, 128, 2) / 128)
    off = 1000 * (exact.bfloat16().float() - exact).abs().max() / (2 * math.pi)
    claim("rounded to bfloat16, at place 1,000: turns off", off, expected=1 / 5, abs=0.02)
    claim(
        "our frequencies stay in float32",
        tiny.bfloat16().frequencies.dtype == torch.float32,
    )


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
        at_least=1,
        at_most=2,
    )
