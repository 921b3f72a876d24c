"""Faults are led to their causes: each answer on the way is what a cheap test finds in the patient."""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from chapters.the_repair_shop import cheap
from chapters.the_repair_shop.faults import FAULTS, OffTheRoad, StepByStep
from chapters.the_repair_shop.patients import LETTERS, Patient, blocks, of_equal_sizes, rows, small
from chapters.the_repair_shop.tree import TREE, Cause

Make = Callable[[], Patient]
IDS = rows(8)
READ = IDS[:, :-1]


def first_loss(make: Make) -> str:
    above = cheap.first_loss(make(), IDS) / math.log(len(LETTERS))
    return "many times as much" if above > 20 else "some nats above" if above > 1.2 else "about ln V"


def by_heart(make: Make) -> str:
    """As the page has it: a quarter of ln V, after sixty updates."""
    return "it can" if cheap.by_heart(make(), IDS) < 0.25 * math.log(len(LETTERS)) else "it can’t"


def gradient(make: Make) -> str:
    sizes = cheap.gradients(make(), IDS)
    if min(sizes) == 0:
        return "None or 0"
    if sizes[0] < 0.1 * sizes[-1]:
        return "less and less towards the first"
    return "tiny everywhere" if max(sizes) < 0.1 else "as it should be"


def known(make: Make) -> str:
    model = make().model
    listed = {id(weight) for weight in model.parameters()}
    return "yes" if all(id(w) in listed for block in blocks(model) for w in block.parameters()) else "no"


def updates(make: Make) -> str:
    size = max(cheap.updates(make(), IDS))
    return "0" if size == 0 else "above a half" if size > 0.5 else "between"


def passed_on(make: Make) -> str:
    model, shares = make().model.eval(), []

    def note(_: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        shares.append(((output * inputs[0]).sum() / inputs[0].square().sum()).item())

    for block in blocks(model):
        block.register_forward_hook(note)
    with torch.no_grad():
        model(READ)
    return "near 0" if max(map(abs, shares)) < 0.5 else "about 1"


def future(make: Make) -> str:
    return "the past moves" if cheap.leak(make().model.eval(), READ) > 1e-5 else "nothing moves"


def restless(make: Make) -> str:
    """And where two runs are equal, whether rows of weights sum to 1."""
    model, sums = make().model, []
    if cheap.restless(model, READ) > 1e-5:
        return "no"
    for block in blocks(model):
        attention = block.attention
        assert isinstance(attention, StepByStep)
        weigh = attention.weights
        attention.weights = lambda *given, weigh=weigh: sums.append(weigh(*given).sum(-1)) or weigh(*given)
    with torch.no_grad():
        model(READ)
    whole = torch.stack(sums)
    kept = torch.allclose(whole, torch.ones_like(whole), atol=1e-5)
    return "yes, and rows of weights sum to 1" if kept else "yes, and they do not"


def entropy(make: Make) -> str:
    """Of a new model it is the most possible, nearly: whether it stays so, training would tell."""
    return "near 0, from the start" if min(cheap.entropies(make().model.eval(), READ)) < 0.5 else "between"


def some_gradient(make: Make) -> str:
    return "None or 0 in some" if min(cheap.gradients(make(), IDS)) == 0 else "all have one"


def one_word(make: Make) -> str:
    return "all places say the same" if cheap.one_word(make().model.eval(), READ) < 1e-4 else "they differ"


def dead(make: Make) -> str:
    return "most" if max(cheap.dead(make().model.eval(), READ)) > 0.5 else "few"


def halved(make: Make) -> str:
    patient = make()
    with torch.no_grad():
        whole = patient.model.eval()(READ).isfinite().all()
    return "only in half" if whole and cheap.in_half(patient.model, READ) == math.inf else "in float32, too"


MEASURED: dict[str, tuple[Callable[[Make], str], ...]] = {
    "first loss against ln V": (first_loss,),
    "one batch by heart": (by_heart,),
    "gradient by layer": (gradient, some_gradient),
    "does PyTorch know of it?": (known,),
    "updates over weights": (updates,),
    "what a block passes on": (passed_on,),
    "change the future": (future,),
    "are two runs equal?": (restless,),
    "entropy of attention": (entropy,),
    "one word everywhere": (one_word,),
    "dead units": (dead,),
    "float32 against half": (halved,),
}


def cause_of(seen: str, make: Make) -> str:
    """Where the way ends that begins with what one sees."""
    (branch,) = (symptom.fork for symptom in TREE if symptom.seen == seen)
    while not isinstance(branch, Cause):
        (answer,) = {ask(make) for ask in MEASURED[branch.test]} & {*branch.answers}
        branch = branch.answers[answer]
    return branch.words


def bare(seed: int) -> Patient:
    """Without a residual stream and without norms: each block makes gradients a hundred times smaller."""
    model = small(seed, layers=6)
    for place, old in enumerate(blocks(model)):
        block = of_equal_sizes(OffTheRoad, old)
        block.before_attention, block.before_network = nn.Identity(), nn.Identity()
        model.blocks[place] = block
    return Patient(model)


WAYS = (
    ("weights ten times too large", "the loss starts too high", "Weights start too large"),
    ("no residual stream", "it does not fall", "Blocks do not add"),
    ("blocks in a list", "it does not fall", "The optimizer does not have these weights"),
    ("rate thirty times too high", "it does not fall", "The rate is too high"),
    ("chances for logits", "it does not fall", "The loss is given chances"),
    ("no places", "it stops falling early", "No position gets to the attention"),
    ("biases of −5", "it stops falling early", "Units of a network never answer"),
    ("a stray detach()", "it stops falling early", "The way back is cut"),
    ("no mask", "it falls too far", "A mask is missing"),
    ("mask off by one", "it falls too far", "A mask is missing, shifted"),
    ("softmax over the queries", "it falls too far", "The softmax goes over the queries"),
    ("dropout that never rests", "it falls too far", "Dropout does not ask"),
    ("−1e9 in half precision", "it is NaN", "A number is out of half precision's range"),
)


@pytest.mark.thorough
@pytest.mark.parametrize(("fault", "seen", "cause"), WAYS)
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 5))]
)
def test_a_fault_is_led_to_its_cause(fault, seen, cause, seed):
    assert cause_of(seen, partial(FAULTS[fault], seed)).startswith(cause)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_shrinking_numbers_are_led_to_their_cause(seed):
    assert cause_of("it does not fall", partial(bare, seed)).startswith("Numbers shrink from block to block")
