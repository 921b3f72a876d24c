"""What the first loss tells."""

from chapters.the_repair_shop.tree.kinds import START, STEPS, Cause, Fork, Symptom
from chapters.the_repair_shop.tree.shared import FILLER, NOT_SHIFTED
from checkup import sections

LARGE = Cause(
    "Weights start too large: the model is sure before it has learned anything.",
    "model(ids).std()  # of its logits: far above 1", sections.WEIGHTS,
    ("the first loss", "the spread of scores", "sizes of the stream"),
)  # fmt: skip
TOO_HIGH = Symptom(
    START,
    "the loss starts too high",
    Fork(
        "first loss against ln V",
        "loss.item() - math.log(vocabulary)",
        {
            "some nats above": LARGE,
            "many times as much": Fork(
                "divided by the targets",
                "loss / targets.numel()",
                {
                    "ln V": Cause(
                        "The loss is a sum, not a mean.",
                        "F.cross_entropy(logits.flatten(0, 1), targets.flatten())  # ln V", STEPS,
                        ("the loss that was given",),
                    ),
                    "something else": LARGE,
                },
            ),
        },
    ),
)  # fmt: skip
TOO_LOW = Symptom(
    START,
    "the loss starts too low",
    Fork(
        "targets against ids",
        "(targets == ids).float().mean()",
        {
            "nearly all equal": NOT_SHIFTED,
            "hardly any": Fork(
                "against the mean over all that count",
                "F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=filler)",
                {
                    "the loss is far below it": Cause(
                        "It is divided once too often: by the parts of a batch, or by all places where "
                        "only some count.",
                        "mean_of_all_that_count / loss  # the parts, or all places over those that count",
                        STEPS, ("the loss that was given",),
                    ),
                    "about equal": Fork(
                        "share of filler",
                        "(targets == filler).float().mean()",
                        {
                            "above 0": FILLER,
                            "0": Cause(
                                "The model is not new: it was loaded, or the cell ran twice.",
                                "torch.equal(norm.weight, torch.ones_like(norm.weight))", sections.SAVED,
                            ),
                        },
                    ),
                },
            ),
        },
    ),
)  # fmt: skip
