"""Faults in the Transformer that reads one sequence and writes another."""

from faulty_models.kinds import attention, layers, masks, planted_in
from faulty_models.kinds import transformer as model

fault = planted_in("Transformer")

ENCODER, DECODER = r"encoder(\..*)?", r"decoder(\..*)?"
CROSS = r"decoder(\.\d+(\.(cross_attention|around_cross_attention)(\..*)?)?)?"

BUILT = "self.word = nn.Linear(d_model, target_words)"
READ_ON = "vectors = layer(vectors, mask)"
WRITE_ON = "vectors = layer(vectors, memory, so_far, memory_mask)"
LOOKED = "self.cross_attention(x, memory, mask=memory_mask, need_weights=False)[0]"
FORWARD = "return self.decode(previous, self.encode(source, mask), mask)"
WRITTEN = "return self.word(self.decoder_norm(vectors))  # type: ignore[no-any-return]"

FAULTS = [
    fault("no mask in the decoder", "sight", DECODER,
        model(WRITE_ON, "vectors = layer(vectors, memory, None, memory_mask)")),
    fault("no mask in the decoder's first layer", "sight", r"decoder\.0(\..*)?",
        model(WRITE_ON,
            "vectors = layer(vectors, memory, None if layer is self.decoder[0] else so_far, memory_mask)")),
    fault("the decoder reads itself in place of the memory", "sight parameters", rf"{CROSS}|{ENCODER}",
        layers(LOOKED, "self.cross_attention(x, mask=mask, need_weights=False)[0]")),
    fault("the decoder looks at what it is about to write", "sight padding", CROSS,
        layers(LOOKED, "self.cross_attention(x, torch.cat([memory, inputs], 1), need_weights=False)[0]")),
    fault("the second decoder layer does not look at the memory", "sight parameters", r"decoder\.1(\..*)?",
        model(WRITE_ON,
            "vectors = layer(vectors, memory * (layer is not self.decoder[1]), so_far, memory_mask)")),
    fault("the encoder made causal", "sight", ENCODER,
        model(READ_ON, "vectors = layer(vectors, mask & causal(source.shape[1]))")),
    fault("the padding's mask in place of the causal one", "sight", DECODER,
        model("causal(previous.shape[1], device=previous.device)", "(previous != 0)[:, None]")),
    fault("padding read by the encoder", "padding", ENCODER, model(READ_ON, "vectors = layer(vectors)")),
    fault("padding read by the encoder's second layer", "padding", r"encoder\.1(\..*)?",
        model(READ_ON, "vectors = layer(vectors, None if layer is self.encoder[1] else mask)")),
    fault("padding looked at by the decoder", "padding", CROSS,
        model(WRITE_ON, "vectors = layer(vectors, memory, so_far)")),
    fault("padding shown and words hidden", "padding", None,
        masks("positions < lengths[:, None]", "positions >= lengths[:, None]")),
    fault("the first padding shown", "padding", None,
        masks("positions < lengths[:, None]", "positions <= lengths[:, None]")),
    fault("the last word hidden", "padding sight", None, masks("lengths[:, None]", "lengths[:, None] - 1")),
    fault("lengths of other rows", "padding batch", None,
        model("padding(lengths,", "padding(lengths.flip(0),")),
    fault("the mean of all places, padding and all, in the memory", "padding stream",
        r"encoder_norm|encoder(\..*)?",
        model("return self.encoder_norm(vectors)  #",
            "vectors = vectors + vectors.mean(1, keepdim=True)\nreturn self.encoder_norm(vectors)  #")),
    fault("each row looks at another's memory", "batch", None,
        model(FORWARD, "return self.decode(previous, self.encode(source, mask).flip(0), mask.flip(0))")),
    fault("the memory is turned into queries", "scores parameters",
        r"(encoder|decoder)\.\d+(\.(self|cross)_attention(\..*)?)?",
        attention("F.linear(key, key_weight, key_bias)", "F.linear(key, query_weight, query_bias)")),
    fault("no positions where it writes", "positions", "positions|written",
        model("vectors = self.positions(self.written(previous))", "vectors = self.written(previous)")),
    fault("no positions where it reads", "positions", "positions|read",
        model("vectors = self.positions(self.read(source))", "vectors = self.read(source)")),
    fault("the stream lost where the decoder looks", "stream", DECODER,
        layers("vectors = self.around_cross_attention(\n            vectors,",
            "before, vectors = vectors, self.around_cross_attention(\n    vectors,"),
        layers("outputs: Vectors = self.around_feed_forward(vectors, self.feed_forward)",
            "vectors = vectors - before\n"
            "outputs: Vectors = self.around_feed_forward(vectors, self.feed_forward)",
            which=1)),
    fault("no norm behind the encoder", "stream parameters", "encoder_norm",
        model("return self.encoder_norm(vectors)  #", "return vectors  #")),
    fault("embeddings not scaled up", "stream start", "read|written",
        layers("self.weight) * math.sqrt(self.weight.shape[-1])", "self.weight)")),
    fault("units that never fire in the decoder", "network", DECODER,
        model(BUILT,
            f"{BUILT}\n"
            "for layer in self.decoder:\n"
            "    nn.init.constant_(layer.feed_forward.widen.bias, -10.0)")),
    fault("the memory is detached", "parameters", r"read|encoder_norm|encoder(\..*)?",
        model(FORWARD, "return self.decode(previous, self.encode(source, mask).detach(), mask)")),
    fault("one table for both languages", "parameters", "read|written",
        model("self.read(source)", "self.written(source)")),
    fault("the encoder in a plain list", "parameters", r"encoder(\..*)?",
        model("self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(layers))",
            "self.encoder = [EncoderLayer(*sizes) for _ in range(layers)]")),
    fault("dropout on the positions only where it evaluates", "evaluation", None,
        model("vectors = self.positions(self.written(previous))",
            "vectors = F.dropout(self.positions(self.written(previous)), 0.1, not self.training)")),
    fault("<start> said again at each place", "output start", None,
        model(WRITTEN,
            "logits = self.word(self.decoder_norm(vectors))\n"
            "return logits + 12 * F.one_hot(torch.ones_like(previous), logits.shape[-1])")),
    fault("log-probabilities turned round", "output", None,
        model(WRITTEN, "return -self.word(self.decoder_norm(vectors)).log_softmax(-1)")),
]  # fmt: skip
