"""The exercise `repaired_validation`, tried as readers would."""

import math

import exercise_cases
import torch
from exercise_cases import judged_as, named
from torch.nn import functional as F

from attnlab.training.run import bits_per_byte, losses
from chapters.a_gpt_of_your_own.exercises import check_repaired_validation


def broken(model, row, length, text_bytes):
    """The notebook's."""
    model.train()
    source, found = torch.Generator().manual_seed(0), []
    for _ in range(len(row) // length):
        start = int(torch.randint(len(row) - length, (1,), generator=source))
        ids, targets = row[start : start + length], row[start + 1 : start + length + 1]
        with torch.no_grad():
            found.append(F.cross_entropy(model(ids[None])[0], targets))
    return torch.stack(found).mean().item()


def mended(*faults, unit=None, shift=1, windows=None):
    """A reader's validation, with some of its faults left."""

    def by_steps(row, length):
        return [
            (row[at : at + length], row[at + 1 : at + length + 1]) for at in range(0, len(row) - 1, length)
        ]

    def code(model, row, length, text_bytes):
        before = model.training
        model.train("mode" in faults)
        source, nats = torch.Generator().manual_seed(0), []
        if "crops" in faults:
            starts = [
                int(torch.randint(len(row) - length, (1,), generator=source))
                for _ in range(len(row) // length)
            ]
            cut = [(row[at : at + length], row[at + 1 : at + length + 1]) for at in starts]
        else:
            cut = (windows or by_steps)(row, length)
        for ids, targets in cut:
            asked = targets if shift else ids[: len(targets)]
            with torch.no_grad():
                nats.append(F.cross_entropy(model(ids[None, : len(targets)])[0], asked, reduction="none"))
        model.train(before)
        if "unit" in faults:
            return torch.stack([each.mean() for each in nats]).mean()
        return (unit or bits_per_byte)(torch.cat(nats), text_bytes)

    return code


def one_id_at_a_time(model, row, length, text_bytes):
    was, bits = model.training, 0.0
    model.eval()
    for place in range(1, len(row)):
        start = (place - 1) // length * length
        shares = model(row[None, start:place])[0, -1].softmax(-1)
        bits -= math.log2(shares[row[place]].item())
    model.train(was)
    return bits / text_bytes


def overlapping(row, length):
    return [(row[at : at + length], row[at + 1 : at + length + 1]) for at in range(len(row) - length)]


def whole_windows(row, length):
    return [
        (row[at : at + length], row[at + 1 : at + length + 1]) for at in range(0, len(row) - length, length)
    ]


def cut_up(more=0):
    """Windows by `split`, each shifted in itself."""
    return lambda row, length: [
        (window[:-1], window[1:]) for window in row.split(length + more) if len(window) > 1
    ]


def filled_up(row, length):
    rest = (len(row) - 1) % length > 0
    return whole_windows(row, length) + [(row[-length - 1 : -1], row[-length:])] * rest


def as_it_comes(*faults):
    def code(model, row, length, text_bytes):
        return mended(*faults, *["mode"] * model.training)(model, row, length, text_bytes)

    return code


def by_the_books_own(model, row, length, text_bytes):
    before = model.training
    bits = bits_per_byte(losses(model, row, length), text_bytes)
    model.train(before)
    return bits


def by_means(joined):
    """The windows' means, joined in some way."""

    def code(model, row, length, text_bytes):
        means, before = [], model.training
        model.eval()
        for start in range(0, len(row) - 1, length):
            targets = row[start + 1 : start + length + 1]
            logits = model(row[None, start : start + len(targets)])[0]
            means.append(F.cross_entropy(logits, targets).detach())
        model.train(before)
        return joined(torch.stack(means), len(row) - 1, text_bytes)

    return code


RIGHT = {check_repaired_validation: named(mended(), one_id_at_a_time)}
NAMED = {
    check_repaired_validation: {
        "in training mode": mended("mode"),
        "crops at random": mended("crops"),
        "nats a piece": mended("unit"),
        "in training mode, at random": mended("mode", "crops"),
        "in training mode, in nats": mended("mode", "unit"),
        "at random, in nats": mended("crops", "unit"),
        "last ids never asked": mended(windows=whole_windows),
        "overlapping windows": mended(windows=overlapping),
        "not shifted": mended(shift=0),
        "bits a piece": mended(unit=lambda nats, size: nats.mean() / math.log(2)),
        "nats a byte": mended(unit=lambda nats, size: nats.sum() / size),
        "nats a piece, each id alike": mended(unit=lambda nats, size: nats.mean()),
        "multiplied by log 2": mended(unit=lambda nats, size: nats.sum() * math.log(2) / size),
        "bits of all the text": mended(unit=lambda nats, size: nats.sum() / math.log(2)),
        "a mean for the sum": mended(unit=lambda nats, size: nats.mean() / math.log(2) / size),
        "the first id counted": mended(
            unit=lambda nats, size: nats.mean() * (len(nats) + 1) / math.log(2) / size
        ),
        "what follows a window is never asked": mended(windows=cut_up()),
        "windows one id too far apart": mended(windows=cut_up(more=1)),
        "the last window filled up": mended(windows=filled_up),
        "in the mode in which it comes": as_it_comes(),
        "as it comes, at random, in nats": as_it_comes("crops", "unit"),
        "seen from half a window before": by_the_books_own,
        "a sum of means": by_means(lambda means, ids, size: means.sum() / math.log(2) / size),
        "a mean of means for the sum": by_means(lambda means, ids, size: means.mean() / math.log(2) / size),
        "a mean of windows": by_means(lambda means, ids, size: means.mean() * ids / math.log(2) / size),
    }
}
UNKNOWN = {
    check_repaired_validation: {
        "nothing": lambda *inputs: 0.0,
        "nats as they are": lambda *inputs: mended(unit=lambda nats, size: nats)(*inputs),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_the_broken_validation_fails_every_case():
    exercise_cases.assert_still_broken(check_repaired_validation, broken, "✗✗✗✗✗")


def test_a_model_left_in_another_mode_is_told():
    def careless(model, row, length, text_bytes):
        model.eval()
        return mended()(model, row, length, text_bytes)

    report = check_repaired_validation.judge(careless)
    assert "It changes model" in str(report)
    assert not report.passed
