"""Write the rule of several texts in one row: each sees its own past, and nothing of the others."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab import masks
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts

Rule = Callable[[Tensor, Tensor], Tensor]  # of queries' places and keys', which broadcast: True = may look

A_TABLE = "A tensor comes back, and no rule. Return a function of two places, without calling it."


def rule_of(answer: Any) -> Rule:
    """`rule = rule_of(my_rule(0))` is what came back, if it can be asked about places."""
    if isinstance(returned(answer), Tensor):
        raise WrongTypeError(A_TABLE)
    if isinstance(answer, type) or not callable(answer):
        raise WrongTypeError(f"A rule is a function of two places, and {type(answer).__name__} came back.")
    return answer  # type: ignore[no-any-return]


def table_of(answer: Any, n: int) -> Any:
    """`table_of(rule, 8)` is what the rule says of 8 places, which should be a boolean table (8, 8)."""
    places = torch.arange(n, device="cpu")
    return returned(rule_of(answer)(places[:, None], places))


def mistakes_of(function: Part, said: dict[str, str], **parts: dict[str, Part]) -> Mistakes:
    """`mistakes_of(_rules, SAID, near={"sinks lost": …})` has for each code the sentence of its name."""
    return in_parts(
        function,
        **{part: {name: (said[name], codes[name]) for name in codes} for part, codes in parts.items()},
    )


def _asked(work: Callable[..., Any], ids: Tensor, end: int) -> tuple[Any, ...]:
    """Of one rule the whole table, the rows of the last two, and single pairs: it has to broadcast."""
    rule, places = rule_of(work(ids, end)), torch.arange(len(ids), device="cpu")
    last, back = places[-2:, None], places.flip(0)
    return table_of(rule, len(ids)), returned(rule(last, places)), returned(rule(back, back // 2))


def _numbered(ids: Tensor, end: int) -> Tensor:
    ends = (ids == end).long()
    return ends.cumsum(0) - ends  # the end sign still belongs to what it closes


def _document_rule(
    ids: Tensor,
    end: int,
    *,
    texts: Part = _numbered,
    own: Part = lambda query, key: query == key,
    past: Part = lambda query, key: key <= query,
    seen: Part = lambda own, past: own & past,
    answer: Part = lambda rule, n: rule,
) -> Any:
    which = texts(ids, end)  # (n,)

    def rule(query: Tensor, key: Tensor) -> Tensor:
        return seen(own(which[query], which[key]), past(query, key))  # type: ignore[no-any-return]

    return answer(rule, len(ids))


SAID = {
    "the end opens the next": "An end sign is counted to the text behind it. It still belongs to its own.",
    "told apart by pieces": "Keys that hold the same piece are seen. It is the text that must be the same.",
    "only the first end": "Behind the first end all is one text. Each end closes one: count them.",
    "earlier texts seen": "Earlier texts are seen, too. The numbers of the texts must be equal: `==`.",
    "later ones seen": "Later places of its text are seen. A query sees its text up to itself alone.",
    "not itself": "A place does not see itself. Its own is the last that it sees.",
    "query and key exchanged": "Query and key have changed places: what comes later is seen.",
    "one of both is enough": "A key is seen that is of the same text *or* came before. Both must hold: `&`.",
    "True means hidden": "True stands where a key is hidden. As everywhere in this book, True = may look.",
    "a table": A_TABLE,
    "always one table": "The rule gives back one table, whatever it is asked. Use `query` and `key`.",
    "rows for places": "The number of its row is taken for the query's place. Use `query` itself.",
    "pairs made a table": "Of n queries and n keys side by side it makes n × n answers. Let them broadcast.",
}


MISTAKES: Mistakes = mistakes_of(
    _document_rule,
    SAID,
    texts={
        "the end opens the next": lambda ids, end: (ids == end).cumsum(0),
        "told apart by pieces": lambda ids, end: ids,
        "only the first end": lambda ids, end: _numbered(ids, end).clamp(max=1),
    },
    own={"earlier texts seen": lambda query, key: key <= query},
    past={
        "later ones seen": lambda query, key: key >= 0,
        "not itself": lambda query, key: key < query,
        "query and key exchanged": lambda query, key: key >= query,
    },
    seen={
        "one of both is enough": lambda own, past: own | past,
        "True means hidden": lambda own, past: ~(own & past),
    },
    answer={
        "a table": table_of,
        "always one table": lambda rule, n: lambda query, key: table_of(rule, n),
        "rows for places": lambda rule, n: lambda query, key: rule(torch.ones_like(query).cumsum(0) - 1, key),
        "pairs made a table": lambda rule, n: lambda query, key: rule(query.view(-1, 1), key.flatten()),
    },
)


check_document_rule = Exercise(
    "document_rule",
    difficulty=2,
    minutes=15,
    takes=("ids", "end"),
    returns=("table", "the last two rows", "single pairs"),
    reference=_document_rule,
    ask=_asked,
    cases=(
        Case("right for a single text", torch.tensor([5, 6, 0], device="cpu"), 0),
        Case("right for two texts", torch.tensor([5, 0, 7, 8, 0], device="cpu"), 0),
        Case(
            "right where texts hold the same pieces",
            torch.tensor([4, 4, 9, 4, 5, 9, 5, 4, 9], device="cpu"),
            9,
        ),
        Case("right where the last text has no end yet", torch.tensor([3, 2, 5, 2, 4, 4], device="cpu"), 2),
        Case("right where a text is an end alone", torch.tensor([1, 1, 6, 6, 7, 1], device="cpu"), 1),
    ),
    mistakes=MISTAKES,
    without=(masks,),
    trainable=False,
)
