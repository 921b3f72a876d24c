"""Mistakes that exercises share: taking their place; and what can be asked of a reader's class."""

import re

import pytest
import torch
from torch import nn

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import but, in_answer
from bookkit.checking.mistakes.holding import BYTES
from bookkit.checking.mistakes.weighing import PRODUCTS, WEIGHING
from bookkit.checking.modules import Example, asking, gradient, held, histories, plain

# What each of a family answers is noted of the exercises that use it: tests/chapters/known_mistakes.json.


def test_every_axis_turned_is_not_the_first_two_turned():
    """In the exercises both raise the same error."""
    query, key = draw(1, (3, 3, 3), (3, 3, 3))
    every, first = (PRODUCTS[name][1](query, key) for name in ("every axis turned", "first axes turned"))
    assert not torch.equal(every, first)


# --- taking its place ---


def test_the_right_answer_is_changed():
    made = in_answer(lambda rows, columns: 4 * rows * columns, BYTES)
    assert made["bits"][1](2, 3) == 192


def test_some_of_a_family_can_be_left_out():
    assert WEIGHING.keys() - but(WEIGHING, "sigmoid", "hard").keys() == {"sigmoid", "hard"}
    with pytest.raises(ValueError, match=r"names must be among \['bits', .*\], got \['bytes'\]"):
        but(BYTES, "bytes")


# ---- modules: each question tells right ones from wrong ones ----


class Tally(nn.Module):
    """Adds up the means of what it sees: in a drawer, where `hold` finds one, and cut off by `cut`."""

    def __init__(self, hold=nn.Buffer, cut=torch.detach):
        super().__init__()
        self.mean, self.cut, self.inside = hold(torch.zeros(3)), cut, nn.LayerNorm(2)

    def forward(self, inputs):
        if self.training:
            self.mean = self.mean + self.cut(inputs).mean(0)
        return 2 * inputs - self.mean


def as_it_is(tensor):
    return tensor


BATCHES = torch.ones(4, 5, 3)

check_tally = Exercise(
    "tally",
    difficulty=1,
    minutes=1,
    takes=("batches", "asked"),
    returns=("answer",),
    reference=Tally,
    cases=(
        Case("takes the mean away", BATCHES, "trained(MyModule(), batches)(batches[0])"),
        Case("keeps no history", BATCHES, "histories(MyModule(), batches)"),
    ),
    mistakes={"history": ("It keeps the history.", lambda: Tally(cut=as_it_is))},
    trainable=False,
    ask=asking("batches"),
)


def test_the_question_is_code_about_the_readers_class_and_the_inputs():
    assert check_tally.judge(Tally).passed
    assert check_tally.judge(lambda: Tally(cut=as_it_is)).mistake == "history"
    assert "asked = trained(MyModule(), batches)(batches[0])" in repr(
        check_tally.judge(lambda: Tally(hold=nn.Parameter))
    )


class Unwritten(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, inputs): ...


class NoReturn(Tally):
    def forward(self, inputs):
        super().forward(inputs)


@pytest.mark.parametrize(
    ("work", "state", "said"),
    [
        (Unwritten, "not written yet", "in the place of the `...`"),
        (NoReturn, "not yet", "Is there a `return`"),
        (nn.Module, "not yet", "NotImplementedError: Module [Module] is missing"),
        (lambda: print(), "not yet", "'NoneType' object is not callable"),
        (Tally(), "not yet", "check_tally(Tally)"),
        (3, "not yet", "check_tally(MyModule)"),
    ],
)
def test_what_is_no_answer_is_put_in_words(work, state, said):
    report = check_tally.judge(work)
    assert report.state == state
    assert said in " ".join(repr(report).split()), report


def test_held_is_everything_and_plain_what_no_drawer_holds():
    example = Example(
        "two tensors", bare=torch.ones(2), inside=Tally(as_it_is), drawer=nn.Buffer(torch.ones(4))
    )
    assert repr(example) == "two tensors"
    assert list(plain(example)) == ["bare"]
    assert sorted(tensor.numel() for tensor in held(example)) == [2, 2, 2, 3, 4]


def test_an_enormous_sum_is_not_taken():
    with pytest.raises(WrongTypeError, match=re.escape("shape (1000000, 1000000): far too many numbers")):
        gradient(lambda inputs: inputs[:1, :1].expand(10**6, 10**6), torch.ones(5, 3))


def test_a_gradient_comes_back_from_the_sum():
    (inputs,) = draw(1, (5, 3))
    assert torch.equal(gradient(Tally().eval(), inputs), torch.full((5, 3), 2.0))
    assert not inputs.requires_grad


@pytest.mark.parametrize("hold", [nn.Buffer, as_it_is])
def test_histories_are_found_in_drawers_and_out_of_them(hold):
    assert histories(Tally(hold), BATCHES) == 0
    assert histories(Tally(hold, as_it_is), BATCHES) == 1
