"""A walk through all that an address can say of a bench: states at random, set in Node and in PyTorch.

A bench stands there without its page: restoreBench of shared_state.js sets it, as a link sets one in a page.
"""

import random
import re
from typing import Any, NamedTuple

import torch
from script_and_pytorch import IN_PAGE, Run, Trace, in_pytorch, returned, spelled
from torch import nn

from attnlab.transformer import Transformer
from chapters.the_transformer import models

State = dict[str, Any]
PARTS = ["anatomy", "words", "attention_view", "steps", "step_words", "step_arithmetic", "shares"]
PARTS += ["state", "shared_state"]
SCRIPTS = ("elements.js", "workbench.js", *(f"bench/{part}.js" for part in PARTS))
# Words stand in the address as their numbers. Of each state: its address, and that of the bench which is set
# so; what was told, the traces, the steps of the word that is followed, and the shares at its place.
SETTING = """
const bench = {
  piece: "word",
  playground: { dataset: { model: name } }, data, model, stacks: anatomy(model),
  whereIs: Workbench.prototype.whereIs,
  inputOfText: (text) => text.split(" ").map(Number),
  labels: (stack) => bench.traces[stack].positions.map((_, place) => `w${place % 7}`),
  put(text) {
    Object.assign(this, { typedText: text, input: this.inputOfText(text) });
    this.given = JSON.stringify(this.input);
    return this.run();
  },
  look: (view) => (bench.looking = view),
  choose() {},
  pick: (rivals) => Object.assign(bench, { rivals, picked: true }),
  restoreOwn: ({ temperature, seed }) => (bench.ownState = { temperature, seed }),
  tellTroubles: (troubles) => (bench.troubles = troubles),
  compute(input) {
    const other = Object.assign(twin(model), { changes: noChanges() });
    finished(other.running(input));
    return other;
  },
  run() {
    model.changes = this.changes = noChanges();
    for (const { deed } of this.deeds) deed(model.changes);
    this.result = finished(model.running(this.input));
    const { traces, logits } = model;
    Object.assign(this, { traces, logits, vocabulary: Array.from(logits[0], (_, id) => `v${id}`) });
  },
};
const plain = (tensor) => (tensor.length === undefined ? tensor : Array.from(tensor, plain));
const partNames = ["kind", "layer", "part", "head", "name"];
const found = [];
for (const state of given) {
  const address = addressOf(state);
  Object.assign(bench, { deeds: [], choice: {}, ownState: {} });
  await restoreBench(bench, stateOf(address));
  const { stacks, traces, choice, rivals, troubles } = bench;
  const back = addressOf(stateOfBench(bench));
  const way = new stepping.Way(bench);
  const words = new stepping.StepWords(bench, way, choice.number);
  const steps = way.steps.map((step) => {
    const { id, kind, layer, part, head, key, carried, off } = step;
    const said = { sentence: words.sentence(step), ...stepping.arithmeticOf(step, words) };
    const numbers = Object.fromEntries(Object.entries(step.numbers).map(([to, each]) => [to, plain(each)]));
    return { id, kind, layer, part, head, key, carried, off, numbers, ...said };
  });
  const speaking = stackWithWords(stacks);
  const place = Math.min(choice.place, traces[speaking.name].positions.length - 1);
  const { total, shares: parts } = shares(model, stacks, traces, place, rivals);
  const ofHeads = parts.filter(({ kind }) => kind === "head");
  found.push({
    address, back, troubles, steps, place: way.place, sharing: place, total,
    words: bench.deeds.map(({ words }) => words), translation: data.kind === "Transformer" && bench.result,
    traces: packedAll(traces), logits: packed(bench.logits),
    parts: parts.map((each) => [partNames.map((key) => each[key]).join(), each.share]),
    so: soFar(model, stacks, traces, place, rivals).map((it) => [it.name, [...it.chances], it.difference]),
    brings: ofHeads.map((head) => brought(model, stacks, traces, place, rivals, head)),
  });
}
return found;
"""


def set_in_node(name: str, states: list[State]) -> list[dict[str, Any]]:
    """What comes of a bench that is set to each of these states, one after the other."""
    return returned(name, states, f"const name = {name!r};{SETTING}", SCRIPTS)


# ---- states at random ----


class Stack(NamedTuple):
    name: str
    attentions: list[str]
    afters: list[str]  # the names of the streams that can be carried
    parts: int
    memories: tuple[str, ...]  # the stacks whose places it sees


def stacks_of(model: nn.Module) -> list[Stack]:
    names = [name for name, _ in model.named_modules()]
    found = []
    kinds = [("encoder", "read", 2, ("read",)), ("decoder", "written", 3, ("read", "written"))]
    kinds += [("layers", "text", 2, ("text",)), ("blocks", "text", 2, ("text",))]
    for prefix, stack, parts, memories in kinds:
        mine = [name for name in names if name.startswith(f"{prefix}.")]
        attentions = [name for name in mine if re.search(r"\.((self|cross)_)?attention$", name)]
        afters = [name for name in mine if re.search(r"\.(around_\w+|after_attention)$", name)]
        if mine:
            found.append(Stack(stack, attentions, ["positions", *afters], parts, memories))
    return found


def states(name: str, count: int, seed: int) -> list[State]:
    """The first as it comes, then each kind of change alone, then several at once."""
    draw, model = random.Random(seed), IN_PAGE[name].loaded()
    runs = [run["read"] for run in IN_PAGE[name].runs(50) if 5 <= len(run["read"]) < 24]
    kinds = [(), *((kind,) for kind in CHANGES)]
    kinds += [tuple(draw.sample([*CHANGES], draw.randint(2, 4))) for _ in range(count)]
    return [state(name, model, draw, draw.choice(runs), kind) for kind in kinds[:count]]


def state(name: str, model: nn.Module, draw: random.Random, ids: list[int], kinds: tuple[str, ...]) -> State:
    stacks = stacks_of(model)
    stack = draw.choice(stacks)
    rows = len(list(model.parameters())[-1]) if not hasattr(model, "pieces") else len(model.pieces.weight)
    found: State = {
        "open": name,
        "text": in_words(ids),
        "view": draw.choice(["looks", "steps", "reach"]),
        "stack": stack.name,
        "place": draw.randrange(places(stack.name, ids)),
        "layer": draw.randrange(len(stack.attentions) // (stack.parts - 1)),
        "part": draw.randrange(stack.parts),
        "head": draw.randrange(model.get_submodule(stack.attentions[0]).heads),
        "key": draw.randrange(2),
        "number": draw.randrange(64),
        "rivals": [f"v{row}" for row in draw.sample(range(rows), 2)],
        "temperature": draw.choice([0.5, 2]),
        "seed": draw.randrange(1000),
    }
    if draw.random() < 0.5:
        found |= {"layer": 1 - found["layer"] if name != "gpt" else 2, "step": "chances"}
    for kind in kinds:
        found |= CHANGES[kind](model, draw, ids, stacks)
    for spot in found.get("carried", []):
        if spot["stack"] == found["stack"] and draw.random() < 0.7:
            spot["place"] = found["place"]  # where it is looked at
    return found


def in_words(ids: list[int]) -> str:
    return " ".join(map(str, ids))


def places(stack: str, ids: list[int]) -> int:
    """At least so many: how much a translator writes is its own business."""
    return 2 if stack == "written" else len(ids)


def heads_off(model: nn.Module, draw: random.Random, ids: list[int], stacks: list[Stack]) -> State:
    stack = draw.choice(stacks)
    heads = range(model.get_submodule(stack.attentions[0]).heads)
    every = [f"{attention} {head}" for attention in stack.attentions for head in heads]
    return {"off": draw.sample(every, draw.randint(1, 3))}


def hidden(model: nn.Module, draw: random.Random, ids: list[int], stacks: list[Stack]) -> State:
    every = [f"{stack.name} {place}" for stack in stacks for place in range(places(stack.name, ids))]
    return {"hidden": draw.sample(every, 2) if draw.random() < 0.7 else [f"{stacks[-1].name} 0"]}


def numbers(model: nn.Module, draw: random.Random, ids: list[int], stacks: list[Stack]) -> State:
    """Rows that this text reads, where it is a table of words or places."""
    found = []
    for name, tensor in draw.sample([*model.named_parameters()], 2):
        rows = range(len(tensor))
        if name in ("embedding.weight", "read.weight", "pieces.weight"):
            rows = ids
        if name in ("positions.table", "places.weight"):
            rows = range(len(ids))
        column = {"column": draw.randrange(tensor.shape[1])} if tensor.dim() > 1 else {}
        found.append({"name": name, "row": draw.choice(rows), **column, "value": draw.choice([-3, 0.5, 4])})
    return {"numbers": found}


def carried(model: nn.Module, draw: random.Random, ids: list[int], stacks: list[Stack]) -> State:
    stack = draw.choice(stacks)
    heads = model.get_submodule(stack.attentions[0]).heads
    other = [*ids]
    other[draw.randrange(1, len(ids) - 1)] = draw.randrange(3, 30)
    spots = []
    for _ in range(draw.randint(1, 2)):
        place, from_ = (draw.randrange(places(stack.name, ids)) for _ in range(2))
        of_head = {
            "name": f"{draw.choice(stack.attentions)}.{draw.choice(HEADED)}",
            "head": draw.randrange(heads),
        }
        what = draw.choice([of_head, {"name": draw.choice(stack.afters)}])
        spots.append({"stack": stack.name, **what, "place": place, "from": from_})
    return {"other": in_words(other), "carried": spots}


HEADED = ("mixed", "mixed", "queries", "values")
CHANGES = {
    "heads off": heads_off,
    "a place hidden": hidden,
    "numbers": numbers,
    "carried": carried,
    "no mask": lambda *_: {"mask": False},
    "no positions": lambda *_: {"positions": False},
    "more numbers": numbers,
    "more carried": carried,
}


# ---- the same in PyTorch ----


class Set(NamedTuple):
    """A model that is changed as a state says, and what it gave."""

    model: nn.Module
    run: Run
    traces: dict[str, Trace]


def greedy(model: nn.Module, ids: list[int]) -> list[int] | None:
    if not isinstance(model, Transformer):
        return None
    source = torch.tensor([ids])
    return models.greedy(model, source, torch.tensor([len(ids)]))[0].tolist()


def set_in_pytorch(name: str, given: State, translation: list[int] | None) -> Set:
    model = IN_PAGE[name].loaded()
    ids = [int(word) for word in given["text"].split()]
    changes = {
        what: given[what] for what in ("off", "hidden", "mask", "positions", "numbers") if what in given
    }
    stacks = [stack.name for stack in stacks_of(model)]
    if "carried" in given:
        other = [int(word) for word in given["other"].split()]
        there = dict(zip(stacks, in_pytorch(model, {"read": other}, greedy(model, other)), strict=True))
        changes["carried"] = [spot | {"vector": vector(spot, there, model)} for spot in given["carried"]]
    run = {"read": ids, "changes": changes}
    traces = in_pytorch(model, run, translation)
    return Set(spelled(model, changes), run, dict(zip(stacks, traces, strict=True)))


def vector(spot: dict[str, Any], traces: dict[str, Trace], model: nn.Module) -> torch.Tensor:
    whole = traces[spot["stack"]][spot["name"]][0, spot["from"]]
    if "head" not in spot:
        return whole
    heads = model.get_submodule(spot["name"].rpartition(".")[0]).heads
    return whole.unflatten(-1, (heads, -1))[spot["head"]]
