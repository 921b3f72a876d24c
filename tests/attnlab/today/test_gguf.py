"""Files of GGUF: what they say and hold, as the format's own library packs it; those that cannot be read."""

import re

import gguf
import numpy as np
import pytest
from gguf_files import ABOUT, written
from tensors import random

from attnlab.today.gguf import File


def file(folder, **options):
    return File(written(folder / "a.gguf", {"b": random(3), "wide": random(4, 3000 * 32)}, **options))


@pytest.mark.parametrize("format", ["F32", "Q8_0", "Q4_1"])
def test_what_a_file_says_and_its_matrices_come_back_bit_for_bit(tmp_path, format):
    known = {"a bool": [True, False], "floats": [0.5, -2.0], "texts": ["é", ""], "rows": [[1, 2], [3]]}
    read = file(tmp_path, format=format, **known)
    assert read.about == {"general.architecture": "llama", **ABOUT, **known}
    for matrix in gguf.GGUFReader(read.path).tensors:
        wanted = gguf.quants.dequantize(matrix.data, matrix.tensor_type)
        assert np.array_equal(read.matrix(matrix.name).numpy(), wanted)


@pytest.mark.parametrize(
    ("bytes_from", "put", "words"),
    [
        (0, b"ggml", "a.gguf must be a GGUF file, which begins with those four letters"),
        (4, b"\4\0", "a.gguf must be GGUF of version 2 or 3, not 4"),
        (6, None, "a.gguf must hold 4 bytes behind place 4, and ends after 2: fetch it again"),
        (24, b"\xff" * 6, "a.gguf must hold 281474976710655 bytes behind place 32, and ends after "),
        (52, b"\x0d", "a.gguf has values of type 13, of which GGUF knows none: fetch it again"),
        (-1000000, None, "a.gguf must hold 1536000 bytes behind place "),
    ],
)
def test_a_file_that_is_cut_off_or_another_is_told_in_one_line(tmp_path, bytes_from, put, words):
    path = file(tmp_path).path
    whole = path.read_bytes()
    path.write_bytes(whole[:bytes_from] + (put + whole[bytes_from + len(put) :] if put else b""))
    with pytest.raises(ValueError, match=f"^.*{re.escape(words)}.*$"):
        File(path).matrix("wide")
    with pytest.raises(ValueError, match=r"a.gguf has no matrix 'c'$"):
        file(tmp_path).matrix("c")
