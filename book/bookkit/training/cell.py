"""The same training in PyTorch: a cell that a reader can take out of the page."""

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
    batch = task.draw(data, training["rows"], settings["task"]["length"])
    scores = model.forward(batch.ids)  # (B, T, answers, classes)
    loss = loss_of(scores, batch, training["loss"])
    optimizer.param_groups[0]["lr"] = rate_at(step, training)
    optimizer.zero_grad()
    loss.backward()
    if training["clip"]:
        torch.nn.utils.clip_grad_norm_(model.numbers(), training["clip"])
    optimizer.step()
    losses.append(loss.item())
    if step % 20 == 0:
        print(f"step {{step}}: loss {{losses[-1]:.3f}}, limit {{task.limit:.3f}}")
"""


def cell(chapter: str, bench: str, lane: str, seed: int, steps: int) -> str:
    """`cell("many_heads", "guests", "one head", seed=7, steps=300)` goes the way that the page goes.

    >>> print(cell("many_heads", "guests", "one head", seed=7, steps=300).splitlines()[6])
    settings, seed, losses = BENCHES["guests"].settings("one head"), 7, []
    """
    call = f'BENCHES["{bench}"].settings("{lane}")'
    return CELL.format(chapter=chapter, table="BENCHES", call=call, seed=seed, steps=steps)


def unfinished(chapter: str, steps: int) -> str:
    """`unfinished("many_heads", steps=300)` waits for settings and a seed, in the places of CHOSEN and SEED.

    >>> print(unfinished("many_heads", steps=300).splitlines()[6])
    settings, seed, losses = CHOSEN, SEED, []
    """
    return CELL.format(chapter=chapter, table="PAGES", call="CHOSEN", seed="SEED", steps=steps)
