"""The checks of the chapter, a function for each place where its page says how many hold."""

import math
from functools import cache

import numpy as np
import torch
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.today.linear import linear, linear_step
from attnlab.today.state import gated_delta
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.a_gpt_of_your_own.models import CONTEXT
from chapters.fewer_keys_or_none.figures import GROUPS
from chapters.fewer_keys_or_none.models import RATE, UPDATES
from chapters.is_it_noise.measuring import half_widths
from chapters.no_table_at_all import figures
from chapters.no_table_at_all.exercises import check_delta_rule
from chapters.no_table_at_all.exercises.wider_features import brought_back
from chapters.no_table_at_all.models import (
    PERIODS,
    RATES,
    features_of_learned_keys,
    others,
)

PAIRS = (4, 8, 16, 32, 64)  # of random keys and values


def a_table_and_a_state(as_a_table, as_a_state, words):
    for decay in (1.0, 0.9):
        apart = (as_a_table(*words, decay) - as_a_state(*words, decay)).abs().max()
        claim(f"a table and a state, decay {decay}, differ by", apart, at_most=1e-5)


def gradients_of_a_table(as_a_table, as_a_state, words):
    pulled = torch.randn(300, 16, generator=generator(1))
    by_table, by_state = (
        gradients(way, words, 0.5, pulled) for way in (as_a_table, as_a_state)
    )
    # Measured 2e-6 of gradients up to 20.
    apart = (by_table - by_state).abs().max()
    claim("gradients by a table and by a state, decay 0.5, differ by", apart, at_most=2e-5)


def what_decay_leaves(words):
    _, first = linear_step(*words[:, :1])
    silence = torch.zeros(20, 16)
    _, later = linear_step(
        silence, torch.full((20, 16), -torch.inf), silence, first, decay=0.9
    )
    left = (later / first).mean()
    claim("what 20 words leave of one, at 0.9", left, expected=0.12, abs=0.005)
    claim("steps in which it halves", -1 / math.log2(0.9), expected=6.5, abs=0.2)


def in_chunks_the_same(in_chunks, as_a_state, words):
    for decay in (1.0, 0.9):
        chunked = in_chunks(*words, decay)
        apart = (chunked - as_a_state(*words, decay)).abs().max()
        claim(f"in chunks and word by word, decay {decay}, differ by", apart, at_most=1e-5)
        apart = (chunked - linear(*words, decay)).abs().max()
        claim(f"ours and attnlab's, decay {decay}, differ by", apart, at_most=1e-5)


def two_chunks_of_two(in_chunks):
    alike, own = torch.zeros(4, 2), torch.eye(4)  # all weights are the decay's alone
    found = in_chunks(alike, alike, own, decay=0.5, chunk=2)
    for word, parts in ((3, (1 / 4, 1 / 2, 1, 0)), (4, (1 / 8, 1 / 4, 1 / 2, 1))):
        row = found[word - 1] / found[word - 1, word - 1]
        apart = (row - torch.tensor(parts)).abs().max()
        told = ", ".join(map(str, parts))
        claim(
            f"chunks of two: word {word} finds four by {told}; apart", apart, at_most=1e-6
        )


def where_the_state_passes():
    faster = np.divide(figures.FUSED, figures.LINEAR)
    stored = dict(zip(figures.LENGTHS, faster, strict=True))
    short = max(stored[256], stored[512])
    claim("stored, up to 512 words: fused over state", short, at_most=0.9)
    claim("stored, 1,024 words: fused over state", stored[1024], at_least=1.1)
    twice = np.divide(figures.LINEAR[1:], figures.LINEAR[:-1])
    claim("stored, twice as many words, time of a state", twice.mean(), expected=2, abs=0.1)
    claim("stored, 65,536 words: fused over state", stored[65536], expected=52, abs=1)
    _, state = linear_step(*torch.randn(3, 4, 8, 32, generator=generator(1)))
    claim("numbers in a state of 4 heads", state.numel(), expected=4224)
    millions = 2 * 4 * 32 * 65536 / 1e6
    claim("a cache of 65,536 words: million numbers", millions, expected=16.8, abs=0.05)
    # Live, 0.2 to 0.4 and 3 to 4 over many runs on a busy core; other kernels: ± half.
    ratios = {n: np.divide(*figures.measured(n, turns=5)) for n in (128, 4096)}
    claim("here, 128 words: fused over state", ratios[128], at_most=0.9)
    claim("here, 4,096 words: fused over state", ratios[4096], at_least=1.5)


def what_a_state_holds(once, twice):
    # Between seeds of 40 texts these move by .01 to .02.
    for n, expected in ((4, 1), (16, 0.90), (32, 0.60), (64, 0.27)):
        share = once["state"][PAIRS.index(n)].mean()
        claim(f"state, {n} pairs", share, expected=expected, abs=0.03)
    lowest = min(once["softmax"].min(), twice["softmax"].min())
    claim("softmax, the worst seed of any", lowest, at_least=0.99)
    best = right(lambda query, key, value: query @ torch.linalg.pinv(key) @ value, 64)
    claim("the state that fits 64 pairs best", best.mean(), expected=0.36, abs=0.03)
    for way, expected in (("state", 0.34), ("decay 0.95", 0.70), ("delta rule", 0.80)):
        share = twice[way][PAIRS.index(16)].mean()
        claim(f"{way}, 16 keys twice", share, expected=expected, abs=0.03)
    delta = torch.stack([right(by_delta, n) for n in PAIRS])
    gains = (delta - once["state"]).mean(1)
    claim("each key once: the delta rule gains at most", gains.max(), at_most=0.05)


def what_features_hold():
    claim("features, 16 pairs", right(by_features, 16).mean(), expected=0.07, abs=0.03)
    keys, others = texts()[64][0], ~torch.eye(64, dtype=torch.bool).expand(200, -1, -1)
    for name, each, expected in (("features", F.elu(keys) + 1, 0.95), ("keys", keys, 0)):
        each = F.normalize(each, dim=-1)
        cosine = (each @ each.mT)[others].mean()
        claim(f"mean cosine of two, {name}", cosine, expected=expected, abs=0.02)


def what_wider_features_hold():
    keys = texts()[64][0]
    pairs = ~torch.eye(64, dtype=torch.bool).expand(200, -1, -1)
    products = (keys @ keys.mT)[pairs].square().mean().sqrt()
    claim("product of two random keys, in size", products, expected=1 / 4, abs=0.01)
    claim("its square", products**2, expected=1 / 16, abs=0.005)
    share = right(by_squares, 64)
    # Between seeds of 40 texts .911 to .926.
    claim("weights (q · k)², 64 pairs", share.mean(), expected=0.92, abs=0.03)
    key = texts()[64][0]
    apart = (squares(key) @ squares(key).mT - (key @ key.mT) ** 2).abs().max()
    claim("256 features make weights (q · k)², apart", apart, at_most=1e-5)
    claim(
        "numbers of a state of 256 × 16, over one of 16 × 16",
        squares(key).shape[-1] / 16,
        expected=16,
    )


def what_64_features_hold(products):
    claim("pairs of two of 16 numbers", math.comb(16, 2), expected=120)
    matrix = torch.randn(16, 64, generator=generator(0))
    kinds = (products, 0.97), (lambda keys: (4 * keys @ matrix).sin(), 0.98)
    for features, expected in kinds:
        share = brought_back(features, 5)
        claim("64 features: of 32 pairs", share, expected=expected, abs=0.015)


def what_keys_learn():
    # Three trainings: .77 to .79, .10 to .12, and .88 to .89.
    start, end, below = stored(
        [0.786, 0.112, 0.880], lambda: features_of_learned_keys(seed=1), within=0.04
    )
    claim(
        "before training: mean cosine of two keys' features", start, expected=0.8, abs=0.05
    )
    claim("after it", end, expected=0.1, abs=0.05)
    claim("after it: numbers of keys below 0", below, expected=0.9, abs=0.05)


def gates_at_once():
    query, key, value = torch.randn(3, 300, 16, generator=generator(3))
    kept, share = torch.rand(2, 300, generator=generator(4))
    given = query, F.normalize(key, dim=-1), value, kept, share
    apart = (check_delta_rule.reference(*given) - gated_delta(*given)).abs().max()
    claim("gates word by word and at once, differ by", apart, at_most=1e-4)


def what_states_cost(learned):
    bits = torch.tensor([*figures.TRAINED.values()])  # (3 kinds, 3 seeds)
    for kind, each, less in zip(
        ("states", "hybrid"), bits[1:, None], (0.07, 0.05), strict=True
    ):
        below = bits[0].mean() - each.mean()
        _, as_groups = half_widths(bits[:1], each)
        claim(f"stored, {kind}: bits below attention", below, expected=less, abs=0.005)
        claim("stored, half its interval", as_groups, expected=0.02, abs=0.003)
    # At seed 0: both with the short convolution, and both without.
    ahead = bits[0, 0] - figures.ALONE + figures.MIXED - bits[1, 0]
    claim("stored, like with like: ahead", ahead / 2, expected=0.03, abs=0.008)
    there = torch.tensor(GROUPS[2]).mean()
    claim("stored, the model of today in Fewer keys", there, expected=2.21, abs=0.005)
    claim("rate over that of Fewer keys", RATES["attention"] / RATE, expected=2)
    claim("batches", UPDATES, expected=400)
    claim("pieces of a crop", CONTEXT, expected=128)
    counts, now = learned["noted"].T  # (3,) each
    claim("weights of each", 1000 * counts.mean(), expected=547_000, abs=1000)
    # Over three seeds from .04 to .07.
    claim("below attention, the less of two", now[0] - now[1:].max(), at_least=0.01)


def what_is_looked_up(learned):
    claim("stored, rounds that are long", PERIODS[-1] == (19, 24))
    short, _, long = torch.tensor(figures.RIGHT["states"])  # (3,) each
    claim("stored, states, short rounds", short.mean(), expected=0.97, abs=0.006)
    claim("stored, states, long rounds", long.mean(), expected=0.76, abs=0.006)
    for kind, expected in (("attention", 0.93), ("hybrid", 1.0)):
        right = torch.tensor(figures.RIGHT[kind])
        claim(f"stored, {kind}, all rounds", right.mean(), expected=expected, abs=0.006)
    _, states, hybrid = learned["right"]  # (3 periods,) each
    # Over three seeds .14 to .26; then .99 and more.
    claim("states: short rounds over long ones", states[0] - states[2], at_least=0.05)
    claim("hybrid, the fewest right", hybrid.min(), at_least=0.95)


def riddles_and_the_convolution():
    hybrid, states, attention = stored(
        [[0.988, 0.987, 0.998], [0.223, 0.136, 0.117], [0.999, 0.993, 1.0]],
        others,
        within=0.1,
    )
    claim("stored, hybrid without it, all rounds", hybrid.mean(), expected=0.99, abs=0.04)
    claim("stored, states without it, the most", states.max(), expected=0.22, abs=0.1)
    claim("stored, attention with it, the fewest", attention.min(), at_least=0.95)


def decay_hidden_too_late(words):
    def too_late(query, key, value, decay):
        place = torch.arange(len(query))[:, None]
        weights = (F.elu(query) + 1) @ (F.elu(key) + 1).T
        weights = (weights * decay ** (place - place.T)).tril()
        return weights @ value / weights.sum(-1, keepdim=True)

    pulled = torch.ones(300, 16)
    claim(
        "hidden too late: outputs are numbers, decay 0.7",
        too_late(*words, 0.7).isfinite().all(),
    )
    claim("its gradients are NaN", gradients(too_late, words, 0.7, pulled).isnan().any())
    claim(
        "at a decay of 0.8 they are not",
        gradients(too_late, words, 0.8, pulled).isfinite().all(),
    )


def a_state_in_half_precision():
    total = torch.zeros((), dtype=torch.bfloat16)
    for one in torch.ones(1000, dtype=torch.bfloat16):
        total = total + one
    claim("a thousand ones in bfloat16", total, expected=256)
    state = None
    for _ in range(1000):
        _, state = linear_step(*torch.zeros(3, 1, 4, dtype=torch.bfloat16), state)
    claim("a thousand ones in linear_step", state[0, -1], expected=1000)


def gradients(way, words, decay, pulled):
    """`gradients(as_a_table, words, 0.5, pulled)` are those of query, key and value, (3, T, d)."""
    words = words.clone().requires_grad_()
    return torch.autograd.grad(way(*words, decay), words, pulled)[0]


# ---- how many values come back by their keys ----


@cache
def texts():
    """`keys, values = texts()[8]` are (200, 8, 16), and twice as many values, all of length 1."""
    dice, drawn = generator(2), {}
    for n in PAIRS:
        both = [torch.randn(200, times * n, 16, generator=dice) for times in (1, 2)]
        drawn[n] = [F.normalize(each, dim=-1) for each in both]
    return drawn


def right(way, n, times=1):
    """`right(by_delta, 16, times=2)` is the share of keys whose newest value comes back, by seed (5,)."""
    key, value = texts()[n][0], texts()[n][1][:, : times * n]
    found = way(key, key.repeat(1, times, 1), value)  # (200, n, 16)
    asked = torch.arange(n) + (times - 1) * n  # the newest value of each key
    each = ((found @ value.mT).argmax(-1) == asked).float().mean(-1)  # of each text
    return each.view(5, 40).mean(1)  # 5 seeds of 40 texts


def by_decay(query, key, value):
    """`by_decay(query, key, value)` finds less of what is longer ago."""
    left = 0.95 ** torch.arange(key.shape[-2] - 1, -1, -1)[:, None]
    return query @ ((left * key).mT @ value)


def by_delta(query, key, value, share=0.5):
    """`by_delta(query, key, value)` has written only what was missing, or a share of that."""
    state = torch.zeros(len(key), key.shape[-1], value.shape[-1])
    for n in range(key.shape[1]):
        k, v = key[:, n, None], value[:, n, None]  # (…, 1, 16) each
        state = state + share * k.mT @ (v - k @ state)
    return query @ state


def by_features(query, key, value):
    """`by_features(query, key, value)` makes all numbers of keys and queries positive."""
    query, key = (F.elu(each) + 1 for each in (query, key))
    # To divide changes no direction, and so not what is nearest.
    return query @ (key.mT @ value)


def squares(vectors):
    """`squares(key)` are all products of two of its numbers, (…, d_k²): their own products are squares."""
    return (vectors[..., :, None] * vectors[..., None, :]).flatten(-2)


def by_squares(query, key, value):
    """`by_squares(query, key, value)` gives the weights (q · k)², by a state of 256 × 16."""
    return squares(query) @ (squares(key).mT @ value)
