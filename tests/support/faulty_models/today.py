"""Faults in the model of today."""

from faulty_models.kinds import layers, planted_in
from faulty_models.kinds import today as model

fault = planted_in("Today")

ALL = r"blocks\.\d+(\..*)?"
ATTENTION = r"blocks\.\d+(\.attention(\..*)?)?"
NETWORK = r"blocks\.\d+(\.network(\..*)?)?"
FIRST, SECOND, THIRD = (rf"blocks\.{index}(\..*)?" for index in range(3))
NORMS = r"norm|blocks\.\d+(\.before_\w+)?"

BUILT = "start(self, spread, layers)"
ONE_BLOCK = "stream = block(stream, angles, visible, cache)"
KEY = "key = turned(self.split(self.key(inputs), self.groups), angles)"
VALUE = "value = self.split(self.value(inputs), self.groups)"
FUSED = "query, key, value, mask, is_causal=mask is None, enable_gqa=self.groups < self.heads"
EXTENDED = "key, value = cache.extended(key, value)"
GATED = "F.silu(self.gate(inputs)) * self.widen(inputs)"
ATTENDED = "stream = stream + self.attention(self.before_attention(stream), angles, visible, cache)"
WRITTEN = "return F.linear(self.norm(stream), (self.next or self.pieces).weight)"
SQUARES = "normal = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)"

FAULTS = [
    fault("it sees ahead", "sight", ATTENTION, model("is_causal=mask is None", "is_causal=False")),
    fault("the second block sees all", "sight", SECOND,
        model(ONE_BLOCK,
            "every = torch.ones(1, ids.shape[1], before + ids.shape[1], dtype=torch.bool)\n"
            "seen = every if block is self.blocks[1] else visible\n"
            "stream = block(stream, angles, seen, cache)")),
    fault("one step ahead in the first block", "sight", FIRST,
        model(ONE_BLOCK,
            "more = causal(ids.shape[1], before + ids.shape[1]).roll(-1, dims=1)\n"
            "more[:, -1] = True\n"
            "stream = block(stream, angles, more if block is self.blocks[0] else visible, cache)")),
    fault("the third block sees nothing but itself", "sight", THIRD,
        model(ONE_BLOCK,
            "alone = torch.eye(before + ids.shape[1], dtype=torch.bool)[None, before:]\n"
            "stream = block(stream, angles, alone if block is self.blocks[2] else visible, cache)")),
    fault("scaled by d_model", "scores", ATTENTION, model(FUSED, f"{FUSED}, scale=inputs.shape[-1] ** -0.5")),
    fault("not scaled in the second block", "scores", SECOND,
        model(FUSED, f"{FUSED},\nscale=self.scale,"),
        model("self.heads, self.groups, d_k =", "self.scale, self.heads, self.groups, d_k = None,"),
        model(BUILT, f"{BUILT}\nself.blocks[1].attention.scale = 1.0")),
    fault("heads cut across time", "scores sight", ATTENTION,
        model("return vectors.view(*vectors.shape[:2], heads, -1).transpose(1, 2)",
            "return vectors.reshape(len(vectors), heads, vectors.shape[1], -1)")),
    fault("all heads get the first one's outputs", "scores", ATTENTION,
        model("self.write(found.transpose", "self.write(found[:, :1].expand_as(found).transpose")),
    fault("keys not turned", "positions", ATTENTION,
        model(KEY, "key = self.split(self.key(inputs), self.groups)")),
    fault("values turned, too", "positions", ATTENTION,
        model(VALUE, "value = turned(self.split(self.value(inputs), self.groups), angles)")),
    fault("keys turned the other way", "positions", ATTENTION,
        model(KEY, KEY.replace("angles)", "-angles)"))),
    fault("nothing turned", "positions", None, model("= (places[...,", "= (0 * places[...,")),
    fault("turns that quicken from pair to pair", "positions", None,
        model("base ** (-torch.arange(", "base ** (torch.arange(")),
    fault("the stream lost in attention", "stream", ALL, model(ATTENDED, ATTENDED.replace("stream + ", ""))),
    fault("the network reads before its norm", "stream parameters", ALL,
        model("self.network(self.before_network(stream))", "self.network(stream)")),
    fault("what attention adds is added twice", "stream", ALL,
        model(ATTENDED, ATTENDED.replace("+ self", "+ 2 * self"))),
    fault("no last norm", "stream parameters", "norm",
        model(WRITTEN, "return F.linear(stream, (self.next or self.pieces).weight)")),
    fault("squares of all places", "stream sight", NORMS,
        layers(SQUARES, SQUARES.replace("mean(-1,", "mean((1, 2),"))),
    fault("squares of all rows", "stream batch", NORMS,
        layers(SQUARES, SQUARES.replace("mean(-1,", "mean(0,"))),
    fault("eps of one", "stream numbers", NORMS, layers("eps: float = 1e-6", "eps: float = 1.0")),
    fault("a gate without content", "network parameters", NETWORK, model(GATED, "F.silu(self.gate(inputs))")),
    fault("a gate that is hardly ever open", "network parameters", NETWORK,
        model(GATED, "F.relu(self.gate(inputs) - 10) * self.widen(inputs)")),
    fault("the gate without its curve", "network", NETWORK,
        model(GATED, "self.gate(inputs) * self.widen(inputs)")),
    fault("the third network closed", "network parameters", THIRD,
        model(GATED, "F.silu(self.gate(inputs)) * self.widen(inputs) * self.open"),
        model("self.narrow = nn.Linear(hidden, d_model, bias=False)",
            "self.narrow, self.open = nn.Linear(hidden, d_model, bias=False), 1"),
        model(BUILT, f"{BUILT}\nself.blocks[2].network.open = 0")),
    fault("gains of the norms not used", "parameters stream", NORMS,
        layers("return self.weight * normal.to(inputs.dtype)", "return normal.to(inputs.dtype)")),
    fault("what is read is detached from its table", "parameters", "pieces",
        model("stream = self.pieces(ids)", "stream = self.pieces(ids).detach()")),
    fault("the first block under no_grad", "parameters", r"pieces|blocks\.0(\..*)?",
        model(ONE_BLOCK,
            "enabled = torch.is_grad_enabled() and block is not self.blocks[0]\n"
            "with torch.set_grad_enabled(enabled):\n"
            "    stream = block(stream, angles, visible, cache)")),
    fault("blocks in a plain list", "parameters", r"blocks(\..*)?",
        model("self.blocks = nn.ModuleList(Block(d_model, heads, groups, hidden) for _ in range(layers))",
            "self.blocks = [Block(d_model, heads, groups, hidden) for _ in range(layers)]")),
    fault("queries and what writes are one matrix", "parameters", ATTENTION,
        model("self.query, self.write = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))",
            "self.query = self.write = nn.Linear(d_model, d_model, bias=False)")),
    fault("no gradient through the norms", "parameters", r"(norm|pieces|blocks\.\d+(\..*)?)",
        layers("wide = inputs.float()  #", "wide = inputs.detach().float()  #")),
    fault("embeddings start a hundred times too large", "start output", "pieces",
        model(BUILT, f"{BUILT}\nself.pieces.weight.data *= 100")),
    fault("the gates start all the same", "start", NETWORK,
        model(BUILT,
            f"{BUILT}\nfor block in self.blocks:\n    nn.init.constant_(block.network.gate.weight, 0.02)")),
    fault("the second block's values start at nothing", "start parameters", SECOND,
        model(BUILT,
            f"{BUILT}\n"
            "nn.init.zeros_(self.blocks[1].attention.value.weight)\n"
            "nn.init.zeros_(self.blocks[1].attention.write.weight)")),
    fault("noise that stays in evaluation", "evaluation", None,
        model("stream = self.pieces(ids)", "stream = F.dropout(self.pieces(ids), 0.1)")),
    fault("nothing added under the root, and a row of zeros", "numbers stream", NORMS,
        layers(SQUARES, SQUARES.replace(" + self.eps", "")),
        model(BUILT, f"{BUILT}\nself.pieces.weight.data[0] = 0")),
    fault("squares in half precision", "numbers", NORMS, layers("inputs.float()", "inputs")),
    fault("frequencies rounded with the weights", "numbers positions", None,
        model("(ids.device))[:, None]", "(self.pieces.weight.dtype))[:, None].to(self.pieces.weight.dtype)")),
    fault("a table of float32 in the second block", "numbers parameters", None,
        model(ONE_BLOCK,
            "stream = block(stream, angles, visible, cache)\n"
            "stream = stream + self.shift if block is self.blocks[1] else stream"),
        model(BUILT, f"{BUILT}\nself.shift = torch.zeros(d_model)")),
    fault("places from 0 again with a cache", "cache positions", None, model("(before, before +", "(0,")),
    fault("keys are kept before they are turned", "cache positions", ATTENTION,
        model(EXTENDED, "key, value = cache.extended(self.split(self.key(inputs), self.groups), value)")),
    fault("the first query beside the first key", "cache sight", None,
        model("if visible is None and before:", "if False:")),
    fault("all is put into the cache twice", "cache", ATTENTION,
        model(EXTENDED, f"cache.extended(key, value)\n{EXTENDED}")),
    fault("the second block does not ask its cache", "cache", SECOND,
        model("stream = block(stream, angles, visible, cache)",
            "if block is self.blocks[1] and cache is not None:\n"
            "    stream = block(stream, angles, causal(ids.shape[1]), None)\n"
            "    continue\n"
            "stream = block(stream, angles, visible, cache)")),
    fault("logits between 0 and 1", "output", None, model(WRITTEN, f"{WRITTEN}.sigmoid()")),
    fault("logits of the next place", "output sight", None, model(WRITTEN, f"{WRITTEN}.roll(-1, dims=1)")),
]  # fmt: skip
