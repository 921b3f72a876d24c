"""What several ways lead to."""

from chapters.the_repair_shop.tree.kinds import WARM_UP, Cause, Fork
from checkup import sections

RATE = Cause(
    "The rate is too high, or its warm-up too short.",
    "max(sizes) > 0.5  # of updates over weights",
    WARM_UP,
)
DROPS = Cause(
    "Dropout does not ask whether the model trains. (Find this first: it makes other tests shake, too.)",
    "model.eval(); torch.equal(model(ids), model(ids))",
    sections.DROPOUT,
    ("two runs in eval mode",),
)


def if_two_runs_agree(fork: Fork) -> Fork:
    """`if_two_runs_agree(fork)` asks first what would make any change look like an effect."""
    return Fork("are two runs equal?", DROPS.test, {"no": DROPS, "yes": fork})


LEAK = Fork(
    "do rows of weights sum to 1?",
    "weights.sum(-1)  # 1 in every row; read them in the attention, behind its softmax",
    {
        "yes": Cause(
            "A mask is missing, shifted, or means the opposite.",
            "sight = [[moves(u, t) for t in places] for u in places]  # who sees whom",
            sections.LEAK, ("the future changed",),
        ),
        "no": Cause(
            "The softmax goes over the queries, or the mask comes after it.",
            "weights.sum(-2)  # 1 in every column: over the queries",
            sections.LATE_MASK, ("what the softmax sums over", "the future changed"),
        ),
    },
)  # fmt: skip
NOT_SHIFTED = Cause(
    "Targets are not shifted: each place is asked for the id that it was given.",
    "(targets == ids).float().mean()  # near 1",
    sections.SHIFTED,
    ("the loss that was given",),
)
FILLER = Cause(
    "Filler counts as if it were text.",
    "(targets == filler).float().mean()  # above 0, and nothing leaves it out",
    sections.MEANS,
    ("the loss that was given",),
)
