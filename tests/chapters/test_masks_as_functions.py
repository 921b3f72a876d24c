"""“Masks as functions”: what only its exercises say."""

import pytest
import torch
from exercise_cases import of, telling, told

from attnlab import masks
from chapters.masks_as_functions.exercises import fewest_tiles
from chapters.masks_as_functions.exercises.counted_tiles import check_counted_tiles
from chapters.masks_as_functions.exercises.document_rule import check_document_rule
from chapters.masks_as_functions.exercises.fewest_tiles import check_fewest_tiles, passing, tiles_before
from chapters.masks_as_functions.exercises.repaired_rules import check_repaired_rules
from chapters.masks_as_functions.models import documents


def ready_made(ids, end):
    table = masks.combine(documents(ids[None], end), masks.causal(len(ids)))[0]
    return lambda query, key: table[query, key]


def of_one(rule):
    return lambda *inputs: rule


test_a_reader_is_told = telling(
    told(check_document_rule, ready_made, "✗ is written without what is there already"),
    *of(
        check_document_rule,
        (of_one(lambda query: query), "takes 1 positional argument but 2 were given"),
        (of_one(7), "A rule is a function of two places, and int came back."),
        (of_one(lambda query, key: query - key), "It returns int64 numbers where bool ones are expected."),
    ),
    told(
        check_counted_tiles,
        lambda table, tile: table,
        "It returns Tensor where 2 results, any and whole, are expected.",
    ),
    told(
        check_repaired_rules,
        lambda *numbers: (None, None, None),
        "It returns None. Is there a `return` at its end?",
    ),
    *of(
        check_fewest_tiles,
        (of_one(lambda query, key: query >= 0), "makes (128, 128), and (128, 1) came."),
        (of_one(lambda query, key: [[True]]), "A rule gives back a tensor of booleans, and list came."),
        (of_one(torch.nn.Identity), "A rule is a function of two places, and type came back."),
    ),
)


# --- fewest_tiles ---


def test_all_that_is_causal_loses_nothing_and_has_108_tiles():
    found = fewest_tiles.measured(of_one(tiles_before(8)))
    assert found == (108, 0, 0)


@pytest.mark.thorough
def test_layer_by_layer_the_model_is_judged_as_all_at_once():
    model, ids, targets, nat = fewest_tiles._judged()
    seen = fewest_tiles.tables(of_one(tiles_before(1)))
    with torch.no_grad():
        logits = model(ids, visible=seen[:1])
    nats = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    assert sum(fewest_tiles._bits(seen.numpy().tobytes())) / 2 == pytest.approx(nats.item() * nat, abs=1e-5)


@pytest.mark.thorough
def test_the_bar_leaves_room_to_those_who_think_and_none_to_one_rule_for_all():
    found = fewest_tiles.measured(passing)
    assert found.tiles < fewest_tiles.LIMIT
    assert max(found[1:]) < 0.75 * fewest_tiles.LOST
    few, many = (fewest_tiles.measured(of_one(tiles_before(more))) for more in (1, 2))
    assert few.tiles < fewest_tiles.LIMIT < many.tiles
    assert max(many[1:]) < fewest_tiles.LOST < min(few[1:])
