"""Programs of JavaScript, run without a browser."""

import json
import subprocess
from typing import Any

from _ext.javascript import NODE


def printed(program: str, *options: str) -> Any:
    """`printed("console.log(JSON.stringify([1]))")` is [1]: what the program prints, which is JSON."""
    done = subprocess.run([NODE, *options, "-"], input=program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
