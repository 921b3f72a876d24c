"""The checks of the chapter, a function for each place where its page says how many hold."""

import math
import time
from functools import partial

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from attnlab.today.tiles import tiled
from bookkit.claims import claim
from bookkit.memory import peak_memory
from chapters.long_and_fast import charts, figures

CPU = torch.device("cpu")  # where the profiler sees every byte
D, HEADS = 96, 6  # of the block that is measured


def operations_counted(block, d):
    weights_of_block = sum(each.numel() for each in block.parameters() if each.dim() == 2)
    claim("weights of the block, over d · d", weights_of_block / d**2, expected=12)
    claim("by hand, weights", 12 * 4**2, expected=192)
    claim("by hand, operations a word", 2 * 192, expected=384)
    claim("by hand, three words: weights", 3 * 2 * 12 * 4**2, expected=1152)
    claim("by hand, three words: pairs", 3 * 3 * 4 * 4, expected=144)
    claim("by hand, 24 words: weights", 24 * 2 * 12 * 4**2, expected=9216)
    claim("by hand, 24 words: pairs", 24 * 24 * 4 * 4, expected=9216)
    claim(
        "576 words: all operations, by formula",
        operations(block, 576),
        expected=24 * d * d * 576 + 4 * d * 576**2,
    )
    claim(
        "576 words: a step of training, over reading",
        operations(block, 576, backward=True) / operations(block, 576),
        expected=3,
    )
    claim("6 d, for vectors of 4,096 numbers", 6 * 4096, expected=24576)


def six_heads_by_the_clock(attention):
    # Over several runs, some on a busy core: 2.9-6.6.
    longer = times_as_long(by_pairs(attention, 576, 6), by_weights(576))
    claim("576 words: six heads' time over the weights'", longer, at_least=1.5)
    # Over several runs: 1.6-1.9 and 3.0-3.7; on the oldest instructions 1.7-1.9 and 2.2-2.4.
    for part, at_least in (("products", 1.2), ("softmax", 1.5)):
        six, one = (parts_of(heads)[part] for heads in (6, 1))
        claim(
            f"576 words: six heads' {part} over one head's: time",
            times_as_long(six, one),
            at_least=at_least,
        )
    name = "stored, 576 words: six heads over one head,"
    alone = figures.costs.SIX_OVER_ONE
    claim(f"{name} products", alone["products"], expected=1.8, abs=0.05)
    claim(f"{name} softmax", alone["softmax"], at_least=3)
    times = figures.costs.TIMES["6 heads of 16"], figures.costs.TIMES["all weights"]
    over = [pairs / each for pairs, each in zip(*times, strict=True)]
    name = "in the figure, six heads over the weights:"
    claim(f"{name} 288 words", over[3], at_least=1.2)
    claim(f"{name} 576 words", over[4], expected=3.8, abs=0.05)


def what_a_layer_keeps(more, table):
    claim(
        "512 words: what a layer adds, over its tables",
        more / table,
        expected=1.03,
        abs=0.02,
    )
    claim(
        "tables of 32 layers and 32 heads, 32,768 words, TiB",
        32 * 32 * 32768**2 * 2 / 2**40,
        expected=2,
    )
    claim("outputs of 32 layers, GiB", 32 * 32768 * 4096 * 2 / 2**30, expected=8)


def a_batch_shares_weights(attention):
    large = torch.randn(4096, 4096)
    small = [torch.randn(512, 512) for _ in range(64)]  # together as many weights
    one_row, many_rows = torch.randn(1, 4096), torch.randn(32, 4096)
    short_row = torch.randn(1, 512)
    cached, asked = torch.randn(4, 8, 4096, 64), torch.randn(4, 8, 1, 64)

    def product(x, *matrices):
        return lambda: [F.linear(x, each) for each in matrices]

    def by_cache(rows):
        return lambda: attention(asked[:rows], cached[:rows], cached[:rows])

    # Over several runs: 0.16-0.18, 3.5-4.3 and 0.86-1.3; on the oldest instructions 0.44-0.48.
    share = times_as_long(product(many_rows, large), product(one_row, large), turns=5) / 32
    claim("one of 32 rows, over one alone: time", share, at_most=0.7)
    alike = times_as_long(product(short_row, *small), product(short_row, *64 * small[:1]))
    claim("64 matrices, over 64 times the same: time", alike, at_least=1.1)
    claim(
        "one of four caches, over one alone: time",
        times_as_long(by_cache(4), by_cache(1)) / 4,
        at_least=0.6,
    )
    per_row = figures.costs.PER_ROW
    name = "in the figure, over one alone:"
    claim(f"{name} one of two rows", per_row["weights, shared"][1], at_least=1)
    claim(
        f"{name} one of 32 rows", per_row["weights, shared"][-1], expected=0.17, abs=0.005
    )
    claim(f"{name} one of four caches", per_row["a cache each"][2], expected=0.9, abs=0.005)


def one_text_waits_for_weights():
    gigabytes = 2 * charts.costs.MODELS["Llama 2 7B"].weights / 1e9
    claim("Llama 2 7B, GB", gigabytes, expected=13.5, abs=0.05)
    operations_a_second, bytes_a_second = figures.costs.OPERATIONS, figures.costs.BYTES
    even = operations_a_second / bytes_a_second
    claim("an H100's operations a byte", even, expected=295, abs=0.5)
    claim("ms to bring the weights", gigabytes / bytes_a_second, expected=4.0, abs=0.05)
    word = gigabytes / operations_a_second
    claim("ms of arithmetic for a word", word, expected=0.014, abs=0.0005)
    claim("words a second, at most", 1000 * bytes_a_second / gigabytes, expected=250, abs=2)
    claim("millions of weights in the product", 4096**2 / 1e6, expected=16.8, abs=0.05)


def how_large_a_cache_is():
    claim("Llama 2 7B: cache, KiB a word", 2 * 32 * 32 * 128 * 2 / 2**10, expected=512)
    claim(
        "Llama 2 7B: cache of 32,768 words, GiB",
        2 * 32 * 32 * 128 * 32768 * 2 / 2**30,
        expected=16,
    )
    claim(
        "32,768 words, over the model's weights",
        2 * 32 * 32 * 128 * 32768 / charts.costs.MODELS["Llama 2 7B"].weights,
        expected=1.27,
        abs=0.01,
    )
    claim(
        "where four queries share a key, GiB",
        2 * 32 * 8 * 128 * 32768 * 2 / 2**30,
        expected=4,
    )


def two_at_a_time(first, total, mixed):
    whole_row = torch.tensor([1.0, 2.0, 4.0, 3.0]).softmax(-1)
    at_once = whole_row @ torch.tensor([10.0, 0.0, 20.0, 40.0])
    claim(
        "two at a time and all at once, apart",
        (mixed / total - at_once).abs(),
        at_most=1e-5,
    )
    claim("after two keys, the sum", first[1], expected=1.37, abs=0.005)
    claim("after two keys, the mix", first[2], expected=3.7, abs=0.05)
    claim("what was summed is multiplied by", math.exp(2 - 4), expected=0.14, abs=0.005)
    claim("exp(1 − 2)", math.exp(-1), expected=0.37, abs=0.005)


def drawn():
    """Queries, keys, values and what pulls at the outputs, (200, 32) each."""
    some = torch.Generator().manual_seed(1)
    return *torch.randn(3, 200, 32, generator=some), torch.randn(200, 32, generator=some)


def tiles_equal_the_whole(in_tiles):
    query, key, value, _ = drawn()
    for causal in (False, True):
        theirs = F.scaled_dot_product_attention(query, key, value, is_causal=causal)
        ours = in_tiles(query, key, value, tile=64, causal=causal)[0]
        name = "causal" if causal else "all seen"
        # Outputs are of order 1, where float32 rounds at 1e-7; measured 2e-7 to 5e-7.
        claim(
            f"{name}: in tiles and whole, apart", (ours - theirs).abs().max(), at_most=3e-6
        )
        of_attnlab = tiled(query, key, value, tile=64, causal=causal)
        claim(
            f"{name}: attnlab's tiles and the whole, apart",
            (of_attnlab - theirs).abs().max(),
            at_most=3e-6,
        )


def tiles_hold_little(held):
    growth = {name: row[-1] / row[0] for name, row in held.items()}
    claim("8 times as long, the whole: times the memory", growth["the whole"], at_least=50)
    claim(
        "8 times as long, tiles: times the memory", growth["tiles of 64 × 64"], at_most=1.2
    )


def gradients_are_autograds(in_tiles, back):
    query, key, value, pulled = drawn()
    inputs = [each.clone().requires_grad_() for each in (query, key, value)]
    theirs = torch.autograd.grad(whole(*inputs), inputs, pulled)
    output, log_sums = in_tiles(query, key, value, tile=64)
    ours = back(query, key, value, output, log_sums, pulled, tile=64)
    of_attnlab = torch.autograd.grad(tiled(*inputs, tile=64), inputs, pulled)
    names = "query", "key", "value"
    for name, own, other, known in zip(names, ours, of_attnlab, theirs, strict=True):
        # Sums of 200 numbers of order 1; measured up to 1e-6.
        claim(f"{name}: by hand against autograd", (own - known).abs().max(), at_most=1e-5)
        claim(
            f"{name}: attnlab's against autograd", (other - known).abs().max(), at_most=1e-5
        )


def the_whole_against_tiles():
    inputs = torch.randn(3, 1, 4, 2048, 32, device=CPU)
    with torch.no_grad():
        ours, fused = (
            partial(way, *inputs) for way in (tiled, F.scaled_dot_product_attention)
        )
        slower = times_as_long(ours, fused, turns=4)
    # Over several runs, on a busy machine, too: 1.7 to 2.2; on the oldest instructions 1.16.
    claim("2,048: our tiles over the fused kernel: time", slower, at_least=1)
    stored = figures.tiles.OVER_FUSED
    over_tiles = {
        name: [each / tiles for each, tiles in zip(row, stored["tiles"], strict=True)]
        for name, row in stored.items()
    }
    at_2048 = over_tiles["the whole"][-1]
    claim("stored, 2,048: the whole over tiles", at_2048, expected=1.9, abs=0.05)
    short = max(over_tiles["the whole"][:2])
    claim("stored, 256 and 512: the whole over tiles", short, at_most=0.8)
    with_tables = over_tiles["given memory"]
    claim("stored: the whole, given its tables, over tiles", max(with_tables), at_most=0.8)
    claim("stored: fused, over any other", 1 / min(map(min, stored.values())), at_most=0.95)
    claim("megabytes of two tables", 2 * 4 * 4 * 2048**2 / 1e6, expected=134, abs=0.5)


def three_axes_make_the_table():
    of_axes = []
    for axes in (4, 3):
        shape = (1, 1, 512, 32)[4 - axes :]
        inputs = torch.randn(3, *shape, device=CPU)
        run = partial(F.scaled_dot_product_attention, *inputs)
        of_axes.append(peak_memory(run, CPU) / (4 * 512**2))
    # What makes the table holds at least one of 512 × 512; the kernel held .2 of one.
    claim("4 axes: memory held, in tables", of_axes[0], at_most=0.5)
    claim("3 axes: memory held, in tables", of_axes[1], at_least=1)


# ---- how it is measured ----


def operations(block, n, backward=False):
    """`operations(block, 576)` is what a block does for 576 words, or for a step of training with them."""
    x = torch.zeros(1, n, D, requires_grad=backward)
    unturned = torch.zeros(1, 1, 1, D // HEADS // 2)
    with FlopCounterMode(display=False) as counted, sdpa_kernel(SDPBackend.MATH):
        output = block(x, unturned, None, None)
        if backward:
            output.sum().backward()
    return counted.get_total_flops()


def times_as_long(slow, fast, turns=7):
    """`times_as_long(slow, fast)` runs them in turns, and counts this process's own seconds."""
    seconds = {slow: [], fast: []}
    for run in turns * [slow, fast]:
        start = time.process_time()
        run()
        seconds[run].append(time.process_time() - start)
    return min(seconds[slow]) / min(seconds[fast])  # what other programs add is not ours


def by_weights(n):
    """`by_weights(576)()` takes 576 words through all weights of a block."""
    shapes = 4 * [(D, D)] + 2 * [(D, 256)] + [(256, D)]
    matrices = [torch.randn(*shape) for shape in shapes]
    x, wide = torch.randn(n, D), torch.randn(n, 256)
    return lambda: [(wide if len(each) == 256 else x) @ each for each in matrices]


def by_pairs(attention, n, heads):
    """`by_pairs(attention, 576, 6)()` is six heads' attention among 576 words."""
    x = torch.randn(heads, n, D // heads)
    return lambda: attention(x, x, x)


def parts_of(heads, n=576):
    """`parts_of(6)["softmax"]()` is that part of attention alone, into memory that is there already."""
    x = torch.randn(heads, n, D // heads)
    scores, output = x @ x.mT, x.clone()
    weights = scores.softmax(-1)
    return {
        "products": lambda: (
            torch.matmul(x, x.mT, out=scores),
            torch.matmul(weights, x, out=output),
        ),
        "softmax": lambda: torch.softmax(scores, -1, out=weights),
    }


def held_in_training(attention, n, layers):
    """`held_in_training(attention, 512, 3)` is how many bytes are held at most, on the way there and back."""

    def run():
        x = torch.zeros(HEADS, n, D // HEADS, requires_grad=True)
        for _ in range(layers):
            x = x + attention(x, x, x)
        x.sum().backward()

    return peak_memory(run, CPU)


def whole(query, key, value):
    """`whole(query, key, value)` is attention with all of its table."""
    return (query / math.sqrt(query.shape[-1]) @ key.mT).softmax(-1) @ value


def peak(attention, n, **options):
    """`peak(whole, 512)` is how many bytes it holds at most beside its inputs."""
    return peak_memory(
        partial(attention, *torch.randn(3, n, 32, device=CPU), **options), CPU
    )
