"""Faults of one line, each under the test that must notice it: test_planted_faults.py makes them all."""

from planted_faults import attnlab, bookkit, exercises, site, tools
from planted_faults.kinds import Mutation

MUTATIONS = [
    Mutation(room, test, *fault)
    for part in (attnlab, bookkit, exercises, site, tools)
    for room, tests in part.FAULTS.items()
    for test, faults in tests.items()
    for fault in faults
]
