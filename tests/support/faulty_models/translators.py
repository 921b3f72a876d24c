"""Faults in the recurrent translators: Bahdanau's decoder looks before each step, Luong's behind it."""

from functools import partial

from faulty_models.kinds import Change, attention, masks, planted_in, scores

bahdanau, luong = planted_in("Bahdanau"), planted_in("Luong")
model = partial(Change, "chapters/translating_with_attention/models.py")

LOOKING = "looking = masked_softmax(self.score(state[:, None], memory.states), memory.mask)"
CONTEXT = "context = (looking @ memory.states)[:, 0]  # (B, width)"
STEP = "state = self.gru(torch.cat([word, context], -1), state)"
LUONG_READS = "states, state = self.gru(self.embedding(previous), state[None])  # (B, T, width)"
LUONG_LOOKS = "weights = masked_softmax(self.score(states, memory.states), memory.mask)  # (B, T, S)"
LUONG_GRU = "self.gru = nn.GRU(width, width, batch_first=True)"
LUONG_SAYS = "return self.word(self.combine(torch.cat([states, context], -1)).tanh()), state[0], weights"
DECODED = "logits: Tensor = self.decoder(previous, memory.last, memory)[0]"
PACKED = "packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)"
DECODER, ENCODER = r"decoder(\..*)?", r"encoder(\..*)?"

FAULTS = [
    bahdanau("each step begins from the encoder's last state", "sight", DECODER,
        model(STEP, "state = self.gru(torch.cat([word, context], -1), memory.last)")),
    luong("the decoder reads from both ends", "sight", DECODER,
        model(LUONG_GRU, "self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)"),
        model(LUONG_READS,
            "states, state = self.gru(self.embedding(previous), torch.stack(state.chunk(2, -1)))")),
    luong("the word to come is read", "sight", DECODER,
        model(LUONG_READS, LUONG_READS.replace("previous)", "previous.roll(-1, 1))"))),
    bahdanau("padding looked at", "padding", DECODER,
        model(LOOKING, "looking = masked_softmax(self.score(state[:, None], memory.states))")),
    bahdanau("padding shown and words hidden", "padding", r"encoder|decoder(\.score)?",
        masks("positions < lengths[:, None]", "positions >= lengths[:, None]")),
    luong("the encoder reads padding", "padding", ENCODER,
        model(PACKED, PACKED.replace("lengths.cpu()", "torch.full_like(lengths, embedded.shape[1]).cpu()"))),
    bahdanau("softmax over the one query", "scores", DECODER,
        model(LOOKING, "looking = self.score(state[:, None], memory.states).softmax(1) * memory.mask")),
    bahdanau("the state does not ask", "scores parameters", DECODER,
        model(LOOKING, LOOKING.replace("state[:, None]", "torch.zeros_like(state[:, None])"))),
    bahdanau("what was found is thrown away", "scores parameters sight", DECODER,
        model(CONTEXT, "context = 0 * (looking @ memory.states)[:, 0]")),
    bahdanau("no tanh in the score", "scores", r"decoder(\.score)?", scores(").tanh_()", ")")),
    luong("softmax over the queries", "scores sight", DECODER,
        model(LUONG_LOOKS, "weights = self.score(states, memory.states).softmax(1) * memory.mask")),
    luong("the best place alone", "scores parameters", DECODER,
        model(LUONG_LOOKS,
            f"{LUONG_LOOKS}\nweights = (weights == weights.amax(-1, keepdim=True)).to(weights.dtype)")),
    bahdanau("each sentence reads another's states", "batch", DECODER,
        model(CONTEXT, "context = (looking @ memory.states.roll(1, 0))[:, 0]")),
    luong("the decoder reads along the batch", "batch", DECODER,
        model(LUONG_GRU, "self.gru = nn.GRU(width, width)"),
        model(LUONG_READS, "states, state = self.gru(self.embedding(previous))")),
    bahdanau("the encoder's states are detached", "parameters", ENCODER,
        model("return Memory(states, masks.padding(lengths), last.transpose",
            "return Memory(states.detach(), masks.padding(lengths), last.detach().transpose")),
    luong("the encoder's words still frozen", "parameters", r"encoder(\.embedding)?",
        model("self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)",
            "self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)\n"
            "self.embedding.weight.requires_grad_(False)")),
    luong("the encoder under no_grad", "parameters", ENCODER,
        model("memory = self.encoder(source, lengths)\n        logits: Tensor",
            "with torch.no_grad():\n    memory = self.encoder(source, lengths)\nlogits: Tensor")),
    luong("the encoder's words start a hundred times too large", "start numbers", ENCODER,
        model("self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)",
            "self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)\n"
            "self.embedding.weight.data *= 100")),
    luong("exp without the maximum taken off", "numbers", DECODER,
        model(LUONG_LOOKS,
            "raised = self.score(states, memory.states).exp() * memory.mask\n"
            "weights = raised / raised.sum(-1, keepdim=True)")),
    bahdanau("hidden by -1e9", "numbers", r"decoder(\.score)?",
        attention("drop = torch.where(visible, -math.inf, 0.0).to(scores.dtype)  # (…, n, 1)",
            "drop = torch.full_like(scores, -1e9)")),
    bahdanau("noise in the score that stays", "evaluation", DECODER,
        model(LOOKING,
            "asked = F.dropout(state[:, None], 0.1)\n"
            "looking = masked_softmax(self.score(asked, memory.states), memory.mask)")),
    bahdanau("logits from the last place to the first", "output sight", DECODER,
        model("return logits,", "return logits.flip(1),")),
    luong("probabilities for logits", "output", DECODER,
        model(LUONG_SAYS, LUONG_SAYS.replace(".tanh()), state", ".tanh()).softmax(-1), state"))),
    luong("padding can never be said, nor <start>", "output", None,
        model(DECODED, f"{DECODED}.index_fill(-1, torch.tensor([0, 1]), -1e4)")),
]  # fmt: skip
