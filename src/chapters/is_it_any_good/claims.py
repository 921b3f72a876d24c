"""The checks of the chapter, a function for each place where its page says how many hold."""

import math
from itertools import product
from unittest.mock import patch

import numpy as np
import torch
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.corpora.pieces import Pieces
from attnlab.training.run import losses
from bookkit import weights
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.a_gpt_of_your_own import models, rivals
from chapters.a_gpt_of_your_own.figures import SPREADS
from chapters.is_it_any_good import figures


def rates_of_the_lstm(notes):
    return dict(zip(models.SWEPT["lstm"], notes["lstm"]["swept"].tolist(), strict=True))


def stored_model(name, device="cpu"):
    model = models.MODELS[name]().to(device)
    weights.load(f"a_gpt_of_your_own/{name}", model)
    return model


def size(model):
    return sum(weight.numel() for weight in model.parameters())


def smoothing_and_rates(added, by_added, smoothed, notes):
    claim("2-gram, 1 added", by_added[0], expected=2.69, abs=0.03)
    claim(
        "2-gram, best of what was added",
        added[by_added.index(min(by_added))],
        expected=0.03,
    )
    claim("2-gram, Kneser-Ney", smoothed, expected=2.24, abs=0.03)
    claim("Kneser-Ney, better than any of them by", min(by_added) - smoothed, at_least=0.05)
    rates = rates_of_the_lstm(notes)
    claim(
        "the LSTM's best rate over the GPT's", min(rates, key=rates.get) / 4e-3, expected=5
    )
    claim("starts that the LSTM tried", len(figures.LSTM_STARTS), expected=5)
    claim("starts that the GPT tried", len(SPREADS), expected=2)
    worse = figures.LSTM_STARTS[0.02] - figures.LSTM_STARTS[0.24]
    claim("stored, the LSTM with a start of 0.02, worse by", worse, expected=0.07, abs=0.01)


def the_race(notes, packed):
    bits = {name: notes[name.lower()]["bits"] for name in ("GPT", "LSTM")}
    bits |= {"5-gram": notes["gpt"]["counted"][-1, 1], "xz": packed["all of it"][1]}
    # Over three trainings of each: figures.TRAININGS.
    for name, expected, spread in (
        ("GPT", 1.61, 0.03),
        ("LSTM", 1.71, 0.02),
        ("5-gram", 1.67, 0.01),
        ("xz", 1.69, 0.01),
    ):
        claim(f"{name}, all of it: bits a byte", bits[name], expected=expected, abs=spread)
    least_of_lstm, most_of_gpt = (
        min(figures.TRAININGS["LSTM"]),
        max(figures.TRAININGS["GPT"]),
    )
    claim("three trainings: each GPT below the 5-gram", most_of_gpt < bits["5-gram"])
    claim("three trainings: each LSTM above xz", least_of_lstm > bits["xz"])
    gpt, lstm = size(stored_model("gpt")), size(stored_model("lstm"))
    claim("weights, LSTM over GPT", lstm / gpt, expected=1, abs=0.02)
    course, other = (notes[name]["noted"] for name in ("gpt", "lstm"))
    below = course[:, 2] < notes["gpt"]["counted, an eighth"][-1, 1]
    claim(
        "GPT below the 5-gram, share of its training",
        course[below][0, 0] / 9000,
        expected=0.69,
        abs=0.1,
    )
    at = [other[:, 2][(other[:, 1] - seconds).abs().argmin()] for seconds in course[:6, 1]]
    ahead = sum(theirs < ours for theirs, ours in zip(at, course[:6, 2], strict=True))
    claim("LSTM ahead of the GPT, of the GPT's first six notes", ahead, at_least=4)
    claim("minutes, GPT", course[-1, 1] / 60, expected=9.5, abs=4)
    claim("minutes, LSTM", other[-1, 1] / 60, expected=8, abs=4)
    seconds = notes["gpt"]["counted"][-1, 0]
    claim("seconds, 5-gram", seconds, expected=1.7, abs=1.5)


def on_a_tenth(notes, packed):
    for name, expected in (("GPT", 1.93), ("LSTM", 1.87)):
        few_bits = notes[name.lower()]["bits, little"]
        claim(f"a tenth: {name}", few_bits, expected=expected, abs=0.04)
    claim(
        "a tenth: 5-gram", notes["gpt"]["counted, little"][-1, 1], expected=1.92, abs=0.01
    )
    claim("a tenth: xz", packed["a tenth of the text"][1], expected=1.83, abs=0.01)
    for name, expected, spread in (("GPT", 1.3, 0.05), ("LSTM", 1.1, 0.06)):
        read = notes[name.lower()]["little"][-1, 3]
        claim(f"a tenth: {name}, on what it reads", read, expected=expected, abs=spread)


def what_letters_cost(training, validation, in_bits):
    letters = models.read(training, validation, Pieces([]))
    of_letters = rivals.KneserNey(letters.training, order=1).chances(
        letters.validation, 257
    )[1:]
    claim("single letters, counted", in_bits(of_letters), expected=4.8, abs=0.1)


def what_a_memory_gains(in_bits, of_grams, remembering, remembered, notes):
    claim(
        "5-gram with a memory, a tenth: bits a byte",
        in_bits(remembering[1:]),
        expected=1.68,
        abs=0.02,
    )
    # Of all the text, noted by the recipe.
    all_remembered = notes["gpt"]["remembered"]
    claim("all of it: 5-gram with a memory", all_remembered[0], expected=1.51, abs=0.01)
    claim(
        "all of it: GPT with a memory, gains",
        notes["gpt"]["bits"] - all_remembered[1],
        expected=0.08,
        abs=0.03,
    )
    claim("all of it: both, half of each", all_remembered[2], expected=1.39, abs=0.03)
    claim(
        "four pieces: more than without",
        remembered[0] - in_bits(of_grams[1:]),
        at_least=0.01,
    )
    claim("each longer memory is better", remembered == sorted(remembered, reverse=True))


def bits_by_shares(texts):
    """`bits_by_shares(texts)[0.05, 0.1, 0.2]` are bits a byte of an eighth, of a memory of these shares."""
    some, found = models.some_of(texts), []
    counts = rivals.KneserNey(some.training, order=5)
    counted = counts.chances(some.validation, models.VOCABULARY)
    for alone in np.eye(3):  # the mixture is a sum: each part of the memory by itself
        with patch.object(rivals, "SHARES", tuple(alone)):
            found.append(rivals.from_memory(some.validation, counted)[1:])
    parts = np.stack([counted[1:], *found])
    tried = product((0.02, 0.03, 0.05, 0.1), (0.02, 0.05, 0.1, 0.2), (0.1, 0.2, 0.3, 0.4))
    return {
        each: -np.log2([1 - sum(each), *each] @ parts).sum() / some.bytes for each in tried
    }


def is_it_fair():
    """The memory's shares chosen on training text, and a GPT that sees 128 pieces at every place."""
    for number, share in zip((0.05, 0.1, 0.2), rivals.SHARES, strict=True):
        claim(f"a share of the memory, {number}", share, expected=number)

    def measured():
        pieces, (training, validation) = models.pieces(), docstrings.split()
        # In stretches: the texts of one file help to predict each other.
        aside = [text for at, text in enumerate(training) if at % 500 >= 475]
        others = [text for at, text in enumerate(training) if at % 500 < 475]
        by_training = bits_by_shares(models.read(others, aside, pieces))
        of_all = models.read(training, validation, pieces)
        held_out = bits_by_shares(of_all)
        chosen = held_out[min(by_training, key=by_training.get)]

        row, gpt = models.some_of(of_all), stored_model("gpt").eval()
        far = []
        with torch.no_grad():
            for ids in row.validation.unfold(0, models.CONTEXT + 1, 8).split(64):
                last = gpt(ids[:, :-1])[:, -1]
                far.append(F.cross_entropy(last, ids[:, -1], reduction="none"))
        usual = losses(gpt, row.validation, models.CONTEXT)[models.CONTEXT - 1 :: 8]
        gained = (usual - torch.cat(far)).mean() / math.log(2)  # a piece
        return [
            held_out[rivals.SHARES] - chosen,
            gained * len(row.validation) / row.bytes,
        ]

    by_choice, by_sight = stored([0.0034, 0.0007], measured, within=0.002)
    claim(
        "an eighth: shares chosen on training text, gain", by_choice, expected=0, abs=0.01
    )
    claim("an eighth: GPT with 128 pieces in sight, gains", by_sight, at_most=0.01)


def why_the_lstm_stops(notes):
    """Of an eighth of the held-out text: bits a byte with a memory, and pieces whose pair comes again."""

    def measured():
        pieces = models.pieces()
        some = models.some_of(models.read(*docstrings.split(), pieces))
        ids = some.validation
        before = [ids[max(0, at - models.CONTEXT) : at] for at in range(1, len(ids))]
        again = [
            ((past[:-1] == past[-1]) & (past[1:] == one)).any()
            for past, one in zip(before, ids[1:], strict=True)
        ]
        again, found = torch.stack(again), []
        for name in ("gpt", "lstm"):
            nats = losses(stored_model(name), ids, models.CONTEXT)
            chances = torch.cat([torch.ones(1), (-nats).exp()]).numpy()
            remembering = torch.from_numpy(rivals.from_memory(ids, chances)[1:])
            by_memory = (-remembering.log2()).sum().item() / some.bytes
            parts = [(nats[each].double() / math.log(2)) for each in (again, ~again)]
            found.append(
                [by_memory, parts[0].mean().item(), parts[1].sum().item() / some.bytes]
            )
        return [*found, [again.double().mean().item(), 0, 0]]

    gpt, lstm, (share, *_) = stored(
        [[1.506, 2.666, 1.312], [1.526, 3.602, 1.306], [0.280, 0, 0]],
        measured,
        within=0.005,
    )
    claim("an eighth: LSTM with a memory, behind the GPT", lstm[0] - gpt[0], at_most=0.05)
    gained = notes["lstm"]["noted"][-1, 2] - lstm[0]
    claim("an eighth: LSTM with a memory, gains", gained, expected=0.15, abs=0.03)
    claim("share of pieces whose pair comes again", share, expected=0.28, abs=0.01)
    claim("bits of such a piece, LSTM", lstm[1], expected=3.6, abs=0.15)
    claim("bits of such a piece, GPT", gpt[1], expected=2.7, abs=0.15)
    claim(
        "all others: LSTM against GPT, bits a byte", lstm[2] - gpt[2], expected=0, abs=0.03
    )


def a_line_piece_by_piece(readers, pieces, training):
    claim(
        "texts with a zebra that were counted",
        sum("zebra" in t for t in training),
        expected=0,
    )
    first, second = slice(2, 5), slice(10, 13)
    bits = {name: -torch.as_tensor(chances).log2() for name, chances in readers.items()}
    claim("pieces of zebra", len(pieces.encode(" zebra")), expected=3)
    # The counts are exact; another training of the GPT may differ.
    for name, once, twice, spread in (
        ("5-gram", 39, 40, 1),
        ("with its memory", 39, 11, 1),
        ("GPT", 27, 20, 8),
    ):
        claim(
            f"the first zebra, {name}: bits",
            bits[name][first].sum(),
            expected=once,
            abs=spread,
        )
        claim(
            f"the second zebra, {name}: bits",
            bits[name][second].sum(),
            expected=twice,
            abs=spread,
        )


def how_it_grows(notes):
    grid, thousands, _ = figures.grown(notes["growth"]["noted"])
    largest, smallest = grid[-1], grid[0]
    behind = smallest - largest
    # Of seeds 0 to 2: .092, .114, .149; .608, .611, .598; 2.024, 2.022, 2.022.
    claim("60 updates: smallest behind largest", behind[0], expected=0.09, abs=0.08)
    claim("1,800 updates: smallest behind largest", behind[-1], expected=0.61, abs=0.08)
    claim("largest, 1,800 updates", largest[-1], expected=2.02, abs=0.05)
    claim(
        "largest, from 60 updates to 1,800: bits gained",
        largest[0] - largest[-1],
        expected=1.19,
        abs=0.08,
    )
    exponent, at_one, off, predicted = power_law(largest)
    # -.139, -.137, -.132; 5.83, 5.73, 5.52; 1.649, 1.653, 1.656.
    claim("power law: exponent", exponent, expected=-0.139, abs=0.015)
    claim("power law: at one update", at_one, expected=5.83, abs=0.5)
    claim("the point furthest off the power law, as a share", off, at_most=0.05)
    claim("power law: at 9,000 updates", predicted, expected=1.65, abs=0.08)
    reached = notes["gpt"]["noted"][-1, 2]
    claim("the GPT, after 9,000 updates", reached, expected=1.59, abs=0.03)

    claim(
        "largest over smallest, in weights", thousands[3] / thousands[0], expected=27, abs=1
    )
    claim("weights of the third size", 1000 * thousands[2], expected=108_000, abs=500)


def power_law(bits):
    """Its exponent, what it says of one update, its largest error as a share, and what it says of 9,000."""
    logs = torch.tensor(models.LENGTHS).float().log()
    columns = torch.stack([logs, torch.ones(len(logs))], dim=1)
    slope, start = torch.linalg.lstsq(columns, bits.log()[:, None]).solution.flatten()
    off = (bits.log() - start - slope * logs).abs().max()
    return slope, start.exp(), off, (start + slope * math.log(9000)).exp()


def what_a_training_costs():
    weights_of_gpt = size(stored_model("gpt"))
    read = models.UPDATES["gpt"] * 8 * models.CONTEXT
    claim("pieces that the GPT read, in millions", read / 1e6, expected=9.2, abs=0.05)
    claim("pieces a weight", read / weights_of_gpt, expected=17, abs=0.2)
    claim("pieces a weight, Hoffmann et al.'s model", 1.4e12 / 70e9, expected=20)
    operations = 6 * weights_of_gpt * read
    claim("6 N D, in million millions", operations / 1e12, expected=30, abs=0.5)


def where_the_text_runs_out(notes):
    trials = notes["growth"]["noted"]
    grid, _, (_, by_text) = figures.grown(trials)
    whole, few, dropped, decayed = grid[-1, -1], by_text[0], trials[-2, 3], trials[-1, 3]
    claim("dropout of the last but one", models.TRIALS[-2].dropout, expected=0.2)
    claim("harm of a thirtieth", few - whole, expected=0.33, abs=0.1)
    left = [(each - whole) / (few - whole) for each in (dropped, decayed)]
    # 1.08, 1.06, 1.07; .838, .846, .831.
    claim("of the harm, left with dropout", left[0], at_least=0.9)
    claim("of the harm, left with ten times the decay", left[1], expected=5 / 6, abs=0.15)


def judged_where_none_was_trained(notes):
    trials = notes["growth"]["noted"]
    claim("pieces of a crop", models.CROP, expected=64)
    far = torch.cat([trials[:, :3], trials[:, 4:5]], dim=1)  # judged in windows of 128
    grid, _, (_, by_text) = figures.grown(far)
    whole, few, dropped = grid[-1, -1], by_text[0], far[-2, 3]
    # 2.405, 2.389, 2.387; .244, .262, .241; 2.040, 2.023, 2.041; .28, .31, .30.
    claim("windows of 128: largest, 1,800 updates", whole, expected=2.41, abs=0.06)
    gained = grid[0, -1] - whole
    claim(
        "windows of 128: smallest behind largest, 1,800 updates",
        gained,
        expected=0.24,
        abs=0.08,
    )
    claim(
        "windows of 128: power law at 9,000 updates",
        power_law(grid[-1])[-1],
        expected=2.04,
        abs=0.1,
    )
    left = (dropped - whole) / (few - whole)
    claim("windows of 128: of the harm, left with dropout", left, expected=0.25, abs=0.15)


def what_is_copied(notes):
    passages = notes["gpt"]["copied"][..., 0]
    half = passages.flatten().median()
    claim("longest copied passage, characters: median of 72", half, expected=34, abs=8)
    claim("longest copied passage: the longest of all", passages.max(), expected=71, abs=40)
    claim(
        "longest copied passage: median, the likeliest",
        passages[0].median(),
        expected=48,
        abs=15,
    )
    claim(
        "longest copied passage: median, temperature 1",
        passages[1].median(),
        expected=19,
        abs=6,
    )
    claim("texts written", passages.numel(), expected=72)
    claim("texts written in each way", passages.shape[1], expected=24)
    claim("pieces written, at most", models.WRITTEN, expected=96)
    of_people = notes["gpt"]["copied by people"].median()
    claim("longest copied passage: median, people", of_people, expected=29, abs=8)


def a_loss_per_piece(by_byte, each_byte, per_piece, notes, honest):
    claim("5-gram of bytes, bits a byte", by_byte, expected=2.07, abs=0.05)
    claim(
        "bits a piece, bytes over 2,048 pieces", each_byte.mean() / per_piece, at_most=0.6
    )
    # Of networkx the GPT needs as many bits a byte as of all that is held out, 1.60.
    of_gpt = notes["gpt"]["bits"] * honest.bytes / len(honest.validation)
    claim("GPT, bits a piece", of_gpt, expected=4.5, abs=0.15)
    claim("GPT, perplexity", 2**of_gpt, expected=23, abs=2.5)


def a_rival_at_our_rate(notes):
    rates = rates_of_the_lstm(notes)
    claim("the LSTM at 0.005", rates[5e-3], expected=2.04, abs=0.1)
    claim("the LSTM at its best", min(rates.values()), expected=1.89, abs=0.05)
    ahead = notes["gpt"]["swept"].min() - min(rates.values())
    claim("both at their best: the LSTM ahead by", ahead, at_least=0.05)
