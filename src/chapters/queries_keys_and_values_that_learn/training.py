"""What a reader can train here: the game of tag, with each matrix and without."""

from bookkit.training.page import Control, Training
from bookkit.training.settings import Bench, Finding

TAG = Bench(
    question="Which of the three matrices can be left out?",
    task={"kind": "tag", "length": 6},
    model={
        **{"words": "ones", "width": 18, "queryWidth": 6, "valueWidth": 6, "output": False, "sight": "all"},
        **{"divisor": "none", "loudness": 2.0},
    },
    training={"rows": 32, "steps": 200, "rate": 0.03},
    lanes={
        "all three": {},
        "only W_V": {"model": {"matrices": "only values"}},
        "W_Q = W_K": {"model": {"matrices": "tied"}},
        "without W_V": {"model": {"matrices": "no values"}},
        "kept, all three": {"model": {"road": True, "valueWidth": 18}},
        "kept, without W_V": {"model": {"road": True, "matrices": "no values"}},
    },
    finds=[
        Finding("all three", "right", at_least=0.99),
        Finding("only W_V", "right", at_most=0.25),
        Finding("W_Q = W_K", "right", at_least=0.35, at_most=0.6),
        Finding("without W_V", "right", at_least=0.99),
        Finding("kept, all three", "right", at_least=0.99),
        Finding("kept, without W_V", "right", at_least=0.5, at_most=0.7),
    ],
    found="With all three matrices every colour is found, and without W_V, too. With W_Q = W_K not half of "
    "them is, and with only W_V one in six. Where a word keeps its own vector, W_V is needed.",
)
BENCHES = {"tag": TAG}
PAGES = {
    "tag": Training(
        bench=TAG,
        controls=[
            Control(
                "matrices",
                "What learns",
                {
                    "all three": {},
                    "only W_V": {"model": {"matrices": "only values"}},
                    "W_Q = W_K": {"model": {"matrices": "tied"}},
                    "without W_V": {"model": {"matrices": "no values"}},
                },
                "all three",
            ),
            Control(
                "keeps",
                "Each word keeps its vector",
                {"no": {}, "yes": {"model": {"road": True, "valueWidth": 18}}},
                "no",
                both=True,
            ),
        ],
        change={"matrices": "W_Q = W_K"},
        answers="scarves",
        where="in new games",
    )
}
