"""The script that runs the book's models in the page, in Node: a few sentences, whole and with parts off.

tests/site/test_playground.py has many sentences, in a browser.
"""

import pytest
import torch
from script_and_pytorch import everything, in_node, largest_difference, switched, texts, translations

import attnlab.transformer
from _ext import playground
from bookkit.playground import exported
from bookkit.registry import BOOK
from chapters.the_transformer import models
from chapters.the_transformer.playground import loaded


def run(name, runs, folder):
    forward = (BOOK / "_static/transformer.js").read_text("utf-8")
    return in_node([forward, "const stored = {};", playground.script(name)], name, runs, folder)


RUNS = {"translator": translations, "language-model": texts}


@pytest.mark.parametrize("name", RUNS)
def test_every_tensor_is_pytorchs(name, tmp_path):
    runs = RUNS[name](3)
    for given, said in zip(runs, run(name, runs, tmp_path), strict=True):
        assert largest_difference(given, said, loaded(name)) < 1e-4


@pytest.mark.parametrize("name", RUNS)
def test_a_head_that_is_off_has_no_columns_in_the_output_matrix(name, tmp_path):
    place, head = exported(name)["shown"]
    one = {**RUNS[name](1)[0], "off": [f"{place} {head}"]}
    others = [f"{place} {number}" for number in range(exported(name)["heads"]) if number != head]
    for given in (one, {**one, "off": others}):
        # What was mixed is zero in the script, and in PyTorch comes to nothing a step later.
        said = run(name, [given], tmp_path)[0]
        whole = run(name, [{**given, "off": []}], tmp_path)[0]
        for trace, before in zip(said["traces"], whole["traces"], strict=True):
            if f"{place}.mixed" in trace:
                assert trace[f"{place}.mixed"] != before[f"{place}.mixed"]
                trace[f"{place}.mixed"] = before[f"{place}.mixed"]
        assert largest_difference(given, said, switched(name, given)) < 1e-4


@pytest.mark.parametrize("name", RUNS)
def test_without_the_mask_later_words_are_seen(name, tmp_path, monkeypatch):
    given = {**RUNS[name](1)[0], "mask": False}
    said = run(name, [given], tmp_path)[0]
    assert largest_difference(given, said, loaded(name)) > 0.01
    monkeypatch.setattr(attnlab.transformer, "causal", everything)
    assert largest_difference(given, said, loaded(name)) < 1e-4


@pytest.mark.parametrize("name", RUNS)
def test_without_positions_words_are_what_they_are(name, tmp_path):
    given = {**RUNS[name](1)[0], "positions": False}
    said = run(name, [given], tmp_path)[0]
    assert largest_difference(given, said, switched(name, given)) < 1e-4


def test_translations_are_pytorchs_word_for_word(tmp_path):
    runs = translations(5)
    for given, said in zip(runs, run("translator", runs, tmp_path), strict=True):
        source = torch.tensor([given["read"]])
        words = models.greedy(loaded("translator"), source, torch.tensor([source.shape[1]]))
        assert said["translation"] == words[0].tolist()
