"""“The repair shop”: what only its exercises say, its chart and its models."""

import ast
import math
import re
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from typing import get_args

import pytest
import torch
from exercise_cases import telling, told
from headings import anchors
from living_charts import drawn
from torch import Tensor, nn

from chapters.the_repair_shop import charts, cheap, drawings, figures, walked
from chapters.the_repair_shop.exercises import check_own_fault, check_update_sizes
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
from chapters.the_repair_shop.screws import SIZES, by_layer
from chapters.the_repair_shop.tree import TREE, Cause, Fork, causes
from checkup.report import Inquiry
from checkup.visit import TESTS


def put_back(model, step):
    old = [weight.clone() for weight in model.parameters()]
    shares = check_update_sizes.reference(model, step)
    for weight, before in zip(model.parameters(), old, strict=True):
        weight.data = before
    return shares


test_a_reader_is_told = telling(
    told(check_update_sizes, put_back, "It changes the weights itself."),
    told(check_update_sizes, lambda model, step: torch.zeros(3), "It calls `step()` 0 times."),
    told(check_own_fault, lambda model: 5, "return the model", marks=pytest.mark.thorough),
)


# --- the chart ---


def said(screw, step):
    """What the readout says of the gradients of layers 1 and 8, and of the bits in layer 1."""
    picture = drawn(charts.by_layer(), screw=screw, step=step)
    found = re.search(
        r"layer 1: ([\d.]+), of layer 8: ([\d.]+).*?bits in layer 1: ([\d.]+)", picture, re.DOTALL
    )
    return [float(each) for each in found.groups()]


@pytest.mark.parametrize(
    ("screw", "step"), [("weights larger", 0), ("scores larger", 3), ("stream fades", 8)]
)
def test_it_shows_what_is_measured(screw, step):
    gradient, bits = by_layer(screw, SIZES[screw][step])
    first, last, wide = said(screw, step)
    assert first == pytest.approx(10 ** gradient[0].item(), rel=0.03)
    assert last == pytest.approx(10 ** gradient[-1].item(), rel=0.03)
    assert wide == pytest.approx(bits[0].item(), abs=0.02)


def test_each_setting_is_stored():
    for screw, sizes in SIZES.items():
        for stored in (charts.GRADIENTS[screw], charts.BITS[screw]):
            assert [len(row.split()) for row in stored] == [8] * len(sizes)


def test_the_description_says_what_it_shows():
    bits = torch.tensor([[int(each) / 100 for each in row.split()] for row in charts.BITS["scores larger"]])
    steep = torch.tensor(
        [[int(each) / 100 for each in row.split()] for row in charts.GRADIENTS["weights larger"]]
    )
    assert bits[3].mean().item() == pytest.approx(3, abs=0.2)
    assert 10 ** (steep[8, 0] - steep[0, 0]).item() == pytest.approx(160, rel=0.05)


# --- which test sees which fault ---


def found(test, make, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        find = cheap.tool_finds if test == "checkup" else cheap.FINDS[test]
        return find(make(seed), rows(seed=seed))


@pytest.mark.parametrize("test", figures.TESTS)
def test_nothing_is_found_in_the_healthy_model(test):
    assert not found(test, healthy, 0)


@pytest.mark.weekly
@pytest.mark.parametrize("fault", FAULTS)
def test_the_table_holds_for_all_seeds(fault):
    counts = [
        sum(found(test, FAULTS[fault], seed) for seed in range(figures.SEEDS)) for test in figures.TESTS
    ]
    assert counts == figures.SEEN[fault]


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(1, figures.SEEDS))
def test_no_healthy_model_is_accused(seed):
    assert not [test for test in figures.TESTS if found(test, healthy, seed)]


def after_200_updates(make, seed):
    patient = make(seed)
    optimizer = patient.optimizer()
    patient.model.train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # dropout's dice
        for update in range(200):
            optimizer.zero_grad()
            patient.loss(patient.model, rows(8, seed=1000 * seed + update)).backward()
            optimizer.step()
    patient.model.eval()
    with torch.no_grad():
        return next_letter(patient.model, rows(64, seed=99_999)).item()


@pytest.mark.weekly
def test_without_the_divisor_it_ends_a_little_better():
    """With three throws of dropout's dice the means of five seeds are 1.47 to 1.48, and 1.41 to 1.42."""
    stored = {healthy: figures.DIVIDED, FAULTS["scores not divided"]: figures.NOT_DIVIDED}
    for make, losses in stored.items():
        ends = [after_200_updates(make, seed) for seed in range(figures.SEEDS)]
        assert torch.tensor(ends).mean().item() == pytest.approx(sum(losses) / figures.SEEDS, abs=0.02)


# --- the tree ---


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
        assert all(each in part.marks for one in TREE for each in (one.seen, one.fork.test))


# --- the ways through the tree ---


Measure = Callable[[Patient], float]
Answer = Callable[[Patient], str]
LN_V = math.log(len(LETTERS))
IDS = rows(8)
READ = IDS[:, :-1]


def answering(measure: Measure, *answers: str | float) -> Answer:
    """`answering(measure, "few", 0.5, "most")`: what is said up to this bound, and what above it."""
    bounds = [bound for bound in answers if not isinstance(bound, str)]
    return lambda patient: str(answers[2 * bisect_left(bounds, measure(patient))])


def read_off(fault: str, ill: str, well: str) -> Answer:
    """Of a new model some things are read off the loss, and not measured."""
    return lambda patient: ill if patient.loss is FAULTS[fault](0).loss else well


def gradient(patient: Patient) -> str:
    sizes = cheap.gradients(patient, IDS)
    if min(sizes) == 0:
        return "None or 0"
    if sizes[0] < 0.1 * sizes[-1]:
        return "less and less towards the first"
    return "tiny everywhere" if max(sizes) < 0.1 else "as it should be"


def after_two_updates(patient: Patient) -> float:
    optimizer = patient.optimizer()
    for _ in range(2):
        cheap.gradients(patient, IDS)
        optimizer.step()
    return min(cheap.gradients(patient, IDS))


def against_the_mean(patient: Patient) -> float:
    return cheap.first_loss(patient, IDS) / cheap.first_loss(Patient(patient.model), IDS)


def unknown(patient: Patient) -> int:
    listed = {id(weight) for weight in patient.model.parameters()}
    return sum(id(w) not in listed for block in blocks(patient.model) for w in block.parameters())


def passed_on(patient: Patient) -> float:
    shares = []

    def note(_: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        shares.append(((output * inputs[0]).sum() / inputs[0].square().sum()).item())

    for block in blocks(patient.model):
        block.register_forward_hook(note)
    with torch.no_grad():
        patient.model.eval()(READ)
    return max(map(abs, shares))


def rows_sum_to_1(patient: Patient) -> str:
    model, sums = patient.model.eval(), []
    for block in blocks(model):
        attention = block.attention
        assert isinstance(attention, StepByStep)
        weigh = attention.weights
        attention.weights = lambda *given, weigh=weigh: sums.append(weigh(*given).sum(-1)) or weigh(*given)
    with torch.no_grad():
        model(READ)
    whole = torch.stack(sums)
    return "yes" if torch.allclose(whole, torch.ones_like(whole), atol=1e-5) else "no"


def height(patient: Patient) -> float:
    """Where training comes to; counting single letters gives 2.88."""
    optimizer, losses = patient.optimizer(), []
    patient.model.train()
    for update in range(120):
        optimizer.zero_grad()
        losses.append(patient.loss(patient.model, rows(8, seed=update)))
        losses[-1].backward()
        optimizer.step()
    return torch.stack(losses[-10:]).mean().item()


def second_pass(patient: Patient) -> float:
    optimizer, sizes = patient.optimizer(), []
    patient.model.eval()
    for _ in range(2):
        optimizer.zero_grad()
        patient.loss(patient.model, IDS).backward()
        sizes.append(nn.utils.get_total_norm([weight.grad for weight in patient.model.parameters()]))
    return float(sizes[1] / sizes[0])


def two_swapped(patient: Patient) -> float:
    model, gave, changed = patient.model.eval(), [], READ.clone()
    blocks(model)[0].attention.register_forward_hook(lambda *call: gave.append(call[-1][:, -1]))
    changed[:, [3, 9]] = READ[:, [9, 3]]
    with torch.no_grad():
        model(READ), model(changed)
    return float((gave[0] - gave[1]).abs().max())


def halved(patient: Patient) -> str:
    with torch.no_grad():
        whole = patient.model.eval()(READ).isfinite().all()
    return "only in half" if whole and cheap.in_half(patient.model, READ) == math.inf else "in float32, too"


def first_loss(patient: Patient) -> float:
    return cheap.first_loss(patient, IDS) / LN_V


MEASURED: dict[str, Answer] = {
    "first loss against ln V": answering(
        first_loss, "about ln V", 1.2, "some nats above", 20, "many times as much"
    ),
    # As the page has it: a quarter of ln V, after sixty updates.
    "one batch by heart": answering(lambda it: cheap.by_heart(it, IDS) / LN_V, "it can", 0.25, "it can’t"),
    "gradient by layer": gradient,
    "the same after two updates": answering(after_two_updates, "still None or 0", 0, "now it has one"),
    "does PyTorch know of it?": answering(unknown, "yes", 0, "no"),
    "the rate of this update": answering(lambda it: it.rate, "0", 0, "above 0"),
    "divided by the targets": answering(
        lambda it: abs(first_loss(it) / IDS[:, 1:].numel() - 1), "ln V", 0.2, "something else"
    ),
    "targets against ids": read_off("targets not shifted", "nearly all equal", "hardly any"),
    "against the mean over all that count": answering(
        against_the_mean, "the loss is far below it", 0.7, "about equal"
    ),
    "updates over weights": answering(
        lambda it: max(cheap.updates(it, IDS)), "0", 0, "between", 0.5, "above a half"
    ),
    "what a block passes on": answering(passed_on, "near 0", 0.5, "about 1"),
    "change the future": answering(
        lambda it: cheap.leak(it.model.eval(), READ), "nothing moves", 1e-5, "the past moves"
    ),
    "are two runs equal?": answering(lambda it: cheap.restless(it.model, READ), "yes", 1e-5, "no"),
    "do rows of weights sum to 1?": rows_sum_to_1,
    "its height against counts": answering(height, "lower", 2.6, "near that of single ids"),
    "read one pair": read_off("another row’s targets", "they don’t", "they fit"),
    "two passes of one batch": answering(second_pass, "it stays", 1.5, "it doubles"),
    "what the model gives": read_off("chances for logits", "chances", "logits"),
    # Of a new model it is the most possible, nearly: whether it stays so, training would tell.
    "entropy of attention": answering(
        lambda it: min(cheap.entropies(it.model.eval(), READ)), "near 0, from the start", 0.5, "between"
    ),
    "two ids swapped, first attention": answering(two_swapped, "what it gives stays", 1e-6, "it moves"),
    "dead units": answering(lambda it: max(cheap.dead(it.model.eval(), READ)), "few", 0.5, "most"),
    "float32 against half": halved,
}


def cause_of(seen: str, make: Callable[[], Patient]) -> str:
    """Where the way ends that begins with what one sees."""
    (branch,) = (symptom.fork for symptom in TREE if symptom.seen == seen)
    while not isinstance(branch, Cause):
        said = MEASURED[branch.test](make())
        # Of gradients one fork asks which, and another only whether some are missing.
        some = "None or 0 in some" if said == "None or 0" else "all have one"
        (answer,) = {said, some} & {*branch.answers}
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
    "the loss a sum": lambda seed: Patient(
        small(seed), lambda model, ids: next_letter(model, ids) * ids[:, 1:].numel()
    ),
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
    ("dropout that never rests", "it trains and writes rubbish", "Dropout does not ask"),
    ("−1e9 in half precision", "it is NaN", "A number is out of half precision's range"),
)


@pytest.mark.thorough
@pytest.mark.parametrize(("fault", "seen", "cause"), WAYS)
@pytest.mark.parametrize("seed", range(5))
def test_a_fault_is_led_to_its_cause(fault, seen, cause, seed):
    make = OTHERS[fault] if fault in OTHERS else FAULTS[fault]
    assert cause_of(seen, partial(make, seed)).startswith(cause)


def test_an_end_names_checkup_where_it_sees_the_fault_or_says_what_it_needs():
    for fault, _, words in WAYS:
        ends = [cause for cause in EVERY if cause.tool and not cause.where and cause.words.startswith(words)]
        assert not ends or fault in OTHERS or figures.SEEN[fault][-1] == figures.SEEDS, fault


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
