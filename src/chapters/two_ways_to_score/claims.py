"""The checks of the chapter, a function for each place where its page says how many hold."""

import statistics
import time

import torch
from torch import nn
from torch.nn.functional import bilinear, cross_entropy, scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

from attnlab import scores
from attnlab.runtime import generator
from bookkit.claims import claim
from bookkit.stored import stored
from chapters.two_ways_to_score.learned import OfFeatures
from chapters.two_ways_to_score.translator import WIDTH, WORDS, Translator


def draw(*shape, seed):
    return torch.randn(shape, generator=generator(seed), dtype=torch.float64)


def times_as_long(slow, fast, turns=9):
    # How many times as long `slow()` takes as `fast()`, by the processor's time, in turns.
    seconds = {slow: [], fast: []}
    for run in turns * [slow, fast]:
        start = time.process_time()
        run()
        seconds[run].append(time.process_time() - start)
    return min(seconds[slow]) / min(seconds[fast])  # the least: other programs only add


def four_formulas_three_scores(additive, general, dot):
    def concat(query, key, weight, vector):
        keys = key.shape[-2]
        query = query.unsqueeze(-2).expand(*query.shape[:-1], keys, -1)  # (…, n, m, d_q)
        key = key.unsqueeze(-3).expand(*query.shape[:-1], -1)  # (…, n, m, d_k)
        pairs = torch.cat([query, key], dim=-1)  # (…, n, m, d_q + d_k)
        return (pairs @ weight.T).tanh() @ vector  # (…, n, m, h) @ (h,)

    query, key = draw(2, 5, 3, seed=0), draw(2, 7, 4, seed=1)  # all sizes differ
    matrix, halves, vector = draw(3, 4, seed=2), draw(6, 3 + 4, seed=3), draw(6, seed=4)
    added = additive(query, key, halves[:, :3], halves[:, 3:], vector)
    by_general = general(query, key, matrix)
    errors = {
        "dot against attnlab's": dot(query, query) - scores.dot(query, query),
        "general against attnlab's": by_general - scores.general(query, key, matrix),
        "additive against attnlab's concat": added
        - scores.concat(query, key, halves, vector),
        "concat against additive, in halves": concat(query, key, halves, vector) - added,
    }
    for sentence, error in errors.items():  # float64 keeps 16 digits
        claim(sentence, error.abs().max(), at_most=1e-12)


def loss_of_training(losses):
    # Over ten other draws: 2.00-2.25, then .09-.12.
    claim("the loss at the start: log 8 is 2.08", losses[0], expected=2.08, abs=0.4)
    late = statistics.mean(losses[-50:])
    claim("the nearest of eight keys: loss over the last 50 steps", late, at_most=0.2)


def next_day(days, turn):
    following = (torch.arange(7) + 1) % 7
    by_dot = scores.dot(days, days).argmax(-1)
    by_general = scores.general(days, days, turn).argmax(-1)
    found = (by_dot == following).sum()
    claim(
        "of seven days, those whose best match by the dot product is the next",
        found,
        expected=0,
    )
    found = (by_general == following).sum()
    claim("of seven days, those whose best match by general is the next", found, expected=7)


def middle_key():
    query, ends = draw(1000, 1, 2, seed=12), draw(1000, 2, 2, seed=13)
    middle = ends.mean(-2, keepdim=True)
    key = torch.cat([ends, middle], dim=-2)  # (1000, 3, 2): the middle last
    matrix, vector = draw(2, 2, seed=14), draw(16, seed=15)
    products = scores.general(query, key, matrix).squeeze(-2)  # (1000, 3)
    hidden = scores.additive(query, key, draw(16, 2, seed=16), draw(16, 2, seed=17), vector)

    def middle_wins(score):
        return (score[:, 2] > score[:, :2].amax(-1) + 1e-9).double().mean()

    claim(
        "general: share of 1,000 lines of keys won by the middle one",
        middle_wins(products),
        expected=0,
    )
    # Over ten other draws: .046-.223.
    bent = middle_wins(hidden.squeeze(-2))
    claim(
        "additive: share of 1,000 lines of keys won by the middle one", bent, at_least=0.02
    )


def odd_scores():
    query, key = draw(1000, 1, 2, seed=18), draw(1000, 8, 2, seed=19)
    weights = draw(16, 2, seed=20), draw(16, 2, seed=21), draw(16, seed=22)
    turned = scores.additive(-query, -key, *weights)
    both = (scores.additive(query, key, *weights) + turned).abs().max()
    claim("additive: largest score plus its turned score", both, at_most=1e-12)
    difference = scores.dot(query, key) - scores.dot(-query, -key)
    claim(
        "dot: largest difference from its turned score", difference.abs().max(), expected=0
    )


def six_wishes(found):
    # Over ten draws of points and first weights: general .986-.999, .58-.61, .48-.52, .04-.06;
    # without a bias at most .44, also at three times the rate; with one .94-.99, .82-.86
    # and .78-.84.
    dot_found, general_found, odd_found, additive_found = found.T
    claim("dot: furthest to its left", dot_found[1], at_most=0.15)
    claim("general: the two that are products", general_found[:2].min(), at_least=0.97)
    for name, one in {"dot": dot_found, "general": general_found}.items():
        claim(f"{name}: the same direction", one[2], expected=0.6, abs=0.05)
        claim(f"{name}: the nearest", one[3], expected=0.5, abs=0.05)
        claim(f"{name}: length nearest to 1", one[5], at_most=0.1)
    claim("additive without bias: best of the six wishes", odd_found.max(), at_most=0.5)
    four = additive_found[[0, 1, 3, 4]]
    claim(
        "additive: along, left, nearest and both signs, the worst",
        four.min(),
        at_least=0.93,
    )
    claim("additive: the same direction", additive_found[2], expected=0.84, abs=0.06)
    claim("additive: length nearest to 1", additive_found[5], expected=0.81, abs=0.08)


def imitated_dot_product(wishes, winners_found, imitation):
    along = wishes["furthest along the query"]
    near, far = (winners_found(imitation, along, stretch) for stretch in (1, 3))
    # Over ten other draws: .94-.96 and .59-.64.
    claim("imitating the dot product, where it was trained: winners", near, at_least=0.9)
    claim("the same score, on points three times as far out", far, at_most=0.75)


def bounds_of_scores(wishes, trained):
    query, key = 1000 * draw(500, 1, 2, seed=25), 1000 * draw(500, 32, 2, seed=26)
    identity, ones = torch.eye(2).double(), torch.ones(2).double()
    cap = 1 / (1 + 31 * torch.exp(-2 * ones.sum()))
    claim("the cap for v = (1, 1) and 32 keys", cap, expected=0.64, abs=0.005)
    weights = scores.additive(query, key, identity, identity, ones).softmax(-1)
    claim(
        "additive, vectors a thousand times as long: largest weight",
        weights.max(),
        at_most=0.64,
    )
    sizes = [trained["additive, bias", wish].vector.abs().sum() for wish in wishes]
    # 48 to 78.
    claim("six trained scores with a bias: least size of v", min(sizes), at_least=40)
    weights = scores.dot(query, key).softmax(-1)
    # In all of ten other draws every query gave one key more than 0.999.
    median = weights.amax(-1).median()
    claim("dot, the same vectors: median of the largest weights", median, at_least=0.999)


def counted(of_dot, of_additive, n, m, d, h):
    share = of_dot.products / (n * m * d)
    claim("dot: multiplications, over n·m·d", share, expected=1)
    share = of_additive.products / (n * d * h + m * d * h + n * m * h)
    claim("additive: multiplications, over n·d·h + m·d·h + n·m·h", share, expected=1)
    ratio = of_additive.products / of_dot.products
    claim("multiplications, additive against dot", ratio, expected=1.5)
    share = of_additive.tanhs / (n * m * h)
    claim("additive: results of tanh, over n·m·h", share, expected=1)
    ratio = of_additive.largest / of_dot.largest
    claim("largest tensor, additive against dot", ratio, expected=64)


def time_of_scores(plain, query, key):
    # Idle and busy, on three instruction sets: 20-390, .56-.86 and 1.1-1.5.
    forward = times_as_long(lambda: plain(query, key), lambda: scores.dot(query, key))
    claim("time, additive against dot, n = m = 256", forward, at_least=10)
    hidden = query.unsqueeze(-2) + key.unsqueeze(-3)
    share = times_as_long(hidden.tanh, lambda: plain(query, key))
    claim(
        "time of the tanh alone, of all that the additive score takes", share, at_least=0.4
    )


def lean_in_memory(largest):
    ratios = {a / b for a, b in zip(largest["additive"], largest["dot"], strict=True)}
    claim("plain against dot: 64 at every length", ratios == {64})
    ratio = largest["additive"][-1] / largest["additive, lean"][-1]
    claim("plain against lean, 512 queries and keys", ratio, expected=64)


def lean_is_the_same(query, key, weights, vector):
    inputs = [each.double().requires_grad_() for each in (query, key, *weights, vector)]
    upstream = draw(len(query), len(key), seed=28)  # any gradient on the scores
    results = []
    for chunk in (None, "auto"):
        table = scores.additive(*inputs, chunk=chunk)
        results.append((table, *torch.autograd.grad(table, inputs, upstream)))
    gaps = [
        ((one - other).abs().max() / one.abs().max()).item()
        for one, other in zip(*results, strict=True)
    ]
    claim(
        "lean against plain, scores: largest difference, relative", gaps[0], at_most=1e-12
    )
    claim("lean against plain, five gradients: the same", max(gaps[1:]), at_most=1e-12)


def time_of_lean(lean, plain, query, key):
    # Idle and busy, on three instruction sets: 1.06-1.3, once .77.
    longer = times_as_long(lambda: lean(query, key), lambda: plain(query, key))
    claim("time, lean against plain, n = m = 256", longer, at_least=0.6)


class OfProjected(nn.Module):
    """The additive score of keys that U has projected already."""

    def __init__(self):
        super().__init__()
        self.W = nn.Linear(WIDTH, WIDTH, bias=False)
        self.v = nn.Linear(WIDTH, 1, bias=False)

    def forward(self, query, key):  # (B, 1, WIDTH), (B, m, WIDTH) in, (B, 1, m) out
        return self.v((self.W(query) + key).tanh()).mT


def with_additive(words=WORDS):
    return Translator(scores.Additive(WIDTH, WIDTH, hidden=WIDTH), words=words)


def projected_once():
    return Translator(OfProjected(), lambda: nn.Linear(WIDTH, WIDTH, bias=False))


def training_step(model):
    """A step on a batch of 32 sentences, as a function to be timed."""
    source, target = torch.randint(WORDS, (2, 32, 20), generator=generator(27))

    def step():
        loss = cross_entropy(model(source, target).flatten(0, 1), target.flatten())
        loss.backward()
        model.zero_grad()

    return step


def time_of_translators():
    additive, dot = training_step(with_additive()), training_step(Translator(scores.dot))
    ratio = times_as_long(additive, dot, turns=5)
    # Idle and busy: 1.2-1.8.
    claim(
        "a whole step, 20 source words, 1,000 known: additive against dot",
        ratio,
        expected=1.5,
        abs=0.8,
    )

    def of_many_words():
        many = with_additive(words=20_000), Translator(scores.dot, words=20_000)
        return times_as_long(*map(training_step, many), turns=3)

    with_many = stored(1.06, of_many_words, within=0.2)
    claim("the same with 20,000 words known", with_many, at_most=1.3)


def keys_projected_once():
    made = with_additive(), Translator(scores.dot), projected_once()
    additive, dot, once = map(training_step, made)
    ratio = times_as_long(once, dot, turns=5)
    # Idle 1.14-1.19.
    claim("keys projected once a sentence: against dot", ratio, expected=1.2, abs=0.5)

    counts = []
    for step in (additive, dot, once):
        with FlopCounterMode(display=False) as counter:  # of multiplications and additions
            step()
        counts.append(counter.get_total_flops())
    spared = (counts[0] - counts[2]) / (counts[0] - counts[1])
    claim(
        "of what additive multiplies beyond dot: keys anew",
        spared,
        expected=0.90,
        abs=0.005,
    )


def dot_product_of_features(wishes, train, winners_found):
    def found():
        made = {wish: OfFeatures(units=32, features=8) for wish in wishes}
        for wish, score in made.items():
            train(score, wishes[wish])
        return [winners_found(made[wish], wishes[wish]) for wish in wishes]

    # Three starts, each with draws of its own: along .96-.98, left .94-.97, direction .87-.89,
    # nearest .90-.95, both signs .98-.99, length .74-.78.
    right = stored([0.958, 0.967, 0.894, 0.906, 0.981, 0.777], found, within=0.06)
    claim("dot of learned features: the nearest", right[3], expected=0.9, abs=0.06)
    claim("the same: worst of the six wishes, length", right.min(), at_least=0.7)
    others = right[[0, 1, 4]].min()
    claim("the same: along, left and both signs, the worst", others, at_least=0.93)
    claim("the same: the same direction", right[2], expected=0.89, abs=0.06)


def view_for_transpose():
    query, key = draw(50, 64, seed=32), draw(50, 64, seed=33)
    right, wrong = query @ key.mT, query @ key.view(64, 50)
    agreement = torch.corrcoef(torch.stack([right.flatten(), wrong.flatten()]))[0, 1].abs()
    # Over ten other draws: 0-.06.
    claim("view in place of mT: correlation with the right scores", agreement, at_most=0.15)


def softmax_over_the_queries():
    query, key = draw(6, 4, seed=29), draw(6, 4, seed=30)  # as many queries as keys
    changed = query.clone()
    changed[5] = draw(4, seed=31)  # the last query asks something else
    for axis, bound in ((-1, {"expected": 0}), (-2, {"at_least": 0.01})):
        # Over ten other draws, along -2: .03-.76.
        before, after = (scores.dot(each, key).softmax(axis) for each in (query, changed))
        moved = (before[0] - after[0]).abs().max()
        claim(f"softmax({axis}): how far the first query's weights move", moved, **bound)


def axes_the_wrong_way_round():
    query, key = draw(5, 4, seed=34), draw(7, 4, seed=35)
    turned = (query.unsqueeze(-3) + key.unsqueeze(-2)).tanh().sum(-1)  # (7, 5)
    right = (query.unsqueeze(-2) + key.unsqueeze(-3)).tanh().sum(-1)  # (5, 7)
    sideways = torch.equal(turned, right.mT)
    claim("new axes the wrong way round: the table turned on its side", sideways)


def same_as_pytorch():
    query, key, value = (
        draw(1, 5, 4, seed=36),
        draw(1, 7, 4, seed=37),
        draw(1, 7, 3, seed=38),
    )
    ours = scores.dot(query, key).softmax(-1) @ value
    theirs = scaled_dot_product_attention(query, key, value, scale=1.0)
    claim(
        "dot, softmax, values: ours against PyTorch's",
        (ours - theirs).abs().max(),
        at_most=1e-12,
    )

    matrix = draw(4, 4, seed=39)
    ours = scores.general(query, key, matrix)[0, 0]  # the first query with every key
    theirs = bilinear(query[0, :1].expand(7, -1), key[0], matrix.unsqueeze(0)).squeeze(-1)
    claim(
        "general: ours against PyTorch's bilinear",
        (ours - theirs).abs().max(),
        at_most=1e-12,
    )
