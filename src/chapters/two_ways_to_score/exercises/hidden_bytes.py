"""Count the bytes of the hidden layer when the queries are taken in chunks."""

import math

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import in_answer
from bookkit.checking.mistakes.holding import BYTES


def _hidden_bytes(batch: int, queries: int, keys: int, hidden: int, chunk: int) -> int:
    return 4 * batch * min(chunk, queries) * keys * hidden


check_hidden_bytes = Exercise(
    "hidden_bytes",
    difficulty=2,
    minutes=5,
    takes=("batch", "queries", "keys", "hidden", "chunk"),
    returns=("bytes",),
    reference=_hidden_bytes,
    cases=(
        Case("right for one query at a time", 1, 5, 7, 3, 1),
        Case("right for chunks that come out even", 3, 48, 50, 10, 16),
        Case("right for chunks that do not", 2, 50, 9, 64, 16),
        Case("right for a chunk larger than all queries", 8, 20, 30, 96, 256),
        Case("right for a chunk of all queries", 2, 11, 13, 7, 11),
    ),
    mistakes=in_answer(
        _hidden_bytes,
        {
            "numbers, not bytes": (
                "This counts the numbers. One number of float32 takes four bytes.",
                lambda right: right // 4,
            ),
            "float64": (
                "This counts eight bytes for a number, which is float64. float32 takes half of that.",
                lambda right: 2 * right,
            ),
            "two bytes": (
                "This counts two bytes for a number, which is float16 or bfloat16.",
                lambda right: right // 2,
            ),
        }
        | BYTES,
    )
    | {
        "chunk larger than all": (
            "Right as long as there are queries to fill a chunk. A chunk of 256 takes no more than the 20 "
            "queries that there are.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * chunk * keys * hidden,
        ),
        "all queries at once": (
            "This is the whole tensor, of all queries. Only the queries of one chunk are there at a time.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * queries * keys * hidden,
        ),
        "chunks of keys": (
            "It is the queries that are taken chunk by chunk, and each of them meets all the keys.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * queries * min(chunk, keys) * hidden,
        ),
        "number of chunks": (
            "You multiply by the number of chunks. One of them is there at a time, and as large as its "
            "queries.",
            lambda batch, queries, keys, hidden, chunk: (
                4 * batch * math.ceil(queries / chunk) * keys * hidden
            ),
        ),
        "chunks evened out": (
            "You make all chunks alike. Each of them is full, but for the last.",
            lambda batch, queries, keys, hidden, chunk: (
                4 * batch * math.ceil(queries / math.ceil(queries / chunk)) * keys * hidden
            ),
        ),
        "chunks of the batch": (
            "A chunk holds its queries of each example, not of all examples together.",
            lambda batch, queries, keys, hidden, chunk: 4 * min(chunk, batch * queries) * keys * hidden,
        ),
        "batch forgotten": (
            "The batch is missing: a chunk holds its queries of every example.",
            lambda batch, queries, keys, hidden, chunk: 4 * min(chunk, queries) * keys * hidden,
        ),
        "keys forgotten": (
            "The keys are missing: there is a row of hidden numbers for each query with each key.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * min(chunk, queries) * hidden,
        ),
        "hidden units forgotten": (
            "The hidden units are missing: these are the scores of one chunk, after the sum over them.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * min(chunk, queries) * keys,
        ),
        "projections alone": (
            "These are the two projections, (…, queries, hidden) and (…, keys, hidden). Their sum has an "
            "axis for each: the sizes are multiplied.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * (min(chunk, queries) + keys) * hidden,
        ),
        "last chunk": (
            "This is what the last chunk takes, where some queries are left over. The full ones take more.",
            lambda batch, queries, keys, hidden, chunk: (
                4 * batch * (queries % chunk or min(chunk, queries)) * keys * hidden
            ),
        ),
    },
)
