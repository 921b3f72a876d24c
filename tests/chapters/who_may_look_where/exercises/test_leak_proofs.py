"""The exercise `leak_proofs`, tried as readers would."""

import torch
from exercise_cases import judged_as, named, words

from chapters.who_may_look_where.exercises import (
    check_leak_proofs,
)

prove = check_leak_proofs.reference


def in_one_batch(model):
    """Many texts at once, and the first that convicts."""
    one, end = torch.randint(6, (2, 64, 8), generator=torch.Generator().manual_seed(1))
    for place in range(7, 0, -1):
        other = torch.cat([one[:, :place], end[:, place:]], dim=-1)
        apart = (model(one) - model(other))[:, :place].abs().amax((1, 2))
        if apart.max() > 1e-9:
            return [one[apart.argmax()], other[apart.argmax()], torch.tensor(place)]
    return None


def with_torchs_own_numbers(model):
    """As one draws without thinking of generators."""
    for _ in range(20):
        one = torch.randint(6, (1, 8))
        for place in range(1, 8):
            other = one.clone()
            other[:, place:] = (other[:, place:] + 1) % 6
            if not torch.allclose(model(one)[:, :place], model(other)[:, :place]):
                return one, other, place
    return None


def proof_by(change, compare=lambda one, other, place: not torch.allclose(one[:, :place], other[:, :place])):
    def find(model):
        source = torch.Generator().manual_seed(3)
        for _ in range(8):
            one = torch.randint(6, (1, 8), generator=source)
            for place in range(1, 8):
                other = change(one.clone(), place)
                if compare(model(one), model(other), place):
                    return one, other, place
        return None

    return find


def future_moved(text, place):
    text[:, place:] = 5 - text[:, place:]
    return text


def past_moved(text, place):
    text[:, :place] = 5 - text[:, :place]
    return text


def reshaped(*shape):
    """The same proofs, their texts in another shape."""

    def code(model):
        one, other, place = prove(model) or (None, None, 0)
        return None if one is None else (one.view(shape), other.view(shape), place)

    return code


RIGHT = {
    check_leak_proofs: named(in_one_batch, with_torchs_own_numbers)
    | {"the reference": prove, "texts without an axis in front": reshaped(8)}
}


NAMED = {
    check_leak_proofs: {
        "the past changed": proof_by(past_moved),
        "the changed place compared": proof_by(
            future_moved, lambda one, other, place: not torch.allclose(one, other)
        ),
        "to the last bit": proof_by(
            future_moved, lambda one, other, place: not torch.equal(one[:, :place], other[:, :place])
        ),
        "nothing changed": proof_by(lambda text, place: text),
    }
}


UNKNOWN = {
    check_leak_proofs: {
        "texts in two rows": reshaped(2, 4),
        "texts on end": reshaped(8, 1),
        "a yes": lambda model: True,
        "two texts and no place": lambda model: (torch.zeros(1, 8).long(), torch.ones(1, 8).long()),
        "a place outside": lambda model: (torch.zeros(1, 8).long(), torch.ones(1, 8).long(), 9),
        "words that are none": lambda model: (torch.full((1, 8), 7), torch.full((1, 8), 7), 3),
        "everyone convicted alike": lambda model: (
            torch.tensor([[0, 1, 2, 3, 4, 5, 0, 1]]),
            torch.tensor([[0, 1, 2, 3, 4, 5, 1, 2]]),
            6,
        ),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)


def test_what_a_proof_shows_is_said_in_words():
    def both_moved(model):
        one, other, place = prove(model) or (None, None, 0)
        return None if one is None else (one, (other + 1) % 6, place)

    said = words(check_leak_proofs.judge(both_moved))
    assert "expected verdict: a proof got verdict: two texts that differ before the place" in said
