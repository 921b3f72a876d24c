"""What readies an editor: hooks before a commit, and a container. They run what is in the project."""

import json
import re
from importlib.util import find_spec

import yaml

from tools import ROOT


def test_every_hook_before_a_commit_runs_what_the_set_up_brings():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert local["repo"] == "local"
    for hook in local["hooks"]:
        words = hook["entry"].split()
        for word in words:
            if "/" in word:
                assert (ROOT / word).exists(), hook["id"]
        if "-m" in words:
            assert find_spec(words[words.index("-m") + 1]), hook["id"]


def test_the_devcontainer_sets_itself_up():
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    make, target = settings["postCreateCommand"].split()
    assert make == "make"
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
