"""“A GPT of your own”: what only its exercises say, its charts, and what is said beside the playground."""

import re

import pytest
import torch
from exercise_cases import of, telling, told
from living_charts import drawn
from torch import nn

from attnlab.corpora.pieces import Pieces
from attnlab.decoding import chances
from attnlab.transformer import GPT
from bookkit import weights
from chapters.a_gpt_of_your_own import charts, models
from chapters.a_gpt_of_your_own.accepted import by_modules_and_then_by_names, in_the_lists_order, text_of
from chapters.a_gpt_of_your_own.charts import IDS, KNOWN, SHARES, SURPRISES
from chapters.a_gpt_of_your_own.exercises import check_byte_pieces, check_gpt_start, check_top_p
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
    ),
    told(
        check_top_p,
        lambda logits, temperature, p: chances(logits, temperature, top_p=p),
        "✗ is written without what is there already",
    ),
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


# --- the chart of what may come next ---


@pytest.fixture(scope="module")
def logits():
    """`logits["A graph is"]` are the stored model's for the piece behind it."""
    model = models.gpt()
    weights.load("a_gpt_of_your_own/gpt", model, weights.STORED)
    pieces = models.pieces()
    with torch.no_grad():
        return {
            given: model(torch.tensor([[pieces.end, *pieces.encode(given)]]))[0, -1].double()
            for given in SURPRISES
        }


@pytest.mark.parametrize("given", SURPRISES)
def test_its_surprises_are_those_of_the_stored_model(logits, given):
    surprise, likeliest = (-logits[given].log_softmax(-1)).topk(KNOWN, largest=False)
    torch.testing.assert_close(torch.tensor(SURPRISES[given]).double(), 100 * surprise, atol=1, rtol=0)
    assert {*IDS[given]} == {*likeliest.tolist()}


@pytest.mark.parametrize("given", SHARES)
def test_what_the_likeliest_hold_together_at_each_temperature(logits, given):
    temperatures = torch.arange(2, 21).double() / 10
    share = (logits[given] / temperatures[:, None]).softmax(-1).topk(KNOWN).values.sum(-1)
    torch.testing.assert_close(torch.tensor(SHARES[given]).double(), 10_000 * share, atol=5, rtol=0)


@pytest.mark.parametrize("given", SURPRISES)
@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"), [(1.0, 40, 1.0), (0.2, 40, 1.0), (0.5, 5, 1.0), (2.0, 40, 0.1)]
)
def test_it_leaves_what_chances_leaves_of_all_pieces(logits, given, temperature, top_k, top_p):
    settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    picture = drawn(charts.next_piece(), given=given, **settings)
    shares = (logits[given] / temperature).softmax(-1)
    left = chances(logits[given], temperature, top_k, None if top_p == 1 else top_p)
    said = [float(number) for number in re.findall(r"(?:>|with |largest )([\d.]+)(?= of|<)", picture)]
    kept = [(left > 0).sum().item(), shares[left > 0].sum().item(), left.max().item()]
    # Rounded to hundredths, of surprises that are themselves in hundredths of a nat.
    assert said[-3:] == pytest.approx(kept, abs=0.011)


# --- what is said beside the playground ---


TEXT = "If x, y are arrays, x,"
Y = models.pieces().encode(f"{TEXT} y")[-1]


def test_it_goes_on_with_what_followed_the_first_time():
    assert models.pieces().decode([Y]) == " y"
    likely = expected(TEXT)[1][-1]
    assert likely.argmax() == Y
    assert likely[Y] == pytest.approx(0.43, abs=0.006)


def test_without_head_2_of_layer_3_it_does_not():
    write = loaded().blocks[2].attention.write

    def silence(_: torch.nn.Module, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        heads = given[0].unflatten(-1, (loaded().blocks[2].attention.heads, -1)).clone()
        heads[..., 1, :] = 0
        return (heads.flatten(-2),)

    hook = write.register_forward_pre_hook(silence)
    try:
        likely = expected(TEXT)[1][-1]
    finally:
        hook.remove()
    assert likely.argmax() != Y
    assert likely[Y] == pytest.approx(0.05, abs=0.005)
