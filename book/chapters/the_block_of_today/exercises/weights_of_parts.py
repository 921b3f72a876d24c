"""What `check_weights_of` asks with, in parts that can be mistaken."""

from bookkit.checking.mistakes import Part


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
