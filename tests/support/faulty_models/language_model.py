"""Faults in the decoder alone that is made of the Transformer's layers."""

from faulty_models.kinds import attention, layers, masks, planted_in, positions
from faulty_models.kinds import transformer as model

fault = planted_in("LanguageModel")

ALL = r"layers\.\d+(\..*)?"
ATTENTION = r"layers\.\d+(\.(self_attention|around_self_attention)(\..*)?)?"
NETWORK = r"layers\.\d+(\.(feed_forward|around_feed_forward)(\..*)?)?"
SECOND, THIRD = (rf"layers\.{index}(\..*)?" for index in (1, 2))
NORMS = r"norm|layers\.\d+(\.around_\w+(\..*)?)?"

MADE = "EncoderLayer(d_model, heads, hidden, dropout, norm_first=True)"
ONE_LAYER = "vectors = layer(vectors, so_far, cache)"
BUILT = "self.word = nn.Linear(d_model, words)"
WRITTEN = "return self.word(self.norm(vectors))  # type: ignore[no-any-return]"
FUSED = "return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)"
ADDED = "outputs: Vectors = inputs + self.dropout(added)  # (B, T, d_model)"
NORMED = "return F.layer_norm(inputs, self.weight.shape, self.weight, self.bias, self.eps)  # (…, d_model)"


def normed(mean: str, variance: str) -> str:
    """The formula of LayerNorm with another mean and another variance."""
    return (
        f"centred = inputs - inputs.{mean}\n"
        f"return self.weight * centred / (inputs.{variance} + self.eps).sqrt() + self.bias"
    )


FAULTS = [
    fault("no mask", "sight", ATTENTION, model(ONE_LAYER, "vectors = layer(vectors, None, cache)")),
    fault("no mask in the second layer", "sight", SECOND,
        model(ONE_LAYER, "vectors = layer(vectors, None if layer is self.layers[1] else so_far, cache)")),
    fault("one step of the future shown", "sight", ATTENTION, masks(".tril(m - n)", ".tril(m - n + 1)")),
    fault("a place hidden from itself", "sight", ATTENTION, masks(".tril(m - n)", ".tril(m - n - 1)")),
    fault("mask transposed", "sight", ATTENTION, masks(".tril(m - n)", ".triu(m - n)")),
    fault("each place sees only itself", "sight", ATTENTION,
        model("so_far = causal(words.shape[1], before + words.shape[1], words.device)  # (1, T, before + T)",
            "so_far = torch.eye(before + words.shape[1], dtype=torch.bool)[None, before:]")),
    fault("the first word hidden from all behind it", "sight", ATTENTION,
        model("for layer, cache in zip(self.layers, of_layers, strict=True):",
            "so_far[:, 1:, 0] = False\nfor layer, cache in zip(self.layers, of_layers, strict=True):")),
    fault("no scale", "scores", ATTENTION,
        attention(FUSED, FUSED.replace("dropout)", "dropout, scale=1.0)"))),
    fault("divided by d_k", "scores", ATTENTION,
        attention(FUSED, FUSED.replace("dropout)", "dropout, scale=1 / query.shape[-1])"))),
    fault("heads and time mixed by a view", "scores sight", ATTENTION,
        attention("return x.transpose(1, 2)\n", "return x.reshape(len(x), self.heads, x.shape[1], -1)\n")),
    fault("keys for values", "scores parameters", ATTENTION,
        attention("F.linear(value, value_weight, value_bias)", "F.linear(value, key_weight, key_bias)")),
    fault("heads joined without turning back", "scores sight", ATTENTION,
        attention("output = output.transpose(1, 2).flatten(2)", "output = output.reshape(query.shape)")),
    fault("one head for all", "scores", ATTENTION, attention("self.heads = heads", "self.heads = 1")),
    fault("every query the same", "scores parameters", ATTENTION,
        attention("F.linear(query,", "F.linear(query * 0,")),
    fault("no positions", "positions", "positions|embedding",
        model("self.positions(self.embedding(words), offset=before)", "self.embedding(words)")),
    fault("positions added twice", "positions", "positions",
        positions("self.dropout(inputs + rows)", "self.dropout(inputs + rows + rows)")),
    fault("all stand at the first place", "positions", "positions", positions("inputs.shape[-2])", "1)")),
    fault("places counted along the batch", "positions batch", "positions",
        positions("inputs.shape[-2]).to(inputs.dtype)", "len(inputs)).to(inputs.dtype)[:, None]")),
    fault("the first place is the size of the batch", "positions batch", "positions",
        model("offset=before)", "offset=before + len(words))")),
    fault("no residual connections", "stream", ALL, layers(ADDED, "outputs: Vectors = self.dropout(added)")),
    fault("the stream lost in the second layer", "stream", SECOND,
        model(ONE_LAYER,
            "before_it = vectors if layer is self.layers[1] else 0\n"
            "vectors = layer(vectors, so_far, cache) - before_it")),
    fault("a norm on the stream", "stream", ALL, layers("return outputs if self.norm_first else", "return")),
    fault("what was normed is added to", "stream", ALL,
        layers("added = block(self.norm(inputs) if self.norm_first else inputs)",
            "inputs = self.norm(inputs)\nadded = block(inputs)")),
    fault("the stream doubled at each step", "stream", ALL,
        layers(ADDED, "outputs: Vectors = inputs + inputs + self.dropout(added)")),
    fault("no last norm", "stream parameters", "norm", model(WRITTEN, "return self.word(vectors)")),
    fault("normed over time", "stream sight", NORMS,
        layers(NORMED, normed("mean(1, keepdim=True)", "var(1, keepdim=True, unbiased=False)"))),
    fault("normed over the batch", "stream batch", NORMS,
        layers(NORMED, normed("mean(0, keepdim=True)", "var(0, keepdim=True, unbiased=False)"))),
    fault("normed by all numbers of the batch", "stream batch sight", NORMS,
        layers(NORMED, normed("mean()", "var()"))),
    fault("no unit of the networks ever fires", "network", NETWORK,
        layers("self.narrow = nn.Linear(hidden, d_model)",
            "self.narrow = nn.Linear(hidden, d_model)\nnn.init.constant_(self.widen.bias, -10.0)")),
    fault("no unit of the second network ever fires", "network", SECOND,
        model(BUILT, f"{BUILT}\nnn.init.constant_(self.layers[1].feed_forward.widen.bias, -10.0)")),
    fault("no ReLU", "network", NETWORK, layers("(inputs).relu())", "(inputs))")),
    fault("layers in a plain list", "parameters", r"layers(\..*)?",
        model(f"self.layers = nn.ModuleList(\n            {MADE} for _ in range(layers)\n        )",
            f"self.layers = [\n    {MADE} for _ in range(layers)\n]")),
    fault("one layer three times", "parameters", ALL,
        model(f"{MADE} for _ in range(layers)\n", f"[{MADE}] * layers\n")),
    fault("the third layer reads a detached stream", "parameters", r"layers\.[12](\..*)?",
        model(ONE_LAYER,
            "read = vectors.detach() if layer is self.layers[2] else vectors\n"
            "vectors = layer(read, so_far, cache)")),
    fault("no gradient through the second layer", "parameters", r"layers\.[01](\..*)?",
        model(ONE_LAYER,
            "with torch.set_grad_enabled(torch.is_grad_enabled() and layer is not self.layers[1]):\n"
            "    vectors = layer(vectors, so_far, cache)")),
    fault("one word of the output is far ahead", "start output", "word",
        model(BUILT, f"{BUILT}\nnn.init.constant_(self.word.bias[5:6], 10.0)")),
    fault("the queries and keys of the third layer start ten times too large", "start scores", THIRD,
        model(BUILT, f"{BUILT}\nself.layers[2].self_attention.in_proj_weight.data[:64] *= 10")),
    fault("all weights of queries, keys and values start the same", "start", ATTENTION,
        attention("nn.init.xavier_uniform_(self.in_proj_weight)",
            "nn.init.constant_(self.in_proj_weight, 0.05)")),
    fault("the output starts at nothing but the same for all words", "start", "word",
        model(BUILT, f"{BUILT}\nnn.init.constant_(self.word.weight, 0.1)")),
    fault("dropout without training=", "evaluation", NETWORK,
        layers("self.dropout(self.widen(inputs).relu())",
            "F.dropout(self.widen(inputs).relu(), self.dropout.p)")),
    fault("weights of attention always dropped", "evaluation", ATTENTION,
        attention("dropout=self.dropout if self.training else 0.0", "dropout=self.dropout")),
    fault("scaled down once more in evaluation", "evaluation", ALL,
        layers(ADDED,
            "share = 1 if self.training else 1 - self.dropout.p\n"
            "outputs: Vectors = inputs + self.dropout(added) * share")),
    fault("places from 0 again with a cache", "cache positions", "positions",
        model("offset=before)", "offset=0)")),
    fault("the cache forgets the last word", "cache", ATTENTION,
        attention("= keys, values", "= keys[..., :-1, :], values[..., :-1, :]")),
    fault("the last word remembered twice", "cache", ATTENTION,
        attention("self.keys, self.values = keys, values",
            "self.keys = torch.cat([keys, keys[..., -1:, :]], dim=-2)\n"
            "self.values = torch.cat([values, values[..., -1:, :]], dim=-2)")),
    fault("the cache remembers another text", "cache batch", ATTENTION,
        attention("torch.cat([self.keys,", "torch.cat([self.keys.roll(1, 0),")),
    fault("new values before old ones", "cache", ATTENTION,
        attention("([self.values, values],", "([values, self.values],")),
    fault("probabilities for logits", "output", None,
        model(WRITTEN, "return self.word(self.norm(vectors)).softmax(-1)")),
    fault("logits one place late", "output sight", None,
        model(WRITTEN, "return self.word(self.norm(vectors)).roll(1, dims=1)")),
    fault("no logit below zero", "output", None,
        model(WRITTEN, "return self.word(self.norm(vectors)).relu()")),
]  # fmt: skip
