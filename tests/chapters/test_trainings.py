"""What each chapter's training should show, it shows for five seeds of five."""

import pytest
from tiers import left_to

from bookkit.training import page
from bookkit.training.settings import Bench
from tools.chapters import trainings

BENCHES = {name: training.bench for name, (_, training) in page.trainings().items()}


def holds(bench: Bench, seeds: list[int]) -> None:
    longer = sorted({find.length for find in bench.finds if find.length})
    lanes = [
        {"name": lane, "seed": seed, "settings": bench.settings(lane)}
        for lane in bench.lanes
        for seed in seeds
    ]
    ran = trainings.run({"lanes": lanes, "every": 1000, "lengths": longer})["lanes"]
    for lane, run in zip(lanes, ran, strict=True):
        own, *others = run["tried"]
        print(lane["name"], lane["seed"], run["tried"])  # what a failure should show
        for find in bench.finds:
            if find.lane == lane["name"]:
                measured = others[longer.index(find.length)] if find.length else own
                measured = {"first": run["losses"][0]} | measured
                assert find.at_least <= measured[find.what] <= find.at_most, (find, lane["seed"])


# Two take as long as five others: once a week, with the other seeds.
LONG = ("sentences", "start")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *left_to(pytest.mark.thorough, [name for name in BENCHES if name not in LONG], but=["tag"]),
        *left_to(pytest.mark.weekly, LONG, but=[]),
    ],
)
def test_the_finding_shows_for_one_seed(name):
    holds(BENCHES[name], [1])


@pytest.mark.weekly
@pytest.mark.parametrize("name", BENCHES)
def test_the_finding_shows_for_the_others_too(name):
    holds(BENCHES[name], [2, 3, 4, 5])


@pytest.mark.parametrize("name", BENCHES)
def test_every_lane_has_a_finding_and_every_finding_a_lane(name):
    bench = BENCHES[name]
    assert {find.lane for find in bench.finds} == bench.lanes.keys()
    assert next(iter(bench.lanes.values())) == {}
