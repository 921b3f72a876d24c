"""A training on one long row of ids, crop by crop, that can stop anywhere and go on to the same numbers."""

import copy
import math
import time
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab import require
from attnlab.training.progress import progress_bar


def crops(row: Tensor, rows: int, length: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """`ids, targets = crops(row, 16, 128, generator(0))` are cut anywhere: a target is the id that follows.

    >>> ids, targets = crops(torch.arange(100), 2, 3, torch.Generator().manual_seed(0))
    >>> (targets - ids).tolist()
    [[1, 1, 1], [1, 1, 1]]
    """
    require.crop(length, row)
    starts = torch.randint(len(row) - length, (rows, 1), generator=source)
    cut = row[starts + torch.arange(length + 1)]  # (rows, length + 1)
    return cut[:, :-1], cut[:, 1:]


def groups(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    """`AdamW(groups(model, decay=0.1), lr=3e-3)` pulls matrices towards zero, and spares biases and norms."""
    matrices = [weight for weight in model.parameters() if weight.dim() > 1]
    others = [weight for weight in model.parameters() if weight.dim() <= 1]
    return [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def share_of_rate(update: int, updates: int, warm_up: int, least: float = 0.1) -> float:
    """`share_of_rate(0, 1000, 100)` is 0.01: it rises to 1 in 100 updates, then falls on a cosine to 0.1."""
    if update < warm_up:
        return (update + 1) / warm_up
    done = (update - warm_up) / max(1, updates - warm_up)
    return least + (1 - least) * (1 + math.cos(math.pi * done)) / 2


def losses(model: nn.Module, row: Tensor, length: int, at_once: int = 32) -> Tensor:
    """`losses(model, row, length=128)` are the nats of each id but the first, seen from 65 to 128 ids before.

    (Near the row's start there are fewer.) Each window of 128 begins half of one behind the last, and the ids
    of its second half count.
    """
    require.at_least(2, length=length)
    require.crop(1, row)
    step, length = length // 2, min(length, len(row) - 1)
    windows = row.unfold(0, length + 1, step)  # (windows, length + 1)
    left = (len(row) - length - 1) % step  # ids behind the last whole window
    counted = [length] + [step] * (len(windows) - 1) + [left] * (left > 0)
    if left:
        windows = torch.cat([windows, row[None, -length - 1 :]])
    device = next((weight.device for weight in model.parameters()), row.device)
    model.eval()
    nats = []
    with torch.no_grad():
        for some in windows.to(device).split(at_once):  # type: ignore[no-untyped-call]
            ids, targets = some[:, :-1], some[:, 1:]
            # Flat, since the loss of tensors with more axes does not repeat on a GPU.
            each = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten(), reduction="none")
            nats.append(each.view(targets.shape).cpu())
    return torch.cat([each[-last:] for each, last in zip(torch.cat(nats), counted, strict=True)])


def bits_per_byte(nats: Tensor, text_bytes: int) -> float:
    """`bits_per_byte(losses(model, row, 128), text_bytes=9000)` can be compared between any two models."""
    require.at_least(1, text_bytes=text_bytes)
    return float(nats.double().sum()) / math.log(2) / text_bytes


class Run:
    """`run = Run(model, row, updates=4000, rate=3e-3)`; `run.go(100)` makes the next hundred updates.

    An update reads `rows` crops of `length` ids, in `parts` helpings whose gradients are added: fewer ids lie
    in memory at a time, and the update is the same. The rate warms up and falls over all `updates`.
    """

    def __init__(
        self,
        model: nn.Module,
        row: Tensor,
        *,
        updates: int,
        rate: float,
        length: int = 128,
        rows: int = 16,
        parts: int = 1,
        warm_up: int = 100,
        decay: float = 0.1,
        clip: float = 1.0,
        seed: int = 0,
    ) -> None:
        require.at_least(1, updates=updates, rows=rows, parts=parts, warm_up=warm_up)
        require.crop(length, row)
        self.model, self.row = model, row
        self.updates, self.length, self.rows, self.parts, self.clip = updates, length, rows, parts, clip
        self.optimizer = torch.optim.AdamW(groups(model, decay), lr=rate, betas=(0.9, 0.99), fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda update: share_of_rate(update, updates, warm_up)
        )
        self.source = torch.Generator().manual_seed(seed)
        self.done = 0
        self.seconds = 0.0  # of the processor
        self.losses: list[float] = []

    def update(self) -> float:
        """`run.update()` makes one update, and gives the loss before it."""
        ids, targets = crops(self.row, self.rows, self.length, self.source)
        device = next(self.model.parameters()).device
        total = 0.0
        self.optimizer.zero_grad()  # also of an update that somebody broke off
        for some, of_some in zip(ids.chunk(self.parts), targets.chunk(self.parts), strict=True):
            logits = self.model(some.to(device)).flatten(0, 1)
            # A part's share of the mean: parts need not be equally large.
            loss = F.cross_entropy(logits, of_some.flatten().to(device)) * (len(some) / len(ids))
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.schedule.step()
        return total

    def go(self, updates: int) -> None:
        """`run.go(100)` makes a hundred updates, or those that are left, with a bar for whoever watches."""
        self.model.train()
        wanted = min(updates, self.updates - self.done)
        with progress_bar(wanted) as bar:
            for _ in range(wanted):
                started = time.process_time()
                self.losses.append(self.update())
                self.done += 1
                self.seconds += time.process_time() - started
                bar.set_postfix_str(f"loss {self.losses[-1]:.3f}", refresh=False)
                bar.update()
        self.model.eval()

    def state_dict(self) -> dict[str, Any]:
        """`torch.save(run.state_dict(), file)` holds all that the next update depends on, dice included."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "crops": self.source.get_state(),
            "dropout": [torch.get_rng_state(), *torch.cuda.get_rng_state_all()],
            "done": self.done,
            "seconds": self.seconds,
            "losses": self.losses,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """`run.load_state_dict(torch.load(file))` goes on where that run stopped."""
        require.same_sizes(self.model, state["model"])
        self.model.load_state_dict(state["model"])
        # PyTorch's optimizer would go on in the tensors that it is given.
        self.optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
        self.schedule.load_state_dict(state["schedule"])
        self.source.set_state(state["crops"])
        processor, *gpus = state["dropout"]
        torch.set_rng_state(processor)
        torch.cuda.set_rng_state_all(gpus[: torch.cuda.device_count()])
        self.done, self.seconds, self.losses = state["done"], state["seconds"], list(state["losses"])


def row_of(texts: Iterable[list[int]], end: int) -> Tensor:
    """`row_of([[5, 7], [9]], end=0)` is tensor([5, 7, 0, 9, 0]): all texts in one row, each with its end."""
    return torch.tensor([number for text in texts for number in (*text, end)])
