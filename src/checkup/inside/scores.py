"""What attention does with its scores: how they are scaled, what the softmax sums over, how sharp it is."""

import math
from collections import defaultdict
from typing import TypeAlias

import torch
from torch import Tensor

from checkup import copies, sections
from checkup.looks import Looks
from checkup.marks import Look
from checkup.patient import Patient
from checkup.report import Finding

Result: TypeAlias = tuple[str, list[Finding]]
# How far a divisor may be from √d_k, as a factor: some models divide by the root of a number near d_k
# that was chosen. No known mistake is that small.
NEAR = 1.25
HIDDEN = -9e3  # a score below has had a number added that hides it: -10000 is usual


def sums(patient: Patient) -> Result:
    """`sums(patient)`: the weights that mix values sum to 1, or to 0 where nothing may be seen."""
    looks = [look for look in patient.looks.found if look.sums is not None and look.complete]
    for look in looks:
        assert look.sums is not None
        total = look.sums
        wrong = ~(((total - 1).abs() < 1e-3) | (total.abs() < 1e-6))
        if not bool(wrong.any()):
            continue
        least, most = float(total.min()), float(total.max())
        seen = f"the weights that mix the values sum to {least:.2f} to {most:.2f}"
        if look.axis != -1 and look.weights.dim() >= 2:
            return "the softmax sums over another axis", [
                Finding("scores", look.where, f"the softmax goes over axis {look.axis}, and {seen}",
                        "It must go over the keys, the last axis: each query shares out 1 among them.",
                        sections.SOFTMAX)
            ]  # fmt: skip
        return "weights do not sum to 1", [
            Finding("scores", look.where, seen, "Something happens to them after the softmax: a mask "
                    "that is multiplied in takes away without giving back.", sections.LATE_MASK)
        ]  # fmt: skip
    return f"{len(looks)} attentions: all weights sum to 1" if looks else "no attention caught", []


def scale(patient: Patient) -> Result:
    """`scale(patient)`: scores of projected queries and keys are divided by √d_k."""
    told = set()
    for look in patient.looks.found:
        if look.factor is None or look.width is None or look.width < 2 or not look.ratio:
            continue
        if not look.projected or look.scores.dim() < 4:
            continue  # one state compared with others, as in Luong's attention, is not divided
        wanted = 1 / math.sqrt(look.width)
        told.add(f"times {look.factor:.3g}, d_k = {look.width}")
        if any(1 / NEAR < look.factor / each < NEAR for each in (wanted, *_configured(patient, look))):
            continue
        # T5 divides nothing, but starts with queries smaller than keys, by that very root.
        if abs(look.factor - 1) < 0.03 and look.ratio < 2 * wanted and look.width > 2:
            continue
        return f"products times {look.factor:.3g}", [
            Finding("scores", look.where, f"products of queries and keys with d_k = {look.width} are "
                    f"multiplied by {look.factor:.3g}, not by 1/√d_k = {wanted:.3g}",
                    "Their spread grows with √d_k: without the divisor the softmax soon takes one key "
                    "alone, and with a larger one it is flat.", sections.SCALE)
        ]  # fmt: skip
    return ", ".join(sorted(told)) or "no scaled products of projections caught", []


def _configured(patient: Patient, look: Look) -> list[float]:
    """What scores are multiplied by as Gemma names it, which its configuration has for each size of model."""
    holders = (patient.exact.get_submodule(look.where), getattr(patient.exact, "config", None))
    numbers = [getattr(holder, "query_pre_attn_scalar", None) for holder in holders]
    return [float(number) ** -0.5 for number in numbers if isinstance(number, int | float) and number > 0]


def sharpness(patient: Patient) -> Result:
    """`sharpness(patient)`: at the start a softmax should not have chosen already, and never be NaN."""
    looks = patient.looked(patient.slots, patient.plain)
    _keep_entropies(patient, looks)
    if not looks.found:
        return "no attention caught", []
    for look in looks.found:
        if bool(look.weights.isnan().any()):
            return "weights are NaN", [
                Finding("numbers", look.where, "a softmax gives NaN",
                        "A query may see no key at all: a softmax over nothing is 0 / 0.",
                        sections.HIDDEN_SCORE)
            ]  # fmt: skip
    for look in looks.found:
        if look.ratio is not None and math.isnan(look.ratio):
            return "queries and keys are 0", [
                Finding("start", look.where, "all queries and all keys are 0",
                        "Each gets its gradient through the other: both at 0 never leave it.",
                        sections.WEIGHTS)
            ]  # fmt: skip
    spreads = {look.where: _spread(look) for look in looks.found}
    where, widest = max(spreads.items(), key=lambda pair: pair[1])
    if copies.is_untrained(patient.model) and widest > 4:
        return f"scores spread by up to {widest:.3g}", [
            Finding("scores", where, f"at the start, scores have a standard deviation of {widest:.3g}",
                    "The softmax takes one key alone before anything was learned, and lets hardly any "
                    "gradient through: no divisor, or weights too large.", sections.LARGE_SCORES)
        ]  # fmt: skip
    return f"scores spread by up to {widest:.3g}", []


def _spread(look: Look) -> float:
    seen = look.scores.float()
    seen = seen.masked_fill(seen < HIDDEN, math.nan)
    centred = seen - seen.nanmean(-1, keepdim=True)
    counted = centred[~centred.isnan()]
    return float(counted.square().mean().sqrt()) if counted.numel() else 0.0


def _keep_entropies(patient: Patient, looks: Looks) -> None:
    for look in looks.found:
        weights = look.weights.float()
        bits = -(weights * weights.clamp_min(1e-30).log2()).sum(-1)  # (…, n)
        heads = bits.movedim(1, 0).flatten(1).mean(1) if bits.dim() == 3 else bits.mean()[None]
        patient.report.entropies.setdefault(look.where, heads.nan_to_num(0).tolist())


def informed(patient: Patient) -> Result:
    """`informed(patient)`: scores depend on the query and on the key, and heads differ."""
    if not patient.looks.found:
        return "no attention caught", []
    grouped: dict[str, list[Look]] = defaultdict(list)
    for look in patient.looks.found:
        # Of (words, experts) it is known only that it shares out something: that is no attention.
        if look.axis == -1 and look.scores.dim() > 2 and look.scores.shape[-1] > 2:
            grouped[look.where].append(look)
    for look in patient.looks.found:
        keys, values = look.keys_shared, look.values_shared
        if not keys or not values or len(keys) != len(values) or keys == values:
            continue
        if 1 < len({*keys}) == len({*values}) < len(keys):  # some share, and as many
            return "heads share keys and values otherwise", [
                Finding("scores", look.where, f"of {len(keys)} heads, those that share keys do not share "
                        "values", "One was repeated head by head, and the other as a whole: of a group "
                        "of heads all must get the same.", sections.HEADS)
            ]  # fmt: skip
    for where, looks in grouped.items():
        scores = _together(looks)
        if scores is None:
            continue
        hidden = scores < HIDDEN
        # In a row all keys may get more: that changes nothing. What tells queries apart is what is left.
        if scores.shape[-2] > 1 and _flat(_centred(scores, hidden, -1), hidden, -2):
            return "the query does not matter", [_uninformed(where, "all queries give the same weights")]
        if _flat(_centred(scores, hidden, -1), hidden, -1):
            return "the key does not matter", [_uninformed(where, "all keys of a query get the same weight")]
        weights = looks[0].weights
        several = weights.dim() == 4 and 1 < weights.shape[1] == scores.shape[1]
        if several and bool((weights - weights[:, :1]).abs().max() < 1e-9):
            return "heads are alike", [
                    Finding("scores", where, f"all {weights.shape[1]} heads have the same weights",
                            "Several heads that look at the same are one head: they are not split.",
                            sections.HEADS)
                ]  # fmt: skip
    return f"in {len(grouped)} attentions queries, keys and heads matter", []


def _together(looks: list[Look]) -> Tensor | None:
    """The scores of one attention; looks of one query each, step by step, as one table."""
    first = looks[0].scores
    if first.shape[-2] > 1 or len(looks) == 1:
        return first if first.shape[-2] > 1 else None
    same = [look.scores for look in looks if look.scores.shape == first.shape]
    return torch.cat(same, dim=-2)


def _centred(scores: Tensor, hidden: Tensor, axis: int) -> Tensor:
    # Only what all queries may see can be compared: the keys hidden from none.
    known = scores.masked_fill(hidden, math.nan)
    return known - known.nanmean(axis, keepdim=True)


def _flat(centred: Tensor, hidden: Tensor, axis: int) -> bool:
    if axis == -2:  # rows have the same mean only where they see the same
        full = ~hidden.any(-1)
        if int(full.flatten(0, -2).sum(-1).max()) < 2:
            # Under a causal mask: compare differences between the first two keys, which most rows see.
            difference = centred[..., 1:, 0] - centred[..., 1:, 1]
            return bool((difference - difference[..., :1]).abs().max() < 1e-8 * _scale(centred))
        blocks = [
            block[kept] for block, kept in zip(centred.flatten(0, -3), full.flatten(0, -2), strict=True)
        ]
        return all(
            bool((block - block[:1]).abs().max() < 1e-8 * _scale(centred))
            for block in blocks
            if len(block) > 1
        )
    return bool(centred.abs().nan_to_num(0).max() < 1e-9)


def _scale(centred: Tensor) -> float:
    return max(float(centred.abs().nan_to_num(0).max()), 1e-12)


def _uninformed(where: str, seen: str) -> Finding:
    return Finding("scores", where, seen, "Attention is then a fixed mean: queries or keys cancel out, "
                   "or get lost.", sections.ALIKE)  # fmt: skip
