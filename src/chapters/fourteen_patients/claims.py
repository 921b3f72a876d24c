"""The checks of the chapter, a function for each place where its page says how many hold."""

import math

import torch

from bookkit.claims import claim
from chapters.fourteen_patients import charts, checked, patients
from chapters.fourteen_patients import ill_models as ill
from chapters.fourteen_patients import ill_trainings as ill_at
from chapters.fourteen_patients import training as training_of_all
from chapters.fourteen_patients.patients import curves
from chapters.fourteen_patients.training import Training, texts
from chapters.fourteen_patients.writer import Writer


def end_of(name):
    return curves(name).last().mean()


def the_ward():
    claim("rows of a batch", training_of_all.ROWS, expected=16)
    claim("updates between two evaluations", training_of_all.EVERY, expected=20)
    read = 300 * 16 * 64 / len(texts().training)
    claim("of the text, read in 300 updates", read, at_most=0.33)
    claim("patients in the ward", len(patients.PATIENTS), expected=14)
    placed = (
        "shuffled, global seed, off by one, large start, places begin again, wrong axis, "
    )
    placed += "ten times, unclipped, in a list"
    claim("letters as the box places them", ", ".join(charts.LETTERS.values()) == placed)
    begins = (
        curves("large start").training.mean(0)[0],
        curves("in a list").training.mean(0)[0],
    )
    claim("D: the first ten updates, beyond the chart", begins[0], at_least=charts.HIGHEST)
    claim("H: the first ten updates, within it", begins[1], at_most=charts.HIGHEST)
    alike = (
        sum(map(patients.trains_alike, patients.PATIENTS)) - 1
    )  # half precision has no line
    claim("lines of training never 0.1 off the healthy one", alike, expected=3)
    same = torch.equal(curves(charts.LETTERS["E"]).training, curves("healthy").training)
    claim("E has the healthy curve", same)


def found_untrained(first_loss, places_moved, ids):
    torch.manual_seed(0)
    over = [first_loss(each(97)) - math.log(97) for each in (Writer, ill.LargeStart)]
    claim("healthy: first loss over ln 97", over[0], expected=0.2, abs=0.3)
    claim("4: first loss over ln 97", over[1], at_least=15)
    shown = first_loss(Writer(97), targets=ids[:, :-1])
    claim(
        "1: asked for letters just shown, first loss below ln 97 by",
        math.log(97) - shown,
        at_least=0.3,
    )
    for number, model in ((2, ill.MaskOffByOne), (3, ill.WrongAxis), (0, Writer)):
        moved_by_last = places_moved(model(97))
        name = f"{number}: places moved" if number else "healthy: places moved"
        claim(name, moved_by_last, expected={2: 2, 3: 32, 0: 0}[number])
    one_block = ill.MaskOffByOne(97)
    one_block.blocks = one_block.blocks[:1]
    claim("2: places moved with one block", places_moved(one_block), expected=1)


def how_the_first_five_end():
    after_forty = curves("not shifted").training[:, 4:].max()
    claim("1: training after forty updates", after_forty, at_most=0.1)
    claim("1: validation at the end", curves("not shifted").last().min(), at_least=12)
    claim("2: training at the end", curves("off by one").last_training().max(), at_most=0.1)
    claim("2: validation at the end", curves("off by one").last().max(), at_most=0.1)
    claim("3: validation at the end", end_of("wrong axis"), expected=1.6, abs=0.15)
    claim("4: validation at the end", end_of("large start"), expected=2.65, abs=0.1)
    claim("5: validation at the end", end_of("in a list"), expected=2.7, abs=0.1)
    # Over six seeds 2.20 to 2.27.
    claim("healthy: validation at the end", end_of("healthy"), expected=2.2, abs=0.1)
    means = {name: curves(name).training.mean(0) for name in ("healthy", "wrong axis")}
    apart = (means["wrong axis"] - means["healthy"])[:10].abs().max()
    claim("3: in a hundred updates, off the healthy curve by", apart, at_most=0.15)


def size_after_40(kind):
    training = kind(seed=0)
    for _ in range(40):
        training.update()
    return training.model.blocks[0].widen.weight.norm().item()


def counts_and_rates(ratios, in_float, in_half):
    share = texts().training.bincount()[1:] / len(texts().training)
    frequent = share[share > 0]
    counting = -(frequent * frequent.log()).sum()
    claim("counting letters, nats a letter", counting, expected=3.4, abs=0.05)
    stays = curves("shuffled").last_training().mean()
    claim("6: training at the end", stays, expected=counting, abs=0.05)
    for name, words in (("ten times, unclipped", ""), ("ten times", ", clipped")):
        claim(f"7{words}: validation at the end", end_of(name), expected=3, abs=0.15)
    (well, shuffled, early), (well_later, _, later) = ratios
    claim("6: the 6th update moves, times the healthy one", shuffled / well, at_most=1.5)
    claim("7: the 6th update moves, times the healthy one", early / well, at_least=3)
    claim(
        "7: the 41st update moves, times the healthy one",
        later / well_later,
        at_most=0.9,
    )
    # Of three seeds 2.7 to 2.8 times.
    grown = size_after_40(ill_at.TenTimesUnclipped) / size_after_40(Training)
    claim("7: its weights after 40 updates, times the healthy ones", grown, at_least=2)
    claim(
        "8: NaN only in half precision, from blocks.0.attention",
        (in_float, in_half) == ("none", "blocks.0.attention"),
    )


def filler_and_parts(filler, apart):
    filled, lines = curves("filler counted"), curves("lines")
    too_good = (lines.last_training() - filled.last_training()).min()
    claim("9: training ends below the healthy one by", too_good, at_least=0.7)
    ends_apart = (filled.last() - lines.last()).abs().max()
    claim("9: validation, ill and healthy apart", ends_apart, at_most=0.05)
    claim("9: validation of both", filled.last().mean(), expected=2.4, abs=0.1)
    claim("9: filler among the targets", filler, at_least=0.3)
    worse = curves("means of parts").last() - curves("healthy").last()
    # Over six seeds 0.31 to 0.38.
    claim("10: ends worse by", worse.mean(), expected=0.35, abs=0.06)
    claim("10: ends worse by, the least of three seeds", worse.min(), at_least=0.25)
    claim("10: gradient by shares, off the whole batch's by", apart["mended"], at_most=1e-3)
    claim("10: gradient by halves, off the whole batch's by", apart["ill"], at_least=0.2)


def fine_in_training(changes):
    set_back = curves("global seed")
    below = curves("healthy").last_training() - set_back.last_training()
    claim("11: training ends below the healthy one by", below.min(), at_least=0.3)
    rises = set_back.last() - set_back.validation.amin(1)
    claim("11: validation rises from its lowest by", rises.min(), at_least=0.1)
    overlap, apart_first = curves("overlapping"), curves("windows")
    over = (overlap.last() - overlap.last_training()).abs().max()
    claim("12: validation and training, apart", over, at_most=0.12)
    in_training = overlap.last_training() - apart_first.last_training()
    claim("12: training, ill and mended apart", in_training.abs().max(), at_most=0.15)
    flattered = (apart_first.last() - overlap.last()).min()
    claim("12: validation below the honest one by", flattered, at_least=0.25)
    higher = curves("dropout on").last() - curves("dropout").last()
    claim("13: validation higher by", higher.mean(), expected=0.03, abs=0.02)
    claim(
        "13: validation higher by, the least of three seeds", higher.min(), at_least=0.005
    )  # of six seeds 0.015 to 0.05
    spread = curves("dropout").last()
    claim("13: seeds, apart", spread.max() - spread.min(), at_least=higher.mean())
    claim("14: logits with a cache change by", changes[0], at_least=1)
    claim("14: logits with a cache change by, mended", changes[1], at_most=1e-4)


def what_checkup_names(asked):
    names = [patient.name for patient in patients.PATIENTS]
    named = [name for name in names if asked[name].inquiry]
    claim("named by checkup", len(named), expected=8)
    claim(
        "of these, by the loss that was given",
        sum(asked[n].of_loss for n in named),
        expected=2,
    )
    claim("of the fourteen, nothing found of", len(names) - len(named), expected=6)
    claim("all ill models are named", {*names} & {*checked.MODELS} <= {*named})


def better_than_healthy():
    better = sum(map(patients.looks_better, patients.PATIENTS))
    claim("patients that look better by 0.3 or more", better, expected=6)


def ends_much_alike():
    unscaled = curves("no scale").last()
    claim("no division: validation at the end", unscaled.mean(), expected=2.3, abs=0.12)
    claim(
        "no division: named by checkup", checked.findings("no scale")[0].inquiry == "scores"
    )
    ends_apart = abs(end_of("large start") - end_of("in a list"))
    claim("4 and 5 end at nearly the same", ends_apart, at_most=0.15)
