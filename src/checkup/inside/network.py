"""The feed-forward network, layer norms and activations: does anything bend, and is anything alive?"""

from typing import TypeAlias

import torch
from torch import Tensor, nn

from checkup import copies, sections
from checkup.patient import Patient
from checkup.report import Finding, Inquiry
from checkup.trace import LayerCall

Result: TypeAlias = tuple[str, list[Finding]]
SHUT = 1e-4  # of what a gate is given


def matrices(model: nn.Module) -> dict[str, nn.Module]:
    """`matrices(model)` are its layers of one matrix, by name: nn.Linear, and GPT-2's Conv1D."""
    return {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"
    }


def bends(patient: Patient) -> Result:
    """`bends(patient)`: between a matrix that widens and one that narrows, something must bend."""
    names = matrices(patient.exact)
    given: list[tuple[str, LayerCall]] = [
        (v.name, v) for v in patient.base[1].calls if v.name in names and v.inputs
    ]
    pairs = 0
    for number, (name, call) in enumerate(given[1:], 1):
        entered = call.inputs[0]
        for earlier, before in given[max(0, number - 3) : number]:
            left = before.outputs[0]
            wide = left.shape[-1] > before.inputs[0].shape[-1] and call.outputs[0].shape[-1] < left.shape[-1]
            head = call is given[-1][1] and all(_has_bias(names[each]) for each in (name, earlier))
            pairs += wide
            if (wide or head) and left.shape == entered.shape and torch.equal(left, entered):
                return "two matrices follow each other", [
                    Finding("network", earlier.rpartition(".")[0], f"what {earlier} gives goes into "
                            f"{name} as it is", "Two matrices with nothing between are one: the "
                            "activation is missing.", sections.NETWORK)
                ]  # fmt: skip
    bilinear = _bilinear(patient)
    return f"{pairs} matrices that narrow looked at", bilinear


def _has_bias(module: nn.Module) -> bool:
    return getattr(module, "bias", None) is not None


def _bilinear(patient: Patient) -> list[Finding]:
    """A gate that does not bend: f(2x) = 4 f(x) and f(-x) = f(x)."""
    for name, call in networks(patient):
        entered = call.inputs[0]
        with torch.no_grad(), patient.precision():
            once, twice, minus = (called(call.module, part) for part in (entered, 2 * entered, -entered))
        if once is None or twice is None or minus is None or not bool(once.abs().max() > 0):
            continue
        if _alike(twice, 4 * once) and _alike(minus, once):
            return [
                Finding("network", name, "twice the input gives four times the output, and its opposite "
                        "the same", "Two matrices are multiplied, and neither goes through an "
                        "activation.", sections.NETWORK)
            ]  # fmt: skip
    return []


def networks(patient: Patient) -> list[tuple[str, LayerCall]]:
    """`networks(patient)` are layers of several matrices in which each place is by itself."""
    found = []
    for call in patient.base[1].calls:
        parts = [name for name in matrices(call.module) if name]
        if len(parts) < 2 or len(call.inputs) != 1 or len(call.outputs) != 1:
            continue
        one, other = call.inputs[0], call.outputs[0]
        if (
            one.dim() == 3
            and one.shape == other.shape
            and not any(map(copies.is_norm, call.module.modules()))
            and not any(look.where.startswith(call.name) for look in patient.looks.found)
        ):
            found.append((call.name, call))
    return found


def called(module: nn.Module, given: Tensor) -> Tensor | None:
    """`called(module, given)` is what it gives, or None where it can't be called like that."""
    try:
        result = module(given)
    except (RuntimeError, TypeError, ValueError, AttributeError):
        return None
    return result if isinstance(result, Tensor) else None


def _alike(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).abs().max() <= 1e-6 * (one.abs().max() + 1e-30))


def alive(patient: Patient) -> Result:
    """`alive(patient)`: no layer may give only zeros, nor only what is not below 0, where it is added."""
    looks = patient.looked(patient.slots, patient.plain)
    trace = looks.trace
    width = _stream_width(trace.calls)
    dead, looked = [], 0
    for where, largest in looks.gates:
        if largest < SHUT:
            dead.append(Finding("network", where, f"a sigmoid gives at most {largest:.2g}",
                                "A gate is shut: nothing gets through here, and hardly any gradient "
                                "back.", sections.WEIGHTS))  # fmt: skip
    for call in trace.calls:
        for output in call.outputs[:1]:
            if output.dim() != 3 or call.name == "":
                continue
            looked += 1
            if not bool(output.any()) and any(bool(entered.any()) for entered in call.inputs):
                if not _starts_at_zero(call.module):
                    own = [*call.module.parameters(recurse=False)]
                    line: Inquiry = (
                        "start" if own and not any(bool(weight.any()) for weight in own) else "network"
                    )
                    dead.append(Finding(line, call.name, "it gives only zeros",
                                        "Nothing gets through here, and no gradient back.",
                                        sections.WEIGHTS))  # fmt: skip
            elif bool(output.any()) and output.shape[-1] == width and call.inputs:
                positive = bool((output >= 0).all())
                if positive and _adds(call.module):
                    dead.append(Finding("network", call.name, "what it adds is never below 0",
                                        "An activation stands behind the last matrix: nothing can be "
                                        "taken away again.", sections.NETWORK))  # fmt: skip
            if _is_activation(call.module):
                silent = float((output == 0).flatten(0, -2).all(0).float().mean())
                if silent > 0.9:
                    dead.append(Finding("network", call.name, f"{silent:.0%} of its units are 0 at all "
                                        "places", "What is never above 0 never learns again.",
                                        sections.WEIGHTS))  # fmt: skip
    return f"{looked} outputs looked at", dead[:1]


def _stream_width(calls: list[LayerCall]) -> int:
    widths = [v.outputs[0].shape[-1] for v in calls if copies.is_norm(v.module) and v.outputs]
    return max(set(widths), key=widths.count) if widths else 0


def _adds(module: nn.Module) -> bool:
    return len(matrices(module)) >= 2 or bool(list(module.parameters(recurse=False)))


def _is_activation(module: nn.Module) -> bool:
    return not [*module.children(), *module.parameters()] and "drop" not in type(module).__name__.lower()


def _starts_at_zero(module: nn.Module) -> bool:
    """Matrices that write to the stream may start at zero: that is meant."""
    weights = [weight for weight in module.parameters() if weight.dim() > 1]
    return any(not bool(weight.any()) for weight in weights) or isinstance(module, nn.Dropout | nn.Identity)
