"""What the pages train: the stored runs are the engine's own, and find what their chapters measured."""

import json
import re

import pytest
from tiers import left_to

from bookkit.pictures.drawings import svg
from bookkit.pictures.svg import width_of
from bookkit.training import page, picture
from bookkit.training.settings import MODEL, TRAINING
from tools.chapters import trainings

NAMES = [*page.trainings()]
QUICK = [name for name in NAMES if name != "sentences"]  # which takes most of a minute


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_run_finds_what_the_chapter_measured(name):
    """The page's two lanes are lanes of the bench; tests/chapters trains those of five seeds."""
    _, training = page.known(name)
    bench = training.bench
    for told, stored in zip(training.lanes(trainings.SEED), page.stored(name)["lanes"], strict=True):
        # But for the network behind one head, which the bench has at another rate.
        same = [label for label in bench.lanes if bench.settings(label) == told["settings"]]
        finds = [find for find in bench.finds if find.lane in (same or ["one head and a network"])]
        assert finds, told["name"]
        for find in finds:
            ends = {"first": stored["losses"][0]} | stored["tried"][1 if find.length else 0]
            measured = ends[find.what]
            assert find.at_least <= measured <= find.at_most, (find, measured)


@pytest.mark.thorough
@pytest.mark.parametrize("name", left_to(pytest.mark.weekly, NAMES, but=QUICK))
def test_the_stored_run_is_the_engines_to_its_end(name):
    assert trainings.made(name) == page.stored(name)


@pytest.mark.thorough
def test_a_network_makes_up_for_heads_with_two_neighbours_and_not_with_four():
    _, training = page.known("guests")
    shares = {}
    with_network = {"heads": "1", "network": "yes"}
    for chosen in ({"heads": "1"}, with_network, with_network | {"neighbours": "four"}):
        lanes = [{"name": "", "seed": seed, "settings": training.settings(**chosen)} for seed in range(1, 6)]
        ran = trainings.run({"lanes": lanes, "every": 1000})["lanes"]
        shares[len(chosen)] = [lane["tried"][0]["right"] for lane in ran]
    assert max(shares[1]) <= 0.7
    assert min(shares[2]) >= 0.9
    assert max(shares[3]) <= 0.65


@pytest.mark.parametrize("name", NAMES)
def test_every_option_changes_something_that_there_is_but_for_that_which_is(name):
    _, training = page.known(name)
    as_it_is = training.settings()
    assert training.settings(**training.change) != as_it_is
    known = {
        "task": training.bench.task.keys() | {"shift"},
        "model": MODEL.keys(),
        "training": TRAINING.keys(),
    }
    for control in training.controls:
        assert training.settings(**{control.name: control.as_it_is}) == as_it_is
        assert control.name not in ("train", "seed")
        for option, change in control.options.items():
            changed = training.settings(**{control.name: option})
            assert (changed == as_it_is) == (option == control.as_it_is)
            assert all(settings.keys() <= known[part] for part, settings in change.items())


def test_what_cannot_be_changed_is_said():
    _, training = page.known("guests")
    with pytest.raises(ValueError, match="nothing called layers"):
        training.settings(layers="2")
    with pytest.raises(ValueError, match="'chess' is none of tag, look-up"):
        page.known("chess")


@pytest.mark.parametrize("name", NAMES)
def test_the_cell_of_a_page_goes_its_way(name):
    _, training = page.known(name)
    told = page.as_json(name)
    assert told["prints"] % told["every"] == told["steps"] % told["prints"] == 0
    assert len(json.dumps(page.stored(name))) < 4000
    options = ", ".join(f"{key}={value!r}" for key, value in training.change.items())
    text = told["cell"].replace("CHOSEN", f'PAGES["{name}"].settings({options})').replace("SEED", "1")
    assert len(text.splitlines()) <= 25
    made = {}
    exec(text.replace(f"range({training.bench.training['steps']})", f"range({training.every})"), made)
    stored = told["stored"]["lanes"][1]["losses"][0]
    assert trainings.thinned(made["losses"], training.every)[0] == pytest.approx(stored, abs=1e-3)


def test_the_cell_prints_the_pages_curve(capsys):
    told = page.as_json("holes")
    text = told["cell"].replace("CHOSEN", 'PAGES["holes"].settings(fault="after the softmax")')
    exec(text.replace("SEED", "1"), {})  # as a reader would run it
    numbers = re.findall(r"step (\d+): loss ([\d.]+), limit 0.562", capsys.readouterr().out)
    assert [int(step) for step, _ in numbers] == [30, 60, 90, 120, 150]
    points = [told["stored"]["lanes"][1]["losses"][int(step) // told["every"] - 1] for step, _ in numbers]
    assert [float(loss) for _, loss in numbers] == pytest.approx(points, abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_in_the_picture_no_curve_runs_through_a_number(name):
    for narrow in (True, False):
        drawn = svg(picture.picture(name, narrow))
        fields = re.findall(r'<rect x="(\d+)".*?</g>', drawn)
        numbers = re.findall(r'<text x="(\d+)" y="11"[^>]*text-anchor="end">([^<]+)<', drawn)
        assert len(fields) == len(numbers) == 2
        for left, (right, number) in zip(fields, numbers, strict=True):
            assert width_of(number, 12) <= int(right) < int(left)
        curves = re.findall(r'<path d="M(\d+) [^"]*L[^"]*L', drawn)
        assert len(curves) == 4
        assert min(map(int, curves)) >= max(map(int, fields))
