"""The checks of the chapter, a function for each place where its page says how many hold."""

import warnings

import torch
from torch.nn import functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attnlab import masks
from attnlab.positions import alibi_bias
from attnlab.runtime import generator
from attnlab.today.tiles import tiled
from bookkit.claims import claim
from chapters.a_gpt_of_your_own.models import CONTEXT
from chapters.masks_as_functions import models

N, TILE = 128, 16


def drawn(count=3):
    return (torch.randn(2, 4, N, 16, generator=generator(seed)) for seed in range(count))


def rules_by_hand(table, causal, window, prefix):
    for name, rule, theirs in (
        ("causal", causal, masks.causal(9)),
        ("a window of 3", window(3), masks.window(9, 3)),
    ):
        claim(f"{name}: attnlab's table", table(rule, 9).equal(theirs[0]))
    seen = table(prefix(4), 9)
    claim("a prefix of 4: all of it sees all of it", seen[:4, :4].all())
    claim("and nothing that comes later", not seen[:, 4:].triu(-3).any())
    claim("a prefix of 0 is causal", table(prefix(0), 9).equal(table(causal, 9)))


def documents_by_hand(table, documents, ids, end):
    ends = ids == end
    numbers = (ends.cumsum(0) - ends.int()).long()
    theirs = models.documents(ids[None], end)[0]
    claim(
        "the mask that the models below learn with",
        table(documents(numbers), len(ids)).equal(theirs),
    )


def tiles_counted(tiles, table, causal, window):
    for width, computed, whole in ((1, 8, 0), (16, 15, 0), (17, 15, 0), (32, 21, 7)):
        some, every = tiles(table(window(width), N), TILE)
        claim(f"window of {width}: computed", some.sum(), expected=computed)
        claim(f"window of {width}: whole", every.sum(), expected=whole)
    some, every = tiles(table(causal, N), TILE)
    claim("all tiles", some.numel(), expected=64)
    claim("causal: computed", some.sum(), expected=36)
    claim("causal: whole", every.sum(), expected=28)


def longer(tiles, table, window):
    seen = table(window(512), 4096)
    some, _ = tiles(seen, TILE)
    claim(
        "4,096 places, a window of 512: pairs", seen.float().mean(), expected=0.12, abs=0.01
    )
    claim(
        "4,096 places, a window of 512: computed",
        some.float().mean(),
        expected=0.12,
        abs=0.01,
    )


def eight(causal, window, prefix, documents, both):
    numbers = torch.arange(N) // 37
    return {
        "all": lambda query, key: (query >= 0) & (key >= 0),
        "causal": causal,
        "a window": window(20),
        "a window and sinks": lambda query, key: (
            window(20)(query, key) | (key < 4) & causal(query, key)
        ),
        "a prefix": prefix(50),
        "documents": both(documents(numbers), causal),
        "every third place": lambda query, key: (
            causal(query, key) & ((query - key) % 3 == 0)
        ),
        "what comes later": lambda query, key: key >= query,
    }


def equal_on_eight(skipping, table, rules):
    query, key, value = drawn()
    apart = 0.0
    for rule in rules.values():
        theirs = F.scaled_dot_product_attention(query, key, value, table(rule, N))
        apart = max(apart, (skipping(query, key, value, rule) - theirs).abs().max().item())
    claim("rules", len(rules), expected=8)
    claim("F.scaled_dot_product_attention, largest difference", apart, at_most=1e-5)
    own = skipping(query, key, value, rules["causal"]) - tiled(query, key, value, 16, True)
    claim("attnlab's tiles, causal", own.abs().max(), at_most=1e-5)


def flex(rules, tiles, table):
    query, key, value = drawn()
    apart, alike = 0.0, True
    for rule in rules.values():
        of_two = lambda batch, head, query, key, rule=rule: rule(query, key)  # noqa: E731
        blocks = create_block_mask(of_two, None, None, N, N, device="cpu", BLOCK_SIZE=TILE)
        theirs = uncompiled(query, key, value, block_mask=blocks)
        ours = F.scaled_dot_product_attention(query, key, value, table(rule, N))
        apart = max(apart, (theirs - ours).abs().max().item())
        some, every = tiles(table(rule, N), TILE)
        # It keeps tiles in which all are seen apart from those in which some are.
        alike &= blocks.full_kv_num_blocks.sum() == every.sum()
        alike &= blocks.kv_num_blocks.sum() == (some & ~every).sum()
    claim("flex_attention on the eight rules, largest difference", apart, at_most=1e-5)
    claim("it counts the same tiles, whole and part", alike)


def uncompiled(*tensors, **functions):
    with warnings.catch_warnings():  # that it makes the whole table, when it isn't compiled
        warnings.simplefilter("ignore")
        return flex_attention(*tensors, **functions)


def changed_scores(skipping, causal, sloping, capped):
    places = torch.arange(N)
    sloped = sloping(1 / 4)(torch.zeros(N, N), places[:, None], places).tril()
    claim("attnlab's ALiBi, its first head", sloped.equal(alibi_bias(4, N, N)[0].tril()))
    scores = 100 * torch.randn(N, N, generator=generator(0))
    claim("largest score", scores.abs().max(), at_least=300)
    claim("under a cap of 5", capped(5)(scores, 0, 0).abs().max(), at_most=5)
    small = torch.linspace(-0.5, 0.5, 101)
    claim(
        "what is small changes by",
        (capped(5)(small, 0, 0) - small).abs().max(),
        at_most=0.002,
    )
    query, key, value = drawn()
    query = 10 * query  # so that a cap is felt
    hidden = create_block_mask(
        lambda _, __, query, key: key <= query, None, None, N, N, device="cpu"
    )
    for name, change in (("ALiBi", sloping(1 / 4)), ("a cap", capped(5))):
        of_four = lambda score, _, __, *places, change=change: change(score, *places)  # noqa: E731
        theirs = uncompiled(query, key, value, score_mod=of_four, block_mask=hidden)
        apart = (skipping(query, key, value, causal, change) - theirs).abs().max()
        claim(f"{name}: flex_attention, largest difference", apart, at_most=1e-4)


def in_crops(noted):
    ends, across = noted["crops"]
    claim("pieces of a crop", CONTEXT, expected=128)
    claim("ends in a crop", ends, expected=0.38, abs=0.03)
    claim("of the pairs that causal shows, across texts", across, expected=0.126, abs=0.01)


def apart_or_not(noted):
    claim("updates of a short training", models.SHORT, expected=400)
    claim("pairs", models.SEEDS, expected=3)
    *short, long = noted["more"]
    # The largest of three was 0.0054.
    claim("short pairs differ by", max(map(abs, short)), at_most=0.01)
    claim("the long pair differs by", abs(long), at_most=0.012)
    *other_way, of_long = noted["exchanged"]
    lost = torch.stack(other_way).mean()
    claim("read the other way, short ones lose", lost, expected=0.005, abs=0.002)
    claim("the stored model loses", of_long[0], expected=0.012, abs=0.004)
    claim("the least that any loses", noted["exchanged"].min(), at_least=0.001)
    claim("that learned and read", noted["exchanged"].numel(), expected=8)


def in_a_cache(seen):
    claim("asked about its place, keys seen", seen.sum(), expected=3)
