"""`report = checkup(model, batch)` tries on a model what shows whether it does what it should.

    report = checkup(model, ids)
    print(report)                  # what was tried, what was found, in which layer
    assert_healthy(model, ids)     # the same for pytest

Everything is tried on copies: the model, its gradients, its mode and chance are afterwards as they were. A
call that hangs is ended when `seconds` are over; a busy machine gets up to six times as long (see
`checkup.limits`). What was not tried may still be wrong.
"""

from checkup.report import Finding, Report
from checkup.visit import assert_healthy, checkup

__all__ = ["Finding", "Report", "assert_healthy", "checkup"]
