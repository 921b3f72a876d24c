"""The tree of “The repair shop”: what it asks and links to, and that its ways end where they should."""

import ast
import math
from collections.abc import Callable
from functools import partial
from typing import get_args

import pytest
import torch
from headings import anchors
from torch import Tensor, nn

from chapters.the_repair_shop import cheap, drawings, walked
from chapters.the_repair_shop.faults import FAULTS, OffTheRoad, StepByStep, healthy
from chapters.the_repair_shop.patients import (
    LETTERS,
    Patient,
    blocks,
    next_letter,
    of_equal_sizes,
    rows,
    small,
)
from chapters.the_repair_shop.tree import TREE, Cause, Fork, causes
from checkup.report import Inquiry
from checkup.visit import TESTS

EVERY = [cause for symptom in TREE for cause in causes(symptom.fork)]


def forks(branch):
    if isinstance(branch, Fork):
        yield branch
        for answer in branch.answers.values():
            yield from forks(answer)


@pytest.mark.parametrize("section", sorted({cause.section for cause in EVERY}))
def test_each_section_exists(section):
    page, _, anchor = section.partition("#")
    assert anchor in anchors(page)


@pytest.mark.parametrize("symptom", TREE, ids=lambda symptom: symptom.seen)
def test_forks_ask_in_python_have_answers_to_choose_from_and_end_in_tests_of_one_line(symptom):
    for fork in forks(symptom.fork):
        ast.parse(fork.code)
        assert len(fork.answers) >= 2, fork.test
    for cause in causes(symptom.fork):
        assert cause.words.endswith((".", ")"))
        assert "\n" not in cause.test
        ast.parse(cause.test)


def test_every_line_of_inquiry_is_reached():
    lines = {test.name: test.inquiry for test in TESTS}
    assert {lines[name] for cause in EVERY for name in cause.tool} == {*get_args(Inquiry)}


def test_the_page_has_every_cause_and_as_many_folds_as_there_are_answers():
    page = walked.page()
    answers = sum(len(fork.answers) for symptom in TREE for fork in forks(symptom.fork))
    assert page.count("<details") == page.count("</details>") == len(TREE) + answers
    for cause in EVERY:
        assert f'href="{cause.section}"' in page
    assert walked.ends(TREE) == len({*EVERY})


def test_the_drawing_has_what_the_tree_asks_first(monkeypatch):
    drawn = []
    monkeypatch.setattr(drawings, "draw", lambda arrange, alt: drawn.extend([arrange(False), arrange(True)]))
    drawings.trunk()
    for part in drawn:
        for symptom in TREE:
            assert symptom.seen in part.marks
            assert symptom.fork.test in part.marks


# --- the ways through the tree ---


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


def later_gradient(make: Make) -> str:
    patient = make()
    optimizer = patient.optimizer()
    for _ in range(2):
        cheap.gradients(patient, IDS)
        optimizer.step()
    return "still None or 0" if min(cheap.gradients(patient, IDS)) == 0 else "now it has one"


def some_rate(make: Make) -> str:
    return "0" if make().optimizer().param_groups[0]["lr"] == 0 else "above 0"


def divided(make: Make) -> str:
    share = cheap.first_loss(make(), IDS) / IDS[:, 1:].numel()
    return "ln V" if math.isclose(share, math.log(len(LETTERS)), rel_tol=0.2) else "something else"


def against_the_mean(make: Make) -> str:
    patient = make()
    mean = cheap.first_loss(Patient(patient.model), IDS)
    return "the loss is far below it" if cheap.first_loss(patient, IDS) < 0.7 * mean else "about equal"


def shown_or_next(make: Make) -> str:
    """Of a new model, targets are read off the loss: what it is given, or what follows."""
    return "nearly all equal" if make().loss is FAULTS["targets not shifted"](0).loss else "hardly any"


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


def height(make: Make) -> str:
    """Where training comes to; counting single letters gives 2.88."""
    patient, losses = make(), []
    optimizer = patient.optimizer()
    patient.model.train()
    for update in range(120):
        optimizer.zero_grad()
        losses.append(patient.loss(patient.model, rows(8, seed=update)))
        losses[-1].backward()
        optimizer.step()
    return "near that of single ids" if sum(losses[-10:]) / 10 > 2.6 else "lower"


def one_pair(make: Make) -> str:
    return "they don’t" if make().loss is FAULTS["another row’s targets"](0).loss else "they fit"


def two_passes(make: Make) -> str:
    patient, sizes = make(), []
    optimizer = patient.optimizer()
    patient.model.eval()
    for _ in range(2):
        optimizer.zero_grad()
        patient.loss(patient.model, IDS).backward()
        sizes.append(nn.utils.get_total_norm([weight.grad for weight in patient.model.parameters()]))
    return "it doubles" if sizes[1] > 1.5 * sizes[0] else "it stays"


def given(make: Make) -> str:
    return "chances" if make().loss is FAULTS["chances for logits"](0).loss else "logits"


def entropy(make: Make) -> str:
    """Of a new model it is the most possible, nearly: whether it stays so, training would tell."""
    return "near 0, from the start" if min(cheap.entropies(make().model.eval(), READ)) < 0.5 else "between"


def some_gradient(make: Make) -> str:
    return "None or 0 in some" if min(cheap.gradients(make(), IDS)) == 0 else "all have one"


def two_swapped(make: Make) -> str:
    model, gave = make().model.eval(), []
    blocks(model)[0].attention.register_forward_hook(lambda *call: gave.append(call[-1][:, -1]))
    changed = READ.clone()
    changed[:, [3, 9]] = READ[:, [9, 3]]
    with torch.no_grad():
        model(READ), model(changed)
    return "what it gives stays" if torch.allclose(*gave, rtol=0, atol=1e-6) else "it moves"


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
    "the same after two updates": (later_gradient,),
    "does PyTorch know of it?": (known,),
    "the rate of this update": (some_rate,),
    "divided by the targets": (divided,),
    "targets against ids": (shown_or_next,),
    "against the mean over all that count": (against_the_mean,),
    "updates over weights": (updates,),
    "what a block passes on": (passed_on,),
    "change the future": (future,),
    "are two runs equal?": (restless,),
    "its height against counts": (height,),
    "read one pair": (one_pair,),
    "two passes of one batch": (two_passes,),
    "what the model gives": (given,),
    "entropy of attention": (entropy,),
    "two ids swapped, first attention": (two_swapped,),
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


def summed(seed: int) -> Patient:
    model = small(seed)
    return Patient(model, lambda model, ids: next_letter(model, ids) * ids[:, 1:].numel())


class Summing(Patient):
    """Its loop forgot `zero_grad()`."""

    def optimizer(self) -> torch.optim.Optimizer:
        optimizer = super().optimizer()
        optimizer.zero_grad = lambda: None
        return optimizer


BARE = "neither stream nor norms"
OTHERS = {
    BARE: bare,
    # The first loss is as many times ln V then as a sum over some targets would be.
    "weights a hundred times too large": lambda seed: Patient(small(seed, spread=10.0)),
    "the loss a sum": summed,
    # Each part of a batch was divided by their number, four, and this is the loss of one.
    "the loss a part's": lambda seed: Patient(small(seed), lambda model, ids: next_letter(model, ids) / 4),
    "zero_grad() forgotten": lambda seed: Summing(small(seed)),
    "a warm-up that begins at 0": lambda seed: Patient(small(seed), rate=0.0),
}
WAYS = (
    ("weights a hundred times too large", "the loss starts too high", "Weights start too large"),
    ("the loss a sum", "the loss starts too high", "The loss is a sum"),
    ("the loss a part's", "the loss starts too low", "It is divided once too often"),
    ("targets not shifted", "the loss starts too low", "Targets are not shifted"),
    ("a warm-up that begins at 0", "it does not fall", "Nothing is wrong yet"),
    ("weights ten times too large", "the loss starts too high", "Weights start too large"),
    ("no residual stream", "it does not fall", "Blocks do not add"),
    (BARE, "it does not fall", "Numbers shrink from block to block"),
    ("blocks in a list", "it does not fall", "The optimizer does not have these weights"),
    ("rate thirty times too high", "it does not fall", "The rate is too high"),
    ("chances for logits", "it does not fall", "The loss is given chances"),
    ("another row’s targets", "it stops falling early", "Targets belong to other ids"),
    ("zero_grad() forgotten", "it stops falling early", "`zero_grad()` is missing"),
    ("rate thirty times too high", "it stops falling early", "The rate is too high"),
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
@pytest.mark.parametrize("seed", range(5))
def test_a_fault_is_led_to_its_cause(fault, seen, cause, seed):
    make = OTHERS[fault] if fault in OTHERS else FAULTS[fault]
    assert cause_of(seen, partial(make, seed)).startswith(cause)


def without_gradient(patient: Patient) -> int:
    """How many of its weights have none, or one of zeros."""
    cheap.gradients(patient, IDS)
    return sum(weight.grad is None or not weight.grad.any() for weight in patient.model.parameters())


def test_what_waits_for_a_matrix_of_zeros_has_a_gradient_after_two_updates():
    patient = healthy(0)
    for block in blocks(patient.model):
        nn.init.zeros_(block.attention.write.weight)
        nn.init.zeros_(block.narrow.weight)
    optimizer = patient.optimizer()
    assert without_gradient(patient) > 20
    for _ in range(2):
        optimizer.step()
        waiting = without_gradient(patient)
    assert waiting == 0
