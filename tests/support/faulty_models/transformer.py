"""Faults in the Transformer that reads one sequence and writes another."""

from functools import partial

from faulty_models.kinds import Change, Fault

fault = partial(Fault, model="Transformer")
model = partial(Change, "attnlab/transformer.py")
layers = partial(Change, "attnlab/layers.py")
attention = partial(Change, "attnlab/attention.py")
masks = partial(Change, "attnlab/masks.py")

ENCODER, DECODER = r"encoder(\..*)?", r"decoder(\..*)?"
CROSS = r"decoder(\.\d+(\.(cross_attention|around_cross_attention)(\..*)?)?)?"

BUILT = "        self.word = nn.Linear(d_model, target_words)\n"
READ_ON = "vectors = layer(vectors, mask)"
WRITE_ON = "vectors = layer(vectors, memory, so_far, memory_mask)"
LOOKED = "self.cross_attention(x, memory, mask=memory_mask, need_weights=False)[0]"
FORWARD = "return self.decode(previous, self.encode(source, mask), mask)"
WRITTEN = "return self.word(self.decoder_norm(vectors))  # type: ignore[no-any-return]"

FAULTS = [
    # ---- sight ----
    fault(
        "no mask in the decoder",
        change=model(WRITE_ON, "vectors = layer(vectors, memory, None, memory_mask)"),
        where=DECODER, inquiry="sight", shows="logits",
    ),
    fault(
        "no mask in the decoder's first layer",
        change=model(
            WRITE_ON,
            "vectors = layer(vectors, memory, None if layer is self.decoder[0] else so_far, memory_mask)",
        ),
        where=r"decoder\.0(\..*)?", inquiry="sight", shows="logits",
    ),
    fault(
        "the decoder reads itself in place of the memory",
        change=layers(LOOKED, "self.cross_attention(x, mask=mask, need_weights=False)[0]"),
        where=rf"{CROSS}|{ENCODER}", inquiry="sight", also_right=("parameters",), shows="logits",
    ),
    fault(
        "the decoder looks at what it is about to write",
        change=layers(
            LOOKED,
            "self.cross_attention(x, torch.cat([memory, inputs], 1), need_weights=False)[0]",
        ),
        where=CROSS, inquiry="sight", also_right=("padding",), shows="logits",
    ),
    fault(
        "the second decoder layer does not look at the memory",
        change=model(
            WRITE_ON,
            "vectors = layer(vectors, memory * (layer is not self.decoder[1]), so_far, memory_mask)",
        ),
        where=r"decoder\.1(\..*)?", inquiry="sight", also_right=("parameters",), shows="logits",
    ),
    fault(
        "the encoder made causal",
        change=model(READ_ON, "vectors = layer(vectors, mask & causal(source.shape[1]))"),
        where=ENCODER, inquiry="sight", shows="logits",
    ),
    fault(
        "the padding's mask in place of the causal one",
        change=model(
            "so_far = causal(previous.shape[1], device=previous.device)", "so_far = (previous != 0)[:, None]"
        ),
        where=DECODER, inquiry="sight", shows="logits",
    ),
    # ---- padding ----
    fault(
        "padding read by the encoder",
        change=model(READ_ON, "vectors = layer(vectors)"),
        where=ENCODER, inquiry="padding", shows="logits",
    ),
    fault(
        "padding read by the encoder's second layer",
        change=model(READ_ON, "vectors = layer(vectors, None if layer is self.encoder[1] else mask)"),
        where=r"encoder\.1(\..*)?", inquiry="padding", shows="logits",
    ),
    fault(
        "padding looked at by the decoder",
        change=model(WRITE_ON, "vectors = layer(vectors, memory, so_far)"),
        where=CROSS, inquiry="padding", shows="logits",
    ),
    fault(
        "padding shown and words hidden",
        change=masks("positions < lengths[:, None]", "positions >= lengths[:, None]"),
        where=None, inquiry="padding", shows="logits",
    ),
    fault(
        "the first padding shown",
        change=masks("positions < lengths[:, None]", "positions <= lengths[:, None]"),
        where=None, inquiry="padding", shows="logits",
    ),
    fault(
        "the last word hidden",
        change=masks("positions < lengths[:, None]", "positions < lengths[:, None] - 1"),
        where=None, inquiry="padding", also_right=("sight",), shows="logits",
    ),
    fault(
        "lengths of other rows",
        change=model(
            "mask = padding(lengths, source.shape[1])",
            "mask = padding(lengths.flip(0), source.shape[1])",
        ),
        where=None, inquiry="padding", also_right=("batch",), shows="logits",
    ),
    fault(
        "the mean of all places, padding and all, in the memory",
        change=model(
            "return self.encoder_norm(vectors)  #",
            "vectors = vectors + vectors.mean(1, keepdim=True)\n        return self.encoder_norm(vectors)  #",
        ),
        where=r"encoder_norm|encoder(\..*)?", inquiry="padding", also_right=("stream",), shows="logits",
    ),
    # ---- batch ----
    fault(
        "each row looks at another's memory",
        change=model(
            FORWARD,
            "return self.decode(previous, self.encode(source, mask).flip(0), mask.flip(0))",
        ),
        where=None, inquiry="batch", shows="logits",
    ),
    # ---- scores ----
    fault(
        "the memory is turned into queries",
        change=attention("F.linear(key, key_weight, key_bias)", "F.linear(key, query_weight, query_bias)"),
        where=r"(encoder|decoder)\.\d+(\.(self|cross)_attention(\..*)?)?", inquiry="scores",
        also_right=("parameters",), shows="logits",
    ),
    # ---- positions ----
    fault(
        "no positions where it writes",
        change=model("vectors = self.positions(self.written(previous))", "vectors = self.written(previous)"),
        where="positions|written", inquiry="positions", shows="logits",
    ),
    fault(
        "no positions where it reads",
        change=model("vectors = self.positions(self.read(source))", "vectors = self.read(source)"),
        where="positions|read", inquiry="positions", shows="logits",
    ),
    # ---- stream ----
    fault(
        "the stream lost where the decoder looks",
        change=layers(
            "vectors = self.around_cross_attention(\n            vectors,",
            "before, vectors = vectors, self.around_cross_attention(\n            vectors,",
        ),
        more=(
            layers(
                "outputs: Vectors = self.around_feed_forward(vectors, self.feed_forward)",
                "vectors = vectors - before\n"
                "        outputs: Vectors = self.around_feed_forward(vectors, self.feed_forward)",
                which=1,
            ),
        ),
        where=DECODER, inquiry="stream", shows="logits",
    ),
    fault(
        "no norm behind the encoder",
        change=model("return self.encoder_norm(vectors)  #", "return vectors  #"),
        where="encoder_norm", inquiry="stream", also_right=("parameters",), shows="logits",
    ),
    fault(
        "embeddings not scaled up",
        change=layers(
            "F.embedding(ids, self.weight) * math.sqrt(self.weight.shape[-1])",
            "F.embedding(ids, self.weight)",
        ),
        where="read|written", inquiry="stream", also_right=("start",), shows="logits",
    ),
    # ---- network ----
    fault(
        "units that never fire in the decoder",
        change=model(
            BUILT,
            f"{BUILT}        for layer in self.decoder:\n"
            "            nn.init.constant_(layer.feed_forward.widen.bias, -10.0)\n",
        ),
        where=DECODER, inquiry="network", shows="start",
    ),
    # ---- parameters ----
    fault(
        "the memory is detached",
        change=model(FORWARD, "return self.decode(previous, self.encode(source, mask).detach(), mask)"),
        where=r"read|encoder_norm|encoder(\..*)?", inquiry="parameters", shows="gradients",
    ),
    fault(
        "one table for both languages",
        change=model("self.read(source)", "self.written(source)"),
        where="read|written", inquiry="parameters", shows="logits",
    ),
    fault(
        "the encoder in a plain list",
        change=model(
            "self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(layers))",
            "self.encoder = [EncoderLayer(*sizes) for _ in range(layers)]",
        ),
        where=r"encoder(\..*)?", inquiry="parameters", shows="parameters",
    ),
    # ---- evaluation ----
    fault(
        "dropout on the positions only where it evaluates",
        change=model(
            "vectors = self.positions(self.written(previous))",
            "vectors = F.dropout(self.positions(self.written(previous)), 0.1, not self.training)",
        ),
        where=None, inquiry="evaluation", shows="two runs",
    ),
    # ---- output ----
    fault(
        "<start> said again at each place",
        change=model(
            WRITTEN,
            "logits = self.word(self.decoder_norm(vectors))\n"
            "        return logits + 12 * F.one_hot(torch.ones_like(previous), logits.shape[-1])",
        ),
        where=None, inquiry="output", also_right=("start",), shows="logits",
    ),
    fault(
        "log-probabilities turned round",
        change=model(WRITTEN, "return -self.word(self.decoder_norm(vectors)).log_softmax(-1)"),
        where=None, inquiry="output", shows="logits",
    ),
]  # fmt: skip
