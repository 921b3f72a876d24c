"""What several test files need."""

from pathlib import Path

import build
import pytest
import torch

# `make test` has two workers, on two cores or more: second threads would mostly wait for each other.
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def site() -> Path:
    """The built site, made from just the files that are here: `make test` builds it first."""
    if not build.BUILT_FROM.exists() or build.BUILT_FROM.read_text() != build.inputs():
        pytest.fail("the site in _build/html is not built from these files: run `make book`", pytrace=False)
    return build.ROOT / "_build" / "html"
