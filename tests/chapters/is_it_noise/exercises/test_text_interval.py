"""The exercise `text_interval`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as, named

from chapters.is_it_noise.exercises import check_text_interval


def by_loop(first, second, text, size, draws):
    found = []
    for draw in draws:
        bits = sum((second - first)[text == each].sum() for each in draw)
        found.append(bits / sum(size[each] for each in draw))
    found = torch.stack(found)
    return found.quantile(0.025), found.quantile(0.975)


def by_counts(first, second, text, size, draws):
    times = torch.stack([torch.bincount(draw, minlength=len(size)) for draw in draws]).double()
    of_text = torch.nn.functional.one_hot(text, len(size)).double()
    apart = times @ of_text.T @ (second - first) / (times @ size.double())
    return tuple(torch.quantile(apart, torch.tensor([0.025, 0.975]).double()))


def each_model_by_itself(first, second, text, size, draws):
    bits = [torch.zeros(len(size)).double().scatter_add(0, text, each) for each in (first, second)]
    ours, theirs = (each[draws].sum(-1) / size[draws].sum(-1) for each in bits)
    return torch.quantile(theirs - ours, 0.025), torch.quantile(theirs - ours, 0.975)


def reckoned(
    sums=lambda bits, text, n: torch.zeros(n).double().index_add(0, text, bits),
    other=lambda draws: draws,
    ratio=lambda bits, size, draws: bits[draws].sum(1) / size[draws].sum(1),
    join=lambda x, y: y - x,
    ends=lambda found: (found.quantile(0.025), found.quantile(0.975)),
):
    """A reader's interval, in which one step may be another."""

    def code(first, second, text, size, draws):
        x, y = (sums(bits, text, len(size)) for bits in (first, second))
        return ends(join(ratio(x, size, draws), ratio(y, size, other(draws))))

    return code


def of_pieces(first, second, text, size, draws):
    found = torch.stack([(second[draw] - first[draw]).sum() / size[text[draw]].sum() for draw in draws])
    return found.quantile(0.025), found.quantile(0.975)


RIGHT = {check_text_interval: named(by_loop, by_counts, each_model_by_itself)}
NAMED = {
    check_text_interval: {
        "a mean for each text": reckoned(
            sums=lambda bits, text, n: torch.stack([bits[text == each].mean() for each in range(n)])
        ),
        "not paired": reckoned(other=lambda draws: draws.roll(1, 0)),
        "the second model not drawn": reckoned(
            other=lambda draws: torch.arange(draws.shape[1]).repeat(len(draws), 1)
        ),
        "a mean of ratios": reckoned(ratio=lambda bits, size, draws: (bits / size)[draws].mean(1)),
        "bytes not drawn": reckoned(ratio=lambda bits, size, draws: bits[draws].sum(1) / size.sum()),
        "bits, not bits a byte": reckoned(ratio=lambda bits, size, draws: bits[draws].sum(1)),
        "bits a text": reckoned(ratio=lambda bits, size, draws: bits[draws].sum(1) / draws.shape[1]),
        "first minus second": reckoned(join=lambda x, y: x - y),
        "the first model alone": reckoned(join=lambda x, y: x),
        "the second model alone": reckoned(join=lambda x, y: y),
        "90 %": reckoned(ends=lambda found: (found.quantile(0.05), found.quantile(0.95))),
        "the lowest and the highest": reckoned(ends=lambda found: (found.amin(), found.amax())),
        "divided by the draws": reckoned(
            ends=lambda found: (
                found.mean() - 1.96 * found.std() / len(found) ** 0.5,
                found.mean() + 1.96 * found.std() / len(found) ** 0.5,
            )
        ),
        "pieces for texts": of_pieces,
        "the mean of pieces": lambda first, second, text, size, draws: reckoned()(
            first, second, torch.arange(len(first)), torch.ones(len(first)), draws
        ),
        "results swapped": lambda *inputs: by_counts(*inputs)[::-1],
    }
}
UNKNOWN = {
    check_text_interval: {
        "a hundredth too much": changed(by_counts, lambda ends: [1.01 * each for each in ends]),
        "0 and 1": lambda first, second, text, size, draws: (0.0, 1.0),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
