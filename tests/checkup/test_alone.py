"""The checkup goes into another project, without anything else of the book."""

import os
import shutil
import subprocess
import sys

import pytest

from tools.chapters import stamps

PROGRAM = """\
import sys
import torch
from torch import nn
import checkup
torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
model = nn.Sequential(nn.Embedding(20, 16), layer, nn.Linear(16, 20))
report = checkup.checkup(model, torch.randint(20, (2, 8)))
print(checkup.__file__)
print(*(name for name in sys.modules if name.partition(".")[0] in ("attnlab", "bookkit", "chapters")))
print(report)
"""


@pytest.mark.thorough
def test_it_is_installed_alone_and_finds_that_there_is_no_mask(tmp_path):
    shutil.copytree(stamps.source() / "checkup", tmp_path / "project")
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    place = tmp_path / "installed"
    subprocess.run([*uv, "--no-build-isolation", "--target", place, tmp_path / "project"], check=True)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(place)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    home, others, *report = run.stdout.splitlines()
    assert home == str(place / "checkup" / "__init__.py")
    assert others == ""
    assert "✗ the future changed" in "\n".join(report)
