"""What a reader can train here: copying, with every scheme of positions, and then twice as far."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding

COPYING = Bench(
    question="Which scheme copies, and which still does at twice the length?",
    task={"kind": "copying", "classes": 10, "back": 3, "length": 24},
    model={
        **{
            "width": 32,
            "spread": 3**-0.5,
            "heads": 4,
            "output": False,
            "positions": "sinusoidal",
            "longest": 192,
        },
    },
    training={"rows": 8, "steps": 100, "rate": 0.04, "falls": True},
    lanes={
        "sinusoidal": {},
        "none": {"model": {"positions": "none"}},
        "learned": {"model": {"positions": "learned"}},
        "rotary": {"model": {"positions": "rotary"}},
        "ALiBi": {"model": {"positions": "ALiBi"}},
    },
    finds=[
        *(Finding(scheme, "right", at_least=0.98) for scheme in ("sinusoidal", "learned", "rotary")),
        *(Finding(scheme, "right", at_most=0.45) for scheme in ("none", "ALiBi")),
        Finding("sinusoidal", "right", at_least=0.2, at_most=0.35, length=48),
        Finding("learned", "right", at_most=0.12, length=48),
        Finding("rotary", "right", at_least=0.65, at_most=0.85, length=48),
        Finding("ALiBi", "right", at_least=0.2, at_most=0.45, length=48),
    ],
    found="With sinusoidal, learned and rotary positions all is copied. At twice the length learned rows "
    "guess, the sinusoidal table has two or three of ten right, and rotary about three of four.",
)
BENCHES = {"copying": COPYING}
SCHEMES = ("none", "learned", "sinusoidal", "rotary", "ALiBi")
PAGES = {
    "copying": Training(
        bench=COPYING,
        controls=[
            Control(
                "scheme",
                "Positions",
                {scheme: {"model": {"positions": scheme}} for scheme in SCHEMES},
                "sinusoidal",
            )
        ],
        change={"scheme": "rotary"},
        answers="symbols",
        where="in new sequences",
        longer=(48,),
    )
}
