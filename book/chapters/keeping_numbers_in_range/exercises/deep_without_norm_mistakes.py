"""The mistakes that `check_deep_without_norm` knows by name."""

import math

from bookkit.checking.mistakes import Mistakes
from chapters.keeping_numbers_in_range.exercises.norms import _normal

MISTAKES: Mistakes = {
    "residual alone": (
        "This is the road alone. It starts well, and then its losses jump about: at this rate each "
        "block's answer grows faster than the others can follow. How loud need a block be?",
        lambda x, block: x + block(x),
    ),
    "plain": (
        "There is no road: the block's answer replaces x, and over twelve layers nothing is left of it.",
        lambda x, block: block(x),
    ),
    "averaged": (
        "x is halved at every block, as in a mean of x and the answer, and there are 24 of them. Leave the "
        "road as wide as it is.",
        lambda x, block: (x + block(x)) / 2,
    ),
    "divided by the root of 2": (
        "By √2 the variance stays where both parts are equally large. Here the block's answer is "
        "smaller than x, so the road fades, by a factor of a thousand or so over 24 blocks.",
        lambda x, block: (x + block(x)) / math.sqrt(2),
    ),
    "fading": (
        "The road is made a little narrower at every block, and there are 24 of them: little arrives. "
        "Leave the road as wide as it is.",
        lambda x, block: 0.9 * x + 0.1 * block(x),
    ),
    "block left out": (
        "The block makes no difference to what you return, so nothing in it can learn.",
        lambda x, block: x,
    ),
    "post-norm": (
        "What you return no longer depends on how large x is: that is a norm, on the road. Do without.",
        lambda x, block: _normal(x + block(x)),
    ),
    "pre-norm": (
        "The block's answer does not grow with x: what it reads has been normalised. Do without a norm.",
        lambda x, block: x + block(_normal(x)),
    ),
    "squashed inside": (
        "Of what you return the block's part does not grow as x does: something squashes what the block "
        "reads or answers (a tanh, a sigmoid, a clamp). Multiply it by a number only.",
        lambda x, block: x + 0.1 * block(x).tanh(),
    ),
    "squashed": (
        "Something squashes what you return (a tanh, a sigmoid, a clamp). Add and multiply with "
        "numbers only.",
        lambda x, block: (x + block(x)).tanh(),
    ),
    "multiplied by each other": (
        "What you return grows faster than x: x and the answer are multiplied by each other. Multiply "
        "each by a number, and add them.",
        lambda x, block: x * block(x),
    ),
    "from nothing": (
        "Where nothing comes in, something comes out: a number is added, or a sigmoid squashes. Add x "
        "and the answer, each of them times a number.",
        lambda x, block: x + 0.1 * block(x) + 0.1,
    ),
    "louder": (
        "The block's answer is made louder, and the road grows from layer to layer. The other way.",
        lambda x, block: x + 3 * block(x),
    ),
    "cut off": (
        "No gradient arrives at some of the weights: a detach() or a no_grad() cuts the way back. Take it "
        "out.",
        lambda x, block: x + 0.1 * block(x).detach(),
    ),
    "hardly heard": (
        "Everything stays in range, and too little is learned: what the blocks read, or what is heard "
        "of them, is so quiet that a step hardly changes anything. A little louder.",
        lambda x, block: x + 1e-4 * block(x),
    ),
}
