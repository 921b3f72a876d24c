"""Count the weights of a model from its configuration."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts


def _weights_of(
    vocabulary: int,
    hidden_size: int,
    intermediate_size: int,
    layers: int,
    heads: int,
    key_value_heads: int,
    tied: bool,
    *,
    reading: Part = lambda width, keys: width * width + 2 * width * keys,
    writing: Part = lambda width: width * width,
    keys: Part = lambda width, heads, key_value_heads: width // heads * key_value_heads,
    network: Part = lambda width, inner: 3 * width * inner,
    norms: Part = lambda width: 2 * width,
    blocks: Part = lambda layers, block: layers * block,
    tables: Part = lambda table, tied: table if tied else 2 * table,
    last: Part = lambda width: width,
) -> int:
    """All numbers that learn: the tables, the blocks, and the norm behind the last."""
    of_keys = keys(hidden_size, heads, key_value_heads)
    attention = reading(hidden_size, of_keys) + writing(hidden_size)
    block = attention + network(hidden_size, intermediate_size) + norms(hidden_size)
    total: int = tables(vocabulary * hidden_size, tied) + blocks(layers, block) + last(hidden_size)
    return total


def _with_biases(
    vocabulary: int, hidden_size: int, intermediate_size: int, layers: int, heads: int,
    key_value_heads: int, tied: bool,
) -> int:  # fmt: skip
    """As the block of 2017 has them, in each of the seven matrices of a block."""
    keys = hidden_size // heads * key_value_heads
    biases = 2 * hidden_size + 2 * keys + 2 * intermediate_size + hidden_size
    right: int = _weights_of(vocabulary, hidden_size, intermediate_size, layers, heads, key_value_heads, tied)
    return right + layers * biases


MISTAKES: Mistakes = (
    in_parts(
        _weights_of,
        keys={
            "a key for each head": (
                "Right where each head has keys of its own. Keys and values have `key_value_heads`, not "
                "`heads`: their matrices have fewer rows.",
                lambda width, heads, key_value_heads: width,
            ),
            "one head of keys": (
                "You give keys and values the width of one head. They have `key_value_heads` of these.",
                lambda width, heads, key_value_heads: width // heads,
            ),
            "heads of a group": (
                "You count `heads // key_value_heads`, how many heads share a key. The keys are "
                "`key_value_heads` heads wide, each `hidden_size // heads`.",
                lambda width, heads, key_value_heads: width // heads * (heads // key_value_heads),
            ),
        },
        reading={
            "values forgotten": (
                "One of keys and values is missing. Each has a matrix of its own.",
                lambda width, keys: width * width + width * keys,
            ),
            "queries shared as well": (
                "The matrix of queries, or the one that writes, is as narrow as that of keys. Both are for "
                "all `heads`.",
                lambda width, keys: 3 * width * keys,
            ),
        },
        writing={
            "nothing written back": (
                "The matrix that writes what attention found back into the stream, their `o_proj`, is "
                "missing.",
                lambda width: 0,
            )
        },
        network={
            "no gate": (
                "The network has two matrices here. SwiGLU has three: gate, content, and the way back.",
                lambda width, inner: 2 * width * inner,
            ),
            "4 times as wide": (
                "You take the network as 4 times as wide as the stream, as in 2017. How wide it is "
                "`intermediate_size` says.",
                lambda width, inner: 3 * width * 4 * width,
            ),
        },
        norms={
            "one norm a block": (
                "A block has two norms: one before attention, one before the network.",
                lambda width: width,
            ),
            "no norms in blocks": (
                "The two norms of each block are missing. An RMSNorm learns a weight for each number.",
                lambda width: 0,
            ),
            "LayerNorms": (
                "You give each norm of a block a bias. RMSNorm has none.",
                lambda width: 4 * width,
            ),
            "norms of one number": (
                "You count one weight for each norm. It has `hidden_size` of them.",
                lambda width: 2,
            ),
        },
        last={
            "no last norm": ("The norm behind the last block is missing.", lambda width: 0),
            "a last LayerNorm": ("You give the last norm a bias. RMSNorm has none.", lambda width: 2 * width),
        },
        blocks={
            "one block": (
                "These are the weights of one block. There are `layers`, each with its own.",
                lambda layers, block: block,
            )
        },
        tables={
            "always tied": (
                "Right where one table serves both ends. Else there are two.",
                lambda table, tied: table,
            ),
            "never tied": (
                "Right where each end has a table of its own. Where they are tied, count it once.",
                lambda table, tied: 2 * table,
            ),
            "tied the wrong way round": (
                "`tied` is read the wrong way round: True means one table at both ends.",
                lambda table, tied: 2 * table if tied else table,
            ),
            "no tables": (
                "The table of pieces is missing: `vocabulary` rows of `hidden_size` numbers.",
                lambda table, tied: 0,
            ),
        },
    )
    | {"biases": ("You give each matrix of a block a bias. This block has none.", _with_biases)}
    | in_answer(
        _weights_of,
        {
            "bytes": (
                "You count bytes, two for each weight. Asked for is the number of weights.",
                lambda right: 2 * right,
            ),
            "bytes of float32": (
                "You count bytes, four for each weight. Asked for is the number of weights.",
                lambda right: 4 * right,
            ),
            "in billions": ("You count in billions. Give the number itself.", lambda right: right / 1e9),
        },
    )
)


check_weights_of = Exercise(
    "weights_of",
    difficulty=2,
    minutes=15,
    takes=(
        "vocabulary", "hidden_size", "intermediate_size", "layers", "heads", "key_value_heads", "tied",
    ),
    returns=("weights",),
    reference=_weights_of,
    cases=(
        Case("right for a tiny model", 10, 12, 20, 1, 3, 3, True),
        Case("right for two blocks", 7, 10, 14, 2, 5, 5, True),
        Case("right with shared keys", 11, 24, 17, 3, 6, 2, True),
        Case("right with two tables", 13, 8, 9, 2, 4, 1, False),
        Case("right for Llama 2 7B", 32000, 4096, 11008, 32, 32, 32, False),
        Case("right for Llama 3 8B", 128256, 4096, 14336, 32, 32, 8, False),
        Case("right for Llama 3.2 1B", 128256, 2048, 8192, 16, 32, 8, True),
    ),
    mistakes=MISTAKES,
)  # fmt: skip
