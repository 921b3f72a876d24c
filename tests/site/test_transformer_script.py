"""The scripts that run the book's models in the page, in Node: each tensor as in PyTorch, also when changed.

tests/site/test_playground.py has the same in a browser, and test_gpt_script.py what only a GPT needs.
"""

import copy

import pytest
import torch
from script_and_pytorch import IN_PAGE, in_node, largest_difference, returned
from tiers import left_to

from attnlab.runtime import generator
from chapters.the_transformer import models
from chapters.the_transformer.playground import loaded
from chapters.translating_with_attention.models import START, UNWRITTEN


def checked(name, runs, folder):
    """What the script says of each, and how far from PyTorch its farthest number is."""
    said = in_node(name, runs, folder)
    model = IN_PAGE[name].loaded()
    return [(each, largest_difference(run, each, model)) for run, each in zip(runs, said, strict=True)]


@pytest.mark.parametrize("name", IN_PAGE)
def test_every_tensor_is_pytorchs(name, tmp_path):
    assert all(far < 1e-4 for _, far in checked(name, IN_PAGE[name].runs(3), tmp_path))


@pytest.mark.weekly
@pytest.mark.parametrize("name", IN_PAGE)
def test_every_tensor_of_fifty_texts_is_pytorchs(name, tmp_path):
    runs = IN_PAGE[name].runs(50)
    assert len({tuple(run["read"]) for run in runs}) > 45  # short ones may be drawn twice
    assert all(far < 1e-4 for _, far in checked(name, runs, tmp_path))


@pytest.mark.thorough
def test_translations_are_pytorchs_word_for_word(tmp_path):
    runs = IN_PAGE["translator"].runs(5)
    for given, said in zip(runs, in_node("translator", runs, tmp_path), strict=True):
        source = torch.tensor([given["read"]])
        words = models.greedy(loaded("translator"), source, torch.tensor([source.shape[1]]))
        assert said["translation"] == words[0].tolist()


def test_start_is_never_written_though_it_be_the_likeliest(tmp_path):
    """The translator agrees with PyTorch; the language model shows that chance, and never draws it."""
    always = {"numbers": [{"name": "word.bias", "row": START, "value": 1000}]}
    (run,) = IN_PAGE["translator"].runs(1)
    source = torch.tensor([run["read"]])
    model = copy.deepcopy(loaded("translator"))
    with torch.no_grad():
        model.word.bias[START] = 1000
    words = models.greedy(model, source, torch.tensor([source.shape[1]]))[0].tolist()
    (said,) = in_node("translator", [{**run, "changes": always}], tmp_path)
    assert said["translation"] == words
    assert START not in words
    shown, *drawn = returned(
        "language-model",
        always,
        """
        Object.assign(model.changes, given);
        const logits = finished(model.running([data.start])).at(-1);
        const options = [...softmax(writable(logits, data.read), 2).entries()];
        const number = die(1);
        return [softmax(logits)[data.start], ...Array.from({ length: 50 }, () => drawn(options, number()))];
        """,
        tmp_path,
    )
    assert shown > 0.99
    assert not {*drawn} & {*UNWRITTEN}


# ---- changes ----

# Where each model is changed: a stack, the one whose places are seen, an attention, and what is on the way.
SITES = {
    "what is read": ("translator", "read", "read", "encoder.1.self_attention", "encoder.0"),
    "what is written": (
        "translator", "written", "written", "decoder.0.self_attention", "positions",
    ),
    "what is read, from what is written": (
        "translator", "written", "read", "decoder.1.cross_attention", "decoder.0.around_cross_attention",
    ),
    "language model": ("language-model", "text", "text", "layers.1.self_attention", "layers.0"),
    "learned positions": ("two-layers", "text", "text", "layers.1.self_attention", "positions"),
    "one layer": ("one-layer", "text", "text", "layers.0.self_attention", "embedding"),
    "gpt": ("gpt", "text", "text", "blocks.1.attention", "blocks.0.after_attention"),
}  # fmt: skip


def changes(model, text, stack, seen, attention, on_the_way):
    """What a reader may change there, by what it is."""
    found = model.get_submodule(attention)
    width, heads = next(model.parameters()).shape[-1], found.heads
    rows = "project." if hasattr(found, "project") else "in_proj_"

    def carried(name, numbers, **others):
        vector = torch.randn(numbers, generator=generator(len(name))).tolist()
        return {"stack": stack, "name": name, "place": 2, "vector": vector, **others}

    of_a_head = [
        carried(f"{attention}.{part}", width // heads, head=1) for part in ("mixed", "queries", "values")
    ]
    place = carried(on_the_way, width)
    number = {"name": f"{attention}.{rows}weight", "row": 5, "column": 3, "value": 2.5}
    bias = {"name": f"{attention}.{rows}bias", "row": width + 7, "value": -3}
    embedding = {"name": next(iter(model.state_dict())), "row": text["read"][2], "column": 1, "value": 1.5}
    hidden = [f"{seen} 1"]
    return {
        "a head off": {"off": [f"{attention} 1"]},
        "all heads off but one": {"off": [f"{attention} {head}" for head in range(1, heads)]},
        "no mask": {"mask": False},
        "no positions": {"positions": False},
        "a place hidden": {"hidden": hidden},
        "two places hidden, of which the first sees nothing": {"hidden": [f"{seen} 0", f"{seen} 3"]},
        "what a head found carried": {"carried": of_a_head[:1]},
        "a query carried": {"carried": of_a_head[1:2]},
        "what two heads found carried": {"carried": [of_a_head[0], {**of_a_head[0], "head": 0, "place": 1}]},
        "a place carried": {"carried": [place]},
        "a number of a matrix": {"numbers": [number]},
        "numbers of a vector and of a matrix": {"numbers": [bias, number]},
        "a number of a table": {"numbers": [embedding]},
        "a place hidden, no mask": {"hidden": hidden, "mask": False},
        "a place carried, no mask": {"carried": [place], "mask": False},
        "a head off, a value carried, no positions": {
            "off": [f"{attention} 0"], "carried": of_a_head[2:], "positions": False,
        },
        "all at once": {
            "off": [f"{attention} 0"], "hidden": hidden, "carried": [*of_a_head, place],
            "numbers": [number, bias, embedding], "mask": False, "positions": False,
        },
    }  # fmt: skip


@pytest.mark.parametrize("site", left_to(pytest.mark.thorough, SITES, but=["what is written", "gpt"]))
def test_every_change_is_that_of_pytorch(site, tmp_path):
    name, *place = SITES[site]
    text = next(run for run in IN_PAGE[name].runs(5) if len(run["read"]) >= 5)
    each = changes(IN_PAGE[name].loaded(), text, *place)
    runs = [{**text, "changes": one} for one in ({}, *each.values())]
    (plain, _), *others = checked(name, runs, tmp_path)
    assert {what: far for what, (_, far) in zip(each, others, strict=True) if not far < 1e-4} == {}
    assert [what for what, (said, _) in zip(each, others, strict=True) if said == plain] == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_PAGE)
def test_what_was_changed_is_whole_again(name, tmp_path):
    model = IN_PAGE[name].loaded()
    site = next(place for other, *place in SITES.values() if other == name)
    plain = IN_PAGE[name].runs(1)[0]
    several = changes(model, plain, *site)["all at once"]
    first, changed, last = in_node(name, [plain, {**plain, "changes": several}, plain], tmp_path)
    assert first == last != changed


# ---- runs in slices ----


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_PAGE)
def test_a_run_that_is_given_up_or_goes_on_beside_another_changes_nothing(name, tmp_path):
    texts = [run["read"] for run in IN_PAGE[name].runs(2)]
    alone, beside, given_up = returned(
        name,
        texts,
        """
        const numbers = ({ traces }) => JSON.stringify(traces);
        const alone = given.map((ids) => (finished(model.running(ids)), numbers(model)));
        const [first, second] = given.map((ids) => model.running(ids));
        for (let i = 0; i < 30; i++) first.next(), second.next();
        finished(first);
        const beside = [numbers(model), (finished(second), numbers(model))];
        const third = model.running(given[0]);
        for (let i = 0; i < 30; i++) third.next();
        return [alone, beside, numbers(model)];
        """,
        tmp_path,
    )
    assert alone == beside
    assert given_up == alone[1]


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_PAGE)
@pytest.mark.parametrize("mask", [True, False])
def test_the_page_may_do_something_else_every_few_milliseconds(name, mask, tmp_path):
    """No machine's clock decides: between two pauses there are at most so many products."""
    text = max((run["read"] for run in IN_PAGE[name].runs(50)), key=len)
    most = returned(
        name,
        text,
        f"""
        let products = 0;
        const two = product;
        product = (a, b) => ((products += a.length), two(a, b));
        model.changes.mask = {str(mask).lower()};
        const counts = [];
        for (const running = model.running(given); ; products = 0) {{
          const {{ done }} = running.next();
          counts.push(products);
          if (done) return Math.max(...counts);
        }}
        """,
        tmp_path,
    )
    assert (
        0 < most < 6_000_000
    )  # a machine that does 600 million in a second needs 10 milliseconds, a phone 40


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["language-model", "two-layers", "gpt"])
def test_place_by_place_all_comes_out_as_at_once(name, tmp_path):
    ids = max((run["read"] for run in IN_PAGE[name].runs(5)), key=len)
    weights, at_once, one_by_one, few, again = returned(
        name,
        ids,
        """
        const read = (sizes) => {
          const run = new Run(model, { text: given.length });
          run.enter("text");
          let start = 0;
          const some = (size) => finished(model.reading(run, given.slice(start, (start += size))));
          return [sizes.flatMap(some), run];
        };
        const all = given.length;
        const [logits, run] = read([3, all - 3]);
        run.remember(2);
        const again = [...logits.slice(0, 2), ...finished(model.reading(run, given.slice(2)))];
        const tensors = [read([all])[0], read(Array(all).fill(1))[0], logits, again];
        const [, weights] = Object.entries(run.trace).find(([name]) => name.endsWith(".weights"));
        return [weights.map(({ length }) => length), ...tensors.map((rows) => rows.map((row) => [...row]))];
        """,
        tmp_path,
    )
    assert set(weights) == {len(ids)}  # of each head a row for each place, also after some were forgotten
    expected = torch.tensor(at_once)
    for other in (one_by_one, few, again):
        assert (torch.tensor(other) - expected).abs().max() < 1e-4


# ---- what can't be changed ----

WRONG = {
    "a head that no layer has": ({"off": ["layers.1.self_attention 9"]}, "head “layers.1.self_attention 9”"),
    "an attention that no layer has": ({"off": ["layers.7.self_attention 0"]}, "head “layers.7.self"),
    "a head without a number": ({"off": ["layers.1.self_attention"]}, "head “layers.1.self_attention”"),
    "a head of what has none": ({"off": ["layers.1.feed_forward 0"]}, "head “layers.1.feed_forward 0”"),
    "a place behind the last": ({"hidden": ["text 99"]}, "place “text 99”"),
    "half a place": ({"hidden": ["text 1.5"]}, "place “text 1.5”"),
    "a place of no stack": ({"hidden": ["written 0"]}, "place “written 0”"),
    "a stack by a name that all objects have": ({"hidden": ["constructor 0"]}, "place “constructor 0”"),
    "a vector for a place behind the last": ({"carried": [{"place": 99}]}, "place “text 99”"),
    "a vector for no place": ({"carried": [{"place": None}]}, "place “text null”"),
    "a vector for no stack": ({"carried": [{"stack": "read"}]}, "place “read 0”"),
    "a vector for a name that nothing has": ({"carried": [{"name": "layers.9"}]}, "to “layers.9” of “text”"),
    "a vector among weights": (
        {"carried": [{"name": "layers.1.self_attention.weights"}]}, "to “layers.1.self_attention.weights”",
    ),
    "a head where there are none": ({"carried": [{"head": 0}]}, "head 0 in “layers.0”"),
    "a head too many": (
        {"carried": [{"name": "layers.1.self_attention.mixed", "head": 4}]}, "head 4 in “layers.1.self",
    ),
    "a vector too short": ({"carried": [{"vector": [1, 2]}]}, "“layers.0” stand 64 numbers, not 2"),
    "a weight by no name": ({"numbers": [{"name": "word"}]}, "weight “word, 0, 0”"),
    "a row too many": ({"numbers": [{"row": 9999}]}, "weight “word.weight, 9999, 0”"),
    "a column too many": ({"numbers": [{"column": 64}]}, "weight “word.weight, 0, 64”"),
    "no column of a matrix": ({"numbers": [{"column": None}]}, "weight “word.weight, 0, null”"),
    "a column of a vector": ({"numbers": [{"name": "word.bias"}]}, "weight “word.bias, 0, 0”"),
    "a word for a number": ({"numbers": [{"value": "much"}]}, "“much” is no number"),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_exist_is_named(wrong, tmp_path):
    changes, words = WRONG[wrong]
    whole = {
        "carried": {"stack": "text", "name": "layers.0", "place": 0, "vector": [0] * 64},
        "numbers": {"name": "word.weight", "row": 0, "column": 0, "value": 1},
    }
    given = {
        what: [{**whole[what], **each} for each in several] if what in whole else several
        for what, several in changes.items()
    }
    plain = IN_PAGE["language-model"].runs(1)[0]
    said, after = in_node("language-model", [{**plain, "changes": given}, plain], tmp_path)
    assert words in said["error"]
    assert "traces" in after


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["two-layers", "gpt"])
def test_behind_the_last_learned_place_nothing_is_read(name, tmp_path):
    places = {"two-layers": 48, "gpt": 128}[name]
    said = in_node(name, [{"read": [1] * places}, {"read": [1] * (places + 1)}], tmp_path)
    assert "traces" in said[0]
    assert said[1]["error"] == f"There are {places} places, and no more."
