"""The README's moving picture shows the front page as it is."""

import numpy as np
import pytest
from PIL import Image, ImageSequence

from tools.site import preview

# Of 255 shades, in an eighth of the size: the same frames are 0.2 apart, by what WebP loses, and those of
# “the dog sleeps” and “the dogs sleep” 0.9.
NEAR = 0.5


def shades(picture: Image.Image) -> np.ndarray:
    return np.asarray(picture.convert("L").resize((picture.width // 8, picture.height // 8)), float)


@pytest.mark.thorough
def test_it_is_no_older_than_the_page(page, base_url):
    with Image.open(preview.PREVIEW) as stored:
        frames = [shades(frame) for frame in ImageSequence.Iterator(stored)]
    now = [shades(picture) for picture, _ in preview.drawn(page, base_url)]
    assert len(frames) == len(now)
    apart = [float(np.abs(one - other).mean()) for one, other in zip(frames, now, strict=True)]
    assert max(apart) < NEAR, f"`make preview` draws it anew: the frames are {apart} apart"
