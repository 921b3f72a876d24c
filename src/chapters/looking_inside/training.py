"""What a reader can train here: a small model of repeated symbols, in which an induction head forms."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding

INDUCTION = Bench(
    question="How many layers does looking up take?",
    task={"kind": "repeated", "classes": 16, "length": 24, "shortest": 4, "longest": 10},
    model={
        **{
            "width": 32,
            "spread": 32**-0.5,
            "scaled": True,
            "positions": "learned",
            "longest": 24,
            "heads": 2,
        },
        **{"layers": 2, "hidden": 64, "road": True, "norm": "before", "biases": True},
    },
    training={"rows": 16, "steps": 250, "rate": 0.01, "warmUp": 50, "falls": True, "betas": [0.9, 0.98]},
    lanes={"two layers": {}, "one layer": {"model": {"layers": 1}}},
    finds=[
        Finding("two layers", "right", at_least=0.8),
        Finding("one layer", "right", at_most=0.45),
    ],
    found="With two layers a head learns to look right after the place where the same symbol last stood, and "
    "eight of ten that can be known are right. One layer stays at four of ten.",
)
BENCHES = {"induction": INDUCTION}
PAGES = {
    "induction": Training(
        bench=INDUCTION,
        controls=[
            Control("layers", "Layers", {n: {"model": {"layers": int(n)}} for n in ("1", "2")}, "2"),
            Control(
                "heads", "Heads in each", {n: {"model": {"heads": int(n)}} for n in ("1", "2", "4")}, "2"
            ),
        ],
        change={"layers": "1"},
        answers="symbols that can be known",
        where="in new texts",
    )
}
