"""“Translating with attention”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import math
from functools import partial

import exercise_cases
import torch
from exercise_cases import changed, judged_as, words
from torch import nn
from torch.nn import functional as F

from chapters.translating_with_attention.exercises import (
    check_alignment_error_rate,
    check_attention_decoder,
    check_beam_search,
    check_one_look,
    check_repaired_company,
    check_words_read,
)

look, error_rate, contexts, search, read_by = (
    check.reference
    for check in (
        check_one_look,
        check_alignment_error_rate,
        check_repaired_company,
        check_beam_search,
        check_words_read,
    )
)


class MyDecoder(nn.Module):
    """Each step is a method, for the mistakes to change."""

    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.W, self.U = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, 1, bias=False)
        self.gru, self.word = nn.GRUCell(2 * width, width), nn.Linear(2 * width, words)

    def forward(self, previous, state, memory, mask):
        logits, looked = [], []
        keys = self.U(memory)
        for step in range(previous.shape[1]):
            weights = self.weigh(self.scores(state, keys), mask[:, 0])
            context = torch.einsum("bs,bsd->bd", weights, memory)
            state = self.gru(self.fed(self.embedding(previous[:, step]), context), state)
            logits.append(self.word(self.read(state, context)))
            looked.append(weights)
        return torch.stack(logits, dim=1), torch.stack(looked, dim=1)

    def scores(self, state, keys):
        return self.v(torch.tanh(self.W(state).unsqueeze(1) + keys)).squeeze(-1)  # (B, S)

    def weigh(self, scores, mask):
        return scores.masked_fill(~mask, -math.inf).softmax(-1)

    def fed(self, word, context):
        return torch.cat([word, context], dim=-1)

    def read(self, state, context):
        return torch.cat([state, context], dim=-1)


def variant(base=MyDecoder, **methods):
    return type("MyDecoder", (base,), methods)


def test_the_broken_code_fails_and_its_passing_cases_are_the_clue():
    exercise_cases.assert_still_broken(check_repaired_company, zeros_for_padding, "✓✓✗✗✗")


def test_the_decoder_names_at_least_twenty_mistakes():
    assert len(check_attention_decoder.mistakes) >= 20


def test_a_loop_over_the_steps_is_right_and_the_same_product_at_each_is_remarked_on():
    said = words(check_attention_decoder.judge(MyDecoder))
    assert "remark" not in said
    assert "computed twice" in words(check_attention_decoder.judge(KeysAtEachStep))


# --- right, in other words ---


class KeysAtEachStep(MyDecoder):
    def forward(self, previous, state, memory, mask):
        logits, looked = [], []
        for word in self.embedding(previous).unbind(1):
            scores = self.v((self.W(state)[:, None] + self.U(memory)).tanh()).mT  # (B, 1, S)
            weights = F.softmax(scores + torch.where(mask, 0.0, -math.inf).to(scores), dim=-1)
            context = (weights @ memory).squeeze(1)
            state = self.gru(torch.hstack([word, context]), state)
            logits.append(self.word(torch.hstack([state, context])))
            looked.append(weights)
        return [torch.stack(logits, 1), torch.cat(looked, 1)]


def look_by_loop(scores, states, words):
    powers = [scores[place].exp() if place < words else scores[place] * 0 for place in range(len(scores))]
    weights = torch.stack(powers) / sum(powers)
    return weights, (weights[:, None] * states).sum(0)


def look_at_a_part(scores, states, words):
    weights = torch.cat([scores[:words].softmax(0), scores[words:] * 0])
    return weights, weights[:words] @ states[:words]


def weighed_and_mixed(scores, states):
    return scores.softmax(0), scores.softmax(0) @ states


def rate_by_counting(weights, gold):
    hits = sum(bool(gold[t, weights[t].argmax()]) for t in range(len(gold)))
    return 1 - 2 * hits / (len(gold) + gold.sum())


def rate_by_one_hot(weights, gold):
    links = F.one_hot(weights.argmax(1), weights.shape[1]).bool()
    return float(1 - 2 * (links & gold).sum() / (links.sum() + gold.sum()))


def contexts_one_by_one(states, memory, lengths):
    return torch.stack(
        [
            (mine @ theirs[:length].mT).softmax(-1) @ theirs[:length]
            for mine, theirs, length in zip(states, memory, lengths, strict=True)
        ]
    )


def contexts_fused(states, memory, lengths):
    shown = torch.arange(memory.shape[1]) < lengths[:, None]
    return F.scaled_dot_product_attention(states, memory, memory, attn_mask=shown[:, None], scale=1.0)


def likeliest_and_the_rest(rows, ended, width, end):
    kept = sorted(rows, key=lambda one: one[1], reverse=True)[:width]
    return [one for one in kept if one[0][-1] != end], ended + [one for one in kept if one[0][-1] == end]


def refilled(rows, ended, width, end):
    """As many go on as the beam is wide. What comes in is less likely than what ended: nothing changes."""
    going_on = [one for one in rows if one[0][-1] != end]
    return (
        likeliest_and_the_rest(going_on, [], width, end)[0],
        likeliest_and_the_rest(rows, ended, width, end)[1],
    )


def beam_of_tuples(
    table, start, end, width, choose=likeliest_and_the_rest, stop=lambda rows, ended: False, longest=20
):
    rows, ended = [((start,), 0.0)], []
    for _ in range(longest):
        longer = [
            ((*row, word), total + float(table[row[-1], word]))
            for row, total in rows
            for word in range(len(table))
            if table[row[-1], word] > -math.inf
        ]
        rows, ended = choose(longer, ended, width, end)
        if not rows or stop(rows, ended):
            break
    row, total = max(ended or rows, key=lambda one: one[1])
    return list(row[1:]), total


def one_other_word(model, source, words):
    """Each word replaced by its successor; which rows move at all."""
    return replaced_by(model, source, lambda word: (word + 1) % words)


def replaced_by(model, source, other_word):
    logits, places = model(source)[0], [-1] * len(model(source)[0])
    for place in range(len(source)):
        other = source.clone()
        other[place] = other_word(int(other[place]))
        for t in (model(other)[0] != logits).any(-1).nonzero().flatten().tolist():
            places[t] = place
    return places


RIGHT = {
    check_one_look: {"loop": look_by_loop, "a part": look_at_a_part},
    check_alignment_error_rate: {"counting": rate_by_counting, "one-hot": rate_by_one_hot},
    check_repaired_company: {"one by one": contexts_one_by_one, "fused": contexts_fused},
    check_beam_search: {
        "tuples": beam_of_tuples,
        "filled up": partial(beam_of_tuples, choose=refilled),
        "stops when nothing likelier can come": partial(
            beam_of_tuples,
            stop=lambda rows, ended: (
                ended and max(total for _, total in ended) > max(total for _, total in rows)
            ),
        ),
        "a tensor": lambda *inputs: (torch.tensor(beam_of_tuples(*inputs)[0]), beam_of_tuples(*inputs)[1]),
    },
    check_attention_decoder: {
        "keys once": MyDecoder,
        "keys at each step": KeysAtEachStep,
        "-1e9": variant(weigh=lambda self, scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1)),
    },
    check_words_read: {"one other word": one_other_word},
}

# --- as learners got it wrong ---


def zeros_for_padding(states, memory, lengths):
    shown = torch.arange(memory.shape[1]) < lengths[:, None]  # (B, S)
    memory = memory * shown[:, :, None]
    weights = (states @ memory.mT).softmax(-1)
    return weights @ memory


def weighed(change):
    return variant(weigh=lambda self, scores, mask: change(scores, mask))


def loops(**changes):
    """The decoder with other steps: `ask`, `step` and `read` are given all there is."""

    def forward(self, previous, state, memory, mask):
        first, context, logits, looked = state, torch.zeros_like(state), [], []
        for word in self.embedding(previous).unbind(1):
            if "late" in changes:
                state = self.gru(torch.cat([word, context], -1), state)
            asks = first if "first" in changes else word if "word" in changes else state
            weights = self.weigh(self.scores(asks, self.U(memory)), mask[:, 0])
            context = (weights[:, None] @ memory)[:, 0]
            before = state
            if "late" not in changes:
                start = first if "fixed" in changes else state
                state = self.gru(torch.cat([word, context], -1), start)
            read = before if "old" in changes else state
            logits.append(self.word(torch.cat([read, context], -1)))
            looked.append(weights)
        return torch.stack(logits, 1), torch.stack(looked, 1)

    return variant(forward=forward)


NAMED = {
    check_one_look: {
        "no mask": lambda scores, states, words: (scores.softmax(0), scores.softmax(0) @ states),
        "score 0": lambda scores, states, words: look(
            scores * (torch.arange(len(scores)) < words), states, len(scores)
        ),
        "one word too few": lambda scores, states, words: look_at_a_part(scores, states, words - 1),
        "strongest only": lambda scores, states, words: (
            look(scores, states, words)[0],
            states[scores[:words].argmax()],
        ),
        "mixed by other weights": lambda scores, states, words: (
            look_by_loop(scores, states, words)[0],
            look_by_loop(scores, states, len(scores))[1],
        ),
        "scaled": lambda scores, states, words: look_by_loop(scores / states.shape[1] ** 0.5, states, words),
        "last state": lambda scores, states, words: (look(scores, states, words)[0], states[len(states) - 1]),
        "results swapped": lambda *inputs: look_by_loop(*inputs)[::-1],
    },
    check_alignment_error_rate: {
        "precision": lambda weights, gold: 1 - gold.gather(1, weights.argmax(1)[:, None]).double().mean(),
        "recall": lambda weights, gold: (
            1 - gold.gather(1, weights.argmax(1)[:, None]).sum().item() / gold.sum().item()
        ),
        "share right": lambda weights, gold: 1 - rate_by_counting(weights, gold),
        "strongest for each English word": lambda weights, gold: rate_by_counting(weights.mT, gold.mT),
        "weight off gold": lambda weights, gold: 1 - (weights * gold).sum(-1).mean(),
        "one of gold for each word": lambda weights, gold: (
            sum(
                int(row.argmax()) != row_of_gold.tolist().index(True)
                for row, row_of_gold in zip(weights, gold, strict=True)
            )
            / len(gold)
        ),
        "mean of the rows": lambda weights, gold: (
            1 - (2 * gold.gather(1, weights.argmax(1)[:, None])[:, 0] / (1 + gold.sum(1))).mean()
        ),
        "above one half": lambda weights, gold: (
            1 - 2 * ((weights > 0.5) & gold).sum() / ((weights > 0.5).sum() + gold.sum())
        ),
        "in per cent": lambda weights, gold: 100 * rate_by_one_hot(weights, gold),
    },
    check_repaired_company: {
        "still broken": zeros_for_padding,
        "no mask": lambda states, memory, lengths: (states @ memory.mT).softmax(-1) @ memory,
        "hidden after the softmax": lambda states, memory, lengths: (
            ((states @ memory.mT).softmax(-1) * (torch.arange(memory.shape[1]) < lengths[:, None])[:, None])
            @ memory
        ),
        "one word too few": lambda states, memory, lengths: contexts_one_by_one(
            states, memory, (lengths - 1).clamp(min=1)
        ),
        "one word too many": lambda states, memory, lengths: contexts_one_by_one(states, memory, lengths + 1),
        "infinite states": lambda states, memory, lengths: (
            (
                states
                @ memory.masked_fill(
                    (torch.arange(memory.shape[1]) >= lengths[:, None])[..., None], -math.inf
                ).mT
            ).softmax(-1)
            @ memory
        ),
        "softmax over the queries, NaN": lambda states, memory, lengths: (
            (states @ memory.mT)
            .masked_fill((torch.arange(memory.shape[1]) >= lengths[:, None])[:, None], -math.inf)
            .softmax(1)
            @ memory
        ),
        "the shortest for all": lambda states, memory, lengths: contexts_one_by_one(
            states, memory, [int(lengths.min())] * len(lengths)
        ),
        "softmax over the queries": lambda states, memory, lengths: (
            (states @ memory.mT)
            .masked_fill((torch.arange(memory.shape[1]) >= lengths[:, None])[:, None], -1e9)
            .softmax(1)
            .masked_fill((torch.arange(memory.shape[1]) >= lengths[:, None])[:, None], 0)
            @ memory
        ),
    },
    check_beam_search: {
        "greedy": lambda table, start, end, width: beam_of_tuples(table, start, end, 1),
        "ended rows take no place": partial(
            beam_of_tuples,
            choose=lambda rows, ended, width, end: (
                refilled(rows, ended, width, end)[0],
                ended + [one for one in rows if one[0][-1] == end],
            ),
        ),
        "ended rows stay in the beam": partial(
            beam_of_tuples,
            choose=lambda rows, ended, width, end: likeliest_and_the_rest(rows + ended, [], width, end),
        ),
        "places lost": partial(
            beam_of_tuples,
            choose=lambda rows, ended, width, end: likeliest_and_the_rest(
                rows, ended, width - len(ended), end
            ),
        ),
        "stops when enough have ended": lambda table, start, end, width: beam_of_tuples(
            table, start, end, width, stop=lambda rows, ended: len(ended) >= width
        ),
        "one word too few": partial(beam_of_tuples, longest=19),
        "probability": lambda *inputs: (search(*inputs)[0], search(*inputs)[1].exp()),
        "start kept": lambda *inputs: ([inputs[1], *beam_of_tuples(*inputs)[0]], beam_of_tuples(*inputs)[1]),
        "end left out": lambda *inputs: (
            [word for word in beam_of_tuples(*inputs)[0] if word != inputs[2]],
            beam_of_tuples(*inputs)[1],
        ),
        "total turned": lambda *inputs: (search(*inputs)[0], -search(*inputs)[1]),
    },
    check_attention_decoder: {
        "no tanh": variant(scores=lambda self, state, keys: self.v(self.W(state)[:, None] + keys)[..., 0]),
        "dot product": variant(
            forward=lambda self, previous, state, memory, mask: dotted(self, previous, state, memory, mask)
        ),
        "state left out": variant(
            scores=lambda self, state, keys: self.v(self.W(state).tanh()[:, None] + keys.tanh())[..., 0]
        ),
        "log-probabilities": variant(
            forward=lambda self, *inputs: (lambda logits, weights: (logits.log_softmax(-1), weights))(
                *MyDecoder.forward(self, *inputs)
            )
        ),
        "no mask": weighed(lambda scores, mask: scores.softmax(-1)),
        "reversed": weighed(lambda scores, mask: scores.masked_fill(mask, -math.inf).softmax(-1)),
        "hidden after the softmax": weighed(
            lambda scores, mask: scores.softmax(-1).masked_fill(~mask, 0),
        ),
        "score 0": weighed(lambda scores, mask: scores.masked_fill(~mask, 0).softmax(-1)),
        "softmax over the batch": weighed(
            lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(0),
        ),
        "context first": variant(fed=lambda self, word, context: torch.cat([context, word], -1)),
        "context not read": variant(
            fed=lambda self, word, context: torch.cat([word, context.new_zeros(context.shape)], -1)
        ),
        "read in the wrong order": variant(read=lambda self, state, context: torch.cat([context, state], -1)),
        "first state asks": loops(first=True),
        "word asks": loops(word=True),
        "state never moves on": loops(fixed=True),
        "old state read": loops(old=True),
        "looks after its step": loops(late=True),
        "probabilities": variant(
            forward=lambda self, *inputs: (lambda logits, weights: (logits.softmax(-1), weights))(
                *MyDecoder.forward(self, *inputs)
            )
        ),
        "results swapped": variant(forward=lambda self, *inputs: MyDecoder.forward(self, *inputs)[::-1]),
        "time first": variant(
            forward=lambda self, *inputs: tuple(x.transpose(0, 1) for x in MyDecoder.forward(self, *inputs))
        ),
        "last step alone": variant(
            forward=lambda self, *inputs: tuple(x[:, -1:] for x in MyDecoder.forward(self, *inputs))
        ),
    },
    check_words_read: {
        "read off the weights": lambda model, source, words: model(source)[1].argmax(-1).tolist(),
        "nothing moves": lambda model, source, words: [-1] * len(one_other_word(model, source, words)),
        "words for places": lambda model, source, words: [
            int(source[place]) if place >= 0 else -1 for place in one_other_word(model, source, words)
        ],
        "always by word 1": lambda model, source, words: replaced_by(model, source, lambda word: 1),
        "counted from 1": lambda *inputs: [
            place + 1 if place >= 0 else -1 for place in one_other_word(*inputs)
        ],
        "depends or not": lambda *inputs: [min(1, place + 1) or -1 for place in one_other_word(*inputs)],
    },
}


def dotted(decoder, previous, state, memory, mask):
    keys = nn.Identity()
    other = variant(scores=lambda self, state, memory: (memory @ state[..., None])[..., 0])(7, 4)
    other.load_state_dict(decoder.state_dict())
    other.to(memory.dtype).U = keys
    return other(previous, state, memory, mask)


# --- wrong, in ways that the catalogue does not hold ---


class NothingInIt(nn.Module):
    def __init__(self, words, width):
        super().__init__()

    def forward(self, previous, state, memory, mask):
        return memory, mask


UNKNOWN = {
    check_one_look: {
        "states reversed": lambda scores, states, words: look(scores, states.flip(0), words),
        "-10 for padding": lambda scores, states, words: weighed_and_mixed(
            scores.masked_fill(torch.arange(len(scores)) >= words, -10.0), states
        ),
        "doubled": changed(look, lambda results: (results[0], 2 * results[1])),
    },
    check_alignment_error_rate: {
        "half": changed(error_rate, lambda rate: rate / 2),
        "nothing": lambda weights, gold: 0.0,
    },
    check_repaired_company: {
        "memory reversed": lambda states, memory, lengths: contexts(states, memory.flip(1), lengths),
        "scaled": lambda states, memory, lengths: contexts(states / 3**0.5, memory, lengths),
    },
    check_beam_search: {
        "end taken for 1": lambda table, start, end, width: search(table, start, 1, width),
        "one wider": lambda table, start, end, width: search(table, start, end, width + 1),
        "reversed": lambda *inputs: (search(*inputs)[0].flip(0), search(*inputs)[1]),
        "words alone": lambda *inputs: search(*inputs)[0],
    },
    check_attention_decoder: {
        "made of nothing": NothingInIt,
        "logits alone": variant(forward=lambda self, *inputs: MyDecoder.forward(self, *inputs)[0]),
        "dropout": weighed(lambda scores, mask: F.dropout(scores.masked_fill(~mask, -1e9).softmax(-1), 0.3)),
        "memory reversed": variant(
            forward=lambda self, previous, state, memory, mask: MyDecoder.forward(
                self, previous, state, memory.flip(1), mask
            )
        ),
    },
    check_words_read: {
        "a word that there is not": lambda model, source, words: replaced_by(
            model, source, lambda word: word + 1
        ),
        "a word before the first": lambda model, source, words: replaced_by(model, source, lambda word: -1),
        "always the first": lambda model, source, words: [0] * len(model.reads),
        "a number": lambda model, source, words: 1,
        "too few": lambda model, source, words: [0],
    },
}

test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
