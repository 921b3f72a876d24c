"""Files of GGUF: what they say and hold, as the format's own library packs it; those that cannot be read."""

import re

import gguf
import numpy as np
import pytest
import torch
from gguf_files import ABOUT, written
from tensors import random

from attnlab.gguf import FORMATS, File

MATRICES = {"a": random(6, 64), "wide": random(4, 3000 * 32), "b": random(3)}


def file(folder, **options):
    return File(written(folder / "a.gguf", MATRICES, **options))


@pytest.mark.parametrize("format", ["F32", "Q8_0", "Q4_1"])
def test_what_a_file_says_and_its_matrices_come_back_bit_for_bit(tmp_path, format):
    known = {"a bool": [True, False], "floats": [0.5, -2.0], "texts": ["é", ""], "rows": [[1, 2], [3]]}
    read = file(tmp_path, format=format, **known)
    assert read.about == {"general.architecture": "llama", **ABOUT, **known}
    for matrix in gguf.GGUFReader(read.path).tensors:
        wanted = gguf.quants.dequantize(matrix.data, matrix.tensor_type)
        assert np.array_equal(read.matrix(matrix.name).numpy(), wanted)
    # 15 steps of 4 bits, or 254 of 8, from the least of 32 normal numbers to the largest.
    off = {"F32": 1e-6, "Q8_0": 0.02, "Q4_1": 0.3}[format]
    assert (read.matrix("wide") - MATRICES["wide"]).abs().max() < off


@pytest.mark.parametrize("number", [3, 8])
def test_any_bytes_unpack_as_the_formats_library_has_them(number):
    form = FORMATS[number]
    blocks = torch.randint(256, (500, form.size), generator=torch.Generator().manual_seed(0)).byte()
    blocks[:, 1] = blocks[:, 3] = 0x34  # a scale from .25 to .5: as float16, any bytes may be no number
    wanted = gguf.quants.dequantize(blocks.numpy(), gguf.GGMLQuantizationType(number))
    assert np.array_equal(form.unpack(blocks).numpy(), wanted)


def changed(place, by):
    """The file with other bytes at a place."""
    return lambda whole: whole[:place] + by + whole[place + len(by) :]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: b"", "a.gguf must be a GGUF file, which begins with those four letters"),
        (changed(0, b"ggml"), "a.gguf must be a GGUF file, which begins with those four letters"),
        (changed(4, b"\4\0"), "a.gguf must be GGUF of version 2 or 3, not 4"),
        (lambda whole: whole[:6], "a.gguf must hold 4 bytes behind place 4, and ends after 2: fetch"),
        (lambda whole: whole[:3000], "and ends after "),
        (changed(24, b"\xff" * 6), "a.gguf must hold 281474976710655 bytes behind place 32, and ends after "),
        (changed(52, b"\x0d"), "a.gguf has values of type 13, of which GGUF knows none: fetch it again"),
        (lambda whole: whole[:-1000000], "must hold 1536000 bytes behind place 5920, and ends after 5360"),
    ],
)  # fmt: skip
def test_a_file_that_is_cut_off_or_another_is_told_in_one_line(tmp_path, change, words):
    path = file(tmp_path).path
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=re.escape(words)) as told:
        File(path).matrix("wide")
    assert "\n" not in str(told.value)


def test_a_matrix_that_is_not_there_a_format_that_is_not_read_and_what_a_file_does_not_say(tmp_path):
    with pytest.raises(ValueError, match=r"a.gguf has no matrix 'c'$"):
        file(tmp_path).matrix("c")
    words = r"a is stored in format 2; those read here are 0 \(F32\), 3 \(Q4_1\), 8 \(Q8_0\)$"
    with pytest.raises(ValueError, match=words):
        file(tmp_path, format="Q4_0").matrix("a")
    with pytest.raises(ValueError, match=r"the file must say what its general\.name is, and does not$"):
        file(tmp_path).about["general.name"]
