"""What a GPT has to beat: counted n-grams with Kneser and Ney's smoothing, a packer of files, an LSTM."""

import lzma
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from attnlab import require

Numbers: TypeAlias = npt.NDArray[np.int64]
Shares: TypeAlias = npt.NDArray[np.float64]
BITS = 11  # an id below 2048; five of them fit into one number of 64 bits


class Order(NamedTuple):
    """`order.shares[place]` belongs to `order.grams[place]`: what was counted of all grams of one length.

    A gram is one number, and all are sorted.
    """

    grams: Numbers
    shares: Shares  # what each gram's last id gets behind the others, less the discount
    befores: Numbers  # the grams without their last id
    left_over: Shares  # what the discount leaves behind each, for the shorter gram to share out


class KneserNey:
    """`KneserNey(row, order=5)` predicts an id from the four before it, by counting: nothing is trained.

    A shorter gram counts in how many places it stood behind *another* id, not how often it stood there
    (Kneser and Ney, 1995). Three discounts, for grams seen once, twice and more often, come from the counts
    themselves (Chen and Goodman, 1999).
    """

    def __init__(self, row: Tensor, order: int) -> None:
        require.at_least(1, order=order)
        if order > 63 // BITS or order > len(row):
            most = min(63 // BITS, len(row))
            raise ValueError(f"order must be at most {most}, of a row of {len(row)} ids, got {order}")
        require.ids(row[None], 1 << BITS, len(row))
        ids = row.numpy()
        grams, counts = np.unique(packed(ids, order), return_counts=True)
        self.orders = [smoothed(grams, counts)]
        for length in range(order - 1, 0, -1):
            # Every longer gram once: its end has been seen behind one more id.
            grams, counts = np.unique(grams & ((1 << BITS * length) - 1), return_counts=True)
            self.orders.insert(0, smoothed(grams, counts))

    def chances(self, row: Tensor, vocabulary: int) -> Shares:
        """`model.chances(row, 1024)` is what each id of the row gets, from those before it."""
        require.ids(row[None], min(vocabulary, 1 << BITS), len(row))
        ids = row.numpy()
        chances = np.full(len(ids), 1 / vocabulary)
        for length, order in enumerate(self.orders, start=1):
            grams = packed(ids, length)
            seen, place = found(order.grams, grams)
            known, before = found(order.befores, grams >> BITS)
            shorter = chances[length - 1 :]
            longer = np.where(seen, order.shares[place], 0) + order.left_over[before] * shorter
            chances[length - 1 :] = np.where(known, longer, shorter)
        return chances

    def behind(self, before: Numbers, vocabulary: int) -> Shares:
        """`model.behind(ids, 2048)` are the chances of all ids behind these, (2048,)."""
        chances = np.full(vocabulary, 1 / vocabulary)
        for length, order in enumerate(self.orders, start=1):
            if length > len(before) + 1:
                break
            last = packed(before[len(before) - length + 1 :], length - 1) if length > 1 else np.array([0])
            known, place = found(order.befores, last)
            if not known[0]:
                break
            chances *= order.left_over[place[0]]
            first, end = np.searchsorted(order.grams, [last[0] << BITS, (last[0] + 1) << BITS])
            chances[order.grams[first:end] & ((1 << BITS) - 1)] += order.shares[first:end]
        return chances


def packed(ids: Numbers, length: int) -> Numbers:
    """`packed(ids, length=3)` has one number for each run of three ids."""
    runs = np.zeros(max(0, len(ids) - length + 1), dtype=np.int64)
    for place in range(length):
        runs = runs << BITS | ids[place : place + len(runs)]
    return runs


def smoothed(grams: Numbers, counts: Numbers) -> Order:
    """`smoothed(grams, counts)` takes a discount from each count, and keeps what that leaves over."""
    befores, starts = np.unique(grams >> BITS, return_index=True)
    totals = np.add.reduceat(counts, starts)
    once, twice, thrice, four = (int((counts == times).sum()) for times in (1, 2, 3, 4))
    share = once / max(1, once + 2 * twice)
    estimated = [1 - 2 * share * twice / max(1, once), 2 - 3 * share * thrice / max(1, twice)]
    estimated.append(3 - 4 * share * four / max(1, thrice))
    discounts = np.clip([0, *estimated], 0, [0, 1, 2, 3])[np.minimum(counts, 3)]
    behind = np.repeat(totals, np.diff([*starts, len(grams)]))
    return Order(grams, (counts - discounts) / behind, befores, np.add.reduceat(discounts, starts) / totals)


def found(table: Numbers, asked: Numbers) -> tuple[npt.NDArray[np.bool_], Numbers]:
    """`seen, place = found(table, asked)` looks numbers up in a sorted table."""
    place = np.searchsorted(table, asked).clip(max=len(table) - 1)
    return table[place] == asked, place


def packed_bits(before: str, text: str) -> float:
    """`packed_bits(training, validation)` is what `xz -9e` needs more for the text, in bits a byte of it."""
    require.some_text(text)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
    alone, both = (len(lzma.compress(each.encode(), filters=filters)) for each in (before, before + text))
    return 8 * (both - alone) / len(text.encode())


class Recurrent(nn.Module):
    """`Recurrent(1024, width=178)(ids)` are logits like a GPT's, from an LSTM with one table at both ends."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.pieces = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        # The best of five after 1,000 updates. What an LSTM puts out lies between -1 and 1: the table alone
        # can make large logits of it.
        nn.init.normal_(self.pieces.weight, std=0.24)

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` are logits (B, T, vocabulary) of ids (B, T)."""
        return nn.functional.linear(self.lstm(self.pieces(ids))[0], self.pieces.weight)


SHARES = (0.05, 0.1, 0.2)  # of the memory: any id that was there, what followed one id, what followed two


def from_memory(row: Tensor, counted: Shares, length: int = 128) -> Shares:
    """`from_memory(row, chances)` mixes into counted chances what the last 128 ids say.

    A share goes to the ids that stand there, a share to those that followed the same id there, a share to
    those that followed the same two. What was never there leaves its share to the counting.
    """
    ids = row.numpy()
    mixed = np.array(counted)
    any_id, after_one, after_two = SHARES
    for place in range(1, len(ids)):
        before, asked = ids[max(0, place - length) : place], ids[place]
        like_last = before[:-1] == before[-1]
        one = _share(before[1:] == asked, like_last, counted[place])
        two = one
        if len(before) > 2:
            two = _share(before[2:] == asked, like_last[1:] & (before[:-2] == before[-2]), one)
        told = any_id * (before == asked).mean() + after_one * one + after_two * two
        mixed[place] = (1 - sum(SHARES)) * counted[place] + told
    return mixed


def _share(followed: npt.NDArray[np.bool_], where: npt.NDArray[np.bool_], otherwise: float) -> float:
    times = where.sum()
    return float((followed & where).sum() / times) if times else float(otherwise)
