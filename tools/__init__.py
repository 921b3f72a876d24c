"""What the Makefile runs: `python -m tools.site.build`. tools/environment.py alone stands by itself."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
