"""The checks of the chapter, a function for each place where its page says how many hold."""

import itertools
import math
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from attnlab.runtime import generator
from attnlab.training.batches import Batches, iterations_per_epoch
from attnlab.training.loop import train
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.epochs_batches_iterations.measuring import twenty_runs


def stopped(losses, patience):
    """For each run: the epoch at which it stops, and its best epoch by then."""
    best = losses.cummin(0).indices  # (epochs, runs): where the lowest loss so far was
    waited = torch.arange(len(losses)).unsqueeze(1) - best
    stop = (waited >= patience).int().argmax(0)  # the first epoch that has waited so long
    assert (waited.amax(0) >= patience).all(), "some run never stops"
    return stop + 1, best.gather(0, stop.unsqueeze(0)).squeeze(0) + 1


def gradient_descent(model):
    return torch.optim.SGD(model.parameters(), lr=0.5, fused=True)


def twelve_updates(updates, model_of, rows, verdicts):
    claim("2000 examples in batches of 500: iterations per epoch", updates / 3, expected=4)
    claim("iterations in three epochs", updates, expected=12)

    shuffle, by_hand, model = generator(2), [], model_of(0)
    optimizer = gradient_descent(model)
    for _ in range(2):
        for batch in torch.randperm(2000, generator=shuffle).split(500):
            loss = F.cross_entropy(model(rows[batch]), verdicts[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            by_hand.append(loss.item())
    again = model_of(0)
    data = Batches(rows, verdicts, batch_size=500, shuffle=generator(2))
    history = train(again, data, F.cross_entropy, gradient_descent(again), epochs=2)
    difference = max(
        abs(a - b) for a, b in zip(by_hand, history.iteration_losses, strict=True)
    )
    # The same operations in the same order; a GPU may add up in another.
    claim(
        "largest difference between train's losses and the loop's",
        difference,
        at_most=1e-12,
    )


def dropped_examples():
    def never_read(shuffle, epochs=20):
        data = Batches(torch.arange(2000), batch_size=300, shuffle=shuffle, drop_last=True)
        read = [batch for _ in range(epochs) for (batch,) in data]
        return 2000 - len(torch.cat(read).unique())

    claim(
        "never read in 20 epochs of batches of 300, not shuffled",
        never_read(None),
        expected=200,
    )
    claim("the same, shuffled", never_read(generator(0)), expected=0)


def mean_of_means():
    five = torch.tensor([1.0, 1.0, 1.0, 1.0, 6.0], dtype=torch.float64)
    batch_means = torch.stack([batch.mean() for batch in five.split(2)])
    claim("mean of the five losses", five.mean(), expected=2)
    claim("mean of the means of the batches", batch_means.mean(), expected=8 / 3, abs=1e-12)

    # The gradient of a mean says what each example counts for in it.
    example_losses = torch.zeros(2001, dtype=torch.float64, requires_grad=True)
    torch.stack([batch.mean() for batch in example_losses.split(500)]).mean().backward()
    counts_for = example_losses.grad[-1] / example_losses.grad[0]
    claim("2001 examples: how many the last counts for", counts_for, expected=500, abs=1e-9)
    claim(
        "2001 examples: iterations per epoch", iterations_per_epoch(2001, 500), expected=5
    )
    claim("the same with drop_last", iterations_per_epoch(2001, 500, True), expected=4)


def noise_by_hand():
    gradients = torch.tensor([-3.0, 1.0, 2.0, 4.0], dtype=torch.float64)
    claim("mean of the four gradients", gradients.mean(), expected=1)
    claim("variance of the four", gradients.var(correction=0), expected=6.5)
    pairs = torch.cartesian_prod(gradients, gradients).mean(-1)  # (16,): each batch's mean
    claim(
        "all 16 batches of two with replacement: mean", pairs.mean(), expected=1, abs=1e-12
    )
    claim("all 16: variance", pairs.var(correction=0), expected=3.25, abs=1e-12)
    different = torch.combinations(gradients, 2).mean(-1).var(correction=0)  # of 6 batches
    fewer = 6.5 / 2 * (4 - 2) / (4 - 1)
    claim("all 6 of two different ones: variance", different, expected=fewer, abs=1e-12)


def gradients_of_each(model, rows, verdicts, each):
    F.cross_entropy(model(rows), verdicts).backward()
    by_backward = torch.cat([weight.grad.flatten() for weight in model.parameters()])
    difference = (each.mean(0) - by_backward).abs().max()
    claim("mean of all gradients, against backward() on all", difference, at_most=1e-12)
    claim("numbers in a gradient: over a thousand", each.shape[1] > 1000)


def noise_by_batch_size(sizes, predicted, with_replacement, without):
    fewer_left = ((2000 - sizes) / 1999).sqrt()
    # Six sizes, 200 draws each. Over ten other draws the furthest was off by .03-.06.
    furthest = (with_replacement / predicted - 1).abs().max()
    claim("with replacement: noise against σ/√B, furthest off", furthest, at_most=0.1)
    furthest = (without / (predicted * fewer_left) - 1).abs().max()
    claim("without: against the second formula, furthest off", furthest, at_most=0.1)


def time_and_memory(model_of, rows, verdicts):
    def epoch_seconds(batch_size):
        model, data = model_of(0), Batches(rows, verdicts, batch_size=batch_size)
        started = time.process_time()
        train(model, data, F.cross_entropy, gradient_descent(model), epochs=1)
        return time.process_time() - started

    def bytes_kept(batch_size):
        """What the forward pass keeps for the backward pass, the weights themselves apart."""
        model, kept = model_of(0), {}
        hooks = (lambda x: kept.update({x.data_ptr(): x.nbytes}) or x), lambda x: x
        with torch.autograd.graph.saved_tensors_hooks(*hooks):
            F.cross_entropy(model(rows[:batch_size]), verdicts[:batch_size])
        return sum(
            kept[place]
            for place in kept.keys() - {w.data_ptr() for w in model.parameters()}
        )

    turns = torch.tensor([[epoch_seconds(20), epoch_seconds(500)] for _ in range(5)])
    epoch = (turns[:, 0] / turns[:, 1]).median()
    # The processor's time, in five turns side by side; the bounds leave room for another.
    claim("time of an epoch, batches of 20 against 500", epoch, at_least=1.5)
    claim("time of an update, 500 examples against 20", 25 / epoch, at_most=16)
    small, large = bytes_kept(500), bytes_kept(2000)
    claim("memory kept, 2000 examples against 500", large / small, expected=4, rel=0.01)


def time_of_a_wide_layer():
    layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)

    def forward_and_back_seconds(examples):
        words = torch.randn(examples, 24, 128)
        started = time.process_time()
        layer(words).sum().backward()
        return time.process_time() - started

    turns = torch.tensor(
        [[forward_and_back_seconds(20), forward_and_back_seconds(500)] for _ in range(3)]
    )
    longer = (turns[:, 1] / turns[:, 0]).median()
    # The processor's time: 22-32 on two machines, idle and busy, on three instruction sets.
    claim("a layer 128 wide, forward and back: 500 against 20", longer, at_least=12)


def pieces_add_up(accumulated):
    def off(gradient):
        return ((gradient - whole).norm() / whole.norm()).item()

    whole = accumulated(500, lambda length: 1)
    by_share = accumulated(166, lambda length: length / 500)
    claim(
        "166, 166, 166 and 2, by share: relative difference", off(by_share), at_most=1e-12
    )
    # Over ten other starts and reviews .87-1.87, over five others .58-3.0.
    by_number = accumulated(166, lambda length: 1 / 4)
    claim(
        "166, 166, 166 and 2, each as a quarter: relative difference",
        off(by_number),
        at_least=0.5,
    )
    times = accumulated(125, lambda length: 1).norm() / whole.norm()
    claim(
        "four of 125, not divided by four: how many times too large",
        times,
        expected=4,
        abs=1e-9,
    )


def two_clocks(learned, validation_losses):
    updates = [5 * iterations_per_epoch(2000, size) for size in learned]
    claim("five epochs, batches of 20: updates", updates[0], expected=500)
    claim("five epochs, all 2000 at once: updates", updates[3], expected=5)
    # Over six draws of data, two starts and orders: .38-.45, .66-.70, 0-.020, 0-.005.
    same_epochs = [losses[4] for losses in learned.values()]
    claim("five epochs: loss with batches of 20", same_epochs[0], at_most=0.53)
    claim("five epochs: loss with all 2000 at once", same_epochs[3], at_least=0.64)
    epochs = [100 // iterations_per_epoch(2000, size) for size in (20, 100, 500)]
    same_updates = [learned[20 * 5**i][epoch - 1] for i, epoch in enumerate(epochs)]
    spread = max(same_updates) - min(same_updates)
    claim(
        "100 updates: largest loss less smallest of 20, 100 and 500", spread, at_most=0.03
    )

    def behind_at_rate_5():
        small, large = ((20, 1), (500, 25))
        return validation_losses(*small, rate=5)[-1] - validation_losses(*large, rate=5)[-1]

    # In six other draws .11 to 1.04, and once 606: there the batch of 20 fell apart.
    behind = stored(0.156, behind_at_rate_5, within=0.02)
    claim("rate 5, 100 updates: batches of 20 behind 500", behind, at_least=0.05)
    at_twenty = [learned[100][0], learned[500][4], learned[2000][19]]
    spread = max(at_twenty) - min(at_twenty)
    claim("20 updates: the same of 100, 500 and 2000", spread, at_most=0.02)
    claim("epochs it took, batches of 500 against 20", epochs[2] / epochs[0], expected=25)


def larger_steps(learned, validation_losses):
    five_times = validation_losses(500, epochs=5, rate=5 * 0.5)[4]
    twenty_times = validation_losses(2000, epochs=5, rate=20 * 0.5)[4]
    # Over six draws of data, two starts and orders: .048-.072, -.008-.015, 5-13.
    hundred, five_hundred = learned[100][4], learned[500][4]
    claim(
        "batch 500, the same rate: loss above batch 100",
        five_hundred - hundred,
        at_least=0.03,
    )
    claim(
        "batch 500, five times the rate: loss above batch 100",
        five_times - hundred,
        at_most=0.04,
    )
    claim(
        "batch 2000, twenty times: loss above batch 100", twenty_times - hundred, at_least=1
    )


def two_floors(swept):
    # Over six draws of data, starts and orders: .88-1.8; 0-.011; .01-.045; .066-.206.
    stays, falls = swept.values()
    claim("rate 0.5 that stays: loss over a guess's", stays[-1] / math.log(2), at_least=1.2)
    claim("lowest losses of both: difference", abs(min(stays) - min(falls)), at_most=0.04)
    floor = max(falls[3:]) - min(falls)
    claim("falls to 0, rates 0.03 to 0.5: the worst above the best", floor, at_most=0.06)
    claim("rate 0.3: stays, above falls", stays[5] - falls[5], expected=0.13, abs=0.09)


@torch.no_grad()
def calmer_scores(model, new):
    rows, verdicts = new
    as_it_is, divided = (F.cross_entropy(model(rows) / by, verdicts) for by in (1, 3))
    # Over eight draws: .54-.77, and once .96.
    calmer = divided / as_it_is
    claim(
        "scores of the over-fitted model divided by 3: its loss",
        calmer,
        expected=0.6,
        abs=0.15,
    )


def twenty_best_epochs(runs, right):
    lowest, best = runs.min(0)
    # By 3000 reviews, the same for all, of three twenties: 34-46, 35-46, 33-48.
    # Over eleven other twenties: 36-40, 1.5-3.2, 1.5-1.8, 1.6-1.8, .012-.054.
    best_epoch = (best + 1).double()
    claim("twenty runs: median of the best epoch", best_epoch.median(), expected=40, abs=6)
    claim(
        "latest best epoch, over the earliest",
        best_epoch.max() / best_epoch.min(),
        at_least=1.4,
    )
    claim(
        "loss after epoch 1, over the lowest: median",
        (runs[0] / lowest).median(),
        at_least=1.3,
    )
    last = (runs[-1] / lowest).median()
    claim("loss after the last epoch, over the lowest: median", last, at_least=1.3)
    at_best = right.gather(0, best.unsqueeze(0)).mean()
    claim(
        "share right at the best epoch, less at the last",
        at_best - right[-1].mean(),
        at_least=0.01,
    )


def patience(runs):
    best = runs.argmin(0)
    missed = {
        wait: (stopped(runs, wait)[1] != best + 1).double().mean() for wait in (2, 20)
    }
    # Over eleven other twenties: .10-.40, but for one of them with 0, and 0-.05.
    claim(
        "patience 2: share of runs that miss the best epoch",
        missed[2],
        at_least=0.05,
        at_most=0.4,
    )
    claim("patience 20: share of runs that miss it", missed[20], at_most=0.1)


def the_best_epoch_moves(runs, narrow, device):
    def median_best(**settings):
        return (twenty_runs(narrow, device, **settings)[0].argmin(0).double() + 1).median()

    in_batches = stored(
        9, lambda: median_best(batch_size=60, rate=0.02, epochs=30), within=1
    )
    faster = stored(11, lambda: median_best(batch_size=300, rate=0.08, epochs=40), within=1)
    # Over eleven other twenties: .22-.26 and .28-.33.
    before = (runs.argmin(0) + 1).double().median()
    share = in_batches / before
    claim("batches of 60: median of the best epoch, over the one above", share, at_most=0.3)
    share = faster / before
    claim("four times the rate: the same", share, at_most=0.36)


def train_stops_in_time(narrow, few, new, history):
    early = train(
        model := narrow(0), few, F.cross_entropy, torch.optim.Adam(model.parameters(), lr=0.02),
        epochs=100, validation=new, patience=10,
    )  # fmt: skip
    one_run = torch.tensor(history.validation_losses, dtype=torch.float64).unsqueeze(1)
    stop, found = stopped(one_run, patience=10)
    same = (early.epochs, early.best_epoch) == (stop.item(), found.item())
    claim("train with patience 10 stops where ours does, with the same best epoch", same)


def a_schedule_too_short(model_of, rows, verdicts):
    def updates_that_change_something(total_iters, epochs=3):
        model, changed = model_of(0), 0
        optimizer = gradient_descent(model)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0, total_iters)
        for _ in range(epochs):
            for batch_rows, batch_verdicts in Batches(rows, verdicts, batch_size=500):
                before = model.query.detach().clone()
                optimizer.zero_grad()
                F.cross_entropy(model(batch_rows), batch_verdicts).backward()
                optimizer.step()
                schedule.step()
                changed += not torch.equal(before, model.query)
        return changed

    right, wrong = updates_that_change_something(3 * 4), updates_that_change_something(4)
    claim("schedule over all iterations: updates that change weights", right, expected=12)
    claim("schedule over one epoch's iterations: updates that do", wrong, expected=4)


def all_at_once_is_wasteful(learned):
    # Over six draws: .037-.074.
    ahead = learned[2000][19] - learned[20][0]
    claim(
        "loss after 20 epochs of all at once, above 1 in batches of 20",
        ahead,
        at_least=0.01,
    )


def updates_of_workers():
    for workers, iterations in ((1, 4), (2, 2), (4, 1)):
        counted = iterations_per_epoch(2000, 500, workers=workers)
        claim(f"workers: {workers}; iterations per epoch", counted, expected=iterations)


def dataloader_counts_the_same(rows, verdicts):
    settings = itertools.product(
        (2000, 2001, 1999), (1, 7, 500, 3000), (False, True), (1, 2, 4)
    )
    differ = 0
    for examples, size, drop_last, workers in settings:
        sampler = DistributedSampler(range(examples), workers, rank=0, drop_last=drop_last)
        loader = DataLoader(range(examples), size, sampler=sampler, drop_last=drop_last)
        differ += len(loader) != iterations_per_epoch(examples, size, drop_last, workers)
    claim("settings of 72 in which ours and DataLoader's count differ", differ, expected=0)

    loader = DataLoader(TensorDataset(rows, verdicts), batch_size=300)
    ours = Batches(rows, verdicts, batch_size=300)
    same = all(torch.equal(a, b) for (a, _), (b, _) in zip(ours, loader, strict=True))
    claim("the batches of both, in order, are equal", same)


# ---- the appendix on several processes ----


def shares_of_workers(share):
    def theirs(examples, rank, workers, epoch):
        sampler = DistributedSampler(
            range(examples), num_replicas=workers, rank=rank, seed=0
        )
        sampler.set_epoch(epoch)
        return list(sampler)

    cases = itertools.product((2000, 2001), (1, 2, 4), (0, 1), (0, 1, 2, 3))
    cases = [
        (n, rank, workers, epoch) for n, workers, epoch, rank in cases if rank < workers
    ]
    same = all(share(*case) == theirs(*case) for case in cases)
    claim("our shares are PyTorch's DistributedSampler's", same)
    for workers, iterations in ((1, 4), (2, 2), (4, 1)):
        loader = DataLoader(share(2000, 0, workers, epoch=0), batch_size=500)
        claim(f"workers: {workers}; iterations per epoch", len(loader), expected=iterations)
    both = set(share(2001, 0, 2, epoch=0)) & set(share(2001, 1, 2, epoch=0))
    claim("2001 examples on two workers: read by both", len(both), expected=1)


def averaged_gradients(first, second, largest):
    pairs = zip(first["weights"].values(), second["weights"].values(), strict=True)
    alike = all(torch.equal(mine, other) for mine, other in pairs)
    claim("two workers: iterations in two epochs", len(first["seen"]), expected=4)
    claim(
        "both workers' gradients, averaged: largest difference from one process's",
        largest,
        at_most=1e-12,
    )
    claim("at the end both workers hold the same weights", alike)
    sampler = DistributedSampler(range(2000), num_replicas=2, rank=0, seed=0)
    orders = [list(sampler) for epoch in range(3)]  # nobody calls set_epoch
    forgotten = orders[0] == orders[1] == orders[2]
    claim("set_epoch forgotten: three epochs in one order", forgotten)
