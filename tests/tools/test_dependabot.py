"""Dependabot proposes what its checks can accept as it is, and overlooks no file."""

import ast
import re
from importlib.metadata import packages_distributions

import yaml

from tools import ROOT
from tools.chapters import notebooks, stamps
from tools.environment import HELD

REQUIREMENTS = [ROOT / "requirements.txt", ROOT / "tests" / "requirements.txt"]
UPDATES = {
    update["package-ecosystem"]: update
    for update in yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text("utf-8"))["updates"]
}


def direct_pins() -> set[str]:
    text = "".join(file.read_text("utf-8") for file in REQUIREMENTS)
    return set(re.findall(r"^([\w-]+)==", text, re.MULTILINE))


def imported_packages() -> set[str]:
    """What the chapters, and the packages of the book, import from elsewhere, as it is called on PyPI."""
    sources = [
        stamps.plain_python(cell)
        for path in notebooks.chapters()
        for cell in notebooks.code_cells(notebooks.read(path))
    ]
    files = [file for package in stamps.PACKAGES for file in (notebooks.BOOK / package).rglob("*.py")]
    sources += [file.read_text("utf-8") for file in files]
    modules: set[str] = set()
    for node in (node for source in sources for node in ast.walk(ast.parse(source))):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module.partition(".")[0])
    called = packages_distributions()
    imported = {name.lower() for module in modules for name in called.get(module, [])}
    # Altair's, which is pinned for the time that chapters take to import it.
    return imported | {"jsonschema"}


def test_dependabot_raises_just_what_can_be_raised_alone():
    allowed = [entry["dependency-name"] for entry in UPDATES["pip"]["allow"]]
    assert allowed == sorted(direct_pins() - imported_packages() - set(HELD))


def test_dependabot_looks_into_every_folder_that_pins():
    locks = [*ROOT.glob("package-lock.json"), *ROOT.glob("tools/**/package-lock.json")]
    files = {"pip": REQUIREMENTS, "npm": [lock for lock in locks if "node_modules" not in lock.parts]}
    for kind, pinning in files.items():
        folders = [ROOT / folder.strip("/") for folder in UPDATES[kind]["directories"]]
        assert folders == [file.parent for file in pinning], kind
