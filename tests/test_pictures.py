"""The README's pictures show the pages of today: their metadata is held to what these say."""

from pathlib import Path

import pytest

from tests.pictures import IMAGES, read_shown

ROOT = Path(__file__).parents[1]
SOURCES = [
    file
    for folder in ("annotator_app", "sts/viewer")
    for suffix in ("*.html", "*.mjs", "*.py")
    for file in sorted((ROOT / folder).rglob(suffix))
]


@pytest.mark.parametrize("name", ["judging.png", "curating.png"])
def test_buttons_in_a_picture_exist_on_the_page(name):
    text = "\n".join(file.read_text() for file in SOURCES)
    labels = read_shown(IMAGES / name)
    assert len(labels) >= 5
    assert [label for label in labels if label not in text] == []
