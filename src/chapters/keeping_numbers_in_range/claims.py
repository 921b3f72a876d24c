"""The checks of the chapter, a function for each place where its page says how many hold."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from attnlab import layers
from attnlab.runtime import generator
from bookkit.claims import claim
from bookkit.stored import stored


def layer_norm_is_pytorchs(layer_norm, five):
    box = torch.randn(2, 10, 5, generator=generator(0), dtype=torch.float64)
    gain, bias = torch.randn(2, 5, generator=generator(1), dtype=torch.float64)
    ours = layer_norm(box, gain, bias)
    for name, norm in (
        ("nn.LayerNorm", nn.LayerNorm(5)),
        ("attnlab's", layers.LayerNorm(5)),
    ):
        norm.double().load_state_dict({"weight": gain, "bias": bias})
        difference = (norm(box) - ours).abs().max()
        claim(f"(2, 10, 5): largest difference from {name}", difference, at_most=1e-12)
    forgets = layer_norm(10 * five + 100, 1, 0, eps=0) - layer_norm(five, 1, 0, eps=0)
    claim(
        "ten times, and 100 more: the result changes by", forgets.abs().max(), at_most=1e-12
    )


def companions_move_a_sentence(results, batch_norm):
    # Over eleven sets of ten draws .29-.34; padded, over twenty draws, 1.83-1.85; leak .14-.57.
    two = results["batch norm"][0]
    claim("batch norm, 2 sentences: how far one moves", two.mean(), expected=0.3, abs=0.06)
    claim(
        "layer norm: how far it moves", torch.stack(results["layer norm"]).max(), expected=0
    )

    sentences = torch.randn(8, 8, 32, generator=generator(3))
    padded = F.pad(sentences, (0, 0, 0, 56))  # (8, 64, 32): zeros at the end
    shift = (batch_norm(padded)[:, :8] - batch_norm(sentences)).square().mean().sqrt()
    claim(
        "batch norm, padded from 8 to 64: how far one moves", shift, expected=1.84, abs=0.04
    )

    words = sentences.clone().requires_grad_()
    batch_norm(words)[0, 0].square().sum().backward()  # of the first token alone
    leak = words.grad[0, 7].norm()
    claim("batch norm: the first token hears the last", leak, at_least=0.05)


def words_with_something_in_common(batch_norm):
    def in_common(tokens, shared, seed):
        """How far one of two sentences moves whose words share a part of their variance."""
        source = generator(seed)
        own = torch.randn(3, tokens, 32, generator=source) * math.sqrt(1 - shared)
        drawn = own + torch.randn(3, 1, 32, generator=source) * math.sqrt(shared)
        first, second = (batch_norm(drawn[[0, other]])[0] for other in (1, 2))
        return (first - second).square().mean().sqrt()

    # At 8 words .44; independent words .34 at 8, .11 at 64 and .04 at 512.
    for tokens in (64, 512):
        far = torch.stack([in_common(tokens, 0.2, seed) for seed in range(10)]).mean()
        sentence = f"a fifth of the variance in common, sentences of {tokens}: how far"
        claim(sentence, far, expected=0.32, abs=0.06)


def size_left_over():
    torch.manual_seed(0)
    start = torch.randn(64, 256, generator=generator(4))
    xavier, he = nn.init.xavier_normal_, nn.init.kaiming_normal_

    def left_over(begin, then, depth=12):
        """The size of what comes out of so many layers, for inputs of size 1."""
        x = start
        for _ in range(depth):
            x = then(x @ begin(nn.Linear(256, 256).weight.data).T)
        return x.norm() / start.norm()

    # Over twenty seeds: .0013-.0015, .94-1.05; with ReLU 1.4e-5 to 2.7e-5 and .63-1.38.
    for words, begin, then, depth, size, rel in (
        ("1 × nn.Linear", torch.clone, torch.clone, 1, 0.58, 0.05),
        ("12 × nn.Linear", torch.clone, torch.clone, 12, 0.0014, 0.15),
        ("12 × Xavier", xavier, torch.clone, 12, 1, 0.12),
        ("12 × nn.Linear and ReLU", torch.clone, torch.relu, 12, 2e-5, 0.5),
        ("12 × He and ReLU", he, torch.relu, 12, 1, 0.5),
    ):
        claim(
            f"{words}: size left over",
            left_over(begin, then, depth),
            expected=size,
            rel=rel,
        )
    third = 1 / (256 * nn.Linear(256, 256).weight.var())  # over twenty seeds: 2.98-3.02
    claim("nn.Linear: 1 / (d · its variance)", third, expected=3, rel=0.02)
    claim("a factor with ReLU", 1 / math.sqrt(6), expected=0.41, abs=0.005)


def the_chart_is_right(ARRANGEMENTS, each_token):
    def random_blocks(arrangement, g, depth=12, width=256, seed=0):
        """How many times the signal grows on its way up, and the gradient on its way down."""
        source = generator(seed)
        x = first = torch.randn(16, width, generator=source).double().requires_grad_()
        for _ in range(depth):
            weight = (
                torch.randn(width, width, generator=source).double() * g / math.sqrt(width)
            )
            x = ARRANGEMENTS[arrangement](x, lambda x: x @ weight, each_token)  # noqa: B023
        probe = torch.randn(x.shape, generator=source).double()
        (x * probe).sum().backward()
        return (x.norm() / first.norm()).item(), (first.grad.norm() / probe.norm()).item()

    # Over twenty seeds each: within 14 % of the chart's formulas.
    for name, g, signal, gradient in (
        ("plain", 0.6, 0.6**12, 0.6**12),
        ("residual", 1.0, 64, 64),
        ("post-norm", 1.0, 1, 1),
        ("pre-norm", 1.0, math.sqrt(13), math.sqrt(13)),
    ):
        sizes = random_blocks(name, g)
        claim(f"chart, {name}, factor {g}: the signal", sizes[0], expected=signal, rel=0.2)
        claim(
            f"chart, {name}, factor {g}: the gradient", sizes[1], expected=gradient, rel=0.2
        )


def in_range_and_useless(gradient, cosine):
    # Over eight other sets of five: 1e-35, .0016-.017, 1.00, .22-.33. Norm only without its
    # attention: .78; without its feed-forward networks 1.00. So it is attention that averages.
    claim(
        "plain: gradient at the first of 32 layers",
        gradient["plain"][0].max(),
        at_most=1e-9,
    )
    low = gradient["norm only"].min()
    claim("norm only: smallest gradient at any layer", low, at_least=5e-4)
    claim(
        "norm only, 4 layers: cosine between tokens",
        cosine["norm only"][4].min(),
        at_least=0.99,
    )
    roads = [cosine[name][4].max() for name in ("residual", "post-norm", "pre-norm")]
    claim("with a road, 4 layers: cosine between tokens", max(roads), at_most=0.5)


def first_loss(Stack, losses_of, words):
    stack = Stack("pre-norm")
    with torch.no_grad():
        right = losses_of(stack, words).mean()
        stack.read.mul_(math.sqrt(3 * stack.read.shape[1]))  # from variance 1/(3d) to 1
        wrong = losses_of(stack, words).mean()
    # Over twenty other sets of five starts: 2.40-2.47 and 7.6-9.7.
    claim(
        "first loss, weights as nn.Linear draws them", right, expected=math.log(10), abs=0.3
    )
    claim("first loss, weights of variance 1", wrong, at_least=6)


def the_road_makes_it_learn(plain, train, Stack):
    # Over twelve other sets of five starts: 2.30 and 2.30-2.32; .04-.15; .16-.48.
    last = {name: losses[-5:].mean(0) for name, losses in plain.items()}
    slow = stored(
        [2.3, 2.3],
        lambda: [
            train(Stack(name), rate=0.003)[-5:].mean(0).min()
            for name in ("plain", "norm only")
        ],
        within=0.005,
    )
    for name, best_of_slow in zip(("plain", "norm only"), slow, strict=True):
        best = min(best_of_slow, last[name].min())
        claim(f"{name}, rates 0.003 and 0.007: loss of the best", best, at_least=2.25)
    claim("pre-norm, rate 0.007: loss of the worst", last["pre-norm"].max(), at_most=0.3)
    road_alone = train(Stack("residual"), rate=0.003)[-5:].mean(0)
    claim("residual, rate 0.003: loss of the worst", road_alone.max(), at_most=0.7)


def louder_blocks(Stack, after_each, train, words):
    length = words.shape[-1]

    def louder(arrangement):
        """Its blocks' weights have the variance 1/d, three times that of nn.Linear's."""
        stack = Stack(arrangement)
        with torch.no_grad():
            for weight in stack.layers.parameters():
                weight.mul_(math.sqrt(3))
        return stack

    one_vector = {}
    for name in ("residual", "post-norm", "pre-norm"):
        with torch.no_grad():
            *_, x = after_each(louder(name), words)
        unit = F.normalize(x, dim=-1)  # (models, B, T, d)
        sums = (unit @ unit.mT).sum((-2, -1)) - length  # each token with itself makes 1
        one_vector[name] = (sums / (length * (length - 1))).mean()
    # Four sets of five starts: .98 or more, and .79-.84.
    least = min(one_vector["residual"], one_vector["post-norm"])
    claim(
        "variance 1/d, residual and post-norm: cosine of two tokens", least, at_least=0.95
    )
    claim("variance 1/d, pre-norm: the same", one_vector["pre-norm"], at_most=0.9)

    # Best and worst of five starts: 45-85 with three sets of instructions, 2.2 and .97.
    def lost_by_louder(arrangement):
        return train(louder(arrangement), rate=0.003)[-5:].mean(0)

    residual = stored(71.0, lambda: lost_by_louder("residual").min(), within=50)
    claim("variance 1/d, residual: loss of the best", residual, at_least=2.3)
    post, pre = stored(
        [2.2, 0.97],
        lambda: [lost_by_louder("post-norm").min(), lost_by_louder("pre-norm").max()],
        within=0.15,
    )
    claim("post-norm: loss of the best", post, at_least=1.8)
    claim("pre-norm: loss of the worst", pre, at_most=1.5)


def who_needs_a_warm_up(fast, train, Stack):
    # Over twelve other sets of five starts: means of 2.15-2.30; the worst .08-.57, .26-.79.
    last = {name: losses[-5:].mean(0) for name, losses in fast.items()}
    claim(
        "post-norm, rate 0.007: mean loss", last["post-norm"].mean(), expected=2.2, abs=0.2
    )
    warm = last["post-norm, warm-up"].max()
    claim("post-norm, rate 0.007, with warm-up: loss of the worst", warm, at_most=0.9)
    # At .015 .04, at .03 .13-.74, at .06 2.0.
    faster = stored(
        0.04, lambda: train(Stack("pre-norm"), rate=0.015)[-5:].mean(), within=0.02
    )
    claim("pre-norm, rate 0.015, without: mean loss", faster, at_most=0.5)
    slow = last["post-norm, rate 0.003"].max()
    claim("post-norm, rate 0.003: loss of the worst", slow, at_most=1.1)


def one_bad_batch(step_with):
    def around_bad_batch(limit, seed):
        """The losses before and after the 70th batch, whose inputs are 100 times as large."""
        torch.manual_seed(seed)
        model, source, losses = nn.Linear(16, 1).double(), generator(seed), []
        too_large = 100
        for step in range(1, 72):
            x = torch.randn(64, 16, generator=source, dtype=torch.float64)
            y = x.sum(-1, keepdim=True)
            losses.append(step_with(model, too_large * x if step == 70 else x, y, limit))
        return losses[68], losses[70]

    # Over fifty seeds: before, up to 8e-6; after, 3e7 and more; clipped, .007-.014.
    for limit, words in ((math.inf, "not clipped"), (1.0, "clipped to 1")):
        before, after = zip(
            *[around_bad_batch(limit, seed) for seed in range(5)], strict=True
        )
        claim(f"{words}: largest loss before the bad batch", max(before), at_most=1e-4)
        if limit == 1.0:
            claim(f"{words}: largest loss after the bad batch", max(after), at_most=0.05)
        else:
            claim(f"{words}: smallest loss after the bad batch", min(after), at_least=1e7)


def too_small_or_too_loud(spreads):
    claim(
        "unbiased, d = 5: too small, in %",
        100 * (1 - spreads["unbiased"][0]),
        expected=10.6,
        abs=0.05,
    )
    unbiased_512 = 1 - math.sqrt(511 / 512)
    claim("unbiased, d = 512: too small, in %", 100 * unbiased_512, at_most=0.1)
    claim("variance 1e-10: ε outside", spreads["ε outside"][1], expected=0.99, abs=0.005)
    claim("variance 1e-10: ε inside", spreads["right"][1], expected=0.03, abs=0.005)


def pytorch_has_the_same():
    torch.manual_seed(0)
    theirs = nn.TransformerEncoderLayer(
        d_model=32,
        nhead=4,
        dim_feedforward=64,
        dropout=0,
        batch_first=True,
        norm_first=True,
    ).double()
    ours = layers.EncoderLayer(d_model=32, heads=4, hidden=64, norm_first=True).double()
    names = {
        "self_attn": "self_attention",
        "norm1": "around_self_attention.norm",
        "norm2": "around_feed_forward.norm",
        "linear1": "feed_forward.widen",
        "linear2": "feed_forward.narrow",
    }
    state = {}
    for name, tensor in theirs.state_dict().items():
        part, rest = name.split(".", 1)
        state[f"{names[part]}.{rest}"] = tensor
    ours.load_state_dict(state)
    tokens = torch.randn(2, 10, 32, generator=generator(2), dtype=torch.float64)
    difference = (ours(tokens) - theirs(tokens)).abs().max()
    claim("attnlab's layer and PyTorch's", difference, at_most=1e-12)
    ones = torch.ones(32).double()
    rms = tokens / (tokens.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    difference = (F.rms_norm(tokens, (32,), ones, 1e-5) - rms).abs().max()
    claim("RMSNorm and PyTorch's", difference, at_most=1e-12)
