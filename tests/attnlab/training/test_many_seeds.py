"""Many seeds at once: each one as if it were alone."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.training.batches import Batches
from attnlab.training.loop import train
from attnlab.training.many_seeds import ManySeeds, sum_over_seeds


class LookUp(nn.Module):
    """Pairs of a key and a value, and a query that equals one of the keys: which value stands beside it?"""

    def __init__(self, seed: int, keys: int = 6, d_k: int = 4) -> None:
        super().__init__()
        draw = generator(seed)
        self.query = nn.Parameter(torch.randn(keys, d_k, generator=draw, dtype=torch.float64))
        self.key = nn.Parameter(torch.randn(keys, d_k, generator=draw, dtype=torch.float64))

    def forward(self, asked: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        query = self.query[asked]  # (B, d_k)
        key = self.key[keys]  # (B, pairs, d_k)
        weights = (key @ query.unsqueeze(-1)).softmax(dim=1)  # (B, pairs, 1)
        return (weights * values).sum(dim=1).log()  # (B, values)


def look_ups(examples: int, pairs: int = 3, keys: int = 6) -> tuple[Tensor, ...]:
    draw = generator(0)
    shown = torch.rand(examples, keys, generator=draw).argsort(dim=1)[:, :pairs]  # (B, pairs)
    values = torch.randint(4, (examples, pairs), generator=draw)  # (B, pairs)
    place = torch.randint(pairs, (examples, 1), generator=draw)  # (B, 1)
    # A little of every value, so that no predicted probability is 0.
    given_values = 0.9 * F.one_hot(values, 4).double() + 0.025  # (B, pairs, 4)
    return shown.gather(1, place)[:, 0], shown, given_values, values.gather(1, place)[:, 0]


def test_seeds_trained_together_equal_the_seeds_trained_alone() -> None:
    data = look_ups(64)

    def run(model: nn.Module, loss) -> None:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        train(model, Batches(*data, batch_size=16, shuffle=generator(0)), loss, optimizer, epochs=10)

    models = [LookUp(seed) for seed in range(3)]
    together = ManySeeds(models)
    run(together, sum_over_seeds(F.nll_loss))
    for seed, alone in enumerate(models):
        assert torch.equal(alone.query, LookUp(seed).query), "the models themselves stay as they were"
        run(alone, F.nll_loss)
        # Stacked products may add in another order, which moves float64 by 1e-16 at each of the 40 updates.
        assert torch.allclose(together.member.query[seed], alone.query, rtol=0, atol=1e-10)
        assert torch.allclose(together.member.key[seed], alone.key, rtol=0, atol=1e-10)
        assert torch.allclose(together(*data[:3])[seed], alone(*data[:3]), rtol=0, atol=1e-10)
    # They did learn: guessing one of the three pairs gives .5.
    answers = together(*data[:3]).argmax(dim=-1)  # (seeds, examples)
    assert (answers == data[3]).double().mean() > 0.9


def test_each_seed_draws_its_own_dropout_while_it_trains() -> None:
    model = nn.Sequential(nn.Linear(3, 100), nn.Dropout(0.5))
    many = ManySeeds([model, model])
    first, second = many(torch.ones(3))
    assert not torch.equal(first, second)
    first, second = many.eval()(torch.ones(3))
    assert torch.equal(first, second)


def test_tied_parameters_stay_tied_and_buffers_are_stacked() -> None:
    class Tied(nn.Module):
        def __init__(self, seed: int) -> None:
            super().__init__()
            self.embedding = nn.Embedding(5, 3)
            self.head = nn.Linear(3, 5, bias=False)
            self.head.weight = self.embedding.weight
            self.register_buffer("offset", torch.full((5,), float(seed)))

        def forward(self, ids: Tensor) -> Tensor:
            return self.head(self.embedding(ids)) + self.offset

    models = [Tied(seed) for seed in range(2)]
    many = ManySeeds(models)
    assert many.member.head.weight is many.member.embedding.weight
    assert [tuple(parameter.shape) for parameter in many.parameters()] == [(2, 5, 3)]
    assert many.member.offset.tolist() == [[0] * 5, [1] * 5]
    ids = torch.arange(5)
    assert torch.allclose(many(ids)[1], models[1](ids), rtol=0, atol=1e-6)


def test_what_cannot_be_stacked_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="models must hold at least one model, got none"):
        ManySeeds([])
    words = r"models\[1\] must have weights of shapes \[\(3, 2\), \(3,\)\], got \[\(4, 2\), \(4,\)\]"
    with pytest.raises(ValueError, match=words):
        ManySeeds([nn.Linear(2, 3), nn.Linear(2, 4)])
    with pytest.raises(ValueError, match=r"of shapes \[\(2,\), \(2,\), \(\)\], got \[\(3,\), \(3,\), \(\)\]"):
        ManySeeds([nn.BatchNorm1d(2, affine=False), nn.BatchNorm1d(3, affine=False)])
