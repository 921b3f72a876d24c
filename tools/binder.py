"""Write .binder/requirements.txt: what chapters need, less what Binder's machines have.

Nothing of the site is in it, and it leads to no other file: then Binder keeps what it has installed for as
long as these lines are the same. Binder's own packages stay at their versions, as its JupyterLab wants them.
"""

import re
from collections.abc import Container
from importlib import metadata
from pathlib import Path
from typing import cast

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import ROOT

FILE = ROOT / ".binder" / "requirements.txt"
HEAD = """\
# Written by `make lock`: what the chapters import and what that needs, less what Binder's machines have.
# PyTorch's CPU index lists torch a second time, with +cpu after its version. pip takes that as the newer of
# the two, and so leaves alone the CUDA build and its 3 GB of libraries: Binder's machines have no GPU.
--extra-index-url https://download.pytorch.org/whl/cpu
"""
BINDER = {
    **cast(dict[str, str], default_environment()),
    "python_version": "3.11",
    "python_full_version": "3.11.0",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "extra": "",
}
FOR_CUDA = re.compile(r"(?:nvidia|cuda|triton)\b")  # what only a CUDA build of PyTorch needs


def base() -> dict[str, str]:
    """The packages of Binder's machines, by the list that repo2docker installs: a name, and its version."""
    there = metadata.distribution("jupyter-repo2docker")  # to import it would bring all that it needs
    lock = Path(str(there.locate_file("repo2docker/buildpacks/conda/environment.py-3.11-linux-64.lock")))
    found = re.findall(r"/([\w.-]+)-([^-]+)-[^-]+\.(?:conda|tar\.bz2)", lock.read_text(encoding="utf-8"))
    return {canonicalize_name(name): version for name, version in found}


def imported(requirements: str) -> list[Requirement]:
    """What stands below "# the chapters" in requirements.txt."""
    (section,) = re.findall(r"(?ms)^# the chapters\n(.*?)^\n", requirements)
    return [Requirement(line.partition("#")[0]) for line in section.splitlines()]


def pins(constraints: str) -> dict[str, str]:
    """The versions that constraints.txt has for Binder's Python."""
    pinned = [line.removesuffix("\\") for line in constraints.splitlines() if not line.startswith(" ")]
    lines = map(Requirement, pinned)  # without the hashes, which stand below each
    return {canonicalize_name(line.name): str(line.specifier) for line in lines if applies(line)}


def applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate(BINDER)


def needed(requirements: list[Requirement], there: Container[str]) -> list[str]:
    """All that these packages need in turn, by what is installed here, less what is there."""
    found: set[str] = set()
    waiting = list(requirements)
    while waiting:
        name = canonicalize_name(waiting.pop().name)
        if name not in there and name not in found and not FOR_CUDA.match(name):
            found.add(name)
            waiting += filter(applies, map(Requirement, metadata.requires(name) or []))
    return sorted(found)


def text(root: Path = ROOT) -> str:
    requirements = imported((root / "requirements.txt").read_text(encoding="utf-8"))
    pinned = pins((root / "constraints.txt").read_text(encoding="utf-8"))
    return HEAD + "".join(f"{name}{pinned[name]}\n" for name in needed(requirements, base()))


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
