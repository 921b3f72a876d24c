"""What a reader can train here: the reader of six words, through masks with holes."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding

HOLES = Bench(
    question="What does a hole in the mask do to the loss?",
    task={"kind": "sixWords", "length": 8, "likely": [1, 2, 3, 0, 5, 0], "rare": [4, 5, 5, 4, 0, 2]},
    model={
        **{"words": "ones", "width": 14, "queryWidth": 16, "valueWidth": 14, "output": False, "road": True},
    },
    training={"rows": 16, "steps": 150, "rate": 0.06},
    lanes={
        "right": {},
        "no mask": {"model": {"sight": "all"}},
        "off by one": {"model": {"sight": "one too many"}},
        "after the softmax": {"model": {"sight": "after the softmax"}},
        "not shifted": {"task": {"shift": 0}},
    },
    finds=[
        Finding("right", "loss", at_least=0.53, at_most=0.65),
        Finding("no mask", "loss", at_most=0.2),
        Finding("off by one", "loss", at_most=0.2),
        Finding("after the softmax", "loss", at_most=0.5),
        Finding("not shifted", "loss", at_most=0.05),
    ],
    found="Through the right mask the loss comes down to the limit, 0.562, and stays about there: some "
    "batches are easier than others. Through every hole it falls below, and stays below.",
)
BENCHES = {"holes": HOLES}
PAGES = {
    "holes": Training(
        bench=HOLES,
        controls=[
            Control(
                "fault",
                "Fault",
                {
                    "none": {},
                    "no mask": {"model": {"sight": "all"}},
                    "off by one": {"model": {"sight": "one too many"}},
                    "after the softmax": {"model": {"sight": "after the softmax"}},
                    "not shifted": {"task": {"shift": 0}},
                },
                "none",
            )
        ],
        change={"fault": "after the softmax"},
        answers="next words",
        where="in new texts",
        guess="the likelier word",
    )
}
