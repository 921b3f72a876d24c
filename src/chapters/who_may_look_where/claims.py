"""The checks of the chapter, a function for each place where its page says how many hold."""

import math

import torch
from torch.nn import MultiheadAttention
from torch.nn.functional import cross_entropy, dropout, scaled_dot_product_attention

from attnlab import attention, masks
from attnlab.runtime import generator
from bookkit.claims import claim


def masked_too_late(late, early):
    claim(
        "masked after the softmax: what is left of the first row",
        late[0].sum(),
        expected=0.25,
    )
    share = early[2, 1]
    claim("the weight of cat for sat, filler hidden", share, expected=0.3, abs=1e-12)
    mended = (late / late.sum(-1, keepdim=True) - early).abs().max()
    claim("divided by the new sums: difference from masking before", mended, at_most=1e-12)
    far = torch.tensor([0.0, 0.0, 800.0]).double()  # the third is hidden, and far ahead
    seen = torch.tensor([True, True, False])
    rest = far.softmax(-1) * seen
    claim(
        "a hidden score 800 ahead: the mended row is NaN",
        (rest / rest.sum()).isnan().all().item(),
    )
    unharmed = far.masked_fill(~seen, -math.inf).softmax(-1)[0]
    claim("-∞ before the softmax: the weight of each visible key", unharmed, expected=0.5)


def spreading_nan(second, is_word, weight):
    lost = second[is_word].isnan().all().item()
    claim("-∞, filler in front: after two layers every word is NaN", lost)
    claim(
        "share of the gradient that is NaN", weight.grad.isnan().double().mean(), expected=1
    )


def all_keys_hidden(ways):
    claim("-1e9, all keys hidden: the weight of each", ways["−1e9"].max(), expected=0.25)
    claim("-∞, all keys hidden: NaN", ways["−∞"].isnan().all().item())


def pytorch_with_all_keys_hidden():
    torch.manual_seed(0)
    theirs = MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64)
    words = torch.randn(1, 4, 4, generator=generator(4)).double()
    filler = torch.ones(1, 4, dtype=torch.bool)  # True = blocked: all of it is filler
    with_weights, _ = theirs(words, words, words, key_padding_mask=filler)
    without, _ = theirs(words, words, words, key_padding_mask=filler, need_weights=False)
    claim(
        "all hidden, weights asked for: the output is NaN",
        with_weights.isnan().all().item(),
    )
    claim(
        "all hidden, weights not asked for: largest output", without.abs().max(), expected=0
    )
    with torch.no_grad():
        used, _ = theirs.eval()(
            words, words, words, key_padding_mask=filler, need_weights=False
        )
    claim(
        "the same in evaluation, without gradients: the output is NaN",
        used.isnan().all().item(),
    )

    fused = scaled_dot_product_attention(words, words, words, attn_mask=~filler)
    claim("PyTorch's function, all keys hidden: the output", fused.abs().max(), expected=0)


def half_precision(level, nothing):
    claim(
        "the largest number of half precision", torch.finfo(torch.half).max, expected=65504
    )
    try:
        level.half().masked_fill(~nothing, -1e9)
    except RuntimeError as error:
        claim("half precision, masked_fill: an error", "overflow" in str(error))
    added = (torch.zeros(4).half() + (~nothing).half() * -1e9).isneginf().all().item()
    claim("half precision, added: -∞", added)
    rough = level.bfloat16().masked_fill(~nothing, -1e9).isfinite().all().item()
    claim("bfloat16, masked_fill: no error, and finite", rough)


def gradient_of_an_empty_row(masked_softmax, front):
    source = torch.randn(5, 5, generator=generator(2)).double()
    ours, books = source.clone().requires_grad_(), source.clone().requires_grad_()
    factor = torch.arange(25.0).view(5, 5).cos()  # so that gradients can't cancel
    (masked_softmax(ours, front) * factor).sum().backward()
    (attention.masked_softmax(books, front) * factor).sum().backward()
    gap = (ours.grad - books.grad).abs().max()
    claim("gradient, ours against attnlab's, two rows empty", gap, at_most=1e-12)


def two_meanings_of_true(keeps, blocks, for_module, mask):
    claim("the wrong reading: the first word's weight on itself", keeps[0, 0], expected=0)
    claim(
        "the wrong reading: its weight on all the others",
        keeps[0, 1:].sum(),
        expected=1,
        abs=1e-12,
    )
    claim("the wrong reading: the last word's weights", keeps[-1].sum(), expected=0)
    later = blocks[0].triu(1).sum()
    claim("the right reading: weight on what comes later", later, expected=0)
    x = torch.randn(2, 5, 8, generator=generator(3)).double()
    torch.manual_seed(0)
    theirs = MultiheadAttention(8, 4, batch_first=True, dtype=torch.float64)
    ours = attention.MultiHeadAttention(8, 4).double()
    ours.load_state_dict(theirs.state_dict())
    expected, _ = theirs(x, x, x, attn_mask=for_module)
    difference = (ours(x, mask=mask)[0] - expected).abs().max()
    claim("one mask, both conventions: largest difference", difference, at_most=1e-12)


def mask_on_the_wrong_axis():
    lengths = torch.tensor([8, 6, 4, 2])
    is_word = torch.arange(8) < lengths[:, None]  # (4, 8)

    def on_filler(mask, heads=4, seed=0):
        """The weight on filler in each of the four texts, with drawn queries and keys."""
        query, key = torch.randn(2, 4, heads, 8, 16, generator=generator(seed)).double()
        weights = (query @ key.mT / 4).masked_fill(~mask, -math.inf).softmax(-1)
        return (weights * ~is_word[:, None, None]).sum(-1).mean((1, 2))

    # Over ten other draws: .45-.52.
    shortest = on_filler(is_word.unsqueeze(1))[3]
    claim("one axis too few, 4 heads: weight on filler", shortest, expected=0.48, abs=0.06)
    claim(
        "with both axes: weight on filler", on_filler(is_word[:, None, None])[3], expected=0
    )
    try:
        on_filler(is_word.unsqueeze(1), heads=2)
    except RuntimeError as error:
        claim("one axis too few, 2 heads: an error", "must match" in str(error))
    try:
        attention.masked_softmax(torch.zeros(4, 4, 8, 8), is_word.unsqueeze(1))
    except ValueError as error:
        claim("attnlab refuses it with 4 heads, too", "mask must be" in str(error))


def losses_and_the_limit(last, limit):
    # 3200 fresh words say what a loss is to 1.5 %. Over eight other sets of six starts:
    # .98-1.04 and 1.04-1.10 of the limit; .089-.114, .087-.094, .22-.29, .003-.005.
    claim("the entropy of the next word", limit, expected=0.562, abs=5e-4)
    lowest, highest = last["right"].min() / limit, last["right"].max() / limit
    claim("right: the lowest of six losses, over the limit", lowest, at_least=0.94)
    claim("right: the highest of six losses, over the limit", highest, at_most=1.15)
    means = {
        "no mask": (0.1, 0.02),
        "off by one": (0.09, 0.012),
        "after the softmax": (0.26, 0.07),
        "not shifted": (0.004, 0.003),
    }
    for name, (mean, spread) in means.items():
        claim(f"{name}: the mean loss", last[name].mean(), expected=mean, abs=spread)


def loss_at_each_place(runs, masked_softmax, too_late, write):
    @torch.no_grad()
    def at_each_place(model):
        """The loss on fresh text at each of the eight places, mean over the readers."""
        text = write(400, generator(11))
        guesses, answers = model(text[..., :-1]).flatten(0, 2), text[..., 1:].flatten()
        each = cross_entropy(guesses, answers, reduction="none")
        return each.view(-1, text.shape[-1] - 1).mean(0).cpu()

    # Over five other sets of six starts: .65-.68 at the last place, at most .03 elsewhere.
    for name in ("no mask", "off by one"):
        places = at_each_place(runs[name][0])
        claim(f"{name}: the loss at the last place", places[-1], expected=0.66, abs=0.06)
        claim(f"{name}: the largest loss at another", places[:-1].max(), at_most=0.05)

    # Over five other sets: .96-1.02.
    blind = runs["after the softmax"][0]
    blind.hide = masked_softmax  # the same as dividing each row by what is left of it
    mended = at_each_place(blind).mean()
    blind.hide = too_late
    claim("after the softmax, rows divided once trained", mended, expected=1, abs=0.15)


def what_readers_write(runs, written):
    # Over eight other sets of six starts: .004-.006, .19-.28, .14-.22, .004-.017, .997-.999;
    # of rare steps, over five: .24-.26, and .11-.19 after the softmax.
    shares = {name: written(model) for name, (model, _) in runs.items()}
    what = "steps written that the language does not have"
    claim(f"right: {what}", shares["right"][0], at_most=0.02)
    for name in ("no mask", "off by one"):
        claim(f"{name}: {what}", shares[name][0], expected=0.2, abs=0.09)
    claim(f"after the softmax: {what}", shares["after the softmax"][0], at_most=0.03)
    claim(f"not shifted: {what}", shares["not shifted"][0], at_least=0.98)
    what = "steps to the rarer of two words, in the language 0.25"
    claim(f"right: {what}", shares["right"][1], expected=0.25, abs=0.04)
    claim(
        f"after the softmax: {what}",
        shares["after the softmax"][1],
        expected=0.14,
        abs=0.06,
    )


def chance_of_the_rare_word(runs, write, RARE):
    @torch.no_grad()
    def chance_of_rare(model):
        """What it gives the rarer word at the end of honest texts of 1 to 8 words: (8,)."""
        text, chances = write(400, generator(7)), []
        for end in range(1, text.shape[-1]):
            each = model(text[..., :end])[..., -1, :].softmax(-1).cpu()
            chances.append(each.gather(-1, RARE[text[..., end - 1 : end].cpu()]).mean())
        return torch.stack(chances)

    # Over three sets of six starts: .22-.24 at the eighth place, .13-.16 over the others.
    rare_word = chance_of_rare(runs["after the softmax"][0])
    claim(
        "after the softmax, eighth place: chance of it",
        rare_word[-1],
        expected=0.24,
        abs=0.05,
    )
    before = rare_word[:-1].mean()
    claim("the same at the other places, mean", before, expected=0.14, abs=0.05)


def leak_test(Reader, faults, leaks, text, masked_softmax):
    for name in ("no mask", "off by one", "after the softmax"):
        model = Reader(source=generator(0), **faults[name])  # never trained
        claim(f"random weights, {name}: the leak test finds it", leaks(model, text))

    def dropping(scores, mask):
        return dropout(masked_softmax(scores, mask), 0.1)

    honest = Reader(faults["right"]["mask"], generator(0), dropping)
    claim("an honest reader with dropout on: the leak test is fooled", leaks(honest, text))


def dropout_of_weights():
    torch.manual_seed(0)
    even, peaked = torch.full((20_000, 32), 1 / 32), torch.eye(32)[:1].expand(20_000, 32)
    sums = dropout(even, 0.1).sum(-1)
    # The standard error of the mean is .0004, that of the deviation .0003.
    claim(
        "32 equal weights, p = 0.1: the mean of the sums",
        sums.mean(),
        expected=1,
        abs=0.003,
    )
    spread = sums.std()
    claim("32 equal weights, p = 0.1: standard deviation", spread, expected=0.06, abs=0.005)
    nothing_left = (dropout(peaked, 0.1).sum(-1) == 0).double().mean()
    claim(
        "one weight of 1, p = 0.1: nothing is left", nothing_left, expected=0.1, abs=0.015
    )
    ones, one_each = torch.ones(1, 5, 5).double(), torch.eye(5).double()[None]
    careless = {
        "F.dropout(x, 0.5)": lambda x: dropout(x, 0.5),
        "dropout_p=0.5": lambda x: scaled_dot_product_attention(
            x, x, one_each, dropout_p=0.5
        ),
    }
    for name, forward in careless.items():
        model = torch.nn.Module()
        model.forward = forward
        model.eval()
        differ = not torch.equal(model(ones), model(ones))
        claim(f"eval mode, {name}: two calls differ", differ)


def bytes_of_masks(full, both, heads):
    added = full.numel() * torch.finfo(torch.float32).bits / 8 / 2**20
    claim("the full mask, added, in MiB", added, expected=256)
    spread = masks.for_heads(both).expand(-1, heads, -1, -1)
    same = spread.untyped_storage().nbytes() == both.nbytes
    claim("expand: not a byte more than the small mask", same)


def masks_mistaken():
    shown = torch.arange(8) < 4
    flat, eight = torch.zeros(1, 8, 8).double(), torch.eye(8).double()[None]
    as_numbers = scaled_dot_product_attention(
        flat, flat, eight, attn_mask=shown.double()[None]
    )
    share = as_numbers[0, 0, :4].sum()
    claim("mask.float(): weight on the visible half", share, expected=0.731, abs=0.001)
    drawn = torch.randn(5, 5, generator=generator(6)).double()
    columns = drawn.masked_fill(torch.ones(5, 5).triu(1).bool(), -math.inf).softmax(-2)
    claim("softmax over the queries: the last weight", columns[-1, -1], expected=1)
    first_row = torch.ones(5, 5).triu().bool()[0]
    claim("triu(): the first word sees nothing", first_row.all().item())


def masks_of_pytorch():
    made = torch.nn.Transformer.generate_square_subsequent_mask(4)
    claim(
        "PyTorch's own mask, added: hides what ours hides",
        made.isneginf().equal(~masks.causal(4)[0]),
    )
    short, long = torch.zeros(1, 2, 4).double(), torch.zeros(1, 4, 4).double()
    which = scaled_dot_product_attention(
        short, long, torch.eye(4).double()[None], is_causal=True
    )
    claim(
        "is_causal, 2 queries of 4: the first sees only the first key",
        which[0, 0, 0],
        expected=1,
    )
