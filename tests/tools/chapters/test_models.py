"""`make models` trains by the recipes and stores; `make test-models` tries what another seed gives."""

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook
from torch import nn

from attnlab.training.history import History
from bookkit import registry, weights
from tools.chapters import models, notebooks

ROOM = 6_000_000  # bytes, for all stored weights together


def constant(seed):
    """A model of one number, its seed."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, seed)
    return model, History(training_losses=[2.0, 1.0], notes={"seed": torch.tensor([seed])})


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book with one chapter that has a recipe, and claims that the seed is at most 1."""
    source = f"""
import sys
sys.path.insert(0, {str(notebooks.BOOK)!r})
from torch import nn
from bookkit import weights
model = nn.Linear(1, 1, bias=False)
weights.load("a_chapter/constant", model)
assert model.weight <= 1, "the claim does not hold"
"""
    chapter = new_notebook(cells=[new_code_cell(source)], metadata=notebooks.NOTEBOOK_METADATA)
    notebooks.write(chapter, tmp_path / "a-chapter.ipynb")
    monkeypatch.setattr(models, "recipes", lambda: {"a_chapter": {"constant": constant}})
    monkeypatch.setattr(registry, "chapters", lambda: [registry.Chapter(tmp_path / "a-chapter.ipynb")])
    monkeypatch.setattr(weights, "STORED", tmp_path / "models")
    monkeypatch.setenv(weights.FOLDER_VARIABLE, "")
    return tmp_path


def test_what_is_trained_is_stored_and_what_no_recipe_makes_goes(book, capsys, monkeypatch):
    left = book / "models/a_chapter/forgotten.npz"
    left.parent.mkdir(parents=True)
    left.touch()
    monkeypatch.setattr("sys.argv", ["models.py"])
    assert models.main() == 0
    assert [*(book / "models").rglob("*.npz")] == [book / "models/a_chapter/constant.npz"]
    model = nn.Linear(1, 1, bias=False)
    assert weights.load("a_chapter/constant", model) == [2.0, 1.0]
    assert model.weight.item() == models.STORED_SEED
    assert weights.notes("a_chapter/constant")["seed"].tolist() == [models.STORED_SEED]
    assert "a_chapter/constant: 0 s, 1 kB, loss 1.000" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_fresh_training_is_of_another_seed_and_leaves_the_stored_one_alone(book, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["models.py", "--fresh"])
    assert models.STORED_SEED != models.FRESH_SEED == 1
    assert models.main() == 0
    assert not (book / "models").exists()
    assert "trained afresh, 0 of 1 chapters fail" in capsys.readouterr().out

    monkeypatch.setattr(models, "FRESH_SEED", 2)
    assert models.main() == 1
    said = capsys.readouterr()
    assert "the claim does not hold" in said.err
    assert "trained afresh, 1 of 1 chapters fail" in said.out


def test_every_recipe_has_its_weights_and_they_are_small():
    made = {f"{package}/{name}" for package, named in models.recipes().items() for name in named}
    stored = [*weights.STORED.rglob("*.npz")]
    assert made
    assert {f"{file.parent.name}/{file.stem}" for file in stored} == made
    assert sum(file.stat().st_size for file in stored) <= ROOM


def test_a_chapter_that_opens_anothers_weights_is_tried_with_fresh_ones_too():
    tried = {chapter.package for chapter in models.loading()}
    assert tried == {*models.recipes(), "is_it_any_good", "longer_than_it_was_trained"}
