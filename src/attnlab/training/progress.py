"""A progress bar, for a person who watches and for nobody else."""

import os
import sys

from IPython.core.getipython import get_ipython
from tqdm import tqdm  # type: ignore[import-untyped]

# Set ATTNLAB_QUIET=1 to train without a progress bar.
QUIET_VARIABLE = "ATTNLAB_QUIET"
# Seconds before a bar is shown. A wiped bar leaves an empty line in a notebook: a short wait is not worth it.
PATIENCE = 3


def progress_bar(total: int) -> tqdm:
    """`with progress_bar(total=300) as bar:` shows how many of the 300 times `bar.update()` was called.

    A total of 0 stands for one that nobody knows.
    """
    # leave=False wipes the bar in the end, so that a chapter's output is what its cells print.
    return tqdm(total=total, file=sys.stdout, leave=False, delay=PATIENCE, disable=not someone_watches())


def someone_watches() -> bool:
    """`someone_watches()` is True in a terminal, and in a notebook that could ask for input."""
    if os.environ.get(QUIET_VARIABLE):
        return False
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return sys.stdout.isatty()
    # JupyterLab tells the kernel that somebody can answer `input()`. What runs a notebook by itself, such as
    # nbval and nbconvert, tells it that nobody can.
    return bool(kernel.get_parent("shell")["content"].get("allow_stdin"))
