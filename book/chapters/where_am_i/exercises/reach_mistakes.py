"""The mistakes that `check_reach` knows by name."""

# The mean shares that each leads to, in the order of `ASKED`.
MISTAKES: dict[str, tuple[str, tuple[float, ...]]] = {
    "not trained": (
        "Not even sequences of the training length are copied. Is the trained reader the one that is tested?",
        (0.1, 0.1, 0.1, 0.1),
    ),
    "lengths mixed up, or base 10000": (
        "The hand of 63 positions copies everything. Is its base worked out from `wave`, and not a reader's "
        "usual 10,000? And is it trained at 24 and tested at `length`, and not both at the same length?",
        (0.97, 0.97, 0.97, 0.97),
    ),
    "wave for base": (
        "Even a hand of 314 positions lets go at 96. Is the wave taken for the base? The slow hand "
        "turns by base^(-1/2) a position, and its wave is 2π over that.",
        (0.97, 0.3, 0.1, 0.5),
    ),
    "without 2π": (
        "The hand of 63 positions reaches far, and that of 314 does not: both are too slow. Its wave is "
        "a whole turn, 2π over the frequency base^(-1/2).",
        (0.97, 0.4, 0.97, 0.97),
    ),
    "early positions counted": (
        "At 96 the hand of 63 positions still gets a good part right. Are the first positions counted? "
        "Only the last 24 lie beyond what was trained.",
        (0.97, 0.97, 0.4, 0.8),
    ),
    "trained too little": (
        "At the training length much is copied, but not nearly all of it. Are the readers trained long "
        "enough?",
        (0.69, 0.26, 0.16, 0.67),  # after 25 steps
    ),
}
