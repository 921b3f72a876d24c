"""The residual stream: does each block pass on what it was given, and does its size stay in range?"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from checkup import copies, sections
from checkup.patient import Patient
from checkup.report import Finding
from checkup.trace import LayerCall, Trace, traced

Result: TypeAlias = tuple[str, list[Finding]]
LARGE = 1e4  # times what a block was given: what it adds is then too small to see
LOST = "Each layer should add to what it is given: only then do its words and its gradient get through."


def blocks(patient: Patient) -> Iterator[LayerCall]:
    """`blocks(patient)` are the layers of a list, each of which gives vectors like those it was given."""
    members = {
        f"{name}.{number}".lstrip("."): part
        for name, module in patient.exact.named_modules()
        if isinstance(module, nn.ModuleList | nn.Sequential)
        for number, part in module.named_children()
    }
    for call in patient.base[1].calls:
        if call.name in members and call.inputs and call.outputs and any(call.module.children()):
            entered, left = call.inputs[0], call.outputs[0]
            if entered.dim() == 3 and entered.shape == left.shape:
                # A network of two matrices alone is no block: it is added by whoever calls it.
                inside = any(look.where.startswith(call.name) for look in patient.looks.found)
                if inside or any(map(copies.is_norm, call.module.modules())):
                    yield call


def passes(patient: Patient) -> Result:
    """`passes(patient)`: what a block is given, made very large, must come out of it, once."""
    arguments = _arguments(patient)
    told, findings = [], []
    for call in blocks(patient):
        if call.name not in arguments:
            continue
        args, options = arguments[call.name]
        finding, words = _passed(patient, call, args, options)
        if finding and _added_outside(patient, call):
            finding, words = [], "what it gives is added by its caller"
        told.append(words)
        findings += finding
    kinds = sorted(set(told) - {""})
    return f"{len(told)} blocks: {'; '.join(kinds)}" if told else "no blocks found", _once(findings)


def _added_outside(patient: Patient, call: LayerCall) -> bool:
    """Whether ids get past the layer though it gives only zeros: then it is a branch, and no block.

    Of two texts those ids that the layer was given are compared; what an encoder read gets past any layer
    of the decoder.
    """
    reach = [
        key
        for key in (patient.calling.ids, *patient.calling.sources)
        if (key, 0) in patient.one_changed and _given_otherwise(patient, call, key)
    ]
    if not reach:
        return False
    hook = call.module.register_forward_hook(_nothing)
    try:
        one, other = (
            patient.run(patient.slots | {reach[0]: ids})[0]
            for ids in (patient.slots[reach[0]], patient.filled(patient.slots, seed=7)[reach[0]])
        )
    finally:
        hook.remove()
    return bool((one - other).abs().max() > patient.tolerance * one.abs().max())


def _given_otherwise(patient: Patient, call: LayerCall, key: Any) -> bool:
    changed = patient.one_changed[key, 0][1].numbered().get((call.name, 0))
    return changed is not None and not torch.equal(changed.inputs[0], call.inputs[0])


def _nothing(_: nn.Module, __: Any, given: Any) -> Any:
    if isinstance(given, Tensor):
        return torch.zeros_like(given) if given.is_floating_point() else given
    if isinstance(given, list | tuple) and not hasattr(given, "_fields"):
        return type(given)(_nothing(nn.Identity(), None, part) for part in given)
    return given


def _once(findings: list[Finding]) -> list[Finding]:
    """All blocks are made of one class: what is wrong with many is told of the first."""
    if len(findings) < 2:
        return findings
    names = ", ".join(finding.where for finding in findings[1:4]) + (" …" if len(findings) > 4 else "")
    first = findings[0]
    return [
        Finding(first.inquiry, first.where, f"{first.seen} (likewise {names})", first.meaning, first.section)
    ]


def _arguments(patient: Patient) -> dict[str, tuple[Any, dict[str, Any]]]:
    inputs = patient.in_precision_of(patient.exact, patient.slots)
    with torch.no_grad(), patient.precision(), traced(patient.exact, keep_arguments=True) as trace:
        patient.calling.logits(patient.exact, inputs)
    return trace.arguments


def _passed(
    patient: Patient, call: LayerCall, args: Any, options: dict[str, Any]
) -> tuple[list[Finding], str]:
    norms = [inner for inner in _inner(patient, call) if copies.is_norm(inner.module)]
    wide = [norm for norm in norms if norm.inputs and norm.inputs[0].shape == call.inputs[0].shape]
    if wide and torch.equal(wide[-1].outputs[0], call.outputs[0]):
        return _normed_last(patient, call, wide), "a norm last"
    if not wide or not torch.equal(wide[0].inputs[0], call.inputs[0]):
        return [], "no norm first or last"
    arguments = _with_first_times(args, options)
    if arguments is None:
        return [], ""
    with torch.no_grad(), patient.precision(), traced(call.module) as trace:
        try:
            result = call.module(*arguments[0], **arguments[1])
        except (RuntimeError, ValueError, TypeError):
            return [], ""
    output = next((part for part in _tensors(result) if part.shape == call.inputs[0].shape), None)
    if output is None:
        return [], ""
    given = LARGE * call.inputs[0]
    share = _share(output, given)
    if 0.05 < share < 1.5:
        return [], "a norm first, and what is given passes"
    if _normed_once(patient, call, trace, output):
        return [], "a norm of all that is read, and it passes"
    where = _lost_in(call, trace, given)
    if share >= 1.5:
        seen = f"what it is given comes out {share:.2f} times"
    else:
        seen = f"of what it is given, {max(share, 0):.0%} passes"
    return [Finding("stream", call.name, f"{seen}{where}", LOST, sections.RESIDUAL)], "a norm first"


def _inner(patient: Patient, call: LayerCall) -> list[LayerCall]:
    prefix = f"{call.name}."
    return [inner for inner in patient.base[1].calls if inner.name.startswith(prefix)]


def _normed_last(patient: Patient, call: LayerCall, norms: list[LayerCall]) -> list[Finding]:
    """norm(x + f(x)): what a norm is given must not be what the layer before it gave, and nothing else."""
    inner = [one for one in _inner(patient, call) if not isinstance(one.module, nn.Dropout | nn.Identity)]
    for norm in norms:
        place = inner.index(norm)
        for earlier in inner[:place]:
            if copies.is_norm(earlier.module) or not earlier.outputs:
                continue
            if any(
                out.shape == norm.inputs[0].shape and torch.equal(out, norm.inputs[0])
                for out in earlier.outputs
            ):
                return [
                    Finding("stream", call.name, f"{norm.name} is given what {earlier.name} gives, and "
                            "nothing is added to it", LOST, sections.RESIDUAL)
                ]  # fmt: skip
    return []


def _with_first_times(args: Any, options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]] | None:
    """The same call, its first vectors made large; caches are left out."""
    args, options = list(args), dict(options)
    for number, part in enumerate(args):
        if isinstance(part, Tensor) and part.is_floating_point() and part.dim() == 3:
            args[number] = LARGE * part
            return args, {name: value for name, value in options.items() if "past" not in name}
    for name, part in options.items():
        if isinstance(part, Tensor) and part.is_floating_point() and part.dim() == 3:
            options[name] = LARGE * part
            return args, options
    return None


def _tensors(result: Any) -> Iterator[Tensor]:
    yield from (
        part
        for part in (result if isinstance(result, list | tuple) else [result])
        if isinstance(part, Tensor)
    )


def _share(output: Tensor, given: Tensor) -> float:
    return float((output * given).sum() / given.square().sum().clamp_min(1e-300))


def _normed_once(patient: Patient, call: LayerCall, trace: Trace, output: Tensor) -> bool:
    """The first block may norm what all the others add to: what that norm gives must then pass."""
    if next(blocks(patient)).name != call.name:
        return False
    norms = [one for one in trace.calls if copies.is_norm(one.module) and one.outputs]
    several = len(norms) > 1 and norms[0].outputs[0].shape == output.shape
    second = several and any(torch.equal(norms[0].outputs[0], entered) for entered in norms[1].inputs)
    return second and 0.5 < _share(output, norms[0].outputs[0]) < 1.5


def _lost_in(call: LayerCall, trace: Trace, given: Tensor) -> str:
    """Between which norms it got lost."""
    before = ""
    for inner in trace.calls:
        if copies.is_norm(inner.module) and inner.inputs and inner.inputs[0].shape == given.shape:
            share = _share(inner.inputs[0], given)
            if not 0.05 < share < 1.5:
                return f", lost or doubled between {before or 'the start'} and {inner.name}"
            before = inner.name
    return f", lost or doubled behind {before}" if before else ""


# ---- sizes ----


def sizes(patient: Patient) -> Result:
    """`sizes(patient)`: at the start no block should make the stream many times larger or smaller."""
    _, trace = patient.run(patient.slots, patient.plain)
    names = [call.name for call in blocks(patient)]
    found = {v.name: _size(v.outputs[0]) for v in trace.calls if v.name in names and v.outputs}
    patient.report.sizes = found
    if len(found) < 2:
        return "fewer than two blocks", []
    values = list(found.values())
    told = f"from {values[0]:.3g} behind the first block to {values[-1]:.3g} behind the last"
    if not copies.is_untrained(patient.model):
        return told, []
    for (_, size), (name, larger) in zip([*found.items()][:-1], [*found.items()][1:], strict=True):
        if larger > 20 * size or larger < size / 20:
            return told, [
                Finding("stream", name, "at the start it makes the stream "
                        f"{larger / max(size, 1e-30):.3g} times as large",
                        "Many such layers take numbers, or their gradients, out of range.",
                        sections.WEIGHTS)
            ]  # fmt: skip
    return told, []


def _size(tensor: Tensor) -> float:
    return float(tensor.float().square().mean().sqrt())
