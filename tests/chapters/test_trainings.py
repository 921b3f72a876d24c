"""What each chapter's training should show, it shows for five seeds of five."""

import pytest
from tiers import left_to
from training_scripts import in_node

from bookkit.training import page
from bookkit.training.settings import Bench

TRAINED = """return given.seeds.map((seed) => {
  const lane = new Lane(given.settings, seed);
  const begun = process.cpuUsage();
  while (lane.state === "training") atOnce(lane.step());
  const { user, system } = process.cpuUsage(begun);
  const tried = given.lengths.map((length) => [length, atOnce(lane.tried(100, length))]);
  return { state: lane.state, tried: Object.fromEntries(tried), seconds: (user + system) / 1e6 };
});"""
BENCHES = {name: training.bench for name, (_, training) in page.trainings().items()}


def holds(bench: Bench, seeds: list[int], folder) -> None:
    for lane in bench.lanes:
        finds = [find for find in bench.finds if find.lane == lane]
        settings = bench.settings(lane)
        own = settings["task"]["length"]
        lengths = sorted({own} | {find.length or own for find in finds})
        runs = in_node({"settings": settings, "seeds": seeds, "lengths": lengths}, TRAINED, folder)
        for seed, run in zip(seeds, runs, strict=True):
            print(lane, seed, run)  # what a failure should show
            assert run["state"] == "done"
            for find in finds:
                measured = run["tried"][str(find.length or own)][find.what]
                assert find.at_least <= measured <= find.at_most, (lane, seed, find, measured)


@pytest.mark.slow
@pytest.mark.parametrize("name", left_to(pytest.mark.thorough, BENCHES, but=["tag"]))
def test_the_finding_shows_for_one_seed(name, tmp_path):
    holds(BENCHES[name], [1], tmp_path)


@pytest.mark.weekly
@pytest.mark.parametrize("name", BENCHES)
def test_the_finding_shows_for_the_others_too(name, tmp_path):
    holds(BENCHES[name], [2, 3, 4, 5], tmp_path)


@pytest.mark.parametrize("name", BENCHES)
def test_every_lane_has_a_finding_and_every_finding_a_lane(name):
    bench = BENCHES[name]
    assert {find.lane for find in bench.finds} == bench.lanes.keys()
    assert next(iter(bench.lanes.values())) == {}
