"""The exercises of “Three ways to read a sequence”."""

import math
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact, whole
from bookkit.checking.mistakes import in_parts, swapped

# --- how many words a stack of windows hears ------------------------------------------------------


def _heard(kernel: int, dilations: Sequence[int]) -> int:
    return 1 + (kernel - 1) * sum(dilations)


check_words_heard = Exercise(
    "words_heard",
    difficulty=1,
    minutes=5,
    takes=("kernel", "dilations"),
    returns=("words",),
    reference=_heard,
    cases=(
        Case("right for a single window", 3, (1,)),
        Case("right for a skipping window", 3, (4,)),
        Case("right for two layers", 2, (1, 2)),
        Case("right for four layers", 2, (1, 2, 4, 8)),
        Case("right for wider windows", 5, (1, 3, 9)),
        Case("right for equal layers", 4, (2, 2, 2)),
    ),
    mistakes={
        "own word forgotten": (
            "You count how far back the farthest word is. The output's own word is heard as well: one more.",
            lambda kernel, dilations: (kernel - 1) * sum(dilations),
        ),
        "window added": (
            "You add a whole window to the spans. What is left to add is the output's own word, one.",
            lambda kernel, dilations: kernel + (kernel - 1) * sum(dilations),
        ),
        "both sides": (
            "This counts what would be heard on both sides. A causal window reaches back only.",
            lambda kernel, dilations: 1 + 2 * (kernel - 1) * sum(dilations),
        ),
        "kernel for gaps": (
            "A window of k places reaches back over k - 1 gaps, not k.",
            lambda kernel, dilations: 1 + kernel * sum(dilations),
        ),
        "kernel times spans": (
            "k times the sum of the dilations: but k places have k - 1 gaps, and layers share a word.",
            lambda kernel, dilations: kernel * sum(dilations),
        ),
        "dilations forgotten": (
            "This is right where every dilation is 1. A window with dilation 4 steps over three words at a "
            "time.",
            lambda kernel, dilations: 1 + (kernel - 1) * len(dilations),
        ),
        "top layer alone": (
            "This is what the last layer's window spans. Under each place of it hangs another window.",
            lambda kernel, dilations: 1 + (kernel - 1) * dilations[-1],
        ),
        "kernel to the layers": (
            "This is k to the power of the layers: right only where the dilations are 1, k, k² and so on.",
            lambda kernel, dilations: kernel ** len(dilations),
        ),
        "product of the dilations": (
            "The dilations are multiplied. Each layer *adds* its span to what lies below.",
            lambda kernel, dilations: 1 + (kernel - 1) * math.prod(dilations),
        ),
        "product of the windows": (
            "You multiply what the windows span. Windows of neighbours overlap: the spans add up.",
            lambda kernel, dilations: math.prod(1 + (kernel - 1) * each for each in dilations),
        ),
        "a word for each layer": (
            "Each layer's words are counted anew. They share the word at which they meet: count it once.",
            lambda kernel, dilations: sum(1 + (kernel - 1) * each for each in dilations),
        ),
        "every tap": (
            "You count the places of all windows. Dilation spreads them: the words between count, too.",
            lambda kernel, dilations: kernel * len(dilations),
        ),
    },
    trainable=False,
)

# --- one step of a GRU ----------------------------------------------------------------------------


def _step(
    from_word: Tensor,
    from_state: Tensor,
    state: Tensor,
    *,
    split: Callable[[Tensor], Sequence[Tensor]] = lambda sums: sums.chunk(3, -1),
    join: Callable[[Tensor, Tensor], Tensor] = torch.add,
    candidate: Callable[..., Tensor] = lambda reset, word, old: (word + reset.sigmoid() * old).tanh(),
    gate: Callable[[Tensor], Tensor] = torch.sigmoid,
    mix: Callable[..., Tensor] = lambda z, state, new: z * state + (1 - z) * new,
) -> Tensor:
    """The step in parts, each of which can be mistaken."""
    (reset, z, word), (reset_too, z_too, old) = split(from_word), split(from_state)
    return mix(gate(join(z, z_too)), state, candidate(join(reset, reset_too), word, old))


def _state_reset(from_word: Tensor, from_state: Tensor, state: Tensor) -> Tensor:
    return _step(
        from_word, from_state, state, candidate=lambda reset, word, _: (word + reset.sigmoid() * state).tanh()
    )


check_gru_step = Exercise(
    "gru_step",
    difficulty=2,
    minutes=10,
    takes=("from_word", "from_state", "state"),
    returns=("state",),
    reference=_step,
    cases=(
        Case("right for one number", exact([0, 0, 1]), exact([0, 2, 1]), exact([0.5])),
        Case("right for a vector", *draw(1, (12,), (12,), (4,))),
        Case("right for a batch", *draw(4, (5, 9), (5, 9), (5, 3))),
        Case(
            "right in float64, with more axes",
            *draw(7, (2, 3, 12), (2, 3, 12), (2, 3, 4), dtype=torch.float64),
        ),
    ),
    mistakes=in_parts(
        _step,
        mix={
            "gate the wrong way round": (
                "The gate z says how much of the *old* state is kept, and 1 - z goes to the new one. You "
                "have them the other way round.",
                lambda z, state, new: (1 - z) * state + z * new,
            ),
            "both in full": (
                "The new state is added in full. What the gate keeps of the old, it takes from the new.",
                lambda z, state, new: z * state + new,
            ),
            "old in full": (
                "The old state stays in full, so that it grows without end. The gate shares out.",
                lambda z, state, new: state + (1 - z) * new,
            ),
            "nothing kept": (
                "The candidate replaces the state: that is a plain recurrence. Where is the gate z?",
                lambda z, state, new: new,
            ),
            "new one dropped": ("The candidate is missing from the mix.", lambda z, state, new: z * state),
            "half and half": (
                "Old and new state get equal shares. The gate z decides, number by number.",
                lambda z, state, new: (state + new) / 2,
            ),
        },
        gate={
            "gate without a sigmoid": (
                "z goes into the mix as it comes. A share lies between 0 and 1: take its sigmoid.",
                lambda z: z,
            ),
            "gate by tanh": (
                "z goes through a tanh, and can be negative. A gate takes a sigmoid.",
                torch.tanh,
            ),
            "gate by softmax": (
                "The gate's numbers share one whole, as by a softmax. Each place has a gate of its own.",
                lambda z: z.softmax(-1),
            ),
        },
        candidate={
            "no tanh": (
                "The candidate is missing its tanh, so nothing keeps the state in range.",
                lambda reset, word, old: word + reset.sigmoid() * old,
            ),
            "no reset": (
                "The reset gate is not used: it multiplies what the candidate hears from the old state.",
                lambda reset, word, old: (word + old).tanh(),
            ),
            "reset without a sigmoid": (
                "The reset gate goes in as it comes. It is a share, too: take its sigmoid.",
                lambda reset, word, old: (word + reset * old).tanh(),
            ),
            "word reset": (
                "The reset gate multiplies what the word says. It belongs to what the state says.",
                lambda reset, word, old: (reset.sigmoid() * word + old).tanh(),
            ),
            "both reset": (
                "The reset gate multiplies word and state together. The word passes as it is.",
                lambda reset, word, old: (reset.sigmoid() * (word + old)).tanh(),
            ),
            "squashed by a sigmoid": (
                "The candidate goes through a sigmoid, and can never be negative. It takes a tanh.",
                lambda reset, word, old: (word + reset.sigmoid() * old).sigmoid(),
            ),
        },
        join={
            "gates by the word alone": (
                "Your gates hear only the word. Each adds up what the word and what the state says.",
                lambda word, state: word,
            ),
            "gates by the state alone": (
                "Your gates hear only the state. Each adds up what the word and what the state says.",
                lambda word, state: state,
            ),
            "multiplied": (
                "For the gates you multiply what word and state say. They add up.",
                torch.mul,
            ),
        },
        split={
            "gates exchanged": (
                "Reset and z have changed places: the first third is the reset, the second is z.",
                lambda sums: [sums.chunk(3, -1)[place] for place in (1, 0, 2)],
            ),
            "candidate first": (
                "You read the thirds as n, reset, z. They come as reset, z, n.",
                lambda sums: [sums.chunk(3, -1)[place] for place in (1, 2, 0)],
            ),
        },
    )
    | {
        "state reset": (
            "The reset gate multiplies the state as it is. It multiplies what the state *says*: the last "
            "third of `from_state`.",
            _state_reset,
        ),
    },
)

# --- repair: a window into the future -------------------------------------------------------------


def _convolution(
    x: Tensor,
    weight: Tensor,
    dilation: int,
    *,
    pad: Callable[[int, int], tuple[int, int]] = lambda reach, dilation: (reach, 0),
    start: Callable[[int, int, int], int] = lambda place, kernel, dilation: place * dilation,
) -> Tensor:
    """The convolution in parts: its padding before and after, and where each place of the window begins."""
    length, kernel = x.shape[-2], len(weight)
    padded = F.pad(x, (0, 0, *pad((kernel - 1) * dilation, dilation)))
    output = x.new_zeros(())
    for place in range(kernel):
        begin = start(place, kernel, dilation)
        output = output + padded[..., begin : begin + length, :] @ weight[place]
    return output


check_repaired_convolution = Exercise(
    "repaired_convolution",
    difficulty=2,
    minutes=10,
    takes=("x", "weight", "dilation"),
    returns=("outputs",),
    reference=_convolution,
    cases=(
        # The broken code passes the first of these: a window of one needs no padding. It alone is in float64,
        # lest other faults be put down to the batch, which it has not.
        Case("right for a window of one", *draw(11, (6, 3), (1, 3, 3), dtype=torch.float64), 1),
        Case("right for a window of three", *draw(13, (1, 6, 3), (3, 3, 3)), 1),
        Case("right with dilation 2", *draw(15, (1, 7, 3), (3, 3, 3)), 2),
        Case("right for a batch", *draw(17, (2, 12, 3), (3, 3, 3)), 4),
    ),
    mistakes=in_parts(
        _convolution,
        pad={
            "still broken": (
                "The fault that it came with is still there: half of the padding stands after the last "
                "word, so that windows look ahead. A window of one looks nowhere, and passes.",
                lambda reach, dilation: (reach // 2, reach - reach // 2),
            ),
            "on the right": (
                "Now all of the padding stands after the last word: each output sees its own word and "
                "those that come. Before the first word is its place.",
                lambda reach, dilation: (0, reach),
            ),
            "both in full": (
                "Before the first word it is right; but there is as much after the last. Your windows may "
                "start in the wrong place, too: what you return is one window too late.",
                lambda reach, dilation: (reach + dilation, 0),
            ),
        },
        start={
            "window turned": (
                "The padding is right; but the window's places are taken in the other order. The last "
                "matrix belongs to the output's own word.",
                lambda place, kernel, dilation: (kernel - 1 - place) * dilation,
            ),
            "dilation forgotten": (
                "The window's places lie next to each other. With a dilation they lie that far apart.",
                lambda place, kernel, dilation: (kernel - 1) * (dilation - 1) + place,
            ),
            "too far back": (
                "The padding is right for this dilation; but the window steps without it, so that it never "
                "arrives at the output's own word.",
                lambda place, kernel, dilation: place,
            ),
            "one place only": (
                "Every matrix multiplies the same word. Each place of the window has a word of its own.",
                lambda place, kernel, dilation: (kernel - 1) * dilation,
            ),
        },
    ),
)

# --- targets, shifted -----------------------------------------------------------------------------

_IGNORED = -100


def _ignoring(targets: Tensor, where: Tensor) -> Tensor:
    return targets.masked_fill(where, _IGNORED)


def _shifted(texts: Tensor) -> tuple[Tensor, Tensor]:
    targets = texts[:, 1:]
    return texts[:, :-1], _ignoring(targets, targets == 0)


check_shifted_targets = Exercise(
    "shifted_targets",
    difficulty=2,
    minutes=10,
    takes=("texts",),
    returns=("inputs", "targets"),
    reference=_shifted,
    cases=(
        Case("right for one text", whole(1, 5, 6, 7, 2)[None]),
        Case("right for two of a length", torch.tensor([[1, 5, 6, 7, 2], [1, 3, 3, 9, 2]], device="cpu")),
        Case("right with padding", torch.tensor([[1, 5, 6, 7, 8, 2], [1, 3, 9, 2, 0, 0]], device="cpu")),
        Case("right for a text of one letter", torch.tensor([[1, 4, 2, 0], [1, 4, 5, 2]], device="cpu")),
    ),
    mistakes={
        "not shifted": (
            "Inputs and targets are the same: whoever reads the input can copy it. The target is the *next* "
            "number.",
            lambda texts: (texts[:, :-1], _ignoring(texts[:, :-1], texts[:, :-1] == 0)),
        ),
        "whole and not shifted": (
            "Both are the whole text, so that the target is the input. The target is the *next* number.",
            lambda texts: (texts, texts),
        ),
        "backwards": (
            "Your targets are the number *before*. The model would learn to write backwards.",
            lambda texts: (texts[:, 1:], _ignoring(texts[:, :-1], texts[:, 1:] == 0)),
        ),
        "by two": (
            "The target is the number after the next.",
            lambda texts: (texts[:, :-2], _ignoring(texts[:, 2:], texts[:, 2:] == 0)),
        ),
        "padding counted": (
            "Shifted right; but the padding among the targets still counts. -100 tells the loss to skip it.",
            lambda texts: (texts[:, :-1], texts[:, 1:]),
        ),
        "skipped by the inputs": (
            "You skip the places whose *input* is padding. At the end mark the input is real and its target "
            "is not: look at the targets.",
            lambda texts: (texts[:, :-1], _ignoring(texts[:, 1:], texts[:, :-1] == 0)),
        ),
        "end mark skipped": (
            "The end mark is skipped as well. A writer that is never told to stop does not stop.",
            lambda texts: (texts[:, :-1], _ignoring(texts[:, 1:], (texts[:, 1:] == 0) | (texts[:, 1:] == 2))),
        ),
        "end mark cut off": (
            "The end mark is cut off with the inputs' last place, so that nobody learns when to stop.",
            lambda texts: (texts[:, :-2], _ignoring(texts[:, 1:-1], texts[:, 1:-1] == 0)),
        ),
        "inputs marked too": (
            "-100 stands among the inputs, too. It is a word to the loss; no embedding has a row for it.",
            lambda texts: (
                _ignoring(texts[:, :-1], texts[:, :-1] == 0),
                _ignoring(texts[:, 1:], texts[:, 1:] == 0),
            ),
        ),
        "rolled": (
            "The text is rolled round: its first number becomes the last target. Cut, don't roll.",
            lambda texts: (texts, _ignoring(texts.roll(-1, 1), texts.roll(-1, 1) == 0)),
        ),
        "start mark dropped": (
            "The inputs begin after the start mark. Without it nobody can begin to write.",
            lambda texts: (texts[:, 1:-1], _ignoring(texts[:, 2:], texts[:, 2:] == 0)),
        ),
    }
    | swapped(_shifted, "inputs", "targets"),
    trainable=False,
)

# --- a mean without the padding -------------------------------------------------------------------


def _pooled(outputs: Tensor, real: Tensor) -> Tensor:
    kept = real.unsqueeze(-1).to(outputs.dtype)
    return (outputs * kept).sum(-2) / kept.sum(-2)


_REAL = torch.tensor([[True, True, True, False, False], [True, True, False, False, False]], device="cpu")
_HOLES = torch.tensor([[False, True, False, True], [True, True, True, True]], device="cpu")

check_mean_pooled = Exercise(
    "mean_pooled",
    difficulty=2,
    minutes=10,
    takes=("outputs", "real"),
    returns=("pooled",),
    reference=_pooled,
    cases=(
        Case("right without padding", *draw(21, (3, 4, 5)), torch.ones(3, 4, dtype=torch.bool, device="cpu")),
        Case("right with padding", *draw(22, (2, 5, 3)), _REAL),
        Case("right with padding in front and between", *draw(23, (2, 4, 3)), _HOLES),
        Case("right in float64, one text", *draw(24, (4, 6), dtype=torch.float64), _HOLES[0]),
    ),
    mistakes={
        "padding counted": (
            "The padding is in the mean. Where `real` is False nothing may count.",
            lambda outputs, real: outputs.mean(-2),
        ),
        "divided by all": (
            "The padding is left out of the sum, and counted in what you divide by: how many are real?",
            lambda outputs, real: (outputs * real.unsqueeze(-1)).mean(-2),
        ),
        "sum": (
            "This is the sum, larger for long texts than for short ones: divide by how many are real.",
            lambda outputs, real: (outputs * real.unsqueeze(-1)).sum(-2),
        ),
        "counted over all texts": (
            "You divide by how many are real in all texts. Each text has a count of its own: sum(-1).",
            lambda outputs, real: (outputs * real.unsqueeze(-1)).sum(-2) / real.sum(),
        ),
        "taken from the front": (
            "You count the real ones, and take as many from the front. `real` says which they are: padding "
            "may come first.",
            lambda outputs, real: _pooled(outputs, real.sort(dim=-1, descending=True).values),
        ),
        "padding summed": (
            "The sum takes in the padding, and what you divide by does not.",
            lambda outputs, real: outputs.sum(-2) / real.sum(-1, keepdim=True),
        ),
        "the padding's mean": (
            "`real` is True where a word is. You take the mean of the padding.",
            lambda outputs, real: _pooled(outputs, ~real).nan_to_num(),
        ),
        "last place": (
            "You take the last place. It may be padding, and the others count as much.",
            lambda outputs, real: outputs[..., -1, :],
        ),
        "first place": (
            "You take the first place: that is pooling by a token of its own. Here all real ones count.",
            lambda outputs, real: outputs[..., 0, :],
        ),
        "largest": (
            "You take the largest of each feature, which is another kind of pooling. Take the mean.",
            lambda outputs, real: outputs.masked_fill(~real.unsqueeze(-1), -math.inf).amax(-2),
        ),
        "over the features": (
            "You take the mean over the features, the last axis. Which axis runs over the text?",
            lambda outputs, real: outputs.mean(-1),
        ),
        "root of the count": (
            "You divide by the root of how many are real. A mean divides by how many there are.",
            lambda outputs, real: (outputs * real.unsqueeze(-1)).sum(-2) / real.sum(-1, keepdim=True).sqrt(),
        ),
    },
)

# --- an experiment: teach it to remember ----------------------------------------------------------

_BUDGET, _STEPS, _ASKED, _LONGEST = 2400, 300, 48, 100
_MODELS, _LETTERS, _STATE, _BATCH = 3, 8, 16, 16


def _plan(make: Callable[[], Any]) -> list[int]:
    made = make()
    if hasattr(made, "tolist"):  # a tensor, or NumPy's array
        made = made.tolist()
    if not isinstance(made, list | tuple | range) or not all(
        isinstance(each, Integral) and not isinstance(each, bool) for each in made
    ):
        raise WrongTypeError("Return a list of whole numbers: a distance for each step of training.")
    return [int(each) for each in made]


def _texts(distance: int, batch: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    text = torch.randint(_LETTERS, (batch, distance + 1), generator=source, device="cpu")
    marked = text[:, 0].clone()
    text[:, 0] += _LETTERS
    text[:, -1] = 2 * _LETTERS
    return text, marked


def _read(weight: dict[str, Tensor], text: Tensor) -> Tensor:
    """The chapter's GRU, narrower, three starts side by side; scores (models, B, letters)."""
    state = torch.zeros(_MODELS, len(text), _STATE, device="cpu", dtype=torch.float64)
    for letter in text.unbind(1):
        from_word = weight["letter"][:, letter] @ weight["word"] + weight["bias"]
        state = _step(from_word, state @ weight["state"] + weight["bias too"], state)
    return state @ weight["answer"]


def _weights() -> dict[str, Tensor]:
    source, bound = torch.Generator("cpu").manual_seed(0), 1 / math.sqrt(_STATE)

    def weight(*shape: int, bound: float = bound) -> Tensor:
        drawn = torch.rand((_MODELS, *shape), generator=source, device="cpu", dtype=torch.float64)
        return (2 * drawn - 1) * bound

    return {
        "letter": weight(2 * _LETTERS + 1, _STATE, bound=math.sqrt(3)),
        "word": weight(_STATE, 3 * _STATE),
        "bias": weight(1, 3 * _STATE),
        "state": weight(_STATE, 3 * _STATE),
        "bias too": weight(1, 3 * _STATE),
        "answer": weight(_STATE, _LETTERS),
    }


def _recalled(distances: Sequence[int]) -> float:
    """The share right, by the middle one of three starts, of letters marked 48 back."""
    weights, source = _weights(), torch.Generator("cpu").manual_seed(1)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more would wait for each other: the products are small
    with torch.enable_grad():
        for weight in weights.values():
            weight.requires_grad_()
        optimizer = torch.optim.Adam(weights.values(), lr=0.02, fused=True)
        for distance in distances:
            text, marked = _texts(distance, _BATCH, source)
            scores = _read(weights, text).flatten(0, 1)
            loss = F.cross_entropy(scores, marked.repeat(_MODELS)) * _MODELS
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    text, marked = _texts(_ASKED, 200, source)
    with torch.no_grad():
        right = (_read(weights, text).argmax(-1) == marked).double().mean(-1)
    torch.set_num_threads(threads)
    return right.median().item()


def _budgeted(distances: Sequence[int]) -> int:
    """1 where the plan keeps to the rules; 0 where it spends too much, 2 for no distance, 3 for no step."""
    if not distances:
        return 3
    if min(distances) < 1 or max(distances) > _LONGEST:
        return 2
    return int(sum(distances) <= _BUDGET and len(distances) <= _STEPS)


def _remembers(make: Callable[[], Sequence[int]], question: str) -> int:
    distances = _plan(make)
    kept = _budgeted(distances)
    if question == "rules":
        return kept
    if kept != 1:
        return 0
    # 1 where it is right. Else what the plan was: 2 short texts, 3 long ones, 4 few steps, 5 others.
    if _recalled(distances) >= 0.8:
        return 1
    if max(distances) < 6:
        return 2
    if min(distances) > 20:
        return 3
    return 4 if len(distances) < 100 else 5


def _mixed(longest: int, budget: int = _BUDGET, shortest: int = 1) -> list[int]:
    source, plan = torch.Generator("cpu").manual_seed(0), list[int]()
    while True:
        drawn = int(torch.randint(shortest, longest + 1, (), generator=source, device="cpu"))
        if sum(plan) + drawn > budget or len(plan) == _STEPS:
            return plan
        plan.append(drawn)


def _plans() -> dict[str, tuple[str, Any]]:
    return {
        "48 alone": (
            "All your texts are long. That leaves few steps, in which next to no gradient arrives from so "
            "far. Where does a gradient arrive?",
            lambda: [_ASKED] * (_BUDGET // _ASKED),
        ),
        "short alone": (
            "All your texts are very short. It learns to look a few letters back; nothing makes it keep a "
            "letter for longer.",
            lambda: [2] * _STEPS,
        ),
        "too few steps": (
            "Your plan has few steps, and most of them at long distances, from which little is learned. "
            "Shorter texts cost less: take more of them.",
            lambda: [1, 60] * (_BUDGET // 61),
        ),
        "over the budget": (
            "Your distances add up to more than 2,400, or there are more than 300 of them.",
            lambda: [24] * 150,
        ),
        "no distance": (
            "A distance is from 1 to 100: at 0 the marked letter would be the question mark itself.",
            lambda: list(range(60)),
        ),
        "nothing": ("There is no step in your plan.", list),
    }


check_remembering = Exercise(
    "remembering",
    difficulty=4,
    minutes=40,
    takes=("question",),
    returns=("answer",),
    reference=lambda: _mixed(16),
    cases=(Case("keeps to the rules", "rules"), Case("remembers over 48 letters", "recalls")),
    mistakes=_plans(),
    trainable=False,
    ask=_remembers,
)
