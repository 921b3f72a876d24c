"""What the chapter says beside its playgrounds of the stored models, and shows in them."""

import torch

from attnlab.inside import heads_changed, watched
from chapters.the_transformer import findings
from chapters.the_transformer.findings import DOGS, translated
from chapters.the_transformer.playground import loaded


def test_the_houses_no_longer_will_see_the_star():
    sentence = "the houses will see my white star"
    assert translated(sentence) == ["las", "casas", "videran", "mia", "stela", "blanka"]
    now = ["las", "casas", "viden", "mia", "stela", "blanka"]
    with heads_changed(loaded("translator").decoder[1].cross_attention, torch.zeros_like):
        assert translated(sentence) == now
    assert translated("the houses see my white star") == now


def test_the_head_looks_at_the_dogs():
    with watched(loaded("language-model")) as looks, torch.no_grad():
        loaded("language-model")(DOGS)
    assert looks["layers.1.self_attention"][0, 1, -1].argmax() == 2


def test_without_that_head_sees_is_ahead():
    assert findings.see_against_sees(without=1).logits < -1
