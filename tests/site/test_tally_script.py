"""How often a model is right in fifty tries: the script in Node counts as PyTorch does, heads off or not."""

import copy
import json
import math
import subprocess

import pytest
import torch

from _ext.javascript import NODE
from attnlab.corpora.grammar import Pair
from attnlab.runtime import generator
from bookkit import weights
from bookkit.playground import numbers
from bookkit.registry import BOOK
from chapters.a_gpt_of_your_own import playground as of_gpt
from chapters.looking_inside import models as repeats
from chapters.looking_inside.tries import rounds
from chapters.the_transformer import models, playground, truth
from chapters.translating_with_attention.models import END, LINGO_WORDS, sentences, unseen_pairs

pytestmark = pytest.mark.thorough

SCRIPTS = ("model.js", "transformer.js", "gpt.js", "elements.js", "bench/truth.js", "bench/tally.js")


def reader():
    model = repeats.reader(layers=2)
    weights.load("looking_inside/two-layers", model)
    return model


def told_of_reader():
    data = {"kind": "LanguageModel", "heads": repeats.HEADS, "layers": 2, "read": repeats.SYMBOLS}
    return data | {"longest": repeats.LENGTH, "rounds": rounds()}


MODELS = {
    "translator": (lambda: playground.loaded("translator"), playground.translator, numbers),
    "language-model": (lambda: playground.loaded("language-model"), playground.language_model, numbers),
    "induction": (reader, told_of_reader, numbers),
    "gpt": (of_gpt.loaded, of_gpt.gpt, of_gpt.MODELS["gpt"].packed),
}
# A head of each model whose absence is felt, and the matrix that joins the heads.
OFF = {
    "translator": ("decoder.1.cross_attention", 0, "out_proj"),
    "language-model": ("layers.1.self_attention", 1, "out_proj"),
    "induction": ("layers.0.self_attention", 0, "out_proj"),
    "gpt": ("blocks.0.attention", 1, "write"),
}


@pytest.fixture(scope="module")
def tallied(tmp_path_factory):
    """A function that gives what is tallied of a model with each of these changes, in JavaScript."""

    def run(name, *changes):
        load, told, packed = MODELS[name]
        data = told() | packed(load())
        body = f"""
        const data = {json.dumps(data)};
        const model = new {data["kind"]}(data);
        const before = model.changes;
        const all = [{", ".join(changes)}].map((changes) => {{
          const tallying = tally(model, data, changes);
          for (let pauses = 1; ; pauses++) {{
            const {{ done, value }} = tallying.next();
            if (done) return {{ ...value, pauses, kept: model.changes === before }};
          }}
        }});
        console.log(JSON.stringify(all));
        """
        program = tmp_path_factory.mktemp(name) / "program.js"
        program.write_text(
            "\n".join([*((BOOK / "_static" / each).read_text("utf-8") for each in SCRIPTS), body]), "utf-8"
        )
        done = subprocess.run([NODE, str(program)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def without(model, place, head, last):
    """A copy whose last matrix of this attention does not read the head."""
    model = copy.deepcopy(model)
    attention = model.get_submodule(place)
    width = getattr(attention, last).weight.shape[1] // attention.heads
    with torch.no_grad():
        getattr(attention, last).weight[:, head * width : (head + 1) * width] = 0
    return model


# ---- the same in PyTorch ----


def translations(model):
    """How many are right, and of the first that are not: what was read, written, and right."""
    pairs: list[Pair] = [pair for pair in unseen_pairs(200) if 4 <= len(pair.english) <= 12][: truth.TRIES]
    wrong = []
    for pair in pairs:
        read = sentences([pair])
        words = models.greedy(model, read.source, read.lengths)[0].tolist()
        if words != read.targets[0].tolist():
            written = [LINGO_WORDS[word] for word in words if word != END]
            english = " ".join(pair.english).replace(" '", "’")
            wrong.append([english, " ".join(written), " ".join(pair.lingo)])
    return len(pairs) - len(wrong), wrong[:3]


def verbs(model):
    plurals, singulars = truth.verbs().keys(), truth.verbs().values()
    wrong, tried = [], truth.before_verbs()
    for beginning in tried:
        ids = playground._ids(beginning.split())
        logits = model(ids)[0, -1]
        likeliest = max([*plurals, *singulars], key=lambda verb: logits[models.WORDS.index(verb)])
        plural = beginning.split()[1].endswith("s")
        if (likeliest in plurals) != plural:
            right = truth.verbs()[likeliest] if likeliest in plurals else likeliest.removesuffix("s")
            wrong.append([beginning, likeliest, right])
    return len(tried) - len(wrong), wrong[:3]


def symbols(model):
    read = repeats.repeated(50, generator(repeats.UNSEEN))
    said = model(read.words)[:, :-1].argmax(-1)
    where = read.known[:, :-1]
    wrong = [
        ["".join(repeats.SYMBOLS[each] for each in some)
         for some in (read.words[row, : place + 1], said[row, place, None], read.words[row, place + 1, None])]
        for row, place in (where & (said != read.words[:, 1:])).nonzero().tolist()
    ]  # fmt: skip
    return int(where.sum()) - len(wrong), wrong[:3]


COUNTED = {"translator": translations, "language-model": verbs, "induction": symbols}


@pytest.mark.parametrize("name", COUNTED)
@torch.no_grad()
def test_as_many_are_right_as_in_pytorch_and_the_same_are_wrong(name, tallied):
    place, head, last = OFF[name]
    off = f"{{ ...noChanges(), off: new Set(['{place} {head}']) }}"
    whole, lacking = tallied(name, "noChanges()", off)
    model = MODELS[name][0]().eval()
    for said, ours in ((whole, model), (lacking, without(model, place, head, last))):
        right, wrong = COUNTED[name](ours)
        assert said["right"] == right
        assert [[each["text"], each["written"], each["right"]] for each in said["examples"]] == wrong
    assert whole["of"] == lacking["of"] >= 50
    assert lacking["right"] < 0.9 * whole["right"]


@torch.no_grad()
def test_held_out_text_costs_as_many_bits_as_in_pytorch(tallied):
    place, head, last = OFF["gpt"]
    whole, lacking = tallied("gpt", "noChanges()", f"{{ ...noChanges(), off: new Set(['{place} {head}']) }}")
    held_out = of_gpt.held_out()
    texts = torch.tensor(held_out["texts"])
    read = torch.cat([torch.full((len(texts), 1), held_out["start"]), texts[:, :-1]], 1)
    model = of_gpt.loaded().eval()
    for said, ours in ((whole, model), (lacking, without(model, place, head, last))):
        losses = torch.nn.functional.cross_entropy(ours(read).transpose(1, 2), texts, reduction="sum")
        assert said["bits"] == pytest.approx(float(losses) / math.log(2) / held_out["bytes"], abs=1e-4)
    assert whole["bits"] < lacking["bits"]


@pytest.mark.parametrize("name", MODELS)
def test_a_tally_pauses_after_each_try_and_leaves_the_model_as_it_was(name, tallied):
    [said] = tallied(name, "noChanges()")
    assert said["pauses"] > 20
    assert said["kept"]


def test_what_was_chosen_in_the_sentence_shown_is_left_out_of_others(tallied):
    chosen = """{ ...noChanges(), hidden: new Set(["text 1", "text 2"]),
      carried: [{ stack: "text", name: "layers.0", place: 3, vector: new Float32Array(64) }] }"""
    whole, same = tallied("language-model", "noChanges()", chosen)
    assert whole == same
