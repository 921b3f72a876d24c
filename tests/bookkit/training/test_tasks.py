"""What the tasks cost at least, and the die. What they draw, test_engine.py holds against the scripts."""

import math

import pytest
import torch

from attnlab.corpora import agreement
from bookkit.training.die import Die, die_of
from bookkit.training.tasks import task_of
from chapters.the_transformer.training import SENTENCES
from chapters.who_may_look_where.training import HOLES


def test_dice_of_other_names_and_seeds_fall_otherwise():
    firsts = {die_of(name, seed)() for name in ("data", "words", "layers.0.query") for seed in range(50)}
    assert len(firsts) == 150
    assert torch.tensor([*firsts]).mean() == pytest.approx(0.5, abs=0.1)


def drawn(bench, rows):
    task = task_of(bench.task)
    return task, task.draw(Die(1), rows, bench.task["length"])


def test_sentences_are_the_grammars_and_cost_what_it_says():
    task, batch = drawn(SENTENCES, 1500)
    words = SENTENCES.task["words"]
    lost = []
    for row in batch.targets[..., 0].tolist():
        sentence = [words[word] for word in row if word >= 0]
        assert not agreement.fault(sentence)
        lost += agreement.surprises(sentence)
    assert task.limit == pytest.approx(1.417460, abs=1e-6)
    assert sum(lost) / len(lost) == pytest.approx(task.limit, abs=0.03)


def test_six_words_cost_the_entropy_of_the_next():
    task, batch = drawn(HOLES, 2000)
    assert task.limit == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    likely = torch.tensor(HOLES.task["likely"])[batch.ids[..., 0]] == batch.targets[..., 0]
    assert likely.double().mean() == pytest.approx(0.75, abs=0.015)
