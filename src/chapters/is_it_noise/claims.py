"""The checks of the chapter, a function for each place where its page says how many hold."""

import math

import torch

from attnlab.runtime import generator
from attnlab.training.many_seeds import student
from bookkit.claims import claim
from chapters.is_it_noise import models
from chapters.is_it_noise.bank import drawn, longer
from chapters.is_it_noise.measuring import files_hold, half_widths, share, texts_hold


def correlation(one, other):
    return torch.corrcoef(torch.stack([one, other]))[0, 1]


def around(found, n):
    """`around(0.93, 12)` is 0.76 to 0.98: where a correlation of twelve lies at 95 %, by Fisher's formula."""
    middle, half = math.atanh(found), 1.96 / (n - 3) ** 0.5
    return math.tanh(middle - half), math.tanh(middle + half)


def gain(bank, name):
    return bank["as it is"].mean() - bank[name].mean()


def clean_victories(in_front, first, second):
    # Of another bank .11 and .020.
    claim("three in front, by counting: 2 of 20 ways", 2 / math.comb(6, 3), expected=1 / 10)
    claim("ways to say which three are B's", math.comb(6, 3), expected=20)
    claim("three in front, by drawing", in_front.double().mean(), expected=0.1, abs=0.03)
    apart = (first.mean(1) - second.mean(1)).abs().mean()
    claim("means of three, apart where nothing differs", apart, expected=0.02, abs=0.006)


def what_a_seed_decides(bank, model, new_text):
    # Over two banks, from seeds 0 and 1000.
    as_it_is = bank["as it is"]
    spread = torch.cat([as_it_is, bank["the same again"]]).std()
    claim("columns", model.embedding.weight.shape[1], expected=24)
    claim("updates", models.UPDATES, expected=120)
    claim("new sentences", models.MANY, expected=1000)
    claim("trained here, as in the bank", new_text, expected=float(as_it_is[0]), abs=0.02)
    claim("standard deviation over seeds", spread, expected=0.03, abs=0.008)
    large, small = gain(bank, "rate 60 % higher"), gain(bank, "rate 10 % higher")
    claim("rate 60 % higher: gains, in s", large / spread, at_least=3)
    claim("rate 10 % higher: gains", small, expected=0.02, abs=0.006)
    claim("rate 10 % higher: gains, in s", small / spread, at_most=1)
    same_weights = correlation(as_it_is, bank["another order"])
    claim("another order: correlation", same_weights, expected=0.95, abs=0.05)
    same_order = correlation(as_it_is, bank["other weights"]).abs()
    claim("other weights: correlation", same_order, at_most=0.35)


def how_often_intervals_hold(held, as_it_is, source):
    # Of another bank .78, .70, .91. Of twelve draws .779 and .704, with a spread of .01.
    claim("three: 1.96 errors hold it", held["1.96 errors"][0], expected=0.79, abs=0.05)
    claim("from three: bootstrap holds it", held["bootstrap"][0], expected=0.72, abs=0.06)
    claim("from three: Student's holds it", held["Student"][0], expected=0.93, abs=0.035)
    for name, each in held.items():
        claim(f"from twenty: {name}", each[-1], at_least=0.88)
    errors = [drawn(as_it_is, n, 20_000, source).mean(1).std() for n in (4, 16)]
    claim(
        "4 × the seeds: error, over before",
        errors[1] / errors[0],
        expected=0.5,
        abs=0.02,
    )


def students_factor(factor):
    for n in (3, 5, 10, 20):
        claim(f"{n} seeds: errors, by trying", factor(n), expected=student(n - 1), rel=0.02)
    claim("many seeds: errors", student(10_000), expected=1.96, abs=0.002)
    claim("three seeds: errors", student(2), expected=4.3, abs=0.01)


def best_of_several(bank, source):
    def best(n):
        return drawn(bank["as it is"], n, 20_000, source).amin(1)

    def wins(ours, theirs):  # an equal loss is half a win: the bank has only forty
        return (ours < theirs).double().mean() + (ours == theirs).double().mean() / 2

    five, one = best(5), best(1)
    claim("best of five against one: wins", wins(five, one), expected=5 / 6, abs=0.015)
    by = one.mean() - five.mean()
    claim("wins by", by, expected=0.04, abs=0.012)
    times = by / gain(bank, "rate 10 % higher")
    claim("over what a rate 10 % higher brings", times, expected=1.8, abs=0.6)


def what_pairs_gain(bank):
    # Of another bank: .99, .72, .10.
    as_it_is, faster = bank["as it is"], "rate 10 % higher"
    claim(
        "rate 10 % higher: correlation", correlation(as_it_is, bank[faster]), at_least=0.95
    )
    wider = correlation(as_it_is, bank["a wider network"])
    claim("a wider network: correlation", wider, at_most=0.5)

    def narrower(name):
        groups = (bank[name].var() + as_it_is.var()) ** 0.5
        return groups / (bank[name] - as_it_is).std()

    claim("rate 10 % higher: times as narrow", narrower(faster), expected=7, abs=1.5)
    seeds = narrower(faster) ** 2
    claim("rate 10 % higher: times the seeds, as groups", seeds, expected=50, abs=20)
    claim("one head: times as narrow", narrower("one head"), expected=1.65, abs=0.33)
    several = narrower("one head") * student(78) / student(39)
    claim("one head: interval, times as narrow", several, expected=1.6, abs=0.33)
    alike = correlation(as_it_is, bank["one head"])
    as_said = narrower("one head") * (1 - alike) ** 0.5
    claim("one head: that, over what its correlation says", as_said, expected=1, abs=0.05)
    claim("a wider network: times as narrow", narrower("a wider network"), at_most=1.4)


def what_pairs_cost(bank, source):
    claim("three pairs: errors to either side", student(2), expected=4.3, abs=0.01)
    claim("three of each: errors to either side", student(4), expected=2.8, abs=0.05)
    # Drawing adds .0005.
    here, there = (torch.randint(40, (20_000, 3), generator=source) for _ in range(2))
    in_pairs, _ = half_widths(bank["as it is"][here], bank["a wider network"][here])
    _, as_groups = half_widths(bank["as it is"][here], bank["a wider network"][there])
    claim("a wider network, three pairs: ±", in_pairs.mean(), expected=0.078, abs=0.004)
    claim("a wider network, three of each: ±", as_groups.mean(), expected=0.064, abs=0.004)
    one, other = torch.randn(2, 20_000, 10, generator=source)
    in_pairs, as_groups = half_widths(one, other)
    claim(
        "ten seeds, nothing shared: pairs over groups",
        in_pairs.mean() / as_groups.mean(),
        at_most=1.1,
    )
    one, other = torch.randn(2, 100_000, 3, generator=source)
    narrower = torch.minimum(*half_widths(one, other))
    found = share((one.mean(1) - other.mean(1)).abs() > narrower)
    claim("the narrower, nothing differs: finds something", found, expected=0.08, abs=0.005)


def how_many_seeds(power, small, bank, source):
    # Of another bank: two groups .08, .72 for the small, .78 for the large one; pairs .73.
    of_large, of_small, in_pairs = power.values()
    claim("three, large: seen", of_large[1], expected=0.7, abs=0.15)
    claim("three, small: seen", of_small[1], expected=0.1, abs=0.05)
    claim("forty, small: seen", of_small[5], expected=0.82, abs=0.13)
    claim("three pairs, small: seen", in_pairs[1], expected=0.75, abs=0.2)
    claim("small: seeds that the formula asks for", small, expected=36, abs=12)
    few, other = (
        drawn(bank[name], 3, 20_000, source) for name in ("as it is", "rate 10 % higher")
    )
    found = few.mean(1) - other.mean(1)
    _, half = half_widths(few, other)
    claim(
        "small, where three see it: times what it is",
        found[found > half].mean() / gain(bank, "rate 10 % higher"),
        at_least=1.5,
    )
    claim("the formula's 16", 2 * (1.96 + 0.84) ** 2, expected=16, abs=0.5)
    claim("of pairs: 8", (1.96 + 0.84) ** 2, expected=8, abs=0.25)


def what_the_formula_asks_for(seeds_needed, source):
    def power(n, difference, paired=False):  # for pairs the spread of the differences is 1
        one, other = torch.randn(2, 20_000, n, generator=source)
        if paired:
            found, half = one.mean(1) + difference, student(n - 1) * one.std(1) / n**0.5
        else:
            found, half = (other - one).mean(1) + difference, half_widths(one, other)[1]
        return share(found.abs() > half)

    # From 4 to 65 seeds .80 to .94, in pairs .80 to .97. Drawing adds .005.
    seen = [power(seeds_needed(each, 1), each) for each in (3, 2, 1, 0.5)]
    claim("two groups: what it asks for sees, at the least", min(seen), at_least=0.785)
    seen = [
        power(seeds_needed(each, 1, groups=1), each, paired=True) for each in (3, 2, 1, 0.5)
    ]
    claim("pairs: what it asks for sees, at the least", min(seen), at_least=0.785)


def four_times_the_updates(seeds_needed):
    four_times = longer()
    one, other = four_times["as it is"], four_times["rate 10 % higher"]
    claim("four times the updates: seeds", len(one), expected=12)
    same_weights = correlation(one, four_times["another order"])
    claim(
        "four times the updates, another order: correlation",
        same_weights,
        expected=0.9,
        abs=0.15,
    )
    low, high = around(same_weights, len(one))
    claim("its interval: from", low, expected=0.78, abs=0.01)
    claim("its interval: to", high, expected=0.98, abs=0.01)
    two_rates = correlation(one, other)
    claim(
        "four times the updates, two rates: correlation", two_rates, expected=0.95, abs=0.05
    )
    low, high = around(two_rates, len(one))
    claim("its interval: from", low, expected=0.91, abs=0.01)
    claim("its interval: to", high, expected=0.99, abs=0.01)
    found = one.mean() - other.mean()
    spread = ((one.var() + other.var()) / 2).sqrt()
    claim("four times the updates: s", spread, expected=0.011, abs=0.001)
    claim(
        "four times the updates: rate 10 % higher gains", found, expected=0.0045, abs=0.0005
    )
    claim("for that, seeds of each", seeds_needed(found, spread), expected=100, abs=15)
    claim("for that, pairs", seeds_needed(found, (one - other).std(), groups=1), expected=7)


def what_the_unit_changes(half, asked, kilobits, of_files, half_width):
    for name, unit, expected in (
        ("GPT alone", "pieces", 0.006),
        ("GPT alone", "texts", 0.026),
        ("GPT alone", "files", 0.055),
        ("LSTM minus GPT", "files", 0.012),
    ):
        claim(f"{name}, by {unit}: ±", half[name][unit], expected=expected, rel=0.1)
    effect = (half["GPT alone"]["files"] / half["GPT alone"]["pieces"]) ** 2
    claim("design effect", effect, expected=86, rel=0.02)
    pieces, kilobytes = asked["pieces"], asked["kilobytes"]
    claim("as many pieces, one by one", pieces.sum() / effect, expected=3100, rel=0.02)
    claim("texts", len(pieces), expected=790)
    claim("files", int(of_files.max()) + 1, expected=140)
    claim("pieces", pieces.sum(), expected=268_000, rel=0.002)
    whole = {name: bits.sum() / kilobytes.sum() for name, bits in kilobits.items()}
    claim("GPT: bits a byte", whole["GPT"], expected=1.61, abs=0.005)
    claim("LSTM minus GPT", whole["LSTM"] - whole["GPT"], expected=0.098, abs=0.001)
    grams = kilobits["5-gram"] - kilobits["GPT"]
    claim("5-gram minus GPT", whole["5-gram"] - whole["GPT"], expected=0.063, abs=0.001)
    claim(
        "5-gram minus GPT, by files: ±",
        half_width(grams, kilobytes, of_files),
        expected=0.029,
        abs=0.002,
    )
    alone = [half_width(kilobits[name], kilobytes, of_files) for name in ("GPT", "5-gram")]
    on_others = (alone[0] ** 2 + alone[1] ** 2) ** 0.5
    claim("5-gram minus GPT, on different files: ±", on_others, expected=0.081, abs=0.002)


def leftovers_hold(nats, asked, of_files, half_width, source):
    cost, size = torch.tensor([175.0, 145.0]), torch.tensor([100.0, 100.0])
    due = 100 * cost.sum() / size.sum()
    claim("two texts by hand: should have cost", due, expected=160, abs=1e-4)
    claim("two texts by hand: their sum is off by", 450**0.5, expected=21, abs=0.3)
    claim(
        "two texts by hand: error of the mean", 450**0.5 / 200, expected=0.106, abs=0.0005
    )
    error = half_width(cost, size, torch.arange(2))
    claim("two texts by hand: ±", error, expected=1.96 * 450**0.5 / 200, abs=1e-5)
    by_pieces, by_texts = texts_hold(nats["GPT alone"], asked, source)
    claim("50 texts drawn: pieces as units hold", by_pieces, expected=0.34, abs=0.03)
    claim("50 texts drawn: texts as units hold", by_texts, expected=0.92, abs=0.03)
    bits = asked["GPT"] * asked["pieces"] / math.log(2) / 1000
    by_texts, by_files = files_hold(
        bits, asked["kilobytes"], of_files, half_width, generator(0)
    )
    claim("40 files drawn: texts as units hold", by_texts, expected=0.64, abs=0.08)
    claim("40 files drawn: files as units hold", by_files, expected=0.89, abs=0.06)


def best_of_twenty(left, bank):
    # Of another bank: .066, .065.
    win, on_others, again = left.values()
    claim("the best of twenty, by 50 sentences: wins by", win, expected=0.07, abs=0.02)
    claim(
        "that win, over what a rate 10 % higher brings",
        win / gain(bank, "rate 10 % higher"),
        at_least=2.2,
    )
    claim("of that win, left on new sentences", on_others / win, expected=1, abs=0.3)
    claim("wins by, trained again", again.abs(), at_most=0.002)


def the_next_run(next_within, bank, source):
    as_it_is = bank["as it is"]
    eighty = torch.cat([as_it_is, bank["the same again"]])
    four = eighty[torch.rand(20_000, 80, generator=source).argsort(1)[:, :4]]
    lowest = (four[:, 3] <= four[:, :3].amin(1)).double().mean()
    claim("of four, the fourth is the lowest", lowest, expected=1 / 4, abs=0.02)
    for n, expected in ((3, 1 / 2), (5, 4 / 6), (10, 9 / 11)):
        between, close = next_within(n)
        claim(f"{n} runs: the next between them", between, expected=expected, abs=0.02)
        claim(f"{n} runs: the next in Student's bound", close, expected=0.945, abs=0.03)
    claim(
        "from three, Student's bound for the next: s",
        student(2) * (1 + 1 / 3) ** 0.5,
        expected=5,
        abs=0.05,
    )

    def better(name, paired=False):
        here = torch.randint(40, (20_000, 3), generator=source)
        there = here if paired else torch.randint(40, (20_000, 3), generator=source)
        return (bank[name][there].mean(1) < as_it_is[here].mean(1)).double().mean()

    claim("rate 60 % higher, by threes: better", better("rate 60 % higher"), at_least=0.99)
    claim(
        "rate 10 % higher, by threes: better",
        better("rate 10 % higher"),
        expected=0.8,
        abs=0.07,
    )
    claim(
        "rate 10 % higher, by three pairs: better",
        better("rate 10 % higher", paired=True),
        at_least=0.98,
    )
    claim(
        "the same again, by threes: better", better("the same again"), expected=0.5, abs=0.1
    )


def a_look_too_many(shows):
    # Of another bank .21 and .04.
    claim(
        "a look at each number: shows something",
        shows.any(0).double().mean(),
        expected=0.22,
        abs=0.06,
    )
    claim("one look: shows something", shows[-1].double().mean(), expected=0.05, abs=0.02)
    claim("twenty seeds: a run's spread over the mean's error", 20**0.5, at_least=4)
