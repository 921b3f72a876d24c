"""The tasks are drawn from their chapters' laws, and their limits are what nobody can beat."""

import math

import pytest
import torch

from attnlab.corpora import agreement
from attnlab.runtime import generator
from bookkit.training.die import Die, die_of
from bookkit.training.tasks import task_of
from chapters.looking_inside.training import INDUCTION
from chapters.the_transformer.training import SENTENCES
from chapters.where_am_i.reader import copying
from chapters.who_may_look_where.training import HOLES


def test_dice_of_other_names_and_seeds_fall_otherwise():
    firsts = {die_of(name, seed)() for name in ("data", "words", "layers.0.query") for seed in range(50)}
    assert len(firsts) == 150
    assert torch.tensor([*firsts]).mean() == pytest.approx(0.5, abs=0.1)


def drawn(bench, rows=400):
    task = task_of(bench.task)
    return task, task.draw(Die(1), rows, bench.task["length"])


def test_sentences_are_the_grammars_and_cost_what_it_says():
    task, batch = drawn(SENTENCES, rows=1500)
    words = SENTENCES.task["words"]
    lost = []
    for row in batch.targets[..., 0].tolist():
        sentence = [words[word] for word in row if word >= 0]
        assert not agreement.fault(sentence)
        lost += agreement.surprises(sentence)
    assert task.limit == pytest.approx(1.417460, abs=1e-6)
    assert sum(lost) / len(lost) == pytest.approx(task.limit, abs=0.03)


def test_six_words_cost_the_entropy_of_the_next():
    task, batch = drawn(HOLES, rows=2000)
    assert task.limit == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    likely = torch.tensor(HOLES.task["likely"])[batch.ids[..., 0]] == batch.targets[..., 0]
    assert likely.double().mean() == pytest.approx(0.75, abs=0.015)


def test_repeated_symbols_are_known_from_the_second_round_on():
    task, batch = drawn(INDUCTION)
    words = torch.cat([batch.ids[:, :1, 0], batch.targets[..., 0]], dim=1)  # (rows, T + 1)
    periods = (~batch.known[..., 0]).sum(1)
    assert set(periods.tolist()) == set(range(4, 11))
    for row, period in zip(words, periods.tolist(), strict=True):
        assert row[period:].equal(row[:-period])
    # Of the first round all but its first word, and how long it is, is news; nothing else.
    news = (periods.double().mean().item() - 1) * math.log(16) + math.log(7)
    assert task.limit == pytest.approx(news / 24, abs=0.03)


def test_in_a_game_of_tag_all_six_are_one_ring_and_the_answer_is_the_scarf_of_the_chased():
    batch = task_of({"kind": "tag"}).draw(Die(1), 200, 6)
    name, chases, scarf = (batch.ids[..., i] - 6 * i for i in range(3))
    for row in range(200):
        at = name[row].argsort()[chases[row]]  # where the chased stands
        assert scarf[row][at].equal(batch.targets[row, :, 0])
        seen, place = set(), 0
        for _ in range(6):
            seen.add(place)
            place = int(at[place])
        assert len(seen) == 6


def test_copying_asks_what_the_chapter_asks():
    batch = task_of({"kind": "copying", "classes": 10, "back": 3}).draw(Die(1), 300, 24)
    ids, targets = copying(300, 24, generator(0))
    assert batch.ids.shape[:2] == ids.shape
    assert (batch.targets[..., 0] >= 0).equal(targets >= 0)
    assert batch.targets[:, 3:, 0].equal(batch.ids[:, :-3, 0])
    assert batch.ids.double().mean() == pytest.approx(ids.double().mean().item(), abs=0.1)


def test_guests_name_whoever_sits_so_far_away():
    batch = task_of({"kind": "guests", "asked": [-2, 1]}).draw(Die(1), 50, 8)
    names, seats = batch.ids.unbind(-1)
    assert seats.equal(torch.arange(8, 16).expand(50, 8))
    assert batch.targets.equal(torch.stack([names.roll(2, 1), names.roll(-1, 1)], -1))
