"""The checks of the chapter, a function for each place where its page says how many hold."""

import torch
from torch.nn import functional as F

from attnlab import gguf
from attnlab.attention import Cache
from attnlab.runtime import generator
from attnlab.today import looks, opened
from bookkit.claims import claim
from chapters.a_real_model_opened import models

# Countries that are one piece, and whose capital the model names.
CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Japan": "Tokyo", "Germany": "Berlin", "Spain": "Madrid",
    "Russia": "Moscow", "China": "Beijing", "Greece": "Athens", "Norway": "Oslo", "Cuba": "Havana",
    "Ireland": "Dublin", "Austria": "Vienna", "Portugal": "Lisbon", "Sweden": "Stockholm",
    "England": "London",
}  # fmt: skip
LAYER, HEAD = 23, 4  # the head that brings the country


def bits_and_blocks(file, unpacked):
    sizes = [torch.Size(each.shape).numel() for each in file.matrices.values()]
    bits = 8 * file.path.stat().st_size / sum(sizes)
    claim("bits a number, all in all", bits, expected=5.85, abs=0.01)
    claim("bits a number in Q4_1", 8 * gguf.FORMATS[3].size / 32, expected=5)
    claim("bits a number in Q8_0", 8 * gguf.FORMATS[8].size / 32, expected=8.5)
    claim("the file, in megabytes", file.path.stat().st_size / 1e6, expected=98.4, abs=0.1)
    claim("weights, in millions", sum(sizes) / 1e6, expected=134.5, abs=0.1)
    claim("matrices", len(sizes), expected=272)
    packed = file.packed("blk.0.attn_q.weight")
    claim(
        "ours and attnlab's unpack alike",
        torch.equal(unpacked(packed), gguf.q4_1(packed)),
    )


def loaded_like_attnlab(file, model):
    theirs = opened.weights(file)
    ours = model.state_dict()
    claim(
        "all weights are attnlab's",
        ours.keys() == theirs.keys() and all(torch.equal(ours[k], theirs[k]) for k in ours),
    )


def by_place(as_loaded, mended):
    # Of four texts of NumPy; over other texts the last mean is 5.4 to 6.1 as loaded.
    claim("as loaded, the first 32", as_loaded[:, :31].mean(), expected=5.6, abs=0.3)
    claim("as loaded, from 128 on", as_loaded[:, 127:].mean(), expected=5.6, abs=0.4)
    claim("mended, from 128 on", mended[:, 127:].mean(), expected=2.4, abs=0.3)
