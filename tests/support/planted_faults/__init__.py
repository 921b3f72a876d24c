"""Faults of one line, each under the test that must notice it: test_planted_faults.py makes them all."""

from planted_faults import (
    attention,
    bench_numbers,
    bookkit,
    checkup,
    corpora,
    exercises,
    gpt,
    guard,
    in_page,
    linear,
    live,
    model,
    pictures,
    site,
    tiles,
    today,
    tools,
    training,
    views,
)
from planted_faults.kinds import Mutation

MUTATIONS = [
    Mutation(room, test, *fault)
    for part in (
        attention,
        model,
        corpora,
        training,
        gpt,
        bookkit,
        pictures,
        exercises,
        guard,
        site,
        in_page,
        bench_numbers,
        tools,
        tiles,
        today,
        linear,
        live,
        checkup,
        views,
    )
    for room, tests in part.FAULTS.items()
    for test, faults in tests.items()
    for fault in faults
]
