"""The checks of the chapter, a function for each place where its page says how many hold."""

import math
import random
import re
from collections import Counter

import torch
import torchtext
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torchtext import data

from attnlab import masks
from attnlab.attention import attend
from attnlab.corpora import text
from attnlab.runtime import generator
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.text_as_tensors.verdicts import share_right

SPECIALS = ["<unk>", "<pad>", "<sos>", "<eos>"]


def count(sentence, measured, data_set=text.WIKITEXT2, **bound):
    """A claim about the book's own texts; of your own data it says what was measured."""
    if text.is_sample(text.folder(data_set, sample=True)):
        claim(sentence, measured, **bound)
    else:
        print(f"{sentence}: {float(measured):.4g}")


def vocabulary(training, specials, min_freq=1):
    """The words, each at the place that is its number."""
    counts = Counter(word for word in training if word not in specials)
    frequent = (word for word in counts if counts[word] >= min_freq)
    return [*specials, *sorted(frequent, key=lambda word: (-counts[word], word))]


def ten_lines(rows, in_numbers, mask, counts, boring):
    claim("the drawing at the top shows these numbers", torch.equal(rows, in_numbers))
    claim("as many words as in the mask", mask.sum() == sum(counts.values()))
    claim("boring is unknown, and two words are not", boring == [0, 2, 3])


def pipeline_of_torchtext(TEXT, train, valid, test):
    article = train[0].text
    claim(
        "the training set is one list of tokens", len(train) == 1 and type(article) is list
    )
    count("tokens in it", len(article), expected=2538)
    claim(
        "our rules give torchtext's vocabulary",
        vocabulary(article, SPECIALS) == TEXT.vocab.itos,
    )
    own = text.wikitext2(TEXT, sample=True)
    equal = [a[0].text == b[0].text for a, b in zip(own, (train, valid, test), strict=True)]
    claim("attnlab.corpora.text reads the same", all(equal))


def unknown_tokens(article, valid):
    def unknown_share(dataset, min_freq):
        known = set(vocabulary(article, SPECIALS, min_freq))
        tokens = dataset[0].text
        return sum(word not in known or word == "<unk>" for word in tokens) / len(tokens)

    # The sample is what it is, so these are counts and have no spread.
    once, twice = (unknown_share(valid, least) for least in (1, 2))
    count("validation tokens unknown, min_freq = 1", once, expected=0.172, abs=0.001)
    count("validation tokens unknown, min_freq = 2", twice, expected=0.307, abs=0.001)


def fitted_into_500(as_keras):
    lengths = torch.tensor([218, 189, 141, 550, 147, 43, 123, 562, 233, 130])
    kept = lengths.clamp(max=500)
    lost, padding = 1 - kept.sum() / lengths.sum(), 1 - kept.sum() / (10 * 500)
    claim(
        "share of the tokens lost by fitting them into 500",
        lost,
        expected=0.048,
        abs=0.0005,
    )
    claim(
        "share of the array (10, 500) that is padding", padding, expected=0.555, abs=0.0005
    )
    two = as_keras(2).process([[1], [2, 3], [4, 5, 6]]).tolist()
    claim("rows of 2, as in Keras' documentation", two == [[0, 1], [2, 3], [5, 6]])


def opinions_cut_off(too_long, opinion):
    front = sum(word in opinion for each in too_long for word in each[:-500])
    back = sum(word in opinion for each in too_long for word in each[500:])
    inside = sum(word in opinion for each in too_long for word in each)
    count("reviews of more than 500 tokens", len(too_long), text.IMDB, expected=5)
    count(
        "words of opinion in the reviews of more than 500 tokens",
        inside,
        text.IMDB,
        expected=24,
    )
    count("of these, lost by cutting the front", front, text.IMDB, expected=1)
    count("of these, lost by cutting the back", back, text.IMDB, expected=18)


def padding_in_batches(numbered, by_hand):
    def padding_share(groups):
        """Of all places, where each group is padded to its longest."""
        batches = [
            pad_sequence(group, batch_first=True, padding_value=1) for group in groups
        ]
        padding = sum((batch == 1).sum().item() for batch in batches)
        return padding / sum(batch.numel() for batch in batches)

    def fours(texts):
        return [texts[i : i + 4] for i in range(0, len(texts), 4)]

    shares = []
    for seed in range(10):
        order = torch.randperm(len(numbered), generator=generator(seed)).tolist()
        shares.append(padding_share(fours([numbered[place] for place in order])))
    # Over ten other groups of ten orders: .537-.600.
    mean = sum(shares) / 10
    count("padding at random, mean of ten orders", mean, text.IMDB, expected=0.56, abs=0.06)
    by_length = padding_share(by_hand)
    count("padding in batches by length", by_length, text.IMDB, expected=0.218, abs=0.001)


def same_without_torchtext(training, REVIEW, as_keras, numbered):
    def number_in_name(file):
        return int(file.stem.partition("_")[0])

    def tokens_of(string):
        string = re.sub(r"<br />|[;:]", " ", string.lower()).replace('"', "")
        return re.sub(r"([.,()!?'])", r" \1 ", string).split()

    reviews = text.folder(text.IMDB, sample=True)
    read = [
        tokens_of(file.read_text(encoding="utf-8"))
        for verdict in ("pos", "neg")
        for file in sorted((reviews / "train" / verdict).glob("*.txt"), key=number_in_name)
    ]
    claim(
        "the tokens without torchtext are the same",
        read == [each.text for each in training],
    )
    itos = vocabulary([word for each in read for word in each], ["<unk>", "<pad>"])
    claim("the vocabulary is the same", itos == REVIEW.vocab.itos)
    array = as_keras(500).process([each.tolist() for each in numbered])  # (n, 500)
    count("reviews in the array (n, 500)", len(array), text.IMDB, expected=26)
    claim("the version of torchtext is 0.6.0", torchtext.__version__ == "0.6.0")


def subwords(learn_merges, merge, article, valid):
    learned = learn_merges([word for word in article if word[0] != "<"], steps=400)
    letters = {letter for word in article for letter in word}

    def cut(word):
        pieces = list(word)
        for pair in learned:
            pieces = merge(pieces, pair)
        return pieces

    new_words = [word for word in valid[0].text if word[0] != "<"]
    in_pieces = [cut(word) for word in new_words]
    unknown = [
        piece for each in in_pieces for piece in each if not letters.issuperset(piece)
    ]
    total = sum(map(len, in_pieces))
    count("validation pieces with an unknown letter", len(unknown), expected=1)
    count(
        "pieces for each word of the validation sample",
        total / len(new_words),
        expected=1.66,
        abs=0.005,
    )


def weight_on_padding(weight_on_padding, projected, unmasked, is_word, share):
    mask = masks.padding(is_word.sum(-1), 500)  # (26, 1, 500)
    masked = weight_on_padding(*projected, mask=mask)
    # Over sixty other draws: .533-.680.
    mean = unmasked.mean()
    count("weight on padding, mean of 26 reviews", mean, text.IMDB, expected=0.61, abs=0.1)
    # Over seven other draws: 0-.006.
    above = (unmasked - share).max()
    count(
        "how far a review lies above the diagonal, at most", above, text.IMDB, at_most=0.01
    )
    claim("weight on padding with the mask", masked.max(), expected=0)
    own = is_word[0].sum()  # the words of the first review
    alone, _ = attend(*(each[:1, :own] for each in projected))  # no padding, no mask
    scale, changes = alone.square().mean().sqrt(), []
    for chosen in (None, mask[:1]):
        output, _ = attend(*(each[:1] for each in projected), mask=chosen)
        changes.append((output[0, :own] - alone[0]).square().mean().sqrt() / scale)
    # Over ten other draws: 1.5-3.4.
    count(
        "relative change of a review by its filler, unmasked",
        changes[0],
        text.IMDB,
        at_least=0.5,
    )
    claim("relative change of a review by its filler, masked", changes[1], at_most=1e-12)


def verdicts_in_wider_rows(models, right, asked):
    # Means of ten starts. Over ten other data sets the unmasked are at most .002 below by
    # length; in rows of 500 they get .54-.69, and with padding_idx .72-.79.
    masked, bare, index = ([each.mean() for each in right[name]] for name in models)
    claim("batches by length: not masked, below masked", masked[0] - bare[0], at_most=0.01)
    alike = [torch.equal(each, right["masked"][0]) for each in right["masked"]]
    claim("masked: right as often in each width", all(alike))
    claim("rows of 500: not masked, share right", bare[2], expected=0.6, abs=0.12)
    claim("rows of 500: padding_idx, share right", index[2], expected=0.76, abs=0.07)
    bias = models["padding_idx"].member.read.bias.data
    kept = bias.clone()
    bias.zero_()
    unbiased = share_right(models["padding_idx"], asked["rows of 500"]).mean()
    bias.copy_(kept)
    claim(
        "the same, its bias set to zero: below masked", masked[2] - unbiased, at_most=0.01
    )

    # Over ten other data sets: .967-.982; .79-.94; at most .002.
    claim("masked, batches by length: share right", masked[0], at_least=0.95)
    claim("rows of 60: not masked, share right", bare[1], at_least=0.7, at_most=0.95)
    claim("rows of 60: padding_idx, below masked", masked[1] - index[1], at_most=0.01)


def other_trainings(trained, right, asked, known, verdicts):
    sixties = [(known[group], verdicts[group]) for group in torch.arange(2000).split(50)]
    both = "rows of 60", "rows of 500"

    def right_in(rows, **settings):
        model = trained(False, **settings)
        return [share_right(model, asked[each]).mean() for each in rows]

    filled = stored([0.97, 0.925], lambda: right_in(both, batches=sixties), within=0.01)
    behind = right["masked"][1].mean() - filled[0]
    claim("rows of 60, trained in them: not masked, below masked", behind, at_most=0.01)
    # Over five other data sets: at most .006 below; .90-.96.
    claim("the same in rows of 500: share right", filled[1], expected=0.92, abs=0.06)
    # Over ten other data sets, at a third of the rate and at three times: .52-.66 and .51-.75.
    others = stored(
        [0.622, 0.62],
        lambda: [*right_in(both[1:], rate=0.01), *right_in(both[1:], rate=0.1)],
        within=0.01,
    )
    claim(
        "not masked, rows of 500, the better of two other rates", others.max(), at_most=0.8
    )


def same_as_pytorch(is_word, projected):
    attention = nn.MultiheadAttention(
        16, num_heads=1, bias=False, batch_first=True
    ).double()
    with torch.no_grad():  # identity matrices, so that it only attends
        attention.in_proj_weight.copy_(torch.eye(16, dtype=torch.float64).repeat(3, 1))
        attention.out_proj.weight.copy_(torch.eye(16, dtype=torch.float64))
        four = is_word[:4].sum(-1).cpu()  # words in the first four reviews
        inputs = [each[:4, : four.max()].cpu() for each in projected]
        shown = masks.padding(four)  # (4, 1, m), True = may attend
        theirs, _ = attention(*inputs, **masks.to_multihead(shown, heads=1))
    ours, _ = attend(*inputs, mask=shown)
    difference = (ours - theirs).abs().max()
    claim("largest difference between ours and PyTorch's", difference, at_most=1e-12)


# ---- the appendix on torchtext ----


def what_the_tokenizer_loses(tokenize):
    plain = tokenize("the tide is late wait")
    claim("a colon leaves no trace", tokenize("The tide is late: wait") == plain)
    claim("curly quotation marks stay", tokenize("“tide”") == ["“tide”"])
    straight = tokenize('The "tide" is late wait')
    claim("straight quotation marks leave no trace", straight == plain)
    try:
        data.Field(tokenize=tokenize).process([plain])
    except AttributeError as error:
        named = "no attribute 'vocab'" in str(error)
        claim("vocabulary never built: the error names it", named)


def a_vocabulary_of_letters(LETTERS, article):
    lost = (LETTERS.process([article]) == 0).double().mean()
    count(
        "share of tokens unknown to a vocabulary of letters",
        lost,
        expected=0.836,
        abs=0.001,
    )


def next_token_batches(ids, batch_size, steps, pad=1):
    rows = math.ceil(len(ids) / batch_size)
    columns = torch.full((batch_size * rows,), pad)
    columns[: len(ids)] = ids
    columns = columns.view(batch_size, rows).T  # (rows, batch)
    starts = range(0, rows - 1, steps)  # the last row is only ever a target
    return [
        (columns[i : i + steps][: rows - 1 - i], columns[i + 1 :][:steps]) for i in starts
    ]


def filler_in_the_target(TEXT, train):
    in_order = torch.tensor([TEXT.vocab.stoi[word] for word in train[0].text])
    ours = next_token_batches(in_order, batch_size=8, steps=35)
    theirs = text.next_token_batches(train, batch_size=8, steps=35)
    pairs = [
        pair for both in zip(ours, theirs, strict=True) for pair in zip(*both, strict=True)
    ]
    claim("our batches are torchtext's", all(torch.equal(a, b) for a, b in pairs))
    padding = sum((target == 1).sum() for _, target in theirs)
    count("padding in the targets, at the end of the last column", padding, expected=6)
    list(data.BPTTIterator(train, batch_size=8, bptt_len=35))
    claim("torchtext's iterator has cleared the field's end token", TEXT.eos_token is None)
    TEXT.eos_token = "<eos>"


def padding_share(batches):
    padding = sum((batch.text == 1).sum().item() for batch in batches)
    return padding / sum(batch.text.numel() for batch in batches)


def once(kind, training, seed, **options):
    random.seed(seed)  # torchtext shuffles with Python's own generator
    return list(kind(training, batch_size=4, shuffle=True, **options))


def buckets(training):
    at_random = [once(data.Iterator, training, seed) for seed in range(10)]
    # Over ten other groups of ten seeds: .530-.575.
    mean = sum(map(padding_share, at_random)) / 10
    count(
        "padding in batches at random, mean of ten orders",
        mean,
        text.IMDB,
        expected=0.55,
        abs=0.04,
    )
    by_length = padding_share(
        once(data.BucketIterator, training, 0, sort_within_batch=True)
    )
    count("padding in batches by length", by_length, text.IMDB, expected=0.218, abs=0.001)
    same = padding_share(once(data.BucketIterator, training, 0)) == padding_share(
        at_random[0]
    )
    claim("BucketIterator without sort_within_batch: as much padding as at random", same)


def sorted_batches(training, REVIEW):
    in_order = once(data.BucketIterator, training, 0, sort=True)
    share = padding_share(in_order)
    count("padding with sort=True", share, text.IMDB, expected=0.218, abs=0.001)
    sizes = [batch.text.shape[1] for batch in in_order]
    claim("and its batches come by length", sizes == sorted(sizes))
    numbered = [
        torch.tensor([REVIEW.vocab.stoi[word] for word in each.text]) for each in training
    ]
    in_order = sorted(numbered, key=len)
    by_hand = [
        # The longest first, as torchtext has it: [4, L].
        pad_sequence(in_order[i : i + 4][::-1], True, padding_value=1)
        for i in range(0, len(in_order), 4)
    ]
    theirs = text.by_length(training, batch_size=4)
    equal = [torch.equal(a, b.text) for a, b in zip(by_hand, theirs, strict=True)]
    claim("sorted, sliced and padded by hand: every batch is the same", all(equal))
