"""The exercise `nearest`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as, named, words
from torch.nn import functional as F

from chapters.from_words_to_vectors.exercises import (
    check_nearest,
)

nearest = check_nearest.reference


def with_one_more(vectors, k):
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    return (unit @ unit.T).topk(k + 1).indices[:, 1:]


def one_at_a_time(vectors, k):
    rows = []
    for number, one in enumerate(vectors):
        alike = torch.cosine_similarity(one, vectors, dim=-1)
        rows.append([other for other in alike.argsort(descending=True).tolist() if other != number][:k])
    return torch.tensor(rows)


def by_shares(vectors, k):
    shares = vectors / vectors.sum(-1, keepdim=True)
    return (shares @ shares.T).fill_diagonal_(-torch.inf).topk(k).indices


RIGHT = {check_nearest: named(one_at_a_time)}


NAMED = {
    check_nearest: {
        "oneself first": lambda vectors, k: (F.normalize(vectors) @ F.normalize(vectors).T).topk(k).indices,
        "dot product": lambda vectors, k: (vectors @ vectors.T).fill_diagonal_(-1e9).topk(k).indices,
        "distance": lambda vectors, k: torch.cdist(vectors, vectors).fill_diagonal_(1e9).argsort()[:, :k],
        "columns made equal": lambda vectors, k: (
            (F.normalize(vectors, dim=0) @ F.normalize(vectors, dim=0).T).fill_diagonal_(-1e9).topk(k).indices
        ),
        "divided by the sum": by_shares,
        "the wrong way round": changed(nearest, lambda ids: ids.flip(-1)),
        "the first dropped": with_one_more,
    }
}


UNKNOWN = {
    check_nearest: {
        "in the list": lambda vectors, k: (
            (torch.arange(len(vectors))[:, None] + torch.arange(1, k + 1)) % len(vectors)
        ),
        "two of them oneself": changed(nearest, lambda ids: ids.flip(0)),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)


def test_ids_as_floating_point_numbers_are_told_for_what_they_are():
    report = check_nearest.judge(changed(nearest, lambda ids: ids.float()))
    assert report.mistake is None
    assert "ids are whole numbers" in words(report)
