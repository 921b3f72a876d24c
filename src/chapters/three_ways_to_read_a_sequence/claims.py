"""The checks of the chapter, a function for each place where its page says how many hold."""

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.attention import attend
from attnlab.runtime import generator
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.three_ways_to_read_a_sequence import number_words, starts, times
from chapters.three_ways_to_read_a_sequence.learning import (
    KINDS,
    MODELS,
    share_right,
    texts,
    train_labels,
    train_recall,
)

LENGTHS = (64, 512, 2048)
GROWS = "time grows with the length to the power"


def ours_are_pytorchs(gru, convolution):
    x, weight = (
        torch.randn(2, 10, 4, generator=generator(0)),
        starts.gru(generator(1), 4, 6),
    )
    theirs = nn.GRU(4, 6, batch_first=True)
    names = {"weight_ih_l0": "word", "bias_ih_l0": "word bias", "weight_hh_l0": "state"}
    names["bias_hh_l0"] = "state bias"
    theirs.load_state_dict(
        {name: weight[ours].movedim(0, -1) for name, ours in names.items()}
    )
    difference = (gru(x, weight) - theirs(x)[0]).abs().max()
    claim("our GRU against nn.GRU", difference, at_most=1e-12)
    window, bias = (
        torch.randn(3, 4, 4, generator=generator(2)),
        torch.randn(4, generator=generator(3)),
    )
    padded = F.pad(x.mT, (4, 0))
    theirs = F.conv1d(padded, window.permute(2, 1, 0), bias, dilation=2).mT
    difference = (convolution(x, window, bias, dilation=2) - theirs).abs().max()
    claim("our convolution against F.conv1d", difference, at_most=1e-12)


def who_sees_the_future(seen):
    for name, moves in seen.items():
        future = moves.triu(1).max()
        if name.endswith("both sides"):
            claim(f"{name}: the future moves an output", future, at_least=0.1)
        else:
            claim(f"{name}: the future moves an output", future, expected=0)


def words_heard(moved_by, convolution):
    source, bias = generator(5), torch.zeros(8)
    for kernel, dilations in ((2, (1, 2)), (3, (1, 2, 4, 8)), (2, (1, 1, 1)), (4, (1, 4))):
        drawn = torch.randn(kernel, 8, 8, generator=source)

        def stack(x, drawn=drawn, dilations=dilations):
            for dilation in dilations:
                x = convolution(x, drawn, bias, dilation)
            return x

        heard = (moved_by(stack, length=40)[-1] > 0).sum()
        expected = 1 + (kernel - 1) * sum(dilations)
        claim(
            f"kernel {kernel}, dilations {dilations}: words heard", heard, expected=expected
        )


def how_it_fades(left):
    # Over five sets of five: 3e-14 to 1.4e-13, and .8-1.3.
    claim("GRU: gradient 64 words back against 1 back", left["GRU"][64], at_most=1e-9)
    claim(
        "attention: gradient 64 words back against 1 back",
        left["attention"][64],
        at_least=0.5,
    )
    # Over five sets of five: .61-.63.
    rate = (left["GRU"][64] / left["GRU"][16]) ** (1 / 48)
    claim("GRU: what a step back leaves of it", rate, expected=0.6, abs=0.1)
    hears = (left["convolution"] > 0).sum()
    claim("convolution: words that are heard", hears, expected=32)


def lead_of_attention(taken):
    return [
        slow / fast
        for slow, fast in zip(taken["recurrence"], taken["attention"], strict=True)
    ]


def short_texts(taken):
    # On three kinds of processor, idle and busy: 5-10 times as fast at 64 words, 1/3.4 to
    # nearly as fast at 2,048. PyTorch's hangs on its instructions: .9-4 times as fast there.
    lead = lead_of_attention(taken)[0]
    claim("64 words: the time of the recurrence over our attention's", lead, at_least=2)


def time_by_length(taken):
    # Powers of 1.0-1.3, .7-.9, 2.0-2.8 and 1.5-1.7.
    grows = {name: times.exponent(LENGTHS[1:], each[1:]) for name, each in taken.items()}
    claim(f"recurrence: {GROWS}", grows["recurrence"], expected=1, abs=0.5)
    lead = lead_of_attention(taken)
    steeper = grows["attention"] - grows["recurrence"]
    claim("our attention: to that power, and more by", steeper, at_least=0.5)
    claim(
        "64 words: that lead of our attention, over the one at 2,048",
        lead[0] / lead[2],
        at_least=3,
    )
    claim(f"convolution: {GROWS}", grows["convolution"], at_most=1.3)
    convolution_2048 = taken["convolution"][2]

    claim(
        "2,048 words: recurrence over it",
        taken["recurrence"][2] / convolution_2048,
        at_least=2,
    )
    claim(
        "2,048 words: our attention over it",
        taken["attention"][2] / convolution_2048,
        at_least=2,
    )


def times_in_the_figure():
    crossing = times.crossing(times.LENGTHS, times.MEASURED, "attention", "recurrence")
    claim("figure: our attention takes longer from", crossing, expected=1400, rel=0.05)
    square = times.exponent(times.LENGTHS[4:], times.MEASURED["attention"][4:])
    claim(f"figure, our attention: {GROWS}", square, expected=2, abs=0.15)
    in_figure = times.MEASURED["recurrence"], times.MEASURED["PyTorch's attention"]
    ahead = min(slow / fast for slow, fast in zip(*in_figure, strict=True))
    claim("figure: recurrence over PyTorch's attention, at the least", ahead, at_least=3)
    claim("figure: width of every vector", times.WIDTH, expected=32)


def each_head_has_a_table():
    one, four = (times.attention_with_heads(heads, length=512, turns=5) for heads in (1, 4))
    # On one kind of processor, busy, eight times: 3.5 to 5.5.
    claim("512 words: our attention with four heads, over one head", four / one, at_least=2)


def easy_to_teach_from_near(recalled):
    def worst_at_64(**how):
        weight = train_recall(recalled, "GRU", rate=0.015, **how)
        return share_right(recalled, "GRU", weight, 64).min()

    # Over six sets of five starts: .95-1.0, .98-1.0.
    claim(
        "GRU, rate 0.015, trained at 1 to 32 and asked at 64: the worst of five",
        worst_at_64(distances=range(1, 33)),
        at_least=0.9,
    )
    claim(
        "GRU, rate 0.015, trained at 64 with its gate open: the worst of five",
        stored(1.0, lambda: worst_at_64(distances=[64], open_by=3), within=0.03),
        at_least=0.9,
    )


def each_at_its_distance(recalled, right):
    def slowly(distance):
        weight = train_recall(recalled, "GRU", [distance], rate=0.015)
        return share_right(recalled, "GRU", weight, distance)

    # Over six sets of five starts, the best: 0.13-0.14. (At 0.02, in two sets, .38, .45.)
    slow = stored(0.137, lambda: slowly(64).max(), within=0.02)
    claim("GRU, trained at 64 at rate 0.015: the best of five", slow, at_most=0.25)
    # Over six sets of five starts: 1.0.
    near = stored(1.0, lambda: slowly(8).min(), within=0.02)
    claim("GRU, trained at 8 at rate 0.015: the worst of five", near, at_least=0.9)
    # Over three sets of five starts: 0.71-0.95; over six, attention: 0.84-0.98.
    claim("GRU, trained at 64 at the rate above", right["GRU"][64].mean(), at_least=0.5)
    claim("attention, at 64: share right", right["attention"][64].mean(), at_least=0.75)
    # Over six sets of five starts: 0.93-1.0 and 0.12-0.16.
    claim(
        "convolution, at 15: the worst of five",
        right["convolution"][15].min(),
        at_least=0.9,
    )
    claim(
        "convolution, at 16: the best of five", right["convolution"][16].max(), at_most=0.3
    )


def equally_large(right):
    sizes = [
        sum(tensor.numel() for tensor in starts.recall(name, 0, MODELS, KINDS).values())
        / MODELS
        for name in right
    ]
    claim("parameters of each, from the least", min(sizes), expected=4100, rel=0.02)
    claim("parameters: the most over the least", max(sizes) / min(sizes), at_most=1.04)


def attention_far_away(recalled):
    # 1.0 for all five, at 1,000 back as well.
    near = train_recall(recalled, "attention", range(1, 33))
    claim(
        "attention, trained at 1 to 32 and asked at 512: the worst of five",
        share_right(recalled, "attention", near, 512, batch=32).min(),
        at_least=0.9,
    )
    far, _ = texts(512, 32, generator(77))
    beside = torch.cat([far[:, 1:-1], far[:, :1], far[:, -1:]], dim=1)
    with torch.no_grad():
        change = recalled("attention", near, far) - recalled("attention", near, beside)
    claim("its scores, the letter moved: largest change", change.abs().max(), at_most=1e-9)
    fresh = starts.recall("attention", 0, MODELS, KINDS)
    query, key, _ = (fresh["letter"][:, far] @ fresh["qkv"]).chunk(3, -1)
    _, weights = attend(query[..., -1:, :], key, key)
    # Over ten other starts: .0017-.0022.
    claim(
        "weight on it before training", weights[..., 0].mean(), expected=1 / 513, rel=0.25
    )


def both_read_new_numbers(label_scores, trained):
    (inputs, _), (_, held_out) = number_words.tables(), number_words.known_and_held_out()

    @torch.no_grad()
    def labels_right(how, weight):
        right = label_scores(how, weight, inputs[held_out]).argmax(-1) == held_out % 2
        return right.double().mean()

    def own_token():
        return labels_right("own token", train_labels(label_scores, "own token"))

    # Over six sets of five starts: .92-.95, .94-.99; the last change over three 7-14.
    shares = {
        "mean": labels_right("mean", trained["mean"]),
        "own token": stored(0.9875, own_token, within=0.02),
    }
    for how, share in shares.items():
        claim(f"{how}: share right, numbers never seen", share, at_least=0.8)

    with torch.no_grad():
        three = trained | {"mean, padding counted": trained["mean"]}
        for how, weight in three.items():
            longer = label_scores(how, weight, F.pad(inputs, (0, 60)))
            change = (longer - label_scores(how, weight, inputs)).abs().max()
            text = f"{how}: 60 more places of padding change a score by"
            if how == "mean, padding counted":
                claim(text, change, at_least=2)
            else:
                claim(text, change, at_most=1e-9)


def forced_and_free(write, writer, course):
    _, held_out = number_words.known_and_held_out()
    # Over six sets of five starts: .88-.90, .68-.71, .19-.22.
    forced, free = course[-1].mean(-1)
    claim(
        "letters right with teacher forcing, mean of five", forced, expected=0.89, abs=0.04
    )
    claim("letters right running freely, mean of five", free, expected=0.69, abs=0.08)
    claim("the difference, mean of five", forced - free, at_least=0.12)
    with torch.no_grad():
        wrote = [
            map(number_words.written, rows) for rows in write(writer, held_out).argmax(-1)
        ]
    numbers = [*map(number_words.spelled, range(100))]
    wrong = [
        text
        for texts in wrote
        for text, n in zip(texts, held_out, strict=True)
        if text != numbers[n]
    ]
    spelled = sum(text in numbers for text in wrong) / len(wrong)
    claim("of what is wrong, running freely: another number", spelled, at_least=0.85)
