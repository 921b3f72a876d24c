"""“Three ways to read a sequence”: right ways, learners' mistakes, and faults that no catalogue holds."""

import exercise_cases
import torch
from exercise_cases import changed, judged_as
from torch import nn
from torch.nn import functional as F

from chapters.three_ways_to_read_a_sequence.exercises import (
    check_gru_step,
    check_mean_pooled,
    check_remembering,
    check_repaired_convolution,
    check_shifted_targets,
    check_words_heard,
)


def broken_convolution(x, weight, dilation):
    length, margin = x.shape[-2], (len(weight) - 1) * dilation // 2
    padded = F.pad(x, (0, 0, margin, margin))
    output = 0
    for place in range(len(weight)):
        begin = place * dilation
        output = output + padded[..., begin : begin + length, :] @ weight[place]
    return output


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_convolution, broken_convolution, "✓✗✗✗")


def test_a_fault_of_the_window_is_not_told_as_one_of_the_batch():
    turned = UNKNOWN[check_repaired_convolution]["round the corner"]
    assert check_repaired_convolution.judge(turned).mistake is None


# --- right, in other words ---


def by_windows(kernel, dilations):
    heard = {0}
    for dilation in reversed(dilations):
        heard = {back + place * dilation for back in heard for place in range(kernel)}
    return max(heard) + 1


def by_halves(from_word, from_state, state):
    gates = (from_word + from_state).sigmoid()
    reset, z, _ = gates.chunk(3, -1)
    width = state.shape[-1]
    n = torch.tanh(from_word[..., 2 * width :] + reset * from_state[..., 2 * width :])
    return torch.lerp(n, state, z)


def by_conv1d(x, weight, dilation):
    reach = (len(weight) - 1) * dilation
    alone = x.dim() == 2
    turned = F.pad(x[None].mT if alone else x.mT, (reach, 0))
    made = F.conv1d(turned, weight.permute(2, 1, 0), dilation=dilation).mT
    return made[0] if alone else made


def word_by_word(x, weight, dilation):
    rows = []
    for word in range(x.shape[-2]):
        total = torch.zeros_like(x[..., 0, :])
        for place, matrix in enumerate(weight):
            read = word - (len(weight) - 1 - place) * dilation
            if read >= 0:
                total = total + x[..., read, :] @ matrix
        rows.append(total)
    return torch.stack(rows, -2)


def by_where(texts):
    targets = texts[:, 1:].clone()
    targets[targets == 0] = -100
    return texts[:, : texts.shape[1] - 1], targets


def by_weights(outputs, real):
    share = real.to(outputs.dtype) / real.sum(-1, keepdim=True)
    return (share.unsqueeze(-2) @ outputs).squeeze(-2)


def by_text(outputs, real):
    if outputs.dim() == 2:
        return outputs[real].mean(0)
    return torch.stack([row[keep].mean(0) for row, keep in zip(outputs, real, strict=True)])


def drawn(longest, steps):
    def make():
        distances = torch.randint(1, longest + 1, (steps,), generator=torch.Generator().manual_seed(3))
        return distances[distances.cumsum(0) <= 2400].tolist()

    return make


RIGHT = {
    check_words_heard: {
        "by windows": by_windows,
        "a loop": lambda kernel, dilations: 1 + sum((kernel - 1) * each for each in dilations),
    },
    check_gru_step: {
        "halves": by_halves,
        "nudged": lambda word, old, state: (
            state
            + (1 - (word + old).chunk(3, -1)[1].sigmoid())
            * (check_gru_step.reference(word, old, torch.zeros_like(state))
               / (1 - (word + old).chunk(3, -1)[1].sigmoid()) - state)
        ),
    },
    check_repaired_convolution: {"conv1d": by_conv1d, "word by word": word_by_word},
    check_shifted_targets: {"in place, on a copy": by_where},
    check_mean_pooled: {"weights": by_weights, "text by text": by_text},
    check_remembering: {
        "drawn": drawn(15, 300),
        "all eight": lambda: [8] * 300,
        "growing": lambda: [1 + step // 15 for step in range(210)],
        "a tensor": lambda: torch.tensor([8] * 300),
        "NumPy's numbers": lambda: [*torch.tensor([8] * 300).numpy()],
        "a range": lambda: range(1, 69),
    },
}  # fmt: skip

# --- as learners got it wrong ---

NAMED = {
    check_words_heard: {
        "own word forgotten": lambda kernel, dilations: by_windows(kernel, dilations) - 1,
        "kernel for gaps": lambda kernel, dilations: 1 + sum(kernel * each for each in dilations),
        "dilations forgotten": lambda kernel, dilations: len(dilations) * (kernel - 1) + 1,
        "top layer alone": lambda kernel, dilations: (kernel - 1) * max(dilations) + 1,
        "kernel to the layers": lambda kernel, dilations: kernel ** len(list(dilations)),
        "window added": lambda kernel, dilations: kernel + sum((kernel - 1) * each for each in dilations),
        "both sides": lambda kernel, dilations: 2 * by_windows(kernel, dilations) - 1,
        "every tap": lambda kernel, dilations: sum(kernel for _ in dilations),
    },
    check_gru_step: {
        "gate the wrong way round": lambda word, old, state: torch.lerp(
            state,
            torch.tanh(
                word.chunk(3, -1)[2] + (word + old).chunk(3, -1)[0].sigmoid() * old.chunk(3, -1)[2]
            ),
            (word + old).chunk(3, -1)[1].sigmoid(),
        ),
        "nothing kept": lambda word, old, state: torch.tanh(
            word.chunk(3, -1)[2] + (word + old).chunk(3, -1)[0].sigmoid() * old.chunk(3, -1)[2]
        ),
        "gates by the word alone": lambda word, old, state: by_halves(
            word, torch.cat([0 * old[..., : -state.shape[-1]], old[..., -state.shape[-1] :]], -1), state
        ),
        "gates by the state alone": lambda word, old, state: by_halves(
            torch.cat([0 * word[..., : -state.shape[-1]], word[..., -state.shape[-1] :]], -1), old, state
        ),
        "multiplied": lambda word, old, state: by_halves(
            torch.cat([(word * old)[..., : -state.shape[-1]], word[..., -state.shape[-1] :]], -1),
            torch.cat([0 * old[..., : -state.shape[-1]], old[..., -state.shape[-1] :]], -1),
            state,
        ),
        "state reset": lambda word, old, state: by_halves(
            word, torch.cat([old[..., : -state.shape[-1]], state], -1), state
        ),
        "no reset": lambda word, old, state: torch.lerp(
            (word + old).chunk(3, -1)[2].tanh(), state, (word + old).chunk(3, -1)[1].sigmoid()
        ),
        "both reset": lambda word, old, state: torch.lerp(
            ((word + old).chunk(3, -1)[2] * (word + old).chunk(3, -1)[0].sigmoid()).tanh(),
            state,
            (word + old).chunk(3, -1)[1].sigmoid(),
        ),
    },
    check_repaired_convolution: {
        "still broken": broken_convolution,
        "on the right": lambda x, weight, dilation: by_conv1d(x.flip(-2), weight.flip(0), dilation).flip(-2),
        "window turned": lambda x, weight, dilation: by_conv1d(x, weight.flip(0), dilation),
        "one place only": lambda x, weight, dilation: x @ weight.sum(0),
    },
    check_shifted_targets: {
        "padding counted": lambda texts: (texts[:, :-1].clone(), texts[:, 1:].clone()),
        "not shifted": lambda texts: (by_where(texts)[0], by_where(F.pad(texts, (1, 0)))[1][:, :-1]),
        "end mark skipped": lambda texts: (
            texts[:, :-1], torch.where(texts[:, 1:] > 2, texts[:, 1:], -100)
        ),
        "results swapped": lambda texts: by_where(texts)[::-1],
        "backwards": lambda texts: (texts[:, 1:], texts[:, :-1].masked_fill(texts[:, 1:] == 0, -100)),
    },
    check_mean_pooled: {
        "padding counted": lambda outputs, real: outputs.sum(-2) / outputs.shape[-2],
        "divided by all": lambda outputs, real: torch.where(real.unsqueeze(-1), outputs, 0).mean(-2),
        "sum": lambda outputs, real: (real.to(outputs.dtype).unsqueeze(-2) @ outputs).squeeze(-2),
        "counted over all texts": lambda outputs, real: (
            torch.where(real.unsqueeze(-1), outputs, 0).sum(-2) / real.sum()
        ),
        "taken from the front": lambda outputs, real: by_weights(
            outputs, torch.arange(outputs.shape[-2]) < real.sum(-1, keepdim=True)
        ),
        "last place": lambda outputs, real: outputs[..., -1, :].clone(),
        "over the features": lambda outputs, real: outputs.sum(-1) / outputs.shape[-1],
    },
    check_remembering: {
        "48 alone": lambda: [24] * 100,
        "short alone": lambda: [3, 2] * 150,
        "over the budget": lambda: [8] * 301,
        "no distance": lambda: [0] * 100,
        "nothing": lambda: [],
    },
}  # fmt: skip

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_words_heard: {
        "doubled": lambda kernel, dilations: 2 * by_windows(kernel, dilations),
        "negative": lambda kernel, dilations: -1,
    },
    check_gru_step: {
        "halved": changed(check_gru_step.reference, lambda state: state / 2),
        "an LSTM's": lambda word, old, state: nn.functional.relu(state),
    },
    check_repaired_convolution: {
        "halved": changed(check_repaired_convolution.reference, lambda made: made / 2),
        "detached": changed(check_repaired_convolution.reference, torch.detach),
        "round the corner": lambda x, weight, dilation: sum(
            x.roll((len(weight) - 1 - place) * dilation, -2) @ matrix for place, matrix in enumerate(weight)
        ),
    },
    check_shifted_targets: {
        "all ignored": lambda texts: (texts[:, :-1], torch.full_like(texts[:, 1:], -100)),
    },
    check_mean_pooled: {
        "turned": changed(check_mean_pooled.reference, torch.neg),
        "squared": lambda outputs, real: by_weights(outputs**2, real),
    },
    check_remembering: {
        "a number": lambda: 48,
        "halves": lambda: [0.5] * 10,
        "raises": lambda: [1] + 1,
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
