"""A playground, opened: in a page of its own, made of the files that are here, or in the built site's."""

import re
from pathlib import Path

import torch
from playwright.sync_api import Locator, Page, expect
from script_and_pytorch import IN_PAGE, spelled

from _ext import playground
from bookkit.playground import VIEWS
from bookkit.registry import BOOK
from chapters.the_transformer import models
from chapters.translating_with_attention.models import END, ENGLISH_WORDS, LINGO_WORDS

TEXTS = {
    "translator": "the hungry king 's dogs will hide",
    "language-model": "the kings that the king hears",
    "induction": "abcdefgabcdefgab",
    "gpt": "Return the number of nodes",
}
# The ways to look at a model, by their buttons, with what each then shows.
WAYS = {"Looks and effects": "looks-view", "Step by step": "steps", "Reach in": "reach"}

PAGE = """<!doctype html><html lang="en" data-content_root="./"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>A bench</title>
<link rel="stylesheet" href="_static/book.css"><main>{closed}</main>
<script src="_static/playground.js"></script><script src="_static/training.js"></script></html>"""

# What a bench draws is the same in every run.
SEEDED = "{ let last = 1; Math.random = () => (last = (48271 * last) % 2147483647) / 2147483647; }"


def bench_page(folder: Path, model: str, form: str = "full") -> str:
    """`page.goto(bench_page(tmp_path, "translator"))`: the address of a page in that folder."""
    closed, _ = playground.closed(model, form)
    files = playground.files(model) | {view: playground.bundled(view) for view in VIEWS}
    return page_with(closed, files, folder)


def page_with(closed: str, files: dict[str, bytes], folder: Path) -> str:
    """A page with nothing but this, and with these files, all made of what is here: no site need be built."""
    own = ("book.css", "playground.js", "training.js")
    for name, content in (files | {name: (BOOK / "_static" / name).read_bytes() for name in own}).items():
        path = folder / "_static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    page = folder / "page.html"
    page.write_text(PAGE.format(closed=closed), "utf-8")
    return page.as_uri()


def opened_bench(
    page: Page, folder: Path, model: str, text: str | None = None, form: str = "full"
) -> Locator:
    """The playground of this model, opened, with this text in its field."""
    page.add_init_script(SEEDED)
    page.goto(bench_page(folder, model, form))
    box = page.locator(".playground")
    box.get_by_role("button", name="Open the model here").click()
    expect(box.get_by_role("textbox").first).to_be_focused()
    if text is not None:
        box.get_by_role("textbox").first.fill(text)
    return box


# The built site's pages that have one.
HOME, CHAPTER, INSIDE_CHAPTER = "index.html", "the-transformer.html", "looking-inside.html"
PAGES = {"translator": CHAPTER, "language-model": CHAPTER, "induction": INSIDE_CHAPTER}
PAGES |= {"gpt": "a-gpt-of-your-own.html"}


def press(box: Locator) -> None:
    """Press its button from a script: on a mouse's way there the playground could open by itself."""
    box.get_by_role("button", name="Open the model here").evaluate("button => button.click()")


def opened(page: Page, address: str, model: str) -> Locator:
    """The playground of this model in the page at that address, after its button was pressed."""
    page.goto(address)
    box = page.locator(f".playground[data-model={model}]")
    press(box)
    expect(field(box)).to_be_focused()
    return box


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
    box.locator(f".view > .{WAYS[view]}").wait_for()


def logits(page: Page) -> list[list[float]]:
    """Those behind each place of the run that is shown."""
    return page.evaluate(f"() => {{ {BENCH} return bench.logits.map((each) => [...each]); }}")


def state(page: Page) -> dict:
    """What the address of the bench would hold."""
    return page.evaluate(f"() => {{ {BENCH} return stateOf(addressOf(stateOfBench(bench))); }}")


def translated(words: str, **changes) -> str:
    """What PyTorch writes, with the model changed so."""
    source = torch.tensor([[*map(ENGLISH_WORDS.index, words.split()), END]])
    model = spelled(IN_PAGE["translator"].loaded(), changes)
    written = models.greedy(model, source, torch.tensor([source.shape[1]]))
    return " ".join(LINGO_WORDS[word] for word in written[0].tolist() if word > END)


def deeds(box: Locator) -> Locator:
    return box.get_by_role("list", name="What you have changed").get_by_role("listitem")


def field(box: Locator) -> Locator:
    return box.get_by_role("textbox").first
