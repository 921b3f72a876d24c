"""The same training in PyTorch: a cell that a reader can take out of the page."""

POINTS = 60  # of a curve in the page: each is a mean over as many steps as that takes
CELL = """\
import torch
from bookkit.training.die import die_of
from bookkit.training.learner import Learner, loss_of, rate_at
from bookkit.training.tasks import task_of
from chapters.{chapter}.training import {table}

settings, seed, losses = {call}, {seed}, []
training, task = settings["training"], task_of(settings["task"])
model, data = Learner(settings["model"], task, seed), die_of("data", seed)
optimizer = torch.optim.Adam(model.numbers(), betas=training["betas"])
for step in range({steps}):
    longer = step >= {steps} - training["last"]
    length = training["longer"] if longer else settings["task"]["length"]
    batch = task.draw(data, training["rows"], length)
    scores = model.forward(batch.ids)  # (B, T, answers, classes)
    loss = loss_of(scores, batch, training["loss"])
    optimizer.param_groups[0]["lr"] = rate_at(step, training)
    optimizer.zero_grad()
    loss.backward()
    if training["clip"]:
        torch.nn.utils.clip_grad_norm_(model.numbers(), training["clip"])
    optimizer.step()
    losses.append(loss.item())
    if (step + 1) % {prints} == 0:
        print(f"step {{step + 1}}: loss {{sum(losses[-{every}:]) / {every}:.3f}}, limit {{task.limit:.3f}}")
"""


def cell(chapter: str, bench: str, lane: str, seed: int, steps: int) -> str:
    """`cell("many_heads", "guests", "one head", seed=7, steps=300)` goes the way that the page goes.

    It prints what the page tells of its curve: means over a few steps, at the same steps.

    >>> print(cell("many_heads", "guests", "one head", seed=7, steps=300).splitlines()[6])
    settings, seed, losses = BENCHES["guests"].settings("one head"), 7, []
    """
    call = f'BENCHES["{bench}"].settings("{lane}")'
    return CELL.format(chapter=chapter, table="BENCHES", call=call, seed=seed, **points(steps))


def unfinished(chapter: str, steps: int) -> str:
    """`unfinished("many_heads", steps=300)` waits for settings and a seed, in the places of CHOSEN and SEED.

    >>> print(unfinished("many_heads", steps=300).splitlines()[6])
    settings, seed, losses = CHOSEN, SEED, []
    """
    return CELL.format(chapter=chapter, table="PAGES", call="CHOSEN", seed="SEED", **points(steps))


def points(steps: int) -> dict[str, int]:
    """`points(300)` says that of 300 steps 5 are a point of the curve, and 50 lie between two that are told.

    >>> points(300)
    {'steps': 300, 'every': 5, 'prints': 50}
    """
    every = -(-steps // POINTS)
    return {"steps": steps, "every": every, "prints": 10 * every}
