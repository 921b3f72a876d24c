"""Answers to the exercises of *from words to vectors* that several of its tests begin with."""

from chapters.from_words_to_vectors.exercises import (
    check_skip_gram_loss,
)
from chapters.from_words_to_vectors.skip_gram import train

loss_of = check_skip_gram_loss.reference


def loss(words, contexts, drawn):
    strangers = contexts[drawn[:, 1:, 1]]
    return loss_of(words[drawn[:, 0, 0]], contexts[drawn[:, 0, 1]], strangers)


def trained(pairs, vocabulary, loss=loss, **settings):
    return train(loss, [pairs], vocabulary, **settings)[0][0]
