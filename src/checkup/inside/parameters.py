"""What learns, and what only seems to: unseen weights, weights without a gradient, weights of two layers."""

import math
from collections import defaultdict
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from checkup import copies, sections
from checkup.patient import Patient
from checkup.report import Finding

Result: TypeAlias = tuple[str, list[Finding]]


def unseen(patient: Patient) -> Result:
    """`unseen(patient)`: what learns must be in `model.parameters()`: no modules in a plain list or dict."""
    known = {id(weight) for weight in patient.model.parameters()}
    modules = {id(module) for module in patient.model.modules()}
    findings, plain = [], 0
    for name, thing in copies.plain_things(patient.model):
        if isinstance(thing, nn.Module):
            if id(thing) not in modules and any(id(weight) not in known for weight in thing.parameters()):
                findings.append(
                    _unseen(name, f"it is a {type(thing).__name__} with weights in a plain attribute")
                )
        elif id(thing) not in known:
            plain += 1
            if (thing.requires_grad and thing.is_leaf) or isinstance(thing, nn.Parameter):
                findings.append(_unseen(name, "it requires a gradient, and is in no list of parameters"))
            elif not thing.is_leaf:
                findings.append(
                    _unseen(name, "it was computed from weights when the model was made, once for all")
                )
    for name, thing in patient.model.named_buffers():
        if thing.requires_grad:
            findings.append(_unseen(name, "it is a buffer that requires a gradient"))
    return f"{len(known)} parameters, {plain} plain tensors", findings[:3]


def _unseen(name: str, seen: str) -> Finding:
    return Finding("parameters", name, seen, "The optimizer does not change it, no file has it, and "
                   ".to() leaves it behind.", sections.HELD)  # fmt: skip


def left_behind(patient: Patient) -> Result:
    """`left_behind(patient)`: a plain tensor that meets others does not move with the model."""
    met = patient.looks.met
    held = dict(copies.plain_things(patient.exact))
    name = next((one for one in met if _matters(patient, held.get(one))), None)
    if name is None:
        return "no plain tensor meets what moves", []
    where = met[name]
    return "a plain tensor meets what moves", [
        Finding("parameters", where or name, f"{name} is a plain tensor, and is used as it is",
                "On another device the model fails here: register it as a buffer.", sections.MOVED)
    ]  # fmt: skip


def _matters(patient: Patient, tensor: Tensor | None) -> bool:
    """Whether logits hang on it: what is kept for looking is written anew before anybody reads it."""
    if tensor is None:
        return False
    before = tensor.detach().clone()
    with torch.no_grad():
        try:
            tensor.fill_(math.nan) if tensor.is_floating_point() else tensor.copy_(tensor == 0)
            return not torch.equal(patient.run(patient.slots)[0], patient.base[0])
        except (RuntimeError, ValueError, TypeError, IndexError):
            return True
        finally:
            tensor.copy_(before)


def shared(patient: Patient) -> Result:
    """`shared(patient)`: no layer stands twice, and no two matrices are one, but for tables of words."""
    names: dict[int, list[str]] = defaultdict(list)
    objects: dict[int, Any] = {}
    for name, module in patient.model.named_modules(remove_duplicate=False):
        if list(module.parameters()) and not _has_table(patient, module):
            names[id(module)].append(name)
            objects[id(module)] = module
    twice = [found for found in names.values() if len(found) > 1]
    weights: dict[int, list[str]] = defaultdict(list)
    for name, weight in patient.model.named_parameters(remove_duplicate=False):
        if weight.dim() > 1 and weight.shape[0] not in vocabularies(patient):
            weights[id(weight)].append(name)
    twice = twice or [found for found in weights.values() if len(found) > 1]
    if not twice:
        return "no layer stands in two places", []
    first = min(twice, key=lambda found: found[0].count("."))
    return f"{len(twice)} stand in two places", [
        Finding("parameters", first[0], f"{' and '.join(first[:4])} are one and the same",
                "A list made by multiplication holds one layer many times: they all learn the same.",
                sections.CHANGED)
    ]  # fmt: skip


def _has_table(patient: Patient, module: nn.Module) -> bool:
    """A table of words, or what holds one, is shared by intention."""
    sizes = vocabularies(patient)
    own = [weight for weight in module.parameters(recurse=False) if weight.dim() > 1]
    return isinstance(module, nn.Embedding) or any(weight.shape[0] in sizes for weight in own)


def vocabularies(patient: Patient) -> set[int]:
    """`vocabularies(patient)` are the lengths of tables of words: those may be shared."""
    tables = {part.num_embeddings for part in patient.model.modules() if isinstance(part, nn.Embedding)}
    return tables | {patient.classes}


def saved(patient: Patient) -> Result:
    """`saved(patient)`: a copy with other weights, given the state_dict, must say the same."""
    base, _ = patient.base
    other = copies.shaken(copies.copied(patient.exact), torch.Generator().manual_seed(9))
    try:
        other.load_state_dict(patient.exact.state_dict())
    except (RuntimeError, KeyError) as error:
        return "an error", [
            Finding("parameters", "", f"load_state_dict(state_dict()) raises {type(error).__name__}: "
                    f"{(str(error).splitlines() or [''])[0][:120]}", "The model can't be loaded again.",
                    sections.SAVED)
        ]  # fmt: skip
    logits, _ = patient.run(patient.slots, other)
    if logits.shape == base.shape and bool((logits - base).abs().max() > 1e-6 * base.abs().max()):
        return "another model", [
            Finding("parameters", "", "loaded from its own state_dict, it says something else",
                    "Something that matters is not in the file.", sections.SAVED)
        ]  # fmt: skip
    return f"{len(patient.exact.state_dict())} tensors saved and loaded: it says the same", []


def drawn(patient: Patient) -> Result:
    """`drawn(patient)`: at the start no two layers, and no two rows of a matrix, may be alike.

    Only of weights that are multiplied with vectors: others, as a table of rates, may have equal rows.
    """
    findings: list[Finding] = []
    multiplied = {
        name for name, weight in patient.exact.named_parameters() if id(weight) in patient.looks.multiplied
    }
    cloned = _cloned(patient.model)
    by_size: dict[tuple[int, ...], list[tuple[str, Tensor]]] = defaultdict(list)
    for name, weight in patient.model.named_parameters():
        if weight.dim() != 2 or not weight.is_floating_point() or min(weight.shape) < 2:
            continue
        if name not in multiplied:
            continue
        kept = weight.detach()
        if bool(kept.any()) and bool((kept == kept[:1]).all()) and len(kept) > 2:
            findings.append(
                Finding("start", name.rpartition(".")[0], f"all {len(kept)} rows of {name} are equal",
                        "What starts alike and gets the same gradient stays alike.", sections.WEIGHTS)
            )  # fmt: skip
        for other, twin in by_size[tuple(kept.shape)]:
            if (
                bool(kept.any())
                and torch.equal(kept, twin)
                and not name.startswith(cloned)
                and not _is_one(kept)
            ):
                findings.append(
                    Finding("start", name.rpartition(".")[0], f"{name} starts equal to {other}",
                            "Copies of one layer start from one point.", sections.WEIGHTS)
                )  # fmt: skip
        by_size[tuple(kept.shape)].append((name, kept))
    findings = findings or _tied_by_copy(patient, multiplied)
    return f"{sum(map(len, by_size.values()))} matrices compared", findings[:1]


def _tied_by_copy(patient: Patient, multiplied: set[str]) -> list[Finding]:
    """A last matrix that is equal to a table of ids now, and will not be after a step."""
    known: list[tuple[str, Tensor]] = []
    picked = {
        name for name, weight in patient.exact.named_parameters() if id(weight) in patient.looks.looked_up
    }
    for name, weight in sorted(patient.model.named_parameters(), key=lambda pair: pair[0] not in picked):
        if weight.dim() != 2 or min(weight.shape) < 2 or not {name} & (picked | multiplied):
            continue
        rows = weight.detach()
        twin = next((other for other, table in known if torch.equal(table, rows)), None)
        if twin is not None and name in multiplied and bool((rows != rows[0]).any()):
            return [
                Finding("start", name.rpartition(".")[0], f"{name} is equal to {twin}, and not the same",
                        "They were tied by a copy, and part at the first step: give both layers one "
                        "parameter.", sections.CHANGED, "doubtful")
            ]  # fmt: skip
        known += [(name, rows)] if name in picked else []
    return []


def _is_one(weight: Tensor) -> bool:
    return weight.shape[0] == weight.shape[1] and math.isclose(
        float(weight.trace()), len(weight), rel_tol=1e-6
    )


def _cloned(model: nn.Module) -> tuple[str, ...]:
    """PyTorch's own stacks copy the layer they are given: they are known to start alike."""
    stacks = nn.TransformerEncoder | nn.TransformerDecoder
    return tuple(
        f"{name}.".lstrip(".") for name, module in model.named_modules() if isinstance(module, stacks)
    )
