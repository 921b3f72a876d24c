"""Faults that were written after the tool, from mistakes that readers make, before it was tried on them."""

from functools import partial

from faulty_models.kinds import Change, Fault

decoder = partial(Fault, model="LanguageModel")
gpt = partial(Fault, model="GPT")
today = partial(Fault, model="Today")
transformer = partial(Fault, model="Transformer")
bahdanau = partial(Fault, model="Bahdanau")
luong = partial(Fault, model="Luong")
whole = partial(Change, "attnlab/transformer.py")
block = partial(Change, "attnlab/today/model.py")
layers = partial(Change, "attnlab/layers.py")
attention = partial(Change, "attnlab/attention.py")
translators = partial(Change, "chapters/translating_with_attention/models.py")

LAYERS, BLOCKS = r"layers\.\d+(\..*)?", r"blocks\.\d+(\..*)?"
NORMS = r"norm|layers\.\d+(\.around_\w+(\..*)?)?"
ATTENTION = r"layers\.\d+(\.(self_attention|around_self_attention)(\..*)?)?"
OF_BLOCKS = r"blocks\.\d+(\.attention(\..*)?)?"

KEY = "key = turned(self.split(self.key(inputs), self.groups), angles)"
GROUPED = "query, key, value, mask, is_causal=mask is None, enable_gqa=self.groups < self.heads"
NORMED = "return F.layer_norm(inputs, self.weight.shape, self.weight, self.bias, self.eps)"
EMBEDDED = "vectors = self.positions(self.embedding(words), offset=before)"
SO_FAR = "so_far = causal(words.shape[1], before + words.shape[1], words.device)"
WORDS = "return self.word(self.norm(vectors))  #"
PIECES = "return F.linear(self.norm(stream), self.pieces.weight)  # (B, T, vocabulary)"
BUILT = "        self.start(spread)\n"
READ = "vectors = self.positions(self.read(source))"
SAYS = "return self.word(self.combine(torch.cat([states, context], -1)).tanh()), state[0], weights"

FAULTS = [
    # ---- sight ----
    decoder(
        "a mask of 0 and 1 that is added",
        change=attention("attn_mask=mask, dropout_p", "attn_mask=mask.to(query.dtype), dropout_p"),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    gpt(
        "each place says what the last one says",
        change=whole(PIECES, "stream = stream[:, -1:].expand_as(stream)\n        " + PIECES),
        where=None, inquiry="sight", also_right=("output",), shows="logits",
    ),
    # ---- scores ----
    today(
        "heads of keys dealt out in turn, and values in blocks",
        change=block(
            GROUPED,
            "query, key.repeat(1, self.heads // self.groups, 1, 1),\n"
            "            value.repeat_interleave(self.heads // self.groups, 1), mask, is_causal=mask is None",
        ),
        where=OF_BLOCKS, inquiry="scores", shows="logits",
    ),
    bahdanau(
        "weights that sum to 1 over the batch",
        change=translators(
            "looking = masked_softmax(self.score(state[:, None], memory.states), memory.mask)",
            "looking = self.score(state[:, None], memory.states).softmax(0) * memory.mask",
        ),
        where=r"decoder(\..*)?", inquiry="scores", also_right=("batch",), shows="logits",
    ),
    # ---- positions ----
    decoder(
        "positions added behind the last norm",
        change=whole(EMBEDDED, "vectors = self.embedding(words)"),
        more=(whole(WORDS, "return self.word(self.positions(self.norm(vectors), offset=before))  #"),),
        where="positions|norm", inquiry="positions", shows="logits",
    ),
    today(
        "keys turned by other pairs than queries",
        change=block(
            KEY,
            "key = self.split(self.key(inputs), self.groups)\n"
            "        halves = turned(torch.cat([key[..., 0::2], key[..., 1::2]], -1), angles).chunk(2, -1)\n"
            "        key = torch.stack(halves, -1).flatten(-2)",
        ),
        where=OF_BLOCKS, inquiry="positions", shows="logits",
    ),
    today(
        "a turn that mirrors",
        change=block("y * cos + x * sin", "y * cos - x * sin"),
        where=OF_BLOCKS, inquiry="positions", shows="logits",
    ),
    today(
        "frequencies by a division without remainder",
        change=block("base ** (-torch.arange(0, d_k, 2) / d_k)", "base ** (-torch.arange(0, d_k, 2) // d_k)"),
        where=None, inquiry="positions", shows="logits",
    ),
    today(
        "from the sixth on, all stand at the sixth place",
        change=block("angles = (places[..., None]", "angles = (places.clamp(max=5)[..., None]"),
        where=None, inquiry="positions", shows="logits",
    ),
    # ---- stream ----
    decoder(
        "divided by the variance, not by its root",
        change=layers(
            NORMED,
            "spread = inputs.var(-1, keepdim=True, unbiased=False) + self.eps\n"
            "        return (inputs - inputs.mean(-1, keepdim=True)) / spread * self.weight + self.bias",
        ),
        where=NORMS, inquiry="stream", shows="logits",
    ),
    decoder(
        "the network goes on from what attention read",
        change=layers(
            "outputs: Vectors = self.around_feed_forward(vectors, self.feed_forward)\n        return outputs",
            "return self.around_feed_forward(inputs, self.feed_forward)",
            which=0,
        ),
        where=LAYERS, inquiry="stream", also_right=("parameters", "sight"), shows="logits",
    ),
    today(
        "divided by the mean of the numbers, not of their squares",
        change=layers(
            "torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)",
            "torch.rsqrt(wide.mean(-1, keepdim=True).square() + self.eps)",
        ),
        where=r"norm|blocks\.\d+(\.before_\w+)?", inquiry="stream", also_right=("numbers",), shows="logits",
    ),
    transformer(
        "what the encoder's layers give is thrown away",
        change=whole("            vectors = layer(vectors, mask)", "            layer(vectors, mask)"),
        where=r"encoder(\..*)?", inquiry="stream", also_right=("parameters", "sight"), shows="logits",
    ),
    # ---- network ----
    luong(
        "no curve before the words",
        change=translators(SAYS, SAYS.replace(".tanh()), state", "), state")),
        where=r"decoder(\..*)?", inquiry="network", shows="logits",
    ),
    # ---- parameters ----
    decoder(
        "one word's vector never learns",
        change=layers("F.embedding(ids, self.weight)", "F.embedding(ids, self.weight, padding_idx=7)"),
        where="embedding", inquiry="parameters", shows="gradients",
    ),
    # ---- start ----
    gpt(
        "all biases start at one",
        change=layers('0 if name.endswith("bias") else 1', "1"),
        where=None, inquiry="start", shows="start",
    ),
    gpt(
        "places start fifty times too large",
        change=whole(BUILT, f"{BUILT}        self.places.weight.data *= 50\n"),
        where="places", inquiry="start", also_right=("positions",), shows="start",
    ),
    # ---- evaluation ----
    gpt(
        "what the text before left is added",
        change=whole(
            "        dropout = self.dropout if self.training else 0.0\n",
            "        dropout = self.dropout if self.training else 0.0\n"
            "        value = value + self.left\n"
            "        self.left = value.detach().mean((0, 2), keepdim=True) / 2\n",
        ),
        more=(
            whole(
                "self.heads, self.dropout = heads, dropout",
                "self.left, self.heads, self.dropout = 0.0, heads, dropout",
            ),
        ),
        where=OF_BLOCKS, inquiry="evaluation", also_right=("batch", "cache"), shows="two runs",
    ),
    today(
        "blocks from the last to the first in evaluation",
        change=block(
            "for block, cache in zip(self.blocks, of_blocks, strict=True):",
            "blocks = self.blocks if self.training else [*self.blocks][::-1]\n"
            "        for block, cache in zip(blocks, of_blocks, strict=True):",
        ),
        where=r"blocks(\..*)?", inquiry="evaluation", shows="logits",
    ),
    # ---- numbers ----
    gpt(
        "logits rounded to bfloat16",
        change=whole(PIECES, "return F.linear(self.norm(stream), self.pieces.weight).bfloat16().float()"),
        where=None, inquiry="numbers", also_right=("output",), shows="logits",
    ),
    # ---- cache ----
    decoder(
        "a cache of five words",
        change=attention(
            "self.keys, self.values = keys, values\n",
            "self.keys, self.values = keys[..., -5:, :], values[..., -5:, :]\n",
        ),
        where=ATTENTION, inquiry="cache", shows="cache",
    ),
    # ---- batch ----
    decoder(
        "rows of the batch read as one text",
        change=whole(EMBEDDED, f"{EMBEDDED}.flatten(0, 1)[None]"),
        more=(
            whole(SO_FAR, "so_far = causal(vectors.shape[1], device=words.device)"),
            whole(WORDS, "return self.word(self.norm(vectors)).view(*words.shape, -1)  #"),
        ),
        where=None, inquiry="batch", also_right=("sight",), shows="logits",
    ),
    # ---- padding ----
    transformer(
        "the source turned round, and its mask not",
        change=whole(READ, READ.replace("source", "source.flip(1)")),
        where=r"read|positions|encoder(\..*)?", inquiry="padding", shows="logits",
    ),
    transformer(
        "places counted from the end of the longest row",
        change=whole(READ, "vectors = self.positions(self.read(source).flip(1)).flip(1)"),
        where="read|positions", inquiry="padding", also_right=("positions",), shows="logits",
    ),
    transformer(
        "padding shown and words hidden in the second decoder layer",
        change=whole(
            "vectors = layer(vectors, memory, so_far, memory_mask)",
            "seen = memory_mask if layer is not self.decoder[1] else ~memory_mask\n"
            "            vectors = layer(vectors, memory, so_far, seen)",
        ),
        where=r"decoder\.1(\..*)?", inquiry="padding", shows="logits",
    ),
    bahdanau(
        "the last state is read where the longest row ends",
        change=translators(
            "return Memory(states, masks.padding(lengths), last.transpose(0, 1).flatten(1))",
            "return Memory(states, masks.padding(lengths), states[:, -1])",
        ),
        where=r"encoder(\..*)?", inquiry="padding", also_right=("batch", "sight"), shows="logits",
    ),
]  # fmt: skip
