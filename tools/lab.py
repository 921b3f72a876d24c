"""Open the book's first chapter in JupyterLab: `python -m tools.lab [--no-browser …]`."""

import os
import shutil
import sys
from pathlib import Path

from bookkit import registry

# The arrow keys walk from cell to cell in JupyterLab and fold sections, even while a slider has the focus.
# These settings leave them to the slider.
OVERRIDES = Path(__file__).with_name("jupyterlab") / "overrides.json"


def settle(prefix: Path) -> Path:
    """Put the settings where the JupyterLab under this prefix looks for them."""
    settings = prefix / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(OVERRIDES, settings))


def main() -> None:
    settle(Path(sys.prefix))
    first = registry.chapters()[0].notebook
    os.chdir(registry.BOOK)
    command = [sys.executable, "-m", "jupyter", "lab", first.name, *sys.argv[1:]]
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
