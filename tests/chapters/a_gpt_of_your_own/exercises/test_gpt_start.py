"""The exercise `gpt_start`, tried as readers would."""

import math

import pytest
import torch
from exercise_cases import judged_as, named, words
from torch import nn

from attnlab.transformer import GPT
from chapters.a_gpt_of_your_own.exercises import check_gpt_start
from chapters.a_gpt_of_your_own.exercises.gpt_start_parts import kind_of

pytestmark = pytest.mark.thorough

# --- right ---


def by_modules_and_then_by_names(model):
    """As nanoGPT does, which leaves the norms as PyTorch makes them."""

    def draw(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    model.apply(draw)
    for name, weight in model.named_parameters():
        if name.endswith(("write.weight", "narrow.weight")):
            nn.init.normal_(weight, mean=0.0, std=0.02 / math.sqrt(2 * len(model.blocks)))
    return model


def block_by_block(model):
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * 0.02 if weight.dim() > 1 else torch.zeros_like(weight))
        for block in model.blocks:
            for layer in (block.attention.write, block.narrow):
                layer.weight /= (2 * len(model.blocks)) ** 0.5
        for module in model.modules():
            if isinstance(module, nn.LayerNorm):
                module.weight.fill_(1)


def with_new_parameters(model):
    source = torch.Generator().manual_seed(7)
    for name, module in model.named_modules():
        if hasattr(module, "weight") and not isinstance(module, nn.LayerNorm):
            adds = name.endswith(("write", "narrow"))
            spread = 0.02 * (2 * len(model.blocks)) ** -0.5 if adds else 0.02
            module.weight = nn.Parameter(torch.randn(module.weight.shape, generator=source) * spread)
            if isinstance(module, nn.Linear):
                module.bias.data.zero_()


def without_tails(model):
    """Nothing beyond five spreads, which no one sees."""
    by_modules_and_then_by_names(model)
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.data.clamp_(-0.1, 0.1)


# --- wrong ---


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


def by_depth(model):
    by_modules_and_then_by_names(model)
    for place, block in enumerate(model.blocks):
        for layer in (block.attention.write, block.narrow):
            nn.init.normal_(layer.weight, std=0.02 / (2 * (place + 1)) ** 0.5)


def linears_alone(model):
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            adds = name.endswith(("write", "narrow"))
            nn.init.normal_(module.weight, std=0.02 / (math.sqrt(2 * len(model.blocks)) if adds else 1))
            nn.init.zeros_(module.bias)


def xavier_for_linears(model):
    by_modules_and_then_by_names(model)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)


def every_parameter(model):
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.02)


def every_weight_by_name(model):
    """Whatever is called a weight is drawn, that of a norm as well."""
    by_modules_and_then_by_names(model)
    for name, weight in model.named_parameters():
        if "before" in name or name.startswith("norm"):
            nn.init.normal_(weight, std=0.02 if name.endswith("weight") else 0.0)


def what_has_one_axis_is_zero(model):
    by_modules_and_then_by_names(model)
    for weight in model.parameters():
        if weight.dim() == 1:
            nn.init.zeros_(weight)


def biases_forgotten(model):
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            adds = name.endswith(("write.weight", "narrow.weight"))
            nn.init.normal_(weight, std=0.02 / (math.sqrt(2 * len(model.blocks)) if adds else 1))


def under_an_old_name(model):
    for weight in model.parameters():
        weight = torch.randn_like(weight) * 0.02


def in_place_and_recorded(model):
    for name, weight in model.named_parameters():
        if name.endswith("bias"):
            weight.zero_()
        else:
            weight.normal_(0, 0.02)


WRITERS, READERS = ("write.weight", "narrow.weight"), ("project.weight", "widen.weight")

RIGHT = {
    check_gpt_start: named(by_modules_and_then_by_names, block_by_block, with_new_parameters, without_tails)
}


NAMED = {
    check_gpt_start: {
        "writers not scaled": scaled(WRITERS, lambda layers: math.sqrt(2 * layers)),
        "root of layers": scaled(WRITERS, lambda layers: math.sqrt(2)),
        "without the root": scaled(WRITERS, lambda layers: 1 / math.sqrt(2 * layers)),
        "by depth": by_depth,
        "narrow forgotten": scaled(WRITERS[1], lambda layers: math.sqrt(2 * layers)),
        "attention.write forgotten": scaled(WRITERS[0], lambda layers: math.sqrt(2 * layers)),
        "all matrices scaled": scaled(READERS, lambda layers: 1 / math.sqrt(2 * layers)),
        "the others scaled": but(
            lambda name, weight, layers: (
                name.endswith((*WRITERS, *READERS))
                and weight.mul_(math.sqrt(2 * layers) ** (1 if name.endswith(WRITERS) else -1))
            )
        ),
        "tables scaled": scaled(("pieces.weight", "places.weight"), lambda layers: (2 * layers) ** -0.5),
        "tables left": linears_alone,
        "variance for spread": drawn_by(
            lambda weight, spread: weight.normal_(0, math.sqrt(0.02) * spread / 0.02)
        ),
        "spread 1": drawn_by(lambda weight, spread: weight.normal_(spread)),
        "uniform": drawn_by(lambda weight, spread: weight.uniform_(-spread, spread)),
        "Xavier's": drawn_by(lambda weight, spread: nn.init.xavier_normal_(weight)),
        "Xavier's for the matrices": xavier_for_linears,
        "multiplied": scaled(WRITERS, lambda layers: 2 * layers),
        "biases left": biases_forgotten,
        "biases drawn": but(
            lambda name, weight, layers: kind_of(name) == "biases" and weight.normal_(0, 0.02)
        ),
        "norms drawn": every_weight_by_name,
        "norms at 0": what_has_one_axis_is_zero,
        "everything drawn alike": every_parameter,
        "biases and norms drawn": but(
            lambda name, weight, layers: weight.dim() == 1 and weight.normal_(0, 0.02)
        ),
        "nothing drawn": under_an_old_name,
        "drawn while recorded": in_place_and_recorded,
    }
}


UNKNOWN = {
    check_gpt_start: {
        "a twentieth too wide": drawn_by(lambda weight, spread: weight.normal_(0, 1.06 * spread)),
        "shifted": drawn_by(lambda weight, spread: weight.normal_(spread / 4, spread)),
        "even, of the right spread": drawn_by(
            lambda weight, spread: weight.uniform_(-spread * 3**0.5, spread * 3**0.5)
        ),
        "cut off at two spreads": drawn_by(
            lambda weight, spread: nn.init.trunc_normal_(weight, std=spread, a=-2 * spread, b=2 * spread)
        ),
        "for twelve layers": scaled(WRITERS, lambda layers: math.sqrt(2 * layers / 24)),
        "one layer forgotten": scaled("blocks.0.narrow.weight", lambda layers: 2.0),
        "no numbers": drawn_by(lambda weight, spread: weight.fill_(math.nan)),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_the_model_that_is_asked_with_is_a_plain_one_and_stays_so():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    assert check_gpt_start.judge(check_gpt_start.reference).passed
    assert torch.equal(torch.get_rng_state(), before)
    assert check_gpt_start.judge(under_an_old_name).mistake == "nothing drawn"


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_drawn_a_right_start_is_accepted(seed):
    """The bounds are five standard errors away."""

    def code(model):
        torch.manual_seed(seed)
        by_modules_and_then_by_names(model)

    assert check_gpt_start.judge(code).passed


def test_who_draws_with_no_spread_at_all_is_told_the_same():
    assert check_gpt_start.judge(drawn_by(lambda weight, spread: weight.normal_())).mistake == "spread 1"


def test_two_slips_are_both_told():
    def code(model):
        biases_forgotten(model)
        scaled(WRITERS, lambda layers: math.sqrt(2))(model)
        for name, weight in model.named_parameters():
            if kind_of(name) == "biases":
                nn.init.normal_(weight, std=0.02)

    assert check_gpt_start.judge(code).mistake == "root of layers & biases drawn"


def test_the_books_own_start_is_told():
    report = check_gpt_start.judge(GPT.start)
    assert report.mistake == "ready-made"
    assert "start is there already" in words(report)


def test_what_is_drawn_is_said_in_words_and_where():
    said = words(check_gpt_start.judge(scaled("blocks.0.narrow.weight", lambda layers: 2.0)))
    assert "expected weights: normal, with spread 0.02/√(2 · layers)" in said
    assert "got weights: normal, with spread about 0.03, at blocks.0.narrow.weight" in said


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
