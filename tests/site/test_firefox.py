"""Every page once more in the other engine."""

import json

import pytest
from browser_pages import PATIENCE
from firefox import in_firefox


@pytest.mark.thorough
def test_pages_work_in_firefox(site, base_url):
    """One Firefox, slow to start, opens them all."""
    pages = {base_url + page.name: PATIENCE for page in sorted(site.glob("*.html"))}
    troubles = in_firefox("firefox.mjs", json.dumps(pages))
    assert not troubles, "\n".join(troubles)
