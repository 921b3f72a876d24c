"""How long a page keeps the processor, each time, whoever else is busy beside it, and whichever it is."""

import json
from collections.abc import Callable

from playwright.sync_api import Page

SLOWER = 4  # times: a phone, than the machine that LOOP was measured on, where it takes 12.5 ms at best
MOST = 50  # milliseconds that can't be felt
TRIES = 6  # at most: what runs beside it slows a task, even by the processor's time, and quickens none
FEW = 3  # tasks may take longer: what runs first is not compiled
# What keeps a phone's processor busy for as long as MOST.
LOOP = """() => {
  const numbers = Float32Array.from({ length: 1000 }, (_, place) => 1 / (place + 1));
  let sum = 0;
  for (let round = 0; round < 2200; round++) for (const number of numbers) sum = sum * number + 1;
  return sum;
}"""


def traced(page: Page, act: Callable[[], object]) -> list[float]:
    """Microseconds of the processor that each of the page's tasks takes meanwhile, in order of size."""
    categories = ["disabled-by-default-devtools.timeline"]
    page.context.browser.start_tracing(page=page, categories=categories)
    try:
        act()
    finally:
        events = json.loads(page.context.browser.stop_tracing())["traceEvents"]
    mains = {
        (event["pid"], event["tid"]): list[float]()
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    for event in events:
        if event["name"] == "RunTask" and "tdur" in event and (event["pid"], event["tid"]) in mains:
            mains[event["pid"], event["tid"]].append(event["tdur"])
    # A page of another test may still be there: it rests.
    return sorted(max(mains.values(), key=sum))


def tasks(page: Page, act: Callable[[], object]) -> list[float]:
    """The same in milliseconds of a phone: a task that is known tells how quick this processor is now."""
    took = traced(page, act)
    *_, known, _, _ = traced(page, lambda: [page.evaluate(LOOP) for _ in range(5)])
    return [MOST * each / known for each in took]


def longest_task(page: Page, act: Callable[[], object]) -> float:
    """`longest_task(page, press) < MOST`: where one try is slow another may show that the page is not."""
    longest: list[float] = []
    while len(longest) < TRIES and min(longest, default=MOST) >= MOST:
        took = tasks(page, act)
        assert len(took) > 30
        longest.append(took[-1 - FEW])
    return min(longest)
