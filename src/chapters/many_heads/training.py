"""What a reader can train here: guests that name their neighbours, with one head and with more."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding

NETWORK = {"heads": 1, "hidden": 32}
RATES = ("0.01", "0.02", "0.05", "5")  # the last far too high: what that looks like
FOUR = {"task": {"asked": [-2, -1, 1, 2]}}
GUESTS = Bench(
    question="How many heads does it take to name two neighbours?",
    task={"kind": "guests", "length": 8, "asked": [-1, 1]},
    model={"words": "ones", "width": 16, "heads": 2, "biases": True, "sight": "all"},
    training={"rows": 16, "steps": 300, "rate": 0.05},
    lanes={
        "two heads": {},
        "one head": {"model": {"heads": 1}},
        "one head, rate 0.02": {"model": {"heads": 1}, "training": {"rate": 0.02}},
        "one head, rate 0.01": {"model": {"heads": 1}, "training": {"rate": 0.01}},
        "four heads": {"model": {"heads": 4}},
        "one head and a network": {"model": NETWORK, "training": {"rate": 0.02}},
        "four neighbours, one head": FOUR | {"model": {"heads": 1}},
        "four neighbours, two heads": FOUR,
        "four neighbours, four heads": FOUR | {"model": {"heads": 4}},
    },
    finds=[
        Finding("two heads", "right", at_least=0.97),
        Finding("one head", "right", at_least=0.55, at_most=0.65),
        Finding("one head, rate 0.02", "right", at_most=0.7),
        Finding("one head, rate 0.01", "right", at_most=0.7),
        Finding("four heads", "right", at_least=0.97),
        Finding("one head and a network", "right", at_least=0.9),
        Finding("four neighbours, one head", "right", at_most=0.45),
        Finding("four neighbours, two heads", "right", at_least=0.6, at_most=0.85),
        Finding("four neighbours, four heads", "right", at_least=0.97),
    ],
    found="One head names six neighbours of ten, two heads all. With a network behind it one head learns "
    "them as well.",
)
BENCHES = {"guests": GUESTS}
PAGES = {
    "guests": Training(
        bench=GUESTS,
        controls=[
            Control("neighbours", "Neighbours to name", {"two": {}, "four": FOUR}, "two", both=True),
            Control("heads", "Heads", {str(n): {"model": {"heads": n}} for n in (1, 2, 4)}, "2"),
            Control("network", "A network behind", {"no": {}, "yes": {"model": {"hidden": 32}}}, "no"),
            Control("rate", "Rate", {rate: {"training": {"rate": float(rate)}} for rate in RATES}, "0.05"),
        ],
        change={"heads": "1", "network": "yes"},
        answers="names",
        where="at new tables",
    )
}
