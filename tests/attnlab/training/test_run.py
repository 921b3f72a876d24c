"""A run: what it reads, what it counts, and that it goes on as if it had never stopped."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tensors import DEVICES
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.training.run import Run, bits_per_byte, crops, losses, row_of, share_of_rate
from attnlab.transformer import GPT

ROW = torch.randint(20, (300,), generator=generator(5))


def gpt(dropout: float = 0.0, seed: int = 0, d_model: int = 8) -> GPT:
    torch.manual_seed(seed)
    return GPT(20, d_model, heads=2, layers=2, context=16, dropout=dropout, spread=0.3)


def a_run(model: nn.Module, **more: float) -> Run:
    return Run(model, ROW, **{"updates": 12, "rate": 1e-2, "length": 8, "rows": 4, "warm_up": 3} | more)


def weights_of(model: nn.Module) -> list[Tensor]:
    return [weight.detach().clone() for weight in model.state_dict().values()]


def same(one: list[Tensor], other: list[Tensor]) -> bool:
    """To the last bit."""
    return all(map(torch.equal, one, other))


# ---- crops ----


def test_crops_begin_everywhere_and_are_of_the_row() -> None:
    row = torch.arange(10) ** 2
    ids, targets = crops(row, 500, 3, generator(0))
    assert ids.shape == targets.shape == (500, 3)
    possible = {tuple(row[start : start + 4].tolist()) for start in range(7)}
    came = {(*one, last) for one, (*_, last) in zip(ids.tolist(), targets.tolist(), strict=True)}
    assert came == possible
    assert torch.equal(ids[:, 1:], targets[:, :-1])


# ---- what is predicted ----


def by_brute_force(model: nn.Module, row: Tensor, length: int) -> list[float]:
    """Each id by itself, from the earliest window in which it is predicted; the last window ends the row."""
    nats = []
    for place in range(1, len(row)):
        start = 0
        while start + length < place:
            start += length // 2
        start = min(start, max(0, len(row) - 1 - length))
        before = row[start:place]
        assert len(before) > min(place - 1, length - length // 2), "fewer ids before it than was said"
        assert len(before) <= length
        nats.append(F.cross_entropy(model(before[None])[0, -1:], row[place : place + 1]).item())
    return nats


@pytest.mark.parametrize("length", [2, 3, 8, 15])
@pytest.mark.parametrize("ids", [2, 3, 8, 9, 10, 13, 16, 40, 41, 42, 43])
def test_each_id_but_the_first_is_predicted_once(length: int, ids: int) -> None:
    model, row = gpt().double(), ROW[:ids]
    each = losses(model, row, length)
    assert each.shape == (ids - 1,)
    assert each.tolist() == pytest.approx(by_brute_force(model.eval(), row, length), rel=1e-12)
    for at_once in (1, 3):
        torch.testing.assert_close(losses(model, row, length, at_once), each)


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_predicted_comes_back_without_dropout_or_gradients(device: str) -> None:
    model = gpt(dropout=0.5).to(device).train()
    each = losses(model, ROW, 8)
    assert each.device.type == "cpu"
    assert not each.requires_grad
    assert torch.equal(each, losses(model, ROW, 8))


def test_bits_per_byte_are_8_for_who_knows_nothing_of_bytes_and_every_text_has_its_end() -> None:
    assert bits_per_byte(torch.full((50,), math.log(256)), text_bytes=50) == pytest.approx(8)
    assert bits_per_byte(torch.full((50,), math.log(256)), text_bytes=100) == pytest.approx(4)
    assert row_of([[5, 7], [], [9]], end=0).tolist() == [5, 7, 0, 0, 9, 0]


# ---- an update ----


def test_the_rate_rises_on_a_line_and_falls_on_a_cosine() -> None:
    assert [share_of_rate(update, 1000, 100) for update in (0, 49, 99, 100)] == [0.01, 0.5, 1, 1]
    assert share_of_rate(550, 1000, 100) == pytest.approx(0.55)
    assert share_of_rate(775, 1000, 100) == pytest.approx(0.1 + 0.45 * (1 - math.sqrt(0.5)))
    assert share_of_rate(1000, 1000, 100) == pytest.approx(0.1)
    assert share_of_rate(1000, 1000, 100, least=0.3) == pytest.approx(0.3)
    assert share_of_rate(5, 5, 5) == 1, "a run that only warms up"


def test_an_update_is_the_one_written_by_hand() -> None:
    by_hand, run = gpt().double(), a_run(gpt().double(), clip=0.5, decay=0.3, seed=7)
    matrices = [weight for weight in by_hand.parameters() if weight.dim() == 2]
    others = [weight for weight in by_hand.parameters() if weight.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.3}, {"params": others, "weight_decay": 0}], betas=(0.9, 0.99)
    )
    source, expected = generator(7), []
    for update in range(12):
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * share_of_rate(update, updates=12, warm_up=3)
        ids, targets = crops(ROW, 4, 8, source)
        loss = F.cross_entropy(by_hand(ids).flatten(0, 1), targets.flatten())
        by_hand.zero_grad()
        loss.backward()
        norm = math.sqrt(sum(float((weight.grad**2).sum()) for weight in by_hand.parameters()))
        for weight in by_hand.parameters():
            weight.grad *= min(1, 0.5 / norm)
        optimizer.step()
        expected.append(loss.item())
    run.go(12)
    assert run.losses == pytest.approx(expected, rel=1e-6)  # PyTorch adds 1e-6 to the norm
    for weight, wanted in zip(run.model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(weight, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("parts", [2, 3, 4, 9])
def test_parts_add_up_to_the_whole(parts: int) -> None:
    """Three parts of four rows are not equally large, and nine are only four."""
    whole, in_parts = a_run(gpt().double()), a_run(gpt().double(), parts=parts)
    at_once: list[int] = []
    in_parts.model.register_forward_pre_hook(lambda _, given: at_once.append(len(given[0])))
    whole.go(4)
    in_parts.go(4)
    assert in_parts.losses == pytest.approx(whole.losses, rel=1e-12)
    for weight, wanted in zip(in_parts.model.parameters(), whole.model.parameters(), strict=True):
        torch.testing.assert_close(weight, wanted, rtol=1e-6, atol=1e-9)
    assert max(at_once) == math.ceil(4 / min(parts, 4))


def test_a_run_ends_when_its_updates_are_made() -> None:
    run = a_run(gpt(dropout=0.5))
    modes = []
    run.model.register_forward_pre_hook(lambda model, _: modes.append(model.training))
    for wanted, done in ((5, 5), (0, 5), (100, 12), (1, 12)):
        run.go(wanted)
        assert run.done == len(run.losses) == len(modes) == done
        assert not run.model.training
    assert all(modes)
    assert run.seconds > 0


# ---- stopping and going on ----


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("parts", [1, 2])
def test_a_run_that_was_saved_goes_on_to_the_same_bits(device: str, parts: int, tmp_path: Path) -> None:
    through = a_run(gpt(dropout=0.3).to(device), parts=parts)
    torch.manual_seed(1)
    through.go(12)

    stopped = a_run(gpt(dropout=0.3).to(device), parts=parts)
    torch.manual_seed(1)
    stopped.go(5)
    torch.save(stopped.state_dict(), tmp_path / "run.pt")
    # Another day: other weights, other dice, another seed of the crops.
    state = torch.load(tmp_path / "run.pt")
    for _ in range(2):  # two runs go on from one state, and do not mix
        going_on = a_run(gpt(dropout=0.3, seed=9).to(device), parts=parts, seed=8)
        torch.manual_seed(99)
        going_on.load_state_dict(state)
        assert (going_on.done, going_on.seconds) == (5, stopped.seconds)
        going_on.go(7)
        assert going_on.losses == through.losses
        assert same(weights_of(going_on.model), weights_of(through.model))
        assert len(state["losses"]) == 5
    assert going_on.schedule.get_last_lr() == through.schedule.get_last_lr()


def test_an_update_that_was_broken_off_leaves_no_gradients() -> None:
    """As a reader does who stops a cell, between one part and the next."""

    def stopped(model: nn.Module, _: tuple[Tensor]) -> None:
        if any(weight.grad is not None for weight in model.parameters()):
            raise KeyboardInterrupt

    run, fresh = a_run(gpt(), parts=2), a_run(gpt(), parts=2)
    hook = run.model.register_forward_pre_hook(stopped)
    with pytest.raises(KeyboardInterrupt):
        run.go(1)
    hook.remove()
    assert (run.done, run.losses) == (0, [])
    crops(ROW, 4, 8, fresh.source)  # those of the update that was broken off
    for each in (run, fresh):
        each.go(2)
    assert same(weights_of(run.model), weights_of(fresh.model))


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((12, 2, 16), "blocks.0.attention.project.bias must be (36,), as in the model, got (24,)"),
        ((8, 1, 16), "blocks.1.attention.project.bias must be no such weight, as in the model, got (24,)"),
        ((8, 3, 16), "blocks.2.attention.project.bias must be (24,), as in the model, got no such weight"),
        ((8, 2, 9), "places.weight must be (9, 8), as in the model, got (16, 8)"),
    ],
)
def test_a_checkpoint_of_other_sizes_is_refused(sizes: tuple[int, int, int], words: str) -> None:
    d_model, layers, context = sizes
    other = GPT(20, d_model, 2, layers, context)
    state, run, before = a_run(gpt()).state_dict(), a_run(other), weights_of(other)
    with pytest.raises(ValueError, match=re.escape(f"the checkpoint's {words}") + "$"):
        run.load_state_dict(state)
    assert same(weights_of(other), before)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        *(
            (lambda name=name: a_run(gpt(), **{name: 0}), f"{name} must be at least 1, got 0")
            for name in ("updates", "rows", "parts", "warm_up", "length")
        ),
        (lambda: a_run(gpt(), length=300), "length must be below 300, the ids in the row, got 300"),
        (lambda: crops(ROW, 1, 300, generator(0)), "length must be below 300, the ids in the row, got 300"),
        (lambda: losses(gpt(), ROW, 1), "length must be at least 2, got 1"),
        (lambda: losses(gpt(), ROW[:1], 8), "length must be below 1, the ids in the row, got 1"),
        (lambda: losses(gpt(), ROW, 17), "ids must be at most 16 long, the model's context, got 17"),
        (lambda: bits_per_byte(torch.ones(3), text_bytes=0), "text_bytes must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_trained_or_measured_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=f"{words}$"):
        call()
