"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import contextlib
import math

import torch
from torch.nn import functional as F
from torch.nn.modules.module import register_module_forward_hook

from bookkit.other_words import named
from chapters.fourteen_patients.exercises import (
    check_eight_patients,
    check_first_nan,
    check_out_of_the_band,
    check_repaired_parts,
    ward,
)
from chapters.fourteen_patients.exercises.out_of_the_band_parts import example, with_right_numbers

# --- first_nan ---


def nan_in(value):
    if isinstance(value, torch.Tensor):
        return value.isnan().any().item()
    return any(nan_in(part) for part in value)


def with_an_exit_stack(model, batch):
    found = []
    with contextlib.ExitStack() as stack:
        for name, module in model.named_modules():

            def hook(module, inputs, output, name=name):
                if not found and nan_in(output) and not nan_in(inputs):
                    found.append(name)

            stack.callback(module.register_forward_hook(hook).remove)
        model(batch)
    return next(iter(found), None)


def with_one_hook_for_all(model, batch):
    names = {module: name for name, module in model.named_modules()}
    first = None

    def hook(module, inputs, output):
        nonlocal first
        if first is None and module in names and nan_in(output) and not nan_in(inputs):
            first = names[module]

    handle = register_module_forward_hook(hook)
    try:
        with torch.inference_mode():
            model(batch)
    finally:
        handle.remove()
    return first


class Found(Exception):  # noqa: N818
    """Raised as soon as there is something to tell."""


def by_an_exception(model, batch):
    def watch(name):
        def hook(module, inputs, output):
            if nan_in(output) and not nan_in(inputs):
                raise Found(name)

        return hook

    handles = [module.register_forward_hook(watch(name)) for name, module in model.named_modules()]
    try:
        model(batch)
    except Found as found:
        return found.args[0]
    finally:
        for handle in handles:
            handle.remove()
    return None


def by_hand(model, batch):
    found, handles = [], []
    for name, module in model.named_modules():

        def hook(module, inputs, output, name=name):
            if nan_in(output) and not nan_in(inputs):
                found.append(name)

        handles.append(module.register_forward_hook(hook))
    try:
        model(batch)
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if found else None


# --- repaired_parts ---


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


# --- out_of_the_band ---


def handed(change=lambda curves: curves, follow=True):
    """What is handed over once the example's curves are changed; the two updates follow from them."""

    def work():
        curves = change(example())
        return (with_right_numbers(curves) if follow else curves)._asdict()

    return work


def ill(change):
    return handed(lambda curves: curves._replace(ill=change(curves)))


def diverging(curves):
    losses = curves.ill.clone()
    losses[:, 12:] = math.nan
    return losses


def losses(kind):
    trainings = [kind(seed) for seed in range(5)]
    for training in trainings:
        for _ in range(15):
            training.update()
    return torch.tensor([training.losses for training in trainings])


# --- eight_patients ---


TRUTH = ward.truth()
TWO = next(number for number, causes in TRUTH.items() if len(causes) > 1)


def right():
    return {number: set(causes) or "nothing" for number, causes in TRUTH.items()}


ONE = {number: next(iter(causes), "nothing") for number, causes in TRUTH.items()}
ACCEPTED = {
    check_first_nan: named(with_an_exit_stack, with_one_hook_for_all, by_an_exception, by_hand),
    check_repaired_parts: named(ignored, divided_at_the_end, row_by_row, empty_parts_skipped),
    check_out_of_the_band: {
        "tensors": handed(),
        "lists": lambda: {
            **handed()(),
            "healthy": example().healthy.tolist(),
            "ill": example().ill.tolist(),
            "seeds": list(range(5)),
        },
        "float32": lambda: {
            **handed(lambda curves: curves._replace(healthy=curves.healthy.float(), ill=curves.ill.float()))()
        },
        "below the band": ill(lambda curves: 2 * curves.healthy - curves.ill),
        "far below from the start": ill(lambda curves: curves.healthy - 1),
        "never told": ill(
            lambda curves: (
                curves.healthy + 1e-3 * torch.tensor([1.0, -1, 1, -1, 1], dtype=torch.float64)[:, None]
            )
        ),
        "NaN at last": ill(diverging),
    },
    check_eight_patients: {
        "sets": right(),
        "strings, and a set": {**ONE, TWO: set(TRUTH[TWO])},
        "lists": {number: sorted(causes) or ["nothing"] for number, causes in TRUTH.items()},
        "tuples, from a function": lambda: {n: tuple(c) or "nothing" for n, c in TRUTH.items()},
        "in capitals, with spaces": {
            number: [f" {cause.upper()} " for cause in causes] or "Nothing"
            for number, causes in TRUTH.items()
        },
    },
}
