"""The README's moving picture shows the front page as it is."""

import numpy as np
import pytest
from PIL import Image, ImageChops, ImageSequence

from tools.site import preview

# Of 255 shades, in an eighth of the size: the same frames are 0.2 apart, by what WebP loses, and those of
# “the dog sleeps” and “the dogs sleep” 0.9.
NEAR = 0.5


def apart(stored: Image.Image, now: Image.Image) -> float:
    """In shades, where they lie best upon each other: a frame taken after scrolling may lie a pixel lower."""
    moved = [ImageChops.offset(now, 0, pixels) for pixels in (-1, 0, 1)]
    return min(float(np.abs(shades(stored) - shades(picture)).mean()) for picture in moved)


def shades(picture: Image.Image) -> np.ndarray:
    return np.asarray(picture.convert("L").resize((picture.width // 8, picture.height // 8)), float)


@pytest.mark.thorough
def test_it_is_no_older_than_the_page(page, base_url):
    now = [picture for picture, _ in preview.drawn(page, base_url)]
    with Image.open(preview.PREVIEW) as stored:
        pairs = zip(ImageSequence.Iterator(stored), now, strict=True)
        differences = [apart(frame, picture) for frame, picture in pairs]
    assert max(differences) < NEAR, f"`make preview` draws it anew: the frames are {differences} apart"
