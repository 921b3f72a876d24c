"""The files that a page loads for a playground, made of those of _static: each once, and no name twice."""

import re
from collections import Counter

from _ext.playground import BUNDLES
from bookkit.registry import BOOK

STATIC = BOOK / "_static"
SCRIPTS = [name for name in BUNDLES if name.endswith(".js")]
# What a page has from the start, and is no part of any playground.
OF_PAGES = {"book.js", "charts.js", "predict.js", "playground.js", "tour.js", "training.js"}
DECLARED = re.compile(r"^(?:const|let|var|class|(?:async )?function\*?) (\w+)|^const \{([^}]*)\} =", re.M)


def names(script: str) -> list[str]:
    """All that it declares outside of its functions, which is the page's."""
    found = [one or several for one, several in DECLARED.findall(script)]
    return [name.strip() for each in found for name in each.split(",") if name.strip()]


def test_no_two_scripts_that_a_page_may_load_have_a_name_in_common():
    """Of two that declare the same name the second does not run."""
    sources = {source for name in SCRIPTS for source in BUNDLES[name]} | OF_PAGES
    sources |= {f"training/{file.name}" for file in (STATIC / "training").glob("*.js")}
    declared = Counter(name for file in sources for name in names((STATIC / file).read_text("utf-8")))
    assert {name for name, count in declared.items() if count > 1} == set()
    assert len(declared) > 200


def test_each_file_of_a_bench_is_in_one_bundle():
    bundles = Counter(source for sources in BUNDLES.values() for source in sources)
    there = {f"bench/{file.name}" for file in (STATIC / "bench").iterdir()}
    there |= {file.name for file in STATIC.glob("*.js")} - OF_PAGES
    assert set(bundles) == there
    assert set(bundles.values()) == {1}
