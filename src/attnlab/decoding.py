"""Finding a likely row of words, or drawing one, where how likely a word is depends on all before it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import torch
from torch import Tensor, nn

from attnlab import require
from attnlab.attention import Cache
from attnlab.masks import causal, combine
from attnlab.shapes import Mask

# The last word of each row (k,) and its state (k, …), to log-probabilities of the next word (k, words), and
# the next states.
Step: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


@torch.no_grad()
def beam(
    step: Step, state: Tensor, start: int, end: int, width: int, longest: int = 60
) -> tuple[Tensor, Tensor]:
    """`words, total = beam(step, state, start=1, end=2, width=4)` goes on with the 4 likeliest rows.

    The state is of one row, (1, …). What comes back is the likeliest row that was found, (length,) with its
    <end>, and its log-probability. Where none ends within `longest` words, the likeliest is cut there.
    A width of 1 is greedy search, which takes the likeliest word at each step.

    >>> odds = torch.tensor([[0, 0, 0.6, 0.4], [0, 0, 0, 0], [0, 0.4, 0.3, 0.3], [0, 0.9, 0.1, 0]])
    >>> step = lambda words, state: (odds[words].log(), state)
    >>> for width in (1, 2):
    ...     words, total = beam(step, torch.zeros(1, 1), start=0, end=1, width=width)
    ...     print(words.tolist(), round(total.exp().item(), 2))
    [2, 1] 0.24
    [3, 1] 0.36
    """
    require.at_least(1, width=width, longest=longest)
    rows = torch.full((1, 1), start, device=state.device)
    totals = torch.zeros(1, device=state.device)
    best, best_total = rows[0], torch.tensor(-torch.inf, device=state.device)
    for _ in range(longest):
        logs, state = step(rows[:, -1], state)  # (k, words)
        sums = totals[:, None] + logs
        totals, places = sums.flatten().topk(min(width, sums.numel()))
        before, words = places // logs.shape[-1], places % logs.shape[-1]
        rows, state = torch.cat([rows[before], words[:, None]], dim=-1), state[before]
        ended = words == end
        if ended.any() and totals[ended][0] > best_total:  # the likeliest comes first
            best, best_total = rows[ended][0], totals[ended][0]
        # A row only becomes less likely: what is behind the best already stays there.
        going_on = ~ended & (totals > best_total)
        if not going_on.any():
            break
        rows, totals, state = rows[going_on], totals[going_on], state[going_on]
    else:
        if best_total == -torch.inf:
            best, best_total = rows[0], totals[0]
    return best[1:], best_total


def writable(logits: Tensor, never: Sequence[int]) -> Tensor:
    """`writable(logits, never=[0, 1])` are the logits (…, words) to write by: words 0 and 1 have no chance.

    A model gives filler and <start> a little. Where its chances are shown they stay its own, but neither is
    to be met in what it writes.

    >>> writable(torch.tensor([9.0, 1.0, 1.0]), never=[0]).softmax(-1)
    tensor([0.0000, 0.5000, 0.5000])
    """
    return logits.index_fill(-1, torch.tensor(never, device=logits.device), -torch.inf)


def chances(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Tensor:
    """`chances(logits, temperature=0.8, top_p=0.9)` is what one draws the next word from, (…, words).

    Of the chances at that temperature there stay: the k likeliest; the fewest likeliest that come to top_p
    together; those that have at least min_p of the likeliest one's. What stays is made to come to 1.

    >>> odds = torch.tensor([0.5, 0.3, 0.15, 0.05])
    >>> [round(share, 3) for share in chances(odds.log(), top_p=0.7).tolist()]
    [0.625, 0.375, 0.0, 0.0]
    """
    require.above_zero(temperature=temperature)
    shares = (logits / temperature).softmax(-1)
    ordered, places = shares.sort(dim=-1, descending=True)
    stays = torch.ones_like(ordered, dtype=torch.bool)
    if top_k is not None:
        require.at_least(1, top_k=top_k)
        stays[..., top_k:] = False
    if top_p is not None:
        require.above_zero(top_p=top_p)
        stays &= ordered.cumsum(-1) - ordered < top_p  # what comes before it has not yet been enough
    if min_p is not None:
        stays &= ordered >= min_p * ordered[..., :1]
    left = torch.zeros_like(shares).scatter(-1, places, ordered * stays)
    return left / left.sum(-1, keepdim=True)


@torch.no_grad()
def written(
    model: nn.Module,
    ids: Tensor,
    count: int,
    source: torch.Generator,
    context: int,
    choose: Callable[[Tensor], Tensor] = chances,
) -> Tensor:
    """`written(model, ids, 50, generator(0), model.context)` goes on with rows of ids (B, T) by 50 more.

    The model sees as many of the last as its context holds. choose makes of logits (B, words) the chances to
    draw from.
    """
    require.at_least(1, count=count, context=context)
    for _ in range(count):
        logits = model(ids[:, -context:])[:, -1]  # (B, words)
        drawn = torch.multinomial(choose(logits).cpu(), 1, generator=source)
        ids = torch.cat([ids, drawn.to(ids.device)], dim=1)
    return ids


# ---- faster ----


def left_padded(rows: Sequence[Sequence[int]], filler: int) -> tuple[Tensor, Mask, Tensor]:
    """`ids, visible, places = left_padded([[5, 6, 7], [8]], filler=0)` is a batch whose rows end together.

    >>> ids, visible, places = left_padded([[5, 6, 7], [8]], filler=0)
    >>> ids.tolist(), places.tolist()
    ([[5, 6, 7], [0, 0, 8]], [[0, 1, 2], [0, 0, 0]])
    >>> visible.int().tolist()
    [[[1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]]

    visible (B, T, T) is causal and hides the filler from the text; the filler sees itself alone: a
    softmax over nothing is NaN in much code. places (B, T) count from 0 where each text starts.
    """
    require.rows_of_ids(rows)
    require.at_least(0, filler=filler)
    longest = max(map(len, rows))
    fillers = [longest - len(row) for row in rows]
    ids = torch.tensor([[filler] * many + [*row] for many, row in zip(fillers, rows, strict=True)])
    places = torch.arange(longest) - torch.tensor(fillers)[:, None]  # (B, T), below 0 for the filler
    visible = combine(causal(longest), places[:, None] >= 0)  # (B, T, T)
    return ids, visible | torch.eye(longest, dtype=torch.bool), places.clamp(min=0)


class Reader(Protocol):
    """A model that puts what it has read into caches, one for each block, as `today.model.Today` does."""

    blocks: nn.ModuleList
    longest: int

    def __call__(self, ids: Tensor, caches: list[Cache]) -> Tensor:
        """`model(ids, caches)` are logits (B, T, words), of ids (B, T) behind those in the caches."""


class _Reading:
    """`_Reading(model, choose).behind(ids, 3)` are chances (3, words), behind each of the last 3 ids."""

    def __init__(self, model: Reader, choose: Callable[[Tensor], Tensor]) -> None:
        self.model, self.choose = model, choose
        self.caches = [Cache() for _ in model.blocks]

    def behind(self, ids: Tensor, last: int) -> Tensor:
        logits = self.model(ids[:, self.caches[0].length :], self.caches)  # of what is new
        return self.choose(logits[0, -last:]).cpu()

    def cut(self, length: int) -> None:
        for cache in self.caches:
            cache.cut(min(length, cache.length))


class Speculated(NamedTuple):
    """`text, kept = speculated(…)`: ids (1, T + count), and of each reading how many guesses were kept."""

    ids: Tensor
    kept: list[int]


@torch.no_grad()
def speculated(
    model: Reader,
    helper: Reader,
    ids: Tensor,
    count: int,
    source: torch.Generator,
    guesses: int = 4,
    choose: Callable[[Tensor], Tensor] = chances,
) -> Speculated:
    """`speculated(model, helper, ids, 50, generator(0))` goes on with ids (1, T) by 50 more.

    They are drawn from the model's own chances, as `written` draws them. But the helper guesses some at a
    time, and the model reads them at once. A guess is kept with chance min(1, p / q), where the model gave it
    p and the helper q; the first that is refused is drawn anew from what is left of p where q is taken away.
    """
    require.one_row(ids)
    require.at_least(1, guesses=guesses)
    require.room(count, ids, min(model.longest, helper.longest))
    large, small, kept = _Reading(model, choose), _Reading(helper, choose), list[int]()
    end = ids.shape[1] + count
    while ids.shape[1] < end:
        text, q = ids, list[Tensor]()
        for _ in range(min(guesses, end - ids.shape[1] - 1)):  # the reading itself adds one
            q.append(small.behind(text, 1)[0])  # (words,)
            text = torch.cat([text, _drawn(q[-1], source, ids.device)], dim=1)
        p = large.behind(text, len(q) + 1)  # (guesses + 1, words)
        agreed = _agreed(p, q, text[0, ids.shape[1] :].tolist(), source)
        left = p[agreed]
        if agreed < len(q) and (left - q[agreed]).max() > 0:  # else only rounding told the two apart
            left = (left - q[agreed]).clamp(min=0)
        ids = torch.cat([text[:, : ids.shape[1] + agreed], _drawn(left, source, ids.device)], dim=1)
        kept.append(agreed)
        for reading in (large, small):
            reading.cut(ids.shape[1] - 1)  # as if what was refused had never been read
    return Speculated(ids, kept)


def _agreed(p: Tensor, q: Sequence[Tensor], guessed: Sequence[int], source: torch.Generator) -> int:
    """How many guesses are kept until one is refused."""
    for place, (large, small, guess) in enumerate(zip(p, q, guessed, strict=False)):
        require.same_shape("helper must give chances", small, large.shape)
        if torch.rand((), generator=source) * small[guess] >= large[guess]:
            return place
    return len(q)


def _drawn(shares: Tensor, source: torch.Generator, device: torch.device) -> Tensor:
    return torch.multinomial(shares, 1, generator=source)[None].to(device)  # (1, 1)
