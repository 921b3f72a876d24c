"""“Is it any good?”: what only its exercises say, and its models."""

import numpy as np
import pytest
import torch
from exercise_cases import of, telling, words
from their_models import assert_one_model, some_ids, with_weights_of_their_own
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from attnlab.corpora import docstrings
from attnlab.corpora.pieces import Pieces
from attnlab.training.run import Run, row_of
from attnlab.transformer import GPT
from bookkit import weights
from chapters.a_gpt_of_your_own import models, rivals
from chapters.is_it_any_good.accepted import Said
from chapters.is_it_any_good.exercises import check_beat_the_book
from chapters.is_it_any_good.exercises.beat_the_book_mistakes import pieces
from chapters.is_it_any_good.exercises.beat_the_book_parts import (
    BAR,
    SAID,
    all_held_out,
    held_out,
    measured,
    others,
)
from chapters.is_it_any_good.their_names import to_ours, to_theirs

# --- beat_the_book ---


class Counted(nn.Module):
    """5-grams, whose chances are computed for each place anew."""

    context = 64

    def __init__(self, row):
        super().__init__()
        self.grams = rivals.KneserNey(row, order=5)

    def forward(self, ids):
        places = range(ids.shape[1])
        rows = [
            [self.grams.behind(row[max(0, at - 3) : at + 1], 2048) for at in places] for row in ids.numpy()
        ]
        return torch.from_numpy(np.array(rows)).log()


@pytest.fixture(scope="module")
def training():
    texts, _ = docstrings.split(models.LITTLE)
    return row_of(map(models.pieces().encode, texts), models.pieces().end)


def measured_and_handed(model, cut, context=None):
    bits = measured(model, cut, context or model.context).bits
    return bits, lambda: (model, cut, bits)


def lines_of(report):
    return [line.split()[0] for line in report.lines[:4]]


@pytest.mark.thorough
def test_counting_alone_is_told_to_be_not_enough(training):
    """And it needs what the bar was set by."""
    bits, work = measured_and_handed(Counted(training), models.pieces())
    assert BAR < bits < BAR + 0.02
    report = check_beat_the_book.judge(work)
    assert report.mistake == "by heart"  # what has been counted it knows
    assert lines_of(report) == ["✓", "✓", "✗", "✓"]


@pytest.mark.thorough
def test_every_fourth_text_is_asked():
    _, validation = docstrings.split(models.LITTLE)
    assert held_out() == validation[::4]
    assert all_held_out() == validation
    assert not set(others()) & set(validation)


def gpt(size):
    torch.manual_seed(0)
    return GPT(size, d_model=32, heads=1, layers=1, context=32)


class Bytes:
    """Pieces of another kind."""

    end = 256

    def __len__(self):
        return 257

    def encode(self, text):
        return [*text.encode()]

    def decode(self, ids):
        return bytes(ids).decode()


@pytest.mark.thorough
def test_a_network_as_it_is_drawn_has_learned_nothing():
    """And a GPT, whose one table at both ends favours the piece that it stands on."""
    _, work = measured_and_handed(gpt(2048), models.pieces())
    assert check_beat_the_book.judge(work).mistake == "nothing learned"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["gpt", "lstm"])
def test_a_network_that_has_read_ten_times_as_much_is_told(name):
    """It is below the bar, and hardly knows any of this by heart."""
    model = models.MODELS[name]()
    weights.load(f"a_gpt_of_your_own/{name}", model, weights.STORED)
    _, work = measured_and_handed(model, models.pieces(), 128)
    assert check_beat_the_book.judge(work).mistake == "knows what it is judged by"


@pytest.mark.thorough
def test_two_things_that_are_wrong_are_told_one_after_the_other():
    report = check_beat_the_book.judge(lambda: (gpt(512), pieces(), 1.0))
    assert lines_of(report) == ["✓", "✓", "✗", "✗"]
    assert SAID["nothing learned"] in words(report)


@pytest.mark.thorough
def test_a_model_that_has_learned_since_is_measured_anew():
    model = gpt(512)
    _, work = measured_and_handed(model, pieces())
    assert lines_of(check_beat_the_book.judge(work))[3] == "✓"
    with torch.no_grad():
        model.pieces.weight.mul_(3)
    assert lines_of(check_beat_the_book.judge(work))[3] == "✗"


@pytest.mark.thorough
def test_other_pieces_will_do():
    report = check_beat_the_book.judge(lambda: (gpt(257), Bytes(), 3.0))
    assert lines_of(report)[:2] == ["✓", "✓"]


@pytest.mark.thorough
def test_a_small_network_after_seconds_is_not_below_counting(training):
    model = gpt(2048)
    Run(model, training, updates=60, rate=1e-2, rows=8, length=32, warm_up=10).go(60)
    _, work = measured_and_handed(model, models.pieces())
    assert check_beat_the_book.judge(work).mistake == "not below counting"


test_what_is_no_such_thing_is_told = telling(
    *of(
        check_beat_the_book,
        (lambda: gpt(259), "Hand over three things"),
        (lambda: ("model", Pieces([]), 1.0), "A model is expected first, and str came."),
        (lambda: (GPT, Pieces([]), 1.0), "GPT is a class. Hand over the model that you have trained."),
        (lambda: (gpt(257), [], 1.0), "The pieces need encode, decode, end and a length"),
        (lambda: (gpt(300), Pieces([]), 1.0), SAID["another vocabulary"]),
        (lambda: (gpt(100), Pieces([]), 1.0), "The model can't read ids of shape (2, 16). It raises"),
        (lambda: (Said(lambda logits, _: logits[0]), pieces(), 1.0), "must make logits (2, 16, 512)"),
        (lambda: (gpt(257), Pieces([]), "low"), "Your bits per byte are one number."),
        marks=pytest.mark.thorough,
    )
)


# --- Hugging Face’s names ---


# vocabulary, d_model, heads, layers, context
SIZES = [(64, 24, 3, 2, 16), (37, 15, 5, 3, 11), (50, 7, 1, 1, 5)]


def made(sizes: tuple[int, ...], **more: object) -> tuple[GPT, GPT2LMHeadModel]:
    vocabulary, d_model, heads, layers, context = sizes
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=vocabulary, n_positions=context, n_embd=d_model, n_layer=layers, n_head=heads,
        activation_function="gelu_new", bos_token_id=None, eos_token_id=None, **more,
    )  # fmt: skip
    return with_weights_of_their_own(
        GPT(vocabulary, d_model, heads, layers, context), GPT2LMHeadModel(config)
    )


@pytest.mark.parametrize("sizes", SIZES)
def test_either_says_the_same_with_the_others_weights(sizes: tuple[int, ...]) -> None:
    ours, theirs = made(sizes)
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    assert_one_model(ours, theirs, ours.context)
    ours, theirs = made(sizes)
    ours.load_state_dict(to_ours(theirs.state_dict()))
    assert_one_model(ours, theirs, ours.context)


def test_both_ends_share_one_table() -> None:
    ours, theirs = made(SIZES[0])
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    assert theirs.lm_head.weight is theirs.transformer.wte.weight
    _, apart = made(SIZES[0], tie_word_embeddings=False)
    with pytest.raises(
        ValueError, match=r"theirs must have one table at both ends, got a lm_head\.weight of its own"
    ):
        to_ours(apart.state_dict())


def test_ours_learns_as_theirs_does() -> None:
    """The loss and its gradients; a tied table gets those of both ends."""
    ours, theirs = made(SIZES[0])
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    ids = some_ids(ours, ours.context)
    loss = torch.nn.functional.cross_entropy(ours(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    their_loss = theirs(ids, labels=ids).loss
    torch.testing.assert_close(loss, their_loss)
    loss.backward()
    their_loss.backward()
    gradients = to_theirs({name: weight.grad for name, weight in ours.named_parameters()})
    for name, weight in theirs.named_parameters():
        torch.testing.assert_close(gradients[name], weight.grad, rtol=1e-4, atol=1e-6, msg=name)
