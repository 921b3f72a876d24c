"""A walk through all that an address can say of a bench: each state has the same numbers in PyTorch."""

import math
import re
from typing import Any, NamedTuple

import pytest
import torch
from restored_states import Set, State, greedy, in_words, set_in_node, set_in_pytorch, states
from script_and_pytorch import IN_PAGE, largest_difference
from share_reference import Reference
from steps_in_pytorch import Way
from tiers import left_to

COUNTS = {0: 20, 1: 100, 2: 400}  # of states, by the seed
HURRIED = [(name, 0) for name in IN_PAGE]
WALKS = [
    *left_to(pytest.mark.thorough, [(name, seed) for name in IN_PAGE for seed in (0, 1)], but=HURRIED),
    *(pytest.param((name, 2), marks=pytest.mark.weekly) for name in IN_PAGE),
]


class Stop(NamedTuple):
    """A state, what the scripts make of it, and what PyTorch does."""

    state: State
    said: dict[str, Any]
    theirs: Set


@pytest.fixture(scope="module", params=WALKS, ids=lambda walk: f"{walk[0]}-{COUNTS[walk[1]]}")
def walk(request: pytest.FixtureRequest) -> list[Stop]:
    name, seed = request.param
    given = states(name, COUNTS[seed], seed)
    said = set_in_node(name, given)
    return [
        Stop(state, each, set_in_pytorch(name, state, each["translation"]))
        for state, each in zip(given, said, strict=True)
    ]


def test_an_address_sets_a_bench_and_the_bench_has_that_address(walk):
    for _, said, _ in walk:
        assert said["troubles"] == [], said["address"]
        assert said["back"] == said["address"]
        assert not re.search(r"undefined|NaN|null", " ".join(said["words"])), said["words"]


def test_every_tensor_is_pytorchs(walk):
    for _, said, theirs in walk:
        assert largest_difference(said, [*theirs.traces.values()]) < 1e-4, said["address"]
        if not theirs.run["changes"]:
            assert said["translation"] == (greedy(theirs.model, theirs.run["read"]) or False)


# ---- the steps of a word ----


def test_every_number_of_every_step_is_pytorchs(walk):
    for state, said, (model, _, traces) in walk:
        way = Way(model, traces, state["stack"], said["place"])
        for step in said["steps"]:
            ours = way.numbers(step)
            assert ours.keys() == step["numbers"].keys(), step["id"]
            for label, tensor in ours.items():
                theirs = torch.tensor(step["numbers"][label], dtype=torch.float64)
                assert theirs.shape == tensor.shape, (step["id"], label)
                assert (theirs - tensor).abs().max() < 1e-4 * max(1, tensor.abs().max()), (
                    said["address"],
                    label,
                )


def test_the_head_that_adds_most_and_its_strongest_look_are_followed_where_none_is_chosen(walk):
    followed = set()
    for state, said, _ in walk:
        steps = {step["id"]: step for step in said["steps"]}
        for id_, step in steps.items():
            if step["kind"] != "output" or (step["layer"], step["part"]) == (state["layer"], state["part"]):
                continue
            lengths = torch.tensor(step["numbers"]["heads"], dtype=torch.float64).norm(dim=-1)
            assert lengths[step["head"]] == lengths.max()
            weights = steps[id_.replace("output", "softmax")]["numbers"]["weights"]
            assert weights[step["key"]] == max(weights)
            followed.add(step["head"])
    assert len(followed) > 1


def test_a_step_says_what_is_off_and_what_was_carried_there(walk):
    for state, said, (model, _, traces) in walk:
        way = Way(model, traces, state["stack"], said["place"])
        for step in said["steps"]:
            if step["kind"] not in ("mix", "output", "narrow"):
                continue
            names = way.names(step["layer"], step["part"])
            made = f"{names['part']}.mixed" if step["kind"] == "mix" else names["after"]
            carried = [
                spot["name"] == made and spot.get("head") in (None, step.get("head"))
                for spot in state.get("carried", [])
                if (spot["stack"], spot["place"]) == (state["stack"], said["place"])
            ]
            assert step["carried"] == any(carried), (said["address"], step["id"])
            if step["kind"] == "mix":
                assert step["off"] == (f"{names['part']} {step['head']}" in state.get("off", []))


# ---- what is said of them ----


DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.(\d+))?(?:e-(\d+))?(\*0\.01)?")
EQUATION = re.compile(r"(?:All \d+: )?([^=:]+) = (under )?(−?[\d.]+(?:·10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?:\u00a0%)?)")


def value_of(term: str) -> tuple[float, float]:
    """Of "2.79 × 89 %", say, with what the rounding of its numbers may have made of it."""
    term = re.sub(r"\([^()]*[a-z][^()]*\)", "", term.replace("\u00a0%", "*0.01"))  # (bias), (61 others)
    for sign, python in {"−": "-", "×": "*", "÷": "/", "e^": "exp"}.items():
        term = term.replace(sign, python)
    term = re.sub(r"·10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: "e-" + found[1].translate(DIGITS), term)
    assert re.fullmatch(r"(exp|e-|[-+*/().\d ])+", term), term
    value, slack = eval(term, {"exp": math.exp}), 0.0
    for number in NUMBER.finditer(term):
        digits, power, percent = number.groups()
        if digits or power or percent:  # a number of all others is whole
            half = f"+{0.5 * 10 ** -(len(digits or '') + int(power or 0))}"
            end = number.end(3) - 5 if percent else number.end()
            moved = f"{term[: number.start()]}({term[number.start() : end]}{half}){term[end:]}"
            slack += abs(eval(moved, {"exp": math.exp}) - value)
    return value, slack


def equations(sum_: str) -> list[tuple[float, float]]:
    """How far both sides are apart, and may be, of "0.45 × 2.13 = 0.95. All 16: 2.23 + 3.45 = 5.68"."""
    found = []
    for left, under, right in (each.groups() for each in map(EQUATION.match, sum_.split(". ")) if each):
        (one, slack), (other, its) = value_of(left), value_of(right)
        found.append((abs(one), other + slack) if under else (abs(one - other), 1.1 * (slack + its)))
    return found


def test_the_arithmetic_that_is_written_out_comes_true(walk):
    several = {"score": 2, "softmax": 2, "chances": 2, "norm": 2}
    without = re.compile("off: 0|hidden|carried over$")
    for state, said, _ in walk:
        for step in said["steps"]:
            sides = equations(step["sum"])
            least = several.get(step["kind"], 1)
            if without.match(step["sum"]) or (state["open"] == "gpt" and step["kind"] == "embedding"):
                least = 0  # a row as it is
            assert len(sides) >= least, step["sum"]
            for apart, at_most in sides:
                assert apart <= at_most, (said["address"], step["sum"])


def test_sentences_are_whole(walk):
    for _, said, _ in walk:
        for step in said["steps"]:
            for words in (step["sentence"], step["sum"], step["subject"]):
                assert words
                assert not re.search(r"undefined|NaN|null|Infinity|\[object", words), (step["id"], words)
            assert step["sentence"].endswith((".", ")"))
            assert len(step["sentence"].split()) < 70


# What is changed or followed, a step, and what is said of it.
TOLD = [
    ({"place": 0}, "0.0.softmax", r"The mask hides 5 later words"),
    ({"place": 5}, "0.0.softmax", r"The mask hides nothing here"),
    ({"off": ["layers.0.self_attention 0"]}, "0.0.query", r"\(Head 1 is off: what it finds is not used\.\)"),
    (
        {"off": ["layers.0.self_attention 0"]},
        "0.0.mix",
        "^Head 1 is off: in the place of what it finds",
    ),
    ({"hidden": ["text 0", "text 1"]}, "0.0.softmax", r"You have hidden 2 words\..* hidden: its share is 0$"),
    ({"positions": False}, "positions", r"^Places are off: nothing is added"),
]


def test_what_is_off_or_hidden_is_said():
    (run,) = IN_PAGE["language-model"].runs(1)
    state = {"open": "language-model", "text": in_words(run["read"][:6]), "view": "steps", "stack": "text"}
    state |= {"place": 5, "layer": 0, "part": 0, "head": 0, "key": 0, "number": 5, "rivals": ["v5", "v6"]}
    said = set_in_node("language-model", [state | changed for changed, _, _ in TOLD])
    for (_, id_, words), each in zip(TOLD, said, strict=True):
        (step,) = (step for step in each["steps"] if step["id"] == id_)
        assert re.search(words, f"{step['sentence']} {step['sum']}"), step["sentence"]


# ---- the word so far, and each part's share in one logit against another ----


def test_shares_add_up_and_are_pytorchs(walk):
    for state, said, (model, _, traces) in walk:
        rivals = [int(word[1:]) for word in state["rivals"]]
        reference, place = Reference(model, [*traces.values()][-1], rivals), said["sharing"]
        shares, logits = reference.shares(), reference.said()
        own = {part: share for part, share in said["parts"] if not part.startswith("carried")}
        ours = {part: float(share[place]) for part, share in shares.items()}
        assert own == pytest.approx(ours, rel=1e-4, abs=1e-4), said["address"]
        assert math.isclose(sum(share for _, share in said["parts"]), said["total"], abs_tol=1e-4)
        assert math.isclose(said["total"], reference.difference(logits[place]), abs_tol=1e-4)
        for station, chances, difference in said["so"]:
            so_far = reference.said(station)[place]
            assert (torch.tensor(chances) - so_far.softmax(-1)).abs().max() < 1e-4
            assert math.isclose(difference, reference.difference(so_far), abs_tol=1e-3)
        for (part, head), brings in zip(reference.all_heads(), said["brings"], strict=True):
            ours = reference.brought(part, head)[place]
            assert (torch.tensor(brings) - ours).abs().max() < 1e-4 * max(1, ours.abs().max())
