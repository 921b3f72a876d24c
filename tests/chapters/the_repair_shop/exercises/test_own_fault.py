"""The exercise `own_fault`, tried as readers would. Each answer trains."""

import pytest
from exercise_cases import judged_as, words

from attnlab.transformer import Block
from chapters.the_repair_shop import faults
from chapters.the_repair_shop.exercises import check_own_fault
from chapters.the_repair_shop.patients import small

pytestmark = pytest.mark.thorough


class Deaf(Block):
    """Never calls its network."""

    def forward(self, stream):
        return stream + self.dropout(self.attention(self.before_attention(stream)))


def deaf(model):
    for place, old in enumerate(model.blocks):
        model.blocks[place] = Deaf(32, 4, 0.1)
        model.blocks[place].load_state_dict(old.state_dict())
    return model


RIGHT = {check_own_fault: {"no network": deaf}}
NAMED = {
    check_own_fault: {
        "costs nothing": lambda model: model,
        "found by future": lambda model: faults.attending(faults.OffByOne, model),
        "found by one word": faults.without_places,
        "found by two runs": faults.never_rests,
        "found by the first loss": lambda model: small(0, spread=1.0),
        "found by dead units": faults.pushed_under,
        "found by half": lambda model: faults.attending(faults.Billion, model),
        "found by the gradient": faults.cut,
        "found by heart": faults.without_road,
    }
}
UNKNOWN = {check_own_fault: {"in a list": faults.in_a_list}}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_whoever_returns_no_model_is_told_so():
    assert "return the model" in words(check_own_fault.judge(lambda model: 5))
