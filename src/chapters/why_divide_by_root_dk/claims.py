"""The checks of the chapter, a function for each place where its page says how many hold."""

import math

import torch
from torch.nn.functional import scaled_dot_product_attention

from attnlab import masks, scores
from attnlab.attention import attend
from attnlab.runtime import generator
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.why_divide_by_root_dk.first_gradients import gradients


def all_coins():
    def every_vector(d_k):
        """All 2^d_k vectors of d_k coins."""
        numbers = torch.arange(2**d_k).unsqueeze(-1)  # (2^d_k, 1)
        bits = (numbers >> torch.arange(d_k)) & 1  # (2^d_k, d_k)
        return 2.0 * bits - 1

    for d_k in (1, 2, 4, 8):
        vectors = every_vector(d_k)
        score = scores.dot(vectors, vectors)  # (2^d_k, 2^d_k): every query, every key
        mean, variance = score.mean(), score.square().mean()
        claim(f"coins: the mean of q·k over all pairs, d_k = {d_k}", mean, expected=0)
        claim(
            f"coins: the variance of q·k over all pairs, d_k = {d_k}",
            variance,
            expected=d_k,
        )


def other_distributions():
    pairs, d_k, source = 50_000, 64, generator(0)
    draws = {
        "normal": torch.randn(2, pairs, d_k, generator=source),
        "uniform": math.sqrt(3) * (2 * torch.rand(2, pairs, d_k, generator=source) - 1),
        "coins": 2.0 * torch.randint(2, (2, pairs, d_k), generator=source) - 1,
    }
    for name, (query, key) in draws.items():
        score = (query * key).sum(-1)  # (pairs,)
        # The standard error of such a variance is 0.65 %, that of the mean 0.036: six of each.
        claim(
            f"{name}: the variance of q·k at d_k = 64", score.var(), expected=64, rel=0.04
        )
        claim(f"{name}: the mean of q·k at d_k = 64", score.mean(), expected=0, abs=0.22)

    query = draws["normal"][0]  # (50_000, 64)
    with_itself = (query * query).sum(-1)
    claim("the mean of q·q at d_k = 64", with_itself.mean(), expected=64, rel=0.01)
    left = with_itself.mean() / math.sqrt(64)
    claim("the mean of q·q / √d_k at d_k = 64", left, expected=8, rel=0.01)


def largest_weights(raw, scaled):
    best_raw, best_scaled = raw.amax(-1).mean(), scaled.amax(-1).mean()
    # Over ten other draws: .796-.836 and .155-.168.
    claim("largest of 32 weights at d_k = 64, unscaled", best_raw, expected=0.82, abs=0.04)
    claim("largest of 32 weights at d_k = 64, scaled", best_scaled, expected=0.16, abs=0.02)


def softmax_by_hand(six_scores):
    ahead = torch.tensor([8.0, 0.0], dtype=torch.float64).softmax(-1)
    ratio = ahead[0] / ahead[1]
    claim("weight of a key ahead by 8, over the other's", ratio, expected=3000, rel=0.01)
    claim("e^16, in millions", ratio**2 / 1e6, expected=9, rel=0.02)
    claim("entropy of 16 equal weights", math.log(16), expected=2.77, abs=0.005)
    frozen = (six_scores.softmax(-1).max() > 0.95).item()
    claim("six words, d_k = 64: one has more than 0.95 of the weight", frozen)


def first_gradients(table, size_raw, size_scaled):
    # Over ten other draws at 512: 5.9-8.2, .05-.16, 11.4-15.0; ÷ d_k .030-.039; the median at
    # 64: 3.0-5.3.
    claim("raw, d_k = 512: mean gradient on a query", table[0, 1], expected=7, abs=2)
    claim("raw, d_k = 512: median gradient on a query", table[1, 1], at_most=0.18)
    claim("raw, d_k = 512: gradient on W_Q", table[2, 1], expected=13, abs=3)
    claim("÷ d_k, d_k = 512: largest of the three", table[:, 3].max(), at_most=0.045)
    claim("÷ d_k, d_k = 512: smallest of the three", table[:, 3].min(), at_least=0.025)
    claim("raw, d_k = 64: median gradient on a query", table[1, 0], expected=4.2, abs=1.6)
    louder = torch.cat(
        [gradients(64, 1, seed)[0] / gradients(64, 8, seed)[0] for seed in range(3)]
    )
    # Of each of three draws: .69-.73; below a tenth .14-.15.
    share = (louder > 1).double().mean()
    claim("raw, d_k = 64: queries whose gradient is larger", share, expected=0.7, abs=0.06)
    tenth = (louder < 0.1).double().mean()
    claim("queries with less than a tenth of it", tenth, expected=1 / 7, abs=0.04)
    # Over three other draws: .62-.77.
    left = size_raw[3].median() / size_scaled[3].median()
    claim(
        "median derivative at d_k = 64, over that with the root",
        left,
        expected=0.65,
        abs=0.15,
    )


def softmax_derivative(size_raw, size_scaled, jacobian_size, random_scores):
    # Over ten other draws: share of the peak .17-.23, scaled .220-.244, median 5e-5 to 3e-4.
    mean_raw, mean_scaled = size_raw.mean(-1), size_scaled.mean(-1)
    grows = (mean_raw[1] > mean_raw[0]).item()
    claim("raw: the mean derivative is larger at d_k = 4 than at 1", grows)
    left = mean_raw[5] / mean_raw[4]
    claim("raw: the mean derivative, d_k = 1024 against 256", left, expected=0.5, abs=0.15)
    claim("raw: the median derivative at d_k = 1024", size_raw[5].median(), at_most=0.001)
    claim(
        "scaled: the smallest mean derivative at any d_k", mean_scaled.min(), at_least=0.21
    )
    # Over ten other draws: .99-1.03; the standard error is 2 %.
    two_keys = jacobian_size(random_scores(256, queries=20_000, keys=2).softmax(-1)).mean()
    ratio = two_keys * math.sqrt(math.pi * 256)
    claim(
        "two keys, d_k = 256: mean derivative times √(π d_k)", ratio, expected=1, rel=0.08
    )


def trained_by_adam(by_adam, LookUp, drawn, with_adam):
    class AdditiveLookUp(LookUp):
        """Scores v · tanh(q + k), as Bahdanau's attention does."""

        def __init__(self, d_k):
            super().__init__(drawn(d_k), divisors=[1.0])
            seeds = self.query.shape[1]
            start = torch.randn(
                seeds, 1, d_k, 1, generator=generator(1), dtype=torch.float64
            )
            self.vector = torch.nn.Parameter(start.to(self.query.device) / math.sqrt(d_k))

        def scores(self):
            pairs = self.query.unsqueeze(-2) + self.key.unsqueeze(
                -3
            )  # (1, seeds, 16, 16, d_k)
            return (pairs.tanh_() @ self.vector).squeeze(-1)

    # Over six other sets of five starts: raw .39-.53; root, d_k and additive 1.00.
    raw, root, length = by_adam.values()
    best = raw[64].mean(-1).max()
    claim("raw, d_k = 64: share right at its best rate", best, at_most=0.58)
    for name, learned in (("√d_k", root), ("d_k", length)):
        worst = min(each[2].mean() for each in learned.values())
        claim(
            f"÷ {name}, Adam's rate 0.05: share right at the worst of four widths",
            worst,
            at_least=0.97,
        )
    additive = with_adam(AdditiveLookUp(64), rate=0.05).mean()
    claim(
        "additive scores, Adam's rate 0.05, d_k = 64: share right", additive, at_least=0.97
    )


def finds(model):
    """Whether each query's best key is its own."""
    best = model.scores().argmax(-1)
    return best == torch.arange(best.shape[-1], device=best.device)


def found_by_first_weight(LookUp, drawn, with_adam):
    before = (
        scores.dot(*drawn(64)).softmax(-1).diagonal(dim1=-2, dim2=-1)
    )  # of the right key
    model = LookUp(drawn(64), [1.0])
    with_adam(model)
    won = finds(model)[0].cpu()
    # Over six other sets of five starts: .95-1.00 and 0-.09.
    likely, unlikely = before >= 1e-4, before < 1e-6
    claim("start of 1e-4 or more: share found", won[likely].double().mean(), at_least=0.93)
    claim("start under 1e-6: share found", won[unlikely].double().mean(), at_most=0.1)


def found_with_logarithm(LookUp, drawn, draw_values):
    def by_the_log(d_k, rate=0.05):
        """Share of right keys that raw models find; of those that started under 1e-6."""
        model, source = LookUp(drawn(d_k), [1.0]), generator(2)
        first = model.scores().softmax(-1).diagonal(dim1=-2, dim2=-1)  # of the right key
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        for _ in range(200):
            value = draw_values(4, source)
            loss = -(model(value) * value).sum(-1).log().mean((-2, -1)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        found = finds(model)
        return found.double().mean(), found[first < 1e-6].double().mean()

    # At rates of .015, .05 and .15: 1.00; at 256 .95-1.00.
    everything, unlikely = by_the_log(64)
    claim("raw, d_k = 64, loss by the logarithm: share found", everything, at_least=0.97)
    claim("of the keys that started under 1e-6", unlikely, at_least=0.97)
    most, _ = by_the_log(256)
    claim("raw, d_k = 256: share found", most, at_least=0.9)


def trained_by_descent(by_descent, LookUp, drawn, draw_values):
    # Over six other sets of five starts: .98-1.00, .31-.33, 1.00; below, .96-.99, raw .37-.51
    # and .22-.33, a gap of .04-.15.
    raw, root, length = (
        {d_k: right.mean(-1) for d_k, right in each.items()} for each in by_descent.values()
    )
    worst = min(each[2] for each in root.values())
    claim("÷ √d_k, rate 10: share right at the worst of four widths", worst, at_least=0.95)
    claim("÷ d_k, rate 10: share right at d_k = 256", length[256][2], at_most=0.45)
    claim("÷ d_k, rate 100: share right at d_k = 256", length[256][4], at_least=0.95)

    claim("÷ d_k, rate 10: share right at d_k = 16", length[16][2], at_least=0.9)
    for d_k, most in ((64, 0.58), (256, 0.45)):
        claim(
            f"raw, d_k = {d_k}: share right at its best rate", raw[d_k].max(), at_most=most
        )
    furthest = max((root[16] - root[d_k])[:4].abs().max() for d_k in (64, 256))
    claim(
        "÷ √d_k, rates 1 to 30: widest gap of the shares from d_k = 16",
        furthest,
        at_most=0.2,
    )

    def change_of_scores(d_k, divisor, optimizer):
        """How far its first step, a small one, moves the scores."""
        model = LookUp(drawn(d_k), [divisor])
        value = draw_values(4, generator(2))
        before = model.scores()
        (model(value) - value).square().sum().backward()
        optimizer(model.parameters(), lr=1e-6).step()
        return (model.scores() - before).norm()

    # Over twenty other sets of starts: .88-1.02 and .231-.244; of Adam's, 1.86 and .94.
    for optimizer, name, power, expected in (
        (torch.optim.SGD, "÷ √d_k", 0.5, 1),
        (torch.optim.SGD, "÷ d_k", 1, 0.25),
        (torch.optim.Adam, "÷ √d_k", 0.5, 2),
        (torch.optim.Adam, "÷ d_k", 1, 1),
    ):
        first = [change_of_scores(d_k, d_k**power, optimizer) for d_k in (64, 256)]
        sentence = (
            f"{optimizer.__name__}, {name}: first step's change, d_k = 256 against 64"
        )
        claim(sentence, first[1] / first[0], expected=expected, rel=0.2)


def harmless_starts(harmless):
    # Over six other sets of five starts: .998-1.000, and .961-1.000.
    claim(
        "raw, independent, d_k = 4: share right",
        harmless["independent"][0].mean(),
        at_least=0.85,
    )
    for name, bound in (("queries at zero", 0.98), ("tied", 0.93)):
        worst = min(each.mean() for each in harmless[name])
        claim(
            f"raw, {name}: share right at the worst of five widths", worst, at_least=bound
        )


RATES = (0.005, 0.015, 0.05, 0.15)


def tied_to_a_neighbour(LookUp, drawn, with_adam):
    class Neighbours(LookUp):
        """Query i should fetch the value of key i - 1."""

        def scores(self):
            return super().scores().roll(1, -1)

    def share(d_k, rate):
        model = Neighbours(drawn(d_k), [1.0])
        model.query = model.key
        return with_adam(model, rate).mean()

    # Three sets of five starts, 64, 256 and 1024 wide, at each rate: .12-.13.
    best = stored(
        0.13,
        lambda: max(share(d_k, rate) for d_k in (64, 256) for rate in RATES),
        within=0.02,
    )
    claim(
        "raw, tied, the key of a neighbour: best of four rates",
        best,
        expected=0.13,
        abs=0.02,
    )


def pytorchs_own_starts(LookUp, drawn, with_adam):
    seeds, keys = drawn(64).shape[1:3]
    torch.manual_seed(0)
    tokens = torch.randn(2, 5000, 512, generator=generator(5))  # of variance 1
    one, other = torch.nn.Linear(512, 64), torch.nn.Linear(512, 64)
    wide, wide_other = torch.nn.Linear(512, 256), torch.nn.Linear(512, 256)
    # Its matrix holds those of queries, keys and values, one above the other: (3 · 512, 512).
    packed = torch.nn.MultiheadAttention(512, 8).in_proj_weight
    with torch.no_grad():
        heads = tokens[0] @ packed[:64].T, tokens[1] @ packed[512:576].T  # the first of 8
        made = {
            "nn.Linear": (one(tokens[0]), other(tokens[1])),
            "nn.MultiheadAttention": heads,
            "nn.Linear, d_k = 256": (wide(tokens[0]), wide_other(tokens[1])),
        }
    # Over six other draws: .107-.116, .248-.259, .110-.114. Shares of three draws, at the best of
    # RATES: .97-.98 and .76-.85, at .015 or .05; .56-.70, always at .005 (a third of that is worse).
    for name, share, measured, right, near in (
        ("nn.Linear", 1 / 9, [0.914, 0.979, 0.946, 0.583], 0.95, 0.05),
        ("nn.MultiheadAttention", 1 / 4, [0.671, 0.784, 0.664, 0.361], 0.8, 0.1),
        ("nn.Linear, d_k = 256", 1 / 9, [0.639, 0.467, 0.336, 0.315], 0.6, 0.12),
    ):
        query, key = made[name]
        ratio = (query * key).sum(-1).var() / query.shape[-1]
        claim(f"{name}: variance of a score, over d_k", ratio, expected=share, rel=0.12)
        start = torch.stack([query, key])[:, : seeds * keys].unflatten(1, (seeds, keys))
        learned = stored(
            measured,
            lambda start=start: [
                with_adam(LookUp(start.double(), [1.0]), rate).mean() for rate in RATES
            ],
            within=0.05,
        )
        claim(
            f"{name}: share that raw scores get right",
            learned.max(),
            expected=right,
            abs=near,
        )
    claim("nn.Linear, d_k = 256: the smallest rate is the best", learned.argmax() == 0)


def wrong_divisors(right, spreads):
    # 80,000 scores, but only 8 · 50 queries: the standard error of the spread is about 1 %.
    claim("spread of the scores, divided by √d_k", right, expected=1, rel=0.04)
    nearest = min(abs(each - 1) for each in spreads.values())
    claim("the five wrong ones: nearest that a spread comes to 1", nearest, at_least=0.35)


def same_as_pytorch(attention):
    query, key, value = torch.randn(
        3, 8, 50, 64, generator=generator(2), dtype=torch.float64
    )
    may_see = masks.causal(50)
    ours, _ = attention(query, key, value, may_see)
    theirs = scaled_dot_product_attention(query, key, value, may_see)
    scaled = scaled_dot_product_attention(
        query, key, value, may_see, scale=1 / math.sqrt(64)
    )
    attnlabs, _ = attend(query, key, value, mask=may_see)
    others = {"PyTorch's": theirs, "the same with scale": scaled, "attnlab's": attnlabs}
    # float64 keeps 16 digits; sums of 64 products lose two or three of them.
    for name, output in others.items():
        difference = (ours - output).abs().max()
        claim(f"masked: largest difference from {name}", difference, at_most=1e-12)
