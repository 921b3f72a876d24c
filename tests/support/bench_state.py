"""What a bench in a page shows and holds, and what a script can ask of it there."""

import re

import torch
from playwright.sync_api import Locator, Page
from script_and_pytorch import switched

from chapters.the_transformer import models
from chapters.translating_with_attention.models import END, ENGLISH_WORDS, LINGO_WORDS

# The bench of the first playground of a page.
BENCH = 'const bench = doors.get(document.querySelector(".playground")).bench;'

# One change of each kind, whichever model it is.
CHANGES = """
const [{ name: stack, layers: [{ parts: [part] }] }] = bench.stacks;
const latest = bench.stacks.at(-1).layers.at(-1).parts[0];
const matrix = Object.keys(bench.model.weights).find((name) => name.startsWith(part.attention));
const kinds = {
  "a head": (changes) => changes.off.add(`${latest.attention} 1`),
  "the mask": (changes) => (changes.mask = false),
  "the positions": (changes) => (changes.positions = false),
  "a hidden word": (changes) => changes.hidden.add(`${stack} 1`),
  "a number": (changes) => changes.numbers.push({ name: matrix, row: 1, column: 2, value: 4 }),
  "a vector": (changes) => changes.carried.push({
    stack, name: part.after, place: 1, vector: Float32Array.from(bench.traces[stack][part.after][0]),
  }),
};
"""
KINDS = ("a head", "the mask", "the positions", "a hidden word", "a number", "a vector")

# All that stands in a playground, but for what is said to a screen reader.
SEEN = """box => {
  const copy = box.cloneNode(true);
  copy.querySelector("[role=status]").remove();
  const fields = [...box.querySelectorAll("input, select, textarea")];
  return [copy.innerHTML.replace(/ class=""/g, ""), ...fields.map(({ value }) => value)];
}"""


def is_share(said: str, chance: float) -> bool:
    """`is_share("8.1 %", 0.0808)`: what was rounded may differ by a little; “< 0.1 %” is less than that."""
    number = float(re.search(r"[\d.]+(?=\s%|$)", said)[0]) / 100
    close = 0.0006 if chance < 0.0995 else 0.0051
    return chance < close if "<\u202f" in said else abs(number - chance) < close


def troubles(page: Page) -> list[str]:
    """A list that grows with what goes wrong in the page."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def changed(page: Page, *kinds: str) -> None:
    """Change the model in these ways, one after the other."""
    for kind in kinds:
        page.evaluate(f"kind => {{ {BENCH} {CHANGES} return bench.change(kinds[kind], kind); }}", kind)


def put(page: Page, text: str) -> None:
    """This text in the field, read to its end."""
    page.evaluate(f"text => {{ {BENCH} return bench.put(text); }}", text)


def looked(box: Locator, view: str) -> None:
    """Ask for this view by its button, until it is there."""
    box.get_by_role("group", name="Ways to look at it").get_by_role("button", name=view).click()
    classes = {"Looks and effects": "looks-view", "Step by step": "steps", "Reach in": "reach"}
    box.locator(f".view > .{classes[view]}").wait_for()


def logits(page: Page) -> list[list[float]]:
    """Those behind each place of the run that is shown."""
    return page.evaluate(f"() => {{ {BENCH} return bench.logits.map((each) => [...each]); }}")


def state(page: Page) -> dict:
    """What the address of the bench would hold."""
    return page.evaluate(f"() => {{ {BENCH} return stateOf(addressOf(stateOfBench(bench))); }}")


def translated(words: str, **switches) -> str:
    """What PyTorch writes, with these parts of the model off."""
    source = torch.tensor([[*map(ENGLISH_WORDS.index, words.split()), END]])
    written = models.greedy(switched("translator", switches), source, torch.tensor([source.shape[1]]))
    return " ".join(LINGO_WORDS[word] for word in written[0].tolist() if word > END)
