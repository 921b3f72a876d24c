"""Measure the package and the site: `python -m tools.bench.run [package|site]`, both when none is named.

What is measured is reported, never enforced: the status is 0 whether or not the goals are met.
"""

import argparse
import importlib
from pathlib import Path

PARTS = sorted(path.stem.removeprefix("the_") for path in Path(__file__).parent.glob("the_*.py"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS)
    part = parser.parse_args().part
    for name in [part] if part else PARTS:
        importlib.import_module(f"tools.bench.the_{name}").main()


if __name__ == "__main__":
    main()
