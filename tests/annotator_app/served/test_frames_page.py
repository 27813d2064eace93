"""Annotating and playing a domain that only renders pixels, in a real browser."""

from __future__ import annotations

import base64
import io
import itertools
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sts.annotations.people import people
from sts.continuations.continuation import HUMAN
from sts.continuations.continuation_store import load
from sts.domains import load_domain
from sts.engine.rendering import render_frames
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from tests.annotator_app import ring
from tests.annotator_app.served.browser import Opener, item, next_one, press, saved, status
from tests.annotator_app.served.test_live_page import act, finish_scenario, start_scenario
from tests.annotator_app.serving import Server
from tests.stores import ask, claim_items

STAGE = 2  # pixels of the line around a frame
# Noise has many shades, an empty canvas has few.
DRAWN = """
(canvas) => new Set(
  canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
).size > 50
"""


def pictured(page: Any) -> None:
    """Wait until the episode in hand is there with its pictures: no mark is taken before."""
    next_one(page)
    page.locator(".board canvas[aria-busy=false]").wait_for()


def canvas_of(page: Any) -> Any:
    url = page.locator(".board canvas").evaluate("(canvas) => canvas.toDataURL('image/png')")
    with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
        return np.asarray(image.convert("RGB"))


def shown_frame(page: Any, height: int, width: int) -> Any:
    """The frame on the canvas, brought back to its own size."""
    seen = canvas_of(page)
    scale = min((seen.shape[1] - 2 * STAGE) / width, (seen.shape[0] - 2 * STAGE) / height)
    scale = int(scale) if scale < 1.25 * int(scale) else scale
    # The middle of each pixel, which is a square of at least one pixel of the canvas.
    rows, columns = (
        (whole - round(size * scale)) // 2
        + ((np.arange(size) + 0.5) * round(size * scale) / size).astype(int)
        for whole, size in zip(seen.shape[:2], (height, width), strict=True)
    )
    return seen[np.ix_(rows, columns)]


def continuations(server: Server) -> dict[str, Any]:
    workspace = Workspace.open(str(server.folder))
    scenarios = suites.load(workspace, ring.SUITE).scenarios
    return {c.id: c for c in load(workspace, {s.hash for s in scenarios})}


def frame_at(page: Any, name: str, pixels: Server) -> Any:
    """The frame of the recording that the page must show."""
    person = next(one for one in ask(pixels.store, people.list_people) if one.name == name)
    claims = claim_items(pixels.store, person.id, suite=ring.SUITE, count=3)
    (mine,) = [claim.continuation for claim in claims if claim.item == item(page)]
    at = int(page.get_attribute(".viewer", "data-frame"))
    return render_frames(continuations(pixels)[mine].episode)[at]


@pytest.mark.landing
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_each_frame_is_shown_with_its_own_pixels(
    open_page: Opener, pixels: Server, scheme: str
) -> None:
    name = f"eagle {scheme}"
    page = open_page(name, pixels, color_scheme=scheme)
    for keys in ([], ["t"], ["ArrowRight", "ArrowRight"], ["End"]):
        press(page, *keys)
        pictured(page)
        wanted = frame_at(page, name, pixels)
        assert np.array_equal(shown_frame(page, *wanted.shape[:2]), wanted)


@pytest.mark.landing
def test_frames_enlarged_by_a_fraction_keep_their_uniform_parts(
    open_page: Opener, pixels: Server
) -> None:
    page = open_page("eagle afar", pixels, viewport={"width": 1640, "height": 900})
    pictured(page)
    press(page, "t")
    pictured(page)
    wanted = frame_at(page, "eagle afar", pixels)
    height, width = wanted.shape[:2]
    assert 1.25 < (canvas_of(page).shape[1] - 2 * STAGE) / width < 2
    around = [np.roll(wanted, by, (0, 1)) for by in itertools.product((-1, 0, 1), repeat=2)]
    even = np.all([one == wanted for one in around], axis=(0, 3))
    assert even.sum() > 100
    assert np.array_equal(shown_frame(page, height, width)[even], wanted[even])


@pytest.mark.landing
def test_clips_of_pixels_are_played_marked_and_corrected(open_page: Opener, pixels: Server) -> None:
    page = open_page("marker", pixels)
    pictured(page)
    assert page.text_content(".legend") == "blue walker: evaluated playerorange walker"
    press(page, "t")
    assert page.text_content(".instruction") == "Ring the bell."
    press(page, "Home", "s")
    assert "only the continuation is judged" in status(page)
    press(page, *["]"] * 8, "Space")
    page.locator(f".viewer[data-frame='{ring.TAKEOVER + ring.HORIZON}']").wait_for()
    assert "Play" in page.text_content("button.play")
    press(page, "t", "ArrowRight", "ArrowRight", "s", "Enter")
    pictured(page)
    press(page, "n", "Enter")
    pictured(page)
    press(page, "b")
    pictured(page)
    press(page, "t", "ArrowRight", "f", "Enter")
    saved(page)
    for width, height in ((900, 700), (420, 900)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(
            "(width) => document.scrollingElement.scrollWidth <= width", arg=width
        )
        box = page.locator(".board canvas").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        assert page.is_visible("[data-action=submit]")
    kept = sorted((one.verdict, one.step) for one in pixels.judgements("marker"))
    assert kept == [("failure", 1), ("success", 2)]


@pytest.mark.slow
def test_clip_whose_pictures_cannot_be_decoded_is_judged_unjudgeable(
    open_page: Opener, pixels: Server
) -> None:
    broken = "window.createImageBitmap = async () => { throw Error(); };"
    page = open_page("blindfolded", pixels, script=broken)
    page.locator(".status", has_text="cannot be displayed").wait_for()
    press(page, "t", "ArrowRight", "s")
    assert page.get_attribute("[data-action=success]", "aria-pressed") == "false"
    press(page, "x", "3", "Enter")
    saved(page)
    assert [one.verdict for one in pixels.judgements("blindfolded")] == ["cannot_judge"]


@pytest.mark.slow
def test_person_plays_with_the_actions_of_the_domain(open_page: Opener, pixels: Server) -> None:
    page = start_scenario(open_page, "sitter", at=pixels)
    buttons = page.locator(".pad button").all_inner_texts()
    assert buttons == ["stay\nX", "left\nA", "right\nD", "ring\nE"]
    assert not page.is_visible(".speech")
    page.get_by_text("Get ready: your turn starts in a moment.").wait_for()
    assert page.text_content(".place") == "You are: blue walker"
    for key in "dae":
        act(page, key)
    assert page.locator("canvas").first.evaluate(DRAWN)
    finish_scenario(page)
    (made,) = [c for c in continuations(pixels).values() if c.agent == HUMAN]
    names = load_domain(ring.NAME).action_names
    actions = [names[m] for m in made.episode.actions[made.takeover :, 0]]
    assert [action for action in actions if action != "stay"] == ["right", "left", "ring"]
