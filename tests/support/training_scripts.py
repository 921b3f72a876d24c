"""The scripts of the pages' trainings, in Node."""

import json
import subprocess
from pathlib import Path
from typing import Any

from _ext.javascript import NODE
from bookkit.registry import BOOK

FOLDER = BOOK / "_static/training"
SCRIPTS = [
    FOLDER.parent / "die.js",
    *(FOLDER / f"{name}.js" for name in ("exact", "engine", "learner", "tasks", "lane", "crew")),
]


def program(given: Any, body: str) -> str:
    """What `body` returns of `given`, as a script that can be run anywhere; it sets `answer`."""
    scripts = [script.read_text("utf-8") for script in SCRIPTS]
    call = f"globalThis.answer = JSON.stringify(((given) => {{ {body} }})({json.dumps(given)}));"
    return "\n".join([*scripts, call])


def in_node(given: Any, body: str, folder: Path) -> Any:
    """What the body of this function of `given` returns."""
    script = folder / "program.js"
    script.write_text(program(given, body) + "\nconsole.log(answer);", "utf-8")
    done = subprocess.run([NODE, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
