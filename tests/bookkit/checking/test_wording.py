"""Wording: numbers, inputs, errors and sentences, the same on every machine."""

import pytest
import torch

from bookkit.checking import wording
from bookkit.checking.inputs import draw, exact, whole
from bookkit.checking.modules import Example


def made_for_a_check(kind):
    return type("_Reader", (kind,), {"__module__": "chapters.any.exercises.one"})()


def test_rounding_noise_does_not_show_and_whole_numbers_are_written_whole():
    noisy = torch.tensor([0.125, 1e-9, -1e-9, 1 / 3, float("nan")], dtype=torch.float64)
    for noise in (-1e-7, 0.0, 1e-7):
        assert wording.written(noisy * (1 + noise)) == "[0.125, 0.0, 0.0, 0.3333, nan]"
        assert wording.written(torch.tensor([0.12345]) * (1 + noise)) == "[0.1235]"
    assert wording.written(torch.tensor([[73_728, -1]])) == "[[73728, -1]]"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (torch.ones(2), "key = torch.tensor([1.0, 1.0])"),
        (torch.ones(2, dtype=torch.float64), "key = torch.tensor([1.0, 1.0], dtype=torch.float64)"),
        (whole(7, 9), "key = torch.tensor([7, 9])"),
        (torch.ones(4, 5), "key of shape (4, 5), float32"),
        ("sea", "key = sea"),
        (0.5, "key = 0.5"),
        (torch.nn.Sequential(torch.nn.Linear(2, 2)), "key = Sequential(…)"),
        (made_for_a_check(torch.nn.Module), "key = a module made for this check"),
        (made_for_a_check(torch.nn.Identity), "key = Identity(…)"),
        (Example("a plain tensor (2, 3)"), "key = a plain tensor (2, 3)"),
    ],
)
def test_an_input_is_shown_as_a_reader_would_type_it_or_by_its_shape(value, shown):
    assert wording.shown("key", value) == shown


def test_names_are_joined_and_long_sentences_broken():
    assert wording.joined(["query"]) == "query"
    assert wording.joined(dict.fromkeys(["query", "key", "value"])) == "query, key and value"
    lines = wording.arrow("word " * 40)
    assert lines[0].startswith("→ word")
    assert all(line.startswith("  word") for line in lines[1:])
    assert max(map(len, lines)) <= 88


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("too short\nby far"), "It raises ValueError: too short"),
        (ValueError(), "It raises ValueError"),
        (OSError("at 0x7f3aB2"), "It raises OSError: at 0x…"),
        (RecursionError("maximum depth"), "It calls itself without end (RecursionError)."),
    ],
)
def test_an_error_is_told_in_one_line_that_never_changes(error, said):
    assert wording.raised(error) == said


def failing():
    raise ValueError("here")


def caught(code):
    try:
        code()
    except BaseException as error:
        return error


def endless():
    endless()


def interrupted():
    raise KeyboardInterrupt


def test_the_line_that_raised_is_shown_where_it_tells_something():
    assert wording.line_of(caught(failing), failing) == ('in the line: raise ValueError("here")',)
    assert wording.line_of(caught(failing), None) == ()
    assert wording.line_of(caught(endless), endless) == (), "where it breaks off is chance"
    assert wording.line_of(caught(interrupted), interrupted) == (), "and where it is interrupted"


# --- inputs ---


def test_inputs_are_exact_in_every_dtype():
    single, double = draw(3, (4, 5))[0], draw(3, (4, 5), dtype=torch.float64)[0]
    assert torch.equal(single.double(), double)
    assert torch.equal(single * 8, (single * 8).round())
    assert single.abs().max() <= 2
    assert len(single.unique()) > 10


def test_each_shape_has_a_seed_of_its_own_and_numbers_can_be_written_out():
    one, other = draw(3, (4, 5), (4, 5))
    assert not torch.equal(one, other)
    assert torch.equal(other, draw(4, (4, 5))[0])
    assert torch.equal(exact([1, 2], [3, 4]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert torch.equal(whole(7, 9), torch.tensor([7, 9]))
