"""Faults that were written after the tool, from mistakes that readers make, before it was tried on them."""

from functools import partial

from faulty_models.kinds import Change, attention, layers, planted_in
from faulty_models.kinds import today as block
from faulty_models.kinds import transformer as whole

decoder = planted_in("LanguageModel")
gpt = planted_in("GPT")
today = planted_in("Today")
transformer = planted_in("Transformer")
bahdanau = planted_in("Bahdanau")
luong = planted_in("Luong")
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
BUILT = "self.start(spread)"
READ = "vectors = self.positions(self.read(source))"
SAYS = "return self.word(self.combine(torch.cat([states, context], -1)).tanh()), state[0], weights"

FAULTS = [
    decoder("a mask of 0 and 1 that is added", "sight", ATTENTION,
        attention("attn_mask=mask, dropout_p", "attn_mask=mask.to(query.dtype), dropout_p")),
    gpt("each place says what the last one says", "sight output", None,
        whole(PIECES, "stream = stream[:, -1:].expand_as(stream)\n" + PIECES)),
    today("heads of keys dealt out in turn, and values in blocks", "scores", OF_BLOCKS,
        block(GROUPED,
            "query, key.repeat(1, self.heads // self.groups, 1, 1),\n"
            "value.repeat_interleave(self.heads // self.groups, 1), mask, is_causal=mask is None")),
    bahdanau("weights that sum to 1 over the batch", "scores batch", r"decoder(\..*)?",
        translators("looking = masked_softmax(self.score(state[:, None], memory.states), memory.mask)",
            "looking = self.score(state[:, None], memory.states).softmax(0) * memory.mask")),
    decoder("positions added behind the last norm", "positions", "positions|norm",
        whole(EMBEDDED, "vectors = self.embedding(words)"),
        whole(WORDS, "return self.word(self.positions(self.norm(vectors), offset=before))  #")),
    today("keys turned by other pairs than queries", "positions", OF_BLOCKS,
        block(KEY,
            "key = self.split(self.key(inputs), self.groups)\n"
            "halves = turned(torch.cat([key[..., 0::2], key[..., 1::2]], -1), angles).chunk(2, -1)\n"
            "key = torch.stack(halves, -1).flatten(-2)")),
    today("a turn that mirrors", "positions", OF_BLOCKS, block("y * cos + x * sin", "y * cos - x * sin")),
    today("frequencies by a division without remainder", "positions", None,
        block('"cpu") / d_k)', '"cpu") // d_k)')),
    today("from the sixth on, all stand at the sixth place", "positions", None,
        block("angles = (places[..., None]", "angles = (places.clamp(max=5)[..., None]")),
    decoder("divided by the variance, not by its root", "stream", NORMS,
        layers(NORMED,
            "spread = inputs.var(-1, keepdim=True, unbiased=False) + self.eps\n"
            "return (inputs - inputs.mean(-1, keepdim=True)) / spread * self.weight + self.bias")),
    decoder("the network goes on from what attention read", "stream parameters sight", LAYERS,
        layers("self.around_feed_forward(vectors,", "self.around_feed_forward(inputs,", which=0)),
    today("divided by the mean of the numbers, not of their squares", "stream numbers",
        r"norm|blocks\.\d+(\.before_\w+)?",
        layers("(wide.square().mean(-1, keepdim=True)", "(wide.mean(-1, keepdim=True).square()")),
    transformer("what the encoder's layers give is thrown away", "stream parameters sight", r"encoder(\..*)?",
        whole("vectors = layer(vectors, mask)", "layer(vectors, mask)")),
    luong("no curve before the words", "network", r"decoder(\..*)?",
        translators(SAYS, SAYS.replace(".tanh()), state", "), state"))),
    decoder("one word's vector never learns", "parameters", "embedding",
        layers("F.embedding(ids, self.weight)", "F.embedding(ids, self.weight, padding_idx=7)")),
    gpt("all biases start at one", "start", None, layers('0 if name.endswith("bias") else 1', "1")),
    gpt("places start fifty times too large", "start positions", "places",
        whole(BUILT, f"{BUILT}\nself.places.weight.data *= 50")),
    gpt("what the text before left is added", "evaluation batch cache", OF_BLOCKS,
        whole("dropout = self.dropout if self.training else 0.0",
            "dropout = self.dropout if self.training else 0.0\n"
            "value = value + self.left\n"
            "self.left = value.detach().mean((0, 2), keepdim=True) / 2"),
        whole("self.heads, self.dropout =", "self.left, self.heads, self.dropout = 0.0,")),
    today("blocks from the last to the first in evaluation", "evaluation", r"blocks(\..*)?",
        block("for block, cache in zip(self.blocks, of_blocks, strict=True):",
            "blocks = self.blocks if self.training else [*self.blocks][::-1]\n"
            "for block, cache in zip(blocks, of_blocks, strict=True):")),
    gpt("logits rounded to bfloat16", "numbers output", None,
        whole(PIECES, "return F.linear(self.norm(stream), self.pieces.weight).bfloat16().float()")),
    decoder("a cache of five words", "cache", ATTENTION,
        attention("= keys, values", "= keys[..., -5:, :], values[..., -5:, :]")),
    decoder("rows of the batch read as one text", "batch sight", None,
        whole(EMBEDDED, f"{EMBEDDED}.flatten(0, 1)[None]"),
        whole(SO_FAR, "so_far = causal(vectors.shape[1], device=words.device)"),
        whole(WORDS, "return self.word(self.norm(vectors)).view(*words.shape, -1)  #")),
    transformer("the source turned round, and its mask not", "padding", r"read|positions|encoder(\..*)?",
        whole(READ, READ.replace("source", "source.flip(1)"))),
    transformer("places counted from the end of the longest row", "padding positions", "read|positions",
        whole(READ, "vectors = self.positions(self.read(source).flip(1)).flip(1)")),
    transformer("padding shown and words hidden in the second decoder layer", "padding", r"decoder\.1(\..*)?",
        whole("vectors = layer(vectors, memory, so_far, memory_mask)",
            "seen = memory_mask if layer is not self.decoder[1] else ~memory_mask\n"
            "vectors = layer(vectors, memory, so_far, seen)")),
    bahdanau("the last state is read where the longest row ends", "padding batch sight", r"encoder(\..*)?",
        translators("last.transpose(0, 1).flatten(1))", "states[:, -1])")),
]  # fmt: skip
