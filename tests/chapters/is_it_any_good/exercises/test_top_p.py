"""The exercise `top_p`, tried as readers would."""

import torch
from exercise_cases import judged_as, named
from torch.nn import functional as F

from attnlab.decoding import chances
from chapters.is_it_any_good.exercises import check_top_p


def by_the_library(logits, temperature, p):
    return chances(logits, temperature, top_p=p)


def row_by_row(logits, temperature, p):
    out = torch.zeros_like(logits)
    for row, into in zip((logits / temperature).softmax(-1), out, strict=True):
        total = 0.0
        for place in row.argsort(descending=True).tolist():
            if total >= p:
                break
            into[place] = row[place]
            total += float(row[place])
        into /= into.sum()
    return out


def by_masked_logits(logits, temperature, p):
    logits = logits / temperature
    ordered, places = logits.softmax(-1).sort(dim=-1, descending=True)
    goes = ordered.cumsum(-1) - ordered >= p
    goes = torch.zeros_like(goes).scatter(-1, places, goes)
    return logits.masked_fill(goes, -torch.inf).softmax(-1)


def kept_by(stays, *, descending=True, back=True, scale=True, heat=lambda logits, t: logits / t):
    """A reader's function, in which one step may be another."""

    def code(logits, temperature, p):
        shares = heat(logits, temperature).softmax(-1)
        ordered, places = torch.sort(shares, dim=-1, descending=descending)
        kept = torch.where(stays(ordered, p), ordered, torch.zeros_like(ordered))
        if scale:
            kept = kept / kept.sum(-1, keepdim=True)
        return torch.zeros_like(shares).scatter(-1, places, kept) if back else kept

    return code


def enough(ordered, p):
    return ordered.cumsum(-1) - ordered < p


def fitting(ordered, p):
    kept = ordered.cumsum(-1) <= p
    kept[:, 0] = True
    return kept


def cut_then_heated(logits, temperature, p):
    kept = by_masked_logits(logits, 1.0, p) > 0
    return torch.where(kept, logits / temperature, torch.tensor(-torch.inf).to(logits)).softmax(-1)


def by_a_shifted_mask(logits, temperature, p):
    """As one finds it in many places, and without its last line: the first place is never set."""
    logits = logits / temperature
    ordered, places = torch.sort(logits, descending=True)
    goes = ordered.softmax(-1).cumsum(-1) > p
    goes[:, 1:] = goes[:, :-1].clone()
    return logits.masked_fill(goes.scatter(1, places, goes), -torch.inf).softmax(-1)


def normed(shares, kept):
    return shares * kept / (shares * kept).sum(-1, keepdim=True)


def by_topk(k):
    def code(logits, temperature, p):
        values, places = (logits / temperature).topk(k)
        return torch.zeros_like(logits).scatter(-1, places, values.softmax(-1))

    return code


def from_below(logits, temperature, p):
    """As `transformers` does: what comes to 1 - p, added up from the least likely, goes."""
    logits = logits / temperature
    ordered, places = torch.sort(logits)
    goes = ordered.softmax(-1).cumsum(-1) <= 1 - p
    goes[:, -1] = False
    return logits.masked_fill(goes.scatter(1, places, goes), -torch.inf).softmax(-1)


RIGHT = {check_top_p: named(row_by_row, by_masked_logits, from_below, kept_by(enough))}
NAMED = {
    check_top_p: {
        "the piece that makes it enough left out": kept_by(fitting),
        "none where the first is enough": kept_by(lambda ordered, p: ordered.cumsum(-1) <= p),
        "all above p": kept_by(lambda ordered, p: ordered >= p),
        "min-p": kept_by(lambda ordered, p: ordered >= p * ordered.amax(-1, keepdim=True)),
        "the first row's cut for all": kept_by(
            lambda ordered, p: enough(ordered, p)[0].expand(ordered.shape)
        ),
        "temperature multiplied": kept_by(enough, heat=lambda logits, t: logits * t),
        "no temperature": kept_by(enough, heat=lambda logits, t: logits),
        "softmax twice": kept_by(enough, heat=lambda logits, t: (logits / t).softmax(-1)),
        "not scaled": kept_by(enough, scale=False),
        "left in order": kept_by(enough, back=False),
        "from the least likely up": kept_by(enough, descending=False),
        "temperature after the cut": cut_then_heated,
        "logits filled with zero": lambda logits, t, p: (
            (logits / t).masked_fill(by_masked_logits(logits, t, p) == 0, 0.0).softmax(-1)
        ),
        "divided by p": lambda logits, t, p: kept_by(enough, scale=False)(logits, t, p) / p,
        "what goes is kept": kept_by(lambda ordered, p: ~enough(ordered, p)),
        "the first not spared": by_a_shifted_mask,
        "the likeliest alone": lambda logits, t, p: F.one_hot(logits.argmax(-1), 5).to(logits.dtype),
        "top-k, the two likeliest": by_topk(2),
        "top-k, the three likeliest": by_topk(3),
        "the share of the vocabulary, rounded down": lambda logits, t, p: by_topk(
            max(1, int(p * logits.shape[-1]))
        )(logits, t, p),
        "added up as they stand": lambda logits, t, p: normed(
            (logits / t).softmax(-1), enough((logits / t).softmax(-1), p)
        ),
        "the mask left in order": lambda logits, t, p: normed(
            (logits / t).softmax(-1),
            enough((logits / t).softmax(-1).sort(-1, descending=True).values, p),
        ),
        "softmax of what stays": lambda *inputs: by_masked_logits(*inputs).softmax(-1),
        "logits come back": lambda logits, t, p: (logits / t).where(
            by_masked_logits(logits, t, p) > 0, -torch.inf
        ),
    }
}
UNKNOWN = {
    check_top_p: {
        "zeros": lambda logits, t, p: torch.zeros_like(logits),
        "logits": lambda logits, t, p: logits,
        "one row": lambda logits, t, p: by_masked_logits(logits, t, p)[0],
        "a list": lambda logits, t, p: by_masked_logits(logits, t, p).tolist(),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_whoever_calls_what_is_there_already_is_told():
    report = check_top_p.judge(by_the_library)
    assert not report.passed
    assert "✗ is written without what is there already" in str(report)
