"""Faults in the decoder alone that is made of the Transformer's layers."""

from functools import partial

from faulty_models.kinds import Change, Fault

fault = partial(Fault, model="LanguageModel")
model = partial(Change, "attnlab/transformer.py")
layers = partial(Change, "attnlab/layers.py")
attention = partial(Change, "attnlab/attention.py")
masks = partial(Change, "attnlab/masks.py")
positions = partial(Change, "attnlab/positions.py")

ALL = r"layers\.\d+(\..*)?"
ATTENTION = r"layers\.\d+(\.(self_attention|around_self_attention)(\..*)?)?"
NETWORK = r"layers\.\d+(\.(feed_forward|around_feed_forward)(\..*)?)?"
FIRST, SECOND, THIRD = (rf"layers\.{index}(\..*)?" for index in range(3))
NORMS = r"norm|layers\.\d+(\.around_\w+(\..*)?)?"

MADE = "EncoderLayer(d_model, heads, hidden, dropout, norm_first=True)"
ONE_LAYER = "vectors = layer(vectors, so_far, cache)"
BUILT = "        self.word = nn.Linear(d_model, words)\n"
WRITTEN = "return self.word(self.norm(vectors))  # type: ignore[no-any-return]"
FUSED = "return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)"
ADDED = "outputs: Vectors = inputs + self.dropout(added)  # (B, T, d_model)"
NORMED = "return F.layer_norm(inputs, self.weight.shape, self.weight, self.bias, self.eps)  # (…, d_model)"


def normed(mean: str, variance: str) -> str:
    """The formula of LayerNorm with another mean and another variance."""
    return (
        f"centred = inputs - inputs.{mean}\n"
        f"        return self.weight * centred / (inputs.{variance} + self.eps).sqrt() + self.bias"
    )


FAULTS = [
    # ---- sight ----
    fault(
        "no mask",
        change=model(ONE_LAYER, "vectors = layer(vectors, None, cache)"),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "no mask in the second layer",
        change=model(
            ONE_LAYER,
            "vectors = layer(vectors, None if layer is self.layers[1] else so_far, cache)",
        ),
        where=SECOND, inquiry="sight", shows="logits",
    ),
    fault(
        "one step of the future shown",
        change=masks(".tril(m - n)", ".tril(m - n + 1)"),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "a place hidden from itself",
        change=masks(".tril(m - n)", ".tril(m - n - 1)"),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "mask transposed",
        change=masks(".tril(m - n)", ".triu(m - n)"),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "each place sees only itself",
        change=model(
            "so_far = causal(words.shape[1], before + words.shape[1], words.device)  # (1, T, before + T)",
            "so_far = torch.eye(before + words.shape[1], dtype=torch.bool)[None, before:]",
        ),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "the first word hidden from all behind it",
        change=model(
            "        for layer, cache in zip(self.layers, of_layers, strict=True):",
            "        so_far[:, 1:, 0] = False\n"
            "        for layer, cache in zip(self.layers, of_layers, strict=True):",
        ),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    # ---- scores ----
    fault(
        "no scale",
        change=attention(FUSED, FUSED.replace("dropout)", "dropout, scale=1.0)")),
        where=ATTENTION, inquiry="scores", shows="logits",
    ),
    fault(
        "divided by d_k",
        change=attention(FUSED, FUSED.replace("dropout)", "dropout, scale=1 / query.shape[-1])")),
        where=ATTENTION, inquiry="scores", shows="logits",
    ),
    fault(
        "heads and time mixed by a view",
        change=attention(
            "return x.transpose(1, 2)\n", "return x.reshape(len(x), self.heads, x.shape[1], -1)\n"
        ),
        where=ATTENTION, inquiry="scores", also_right=("sight",), shows="logits",
    ),
    fault(
        "keys for values",
        change=attention(
            "F.linear(value, value_weight, value_bias)",
            "F.linear(value, key_weight, key_bias)",
        ),
        where=ATTENTION, inquiry="scores", also_right=("parameters",), shows="logits",
    ),
    fault(
        "heads joined without turning back",
        change=attention(
            "output = output.transpose(1, 2).flatten(2)",
            "output = output.reshape(query.shape)",
        ),
        where=ATTENTION, inquiry="scores", also_right=("sight",), shows="logits",
    ),
    fault(
        "one head for all",
        change=attention("self.heads = heads", "self.heads = 1"),
        where=ATTENTION, inquiry="scores", shows="logits",
    ),
    fault(
        "every query the same",
        change=attention(
            "F.linear(query, query_weight, query_bias)", "F.linear(query * 0, query_weight, query_bias)"
        ),
        where=ATTENTION, inquiry="scores", also_right=("parameters",), shows="logits",
    ),
    # ---- positions ----
    fault(
        "no positions",
        change=model(
            "vectors = self.positions(self.embedding(words), offset=before)",
            "vectors = self.embedding(words)",
        ),
        where="positions|embedding", inquiry="positions", shows="logits",
    ),
    fault(
        "positions added twice",
        change=positions("self.dropout(inputs + rows)", "self.dropout(inputs + rows + rows)"),
        where="positions", inquiry="positions", shows="logits",
    ),
    fault(
        "all stand at the first place",
        change=positions("rows = self.rows(offset, inputs.shape[-2])", "rows = self.rows(offset, 1)"),
        where="positions", inquiry="positions", shows="logits",
    ),
    fault(
        "places counted along the batch",
        change=positions(
            "rows = self.rows(offset, inputs.shape[-2]).to(inputs.dtype)",
            "rows = self.rows(offset, len(inputs)).to(inputs.dtype)[:, None]",
        ),
        where="positions", inquiry="positions", also_right=("batch",), shows="logits",
    ),
    fault(
        "the first place is the size of the batch",
        change=model("offset=before)", "offset=before + len(words))"),
        where="positions", inquiry="positions", also_right=("batch",), shows="logits",
    ),
    # ---- stream ----
    fault(
        "no residual connections",
        change=layers(ADDED, "outputs: Vectors = self.dropout(added)"),
        where=ALL, inquiry="stream", shows="logits",
    ),
    fault(
        "the stream lost in the second layer",
        change=model(
            ONE_LAYER,
            "before_it = vectors if layer is self.layers[1] else 0\n"
            "            vectors = layer(vectors, so_far, cache) - before_it",
        ),
        where=SECOND, inquiry="stream", shows="logits",
    ),
    fault(
        "a norm on the stream",
        change=layers(
            "return outputs if self.norm_first else self.norm(outputs)",
            "return self.norm(outputs)",
        ),
        where=ALL, inquiry="stream", shows="logits",
    ),
    fault(
        "what was normed is added to",
        change=layers(
            "added = block(self.norm(inputs) if self.norm_first else inputs)",
            "inputs = self.norm(inputs)\n        added = block(inputs)",
        ),
        where=ALL, inquiry="stream", shows="logits",
    ),
    fault(
        "the stream doubled at each step",
        change=layers(ADDED, "outputs: Vectors = inputs + inputs + self.dropout(added)"),
        where=ALL, inquiry="stream", shows="logits",
    ),
    fault(
        "no last norm",
        change=model(WRITTEN, "return self.word(vectors)"),
        where="norm", inquiry="stream", also_right=("parameters",), shows="logits",
    ),
    fault(
        "normed over time",
        change=layers(NORMED, normed("mean(1, keepdim=True)", "var(1, keepdim=True, unbiased=False)")),
        where=NORMS, inquiry="stream", also_right=("sight",), shows="logits",
    ),
    fault(
        "normed over the batch",
        change=layers(NORMED, normed("mean(0, keepdim=True)", "var(0, keepdim=True, unbiased=False)")),
        where=NORMS, inquiry="stream", also_right=("batch",), shows="logits",
    ),
    fault(
        "normed by all numbers of the batch",
        change=layers(NORMED, normed("mean()", "var()")),
        where=NORMS, inquiry="stream", also_right=("batch", "sight"), shows="logits",
    ),
    # ---- network ----
    fault(
        "no unit of the networks ever fires",
        change=layers(
            "        self.narrow = nn.Linear(hidden, d_model)\n",
            "        self.narrow = nn.Linear(hidden, d_model)\n"
            "        nn.init.constant_(self.widen.bias, -10.0)\n",
        ),
        where=NETWORK, inquiry="network", shows="start",
    ),
    fault(
        "no unit of the second network ever fires",
        change=model(
            BUILT,
            f"{BUILT}        nn.init.constant_(self.layers[1].feed_forward.widen.bias, -10.0)\n",
        ),
        where=SECOND, inquiry="network", shows="start",
    ),
    fault(
        "no ReLU",
        change=layers("self.dropout(self.widen(inputs).relu())", "self.dropout(self.widen(inputs))"),
        where=NETWORK, inquiry="network", shows="logits",
    ),
    # ---- parameters ----
    fault(
        "layers in a plain list",
        change=model(
            f"self.layers = nn.ModuleList(\n            {MADE} for _ in range(layers)\n        )",
            f"self.layers = [\n            {MADE} for _ in range(layers)\n        ]",
        ),
        where=r"layers(\..*)?", inquiry="parameters", shows="parameters",
    ),
    fault(
        "one layer three times",
        change=model(
            f"{MADE} for _ in range(layers)\n",
            f"[{MADE}] * layers\n",
        ),
        where=ALL, inquiry="parameters", shows="parameters",
    ),
    fault(
        "the third layer reads a detached stream",
        change=model(
            ONE_LAYER,
            "read = vectors.detach() if layer is self.layers[2] else vectors\n"
            "            vectors = layer(read, so_far, cache)",
        ),
        where=r"layers\.[12](\..*)?", inquiry="parameters", shows="gradients",
    ),
    fault(
        "no gradient through the second layer",
        change=model(
            ONE_LAYER,
            "with torch.set_grad_enabled(torch.is_grad_enabled() and layer is not self.layers[1]):\n"
            "                vectors = layer(vectors, so_far, cache)",
        ),
        where=r"layers\.[01](\..*)?", inquiry="parameters", shows="gradients",
    ),
    # ---- start ----
    fault(
        "one word of the output is far ahead",
        change=model(BUILT, f"{BUILT}        nn.init.constant_(self.word.bias[5:6], 10.0)\n"),
        where="word", inquiry="start", also_right=("output",), shows="start",
    ),
    fault(
        "the queries and keys of the third layer start ten times too large",
        change=model(
            BUILT, f"{BUILT}        self.layers[2].self_attention.in_proj_weight.data[:64] *= 10\n"
        ),
        where=THIRD, inquiry="start", also_right=("scores",), shows="start",
    ),
    fault(
        "all weights of queries, keys and values start the same",
        change=attention(
            "nn.init.xavier_uniform_(self.in_proj_weight)", "nn.init.constant_(self.in_proj_weight, 0.05)"
        ),
        where=ATTENTION, inquiry="start", shows="start",
    ),
    fault(
        "the output starts at nothing but the same for all words",
        change=model(BUILT, f"{BUILT}        nn.init.constant_(self.word.weight, 0.1)\n"),
        where="word", inquiry="start", shows="start",
    ),
    # ---- evaluation ----
    fault(
        "dropout without training=",
        change=layers(
            "self.dropout(self.widen(inputs).relu())", "F.dropout(self.widen(inputs).relu(), self.dropout.p)"
        ),
        where=NETWORK, inquiry="evaluation", shows="two runs",
    ),
    fault(
        "weights of attention always dropped",
        change=attention("dropout=self.dropout if self.training else 0.0", "dropout=self.dropout"),
        where=ATTENTION, inquiry="evaluation", shows="two runs",
    ),
    fault(
        "scaled down once more in evaluation",
        change=layers(
            ADDED,
            "share = 1 if self.training else 1 - self.dropout.p\n"
            "        outputs: Vectors = inputs + self.dropout(added) * share",
        ),
        where=ALL, inquiry="evaluation", shows="logits",
    ),
    # ---- cache ----
    fault(
        "places from 0 again with a cache",
        change=model("offset=before)", "offset=0)"),
        where="positions", inquiry="cache", also_right=("positions",), shows="cache",
    ),
    fault(
        "the cache forgets the last word",
        change=attention(
            "self.keys, self.values = keys, values\n",
            "self.keys, self.values = keys[..., :-1, :], values[..., :-1, :]\n",
        ),
        where=ATTENTION, inquiry="cache", shows="cache",
    ),
    fault(
        "the last word remembered twice",
        change=attention(
            "self.keys, self.values = keys, values\n",
            "self.keys = torch.cat([keys, keys[..., -1:, :]], dim=-2)\n"
            "        self.values = torch.cat([values, values[..., -1:, :]], dim=-2)\n",
        ),
        where=ATTENTION, inquiry="cache", shows="cache",
    ),
    fault(
        "the cache remembers another text",
        change=attention(
            "keys = torch.cat([self.keys, keys], dim=-2)",
            "keys = torch.cat([self.keys.roll(1, 0), keys], dim=-2)",
        ),
        where=ATTENTION, inquiry="cache", also_right=("batch",), shows="cache",
    ),
    fault(
        "new values before old ones",
        change=attention(
            "values = torch.cat([self.values, values], dim=-2)",
            "values = torch.cat([values, self.values], dim=-2)",
        ),
        where=ATTENTION, inquiry="cache", shows="cache",
    ),
    # ---- output ----
    fault(
        "probabilities for logits",
        change=model(WRITTEN, "return self.word(self.norm(vectors)).softmax(-1)"),
        where=None, inquiry="output", shows="logits",
    ),
    fault(
        "logits one place late",
        change=model(WRITTEN, "return self.word(self.norm(vectors)).roll(1, dims=1)"),
        where=None, inquiry="output", also_right=("sight",), shows="logits",
    ),
    fault(
        "no logit below zero",
        change=model(WRITTEN, "return self.word(self.norm(vectors)).relu()"),
        where=None, inquiry="output", shows="logits",
    ),
]  # fmt: skip
