"""How long a page keeps the processor, each time, whoever else is busy beside it."""

import json
from collections.abc import Callable

from playwright.sync_api import Page

SLOWER = 4  # times: a phone's processor
MOST = 50  # milliseconds that can't be felt
TRIES = 3  # what runs beside it on the same core slows a task, even by the processor's time
FEW = 3  # tasks may take longer: what runs first is not compiled


class Watched:
    """What the page's tasks take of the processor, however busy others keep it, on one that is slower."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def __enter__(self) -> "Watched":
        categories = ["disabled-by-default-devtools.timeline"]
        self.page.context.browser.start_tracing(page=self.page, categories=categories)
        return self

    def __exit__(self, *_: object) -> None:
        events = json.loads(self.page.context.browser.stop_tracing())["traceEvents"]
        mains = {
            (event["pid"], event["tid"]): list[float]()
            for event in events
            if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
        }
        for event in events:
            if event["name"] == "RunTask" and "tdur" in event and (event["pid"], event["tid"]) in mains:
                mains[event["pid"], event["tid"]].append(SLOWER * event["tdur"] / 1000)
        # A page of another test may still be there: it rests.
        self.tasks = sorted(max(mains.values(), key=sum))

    def longest(self) -> float:
        assert len(self.tasks) > 30
        return self.tasks[-1 - FEW]


def longest_task(page: Page, act: Callable[[], object]) -> float:
    """`longest_task(page, press) < MOST`: where one try is slow another may show that the page is not."""
    longest: list[float] = []
    while len(longest) < TRIES and min(longest, default=MOST) >= MOST:
        with Watched(page) as watched:
            act()
        longest.append(watched.longest())
    return min(longest)
