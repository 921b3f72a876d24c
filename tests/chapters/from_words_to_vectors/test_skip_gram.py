"""Skip-gram on several texts: each learns as if alone, from its own pairs."""

import torch
from torch.nn.functional import logsigmoid

from chapters.from_words_to_vectors.skip_gram import BATCH, STRANGERS, train

ONE = torch.tensor([[0, 1], [1, 0]])
OTHER = torch.tensor([[2, 3], [3, 2], [2, 2]])


def loss(words, contexts, drawn):
    assert drawn.shape[1:] == (1 + STRANGERS, 2)
    score = (contexts[drawn[:, :, 1]] @ words[drawn[:, 0, 0]].unsqueeze(-1)).squeeze(-1)
    return -logsigmoid(score).mean()


def test_each_text_draws_its_own_pairs():
    seen = []

    def watched(words, contexts, drawn):
        seen.append(drawn)
        return loss(words, contexts, drawn)

    words, contexts = train(watched, [ONE, OTHER], vocabulary=4, width=3, steps=2)
    assert words.shape == contexts.shape == (2, 4, 3)
    assert len(seen) == 2
    first, second = seen[0].view(2, BATCH * (1 + STRANGERS), 2)
    assert {tuple(pair) for pair in first.tolist()} == {(0, 1), (1, 0)}
    assert {tuple(pair) for pair in second.tolist()} == {(6, 7), (7, 6), (6, 6)}


def test_a_row_that_is_never_read_stays_as_it_was():
    before, _ = train(loss, [ONE, OTHER], vocabulary=4, width=3, steps=0)
    after, _ = train(loss, [ONE, OTHER], vocabulary=4, width=3, steps=5)
    moved = (after - before).abs().sum(-1) > 0
    assert moved.tolist() == [[True, True, False, False], [False, False, True, True]]


def test_training_brings_the_loss_down_in_every_text():
    def lossy(words, contexts, pairs):
        return -logsigmoid((words[pairs[:, 0]] * contexts[pairs[:, 1]]).sum(-1)).mean()

    starts, ends = (train(loss, [ONE, OTHER], vocabulary=4, width=3, steps=steps) for steps in (0, 50))
    for place, pairs in enumerate((ONE, OTHER)):
        start, end = (lossy(words[place], contexts[place], pairs) for words, contexts in (starts, ends))
        assert end < start / 2
