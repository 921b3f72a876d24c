"""Faults in the model of today."""

from functools import partial

from faulty_models.kinds import Change, Fault

fault = partial(Fault, model="Today")
model = partial(Change, "attnlab/today/model.py")
layers = partial(Change, "attnlab/layers.py")

ALL = r"blocks\.\d+(\..*)?"
ATTENTION = r"blocks\.\d+(\.attention(\..*)?)?"
NETWORK = r"blocks\.\d+(\.network(\..*)?)?"
FIRST, SECOND, THIRD = (rf"blocks\.{index}(\..*)?" for index in range(3))
NORMS = r"norm|blocks\.\d+(\.before_\w+)?"

BUILT = "        start(self, spread, layers)\n"
ONE_BLOCK = "            stream = block(stream, angles, visible, cache)\n"
QUERY = "query = turned(self.split(self.query(inputs), self.heads), angles)"
KEY = "key = turned(self.split(self.key(inputs), self.groups), angles)"
VALUE = "value = self.split(self.value(inputs), self.groups)"
FUSED = "query, key, value, mask, is_causal=mask is None, enable_gqa=self.groups < self.heads"
EXTENDED = "            key, value = cache.extended(key, value)"
GATED = "F.silu(self.gate(inputs)) * self.widen(inputs)"
ATTENDED = "stream = stream + self.attention(self.before_attention(stream), angles, visible, cache)"
WRITTEN = "return F.linear(self.norm(stream), (self.next or self.pieces).weight)"
SQUARES = "normal = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)"

FAULTS = [
    # ---- sight ----
    fault(
        "it sees ahead",
        change=model("is_causal=mask is None", "is_causal=False"),
        where=ATTENTION, inquiry="sight", shows="logits",
    ),
    fault(
        "the second block sees all",
        change=model(
            ONE_BLOCK,
            "            every = torch.ones(1, ids.shape[1], before + ids.shape[1], dtype=torch.bool)\n"
            "            seen = every if block is self.blocks[1] else visible\n"
            "            stream = block(stream, angles, seen, cache)\n",
        ),
        where=SECOND, inquiry="sight", shows="logits",
    ),
    fault(
        "one step ahead in the first block",
        change=model(
            ONE_BLOCK,
            "            more = causal(ids.shape[1], before + ids.shape[1]).roll(-1, dims=1)\n"
            "            more[:, -1] = True\n"
            "            stream = block(stream, angles, more if block is self.blocks[0] else visible, "
            "cache)\n",
        ),
        where=FIRST, inquiry="sight", shows="logits",
    ),
    fault(
        "the third block sees nothing but itself",
        change=model(
            ONE_BLOCK,
            "            alone = torch.eye(before + ids.shape[1], dtype=torch.bool)[None, before:]\n"
            "            stream = block(stream, angles, alone if block is self.blocks[2] else visible, "
            "cache)\n",
        ),
        where=THIRD, inquiry="sight", shows="logits",
    ),
    # ---- scores ----
    fault(
        "scaled by d_model",
        change=model(FUSED, f"{FUSED}, scale=inputs.shape[-1] ** -0.5"),
        where=ATTENTION, inquiry="scores", shows="logits",
    ),
    fault(
        "not scaled in the second block",
        change=model(FUSED, f"{FUSED},\n            scale=self.scale,"),
        more=(
            model(
                "self.heads, self.groups, d_k = heads, groups, d_model // heads",
                "self.scale, self.heads, self.groups, d_k = None, heads, groups, d_model // heads",
            ),
            model(BUILT, f"{BUILT}        self.blocks[1].attention.scale = 1.0\n"),
        ),
        where=SECOND, inquiry="scores", shows="logits",
    ),
    fault(
        "heads cut across time",
        change=model(
            "return vectors.view(*vectors.shape[:2], heads, -1).transpose(1, 2)",
            "return vectors.reshape(len(vectors), heads, vectors.shape[1], -1)",
        ),
        where=ATTENTION, inquiry="scores", also_right=("sight",), shows="logits",
    ),
    fault(
        "all heads get the first one's outputs",
        change=model("self.write(found.transpose", "self.write(found[:, :1].expand_as(found).transpose"),
        where=ATTENTION, inquiry="scores", shows="logits",
    ),
    # ---- positions ----
    fault(
        "keys not turned",
        change=model(KEY, "key = self.split(self.key(inputs), self.groups)"),
        where=ATTENTION, inquiry="positions", shows="logits",
    ),
    fault(
        "values turned, too",
        change=model(VALUE, "value = turned(self.split(self.value(inputs), self.groups), angles)"),
        where=ATTENTION, inquiry="positions", shows="logits",
    ),
    fault(
        "keys turned the other way",
        change=model(KEY, KEY.replace("angles)", "-angles)")),
        where=ATTENTION, inquiry="positions", shows="logits",
    ),
    fault(
        "nothing turned",
        change=model("angles = (places[..., None] * self", "angles = (0 * places[..., None] * self"),
        where=None, inquiry="positions", shows="logits",
    ),
    fault(
        "turns that quicken from pair to pair",
        change=model("base ** (-torch.arange(0, d_k, 2) / d_k)", "base ** (torch.arange(0, d_k, 2) / d_k)"),
        where=None, inquiry="positions", shows="logits",
    ),
    # ---- stream ----
    fault(
        "the stream lost in attention",
        change=model(ATTENDED, ATTENDED.replace("stream + ", "")),
        where=ALL, inquiry="stream", shows="logits",
    ),
    fault(
        "the network reads before its norm",
        change=model("self.network(self.before_network(stream))", "self.network(stream)"),
        where=ALL, inquiry="stream", also_right=("parameters",), shows="logits",
    ),
    fault(
        "what attention adds is added twice",
        change=model(ATTENDED, ATTENDED.replace("+ self", "+ 2 * self")),
        where=ALL, inquiry="stream", shows="logits",
    ),
    fault(
        "no last norm",
        change=model(WRITTEN, "return F.linear(stream, (self.next or self.pieces).weight)"),
        where="norm", inquiry="stream", also_right=("parameters",), shows="logits",
    ),
    fault(
        "squares of all places",
        change=layers(SQUARES, SQUARES.replace("mean(-1,", "mean((1, 2),")),
        where=NORMS, inquiry="stream", also_right=("sight",), shows="logits",
    ),
    fault(
        "squares of all rows",
        change=layers(SQUARES, SQUARES.replace("mean(-1,", "mean(0,")),
        where=NORMS, inquiry="stream", also_right=("batch",), shows="logits",
    ),
    fault(
        "eps of one",
        change=layers("d_model: int, eps: float = 1e-6", "d_model: int, eps: float = 1.0"),
        where=NORMS, inquiry="stream", also_right=("numbers",), shows="logits",
    ),
    # ---- network ----
    fault(
        "a gate without content",
        change=model(GATED, "F.silu(self.gate(inputs))"),
        where=NETWORK, inquiry="network", also_right=("parameters",), shows="logits",
    ),
    fault(
        "a gate that is hardly ever open",
        change=model(GATED, "F.relu(self.gate(inputs) - 10) * self.widen(inputs)"),
        where=NETWORK, inquiry="network", also_right=("parameters",), shows="logits",
    ),
    fault(
        "the gate without its curve",
        change=model(GATED, "self.gate(inputs) * self.widen(inputs)"),
        where=NETWORK, inquiry="network", shows="logits",
    ),
    fault(
        "the third network closed",
        change=model(GATED, "F.silu(self.gate(inputs)) * self.widen(inputs) * self.open"),
        more=(
            model(
                "        self.narrow = nn.Linear(hidden, d_model, bias=False)\n",
                "        self.narrow, self.open = nn.Linear(hidden, d_model, bias=False), 1\n",
            ),
            model(BUILT, f"{BUILT}        self.blocks[2].network.open = 0\n"),
        ),
        where=THIRD, inquiry="network", also_right=("parameters",), shows="logits",
    ),
    # ---- parameters ----
    fault(
        "gains of the norms not used",
        change=layers("return self.weight * normal.to(inputs.dtype)", "return normal.to(inputs.dtype)"),
        where=NORMS, inquiry="parameters", also_right=("stream",), shows="gradients",
    ),
    fault(
        "what is read is detached from its table",
        change=model("stream = self.pieces(ids)", "stream = self.pieces(ids).detach()"),
        where="pieces", inquiry="parameters", shows="gradients",
    ),
    fault(
        "the first block under no_grad",
        change=model(
            ONE_BLOCK,
            "            enabled = torch.is_grad_enabled() and block is not self.blocks[0]\n"
            "            with torch.set_grad_enabled(enabled):\n"
            "                stream = block(stream, angles, visible, cache)\n",
        ),
        where=r"pieces|blocks\.0(\..*)?", inquiry="parameters", shows="gradients",
    ),
    fault(
        "blocks in a plain list",
        change=model(
            "self.blocks = nn.ModuleList(Block(d_model, heads, groups, hidden) for _ in range(layers))",
            "self.blocks = [Block(d_model, heads, groups, hidden) for _ in range(layers)]",
        ),
        where=r"blocks(\..*)?", inquiry="parameters", shows="parameters",
    ),
    fault(
        "queries and what writes are one matrix",
        change=model(
            "self.query, self.write = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))",
            "self.query = self.write = nn.Linear(d_model, d_model, bias=False)",
        ),
        where=ATTENTION, inquiry="parameters", shows="parameters",
    ),
    fault(
        "no gradient through the norms",
        change=layers("wide = inputs.float()  #", "wide = inputs.detach().float()  #"),
        where=r"(norm|pieces|blocks\.\d+(\..*)?)", inquiry="parameters", shows="gradients",
    ),
    # ---- start ----
    fault(
        "embeddings start a hundred times too large",
        change=model(BUILT, f"{BUILT}        self.pieces.weight.data *= 100\n"),
        where="pieces", inquiry="start", also_right=("output",), shows="start",
    ),
    fault(
        "the gates start all the same",
        change=model(
            BUILT,
            f"{BUILT}        for block in self.blocks:\n"
            "            nn.init.constant_(block.network.gate.weight, 0.02)\n",
        ),
        where=NETWORK, inquiry="start", shows="start",
    ),
    fault(
        "the second block's values start at nothing",
        change=model(
            BUILT,
            f"{BUILT}        nn.init.zeros_(self.blocks[1].attention.value.weight)\n"
            "        nn.init.zeros_(self.blocks[1].attention.write.weight)\n",
        ),
        where=SECOND, inquiry="start", also_right=("parameters",), shows="start",
    ),
    # ---- evaluation ----
    fault(
        "noise that stays in evaluation",
        change=model("stream = self.pieces(ids)", "stream = F.dropout(self.pieces(ids), 0.1)"),
        where=None, inquiry="evaluation", shows="two runs",
    ),
    # ---- numbers ----
    fault(
        "nothing added under the root, and a row of zeros",
        change=layers(SQUARES, SQUARES.replace(" + self.eps", "")),
        more=(model(BUILT, f"{BUILT}        self.pieces.weight.data[0] = 0\n"),),
        where=NORMS, inquiry="numbers", also_right=("stream",), shows="word 0",
    ),
    fault(
        "squares in half precision",
        change=layers("wide = inputs.float()  #", "wide = inputs  #"),
        where=NORMS, inquiry="numbers", shows="half precision",
    ),
    fault(
        "frequencies rounded with the weights",
        change=model(
            "self.frequencies.to(ids.device))[:, None]",
            "self.frequencies.to(self.pieces.weight.dtype))[:, None].to(self.pieces.weight.dtype)",
        ),
        where=None, inquiry="numbers", also_right=("positions",), shows="bfloat16",
    ),
    fault(
        "a table of float32 in the second block",
        change=model(
            ONE_BLOCK,
            "            stream = block(stream, angles, visible, cache)\n"
            "            stream = stream + self.shift if block is self.blocks[1] else stream\n",
        ),
        more=(model(BUILT, f"{BUILT}        self.shift = torch.zeros(d_model)\n"),),
        where=None, inquiry="numbers", also_right=("parameters",), shows="bfloat16",
    ),
    # ---- cache ----
    fault(
        "places from 0 again with a cache",
        change=model("torch.arange(before, before + ids.shape[-1]", "torch.arange(0, ids.shape[-1]"),
        where=None, inquiry="cache", also_right=("positions",), shows="cache",
    ),
    fault(
        "keys are kept before they are turned",
        change=model(
            EXTENDED,
            "            key, value = cache.extended(self.split(self.key(inputs), self.groups), value)",
        ),
        where=ATTENTION, inquiry="cache", also_right=("positions",), shows="cache",
    ),
    fault(
        "the first query beside the first key",
        change=model("if visible is None and before:", "if False:"),
        where=None, inquiry="cache", also_right=("sight",), shows="cache",
    ),
    fault(
        "all is put into the cache twice",
        change=model(EXTENDED, f"            cache.extended(key, value)\n{EXTENDED}"),
        where=ATTENTION, inquiry="cache", shows="cache",
    ),
    fault(
        "the second block does not ask its cache",
        change=model(
            "            stream = block(stream, angles, visible, cache)\n",
            "            if block is self.blocks[1] and cache is not None:\n"
            "                stream = block(stream, angles, causal(ids.shape[1]), None)\n"
            "                continue\n"
            "            stream = block(stream, angles, visible, cache)\n",
        ),
        where=SECOND, inquiry="cache", shows="cache",
    ),
    # ---- output ----
    fault(
        "logits between 0 and 1",
        change=model(WRITTEN, f"{WRITTEN}.sigmoid()"),
        where=None, inquiry="output", shows="logits",
    ),
    fault(
        "logits of the next place",
        change=model(WRITTEN, f"{WRITTEN}.roll(-1, dims=1)"),
        where=None, inquiry="output", also_right=("sight",), shows="logits",
    ),
]  # fmt: skip
