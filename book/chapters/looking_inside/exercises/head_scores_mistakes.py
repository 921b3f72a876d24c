"""The mistakes that `check_head_scores` knows by name."""

from functools import partial

from torch.nn import functional as F

from bookkit.checking.mistakes import Mistakes, in_parts, swapped
from chapters.looking_inside.exercises.head_scores_parts import _came_next, _scores

MISTAKES: Mistakes = (
    in_parts(
        _scores,
        before={
            "own place": (
                "The first score is of what each place gives to itself: the main diagonal. The place before "
                "stands one column further left.",
                lambda weights: weights.diagonal(0, -2, -1),
            ),
            "the wrong triangle": (
                "The first score is read off above the diagonal, at the place after. Row i, column j is what "
                "i gives to j: the place before is one column further left.",
                lambda weights: weights.diagonal(1, -2, -1),
            ),
            "two places before": (
                "The first score is one place too far back.",
                lambda weights: weights.diagonal(-2, -2, -1),
            ),
            "first place counted": (
                "The first score counts place 0, which has nobody before it, as a place that looks "
                "elsewhere. Leave it out of the mean.",
                lambda weights: F.pad(weights.diagonal(-1, -2, -1), (1, 0)),
            ),
        },
        after={
            "the same word": (
                "The second score is of the earlier place that holds the same word. What comes next is told "
                "by the place after that one.",
                lambda weights, period: weights.diagonal(-period, -2, -1),
            ),
            "one place too late": (
                "The second score is of two places after the earlier word. It should be the next one.",
                lambda weights, period: weights.diagonal(2 - period, -2, -1)[..., 2:],
            ),
            "one place too early": (
                "The second score is of the place *before* the earlier word. What came next stands one place "
                "after it.",
                lambda weights, period: weights.diagonal(-1 - period, -2, -1),
            ),
            "induction above the diagonal": (
                "The second score is read off above the diagonal, from the places to come. Row i, column j "
                "is what i gives to j.",
                lambda weights, period: weights.diagonal(period - 1, -2, -1)[..., 1:],
            ),
            "one row too many": (
                "The second score begins one row too early, at the last word of the first round, which has "
                "not come before. Leave that row out.",
                lambda weights, period: weights.diagonal(1 - period, -2, -1),
            ),
            "one row too few": (
                "The second score begins one row too late. The first word of the second round has come "
                "before, too.",
                lambda weights, period: _came_next(weights, period)[..., 1:],
            ),
            "last row left out": (
                "The second score leaves out the last row. Nobody asks what comes behind it, but it looks "
                "back like the others.",
                lambda weights, period: _came_next(weights, period)[..., :-1],
            ),
            "second time alone": (
                "The second score is of the second round alone. It goes on to the end of the sentence.",
                lambda weights, period: _came_next(weights, period)[..., :period],
            ),
            "in every earlier round": (
                "The second score adds up what came next in every earlier round. Here it is the one a period "
                "ago that counts.",
                lambda weights, period: sum(
                    F.pad(_came_next(weights, back), (back - period, 0))
                    for back in range(period, weights.shape[-1], period)
                ),
            ),
            "first time counted": (
                "The second score is divided by the number of all places. Those of the first time have "
                "nothing to repeat: leave them out of the mean.",
                lambda weights, period: F.pad(_came_next(weights, period), (period, 0)),
            ),
            "all that lies there": (
                "The second score adds up what each place gives to *all* that lies before the earlier word's "
                "successor. It is the weight on that one place.",
                lambda weights, period: weights.cumsum(-1).diagonal(1 - period, -2, -1)[..., 1:],
            ),
        },
        average={
            "summed": (
                "These are sums. A mean can be compared between sentences of other lengths.",
                lambda found, length: found.sum(-1),
            ),
            "over all places": (
                "You divide by the number of all places. Divide by the number of those that you add up.",
                lambda found, length: found.sum(-1) / length,
            ),
            "largest": (
                "You take the largest weight on each diagonal. One place that looks there does not make a "
                "habit: take the mean.",
                lambda found, length: found.amax(-1),
            ),
            "heads averaged": (
                "All heads are averaged into one number. Each has scores of its own, and that is what one "
                "wants to know.",
                lambda found, length: found.mean(),
            ),
        },
    )
    | {
        "both above the diagonal": (
            "Both scores are read off above the diagonal, from the places to come. Row i, column j is what i "
            "gives to j.",
            lambda weights, period: _scores(weights.mT, period),
        ),
        "first round alone": (
            "The first score is of the first round alone, as in the lesson. Here it is over the whole "
            "sentence.",
            lambda weights, period: (_scores(weights[:, :period], period)[0], _scores(weights, period)[1]),
        ),
        "over the first two axes": (
            "Unless it is told others, diagonal takes the first two axes: here heads and rows. For rows and "
            "columns write diagonal(…, -2, -1).",
            partial(
                _scores,
                before=lambda weights: weights.diagonal(-1),
                after=lambda weights, period: weights.diagonal(1 - period)[..., 1:],
            ),
        ),
    }
    | swapped(_scores, "previous", "induction")
)
