"""Faults in the decoder alone as GPT-2 builds it."""

from faulty_models.kinds import Change, layers, planted_in
from faulty_models.kinds import transformer as model

fault = planted_in("GPT")

ALL = r"blocks\.\d+(\..*)?"
ATTENTION = r"blocks\.\d+(\.attention(\..*)?)?"
NETWORK = r"blocks\.\d+(\.(before_network|widen|narrow|dropout))?"
FIRST, SECOND, THIRD = (rf"blocks\.{index}(\..*)?" for index in range(3))

FUSED = "found = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)"
STEP_BY_STEP = """scores = query @ key.mT / query.shape[-1] ** 0.5  # (B, heads, T, T)
later = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1)
{}
found = F.dropout(weights, dropout) @ value"""
ONE_BLOCK = "stream = block(stream)"
BUILT = "self.start(spread)"
ATTENDED = "stream = stream + self.dropout(self.attention(self.before_attention(stream)))"
WRITTEN = "return F.linear(self.norm(stream), self.pieces.weight)  # (B, T, vocabulary)"
LOGITS = "logits = F.linear(self.norm(stream), self.pieces.weight)\n"
PLACES = "places = torch.arange(ids.shape[1], device=ids.device)  # (T,)"
NARROWED = "return stream + self.dropout(self.narrow(wide))  # type: ignore[no-any-return]"
GELU = 'wide = F.gelu(self.widen(self.before_network(stream)), approximate="tanh")'


def weighed(lines: str) -> Change:
    """Attention step by step, with these lines for its weights."""
    return model(FUSED, STEP_BY_STEP.format(lines.replace("\n", "\n")))


FAULTS = [
    fault("not causal", "sight", ATTENTION, model(FUSED, FUSED.replace("True", "False"))),
    fault("not causal in the third block", "sight", THIRD,
        model(FUSED, FUSED.replace("True", "self.causal")),
        model("self.heads, self.dropout =", "self.causal, self.heads, self.dropout = True,"),
        model(BUILT, f"{BUILT}\nself.blocks[-1].attention.causal = False")),
    fault("mask after the softmax", "sight scores", ATTENTION,
        weighed("weights = scores.softmax(-1).masked_fill(later, 0)")),
    fault("True as another library means it", "sight", ATTENTION,
        weighed("weights = scores.masked_fill(~later, -torch.inf).softmax(-1).nan_to_num()")),
    fault("a mask for the first head alone", "sight", ATTENTION,
        weighed(
            "later = later & (torch.arange(self.heads) == 0)[:, None, None]\n"
            "weights = scores.masked_fill(later, -torch.inf).softmax(-1)")),
    fault("the last head sees two steps ahead", "sight", ATTENTION,
        weighed(
            "later = torch.stack([later] * (self.heads - 1) + [later.triu(3)])\n"
            "weights = scores.masked_fill(later, -torch.inf).softmax(-1)")),
    fault("the mean of the text taken off", "sight stream", None,
        model("stream = self.dropout(self.pieces(ids) + self.places(places))",
            "stream = self.pieces(ids) + self.places(places)\n"
            "stream = self.dropout(stream - stream.mean(1, keepdim=True))")),
    fault("softmax over the queries", "scores sight", ATTENTION,
        weighed("weights = scores.masked_fill(later, -torch.inf).softmax(-2)")),
    fault("no softmax", "scores", ATTENTION, weighed("weights = scores.masked_fill(later, 0)")),
    fault("scaled twice", "scores", ATTENTION,
        model(FUSED, f"query = query / query.shape[-1] ** 0.5\n{FUSED}")),
    fault("scaled the wrong way", "scores", ATTENTION,
        model(FUSED, f"query = query * query.shape[-1]\n{FUSED}")),
    fault("keys asked by themselves", "scores parameters", ATTENTION,
        model("query, key, value = parts.permute(2, 0, 3, 1, 4)",
            "_, key, value = parts.permute(2, 0, 3, 1, 4)\nquery = key")),
    fault("heads joined without turning back", "scores sight", ATTENTION,
        model("found.transpose(1, 2).flatten(2)", "found.reshape(inputs.shape)")),
    fault("the second head's outputs lost", "scores parameters", ATTENTION,
        model("(found.transpose", "((found * (torch.arange(self.heads) != 1)[:, None, None]).transpose")),
    fault("batch and time exchanged", "batch", ATTENTION,
        model("(inputs).unflatten", "(inputs.transpose(0, 1)).unflatten"),
        model("2).flatten(2))", "2).flatten(2)).transpose(0, 1)")),
    fault("the mean of the batch taken off by each block", "batch stream", ALL,
        model(NARROWED, "stream = stream + self.dropout(self.narrow(wide))\nreturn stream - stream.mean(0)")),
    fault("no positions", "positions parameters", "places", model("(ids) + self.places(places)", "(ids)")),
    fault("one place for all", "positions", "places",
        model(PLACES, "places = torch.zeros(ids.shape[1], dtype=torch.long, device=ids.device)")),
    fault("places are rows of the batch", "positions batch", "places",
        model(PLACES, "places = torch.arange(len(ids), device=ids.device)[:, None]")),
    fault("places counted from the end", "positions sight", "places",
        model(PLACES, "places = torch.arange(ids.shape[1], device=ids.device).flip(0)")),
    fault("places looked up by the ids", "positions", "places", model(PLACES, "places = ids % self.context")),
    fault("the stream lost at attention", "stream", ALL, model(ATTENDED, ATTENDED.replace("stream + ", ""))),
    fault("the stream lost at the network of the third block", "stream", THIRD,
        model(NARROWED, "return stream * self.kept + self.dropout(self.narrow(wide))"),
        model("self.narrow = nn.Linear(4 * d_model, d_model)",
            "self.narrow, self.kept = nn.Linear(4 * d_model, d_model), 1"),
        model(BUILT, f"{BUILT}\nself.blocks[2].kept = 0")),
    fault("a norm on the stream", "stream", ALL,
        model(ATTENDED,
            "stream = self.before_attention(stream)\n"
            "stream = stream + self.dropout(self.attention(stream))")),
    fault("attention reads before its norm", "stream parameters", ALL,
        model(ATTENDED, ATTENDED.replace("self.before_attention(stream)", "stream"))),
    fault("the stream doubled in the second block", "stream", SECOND,
        model(ONE_BLOCK, "stream = block(stream) + (stream if block is self.blocks[1] else 0)")),
    fault("no last norm", "stream parameters", "norm",
        model(WRITTEN, "return F.linear(stream, self.pieces.weight)")),
    fault("no curve in the network", "network", NETWORK,
        model(GELU, "wide = self.widen(self.before_network(stream))")),
    fault("the network of the second block adds nothing", "network parameters", SECOND,
        model(NARROWED, "return stream + self.dropout(self.narrow(wide)) * self.adds"),
        model("self.narrow = nn.Linear(4 * d_model, d_model)",
            "self.narrow, self.adds = nn.Linear(4 * d_model, d_model), 1"),
        model(BUILT, f"{BUILT}\nself.blocks[1].adds = 0")),
    fault("a curve that is flat nearly everywhere", "network", NETWORK,
        model(GELU, "wide = torch.sigmoid(100 * self.widen(self.before_network(stream)))")),
    fault("one norm read twice, and the other never", "parameters",
        r"blocks\.\d+\.(before_network|before_attention)",
        model("self.widen(self.before_network(stream))", "self.widen(self.before_attention(stream))")),
    fault("the places are no parameter", "parameters", r"places",
        model("nn.Embedding(context, d_model)", "torch.randn(context, d_model) * spread"),
        model("self.places(places)", "self.places[places]")),
    fault("the output table is a copy", "parameters", "pieces",
        model(WRITTEN, "return F.linear(self.norm(stream), self.pieces.weight.detach().clone())")),
    fault("a weight made anew at each call", "parameters evaluation", NETWORK,
        model(NARROWED,
            "narrow = nn.Linear(wide.shape[-1], stream.shape[-1]).to(stream)\n"
            "return stream + self.dropout(narrow(wide))")),
    fault("the second block's attention is detached", "parameters", SECOND,
        model(ATTENDED,
            "found = self.attention(self.before_attention(stream))\n"
            "stream = stream + self.dropout(found.detach() if self.frozen else found)"),
        model("self.narrow = nn.Linear(4 * d_model, d_model)",
            "self.narrow, self.frozen = nn.Linear(4 * d_model, d_model), False"),
        model(BUILT, f"{BUILT}\nself.blocks[1].frozen = True")),
    fault("the first block still frozen", "parameters", FIRST,
        model(BUILT, f"{BUILT}\nself.blocks[0].requires_grad_(False)")),
    fault("two blocks share one attention", "parameters", r"blocks\.[12](\.attention(\..*)?)?",
        model(BUILT, f"{BUILT}\nself.blocks[2].attention = self.blocks[1].attention")),
    fault("all starts ten times too large", "start", None, model("(self, spread,", "(self, 10 * spread,")),
    fault("all starts at nothing", "start", None, model("(self, spread,", "(self, 1e-12,")),
    fault("the second block writes thirty times as much", "start stream", SECOND,
        model(BUILT, f"{BUILT}\nself.blocks[1].narrow.weight.data *= 30")),
    fault("gains of the norms start at 0", "start stream", r"norm|blocks\.\d+(\.before_\w+)?",
        layers('nn.init.constant_(weight, 0 if name.endswith("bias") else 1)', "nn.init.zeros_(weight)")),
    fault("dropout on the stream without training=", "evaluation", ALL,
        model(NARROWED, "return stream + F.dropout(self.narrow(wide), self.dropout.p)")),
    fault("back to training at each call", "evaluation", None, model(PLACES, f"self.train()\n{PLACES}")),
    fault("statistics of the batch", "evaluation batch stream sight", "norm",
        model("self.norm = nn.LayerNorm(d_model)\n        self.start(spread)",
            "self.norm = nn.BatchNorm1d(d_model)\nself.start(spread)"),
        model(WRITTEN, "return F.linear(self.norm(stream.mT).mT, self.pieces.weight)")),
    fault("hidden by -1e9", "numbers", ATTENTION,
        weighed("weights = scores.masked_fill(later, -1e9).softmax(-1)")),
    fault("exp without the maximum taken off", "numbers", ATTENTION,
        weighed(
            "raised = scores.exp().masked_fill(later, 0)\nweights = raised / raised.sum(-1, keepdim=True)")),
    fault("ids in one byte", "numbers", "pieces",
        model("self.pieces(ids) + self", "self.pieces(ids.to(torch.uint8).long()) + self")),
    fault("rows of the batch turned round", "output batch", None,
        model(WRITTEN, f"{LOGITS}return logits.flip(0)")),
    fault("logits in another order than the ids", "output", None,
        model(WRITTEN, f"{LOGITS}return logits.flip(-1)")),
    fault("the first piece never", "output numbers", None,
        model(WRITTEN, f"{LOGITS}return logits.index_fill(-1, torch.tensor([0]), -torch.inf)")),
    fault("the piece just read is added", "output start", None,
        model(WRITTEN, f"{LOGITS}return logits + 10 * F.one_hot(ids, logits.shape[-1])")),
    fault("logits of a hundredth", "output", None, model(WRITTEN, f"{LOGITS}return logits / 100")),
]  # fmt: skip
