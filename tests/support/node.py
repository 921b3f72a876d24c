"""Programs of JavaScript, run without a browser."""

import json
import subprocess
from typing import Any

from _ext.javascript import NODE


def output(*words: str, **options: Any) -> Any:
    """What Node, called with these words, prints: it is JSON."""
    done = subprocess.run([NODE, *words], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def printed(program: str, *options: str) -> Any:
    """`printed("console.log(JSON.stringify([1]))")` is [1]."""
    return output(*options, "-", input=program)
