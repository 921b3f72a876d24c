"""Mistakes in how a layer is put together: (x, attend, feed, norm_1, norm_2) -> x."""

from torch import Tensor

from bookkit.checking.mistakes import Mistakes, Part


def as_it_is(x: Tensor) -> Tensor:
    """`as_it_is(x)` is x: what stands where a norm is missing."""
    return x


def wired(x: Tensor, attend: Part, feed: Part, norm_1: Part, norm_2: Part) -> Tensor:
    """`wired(x, attend, feed, norm_1, norm_2)` is the right way: each norm before its block, and sums."""
    x = x + attend(norm_1(x))
    return x + feed(norm_2(x))  # type: ignore[no-any-return]


WIRINGS: Mistakes = {
    "norms behind": (
        "The norms stand behind the sums, as in the first Transformer. Here each stands before its block, "
        "and nothing but sums is on the road.",
        lambda x, attend, feed, norm_1, norm_2: wired(
            norm_1(x + attend(x)), lambda x: 0, lambda x: norm_2(x + feed(x)) - x, as_it_is, as_it_is
        ),
    ),
    "norms behind the blocks": (
        "Each norm takes what its block answers. It stands before: x + block(norm(x)).",
        lambda x, attend, feed, norm_1, norm_2: wired(
            x, lambda x: norm_1(attend(x)), lambda x: norm_2(feed(x)), as_it_is, as_it_is
        ),
    ),
    "attention without its norm": (
        "Attention reads x as it is: norm_1 is missing.",
        lambda x, attend, feed, norm_1, norm_2: wired(x, attend, feed, as_it_is, norm_2),
    ),
    "feed-forward without its norm": (
        "The feed-forward network reads x as it is: norm_2 is missing.",
        lambda x, attend, feed, norm_1, norm_2: wired(x, attend, feed, norm_1, as_it_is),
    ),
    "norm_1 on the road": (
        "norm_1 is on the road: attention's answer is added to the normed x. Add it to x itself.",
        lambda x, attend, feed, norm_1, norm_2: wired(norm_1(x), attend, feed, as_it_is, norm_2),
    ),
    "norm_2 on the road": (
        "norm_2 is on the road: the feed-forward network's answer is added to the normed x. Add it to x "
        "itself.",
        lambda x, attend, feed, norm_1, norm_2: wired(
            norm_2(x + attend(norm_1(x))), lambda x: 0, feed, as_it_is, as_it_is
        ),
    ),
    "no norms": (
        "There are no norms: both blocks read x as it is.",
        lambda x, attend, feed, norm_1, norm_2: wired(x, attend, feed, as_it_is, as_it_is),
    ),
    "one norm for both": (
        "Both blocks read through norm_1. The feed-forward network has a norm of its own, norm_2.",
        lambda x, attend, feed, norm_1, norm_2: wired(x, attend, feed, norm_1, norm_1),
    ),
    "norms swapped": (
        "The norms have changed places: norm_1 stands before attention.",
        lambda x, attend, feed, norm_1, norm_2: wired(x, attend, feed, norm_2, norm_1),
    ),
    "norms on the road": (
        "The norms are on the road: what is added to is the normed x. Hand it to the block alone, and add "
        "the answer to x itself.",
        lambda x, attend, feed, norm_1, norm_2: (
            norm_2(norm_1(x) + attend(norm_1(x))) + feed(norm_2(norm_1(x) + attend(norm_1(x))))
        ),
    ),
    "no residual": (
        "There is no road around the blocks: what they answer takes the place of x. Add it to x.",
        lambda x, attend, feed, norm_1, norm_2: feed(norm_2(attend(norm_1(x)))),
    ),
    "no residual around attention": (
        "The road leads around the feed-forward network alone. Add what attention answers to x, too.",
        lambda x, attend, feed, norm_1, norm_2: wired(attend(norm_1(x)), lambda x: 0, feed, as_it_is, norm_2),
    ),
    "no residual around the feed-forward network": (
        "The road leads around attention alone. Add what the feed-forward network answers, too.",
        lambda x, attend, feed, norm_1, norm_2: feed(norm_2(x + attend(norm_1(x)))),
    ),
    "one residual around both": (
        "One road leads around both blocks together. Each has its own: add what attention answers to x, and "
        "to that what the feed-forward network makes of it.",
        lambda x, attend, feed, norm_1, norm_2: x + feed(norm_2(attend(norm_1(x)))),
    ),
    "side by side": (
        "The feed-forward network reads the layer's input. It comes second: it reads what attention has "
        "added to.",
        lambda x, attend, feed, norm_1, norm_2: x + attend(norm_1(x)) + feed(norm_2(x)),
    ),
    "attention's part lost": (
        "The second sum begins at the layer's input again, and what attention has added is lost. Begin "
        "where the first sum ended.",
        lambda x, attend, feed, norm_1, norm_2: x + feed(norm_2(x + attend(norm_1(x)))),
    ),
    "feed-forward first": (
        "The feed-forward network comes before attention. First the words look, then each thinks.",
        lambda x, attend, feed, norm_1, norm_2: wired(x, feed, attend, norm_2, norm_1),
    ),
    "no feed-forward network": (
        "The feed-forward network is left out.",
        lambda x, attend, feed, norm_1, norm_2: x + attend(norm_1(x)),
    ),
    "no attention": (
        "Attention is left out: no word hears of another.",
        lambda x, attend, feed, norm_1, norm_2: x + feed(norm_2(x)),
    ),
}
