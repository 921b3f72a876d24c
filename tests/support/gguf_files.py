"""Small files of GGUF, by the format's own library, and the tokenizer of a file by another one."""

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, quants
from tokenizers import Tokenizer, models, pre_tokenizers

from attnlab.corpora.listed import letters
from attnlab.today.opened import OURS

ABOUT = {
    "llama.embedding_length": 64, "llama.attention.head_count": 4, "llama.attention.head_count_kv": 2,
    "llama.feed_forward_length": 32, "llama.block_count": 2, "llama.context_length": 50,
    "llama.rope.freq_base": 500.0, "llama.attention.layer_norm_rms_epsilon": 0.25,
    "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm", "tokenizer.ggml.unknown_token_id": 0,
    "tokenizer.ggml.tokens": ["<|im_start|>", "<|im_end|>", *letters(), "hi", "Ġhi"],
    "tokenizer.ggml.token_type": [3, 3, *[1] * 258], "tokenizer.ggml.merges": ["h i", "Ġ hi"],
}  # fmt: skip


def matrices(model):
    """A model's matrices by GGUF's names, the rows for columns that turn beside their neighbours."""
    named = {"token_embd.weight": model.pieces.weight, "output_norm.weight": model.norm.weight}
    for layer, block in enumerate(model.blocks):
        for theirs, ours in OURS.items():
            matrix = block.get_parameter(f"{ours}.weight")
            if heads := {"attn_q": block.attention.heads, "attn_k": block.attention.groups}.get(theirs):
                matrix = matrix.view(heads, 2, -1, matrix.shape[-1]).transpose(1, 2).reshape(matrix.shape)
            named[f"blk.{layer}.{theirs}.weight"] = matrix
    return named


def written(path, named, format="F32", architecture="llama", **about):
    """A file of these matrices, those of two axes in this format; a key that is told as None is left out."""
    file = GGUFWriter(path, architecture)
    add = {int: file.add_uint32, float: file.add_float32, str: file.add_string, list: file.add_array}
    for key, value in (ABOUT | about).items():
        add.get(type(value), lambda *_: None)(key, value)
    for name, matrix in named.items():
        kind = GGMLQuantizationType[format if matrix.dim() == 2 else "F32"]
        packed = quants.quantize(matrix.detach().numpy().astype(np.float32), kind)
        file.add_tensor(name, packed, raw_dtype=kind)
    for write in (file.write_header_to_file, file.write_kv_data_to_file, file.write_tensors_to_file):
        write()
    file.close()
    return path


def theirs(about):
    """What a file says of its tokenizer, as Hugging Face's library takes it."""
    spelled = about["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in about["tokenizer.ggml.merges"]]
    number = {piece: place for place, piece in enumerate(spelled)}
    tokenizer = Tokenizer(models.BPE(vocab=number, merges=merges, unk_token=spelled[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    return tokenizer
