"""Plant a fault that no cheap test of the chapter finds, and that costs loss."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.shapes import Vectors
from attnlab.transformer import GPT, Block
from bookkit.checking.answers import returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes
from chapters.the_repair_shop import cheap, faults
from chapters.the_repair_shop.patients import Patient, blocks, next_letter, of_equal_sizes, rows, small

UPDATES, COST = 150, 0.1
HEALTHY = 1.63  # nats a letter after as many updates, of the model from seed 0 (other seeds: 1.56 to 1.60)
NAMES = [*cheap.FINDS]
UNSEEN, COSTS = 0, 100
FOUND = {UNSEEN: "no cheap test finds it"} | {
    place: f"the test “{name}” finds it" for place, name in enumerate(NAMES, 1)
}
FOUND |= {COSTS: "it costs enough", COSTS + 1: "it costs too little"}


def asked(work: Callable[[nn.Module], Any], question: str, seed: int) -> Tensor:
    """`asked(my_fault, "tests", 0)` is 0 where no test finds it, else the number of the first that does."""

    def patient() -> Patient:
        with torch.random.fork_rng(devices=[]):  # whoever makes new layers draws their weights
            torch.manual_seed(seed)
            model = returned(work(small(seed)))
        if not isinstance(model, nn.Module):
            raise TypeError(f"return the model, changed or another; this is {type(model).__name__}")
        return Patient(model)

    return _tested(patient, seed) if question == "tests" else _trained(patient(), seed)


def _tested(patient: Callable[[], Patient], seed: int) -> Tensor:
    ids = rows(seed=seed)
    for place, find in enumerate(cheap.FINDS.values(), 1):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            if find(patient(), ids):
                return torch.tensor(place)
    return torch.tensor(UNSEEN)


def _trained(patient: Patient, seed: int) -> Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        optimizer = patient.optimizer()
        patient.model.train()
        for update in range(UPDATES):
            optimizer.zero_grad()
            patient.loss(patient.model, rows(8, seed=1000 * seed + update)).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    patient.model.eval()
    with torch.no_grad():
        loss = float(next_letter(patient.model, rows(64, seed=99_999)))
    return torch.tensor(COSTS if loss >= HEALTHY + COST else COSTS + 1)


class NoNetwork(Block):
    """`NoNetwork(32, 4)(stream)` attends, and never calls its network."""

    def forward(self, stream: Vectors) -> Vectors:
        """`block(stream)` has the shape of stream, (B, T, d_model)."""
        return stream + self.dropout(self.attention(self.before_attention(stream)))  # type: ignore[no-any-return]

    @staticmethod
    def in_all(model: GPT) -> GPT:
        """`NoNetwork.in_all(small())` is the model with such blocks, and the same weights."""
        for place, old in enumerate(blocks(model)):
            model.blocks[place] = of_equal_sizes(NoNetwork, old)
        return model


def _larger(model: GPT) -> nn.Module:
    return small(0, spread=1.0)


def _sees_it(test: str, hint: str) -> str:
    return f"The test “{test}” finds yours. {hint}"


FINDINGS: dict[str, tuple[str, Callable[[GPT], nn.Module]]] = {
    "found by future": (
        _sees_it("future", "Whatever lets a later letter in moves what stands before."),
        lambda model: faults.attending(faults.OffByOne, model),
    ),
    "found by one word": (
        _sees_it("one word", "Where no place is known, all places say the same of it."),
        faults.without_places,
    ),
    "found by two runs": (
        _sees_it("two runs", "Chance that never rests shows at once."),
        faults.never_rests,
    ),
    "found by the first loss": (
        _sees_it("first loss", "What starts too sure of itself is far above ln V."),
        _larger,
    ),
    "found by dead units": (
        _sees_it("dead units", "Units that no letter wakes are counted."),
        faults.pushed_under,
    ),
    "found by half": (
        _sees_it("half", "Half precision ends at 65,504."),
        lambda model: faults.attending(faults.Billion, model),
    ),
    "found by the gradient": (
        _sees_it("gradient", "A block that no gradient gets to has a gradient of 0."),
        faults.cut,
    ),
    "found by heart": (
        _sees_it("by heart", "It is so bad that it can't even learn two rows."),
        faults.without_road,
    ),
}
MISTAKES: Mistakes = {
    "costs nothing": (
        "No test finds it, and after 150 updates the loss is not 0.1 above that of the healthy model. "
        "Perhaps it is no fault: some changes that look like one even help a model as small as this.",
        lambda model: model,
    ),
    **FINDINGS,
}


check_own_fault = Exercise(
    "own_fault",
    difficulty=4,
    minutes=45,
    takes=("question", "seed"),
    returns=("found",),
    reference=NoNetwork.in_all,
    ask=asked,
    meanings={"found": FOUND},
    cases=(
        Case("no cheap test finds it", "tests", 0),
        Case("nor with another seed", "tests", 1),
        Case("it costs 0.1 nats a letter", "training", 0),
    ),
    mistakes=MISTAKES,
    trainable=False,
    again=False,
)
