"""What the chapter says beside its playgrounds of the stored models, measured once more in PyTorch."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import Tensor, nn

from attnlab.corpora.grammar_check import Lingo, fault
from attnlab.inside import heads_changed, watched, zeroed
from chapters.the_transformer import models, truth
from chapters.the_transformer.playground import loaded
from chapters.translating_with_attention.models import END, ENGLISH_WORDS, LINGO_WORDS, START, unseen_pairs

SEE, SEES = models.WORDS.index("see"), models.WORDS.index("sees")
DOGS = torch.tensor([[START, *map(models.WORDS.index, ["the", "dogs", "near", "the", "king"])]])


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


# ---- the translator ----


def translated(sentence: str) -> list[str]:
    source = torch.tensor([[*map(ENGLISH_WORDS.index, sentence.split()), END]])
    written = models.greedy(loaded("translator"), source, torch.tensor([source.shape[1]]))[0].tolist()
    return [LINGO_WORDS[word] for word in written if word != END]


def test_without_looks_across_in_layer_2_it_still_writes_lingo_but_not_what_was_said():
    right = {" ".join(pair.english): [*pair.lingo] for pair in unseen_pairs(400)}
    with heads_changed(loaded("translator").decoder[1].cross_attention, torch.zeros_like):
        written = {sentence: translated(sentence) for sentence in truth.to_translate()}
    assert len(written) == 50
    assert sum(words == right[sentence] for sentence, words in written.items()) == 2
    assert sum(not fault(words, Lingo) for words in written.values()) == 43


def test_the_houses_no_longer_will_see_the_star():
    sentence = "the houses will see my white star"
    assert translated(sentence) == ["las", "casas", "videran", "mia", "stela", "blanka"]
    now = ["las", "casas", "viden", "mia", "stela", "blanka"]
    with heads_changed(loaded("translator").decoder[1].cross_attention, torch.zeros_like):
        assert translated(sentence) == now
    assert translated("the houses see my white star") == now


# ---- the language model ----


def shares(found: dict[str, Tensor]) -> dict[str, float]:
    """What each of these vectors adds to the logit of “see” less that of “sees”, in the run of `found`."""
    model = loaded("language-model")
    stream = found["stream"]
    deviation = (stream.var(unbiased=False) + model.norm.eps).sqrt()
    direction = model.norm.weight * (model.word.weight[SEE] - model.word.weight[SEES])
    return {name: float((each - each.mean()) / deviation @ direction) for name, each in found.items()}


@contextmanager
def kept(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """At the last place: what each head and each network adds to the stream, and the stream in the end."""
    found: dict[str, Tensor] = {}

    def heads(number: int, out: nn.Linear, mixed: Tensor) -> None:
        for head, (rows, share) in enumerate(zip(out.weight.chunk(4, 1), mixed.chunk(4), strict=True), 1):
            found[f"layer {number}, head {head}"] = rows @ share

    hooks = [model.norm.register_forward_pre_hook(lambda _, given: found.update(stream=given[0][0, -1]))]
    for number, layer in enumerate(model.layers, 1):
        out = layer.self_attention.out_proj
        hooks.append(
            out.register_forward_hook(lambda out, given, _, n=number: heads(n, out, given[0][0, -1]))
        )
        network = layer.feed_forward
        hooks.append(
            network.register_forward_hook(
                lambda *given, n=number: found.update({f"network {n}": given[-1][0, -1]})
            )
        )
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def ahead() -> float:
    """How far “see” is ahead of “sees”."""
    logits = loaded("language-model")(DOGS)[0, -1]
    return float(logits[SEE] - logits[SEES])


def test_one_head_tells_the_number_and_the_network_behind_it_says_it_loud():
    with kept(loaded("language-model")) as found:
        assert ahead() == pytest.approx(5.8, abs=0.05)
    adds = shares(found)
    assert adds.pop("layer 2, head 2") == pytest.approx(1.3, abs=0.05)
    assert adds["network 2"] == pytest.approx(4.9, abs=0.05)
    others = [abs(share) for name, share in adds.items() if "head" in name]
    assert len(others) == 7
    assert max(others) <= 0.2


def test_the_head_looks_at_the_dogs():
    with watched(loaded("language-model")) as looks:
        loaded("language-model")(DOGS)
    assert looks["layers.1.self_attention"][0, 1, -1].argmax() == 2


def test_without_that_head_the_network_turns_round_and_sees_is_ahead():
    model = loaded("language-model")
    with heads_changed(model.layers[1].self_attention, zeroed(1)), kept(model) as found:
        assert ahead() < -1
    assert shares(found)["network 2"] == pytest.approx(-1.2, abs=0.05)
