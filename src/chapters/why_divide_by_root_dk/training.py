"""What a reader can train here: a look-up, with a divisor and without."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding

RAW = {"divisor": "none"}
LOOK_UP = Bench(
    question="Does the divisor matter for learning?",
    task={"kind": "lookUp", "classes": 8, "length": 16},
    model={
        **{"words": "ones", "width": 8, "matrices": "of places", "longest": 16, "queryWidth": 64},
        **{"output": False, "readOut": False, "sight": "all"},
    },
    training={"rows": 4, "steps": 200, "rate": 0.05, "loss": "squares"},
    lanes={
        "÷ √dₖ": {},
        "÷ dₖ": {"model": {"divisor": "width"}},
        "raw": {"model": RAW},
        "raw, rate 0.005": {"model": RAW, "training": {"rate": 0.005}},
        "raw, rate 0.015": {"model": RAW, "training": {"rate": 0.015}},
        "raw, rate 0.15": {"model": RAW, "training": {"rate": 0.15}},
        "raw, rate 0.5": {"model": RAW, "training": {"rate": 0.5}},
        "raw, dₖ = 4": {"model": RAW | {"queryWidth": 4}},
    },
    finds=[
        Finding("÷ √dₖ", "right", at_least=0.97),
        Finding("÷ dₖ", "right", at_least=0.97),
        Finding("raw", "right", at_most=0.6),
        Finding("raw, rate 0.005", "right", at_most=0.66),
        Finding("raw, rate 0.015", "right", at_most=0.66),
        Finding("raw, rate 0.15", "right", at_most=0.6),
        Finding("raw, rate 0.5", "right", at_most=0.6),
        Finding("raw, dₖ = 4", "right", at_least=0.97),
    ],
    found="Divided by √dₖ or by dₖ, all values are fetched right. Raw, less than two thirds are, at every "
    "rate; with dₖ = 4 raw scores learn as well.",
)
BENCHES = {"look-up": LOOK_UP}
RATES = ("0.005", "0.015", "0.05", "0.15", "0.5")
PAGES = {
    "look-up": Training(
        bench=LOOK_UP,
        controls=[
            Control(
                "divided",
                "Scores are divided",
                {
                    "by √dₖ": {},
                    "by dₖ": {"model": {"divisor": "width"}},
                    "not at all": {"model": RAW},
                },
                "by √dₖ",
            ),
            Control("rate", "Rate", {rate: {"training": {"rate": float(rate)}} for rate in RATES}, "0.05"),
            Control(
                "width", "dₖ", {n: {"model": {"queryWidth": int(n)}} for n in ("4", "64")}, "64", both=True
            ),
        ],
        change={"divided": "not at all"},
        answers="values",
        where="in new examples",
    )
}
