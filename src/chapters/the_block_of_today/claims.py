"""The checks of the chapter, a function for each place where its page says how many hold."""

import math

import torch
from torch.nn import functional as F

from attnlab.layers import RMSNorm
from attnlab.positions import rotate
from attnlab.runtime import generator
from attnlab.today.model import Today, turned
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.a_gpt_of_your_own import models as gpt_models
from chapters.is_it_noise.measuring import half_widths
from chapters.the_block_of_today import figures
from chapters.the_block_of_today.mixed import KINDS, fitted, weights_in
from chapters.the_block_of_today.models import RATES_OF, UPDATES_OF, narrow, today


def root_mean_square(rms_norm):
    squares = torch.tensor([3.0, 4.0]).square()
    claim("square of 3", squares[0], expected=9)
    claim("square of 4", squares[1], expected=16)
    claim("mean of squares", squares.mean(), expected=12.5)
    claim("its root", squares.mean().sqrt(), expected=3.54, abs=0.005)
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


def widths_add_up():
    names = ("2017", "2 groups", "today")
    made = [fitted(KINDS[name], 2048, 96, 6, 3, spread=0.06) for name in names]
    before, grouped, after = (model.blocks[0] for model in made)
    keys = [block.attention.key.weight.numel() for block in (before, grouped)]
    claim("groups: weights less, a block", 2 * (keys[0] - keys[1]), expected=12_288)
    biases = [part.numel() for name, part in before.named_parameters() if "bias" in name]
    claim("biases of a block of 2017", sum(biases), expected=1056)
    width = after.network.widen.out_features
    claim("today: width", width, expected=302)
    claim("wider than without what is saved by", width - 256, expected=46)
    claim("for which it needs, a block", (width - 256) * 3 * 96, expected=13_248)
    longer = today()
    claim(
        "trained longer: width", longer.blocks[0].network.widen.out_features, expected=320
    )
    claim("trained longer: weights", weights_in(longer), expected=547_000, abs=500)


def what_was_measured_once():
    bits = figures.CHANGES  # see there
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
    equal = {name: sum(seeds) / 3 for name, seeds in figures.EQUAL_UPDATES.items()}
    left = means["2017"] - equal["untied"]
    claim(
        "stored: a second table, at equal updates: bits less", left, expected=0.12, abs=0.01
    )
    gained = min(means[name] - max(found) for name, found in figures.SECOND_TABLE.items())
    claim("stored: a second table elsewhere, bits less: least", gained, at_least=0.06)
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
    of_2017 = torch.tensor(figures.CHANGES["2017"]).mean()
    claim(
        "narrow networks with one table, bits less",
        of_2017 - bits.mean(),
        expected=0.03,
        abs=0.01,
    )
    untied = max(figures.CHANGES["untied"])
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
    claim("updates of untied", UPDATES_OF["untied"], expected=790)
    claim("all rates are 4e-3 or 8e-3", set(RATES_OF.values()) == {4e-3, 8e-3})


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
