"""Checks of exercises.

A reader's *answer* is tried in an *attempt*; what is seen in a wrong one is a *finding*, what may be said of
a right one a *remark*; both go into the *report*.
"""
