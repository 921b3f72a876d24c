"""The exercise `repaired_parts`, tried as readers would."""

import copy

import torch
from exercise_cases import assert_still_broken, judged_as, named, words
from torch.nn import functional as F

from chapters.fourteen_patients.exercises import check_repaired_parts


def stepping(
    loss=lambda each, kept, all_kept, parts, some, ids: each[kept].sum() / all_kept.sum(),
    clear=lambda model, first: model.zero_grad() if first else None,
    told=lambda losses: sum(losses),
):
    """A reader's step, in which one thing may be another."""

    def code(model, ids, targets, kept, parts):
        losses = []
        pieces = zip(ids.chunk(parts), targets.chunk(parts), kept.chunk(parts), strict=True)
        for number, (some, wanted, counted) in enumerate(pieces):
            clear(model, number == 0)
            each = F.cross_entropy(model(some).mT, wanted, reduction="none")
            part = loss(each, counted, kept, parts, some, ids)
            part.backward()
            losses.append(part.item())
        return told(losses)

    return code


step_to_repair = stepping(lambda each, kept, all_kept, parts, some, ids: each[kept].mean() / parts)


def ignored(model, ids, targets, kept, parts):
    """PyTorch leaves out one index by itself."""
    model.zero_grad()
    wanted = targets.masked_fill(~kept, -100)
    total = torch.zeros((), dtype=torch.float64)
    for some, of_some in zip(ids.chunk(parts), wanted.chunk(parts), strict=True):
        loss = F.cross_entropy(model(some).flatten(0, 1), of_some.flatten(), reduction="sum") / kept.sum()
        loss.backward()
        total += loss.detach()
    return total


def divided_at_the_end(model, ids, targets, kept, parts):
    for weight in model.parameters():
        weight.grad = None
    total = 0.0
    for some, wanted, counted in zip(*(each.chunk(parts) for each in (ids, targets, kept)), strict=True):
        loss = (F.cross_entropy(model(some).mT, wanted, reduction="none") * counted).sum()
        loss.backward()
        total += loss.item()
    for weight in model.parameters():
        weight.grad /= kept.sum()
    return total / kept.sum().item()


def row_by_row(model, ids, targets, kept, parts):
    model.zero_grad()
    gradients = [torch.zeros_like(weight) for weight in model.parameters()]
    total = 0.0
    for row in range(len(ids)):
        each = F.cross_entropy(model(ids[row : row + 1]).mT, targets[row : row + 1], reduction="none")
        loss = each[kept[row : row + 1]].sum() / kept.sum()
        total += loss.item()
        for gradient, found in zip(gradients, torch.autograd.grad(loss, [*model.parameters()]), strict=True):
            gradient += found
    for weight, gradient in zip(model.parameters(), gradients, strict=True):
        weight.grad = gradient
    return total


def empty_parts_skipped(model, ids, targets, kept, parts):
    model.zero_grad()
    total = 0.0
    for some, wanted, counted in zip(*(each.chunk(parts) for each in (ids, targets, kept)), strict=True):
        if not counted.any():
            continue
        each = F.cross_entropy(model(some).mT, wanted, reduction="none")
        loss = each[counted].mean() * counted.sum() / kept.sum()
        loss.backward()
        total += loss.item()
    return total


def at_once(model, ids, targets, kept, parts):
    model.zero_grad()
    loss = F.cross_entropy(model(ids).mT, targets, reduction="none")[kept].mean()
    loss.backward()
    return loss.item()


def mean_or_zero(each, kept):
    return each[kept].mean() if kept.any() else 0.0 * each.sum()


RIGHT = {check_repaired_parts: named(ignored, divided_at_the_end, row_by_row, empty_parts_skipped)}
NAMED = {
    check_repaired_parts: {
        "still broken": step_to_repair,
        "empty parts left out": stepping(
            lambda each, kept, all_kept, parts, some, ids: mean_or_zero(each, kept) / parts
        ),
        "shared by rows": stepping(
            lambda each, kept, all_kept, parts, some, ids: mean_or_zero(each, kept) * len(some) / len(ids)
        ),
        "shared by rows, with NaN": stepping(
            lambda each, kept, all_kept, parts, some, ids: each[kept].mean() * len(some) / len(ids)
        ),
        "0 / 0": stepping(
            lambda each, kept, all_kept, parts, some, ids: each[kept].mean() * (kept.sum() / all_kept.sum())
        ),
        "means added up": stepping(lambda each, kept, all_kept, parts, some, ids: mean_or_zero(each, kept)),
        "sum over all words": stepping(lambda each, kept, *_: each[kept].sum()),
        "divided by all places": stepping(
            lambda each, kept, all_kept, *_: (each * kept).sum() / all_kept.numel()
        ),
        "divided by the rows": stepping(lambda each, kept, all_kept, *_: each[kept].sum() / len(all_kept)),
        "divided twice": stepping(
            lambda each, kept, all_kept, parts, *_: each[kept].sum() / all_kept.sum() / parts
        ),
        "filled-up places count": stepping(lambda each, kept, all_kept, *_: each.sum() / all_kept.sum()),
        "last part alone": stepping(clear=lambda model, first: model.zero_grad()),
        "old gradient kept": stepping(clear=lambda model, first: None),
        "last loss": stepping(told=lambda losses: losses[-1]),
        "loss divided again": stepping(told=lambda losses: sum(losses) / len(losses)),
        "all at once": at_once,
    }
}
UNKNOWN = {
    check_repaired_parts: {
        "no gradient": lambda model, ids, targets, kept, parts: model.zero_grad() or 1.0,
        "gradient turned": stepping(
            lambda each, kept, all_kept, *_: -each[kept].sum() / all_kept.sum(),
            told=lambda losses: -sum(losses),
        ),
        "without targets": lambda model, ids, *_: model(ids).sum(),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_the_code_as_it_comes_passes_where_all_parts_have_as_many_words():
    assert_still_broken(check_repaired_parts, step_to_repair, "✓✓✗✗✗✗")


def test_whoever_never_goes_backward_is_told():
    report = check_repaired_parts.judge(lambda model, *_: model.zero_grad() or 1.0)
    assert "It leaves no gradient in `.grad`" in words(report)


def test_whoever_moves_the_weights_is_told():
    def moves(model, *rest):
        loss = empty_parts_skipped(model, *rest)
        with torch.no_grad():
            for weight in model.parameters():
                weight -= 0.1 * weight.grad
        return loss

    assert "It changes model" in words(check_repaired_parts.judge(moves))


def test_parts_give_the_gradient_of_the_whole():
    model, ids, targets, kept, _ = check_repaired_parts.cases[2].fresh()
    gradients = []
    for parts in (1, 2, 4):
        twin = copy.deepcopy(model)
        check_repaired_parts.reference(twin, ids, targets, kept, parts)
        gradients.append(torch.cat([weight.grad.flatten() for weight in twin.parameters()]))
    torch.testing.assert_close(gradients[0], gradients[1])
    torch.testing.assert_close(gradients[0], gradients[2])
