"""Faults in the recurrent translators: Bahdanau's decoder looks before each step, Luong's behind it."""

from functools import partial

from faulty_models.kinds import Change, Fault

bahdanau, luong = partial(Fault, model="Bahdanau"), partial(Fault, model="Luong")
model = partial(Change, "chapters/translating_with_attention/models.py")
attention = partial(Change, "attnlab/attention.py")
scores = partial(Change, "attnlab/scores.py")
masks = partial(Change, "attnlab/masks.py")

LOOKING = "looking = masked_softmax(self.score(state[:, None], memory.states), memory.mask)"
CONTEXT = "context = (looking @ memory.states)[:, 0]  # (B, width)"
STEP = "state = self.gru(torch.cat([word, context], -1), state)"
LUONG_READS = "states, state = self.gru(self.embedding(previous), state[None])  # (B, T, width)"
LUONG_LOOKS = "weights = masked_softmax(self.score(states, memory.states), memory.mask)  # (B, T, S)"
LUONG_GRU = "self.gru = nn.GRU(width, width, batch_first=True)"
LUONG_CONTEXT = "context = weights @ memory.states  # (B, T, width)"
LUONG_SAYS = "return self.word(self.combine(torch.cat([states, context], -1)).tanh()), state[0], weights"
DECODED = "logits: Tensor = self.decoder(previous, memory.last, memory)[0]"
PACKED = "packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)"
DECODER, ENCODER = r"decoder(\..*)?", r"encoder(\..*)?"

FAULTS = [
    # ---- sight ----
    bahdanau(
        "each step begins from the encoder's last state",
        change=model(STEP, "state = self.gru(torch.cat([word, context], -1), memory.last)"),
        where=DECODER, inquiry="sight", shows="logits",
    ),
    luong(
        "the decoder reads from both ends",
        change=model(LUONG_GRU, "self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)"),
        more=(
            model(
                LUONG_READS,
                "states, state = self.gru(self.embedding(previous), torch.stack(state.chunk(2, -1)))",
            ),
        ),
        where=DECODER, inquiry="sight", shows="start",
    ),
    luong(
        "the word to come is read",
        change=model(LUONG_READS, LUONG_READS.replace("previous)", "previous.roll(-1, 1))")),
        where=DECODER, inquiry="sight", shows="logits",
    ),
    # ---- padding ----
    bahdanau(
        "padding looked at",
        change=model(LOOKING, "looking = masked_softmax(self.score(state[:, None], memory.states))"),
        where=DECODER, inquiry="padding", shows="logits",
    ),
    bahdanau(
        "padding shown and words hidden",
        change=masks("positions < lengths[:, None]", "positions >= lengths[:, None]"),
        where=r"encoder|decoder(\.score)?", inquiry="padding", shows="logits",
    ),
    luong(
        "the encoder reads padding",
        change=model(
            PACKED,
            "packed = pack_padded_sequence(embedded, torch.full_like(lengths, embedded.shape[1]).cpu(), "
            "batch_first=True)",
        ),
        where=ENCODER, inquiry="padding", shows="logits",
    ),
    # ---- scores ----
    bahdanau(
        "softmax over the one query",
        change=model(LOOKING, "looking = self.score(state[:, None], memory.states).softmax(1) * memory.mask"),
        where=DECODER, inquiry="scores", shows="logits",
    ),
    bahdanau(
        "the state does not ask",
        change=model(LOOKING, LOOKING.replace("state[:, None]", "torch.zeros_like(state[:, None])")),
        where=DECODER, inquiry="scores", also_right=("parameters",), shows="logits",
    ),
    bahdanau(
        "what was found is thrown away",
        change=model(CONTEXT, "context = 0 * (looking @ memory.states)[:, 0]"),
        where=DECODER, inquiry="scores", also_right=("parameters", "sight"), shows="logits",
    ),
    bahdanau(
        "no tanh in the score",
        change=scores(").tanh_()", ")"),
        where=r"decoder(\.score)?", inquiry="scores", shows="logits",
    ),
    luong(
        "softmax over the queries",
        change=model(LUONG_LOOKS, "weights = self.score(states, memory.states).softmax(1) * memory.mask"),
        where=DECODER, inquiry="scores", also_right=("sight",), shows="logits",
    ),
    luong(
        "the best place alone",
        change=model(
            LUONG_LOOKS,
            f"{LUONG_LOOKS}\n"
            "            weights = (weights == weights.amax(-1, keepdim=True)).to(weights.dtype)",
        ),
        where=DECODER, inquiry="scores", also_right=("parameters",), shows="logits",
    ),
    # ---- batch ----
    bahdanau(
        "each sentence reads another's states",
        change=model(CONTEXT, "context = (looking @ memory.states.roll(1, 0))[:, 0]"),
        where=DECODER, inquiry="batch", shows="logits",
    ),
    luong(
        "the decoder reads along the batch",
        change=model(LUONG_GRU, "self.gru = nn.GRU(width, width)"),
        more=(model(LUONG_READS, "states, state = self.gru(self.embedding(previous))"),),
        where=DECODER, inquiry="batch", shows="logits",
    ),
    # ---- parameters ----
    bahdanau(
        "the encoder's states are detached",
        change=model(
            "return Memory(states, masks.padding(lengths), last.transpose",
            "return Memory(states.detach(), masks.padding(lengths), last.detach().transpose",
        ),
        where=ENCODER, inquiry="parameters", shows="gradients",
    ),
    luong(
        "the encoder's words still frozen",
        change=model(
            "        self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)\n",
            "        self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)\n"
            "        self.embedding.weight.requires_grad_(False)\n",
        ),
        where=r"encoder(\.embedding)?", inquiry="parameters", shows="gradients",
    ),
    luong(
        "the encoder under no_grad",
        change=model(
            "memory = self.encoder(source, lengths)\n        logits: Tensor",
            "with torch.no_grad():\n"
            "            memory = self.encoder(source, lengths)\n"
            "        logits: Tensor",
        ),
        where=ENCODER, inquiry="parameters", shows="gradients",
    ),
    # ---- start ----
    luong(
        "the encoder's words start a hundred times too large",
        change=model(
            "        self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)\n",
            "        self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)\n"
            "        self.embedding.weight.data *= 100\n",
        ),
        where=ENCODER, inquiry="start", also_right=("numbers",), shows="start",
    ),
    # ---- numbers ----
    luong(
        "exp without the maximum taken off",
        change=model(
            LUONG_LOOKS,
            "raised = self.score(states, memory.states).exp() * memory.mask\n"
            "            weights = raised / raised.sum(-1, keepdim=True)",
        ),
        where=DECODER, inquiry="numbers", shows="large numbers",
    ),
    bahdanau(
        "hidden by -1e9",
        change=attention(
            "drop = torch.where(visible, -math.inf, 0.0).to(scores.dtype)  # (…, n, 1)\n",
            "drop = torch.full_like(scores, -1e9)\n",
        ),
        where=r"decoder(\.score)?", inquiry="numbers", shows="half precision",
    ),
    # ---- evaluation ----
    bahdanau(
        "noise in the score that stays",
        change=model(
            LOOKING,
            "asked = F.dropout(state[:, None], 0.1)\n"
            "                looking = masked_softmax(self.score(asked, memory.states), memory.mask)",
        ),
        where=DECODER, inquiry="evaluation", shows="two runs",
    ),
    # ---- output ----
    bahdanau(
        "logits from the last place to the first",
        change=model(
            "return logits, state, torch.cat(used, 1)",
            "return logits.flip(1), state, torch.cat(used, 1)",
        ),
        where=DECODER, inquiry="output", also_right=("sight",), shows="logits",
    ),
    luong(
        "probabilities for logits",
        change=model(LUONG_SAYS, LUONG_SAYS.replace(".tanh()), state", ".tanh()).softmax(-1), state")),
        where=DECODER, inquiry="output", shows="logits",
    ),
    luong(
        "padding can never be said, nor <start>",
        change=model(DECODED, f"{DECODED}.index_fill(-1, torch.tensor([0, 1]), -1e4)"),
        where=None, inquiry="output", shows="logits",
    ),
]  # fmt: skip
