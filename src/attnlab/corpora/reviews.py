"""Made-up reviews, as many as one likes: ragged, with a verdict, and opinions mostly at their two ends."""

import torch
from torch import Tensor

PADDING = 1
PRAISE, BLAME = range(2, 12), range(12, 22)  # the numbers of the words of opinion
VOCABULARY = 80
SHORTEST, LONGEST = 3, 60
AT_THE_START, AT_THE_END = 5, 7  # words from either end, among which most opinions stand


def written(examples: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """`rows, verdicts = written(2000, generator(0))` has rows (2000, 60), padded at the back, and 0s and 1s.

    One word in eight is a word of opinion, and at least one. Most agree with the verdict, 1 for a good film.
    """
    rows = torch.randint(BLAME.stop, VOCABULARY, (examples, LONGEST), generator=source)
    verdicts = torch.randint(2, (examples,), generator=source)
    # Squared, so that there are more short reviews than long ones.
    share = torch.rand(examples, generator=source).square()
    lengths = SHORTEST + ((LONGEST - SHORTEST + 1) * share).long()  # (examples,)
    for opinion in range(LONGEST // 8):
        says_so = (opinion == 0) | (torch.rand(examples, generator=source) < 0.85)
        kind = torch.where(says_so, verdicts, 1 - verdicts)
        word = torch.randint(len(PRAISE), (examples,), generator=source)
        word += torch.where(kind == 1, PRAISE.start, BLAME.start)
        has_it = (opinion == 0) | (opinion < lengths // 8)
        place = _place(lengths, source)
        rows[has_it, place[has_it]] = word[has_it]
    return rows.masked_fill(torch.arange(LONGEST) >= lengths[:, None], PADDING), verdicts


def _place(lengths: Tensor, source: torch.Generator) -> Tensor:
    """Where in each review an opinion stands: 3 in 10 near its start, 11 in 20 near its end."""
    where, within = torch.rand(2, len(lengths), generator=source)
    from_the_end = lengths - 1 - (AT_THE_END * within).long()
    anywhere = (lengths * within).long()
    place = torch.where(where < 0.85, from_the_end, anywhere)
    place = torch.where(where < 0.3, (AT_THE_START * within).long(), place)
    return place.clamp(min=0).minimum(lengths - 1)
