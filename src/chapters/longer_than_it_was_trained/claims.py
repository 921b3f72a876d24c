"""The checks of the chapter, a function for each place where its page says how many hold."""

import math
from functools import partial

import torch
from torch.nn import functional as F

from attnlab.positions import stretched
from attnlab.training.run import row_of
from bookkit import weights
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.a_gpt_of_your_own import models as gpt_models
from chapters.longer_than_it_was_trained import figures
from chapters.longer_than_it_was_trained.by_scores import with_scores
from chapters.longer_than_it_was_trained.reading import by_place, gained_by_repeating
from chapters.the_block_of_today.models import today


def turns_of(base_turns):
    return 128 * base_turns / (2 * math.pi)


def far_of(costs):
    return {name: cost[-1].mean() for name, cost in costs.items()}  # places 512 to 1,023


def how_long_texts_are(texts, pieces, starts):
    lengths = torch.tensor([len(pieces.encode(text)) for text in texts])
    in_long = lengths[lengths > 1000].sum() / lengths.sum()
    claim("of all pieces, in texts of over 1,000", in_long, expected=0.5, abs=0.05)
    held_out = row_of(map(pieces.encode, texts), pieces.end)
    ends = held_out.eq(pieces.end).nonzero().flatten()
    far_places = (starts[:, None] + torch.arange(512, 1024)).flatten()
    after = torch.searchsorted(ends, far_places)  # how many texts have ended before
    begins = F.pad(ends + 1, (1, 0))[after]
    own = (far_places - begins >= 128).float().mean()
    claim("past 512, its text begins before the rival's sight", own, at_least=0.6)


def clamped_distances(costs, model, clamped, windows, window):
    def left(scores):
        return (
            by_place(with_scores(model, scores), windows, today().frequencies) - window
        ).mean(1)

    def sharper(query, key, place, turns):  # by the logarithm of how many keys there are
        keys = (place + 1).clamp(min=128)
        return clamped(query, key, place, turns) * keys.log() / math.log(128)

    at_100 = costs["clamped at 100"].mean(1)
    claim(
        "clamped at 100, past 512: nats more than a window of 128",
        at_100[-1],
        expected=0.03,
        abs=0.03,
    )
    claim("clamped at 100, the first 128 places: nats more", at_100[0].abs(), at_most=0.005)
    # Training showed each: a crop has eight pairs that are 120 apart, and one of 127.
    at_others = stored(
        (0.061, 0.048, 0.037, 0.380, 0.268),
        lambda: [
            left(partial(clamped, farthest=places))[-1]
            for places in (57, 64, 110, 120, 127)
        ],
        within=0.02,
    )
    claim(
        "clamped anywhere from 57 to 110: nats more",
        at_others[:3].max(),
        expected=0.06,
        abs=0.03,
    )
    claim("clamped at 120: nats more", at_others[3], expected=0.38, abs=0.1)
    claim("clamped at 127: nats more", at_others[4], expected=0.27, abs=0.1)
    # 64 keys from 400 places back on, and the 64 nearest, are no more than training showed.
    place = torch.arange(len(windows[0]) - 1)
    back = place[:, None] - place
    hidden = (back < 0) | ((back >= 64) & (back < 400)) | (back >= 464)
    far, far_clamped = stored(
        (0.766, -0.004),
        lambda: [
            left(lambda *given, at=at: clamped(*given, at).masked_fill(hidden, -math.inf))[
                -1
            ]
            for at in (1024, 100)
        ],
        within=0.02,
    )
    claim("64 keys from 400 places back: nats more", far, expected=0.77, abs=0.2)
    claim(
        "64 keys from 400 places back, clamped at 100: nats more", far_clamped, at_most=0.02
    )

    def with_hands(*chosen):
        """Scores in which these hands are clamped, and the others as they are."""
        columns = torch.zeros(8).index_fill(0, torch.tensor(chosen), 1).repeat(2)  # (d_k,)

        def scores(query, *others):
            ours = query * columns
            return clamped(ours, *others) + clamped(query - ours, *others, 1024)

        return left(scores)[-1]

    fourth, and_fifth = stored(
        (0.41, 0.03), lambda: [with_hands(3), with_hands(3, 4)], within=0.02
    )
    claim("the fourth hand clamped: nats more", fourth, expected=0.41, abs=0.12)
    claim("the fourth and fifth clamped: nats more", and_fifth, at_most=0.06)
    gained = at_100[-1] - left(sharper)[-1]
    claim("clamped at 100, scores sharpened: gains", gained, expected=0, abs=0.01)
    with torch.no_grad():
        some = windows[:1, :257]
        same = with_scores(model, partial(clamped, farthest=1024))(some) - model(some)
    # Logits are as large as 10; two orders of the same sums differ in their last digits.
    claim("clamped at 1,024: the model as it is", same.abs().max(), at_most=1e-3)


def three_remedies(ways, base_turns):
    for name, each in (("interpolated", 8), ("larger base", 96), ("mixed", 8)):
        made = stretched(base_turns, each, 128, how=name, slow=1, fast=16)
        claim(f"{name}: ours equals attnlab's", torch.allclose(made, ways[name], rtol=1e-5))
    for number, expected in enumerate((20.4, 6.4, 2.04)):
        claim(
            f"turns of hand {number + 1}",
            turns_of(base_turns)[number],
            expected=expected,
            abs=0.05,
        )
    claim("interpolated, place 1,016 has the angles of", 1016 / 8, expected=127)
    claim(
        "radians a place, hand 2 of 10000^(-i/8)",
        base_turns[1],
        expected=10000 ** (-1 / 8),
        rel=1e-5,
    )


def angles_never_seen(base_turns):
    turns = turns_of(base_turns)
    claim("hands that never come around", (turns < 1).sum(), expected=5)
    reached, stand = 127 * base_turns, 160 * base_turns % (2 * math.pi)
    never = (reached < 2 * math.pi) & (stand > reached)
    claim("160 back: hands where they were never seen", never.sum(), expected=5)
    claim(
        "160 back, the fourth hand: radians beyond what was seen",
        stand[3] - reached[3],
        expected=1,
        abs=0.1,
    )
    claim("the fourth hand goes through, of its circle", turns[3], expected=2 / 3, abs=0.04)


def what_each_hand_does(costs, model, windows, window):
    base_turns, pair, far = today().frequencies, torch.arange(8), far_of(costs)

    def far_with(frequencies):
        return (by_place(model, windows, frequencies) - window)[-1].mean()

    claim(
        "as it is: nats more than a window of 128", far["as it is"], expected=1.6, abs=0.35
    )
    claim(
        "interpolated: nats more than a window of 128",
        far["interpolated"],
        expected=0.85,
        abs=0.2,
    )
    for name in ("larger base", "mixed"):
        claim(f"{name}: nats more than a window of 128", far[name], expected=0.42, abs=0.12)
    claim(
        "interpolated, over mixed", far["interpolated"] / far["mixed"], expected=2, abs=0.4
    )
    slowed = [base_turns * torch.where(which, 1 / 8, 1) for which in (pair == 3, pair > 3)]
    fourth, slower = map(far_with, slowed)
    left = fourth / far["as it is"]  # 0.35, and of another seed 0.56
    claim("only the fourth hand slowed: left of the 1.6", left, expected=0.45, abs=0.2)
    left = slower / far["as it is"]  # 0.97, and of another seed 0.81
    claim("the four slower ones slowed: left of the 1.6", left, at_least=0.7)
    sixth = far_with(base_turns / 6)
    claim("interpolated by 6 gains", far["interpolated"] - sixth, expected=0.05, abs=0.04)
    claim(
        "the fourth hand slowed, over mixed", fourth - far["mixed"], expected=0.13, abs=0.1
    )


def what_remedies_cost(costs):
    far = far_of(costs)
    # Of another seed 0.45.
    claim(
        "as it is, between 128 and 255: nats more",
        costs["as it is"][1].mean(),
        at_least=0.35,
    )
    claim(
        "as it is: a right piece's chance, over the rival's",
        (-far["as it is"]).exp(),
        expected=0.2,
        abs=0.07,
    )
    for name, expected in (("interpolated", 0.7), ("larger base", 0.25), ("mixed", 0.3)):
        first = costs[name][0].mean()
        claim(f"{name}, the first 128 places: nats more", first, expected=expected, abs=0.1)
    apart = (far["mixed"] - far["larger base"]).abs()
    claim("mixed and a larger base, apart", apart, at_most=0.12)


def how_settings_were_found():
    swept_base, swept_ramp = figures.SWEPT_BASE, figures.SWEPT_RAMP
    for swept, chosen in ((swept_base, 96), (swept_ramp, (1, 16))):
        above_best = swept[chosen] - min(swept.values())
        claim(f"stored: {chosen}, above the best of {len(swept)}", above_best, at_most=0.02)
    claim("stored: a base of the rule's own factor", swept_base[8], expected=1.29, abs=0.01)


def after_a_little_training(costs):
    tuned = {name: torch.tensor(each) for name, each in figures.TUNED.items()}
    last = {name: seeds[:, -1] for name, seeds in tuned.items()}  # of three seeds each
    for name, expected in (("as it is", 0.23), ("interpolated", 0.15)):
        claim(
            f"stored, 100 updates: {name}", last[name].mean(), expected=expected, abs=0.01
        )
    for name in ("larger base", "mixed"):
        claim(f"stored, 100 updates: {name}", last[name].mean(), expected=0.06, abs=0.01)
    near = {name: seeds[:, 0].mean() for name, seeds in tuned.items()}
    name = "stored, 100 updates: the first 128 places,"
    claim(f"{name} as it is", near["as it is"], expected=0.13, abs=0.005)
    for how in ("larger base", "mixed"):
        claim(f"{name} {how}", near[how], expected=0.07, abs=0.008)
    worst_seed = torch.cat([last["larger base"], last["mixed"]]).max()
    best_interpolated = last["interpolated"].min()
    claim(
        "stored, 100 updates: larger base and mixed, the worst seed",
        worst_seed,
        at_most=best_interpolated,
    )
    best_trained = min(each.mean() for each in last.values())
    gained = best_trained - costs["clamped at 100"][-1].mean()
    claim("the clamp, over the best after 100 updates: nats less", gained, at_least=0.01)
    beyond = (*tuned.values(), *(each[1:].mean(1) for each in costs.values()))
    lowest = min(each.min() for each in beyond)
    claim(
        "the lowest line, beyond 128 places or trained: above the window",
        lowest,
        at_least=-0.01,
    )
    trained_window = torch.tensor(figures.TUNED_WINDOW)
    moved = trained_window.abs().max()
    claim("stored: the window, trained as long, moves by", moved, at_most=0.03)


def another_seed_and_sharper_scores():
    as_it_is, fourth, slower = figures.ANOTHER_SEED
    claim("stored, another seed: as it is", as_it_is, expected=1.5, abs=0.05)
    claim("stored, another seed: the fourth hand slowed", fourth, expected=0.8, abs=0.05)
    claim("stored, another seed: the four slower ones", slower, expected=1.2, abs=0.05)
    longer, shorter = figures.SHARPENED["mixed"]
    claim("stored: mixed, sharpened or not, apart", abs(longer - shorter), at_most=0.03)
    longer, shorter = figures.SHARPENED["interpolated"]
    claim("stored: interpolated, sharpened: worse by", longer - shorter, at_least=0.03)

    claim(
        "what YaRN multiplies scores by",
        (0.1 * math.log(8) + 1) ** 2,
        expected=1.46,
        abs=0.005,
    )
    claim(
        "100 updates, of what was read", 100 * 2 * 1024 / (4000 * 8 * 128), expected=1 / 20
    )


def what_is_looked_up(gained, windows):
    # With three other passages each: .04 to .08, and .01 to .02.
    within, beyond = (each.mean() for each in gained.values())
    claim(
        "32 pieces, 64 places before: nats a piece gained", within, expected=0.05, abs=0.05
    )
    claim("32 pieces, 300 before, clamped: nats gained", beyond, expected=0.01, abs=0.04)
    gpt = gpt_models.gpt()
    weights.load("a_gpt_of_your_own/gpt", gpt)
    by_gpt = gained_by_repeating(gpt, windows, 128, 64, last=32).mean()
    claim("the GPT, 64 places before: nats a piece gained", by_gpt, expected=0.6, abs=0.25)
    # That it can be seen: this is what it gives who knows nothing but the text before.
    by_memory = gained_by_repeating(what_followed_two, windows, 128, 64, last=32).mean()
    claim(
        "the same by a memory of what followed the last two pieces", by_memory, at_least=4
    )


def what_followed_two(ids):
    logits = torch.zeros(1, ids.shape[1], 2048)
    for now in range(2, ids.shape[1]):
        alike = (ids[0, : now - 1] == ids[0, now - 1]) & (ids[0, 1:now] == ids[0, now])
        logits[0, now, ids[0, alike.nonzero().flatten() + 2]] = 10
    return logits
