"""What `check_own_fault` asks: does a cheap test see it, and what does it cost?"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.shapes import Vectors
from attnlab.transformer import GPT, Block
from bookkit.checking.answers import returned
from chapters.the_repair_shop import cheap
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
