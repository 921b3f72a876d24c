"""“A GPT of your own”: what only its exercises say, its chart and its models."""

import math
import re

import pytest
import torch
import vl_convert
from exercise_cases import assert_still_broken, words
from torch import nn
from torch.nn import functional as F

from attnlab.corpora.pieces import Pieces
from attnlab.training.run import row_of
from attnlab.transformer import GPT
from chapters.a_gpt_of_your_own import charts, models
from chapters.a_gpt_of_your_own.accepted import (
    by_modules_and_then_by_names,
    cut,
    in_the_lists_order,
    mended,
    text_of,
)
from chapters.a_gpt_of_your_own.exercises import (
    check_byte_pieces,
    check_gpt_start,
    check_honest_crops,
    check_repaired_validation,
)
from chapters.a_gpt_of_your_own.exercises.gpt_start_parts import kind_of
from chapters.a_gpt_of_your_own.playground import expected, loaded


def cut_by(cut):
    return lambda merges, chunk, ids: (cut(merges, chunk), text_of(merges, ids))


def put_together_by(put):
    return lambda merges, chunk, ids: (in_the_lists_order(merges, chunk, ids)[0], put(merges, ids))


def numbered_from(first):
    """As joined ids are written down, with the merges looked up by the right ones."""

    def cut(merges, chunk):
        ids = in_the_lists_order(merges, chunk, [])[0]
        return [number if number < 256 else number - 256 + first for number in ids]

    return cut


def test_a_list_that_is_compared_with_a_tuple_merges_nothing():
    def cut(merges, chunk):
        ids = list(chunk.encode())
        for place, pair in enumerate(merges):
            ids = [256 + place if ids[i : i + 2] == pair else ids[i] for i in range(len(ids))]
        return ids

    report = check_byte_pieces.judge(cut_by(cut))
    assert report.mistake == "no merges"
    assert "is never equal to one" in words(report)


def test_two_slips_are_both_told_of_byte_pieces():
    def code(merges, chunk, ids):
        return numbered_from(257)(merges, chunk), text_of(merges, ids, "ignore")

    report = check_byte_pieces.judge(code)
    assert report.mistake == "one too high & half a letter ignored", report


def test_the_books_own_pieces_are_told():
    def ready_made(merges, chunk, ids):
        pieces = Pieces(merges)
        return pieces.encode(chunk), pieces.decode(ids)

    report = check_byte_pieces.judge(ready_made)
    assert report.mistake == "ready-made"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda merges, chunk, ids: [3, 4, 5], "where two results, the ids of the chunk and a text, are due"),
        (lambda merges, chunk, ids: (text_of(merges, ids), [1]), "First come the ids of the chunk"),
        (put_together_by(lambda merges, ids: b"ha!"), "The text comes back as bytes."),
        (put_together_by(lambda merges, ids: list("ha!")), "The second result is list where a text"),
        (cut_by(lambda merges, chunk: ["h", "a"]), "The first result is list where a list of whole numbers"),
    ],
)
def test_what_comes_back_in_another_kind_is_told(answer, said):
    assert said in words(check_byte_pieces.judge(answer))


def test_half_written_is_not_written():
    assert check_byte_pieces.judge(lambda merges, chunk, ids: ([], ...)).state == "not written yet"


def test_what_differs_is_shown_as_it_was_written():
    report = words(check_byte_pieces.judge(put_together_by(lambda merges, ids: "hm")))
    assert "expected text of the ids: 'ha!' got text of the ids: 'hm'" in report


def all_ended(texts, end, *_):
    return row_of(texts, end).tolist()


def test_two_leaks_are_both_told():
    def code(texts, end, held_out, length, starts):
        inputs, _ = cut(all_ended(texts[:-held_out], end), length, starts)
        return inputs, inputs

    assert check_honest_crops.judge(code).mistake == "copies kept & not shifted"


def test_the_list_of_texts_is_nobodys_to_empty():
    def code(texts, end, held_out, length, starts):
        unseen = [texts.pop() for _ in range(held_out)]
        return cut([i for text in texts if text not in unseen for i in (*text, end)], length, starts)

    assert "It changes texts" in words(check_honest_crops.judge(code))


def but(change):
    """All right, and then a change: change(name, weight, number of layers)."""

    def code(model):
        by_modules_and_then_by_names(model)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                change(name, weight, len(model.blocks))

    return code


def scaled(ends, factor):
    """`factor(layers)` times what is right, for names that end so."""
    return but(lambda name, weight, layers: name.endswith(ends) and weight.mul_(factor(layers)))


def drawn_by(draw):
    """The matrices and tables drawn otherwise: draw(weight, right spread)."""

    def change(name, weight, layers):
        adds = name.endswith(("write.weight", "narrow.weight"))
        if weight.dim() > 1:
            draw(weight, 0.02 / math.sqrt(2 * layers) if adds else 0.02)

    return but(change)


def biases_forgotten(model):
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            adds = name.endswith(("write.weight", "narrow.weight"))
            nn.init.normal_(weight, std=0.02 / (math.sqrt(2 * len(model.blocks)) if adds else 1))


def under_an_old_name(model):
    for weight in model.parameters():
        weight = torch.randn_like(weight) * 0.02


WRITERS, READERS = ("write.weight", "narrow.weight"), ("project.weight", "widen.weight")


@pytest.mark.thorough
def test_the_model_that_is_asked_with_is_a_plain_one_and_stays_so():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    assert check_gpt_start.judge(check_gpt_start.reference).passed
    assert torch.equal(torch.get_rng_state(), before)
    assert check_gpt_start.judge(under_an_old_name).mistake == "nothing drawn"


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_drawn_a_right_start_is_accepted(seed):
    """The bounds are five standard errors away."""

    def code(model):
        torch.manual_seed(seed)
        by_modules_and_then_by_names(model)

    assert check_gpt_start.judge(code).passed


@pytest.mark.thorough
def test_who_draws_with_no_spread_at_all_is_told_the_same():
    assert check_gpt_start.judge(drawn_by(lambda weight, spread: weight.normal_())).mistake == "spread 1"


@pytest.mark.thorough
def test_two_slips_are_both_told_of_gpt_start():
    def code(model):
        biases_forgotten(model)
        scaled(WRITERS, lambda layers: math.sqrt(2))(model)
        for name, weight in model.named_parameters():
            if kind_of(name) == "biases":
                nn.init.normal_(weight, std=0.02)

    assert check_gpt_start.judge(code).mistake == "root of layers & biases drawn"


@pytest.mark.thorough
def test_the_books_own_start_is_told():
    report = check_gpt_start.judge(GPT.start)
    assert report.mistake == "ready-made"
    assert "start is there already" in words(report)


@pytest.mark.thorough
def test_what_is_drawn_is_said_in_words_and_where():
    said = words(check_gpt_start.judge(scaled("blocks.0.narrow.weight", lambda layers: 2.0)))
    assert "expected weights: normal, with spread 0.02/√(2 · layers)" in said
    assert "got weights: normal, with spread about 0.03, at blocks.0.narrow.weight" in said


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda model: model.norm.register_parameter("bias", None), "norm.bias is no longer a weight"),
        (lambda model: model.requires_grad_(False), "takes no gradients any more"),
        (lambda model: model.double(), "no longer a weight of its shape and dtype"),
    ],
)
def test_a_model_that_is_no_longer_the_same_is_told(change, said):
    def code(model):
        by_modules_and_then_by_names(model)
        change(model)

    assert said in words(check_gpt_start.judge(code))


def broken(model, row, length, text_bytes):
    """The notebook's."""
    model.train()
    source, found = torch.Generator().manual_seed(0), []
    for _ in range(len(row) // length):
        start = int(torch.randint(len(row) - length, (1,), generator=source))
        ids, targets = row[start : start + length], row[start + 1 : start + length + 1]
        with torch.no_grad():
            found.append(F.cross_entropy(model(ids[None])[0], targets))
    return torch.stack(found).mean().item()


def test_the_broken_validation_fails_every_case():
    assert_still_broken(check_repaired_validation, broken, "✗✗✗✗✗")


def test_a_model_left_in_another_mode_is_told():
    def careless(model, row, length, text_bytes):
        model.eval()
        return mended()(model, row, length, text_bytes)

    report = check_repaired_validation.judge(careless)
    assert "It changes model" in str(report)
    assert not report.passed


# --- the chart ---


SHOWN = re.compile(r">([\d,]+) merges: (\d+) pieces for (\d+) letters<")


@pytest.mark.parametrize("given", charts.LINES)
@pytest.mark.parametrize("doublings", [0, 1, 5, 8, 11])
def test_it_has_as_many_pieces_as_so_many_merges_leave(given, doublings):
    spec = charts.fewer_pieces().to_dict()
    for control in spec["params"]:
        control["value"] = {"given": given, "doublings": doublings}.get(control["name"], control["value"])
    merges, shown, letters = SHOWN.search(vl_convert.vegalite_to_svg(spec)).groups()
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
