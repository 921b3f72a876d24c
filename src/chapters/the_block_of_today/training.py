"""What a reader can train here: two blocks that copy, with rotary places and with others."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding
from bookkit.training.tasks import Settings

PLACES: dict[str, dict[str, Settings]] = {
    "rotary": {},
    "sines": {"model": {"positions": "sinusoidal"}},
    "learned rows": {"model": {"positions": "learned"}},
    "none": {"model": {"positions": "none"}},
}
RATES = {rate: {"training": {"rate": float(rate)}} for rate in ("0.005", "0.01", "0.02", "0.04")}
CHANGE = Bench(
    question="Which change shows?",
    task={"kind": "copying", "classes": 10, "back": 5, "length": 24},
    model={
        **{"width": 32, "positions": "rotary", "longest": 24, "layers": 2, "heads": 4, "hidden": 64},
        **{"road": True, "norm": "before"},
    },
    training={"rows": 8, "steps": 100, "rate": 0.01, "warmUp": 10, "falls": True},
    lanes={
        "rotary": {},
        "norm after": {"model": {"norm": "after"}},
        "sines": PLACES["sines"],
        "sines, rate 0.02": PLACES["sines"] | RATES["0.02"],
        "sines, rate 0.04": PLACES["sines"] | RATES["0.04"],
        "learned": PLACES["learned rows"],
        "learned, rate 0.02": PLACES["learned rows"] | RATES["0.02"],
        "none, rate 0.02": PLACES["none"] | RATES["0.02"],
    },
    finds=[
        Finding("rotary", "right", at_least=0.99),
        Finding("norm after", "right", at_least=0.99),
        Finding("sines", "right", at_most=0.45),
        Finding("sines, rate 0.02", "right", at_most=0.85),
        Finding("sines, rate 0.04", "right", at_most=0.97),
        Finding("learned", "right", at_least=0.95),
        Finding("learned, rate 0.02", "right", at_least=0.99),
        Finding("none, rate 0.02", "right", at_most=0.35),
    ],
    found="With rotary places two blocks copy all within a hundred steps. With the table of sines they do "
    "not, whichever the rate. On which side of a step the norm stands makes no difference that shows.",
)
BENCHES = {"change": CHANGE}
NORMS: dict[str, dict[str, Settings]] = {"before": {}, "after": {"model": {"norm": "after"}}}
PAGES = {
    "change": Training(
        bench=CHANGE,
        controls=[
            Control("places", "Places", PLACES, "rotary"),
            Control("norm", "Norm", NORMS, "before"),
            Control("rate", "Rate", RATES, "0.01"),
        ],
        change={"places": "sines"},
        answers="symbols",
        where="in new sequences",
    )
}
