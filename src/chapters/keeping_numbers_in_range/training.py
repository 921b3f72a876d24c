"""What a reader can train here: twelve layers that write backwards, with road and norms and without."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding

DEPTH = Bench(
    question="What do twelve layers need to learn at all?",
    task={"kind": "backwards", "classes": 10, "length": 6},
    model={
        **{"width": 32, "spread": 3**-0.5, "positions": "learned", "longest": 6, "layers": 12, "hidden": 64},
        **{"sight": "all", "road": True, "norm": "before"},
    },
    training={"rows": 12, "steps": 60, "rate": 0.007},
    lanes={
        "pre-norm": {},
        "plain": {"model": {"norm": "none", "road": False}},
        "plain, rate 0.003": {"model": {"norm": "none", "road": False}, "training": {"rate": 0.003}},
        "norm, no road": {"model": {"norm": "after", "road": False}},
        "norm, no road, rate 0.003": {"model": {"norm": "after", "road": False}, "training": {"rate": 0.003}},
        "post-norm": {"model": {"norm": "after"}},
        "post-norm, warm-up": {"model": {"norm": "after"}, "training": {"warmUp": 30}},
        "post-norm, rate 0.003": {"model": {"norm": "after"}, "training": {"rate": 0.003, "steps": 90}},
    },
    finds=[
        Finding("pre-norm", "loss", at_most=0.1),
        Finding("plain", "loss", at_least=2.25),
        Finding("plain, rate 0.003", "loss", at_least=2.25),
        Finding("norm, no road", "loss", at_least=2.25),
        Finding("norm, no road, rate 0.003", "loss", at_least=2.25),
        Finding("post-norm", "loss", at_least=2.2),
        Finding("post-norm, warm-up", "loss", at_most=1),
        Finding("post-norm, rate 0.003", "loss", at_most=0.6),
    ],
    found="Without the road nothing is learned: the loss stays at log 10 = 2.30. With it and a norm before "
    "each block it falls to nearly nothing. With the norm after, the rate of 0.007 needs a warm-up.",
)
BENCHES = {"depth": DEPTH}
RATES = ("0.003", "0.007", "0.015")
PAGES = {
    "depth": Training(
        bench=DEPTH,
        controls=[
            Control(
                "arrangement",
                "Arrangement",
                {
                    "pre-norm": {},
                    "post-norm": {"model": {"norm": "after"}},
                    "norm, no road": {"model": {"norm": "after", "road": False}},
                    "plain": {"model": {"norm": "none", "road": False}},
                },
                "pre-norm",
            ),
            Control("warm_up", "Steps of warm-up", {"0": {}, "30": {"training": {"warmUp": 30}}}, "0"),
            Control("rate", "Rate", {rate: {"training": {"rate": float(rate)}} for rate in RATES}, "0.007"),
            Control(
                "layers", "Layers", {n: {"model": {"layers": int(n)}} for n in ("3", "12")}, "12", both=True
            ),
        ],
        change={"arrangement": "post-norm"},
        answers="symbols",
        where="in new sequences",
    )
}
