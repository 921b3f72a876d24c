"""What each page costs to open, and how long its trainings take."""

import resource
import statistics
import sys

from playwright.sync_api import sync_playwright

from bookkit.training.page import known, trainings
from tools.chapters.trainings import run
from tools.site.browser import launch, weigh
from tools.site.files import SITE
from tools.site.server import serving

SEEDS = range(1, 6)
SLOWER = 4  # times: a phone's processor


def main() -> None:
    with serving(SITE) as address, sync_playwright() as playwright:
        try:
            page = launch(playwright).new_page(viewport={"width": 390, "height": 844})
        except FileNotFoundError as error:
            sys.exit(f"bench: {error}")
        print(f"{'page':40}{'to open':>10}{'all of it':>11}")
        for name in sorted(path.name for path in SITE.glob("*.html") if path.name != "404.html"):
            opened, used = (f"{size / 1000:.0f} kB" for size in weigh(page, address + name))
            print(f"{name:40}{opened:>10}{used:>11}", flush=True)
    print(f"\nseconds that the trainings in the page take, both sides, on a processor {SLOWER} times slower")
    for name in trainings():
        each = [SLOWER * processor_seconds(name, seed) for seed in SEEDS]
        print(f"{name:20} median {statistics.median(each):5.1f}, slowest seed {max(each):5.1f}", flush=True)


def processor_seconds(name: str, seed: int) -> float:
    """What Node takes for a race as it first stands on its page, start included."""
    _, training = known(name)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run({"lanes": training.lanes(seed), "lengths": list(training.longer), "every": training.every})
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


if __name__ == "__main__":
    main()
