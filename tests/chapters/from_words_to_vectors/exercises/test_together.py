"""What holds for several of the chapter's exercises."""

from functools import partial

import pytest
from from_words_to_vectors_answers import loss_of, trained

from chapters.from_words_to_vectors.exercises import (
    check_learned_vectors,
)

pytestmark = pytest.mark.thorough


@pytest.mark.slow
def test_vectors_trained_without_strangers_do_not_pass():
    def alone(words, contexts, drawn):
        return loss_of(words[drawn[:, 0, 0]], contexts[drawn[:, 0, 1]], 0 * contexts[drawn[:, 1:, 1]])

    assert check_learned_vectors.judge(partial(trained, loss=alone, steps=500)).state == "not yet"
