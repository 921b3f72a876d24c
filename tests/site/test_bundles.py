"""The files that a page loads for a playground, made of those of _static: complete, whole and light."""

import gzip
import re
import subprocess
from collections import Counter

import pytest

from _ext.javascript import NODE, NODE_MODULES
from _ext.playground import BUNDLES, bundled, files
from bookkit.playground import VIEWS, openable
from bookkit.registry import BOOK

STATIC = BOOK / "_static"
SCRIPTS = [name for name in BUNDLES if name.endswith(".js")]
# What a page has from the start, and is no part of any playground.
OF_PAGES = {"book.js", "charts.js", "predict.js", "playground.js", "training.js"}
DECLARED = re.compile(r"^(?:const|let|var|class|(?:async )?function\*?) (\w+)|^const \{([^}]*)\} =", re.M)
# Kilobytes of scripts, compressed: at opening, and when all views have been looked at.
AT_OPENING = {"induction": 34}
WITH_ALL_VIEWS = {"induction": 62}


def names(script: str) -> list[str]:
    """All that it declares outside of its functions, which is the page's."""
    found = [one or several for one, several in DECLARED.findall(script)]
    return [name.strip() for each in found for name in each.split(",") if name.strip()]


def kilobytes(bundles: list[str]) -> float:
    return sum(len(gzip.compress(bundled(name))) for name in bundles) / 1000


def test_names_are_found_however_they_are_declared():
    script = "const a = 1;\nasync function b() {\n  const c = 2;\n}\nfunction* d() {}\n"
    script += "const { e, f } = a;\nclass G {"
    assert names(script) == ["a", "b", "d", "e", "f", "G"]


def test_no_two_scripts_that_a_page_may_load_have_a_name_in_common():
    """Of two that declare the same name the second does not run."""
    sources = {source for name in SCRIPTS for source in BUNDLES[name]} | OF_PAGES
    declared = Counter(name for file in sources for name in names((STATIC / file).read_text("utf-8")))
    assert {name for name, count in declared.items() if count > 1} == set()
    assert len(declared) > 200


def test_each_file_of_a_bench_is_in_one_bundle():
    bundles = Counter(source for sources in BUNDLES.values() for source in sources)
    there = {f"bench/{file.name}" for file in (STATIC / "bench").iterdir()}
    there |= {file.name for file in STATIC.glob("*.js")} - OF_PAGES
    assert set(bundles) == there
    assert set(bundles.values()) == {1}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_bundle_is_the_program_that_its_sources_are(name):
    """Printed in one way they are the same; and it says of what it is made."""
    sources = "\n".join((STATIC / source).read_text("utf-8") for source in BUNDLES[name])
    title, script = bundled(name).decode().split("\n", 1)
    made_of = ", ".join(BUNDLES[name])
    assert title == f"/* made of {made_of}, which stand beside this file as they were written */"
    assert printed(script) == printed(sources)
    assert len(script) < 0.9 * len(sources)


def printed(script: str) -> str:
    """It as esbuild writes any program, without comments, spaces and the lines' ends."""
    code = "require('esbuild').transformSync(require('fs').readFileSync(0, 'utf8')).code"
    command = [NODE, "-e", f"process.stdout.write({code})"]
    options = {"capture_output": True, "text": True, "check": True, "cwd": NODE_MODULES}
    done = subprocess.run(command, input=script, **options)
    lines = (line.strip() for line in done.stdout.split("\n"))
    return re.sub(r"\s", "", "".join(line for line in lines if not line.startswith("//")))


@pytest.mark.parametrize("model", openable())
def test_what_a_page_loads_is_light_and_ends_with_the_weights(model):
    assert [*files(model)] == [*openable()[model].files, f"model-{model}.js"]
    assert {*openable()[model].files, *VIEWS} <= BUNDLES.keys()
    opening = kilobytes([name for name in openable()[model].files if name.endswith(".js")])
    assert opening <= AT_OPENING.get(model, 31)
    assert opening + kilobytes([*VIEWS]) <= WITH_ALL_VIEWS.get(model, 60)
