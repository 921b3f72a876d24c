"""What the first loss tells."""

from chapters.the_repair_shop.tree.kinds import START, STEPS, Cause, Fork, Symptom
from chapters.the_repair_shop.tree.shared import FILLER, NOT_SHIFTED
from checkup import sections

TOO_HIGH = Symptom(
    START,
    "the loss starts too high",
    Fork(
        "first loss against ln V",
        "loss.item() - math.log(vocabulary)",
        {
            "some nats above": Cause(
                "Weights start too large: the model is sure before it has learned anything.",
                "model(ids).std()  # of its logits: far above 1",
                sections.WEIGHTS,
                ("the first loss", "the spread of scores", "sizes of the stream"),
            ),
            "many times as much": Cause(
                "The loss is a sum, not a mean.",
                "loss / targets.numel()  # ln V again",
                STEPS,
                ("the loss that was given",),
            ),
        },
    ),
)
TOO_LOW = Symptom(
    START,
    "the loss starts too low",
    Fork(
        "targets against ids",
        "(targets == ids).float().mean()",
        {
            "nearly all equal": NOT_SHIFTED,
            "hardly any": Fork(
                "share of filler",
                "(targets == filler).float().mean()",
                {
                    "above 0": FILLER,
                    "0": Cause(
                        "The model is not new: it was loaded, or the cell ran twice.",
                        "torch.equal(norm.weight, torch.ones_like(norm.weight))",
                        sections.SAVED,
                    ),
                },
            ),
        },
    ),
)
