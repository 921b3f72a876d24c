"""Each section that a finding refers to exists."""

import pytest
from headings import anchors

from attnlab.checkup import sections


@pytest.mark.parametrize("name", [name for name in vars(sections) if name.isupper()])
def test_the_section_exists(name):
    page, _, wanted = getattr(sections, name).partition("#")
    assert wanted in anchors(page)
