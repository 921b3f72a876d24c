"""Made-up reviews are ragged, filled up at the back, and say their verdict, mostly at their ends."""

import torch

from attnlab.corpora.reviews import AT_THE_END, BLAME, LONGEST, PADDING, PRAISE, SHORTEST, written
from attnlab.runtime import generator

ROWS, VERDICTS = written(4000, generator(0))
LENGTHS = (ROWS != PADDING).sum(-1)
PRAISED = (PRAISE.start <= ROWS) & (PRAISE.stop > ROWS)
OPINIONS = PRAISED | (BLAME.start <= ROWS) & (BLAME.stop > ROWS)


def test_rows_are_ragged_and_filled_up_at_the_back():
    assert ROWS.shape == (4000, LONGEST)
    assert (LENGTHS.min(), LENGTHS.max()) == (SHORTEST, LONGEST)
    assert torch.equal(ROWS == PADDING, torch.arange(LONGEST) >= LENGTHS[:, None])
    assert LENGTHS.float().median() < 25, "there are more short ones: half have at most 16 words"


def test_every_review_has_an_opinion_and_most_agree_with_its_verdict():
    assert VERDICTS.unique().tolist() == [0, 1]
    assert OPINIONS.any(-1).all()
    agreeing = OPINIONS & ((VERDICTS[:, None] == 1) == PRAISED)
    # All first opinions agree and 85 % of the others; 50 draws gave .900 to .915.
    assert 0.885 < agreeing.sum() / OPINIONS.sum() < 0.93


def test_opinions_stand_mostly_near_the_two_ends():
    last = (LENGTHS[:, None] - torch.arange(LONGEST)) <= AT_THE_END
    # A tenth to a quarter of the words stand there; 50 draws gave .54 to .56 of the opinions.
    assert (OPINIONS & last)[LENGTHS > 30].sum() / OPINIONS[LENGTHS > 30].sum() > 0.5
