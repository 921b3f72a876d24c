"""The checks of the chapter, a function for each place where its page says how many hold."""

import math

import torch
from torch.nn.functional import glu, one_hot, scaled_dot_product_attention

from attnlab import scores
from attnlab.attention import attend, gate
from attnlab.runtime import generator
from bookkit.claims import claim

FROM_1_TO_3 = torch.linspace(1, 3, 8)  # lengths of keys


def largest(difference):
    return difference.abs().max()


def softmax_overflow(softmax):
    large = torch.tensor([1000.0, 999.0, 998.0])
    as_written = large.exp() / large.exp().sum()
    claim(
        "the formula as written: all three weights are NaN", as_written.isnan().all().item()
    )
    small = torch.tensor([2.0, 1.0, 0.0])
    change = largest(softmax(large) - softmax(small))
    claim(
        "the formula with the largest score taken off: difference from the weights for 2, 1, 0",
        change,
        expected=0,
    )


def softmax_promises(softmax):
    source = generator(0)
    rows = 10 * torch.rand(10_000, 5, generator=source) - 5
    weights = softmax(rows)
    values = torch.rand(10_000, 5, generator=source)
    answers = (weights * values).sum(-1)

    claim("how far any row's sum is from 1", largest(weights.sum(-1) - 1), at_most=1e-14)
    # Four keys ahead by 10 leave 1 / (1 + 4 e^10) = 1.13e-5.
    claim("smallest of the 50,000 weights", weights.min(), at_least=1.1e-5)
    shifted = softmax(rows + 100)
    claim(
        "100 added to every score: largest change",
        largest(shifted - weights),
        at_most=1e-12,
    )
    ratio = (weights[:, 0] / weights[:, 1]).log() - (rows[:, 0] - rows[:, 1])
    claim("log(p_1 / p_2) is s_1 - s_2: largest error", largest(ratio), at_most=1e-12)
    reordered = (rows.argsort(-1) != weights.argsort(-1)).sum()
    claim(
        "places where sorting by weight differs from sorting by score",
        reordered,
        expected=0,
    )
    outside = ((answers > values.amax(-1)) | (answers < values.amin(-1))).sum()
    claim("answers outside the range of their values", outside, expected=0)
    difference = largest(weights - torch.softmax(rows, dim=-1))
    claim("largest difference between ours and torch.softmax", difference, at_most=1e-14)


def three_words(output, weights, answer, query, key, value):
    claim("“it”: in matrices against by hand", largest(output[2] - answer), at_most=1e-14)
    claim("how much of “animal” “it” has taken up", output[2, 0], expected=8.67, abs=0.005)
    theirs, their_weights = attend(query, key, value, score=scores.dot)
    claim("our output against attnlab's", largest(output - theirs), at_most=1e-14)
    claim("our weights against attnlab's", largest(weights - their_weights), at_most=1e-14)
    order = torch.tensor([2, 0, 1])
    moved, _ = attend(query, key[order], value[order], score=scores.dot)
    claim(
        "keys and values reordered: largest change", largest(moved - output), at_most=1e-14
    )
    half = largest(query[1]) / largest(query[2])
    claim("length of the query of “barked”, over that of “it”", half, expected=0.5)


def default_score(softmax, query, key, value):
    scaled, _ = attend(query, key, value)
    by_hand = softmax(query @ key.mT / math.sqrt(2)) @ value
    claim(
        "attend unless told: scores over the root of 2",
        largest(scaled - by_hand),
        at_most=1e-14,
    )
    source = generator(6)
    wide = (
        torch.randn(20_000, 64, generator=source),
        torch.randn(20_000, 64, generator=source),
    )
    spread = (wide[0] * wide[1]).sum(-1).std()
    claim("d_k = 64: spread of q·k, over that of one product", spread, expected=8, rel=0.03)


def hot_and_cold(softmax, query, key, hours, counts):
    def ask(hour, temperature=1.0):
        weights = softmax(-(hour - hours).abs() / temperature)
        return weights @ counts, weights

    _, at_14 = ask(14, 0.1)
    claim(
        "14 o'clock, temperature 0.1: what the best key lacks",
        1 - at_14[1],
        expected=0.00005,
        abs=0.00001,
    )
    _, at_14_4 = ask(14.4, 0.1)
    claim(
        "14.4 o'clock, temperature 0.1: the runner-up", at_14_4[2], expected=0.12, abs=0.005
    )
    for temperature in (0.1, 0.001):
        answer, _ = ask(14.5, temperature)
        claim(f"14.5 o'clock, temperature {temperature}", answer, expected=65, abs=1e-9)
    answer, _ = ask(14, 1000)
    claim("14 o'clock, temperature 1000: the answer", answer, expected=50, abs=0.1)
    half_as_hot = largest(softmax(2 * query[1] @ key.mT) - softmax(query[1] @ key.mT / 0.5))
    claim("a query twice as long against half the temperature", half_as_hot, at_most=1e-14)


def by_distance_and_product(lengths, kernel_attention, softmax):
    """The keys, one of each length, and the weights that 100 queries give them: (100, 8), twice."""
    source = generator(2)
    turn = 2 * math.pi * torch.rand(8, 1, generator=source)
    key = torch.cat([turn.cos(), turn.sin()], dim=-1) * lengths.unsqueeze(-1)  # (8, 2)
    query = torch.randn(100, 2, generator=source)
    by_distance = kernel_attention(query, key, torch.eye(8), bandwidth=1)
    return key, by_distance, softmax(scores.dot(query, key))


def distance_or_dot_product(kernel_attention, softmax):
    equally_long = torch.full((8,), 2.0)
    _, by_distance, by_product = by_distance_and_product(
        equally_long, kernel_attention, softmax
    )
    change = largest(by_distance - by_product)
    claim(
        "keys equally long, by distance or by dot product: largest difference of a weight",
        change,
        at_most=1e-12,
    )
    _, by_distance, by_product = by_distance_and_product(
        FROM_1_TO_3, kernel_attention, softmax
    )
    # Over ten other draws: .50-.70.
    change = largest(by_distance - by_product)
    claim(
        "lengths from 1 to 3, by distance or by dot product: difference",
        change,
        at_least=0.4,
    )


def bonus_of_long_keys(kernel_attention, softmax):
    key, by_distance, by_product = by_distance_and_product(
        FROM_1_TO_3, kernel_attention, softmax
    )
    bonus = (by_product / by_distance).log()  # (100, 8)
    bonus = bonus - bonus[:, :1]  # against the first key
    expected = key.square().sum(-1) / 2
    error = largest(bonus - (expected - expected[0]))
    claim(
        "log of the long keys' bonus, against ‖k‖²/2: largest error", error, at_most=1e-10
    )


def bandwidths(answers, line, place, noisy):
    off = [(answer - line.sin()).square().mean().sqrt() for answer in answers.values()]
    # Over four other draws: .32-.50, .18-.31, .67-.70.
    claim("h = 0.02: how far off the wave, over h = 0.5", off[0] / off[1], at_least=2)
    claim("h = 5: how far off the wave, over h = 0.5", off[2] / off[1], at_least=3)
    kernel = (-(line - place.mT).square() / (2 * 0.5**2)).exp()  # (121, 40)
    as_watson = kernel @ noisy / kernel.sum(-1, keepdim=True)
    difference = largest(as_watson - answers["h = 0.5"])
    claim("a mean weighted by bells, against attention", difference, at_most=1e-12)


def gate_competition(softmax):
    three = torch.tensor([1.0, 2.0, 0.0])
    four = torch.tensor([1.0, 2.0, 0.0, 3.0])
    change = largest(four.sigmoid()[:3] - three.sigmoid())
    claim("gate: largest change of the first three shares", change, expected=0)
    left = softmax(four)[:3].sum()
    claim("weighted sum: what the first three have left", left, expected=0.36, abs=0.005)


def gate_and_weighted_sum(glimpse, features, attention, value, softmax):
    same = torch.equal(glimpse, gate(features, attention))
    claim("this is attnlab's gate, bit for bit", same)
    claim("sum of the attention", attention.sum(), expected=1.6, abs=1e-12)
    w = torch.tensor([0.867, 0.016, 0.117])  # one share a row
    summed = gate(value, w.unsqueeze(-1).expand(3, 2).contiguous()).sum(0)
    claim(
        "gated and summed, against weighted sum", largest(summed - w @ value), at_most=1e-14
    )

    score = 10 * torch.rand(1000, generator=generator(3)) - 5
    pair = torch.stack([score, torch.zeros(1000)], dim=-1)  # (1000, 2): feature, nothing
    share = softmax(pair)[:, 0]
    difference = largest(score.sigmoid() - share)
    claim("sigmoid against softmax over (s, 0)", difference, at_most=1e-14)

    declines = torch.tensor([0.0, 0.0, 0.0, 9.0])  # three poor matches, and “none of these”
    with_nothing = torch.cat([value, torch.zeros(1, 2)])
    passed_on = (softmax(declines) @ with_nothing).max()
    claim(
        "largest number passed on when “none of these” leads by 9", passed_on, at_most=0.01
    )
    without = (softmax(declines[:3]) @ value).max()
    claim("the same without that key", without, expected=10 / 3, abs=1e-12)


def crowd_against_one(crowd, matching, softmax):
    for i, share in ((0, 0.9995), (2, 0.9566), (4, 0.1805)):
        sentence = f"share of a key at score 10, with {crowd[i]:,} others at score 0"
        claim(sentence, matching[i], expected=share, abs=0.0001)
    claim("e^10", math.exp(10), expected=22_000, rel=0.01)
    behind = softmax(torch.tensor([0.0, 110.0], dtype=torch.float32))[0]
    claim("in numbers of 32 bits: weight of a key that is 110 behind", behind, expected=0)


def slopes(softmax, hours, counts, hard):
    score = (-(14 - hours).abs()).requires_grad_()
    weights = softmax(score)
    soft = weights @ counts
    (slope,) = torch.autograd.grad(soft, score)
    formula = (weights * (counts - soft)).detach()
    claim("at 14 o'clock: weight of the key 10", weights[0], expected=0.04, abs=0.006)
    claim(
        "autograd's derivative against the formula", largest(slope - formula), at_most=1e-12
    )
    claim(
        "smallest derivative of the three, without its sign",
        slope.abs().min(),
        at_least=1.5,
    )

    picked = counts[score.argmax()]
    claim(
        "hard selection: PyTorch knows of no path to the scores", not picked.requires_grad
    )

    claim(
        "hard selection: answers while key 10 is nudged by less than 3",
        hard[:30].unique().numel(),
        expected=1,
    )

    cold = softmax(score / 0.1) @ counts
    (slope,) = torch.autograd.grad(cold, score)
    claim("soft at temperature 0.1: largest derivative", largest(slope), at_most=0.02)


def small_slopes_with_adam(softmax, counts, start, lower):
    for name, first, temperature in (
        ("key 10 lower by 6", lower, 1),
        ("at 0.1", start, 0.1),
    ):
        score = first.clone().requires_grad_()
        adam = torch.optim.Adam([score], lr=0.1)
        for _ in range(1000):
            adam.zero_grad()
            (softmax(score / temperature) @ counts - 20).square().backward()
            adam.step()
        answer = softmax(score.detach() / temperature) @ counts
        claim(
            f"{name}: the answer after a thousand steps of Adam", answer, expected=20, abs=1
        )


def hard_choice_by_chance(softmax, counts, start):
    source = generator(0)
    score, usual, shares = start.expand(100, 3), None, {}  # a hundred trials
    for drawn in range(1, 10_001):
        p = softmax(score)
        key_drawn = torch.multinomial(p, 1, generator=source)
        reward = -(counts[key_drawn] - 20).square() / 1000
        usual = reward if usual is None else 0.9 * usual + 0.1 * reward
        score = score + 0.1 * (reward - usual) * (one_hot(key_drawn[:, 0], 3) - p)
        if drawn in (1000, 10_000):
            shares[drawn] = (softmax(score)[:, 0] > 0.9).double().mean()
    # Of 500 other trials: .57, all. The standard error of a hundred is .05.
    claim(
        "a key drawn by its weight: taken over after 1,000 draws",
        shares[1000],
        expected=0.57,
        abs=0.15,
    )
    claim(
        "a key drawn by its weight: taken over after 10,000 draws",
        shares[10_000],
        at_least=0.97,
    )


def two_rows_one_output(corners, one, other):
    common = torch.minimum(one, other).sum()
    claim("weight that the two rows have in common", common, expected=0.04, abs=1e-12)
    difference = largest(one @ corners - other @ corners)
    claim("the two rows: largest difference of their outputs", difference, at_most=1e-15)


def free_ways(corners):
    def free(values):
        """In how many ways weights can change, their sum and the output kept."""
        fixed = torch.cat([values, torch.ones(len(values), 1)], dim=-1)
        return len(values) - torch.linalg.matrix_rank(fixed).item()

    claim(
        "four corners of a square: free ways to change the weights",
        free(corners),
        expected=1,
    )
    claim("three corners of a triangle: the same", free(corners[:3]), expected=0)
    values = torch.randn(10, 8, generator=generator(7))
    claim("ten random values of eight numbers: the same", free(values), expected=1)
    claim("nine of them: the same", free(values[:9]), expected=0)


def beyond_the_keys(softmax, stored, asked, answered):
    temperatures = (0.01, 0.1, 1, 10, 100)
    answers = [softmax(-(15 - stored).abs() / t) @ (2 * stored) for t in temperatures]
    claim(
        "15, where the line says 30: highest of five temperatures", max(answers), at_most=20
    )
    inner = (asked >= 2) & (asked <= 8)
    off = largest((answered - 2 * asked)[inner])
    claim("from 2 to 8: largest distance from the line", off, at_most=0.3)
    claim("the figure's highest answer", answered.max(), at_most=20)


def temperature_zero(softmax):
    score = torch.tensor([0.0, 1.0, -2.0])
    by_zero = torch.cat([softmax(each / 0) for each in (score, score + 5, score - 5)])
    claim(
        "scores over 0, three rows of them: all weights are NaN",
        by_zero.isnan().all().item(),
    )
    theirs = torch.softmax((score + 5) / 0, -1)
    claim("the same with torch.softmax", theirs.isnan().all().item())
    cold = softmax(score / 1e-9)
    claim("softmax(score / 1e-9) is exactly (0, 1, 0)", cold.tolist() == [0, 1, 0])
    too_cold = softmax(score.float() / 1e-39)
    claim("in numbers of 32 bits, score / 1e-39: NaN again", too_cold.isnan().all().item())


def same_as_pytorch(softmax):
    source = generator(5)
    query = torch.randn(1, 5, 4, generator=source, dtype=torch.float64)
    key = torch.randn(1, 7, 4, generator=source, dtype=torch.float64)
    value = torch.randn(1, 7, 3, generator=source, dtype=torch.float64)
    for temperature in (1.0, 0.25):
        ours = softmax(query @ key.mT / temperature) @ value
        theirs = scaled_dot_product_attention(query, key, value, scale=1 / temperature)
        difference = largest(ours - theirs)
        claim(
            f"temperature {temperature}: ours against PyTorch's", difference, at_most=1e-12
        )

    both = torch.randn(5, 16, generator=source, dtype=torch.float64)
    features, score = both.chunk(2, dim=-1)
    difference = largest(gate(features, score.sigmoid()) - glu(both))
    claim("our gate against PyTorch's gated linear unit", difference, at_most=1e-15)
