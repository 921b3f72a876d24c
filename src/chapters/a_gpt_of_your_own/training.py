"""What a reader can train here: a small model of sentences, from a start as it should be and from others."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding
from bookkit.training.tasks import Settings
from chapters.the_transformer.training import SENTENCES

# Of tables and matrices alike; with 32 numbers a word, a loudness of 1 is a spread of 0.1.
STARTS: dict[str, dict[str, Settings]] = {
    "0.02": {"model": {"spread": 0.02, "loudness": 0.2}},
    "0.1": {},
    "0.5": {"model": {"spread": 0.5, "loudness": 5.0}},
}
RATES = {rate: {"training": {"rate": float(rate)}} for rate in ("0.008", "0.016", "0.032", "0.064")}
START = Bench(
    question="What does a wrong start cost?",
    task=SENTENCES.task,
    model=SENTENCES.model | {"spread": 0.1, "scaled": False, "positions": "rotary"},
    training={"rows": 12, "steps": 150, "rate": 0.008, "warmUp": 10, "falls": True},
    lanes={
        "0.1": {},
        "0.1, rate 0.016": RATES["0.016"],
        "0.02": STARTS["0.02"],
        "0.5": STARTS["0.5"],
        **{f"0.5, rate {rate}": STARTS["0.5"] | RATES[rate] for rate in ("0.016", "0.032", "0.064")},
    },
    finds=[
        Finding("0.1", "loss", at_most=1.6),
        Finding("0.1, rate 0.016", "loss", at_most=1.6),
        Finding("0.02", "loss", at_most=1.62),
        Finding("0.5", "first", at_least=6),
        Finding("0.5", "loss", at_least=1.8),
        Finding("0.5, rate 0.016", "loss", at_least=1.7),
        *(Finding(f"0.5, rate {rate}", "loss", at_least=1.63) for rate in ("0.032", "0.064")),
    ],
    found="Spread five times too far, it begins at a loss above 6, where knowing nothing costs 3.6, and is "
    "still behind after 150 steps, at every rate. A fifth of the right spread costs so little that "
    "one run does not show it.",
)
BENCHES = {"start": START}
PAGES = {
    "start": Training(
        bench=START,
        controls=[
            Control("spread", "Spread of first weights", STARTS, "0.1"),
            Control("rate", "Rate", RATES, "0.008"),
        ],
        change={"spread": "0.5"},
        answers="words",
        where="in new sentences",
    )
}
