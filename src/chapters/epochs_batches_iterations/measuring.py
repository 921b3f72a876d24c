"""The chapter's film reviews, and what it measures of models that judge them."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora.reviews import written
from attnlab.runtime import generator
from attnlab.training.batches import Batches
from attnlab.training.loop import train
from attnlab.training.many_seeds import ManySeeds, sum_over_seeds

Reviews = tuple[Tensor, Tensor]  # rows of words, and their verdicts
Start = Callable[[int], nn.Module]  # a seed in, a fresh model out
RUNS = range(20)


def reviews(examples: int, seed: int, device: torch.device, flipped: float = 0.1) -> Reviews:
    """`reviews(2000, 1, device)` are rows of 24 words, (2000, 24), and verdicts, some of them wrong."""
    source = generator(seed)
    rows, verdicts = written(3 * examples, source)
    short = ((rows != 1).sum(1) <= 24).nonzero().flatten()[:examples]  # 1 pads
    wrong = torch.rand(examples, generator=source) < flipped
    verdicts = torch.where(wrong, 1 - verdicts[short], verdicts[short])
    return rows[short, :24].to(device), verdicts.to(device)


def gradients(model: nn.Module, rows: Tensor, verdicts: Tensor) -> Tensor:
    """`gradients(model, rows, verdicts)` holds the gradient of each example's loss: (examples, weights)."""
    weights = {name: weight.detach() for name, weight in model.named_parameters()}

    def loss_of_one(weights: dict[str, Tensor], row: Tensor, verdict: Tensor) -> Tensor:
        output = torch.func.functional_call(model, weights, (row.unsqueeze(0),))
        return F.cross_entropy(output, verdict.unsqueeze(0))

    of_each = torch.func.vmap(torch.func.grad(loss_of_one), in_dims=(None, 0, 0))
    parts = of_each(weights, rows, verdicts).values()
    return torch.cat([part.flatten(1) for part in parts], dim=1)


def noise(each: Tensor, size: int, source: torch.Generator, *, replacement: bool, draws: int = 200) -> Tensor:
    """`noise(each, 16, source, replacement=True)`: root mean square distance of a batch's gradient.

    It is measured from the gradient of all the examples.
    """
    examples = len(each)
    if replacement:
        chosen = torch.randint(examples, (draws, size), generator=source)
    else:
        chosen = torch.rand(draws, examples, generator=source).argsort(-1)[:, :size]
    share = torch.full(chosen.shape, 1 / size, dtype=torch.float64)
    share = torch.zeros(draws, examples, dtype=torch.float64).scatter_add(1, chosen, share)
    off = share.to(each.device) @ each - each.mean(0)
    return off.square().sum(-1).mean().sqrt().cpu()


def loss_at(
    rate: float,
    start: Start,
    data: Reviews,
    new: Reviews,
    *,
    falls: bool,
    batch_size: int,
    epochs: int = 3,
    seeds: int = 4,
) -> float:
    """`loss_at(0.1, model_of, data, new, falls=True, batch_size=50)` is the loss on new reviews, by Adam."""
    together = ManySeeds([start(seed) for seed in range(seeds)])
    batches = Batches(*data, batch_size=batch_size, shuffle=generator(5))
    optimizer = torch.optim.Adam(together.parameters(), lr=rate, fused=True)
    if falls:
        down = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0, epochs * len(batches))
        optimizer.register_step_post_hook(lambda *_: down.step())
    measure = sum_over_seeds(F.cross_entropy)
    history = train(together, batches, measure, optimizer, epochs=epochs, validation=new)
    return history.validation_losses[-1] / seeds


def twenty_runs(
    start: Start, device: torch.device, *, batch_size: int, rate: float, epochs: int
) -> tuple[Tensor, Tensor]:
    """`twenty_runs(narrow, device, batch_size=300, rate=0.02, epochs=100)`: each on reviews of its own.

    Validation loss and share right of each run after each epoch: (epochs, 20) both.
    """
    rows, verdicts = _stacked(300, 3000, device)
    new_rows, new_verdicts = _stacked(100, 40000, device)
    skeleton, losses = start(0), torch.func.vmap(F.cross_entropy)  # a loss for each run: (20,)

    @torch.func.vmap
    def forward(weights: dict[str, Tensor], rows: Tensor) -> Tensor:
        outputs: Tensor = torch.func.functional_call(skeleton, weights, (rows,))
        return outputs

    weights, _ = torch.func.stack_module_state([start(run) for run in RUNS])
    optimizer = torch.optim.Adam(weights.values(), lr=rate, fused=True)
    order, seen = generator(6), []
    for _ in range(epochs):
        for batch in torch.randperm(300, generator=order).split(batch_size):  # type: ignore[no-untyped-call]
            loss = losses(forward(weights, rows[:, batch]), verdicts[:, batch])
            optimizer.zero_grad()
            loss.sum().backward()  # type: ignore[no-untyped-call]  # a sum: no run feels another
            optimizer.step()
        with torch.no_grad():
            outputs = forward(weights, new_rows)
            right = (outputs.argmax(-1) == new_verdicts).double().mean(-1)
            seen.append(torch.stack([losses(outputs, new_verdicts), right]))
    by_loss, by_share = torch.stack(seen, dim=1).cpu()
    return by_loss, by_share


def _stacked(examples: int, first_seed: int, device: torch.device) -> Reviews:
    pairs = [reviews(examples, first_seed + run, device) for run in RUNS]
    rows, verdicts = zip(*pairs, strict=True)
    return torch.stack(rows), torch.stack(verdicts)
