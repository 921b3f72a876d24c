"""What a reader can train here: a small Transformer on sentences of which the best possible loss is known."""

from attnlab.corpora import agreement
from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding
from chapters.the_transformer import models
from chapters.the_transformer.playground import grammar

nats, words = agreement.expected()
SENTENCES = Bench(
    question="How near does a small Transformer come to the best possible loss?",
    task={
        **{"kind": "agreement", "words": models.WORDS, "start": models.WORDS.index(agreement.START)},
        **{"grammar": grammar(), "length": 22, "limit": round(nats / words, 6)},
    },
    model={
        **{
            "width": 32,
            "spread": 32**-0.5,
            "scaled": True,
            "positions": "sinusoidal",
            "heads": 4,
            "layers": 2,
        },
        **{"hidden": 64, "road": True, "norm": "before", "biases": True},
    },
    training={"rows": 20, "steps": 300, "rate": 0.008, "warmUp": 30, "falls": True},
    lanes={
        "whole": {},
        "one layer": {"model": {"layers": 1}},
        "no attention": {"model": {"layers": 0}},
        "off by one": {"model": {"sight": "one too many"}},
    },
    finds=[
        Finding("whole", "loss", at_least=1.4175, at_most=1.467),
        Finding("one layer", "loss", at_least=1.4175, at_most=1.5),
        Finding("no attention", "loss", at_least=1.751),
        Finding("off by one", "loss", at_most=0.05),
    ],
    found="It comes within a twentieth of a nat of the best possible loss, and never below. Without "
    "attention it stays a third of a nat above. With a hole in the mask it falls to nearly nothing, "
    "which no honest model can.",
)
BENCHES = {"sentences": SENTENCES}
PAGES = {
    "sentences": Training(
        bench=SENTENCES,
        controls=[
            Control("layers", "Layers", {n: {"model": {"layers": int(n)}} for n in ("0", "1", "2")}, "2"),
            Control(
                "mask", "Mask", {"right": {}, "off by one": {"model": {"sight": "one too many"}}}, "right"
            ),
        ],
        change={"mask": "off by one"},
        answers="words",
        where="in new sentences",
    )
}
