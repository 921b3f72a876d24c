"""“Reach in” on a page, what it has changed in the model, and what PyTorch makes of the same changes."""

from pathlib import Path
from typing import Any

import torch
from bench_page import opened_bench
from playwright.sync_api import Locator, Page, expect
from script_and_pytorch import in_pytorch
from torch import Tensor

from bookkit.playground import openable

# The bench once more, at hand. Whoever waits for `busy` waits until the page shows what the model has read.
AT_HAND = """name => {
  window.bench = benches[stored[name].kind](document.querySelector(".playground"), stored[name]);
  const run = bench.run;
  bench.run = function () { return (window.busy = run.call(this)); };
}"""

STATE = """() => {
  const { input, changes, result, logits, plainLogits, rivals } = bench;
  const numbers = (rows) => rows.map((row) => [...row]);
  const spot = (each) => ({ ...each, head: each.head ?? null, vector: [...each.vector] });
  const carried = changes.carried.map(spot);
  const inLists = { ...changes, off: [...changes.off], hidden: [...changes.hidden], carried };
  const all = { read: input, changes: inLists, logits: numbers(logits), plain: numbers(plainLogits) };
  return { ...all, result, rivals, place: bench.view.place };
}"""


def reach(page: Page, folder: Path, name: str) -> None:
    """The view, opened, with the first text that is offered."""
    opened_bench(page, folder, name)
    page.evaluate(AT_HAND, name)
    page.wait_for_function("bench.input")
    page.get_by_role("button", name="Reach in").click()
    expect(page.locator(".reach")).to_be_visible()
    page.evaluate("() => bench.run()")


def settled(page: Page) -> None:
    """Until the model has read once more, changed as it is now."""
    page.evaluate("() => window.busy")


def state(page: Page) -> dict[str, Any]:
    """What the model was given, how it is changed, and what came out."""
    settled(page)
    return page.evaluate(STATE)


def logits(name: str, said: dict[str, Any]) -> Tensor:
    """PyTorch's, behind each place, with the changes that the page has made."""
    translation = said["result"] if isinstance(said["result"][0], int) else None
    trace = in_pytorch(openable()[name].load(), said, translation)[-1]
    return trace["logits" if "logits" in trace else "word"][0]


def assert_pytorchs(name: str, said: dict[str, Any]) -> None:
    assert (torch.tensor(said["logits"]) - logits(name, said)).abs().max() < 1e-4


def rows(page: Page) -> dict[str, float]:
    """The table on top: one word's logit less the other's, in each of the runs."""
    names = page.locator(".reach-odds tbody th").all_text_contents()
    cells = page.locator(".reach-odds tbody td:nth-child(3)").all_text_contents()
    return dict(zip(names, (float(cell.replace("−", "-")) for cell in cells), strict=True))


def odds(said: dict[str, Any], which: str = "logits") -> float:
    one, other = said["rivals"]
    row = said[which][said["place"]]
    return row[one] - row[other]


def tool(page: Page, title: str) -> Locator:
    """A tool of the view, opened."""
    found = page.locator(".reach-tool").filter(has=page.get_by_text(title, exact=True))
    found.evaluate("details => (details.open = true)")
    return found


def read(page: Page, words: str) -> None:
    page.evaluate("words => bench.put(words)", words)


def beside(page: Page) -> Locator:
    """The tool that carries something over, once the second sentence has been read."""
    carry = tool(page, "Carry something over from another sentence")
    expect(page.locator(".reach-odds")).to_contain_text("other sentence")
    return carry
