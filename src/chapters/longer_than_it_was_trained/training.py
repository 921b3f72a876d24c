"""What a reader can train here: copying at length 24, and perhaps a few steps more at length 96."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding
from bookkit.training.tasks import Settings

LAST: dict[str, dict[str, Settings]] = {
    "0": {},
    **{steps: {"training": {"last": int(steps), "longer": 96}} for steps in ("20", "50")},
}
PLACES: dict[str, dict[str, Settings]] = {
    "rotary": {},
    "sines": {"model": {"positions": "sinusoidal"}},
    "learned rows": {"model": {"positions": "learned"}},
}
LONGER = Bench(
    question="How many steps at the greater length does it take?",
    task={"kind": "copying", "classes": 10, "back": 3, "length": 24},
    model={
        **{"width": 32, "spread": 3**-0.5, "heads": 4, "output": False, "positions": "rotary", "longest": 96},
    },
    training={"rows": 8, "steps": 150, "rate": 0.02},
    lanes={
        "24 alone": {},
        "20 steps": LAST["20"],
        "50 steps": LAST["50"],
        "sines": PLACES["sines"],
        "sines, 50 steps": PLACES["sines"] | LAST["50"],
        "learned rows": PLACES["learned rows"],
        "learned rows, 50 steps": PLACES["learned rows"] | LAST["50"],
    },
    finds=[
        Finding("24 alone", "right", at_least=0.99),
        Finding("24 alone", "right", at_most=0.15, length=96),
        Finding("20 steps", "right", at_least=0.85, length=96),
        Finding("50 steps", "right", at_least=0.99),
        Finding("50 steps", "right", at_least=0.99, length=96),
        Finding("sines", "right", at_most=0.4, length=96),
        Finding("sines, 50 steps", "right", at_least=0.99, length=96),
        Finding("learned rows", "right", at_most=0.15, length=96),
        Finding("learned rows, 50 steps", "right", at_most=0.5, length=96),
    ],
    found="Trained on 24 places it copies all there, and only guesses at the end of 96. If the last 50 of "
    "its 150 steps are at 96, it copies all at both.",
)
BENCHES = {"longer": LONGER}
PAGES = {
    "longer": Training(
        bench=LONGER,
        controls=[
            Control("last", "Steps at length 96", LAST, "0"),
            Control("places", "Places", PLACES, "rotary", both=True),
        ],
        change={"last": "50"},
        answers="symbols",
        where="in new sequences",
        longer=(96,),
    )
}
