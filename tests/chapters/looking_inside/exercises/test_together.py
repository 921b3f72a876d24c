"""What holds for several of the chapter's exercises."""

from looking_inside_answers import looks_and_costs

from chapters.looking_inside.exercises import (
    check_induction_head,
)


def test_a_head_that_is_heard_by_nobody_looks_more_surely_and_costs_nothing():
    _, deceiving, _ = check_induction_head.cases
    model, text, periods = deceiving.fresh()
    looks, costs = looks_and_costs(model, text, periods)
    assert looks[1, 0] > looks[1, 2] > 0.5
    assert abs(costs[1, 0]) < 0.05
    assert costs[1, 2] > 1


def test_the_one_who_stood_before_costs_more_than_the_induction_head():
    _, deceiving, _ = check_induction_head.cases
    _, costs = looks_and_costs(*deceiving.fresh())
    assert costs[0, 1] > costs[1, 2]
