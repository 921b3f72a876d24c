"""Faults in the decoder alone as GPT-2 builds it."""

from functools import partial

from faulty_models.kinds import Change, Fault

fault = partial(Fault, model="GPT")
model = partial(Change, "attnlab/transformer.py")
layers = partial(Change, "attnlab/layers.py")

ALL = r"blocks\.\d+(\..*)?"
ATTENTION = r"blocks\.\d+(\.attention(\..*)?)?"
NETWORK = r"blocks\.\d+(\.(before_network|widen|narrow|dropout))?"
FIRST, SECOND, THIRD = (rf"blocks\.{index}(\..*)?" for index in range(3))

FUSED = "found = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)"
STEP_BY_STEP = (
    "scores = query @ key.mT / query.shape[-1] ** 0.5  # (B, heads, T, T)\n"
    "        later = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1)\n"
    "        {}\n"
    "        found = F.dropout(weights, dropout) @ value"
)
ONE_BLOCK = "            stream = block(stream)\n"
BUILT = "        self.start(spread)\n"
ATTENDED = "stream = stream + self.dropout(self.attention(self.before_attention(stream)))"
WRITTEN = "return F.linear(self.norm(stream), self.pieces.weight)  # (B, T, vocabulary)"
LOGITS = "logits = F.linear(self.norm(stream), self.pieces.weight)\n        "
PLACES = "places = torch.arange(ids.shape[1], device=ids.device)  # (T,)"
NARROWED = "return stream + self.dropout(self.narrow(wide))  # type: ignore[no-any-return]"
GELU = 'wide = F.gelu(self.widen(self.before_network(stream)), approximate="tanh")'


def weighed(lines: str) -> Change:
    """Attention step by step, with these lines for its weights."""
    return model(FUSED, STEP_BY_STEP.format(lines.replace("\n", "\n        ")))


FAULTS = [
    # ---- sight ----
    fault(
        "not causal",
        change=model(FUSED, FUSED.replace("True", "False")),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "not causal in the third block",
        change=model(FUSED, FUSED.replace("True", "self.causal")),
        more=(
            model(
                "self.heads, self.dropout = heads, dropout",
                "self.causal, self.heads, self.dropout = True, heads, dropout",
            ),
            model(BUILT, f"{BUILT}        self.blocks[-1].attention.causal = False\n"),
        ),
        where=THIRD, inquiry="sight", shows="logits",
    ),
    fault(
        "mask after the softmax",
        change=weighed("weights = scores.softmax(-1).masked_fill(later, 0)"),
        where=ATTENTION, inquiry="sight", also_right=("scores",), shows="logits",
    ),
    fault(
        "True as another library means it",
        change=weighed("weights = scores.masked_fill(~later, -torch.inf).softmax(-1).nan_to_num()"),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "a mask for the first head alone",
        change=weighed(
            "later = later & (torch.arange(self.heads) == 0)[:, None, None]\n"
            "weights = scores.masked_fill(later, -torch.inf).softmax(-1)"
        ),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "the last head sees two steps ahead",
        change=weighed(
            "later = torch.stack([later] * (self.heads - 1) + [later.triu(3)])\n"
            "weights = scores.masked_fill(later, -torch.inf).softmax(-1)"
        ),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "the mean of the text taken off",
        change=model(
            "stream = self.dropout(self.pieces(ids) + self.places(places))",
            "stream = self.pieces(ids) + self.places(places)\n"
            "        stream = self.dropout(stream - stream.mean(1, keepdim=True))",
        ),
        where=None, inquiry="sight", also_right=("stream",), shows="logits",
    ),
    # ---- scores ----
    fault(
        "softmax over the queries",
        change=weighed("weights = scores.masked_fill(later, -torch.inf).softmax(-2)"),
        where=ATTENTION, inquiry="scores", also_right=("sight",), shows="logits",
    ),
    fault(
        "no softmax",
        change=weighed("weights = scores.masked_fill(later, 0)"),
        where=ATTENTION, inquiry="scores", shows="logits",
    ),
    fault(
        "scaled twice",
        change=model(FUSED, f"query = query / query.shape[-1] ** 0.5\n        {FUSED}"),
        where=ATTENTION, inquiry="scores", shows="logits",
    ),
    fault(
        "scaled the wrong way",
        change=model(FUSED, f"query = query * query.shape[-1]\n        {FUSED}"),
        where=ATTENTION, inquiry="scores", shows="logits",
    ),
    fault(
        "keys asked by themselves",
        change=model(
            "query, key, value = parts.permute(2, 0, 3, 1, 4)",
            "_, key, value = parts.permute(2, 0, 3, 1, 4)\n        query = key",
        ),
        where=ATTENTION, inquiry="scores", also_right=("parameters",), shows="logits",
    ),
    fault(
        "heads joined without turning back",
        change=model("found.transpose(1, 2).flatten(2)", "found.reshape(inputs.shape)"),
        where=ATTENTION, inquiry="scores", also_right=("sight",), shows="logits",
    ),
    fault(
        "the second head's outputs lost",
        change=model(
            "self.write(found.transpose(1, 2).flatten(2))",
            "self.write((found * (torch.arange(self.heads) != 1)[:, None, None]).transpose(1, 2).flatten(2))",
        ),
        where=ATTENTION, inquiry="scores", also_right=("parameters",), shows="logits",
    ),
    # ---- batch ----
    fault(
        "batch and time exchanged",
        change=model(
            "parts = self.project(inputs).unflatten", "parts = self.project(inputs.transpose(0, 1)).unflatten"
        ),
        more=(
            model(
                "self.write(found.transpose(1, 2).flatten(2))",
                "self.write(found.transpose(1, 2).flatten(2)).transpose(0, 1)",
            ),
        ),
        where=ATTENTION, inquiry="batch", shows="logits",
    ),
    fault(
        "the mean of the batch taken off by each block",
        change=model(
            NARROWED,
            "stream = stream + self.dropout(self.narrow(wide))\n        return stream - stream.mean(0)",
        ),
        where=ALL, inquiry="batch", also_right=("stream",), shows="logits",
    ),
    # ---- positions ----
    fault(
        "no positions",
        change=model("self.pieces(ids) + self.places(places)", "self.pieces(ids)"),
        where="places", inquiry="positions", also_right=("parameters",), shows="logits",
    ),
    fault(
        "one place for all",
        change=model(PLACES, "places = torch.zeros(ids.shape[1], dtype=torch.long, device=ids.device)"),
        where="places", inquiry="positions", shows="logits",
    ),
    fault(
        "places are rows of the batch",
        change=model(PLACES, "places = torch.arange(len(ids), device=ids.device)[:, None]"),
        where="places", inquiry="positions", also_right=("batch",), shows="logits",
    ),
    fault(
        "places counted from the end",
        change=model(PLACES, "places = torch.arange(ids.shape[1], device=ids.device).flip(0)"),
        where="places", inquiry="positions", also_right=("sight",), shows="logits",
    ),
    fault(
        "places looked up by the ids",
        change=model(PLACES, "places = ids % self.context"),
        where="places", inquiry="positions", shows="logits",
    ),
    # ---- stream ----
    fault(
        "the stream lost at attention",
        change=model(ATTENDED, ATTENDED.replace("stream + ", "")),
        where=ALL, inquiry="stream", shows="logits",
    ),
    fault(
        "the stream lost at the network of the third block",
        change=model(NARROWED, "return stream * self.kept + self.dropout(self.narrow(wide))"),
        more=(
            model(
                "        self.narrow = nn.Linear(4 * d_model, d_model)\n",
                "        self.narrow, self.kept = nn.Linear(4 * d_model, d_model), 1\n",
            ),
            model(BUILT, f"{BUILT}        self.blocks[2].kept = 0\n"),
        ),
        where=THIRD, inquiry="stream", shows="logits",
    ),
    fault(
        "a norm on the stream",
        change=model(
            ATTENDED,
            "stream = self.before_attention(stream)\n"
            "        stream = stream + self.dropout(self.attention(stream))",
        ),
        where=ALL, inquiry="stream", shows="logits",
    ),
    fault(
        "attention reads before its norm",
        change=model(ATTENDED, ATTENDED.replace("self.before_attention(stream)", "stream")),
        where=ALL, inquiry="stream", also_right=("parameters",), shows="logits",
    ),
    fault(
        "the stream doubled in the second block",
        change=model(
            ONE_BLOCK,
            "            stream = block(stream) + (stream if block is self.blocks[1] else 0)\n",
        ),
        where=SECOND, inquiry="stream", shows="logits",
    ),
    fault(
        "no last norm",
        change=model(WRITTEN, "return F.linear(stream, self.pieces.weight)"),
        where="norm", inquiry="stream", also_right=("parameters",), shows="logits",
    ),
    # ---- network ----
    fault(
        "no curve in the network",
        change=model(GELU, "wide = self.widen(self.before_network(stream))"),
        where=NETWORK, inquiry="network", shows="logits",
    ),
    fault(
        "the network of the second block adds nothing",
        change=model(NARROWED, "return stream + self.dropout(self.narrow(wide)) * self.adds"),
        more=(
            model(
                "        self.narrow = nn.Linear(4 * d_model, d_model)\n",
                "        self.narrow, self.adds = nn.Linear(4 * d_model, d_model), 1\n",
            ),
            model(BUILT, f"{BUILT}        self.blocks[1].adds = 0\n"),
        ),
        where=SECOND, inquiry="network", also_right=("parameters",), shows="logits",
    ),
    fault(
        "a curve that is flat nearly everywhere",
        change=model(GELU, "wide = torch.sigmoid(100 * self.widen(self.before_network(stream)))"),
        where=NETWORK, inquiry="network", shows="logits",
    ),
    # ---- parameters ----
    fault(
        "one norm read twice, and the other never",
        change=model("self.widen(self.before_network(stream))", "self.widen(self.before_attention(stream))"),
        where=r"blocks\.\d+\.(before_network|before_attention)", inquiry="parameters", shows="gradients",
    ),
    fault(
        "the places are no parameter",
        change=model(
            "self.places = nn.Embedding(context, d_model)",
            "self.places = torch.randn(context, d_model) * spread",
        ),
        more=(model("self.places(places)", "self.places[places]"),),
        where=r"places", inquiry="parameters", shows="parameters",
    ),
    fault(
        "the output table is a copy",
        change=model(WRITTEN, "return F.linear(self.norm(stream), self.pieces.weight.detach().clone())"),
        where="pieces", inquiry="parameters", shows="gradients",
    ),
    fault(
        "a weight made anew at each call",
        change=model(
            NARROWED,
            "narrow = nn.Linear(wide.shape[-1], stream.shape[-1]).to(stream)\n"
            "        return stream + self.dropout(narrow(wide))",
        ),
        where=NETWORK, inquiry="parameters", also_right=("evaluation",), shows="two runs",
    ),
    fault(
        "the second block's attention is detached",
        change=model(
            ATTENDED,
            "found = self.attention(self.before_attention(stream))\n"
            "        stream = stream + self.dropout(found.detach() if self.frozen else found)",
        ),
        more=(
            model(
                "        self.narrow = nn.Linear(4 * d_model, d_model)\n",
                "        self.narrow, self.frozen = nn.Linear(4 * d_model, d_model), False\n",
            ),
            model(BUILT, f"{BUILT}        self.blocks[1].frozen = True\n"),
        ),
        where=SECOND, inquiry="parameters", shows="gradients",
    ),
    fault(
        "the first block still frozen",
        change=model(BUILT, f"{BUILT}        self.blocks[0].requires_grad_(False)\n"),
        where=FIRST, inquiry="parameters", shows="gradients",
    ),
    fault(
        "two blocks share one attention",
        change=model(BUILT, f"{BUILT}        self.blocks[2].attention = self.blocks[1].attention\n"),
        where=r"blocks\.[12](\.attention(\..*)?)?", inquiry="parameters", shows="parameters",
    ),
    # ---- start ----
    fault(
        "all starts ten times too large",
        change=model("start(self, spread, len(self.blocks))", "start(self, 10 * spread, len(self.blocks))"),
        where=None, inquiry="start", shows="start",
    ),
    fault(
        "all starts at nothing",
        change=model("start(self, spread, len(self.blocks))", "start(self, 1e-12, len(self.blocks))"),
        where=None, inquiry="start", shows="start",
    ),
    fault(
        "the second block writes thirty times as much",
        change=model(BUILT, f"{BUILT}        self.blocks[1].narrow.weight.data *= 30\n"),
        where=SECOND, inquiry="start", also_right=("stream",), shows="start",
    ),
    fault(
        "gains of the norms start at 0",
        change=layers(
            'nn.init.constant_(weight, 0 if name.endswith("bias") else 1)',
            "nn.init.zeros_(weight)",
        ),
        where=r"norm|blocks\.\d+(\.before_\w+)?", inquiry="start", also_right=("stream",), shows="start",
    ),
    # ---- evaluation ----
    fault(
        "dropout on the stream without training=",
        change=model(NARROWED, "return stream + F.dropout(self.narrow(wide), self.dropout.p)"),
        where=ALL, inquiry="evaluation", shows="two runs",
    ),
    fault(
        "back to training at each call",
        change=model(PLACES, f"self.train()\n        {PLACES}"),
        where=None, inquiry="evaluation", shows="two runs",
    ),
    fault(
        "statistics of the batch",
        change=model(
            "        self.norm = nn.LayerNorm(d_model)\n        self.start(spread)\n",
            "        self.norm = nn.BatchNorm1d(d_model)\n        self.start(spread)\n",
        ),
        more=(model(WRITTEN, "return F.linear(self.norm(stream.mT).mT, self.pieces.weight)"),),
        where="norm", inquiry="evaluation", also_right=("batch", "stream", "sight"), shows="logits",
    ),
    # ---- numbers ----
    fault(
        "hidden by -1e9",
        change=weighed("weights = scores.masked_fill(later, -1e9).softmax(-1)"),
        where=ATTENTION, inquiry="numbers", shows="half precision",
    ),
    fault(
        "exp without the maximum taken off",
        change=weighed(
            "raised = scores.exp().masked_fill(later, 0)\nweights = raised / raised.sum(-1, keepdim=True)",
        ),
        where=ATTENTION, inquiry="numbers", shows="large numbers",
    ),
    fault(
        "ids in one byte",
        change=model("self.pieces(ids) + self", "self.pieces(ids.to(torch.uint8).long()) + self"),
        where="pieces", inquiry="numbers", shows="logits",
    ),
    # ---- output ----
    fault(
        "rows of the batch turned round",
        change=model(WRITTEN, f"{LOGITS}return logits.flip(0)"),
        where=None, inquiry="output", also_right=("batch",), shows="logits",
    ),
    fault(
        "logits in another order than the ids",
        change=model(WRITTEN, f"{LOGITS}return logits.flip(-1)"),
        where=None, inquiry="output", shows="logits",
    ),
    fault(
        "the first piece never",
        change=model(WRITTEN, f"{LOGITS}return logits.index_fill(-1, torch.tensor([0]), -torch.inf)"),
        where=None, inquiry="output", also_right=("numbers",), shows="logits",
    ),
    fault(
        "the piece just read is added",
        change=model(WRITTEN, f"{LOGITS}return logits + 10 * F.one_hot(ids, logits.shape[-1])"),
        where=None, inquiry="output", also_right=("start",), shows="logits",
    ),
    fault(
        "logits of a hundredth",
        change=model(WRITTEN, f"{LOGITS}return logits / 100"),
        where=None, inquiry="output", shows="logits",
    ),
]  # fmt: skip
