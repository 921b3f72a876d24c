"""Modules that hold the same numbers on every machine: what a layer and a whole model are asked with."""

from torch import nn

from bookkit.checking.inputs import draw

_WIDTH = 12


def _filled(module: nn.Module, seed: int) -> nn.Module:
    """The module with numbers that are the same on every machine: gains about 1, all others smaller."""
    for place, (name, parameter) in enumerate(module.named_parameters()):
        (numbers,) = draw(seed + place, tuple(parameter.shape))
        is_gain = parameter.dim() == 1 and name.endswith("weight")
        parameter.data = 1 + numbers / 4 if is_gain else 0.3 * numbers
    return module
