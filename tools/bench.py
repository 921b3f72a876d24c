"""Measure the package and the site: `python tools/bench.py [package|site]`, both when none is named.

What is measured is reported, never enforced: the status is 0 whether or not the goals are met.
"""

import argparse
import importlib
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
PARTS = sorted(path.stem.removeprefix("bench_") for path in TOOLS.glob("bench_*.py"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS)
    part = parser.parse_args().part
    for name in [part] if part else PARTS:
        importlib.import_module(f"bench_{name}").main()


if __name__ == "__main__":
    main()
