"""What a reader can train here: pairs of a key and a value, asked back with a softmax and without."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding
from bookkit.training.tasks import Settings

KINDS: dict[str, dict[str, Settings]] = {"softmax": {}, "linear": {"model": {"attention": "linear"}}}
WIDTHS = {width: {"model": {"queryWidth": int(width)}} for width in ("8", "16", "32")}
PAIRS: dict[str, dict[str, Settings]] = {"16": {}, "4": {"task": {"length": 8}}}
RATES = {rate: {"training": {"rate": float(rate)}} for rate in ("0.01", "0.03", "0.1")}
LINEAR = KINDS["linear"]["model"]
RECALL = Bench(
    question="How many pairs does a sum hold?",
    task={"kind": "recall", "keys": 32, "values": 8, "length": 32},
    model={"width": 32, "queryWidth": 16, "valueWidth": 16, "output": False},
    training={"rows": 12, "steps": 120, "rate": 0.03, "falls": True},
    lanes={
        "softmax": {},
        "softmax, dₖ = 8": WIDTHS["8"],
        "linear": KINDS["linear"],
        "linear, rate 0.01": KINDS["linear"] | RATES["0.01"],
        "linear, rate 0.1": KINDS["linear"] | RATES["0.1"],
        "linear, dₖ = 8": {"model": LINEAR | {"queryWidth": 8}},
        "linear, dₖ = 32": {"model": LINEAR | {"queryWidth": 32}},
        "linear, 4 pairs": KINDS["linear"] | PAIRS["4"],
    },
    finds=[
        Finding("softmax", "right", at_least=0.99),
        Finding("softmax, dₖ = 8", "right", at_least=0.99),
        Finding("linear", "right", at_least=0.68, at_most=0.94),
        Finding("linear, rate 0.01", "right", at_most=0.82),
        Finding("linear, rate 0.1", "right", at_least=0.75, at_most=0.94),
        Finding("linear, dₖ = 8", "right", at_least=0.45, at_most=0.66),
        Finding("linear, dₖ = 32", "right", at_least=0.94),
        Finding("linear, 4 pairs", "right", at_least=0.9),
    ],
    found="Softmax brings back all. Without it a sum with keys of 16 numbers brings back four of five or so, "
    "and with 8 numbers not two thirds; 32 numbers bring back nearly all.",
)
BENCHES = {"recall": RECALL}
PAGES = {
    "recall": Training(
        bench=RECALL,
        controls=[
            Control("attention", "Attention", KINDS, "softmax"),
            Control("width", "dₖ", WIDTHS, "16"),
            Control("rate", "Rate", RATES, "0.03"),
            Control("pairs", "Pairs", PAIRS, "16", both=True),
        ],
        change={"attention": "linear"},
        answers="values",
        where="in new sequences",
    )
}
