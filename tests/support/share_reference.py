"""What PyTorch's modules say of the word so far, and of each part's share in one logit against another."""

import torch
from script_and_pytorch import Trace
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.transformer import GPT, LanguageModel, Transformer

# The names of the embedding, of the layers, and of what each has.
NAMES = {
    Transformer: ("written", "decoder", ("self_attention", "cross_attention", "feed_forward")),
    LanguageModel: ("embedding", "layers", ("self_attention", "feed_forward")),
    GPT: ("pieces", "blocks", ("attention", "narrow")),
}


class Reference:
    """What PyTorch's own modules gave on the way, and what a change of the last stream does to a difference.

    The gradient of the difference, with the last deviation held, is what a number of the stream is worth. It
    does not come from a formula here, but from autograd.
    """

    def __init__(self, model: nn.Module, trace: Trace, rivals: list[int]) -> None:
        """Of the stack that speaks; the model is changed as the run was."""
        self.model, self.trace, self.rivals = model, trace, rivals
        self.names = next(names for kind, names in NAMES.items() if isinstance(model, kind))
        self.last = "decoder_norm" if isinstance(model, Transformer) else "norm"
        self.norm = self.model.get_submodule(self.last)
        self.words = model.pieces.weight if isinstance(model, GPT) else model.word.weight
        self.bias = None if isinstance(model, GPT) else model.word.bias
        stream = self.stream().clone().requires_grad_()
        deviation = (stream.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt().detach()
        difference = self.difference(self.logits(stream, deviation)).sum()
        self.worth = torch.autograd.grad(difference, stream)[0][None]

    def logits(self, stream: Tensor, deviation: Tensor | None = None) -> Tensor:
        """Of the stream at any station; its deviation may be held."""
        if deviation is None:
            normed = self.norm(stream)
        else:
            normed = (stream - stream.mean(-1, keepdim=True)) / deviation * self.norm.weight + self.norm.bias
        return F.linear(normed, self.words, self.bias)

    def said(self, station: str | None = None) -> Tensor:
        """The logits of all places (T, words), if the model stops at this station; else its own."""
        return self.logits(self.stream(station)).detach()

    def difference(self, logits: Tensor) -> Tensor:
        a, b = self.rivals
        return logits[..., a] - logits[..., b]

    def parts(self) -> list[tuple[str, int, int]]:
        """Each part's name, layer and place in it."""
        _, layers, kinds = self.names
        every = range(len(self.model.get_submodule(layers)))
        return [
            (f"{layers}.{layer}.{kind}", layer, part) for layer in every for part, kind in enumerate(kinds)
        ]

    def output_of(self, name: str) -> str:
        """The module whose output a part adds to the stream."""
        last = {"feed_forward": ".narrow", "attention": ".write", "narrow": ""}
        return name + last.get(name.rpartition(".")[2], ".out_proj")

    def stream(self, station: str | None = None) -> Tensor:
        """The stream at a station, or where the last norm reads it."""
        _, layers, _ = self.names
        return self.trace[station or f"{layers}.{len(self.model.get_submodule(layers)) - 1}"][0]

    @torch.no_grad()
    def shares(self) -> dict[str, Tensor]:
        """By the names that the script gives them, of all places."""
        added = {
            "embedding,,,,": self.trace[self.names[0]],
            "positions,,,,": self.trace["positions"] - self.trace[self.names[0]],
        }
        for name, layer, part in self.parts():
            output = self.model.get_submodule(self.output_of(name))
            if name.endswith("attention"):
                mixed = self.trace[f"{name}.mixed"]
                for head in range(self.heads(name)):
                    alone = self.alone(mixed, head, name)
                    added[f"head,{layer},{part},{head},"] = output(alone) - output.bias
            else:
                added[f"network,{layer},{part},,"] = self.trace[self.output_of(name)] - output.bias
            bias = f"bias,{layer},{part},,{self.output_of(name)}"
            added[bias] = output.bias.expand(self.worth.shape)
        found = {name: (each * self.worth).sum(-1)[0] for name, each in added.items()}
        nothing = torch.zeros(self.worth.shape[1], self.worth.shape[2])
        without = F.linear(nothing + self.norm.bias, self.words)
        found[f"bias,,,,{self.last}"] = self.difference(without)
        if self.bias is not None:
            found["bias,,,,word"] = self.difference(self.bias).expand(len(nothing))
        return found

    def all_heads(self) -> list[tuple[str, int]]:
        looking = [name for name, _, _ in self.parts() if name.endswith("attention")]
        return [(name, head) for name in looking for head in range(self.heads(name))]

    def heads(self, name: str) -> int:
        return int(self.model.get_submodule(name).heads)

    def alone(self, mixed: Tensor, head: int, name: str) -> Tensor:
        """One head's numbers, and zeros for the others."""
        heads = mixed.unflatten(-1, (self.heads(name), -1))
        kept = torch.zeros_like(heads)
        kept[..., head, :] = heads[..., head, :]
        return kept.flatten(-2)

    @torch.no_grad()
    def brought(self, name: str, head: int) -> Tensor:
        """By each place that is looked at (columns), for each that looks (rows)."""
        output = self.model.get_submodule(self.output_of(name))
        values = self.trace[f"{name}.values"]
        written = F.linear(self.alone(values, head, name), output.weight)  # (1, m, d_model)
        return self.trace[f"{name}.weights"][0, head] * (self.worth[0] @ written[0].T)
