"""For exercises about modules: what can be asked of a reader's class, and models to look at."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.answers import returned


def asking(*names: str) -> Callable[..., object]:
    """`Exercise(…, takes=("table", "words", "asked"), ask=asking("table", "words"))` asks in code.

    A case's last input is an expression of MyModule, the reader's class, of the other inputs, and of the
    functions in this room. So a report shows what was asked, as the reader would type it.

    >>> ask = asking("inputs")
    >>> ask(nn.Identity, torch.ones(2), "MyModule()(inputs)")
    tensor([1., 1.])
    """

    def ask(work: Any, *inputs: Any) -> object:
        *values, asked = inputs
        return eval(asked, {**_TOOLS, **dict(zip(names, values, strict=True)), "MyModule": work})

    return ask


class Example(nn.Module):
    """`Example("a plain tensor (2, 3)", table=torch.zeros(2, 3))` holds that, and says so in a report."""

    def __init__(self, words: str, **attributes: object) -> None:
        super().__init__()
        self.words = words
        for name, value in attributes.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        return self.words


def plain(module: nn.Module) -> dict[str, Tensor]:
    """`plain(module)` are the tensors that it holds as attributes like any other, in no drawer."""
    return {name: value for name, value in vars(module).items() if isinstance(value, Tensor)}


def held(model: nn.Module) -> list[Tensor]:
    """`held(model)` are all that it and the modules inside it hold, in drawers or out of them."""
    own = [tensor for module in model.modules() for tensor in plain(module).values()]
    return [*model.parameters(), *model.buffers(), *own]


def gradient(model: nn.Module, inputs: Tensor) -> Tensor:
    """`gradient(model, inputs)` is what comes back to the inputs from the sum of the outputs."""
    inputs = inputs.clone().requires_grad_()
    return torch.autograd.grad(returned(model(inputs)).sum(), inputs)[0]


def trained(model: nn.Module, batches: Tensor) -> nn.Module:
    """`trained(model, batches)(inputs)` is the model in use, after each of the batches went through it."""
    for batch in batches:
        model(batch)
    return model.eval()


def reloaded(fresh: nn.Module, model: nn.Module) -> nn.Module:
    """`reloaded(MyModule(), model)` is a fresh module with what the other one's file would hold."""
    fresh.load_state_dict(model.state_dict())
    return fresh.eval()


def histories(model: nn.Module, batches: Tensor) -> int:
    """`histories(model, batches)` is how many tensors still carry one after training on the batches."""
    trained(model, batches.clone().requires_grad_())
    return sum(tensor.grad_fn is not None for tensor in held(model))


_TOOLS = {
    "torch": torch,
    **{tool.__name__: tool for tool in (gradient, trained, reloaded, histories)},
}
