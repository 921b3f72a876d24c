"""What two sets tell, compared, and what shows when the model is used."""

from chapters.the_repair_shop.tree.kinds import (
    COPIES,
    EPOCHS,
    EQUAL_LENGTHS,
    PIECES,
    SAMPLING,
    SETS,
    TILES,
    TOO_LONG,
    WRITES,
    Cause,
    Fork,
    Symptom,
)
from chapters.the_repair_shop.tree.shared import LEAK, if_two_runs_agree
from checkup import sections

VALIDATION = Symptom(
    SETS,
    "training fine, validation not",
    Fork(
        "train against eval",
        "loss(model.train(), batch) - loss(model.eval(), batch)",
        {
            "eval is far worse": Cause(
                "A norm keeps numbers of the batch, or mixes places.",
                "[m for m in model.modules() if isinstance(m, nn.BatchNorm1d)]", sections.NORM,
                ("train against eval", "places in norms"),
            ),
            "about equal": Fork(
                "filler moved",
                "loss(model, F.pad(ids, (0, 8), value=filler))",
                {
                    "the loss moves": Cause(
                        "Filler is attended to, averaged over or counted.",
                        "torch.allclose(model(short), model(longer)[:, :T])", sections.PADDING,
                        ("filler exchanged", "a short row beside it"),
                    ),
                    "nothing moves": Fork(
                        "a row alone",
                        "model(ids[:1]) - model(ids)[:1]",
                        {
                            "it differs": Cause(
                                "Rows of a batch get at each other.",
                                "model(ids)[0]  # with another row beside it", sections.NORM,
                                ("another row changed", "a row alone, and many rows"),
                            ),
                            "it is the same": Fork(
                                "decode the validation ids",
                                "decode(validation[:80])",
                                {
                                    "rubbish": Cause(
                                        "Another tokenizer cut it.", "encode(decode(ids)) == ids", PIECES,
                                    ),
                                    "text": Cause(
                                        "It knows its training text by heart.",
                                        "min(epochs, key=validation_loss)", EPOCHS,
                                    ),
                                },
                            ),
                        },
                    ),
                },
            ),
        },
    ),
)  # fmt: skip
TRAINING = Symptom(
    SETS,
    "validation fine, training not",
    Fork(
        "train against eval",
        "loss(model.train(), batch) - loss(model.eval(), batch)",
        {
            "training is worse": Cause(
                "Dropout: some is meant. If it is much, the share kept was given for the share dropped.",
                "[m.p for m in model.modules() if isinstance(m, nn.Dropout)]", sections.DROPOUT,
                ("train against eval",),
            ),
            "about equal": Fork(
                "both sets, by the same weights",
                "loss(model.eval(), training_rows) - loss(model.eval(), validation_rows)",
                {
                    "about equal": Cause(
                        "The training loss shown is a mean over past updates, when the model was worse.",
                        "losses[-1], sum(losses[-100:]) / 100", EPOCHS,
                    ),
                    "training is higher": Cause(
                        "The validation text is the easier one, or more of it stands in the training text.",
                        "len({*training} & {*validation})  # runs of six words", COPIES,
                    ),
                },
            ),
        },
    ),
)  # fmt: skip
RUBBISH = Symptom(
    WRITES,
    "it trains and writes rubbish",
    if_two_runs_agree(Fork(
        "cache against none",
        "model(ids[:, -1:], caches) - model(ids)[:, -1:]",
        {
            "they differ": Cause(
                "Behind a cache, places start again, or a mask is lined up at the wrong end.",
                "caches[0].length  # where the next word stands", sections.CACHE, ("with a cache",),
            ),
            "the same, or there is none": Fork(
                "change the future",
                "(model(changed) - model(ids))[:, :place].abs().max()",
                {
                    "the past moves": LEAK,
                    "nothing moves": Fork(
                        "save, load, ask again",
                        "model.load_state_dict(torch.load(file))",
                        {
                            "it differs": Cause(
                                "Something that counts is not in the file.", "[*model.state_dict()]",
                                sections.SAVED, ("saved and loaded", "plain tensors"),
                            ),
                            "the same": Fork(
                                "a shorter text",
                                "model(ids[:, :9]) - model(ids)[:, :9]",
                                {
                                    "it differs": Cause(
                                        "What a place says depends on how long the text is.",
                                        "model.places.weight[:9]", sections.LENGTH, ("a shorter text",),
                                    ),
                                    "the same": Fork(
                                        "decode what was encoded",
                                        "decode(encode(text)) == text",
                                        {
                                            "it is another text": Cause(
                                                "Another tokenizer cut it.", "encode(decode(ids)) == ids",
                                                PIECES,
                                            ),
                                            "the same, but too long": Cause(
                                                "It writes past the length that it was trained on.",
                                                "ids.shape[1] > trained_length", TOO_LONG,
                                            ),
                                            "the same": Cause(
                                                "Sampling: too hot, or all pieces allowed.",
                                                "logits.argmax(-1)  # is the likeliest rubbish, too?",
                                                SAMPLING,
                                            ),
                                        },
                                    ),
                                },
                            ),
                        },
                    ),
                },
            ),
        },
    )),
)  # fmt: skip
SLOW = Symptom(
    WRITES,
    "it is slower than it should be",
    Fork(
        "time the 10th word and the 500th",
        "time.perf_counter()",
        {
            "the 500th takes far longer": Cause(
                "No cache, or it is not handed on: the whole text is read for each word.",
                "ids.shape[1] == 1  # in each call but the first", sections.CACHE, ("with a cache",),
            ),
            "about equal": Fork(
                "what does it compute on?",
                "{(w.device, w.dtype) for w in model.parameters()}",
                {
                    "the wrong device, or float64": Cause(
                        "Something did not move with the model, or made it wider.",
                        "model.to(device, torch.float32)", sections.MOVED, ("plain tensors",),
                    ),
                    "all as meant": Fork(
                        "share of filler",
                        "(ids == filler).float().mean()",
                        {
                            "a third or more": Cause(
                                "Rows of very different lengths share batches.", "lengths.sort()",
                                EQUAL_LENGTHS,
                            ),
                            "little": Cause(
                                "Attention in steps keeps all T² weights in memory.",
                                "F.scaled_dot_product_attention", TILES,
                            ),
                        },
                    ),
                },
            ),
        },
    ),
)  # fmt: skip
