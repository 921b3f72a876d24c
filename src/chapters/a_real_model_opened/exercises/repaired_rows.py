"""Repair how rows are put back: from where neighbours turn together to where halves do."""

from torch import Tensor

from attnlab.today import opened
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, in_parts, swapped


def _put_back(matrix: Tensor, heads: int) -> Tensor:
    pairs = matrix.view(heads, -1, 2, matrix.shape[1])  # (heads, d_k/2, 2, d_model)
    return pairs.transpose(1, 2).reshape(matrix.shape)


def _repaired_rows(
    query: Tensor, key: Tensor, heads: int, *,
    order: Part = _put_back,
    of_query: Part | None = None,
    of_key: Part | None = None,
    groups: Part = lambda query, key, heads: len(key) * heads // len(query),
) -> tuple[Tensor, Tensor]:  # fmt: skip
    of_query, of_key = of_query or order, of_key or order
    return of_query(query, heads), of_key(key, groups(query, key, heads))


def _inverse(matrix: Tensor, heads: int) -> Tensor:
    halves = matrix.view(heads, 2, -1, matrix.shape[1])  # (heads, 2, d_k/2, d_model)
    return halves.transpose(1, 2).reshape(matrix.shape)


def _as_one_head(matrix: Tensor, heads: int) -> Tensor:
    return _put_back(matrix, 1)


def _left(matrix: Tensor, heads: int) -> Tensor:
    return matrix.clone()


MISTAKES: Mistakes = (
    {
        "still broken": (
            "Both faults are still there. Rows 0, 1, 2, 3 of a head of 8 must go to 0, 4, 1, 5; and how many "
            "heads do the keys have?",
            lambda query, key, heads: (_inverse(query, heads), _inverse(key, heads)),
        ),
    }
    | in_parts(
        _repaired_rows,
        order={
            "the wrong way round": (
                "The keys' heads are counted rightly now. The rows still go the wrong way, from halves to "
                "neighbours. Cut each head into pairs, (d_k/2, 2), before axes are exchanged.",
                _inverse,
            ),
            "all as one head": (
                "All rows are treated as one head, and go from one head into another. Each head's rows stay "
                "among themselves.",
                _as_one_head,
            ),
            "columns": (
                "The columns are put in another order. What turns together are numbers of a query, and each "
                "is made by a *row* of the matrix.",
                lambda matrix, heads: matrix.view(len(matrix), -1, 2).transpose(1, 2).reshape(matrix.shape),
            ),
            "second of each pair first": (
                "The second row of each pair goes into the first half. The first one does.",
                lambda matrix, heads: (
                    matrix.view(heads, -1, 2, matrix.shape[1]).transpose(1, 2).flip(1).reshape(matrix.shape)
                ),
            ),
            "nothing put back": (
                "Both come back as they were given. Rows 0, 1, 2, 3 of a head of 8 must go to 0, 4, 1, 5.",
                _left,
            ),
        },
        of_query={
            "queries left": (
                "The keys are right, and the queries come back as they were given. Both are turned.",
                _left,
            ),
        },
        of_key={
            "keys left": (
                "The queries are right, and the keys come back as they were given. Both are turned.",
                _left,
            ),
        },
        groups={
            "as many key heads as heads": (
                "The rows go the right way now. The keys are still cut into as many heads as the queries: "
                "where heads share keys, a head then gets too few rows. d_k is the same for both.",
                lambda query, key, heads: heads,
            ),
        },
    )
    | swapped(_repaired_rows, "query", "key")
)


def _matrices(label: str, seed: int, heads: int, groups: int, d_k: int) -> Case:
    d_model = heads * d_k
    return Case(label, *draw(seed, (d_model, d_model), (groups * d_k, d_model)), heads)


check_repaired_rows = Exercise(
    "repaired_rows",
    difficulty=2,
    minutes=20,
    takes=("query", "key", "heads"),
    returns=("query", "key"),
    reference=_repaired_rows,
    cases=(
        # The broken code passes the first of these: with four rows a head, both ways are one.
        _matrices("right for two heads of four rows", 81, 2, 2, 4),
        _matrices("right for one head of eight", 85, 1, 1, 8),
        _matrices("right for heads of eight that share no keys", 89, 3, 3, 8),
        _matrices("right where two heads share keys", 93, 4, 2, 8),
        _matrices("right where three heads share keys", 97, 6, 2, 12),
    ),
    mistakes=MISTAKES,
    trainable=False,  # gradients would bring a remark on loops: one over heads or places is right
    without=(opened,),
)
