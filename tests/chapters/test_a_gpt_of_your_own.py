"""“A GPT of your own”: what only its exercises say, its chart, and what is said beside the playground."""

import re

import pytest
import torch
from exercise_cases import of, telling
from living_charts import drawn
from torch import nn

from attnlab.corpora.pieces import Pieces
from attnlab.transformer import GPT
from chapters.a_gpt_of_your_own import charts, models
from chapters.a_gpt_of_your_own.accepted import by_modules_and_then_by_names, in_the_lists_order, text_of
from chapters.a_gpt_of_your_own.exercises import check_byte_pieces, check_gpt_start
from chapters.a_gpt_of_your_own.playground import expected, loaded

# --- byte_pieces ---


def cut_by(cut):
    return lambda merges, chunk, ids: (cut(merges, chunk), text_of(merges, ids))


def put_together_by(put):
    return lambda merges, chunk, ids: (in_the_lists_order(merges, chunk, ids)[0], put(merges, ids))


def compared_with_tuples(merges, chunk):
    ids = list(chunk.encode())
    for place, pair in enumerate(merges):
        ids = [256 + place if ids[i : i + 2] == pair else ids[i] for i in range(len(ids))]
    return ids


def the_books_pieces(merges, chunk, ids):
    pieces = Pieces(merges)
    return pieces.encode(chunk), pieces.decode(ids)


test_a_reader_is_told = telling(
    *of(
        check_byte_pieces,
        (cut_by(compared_with_tuples), "is never equal to one", "no merges"),
        (the_books_pieces, "", "ready-made"),
        (lambda *_: [3, 4, 5], "where two results, the ids of the chunk and a text, are due"),
        (lambda merges, chunk, ids: (text_of(merges, ids), [1]), "First come the ids of the chunk"),
        (put_together_by(lambda *_: b"ha!"), "The text comes back as bytes."),
        (put_together_by(lambda *_: "hm"), "expected text of the ids: 'ha!' got text of the ids: 'hm'"),
    )
)


def test_half_written_is_not_written():
    assert check_byte_pieces.judge(lambda merges, chunk, ids: ([], ...)).state == "not written yet"


# --- gpt_start ---


def and_then(change):
    def code(model):
        by_modules_and_then_by_names(model)
        change(model)

    return code


def too_much_in_the_first(model):
    with torch.no_grad():
        model.blocks[0].narrow.weight *= 2


def from_the_same_dice(model):
    for weight in model.parameters():
        torch.manual_seed(0)
        nn.init.normal_(weight, std=0.02)


test_who_starts_is_told = pytest.mark.thorough(
    telling(
        *of(
            check_gpt_start,
            (GPT.start, "start is there already", "ready-made"),
            (
                and_then(too_much_in_the_first),
                "expected weights: normal, with spread 0.02/√(2 · layers) "
                "got weights: normal, with spread about 0.03, at blocks.0.narrow.weight",
            ),
            (
                and_then(lambda model: model.norm.register_parameter("bias", None)),
                "norm.bias is no longer a weight",
            ),
            (and_then(lambda model: model.requires_grad_(False)), "takes no gradients any more"),
            (and_then(nn.Module.double), "no longer a weight of its shape and dtype"),
            (from_the_same_dice, "got weights: normal, with spread 0.02, and two of them begin alike"),
        )
    )
)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_drawn_a_right_start_is_accepted(seed):
    """The bounds are five standard errors away."""

    def code(model):
        torch.manual_seed(seed)
        by_modules_and_then_by_names(model)

    assert check_gpt_start.judge(code).passed


# --- the chart ---


SHOWN = re.compile(r">([\d,]+) merges: (\d+) pieces for (\d+) letters<")


@pytest.mark.parametrize("given", charts.LINES)
@pytest.mark.parametrize("doublings", [0, 1, 5, 8, 11])
def test_it_has_as_many_pieces_as_so_many_merges_leave(given, doublings):
    picture = drawn(charts.fewer_pieces(), given=given, doublings=doublings)
    merges, shown, letters = SHOWN.search(picture).groups()
    made = int(merges.replace(",", ""))
    line, all_merges = charts.LINES[given], models.pieces().merges
    assert made == (min(int(2**doublings), len(all_merges)) if doublings else 0)
    assert int(shown) == len(Pieces(all_merges[:made]).encode(line))
    assert int(letters) == len(line) == len(line.encode())


def test_its_description_says_how_far_the_merges_go():
    pieces = {given: len(models.pieces().encode(line)) for given, line in charts.LINES.items()}
    said = charts.DESCRIPTION
    for given in ("English", "code"):
        assert re.search(rf"\b{pieces[given]} (pieces )?for {len(charts.LINES[given])}\b", said)
    assert said.endswith(f"{pieces['Lingo']} for {len(charts.LINES['Lingo'])}.")


# --- what is said beside the playground ---


TEXT = "If x, y are arrays, x,"
Y = models.pieces().encode(f"{TEXT} y")[-1]


def test_it_goes_on_with_what_followed_the_first_time():
    assert models.pieces().decode([Y]) == " y"
    chances = expected(TEXT)[1][-1]
    assert chances.argmax() == Y
    assert chances[Y] == pytest.approx(0.43, abs=0.006)


def test_without_head_2_of_layer_3_it_does_not():
    write = loaded().blocks[2].attention.write

    def silence(_: torch.nn.Module, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        heads = given[0].unflatten(-1, (loaded().blocks[2].attention.heads, -1)).clone()
        heads[..., 1, :] = 0
        return (heads.flatten(-2),)

    hook = write.register_forward_pre_hook(silence)
    try:
        chances = expected(TEXT)[1][-1]
    finally:
        hook.remove()
    assert chances.argmax() != Y
    assert chances[Y] == pytest.approx(0.05, abs=0.005)
