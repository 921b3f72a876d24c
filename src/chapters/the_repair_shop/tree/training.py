"""What a curve tells while the model trains."""

from chapters.the_repair_shop.tree.kinds import (
    BAD_BATCH,
    EPOCHS,
    LOOP,
    RIVALS,
    STEPS,
    TRAINS,
    WARM_UP,
    Cause,
    Fork,
    Symptom,
)
from chapters.the_repair_shop.tree.shared import FILLER, LEAK, NOT_SHIFTED, RATE, if_two_runs_agree
from checkup import sections

NO_GRADIENT = Fork(
    "the same after two updates",
    "for _ in range(2): update(one_batch)",
    {
        "now it has one": Cause(
            "Nothing is wrong: what follows starts at zero and must move first, as in a LoRA.",
            "[name for name, w in new_model.named_parameters() if not w.any()]", sections.RESIDUAL,
        ),
        "still None or 0": Fork(
            "does PyTorch know of it?",
            "len(list(model.parameters()))",
            {
                "no": Cause(
                    "A weight is a plain tensor, and no parameter.",
                    "[name for name, thing in vars(layer).items() if torch.is_tensor(thing)]", sections.HELD,
                    ("plain tensors",),
                ),
                "yes": Cause(
                    "The way back is cut: a stray `detach()`, or `requires_grad` is off.",
                    "[name for name, w in model.named_parameters() if w.grad is None]", sections.CHANGED,
                    ("a gradient for each weight",),
                ),
            },
        ),
    },
)  # fmt: skip
GRADIENTS = Fork(
    "gradient by layer",
    "[w.grad.norm() for w in block.parameters()]",
    {
        "None or 0": NO_GRADIENT,
        "less and less towards the first": Cause(
            "Numbers shrink from block to block: nothing goes past the blocks, and no norm lifts them up.",
            "[given.std() for given in outputs_of_blocks]", sections.DEEP, ("sizes of the stream", "norms"),
        ),
        "tiny everywhere": Fork(
            "what the model gives",
            "model(ids).sum(-1)  # 1 everywhere?",
            {
                "chances": Cause(
                    "The loss is given chances, and wants logits.", "model(ids).sum(-1)  # 1 everywhere",
                    sections.SOFTMAX, ("what comes out",),
                ),
                "logits": Cause(
                    "The gradient is clipped while a scaler for half precision still has it scaled.",
                    "scaler.unscale_(optimizer)  # before clip_grad_norm_", LOOP,
                ),
            },
        ),
        "as it should be": Fork(
            "updates over weights",
            "(after - before).norm() / before.norm()  # of those that did not start at 0",
            {
                "above a half": RATE,
                "0": Fork(
                    "the rate of this update",
                    "optimizer.param_groups[0]['lr']  # before scheduler.step()",
                    {
                        "0": Cause(
                            "Nothing is wrong yet: a warm-up may begin at 0. Look at a later update.",
                            "scheduler.get_last_lr()", WARM_UP,
                        ),
                        "above 0": Cause(
                            "The optimizer does not have these weights: layers stand in a list of "
                            "Python's, or it was made for another model.",
                            "{id(w) for g in optimizer.param_groups for w in g['params']}", sections.CHANGED,
                            ("weights that PyTorch does not see",),
                        ),
                    },
                ),
                "between": Fork(
                    "what a block passes on",
                    "(block(stream) * stream).sum() / stream.square().sum()",
                    {
                        "near 0": Cause(
                            "Blocks do not add to what they are given: they replace it.",
                            "block(stream + other) - block(stream)  # has other in it", sections.RESIDUAL,
                            ("what blocks pass on",),
                        ),
                        "about 1": Cause(
                            "Numbers are out of range, though gradients come through.",
                            "report = checkup(model, ids)", sections.WEIGHTS,
                            ("sizes of the stream", "activations", "the first loss"),
                        ),
                    },
                ),
            },
        ),
    },
)  # fmt: skip
OTHER_ROWS = Cause(
    "Targets belong to other ids: rows were shuffled apart.", "decode(targets[0]) in text", sections.SHIFTED
)
NOT_FALLING = Symptom(
    TRAINS,
    "it does not fall",
    Fork(
        "one batch by heart",
        "for _ in range(60): update(one_batch)",
        {
            "it can’t": GRADIENTS,
            "it can": Fork(
                "read one pair",
                "decode(ids[0]), decode(targets[0])",
                {
                    "they fit": Cause(
                        "The rate is far too low, or warms up too long.",
                        "max(sizes) < 1e-5  # of updates over weights", LOOP,
                    ),
                    "they don’t": OTHER_ROWS,
                },
            ),
        },
    ),
)  # fmt: skip
WHAT_IT_SEES = Fork(
    "two ids swapped, first attention",
    "gave(swapped)[:, -1] - gave(ids)[:, -1]  # by a hook on the first attention",
    {
        "what it gives stays": Cause(
            "No position gets to the attention.",
            "model.places.weight.std()  # or, with rotary positions: are queries and keys turned?",
            sections.ORDER, ("two ids swapped",),
                    "where a table of places is not used (a table of zeros it does not see)",
        ),
        "it moves": Fork(
            "dead units",
            "(units.abs().amax((0, 1)) < 0.01).float().mean()",
            {
                "most": Cause(
                    "Units of a network never answer: biases or weights pushed them under.",
                    "block.widen.bias.mean()", sections.NETWORK, ("units that are silent",),
                    "where the activation is a layer that gives zeros, as `nn.ReLU()`",
                ),
                "few": Fork(
                    "change the past",
                    "(model(changed) - model(ids))[:, -1].abs().max()",
                    {
                        "nothing moves": Cause(
                            "A mask hides what came before.",
                            "sight = [[moves(u, t) for t in places] for u in places]", sections.SIGHT,
                            ("the past changed", "what is read changed"),
                        ),
                        "it moves": Cause(
                            "Perhaps there is no more to learn, or the model is too small. "
                            "Compare with a count of pairs.", "loss - loss_of_pairs", RIVALS,
                        ),
                    },
                ),
            },
        ),
    },
)  # fmt: skip
ENTROPY = Fork(
    "entropy of attention",
    "-(weights * weights.log2()).sum(-1)",
    {
        "near 0, from the start": Cause(
            "Scores are too large: not divided by √dₖ, or weights too large.",
            "scores.std()  # about 1 or below", sections.SCALE,
            ("the divisor of scores", "the spread of scores"),
        ),
        "the most possible, to the end": Cause(
            "Queries or keys do not tell places apart: a fixed mean is all that is left.",
            "weights.std(dim=-2).max()  # over queries: 0", sections.ALIKE,
            ("what scores depend on", "weights that start alike"),
        ),
        "between": Fork(
            "gradient by layer",
            "[w.grad.norm() for w in block.parameters()]",
            {"None or 0 in some": NO_GRADIENT, "all have one": WHAT_IT_SEES},
        ),
    },
)  # fmt: skip
STOPS_EARLY = Symptom(
    TRAINS,
    "it stops falling early",
    Fork(
        "its height against counts",
        "-(share * share.log()).sum()  # of single ids, with their shares of the text",
        {
            "near that of single ids": Fork(
                "read one pair",
                "decode(ids[0]), decode(targets[0])",
                {
                    "they don’t": OTHER_ROWS,
                    "they fit": Fork(
                        "two passes of one batch", "step(batch); step(batch)  # at rate 0: w.grad.norm()",
                        {
                            "it doubles": Cause(
                                "`zero_grad()` is missing: each gradient is added to those before.",
                                "optimizer.zero_grad()  # before each backward()",
                                STEPS,
                            ),
                            "it stays": RATE,
                        },
                    ),
                },
            ),
            "lower": ENTROPY,
        },
    ),
)  # fmt: skip
TOO_FAR = Symptom(
    TRAINS,
    "it falls too far",
    if_two_runs_agree(Fork(
        "change the future",
        "(model(changed) - model(ids))[:, :place].abs().max()",
        {
            "the past moves": LEAK,
            "nothing moves": Fork(
                "targets against ids",
                "(targets == ids).float().mean()",
                {
                    "nearly all equal": NOT_SHIFTED,
                    "hardly any, but filler": FILLER,
                    "hardly any, no filler": Cause(
                        "It knows its text by heart: too little text, too often.",
                        "losses(model, held_out)  # rises", EPOCHS,
                    ),
                },
            ),
        },
    )),
)  # fmt: skip
SPIKES = Symptom(
    TRAINS,
    "it spikes",
    Fork(
        "updates over weights",
        "(after - before).norm() / before.norm()  # of those that did not start at 0",
        {
            "large from the start": RATE,
            "large at the spike alone": Cause(
                "One batch is unlike the others, and nothing clips its gradient.",
                "nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # look at what it returns", BAD_BATCH,
            ),
            "even at the spike": Fork(
                "one epoch over the other",
                "losses.unflatten(0, (-1, updates_of_an_epoch))",
                {
                    "the same ups and downs": Cause(
                        "Batches come in the same order in each epoch: rows are not shuffled.",
                        "DataLoader(rows, batch_size=16, shuffle=True)", EPOCHS,
                    ),
                    "others": Cause(
                        "The loss is a mean over few targets, or of means of unequal parts.",
                        "(targets != filler).sum()  # of each batch", STEPS, ("the loss that was given",),
                    ),
                },
            ),
        },
    ),
)  # fmt: skip
NAN = Symptom(
    TRAINS,
    "it is NaN",
    Fork(
        "float32 against half",
        "copy.deepcopy(model).half()(ids)",
        {
            "only in half": Cause(
                "A number is out of half precision's range: −1e9, or the square of a large one.",
                "torch.finfo(torch.float16).max  # 65,504", sections.HIDDEN_SCORE, ("half precision",),
            ),
            "in float32, too": Fork(
                "the first NaN, by a hook",
                "nn.Module.register_forward_hook",
                {
                    "in a softmax": Cause(
                        "A query may see no key at all.", "mask.any(-1).all()", sections.HIDDEN_SCORE,
                        ("the first NaN", "a short row beside it"),
                    ),
                    "in a weight, after updates": Fork(
                        "the gradient before that",
                        "[name for name, w in model.named_parameters() if w.grad.isnan().any()]",
                        {
                            "NaN, of a finite loss": Cause(
                                "A root or a quotient was asked at 0: a norm of a row of zeros, as filler "
                                "has, and nothing added under its root.",
                                "torch.autograd.set_detect_anomaly(True)  # names the step on the way back",
                                sections.NORM,
                            ),
                            "large, or the loss first": RATE,
                        },
                    ),
                    "in the stream": Cause(
                        "What passes through the blocks grows from each to the next.",
                        "[given.std() for given in outputs_of_blocks]", sections.DEEP,
                        ("the first NaN", "sizes of the stream"),
                    ),
                },
            ),
        },
    ),
)  # fmt: skip
