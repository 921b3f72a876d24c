"""The cheap test for each cause that can be answered, and what is said where it finds nothing."""

import math
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn

from chapters.fourteen_patients.exercises.ward import VOCABULARY, Batch, Patient, quiet, twin
from chapters.fourteen_patients.exercises.ward_model import BLOCKS, D_MODEL, HEADS, Speaker

TEXT = 8  # words of the text that most tests read
# Floats of 32 bits differ by about 1e-6 of themselves; the mildest of the faults by more than 1e-2.
APART = 1e-3


Test: TypeAlias = Callable[[Patient], bool]


def _ids() -> Tensor:
    return torch.arange(1, TEXT + 1, device="cpu")[None]  # (1, 8)


def _differ(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).abs().max() > APART)


def _given(module: nn.Module, run: Callable[[], object]) -> list[tuple[tuple[Tensor, ...], Tensor]]:
    """What a module was given, and what it gave, each time that it was called."""
    calls: list[tuple[tuple[Tensor, ...], Tensor]] = []
    hook = module.register_forward_hook(lambda _, inputs, output: calls.append((inputs, output)))
    try:
        with torch.no_grad():
            run()
    finally:
        hook.remove()
    return calls


def _logits(patient: Patient, ids: Tensor) -> Tensor:
    with torch.no_grad():
        return quiet(patient.model)(ids)  # type: ignore[no-any-return]


def _moved(patient: Patient) -> Tensor:
    """Which places answer otherwise when the last word is another, (8,)."""
    ids = _ids()
    other = ids.clone()
    other[:, -1] += 1
    gaps: Tensor = (_logits(patient, ids) - _logits(patient, other)).abs().amax((0, 2)) > APART
    return gaps


def _weights(patient: Patient) -> Tensor:
    model = quiet(patient.model)
    attention = model.blocks[0].attention  # type: ignore[union-attr, index]
    return _given(attention.look, lambda: model(_ids()))[0][1]  # (1, heads, 8, 8)


def _not_shifted(patient: Patient) -> bool:
    batch = patient.batch()
    same = (batch.targets[:, :-1] == batch.ids[:, 1:]) | ~batch.kept[:, :-1]
    return not bool(same.all())


def _padding_counts(patient: Patient) -> bool:
    batch = patient.batch()
    others = batch.targets.masked_fill(~batch.kept, 5)
    losses = [_loss(patient, each) for each in (batch, batch._replace(targets=others))]
    return abs(losses[0] - losses[1]) > APART


def _loss(patient: Patient, batch: Batch) -> float:
    patient.model = quiet(patient.model)  # type: ignore[assignment]
    with torch.no_grad():
        return patient.loss(batch).item()


def _off_by_one(patient: Patient) -> bool:
    moved = _moved(patient)[:-1]
    return bool(moved.any()) and not moved[:-BLOCKS].any()


def _masked_late(patient: Patient) -> bool:
    sums = _weights(patient).sum(-1)
    return _differ(sums, torch.ones_like(sums))


def _wrong_axis(patient: Patient) -> bool:
    sums = _weights(patient).sum(-2)
    return not _differ(sums, torch.ones_like(sums))


def _no_scale(patient: Patient) -> bool:
    model = quiet(patient.model)
    attention = model.blocks[0].attention  # type: ignore[union-attr, index]
    ((query, key), scores), *_ = _given(attention.scores, lambda: model(_ids()))
    expected = math.sqrt(D_MODEL // HEADS)
    return not bool(torch.isclose(query @ key.mT, expected * scores, atol=APART).all())


def _no_positions(patient: Patient) -> bool:
    logits = _logits(patient, torch.full((1, TEXT), 5, device="cpu"))
    return not _differ(logits[:, :1], logits[:, 1:])


def _places_anew(patient: Patient) -> bool:
    model = quiet(patient.model)
    assert isinstance(model, Speaker)
    caches = model.caches()

    def word_by_word() -> None:
        for word in _ids().split(1, dim=1):  # type: ignore[no-untyped-call]
            model(word, caches)

    places = [int(inputs[0][-1]) for inputs, _ in _given(model.places, word_by_word)]
    return places != list(range(TEXT))


def _norm_on_stream(patient: Patient) -> bool:
    model = quiet(patient.model)
    stream = _given(model.blocks[0], lambda: model(_ids()))[0][1]  # type: ignore[index, arg-type]
    sizes = stream.square().mean(-1)
    return not _differ(sizes, torch.ones_like(sizes))


def _unlisted(patient: Patient) -> bool:
    names = [{name for name, _ in block.named_parameters()} for block in patient.model.blocks]
    return len(set(map(frozenset, names))) > 1


def _large_start(patient: Patient) -> bool:
    return _loss(patient, patient.batch()) > math.log(VOCABULARY) + 2


def _dropout_always(patient: Patient) -> bool:
    patient.model.eval()
    with torch.no_grad():
        first, second = patient.model(_ids()), patient.model(_ids())
    return _differ(first, second)


def _rate_too_high(patient: Patient) -> bool:
    before = {name: weight.detach().clone() for name, weight in patient.model.named_parameters()}
    patient.model.train()
    patient.update(patient.batch())
    sizes = {name: weight.norm() for name, weight in before.items() if weight.dim() > 1}
    steps = {
        name: (weight.detach() - before[name]).norm() / sizes[name]
        for name, weight in patient.model.named_parameters()
        if name in sizes
    }
    return bool(max(steps.values()) > 1)


def _half(patient: Patient) -> bool:
    model, kinds = quiet(patient.model), set()

    def note(_: nn.Module, inputs: object, output: Tensor) -> None:
        kinds.add(output.dtype)

    handles = [module.register_forward_hook(note) for module in model.modules()]
    with torch.no_grad():
        model(_ids())
    for handle in handles:
        handle.remove()
    return kinds != {torch.float32}


def _gradient(patient: Patient, parts: int) -> Tensor:
    patient.gradient(patient.batch(), parts)
    return torch.cat([each.grad.flatten() for each in patient.model.parameters() if each.grad is not None])


def _parts_alike(patient: Patient) -> bool:
    patient.model = quiet(patient.model)  # type: ignore[assignment]
    whole, parts = _gradient(patient, 1), _gradient(patient, 4)
    return bool((whole - parts).norm() > 1e-2 * whole.norm())


def _not_set_to_zero(patient: Patient) -> bool:
    patient.model = quiet(patient.model)  # type: ignore[assignment]
    first, second = _gradient(patient, 4), _gradient(patient, 4)
    return bool((first - second).norm() > 1e-2 * first.norm())


TESTS: dict[str, tuple[Test, str]] = {
    "targets not shifted": (
        _not_shifted,
        "Compare `batch.targets[:, :-1]` with `batch.ids[:, 1:]`: each target is the word that comes next.",
    ),
    "padding in the loss": (
        _padding_counts,
        "Put any target where `kept` is False: the loss stays. These places do not count.",
    ),
    "mask off by one": (
        _off_by_one,
        "With its last word changed, no earlier logit moves. No place sees the next.",
    ),
    "mask after the softmax": (
        _masked_late,
        "Each row that `look` gives sums to 1. Zeros put in after the softmax would be missing from the sum.",
    ),
    "softmax over the wrong axis": (
        _wrong_axis,
        "The columns that `look` gives do not sum to 1. After a softmax over the queries they would.",
    ),
    "no scale": (
        _no_scale,
        "What `scores` gives are the products of what it is given, divided by 4, the root of d_k = 16.",
    ),
    "no positions": (
        _no_positions,
        "Let it read one word eight times: it answers otherwise at each place, so it knows where it stands.",
    ),
    "positions start again with a cache": (
        _places_anew,
        "A hook on `places`, while it reads word by word behind a cache, sees 0, 1, 2, … go in.",
    ),
    "norm on the stream": (
        _norm_on_stream,
        "What block 0 gives has another size at each place. With a norm on the stream it is 1 everywhere.",
    ),
    "a layer missing from parameters()": (
        _unlisted,
        "`named_parameters()` of both blocks are the same, layer by layer: none is missing.",
    ),
    "weights too large at the start": (
        _large_start,
        "Its first loss is less than 2 nats above log 36 = 3.58. Too large weights make it sure, and wrong.",
    ),
    "dropout in evaluation": (_dropout_always, "After `eval()` it gives the same logits when asked twice."),
    "rate too high": (
        _rate_too_high,
        "No matrix is moved by its first update by more than a twentieth of its size. That is no high rate.",
    ),
    "half precision": (_half, "All that its layers give is of float32, 32 bits a number."),
    "means of unequal parts": (
        _parts_alike,
        "With its dropout at rest, `gradient` finds the same for a batch in 1 part and in 4.",
    ),
    "gradients not set to zero": (
        _not_set_to_zero,
        "With its dropout at rest, `gradient` finds the same twice: nothing is left from before.",
    ),
}
# Of a model with a leak that is no mask off by one.
ALL_MOVE = (
    f"With its last word changed, all earlier places answer otherwise. Off by one, in {BLOCKS} blocks, only "
    f"the last {BLOCKS} of them would."
)


def found(patient: Patient, cause: str) -> bool:
    """`found(patient, "no scale")` is tested on a fresh twin of the patient."""
    with torch.random.fork_rng(devices=[]):
        return TESTS[cause][0](twin(patient))


def against(patient: Patient, cause: str) -> str:
    """`against(patient, "no scale")` says what speaks against it; "" where the test finds it."""
    if found(patient, cause):
        return ""
    if cause == "mask off by one" and _moved(twin(patient))[:-1].any():
        return ALL_MOVE
    return TESTS[cause][1]
