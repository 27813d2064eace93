"""Annotating and playing a domain that only renders pixels, in a real browser."""

from __future__ import annotations

import base64
import io
import itertools
import sys
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sts.annotations import people
from sts.continuations.store import load
from sts.continuations.types import HUMAN
from sts.domains import domain
from sts.engine.rendering import frames
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from tests.annotator_app import ring
from tests.annotator_app.served.test_player_page import item, next_one, press, saved, status
from tests.annotator_app.serving import Server
from tests.stores import ask, claim_items

pytestmark = pytest.mark.browser

Opener = Callable[..., Any]
EPISODES = 10
STAGE = 2  # pixels of the line around a frame
# When Enter was pressed, and how many pictures had been painted by then.
NOTE_PICTURES = """
let painted = 0;
const draw = CanvasRenderingContext2D.prototype.drawImage;
CanvasRenderingContext2D.prototype.drawImage = function (...given) {
  painted++;
  return draw.apply(this, given);
};
addEventListener("keydown", (event) => {
  window.pressedAt = event.timeStamp;
  window.paintedThen = painted;
}, true);
window.noteLatency = (player) => {
  window.latencies = [];
  const look = () => painted > window.paintedThen
    ? setTimeout(() => window.latencies.push(performance.now() - window.pressedAt))
    : requestAnimationFrame(look);
  new MutationObserver(() => requestAnimationFrame(look))
    .observe(player, { attributeFilter: ["data-item"] });
};
"""

# Noise has many shades, an empty canvas has few.
DRAWN = """
(canvas) => new Set(
  canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
).size > 50
"""


def pictured(page: Any) -> None:
    """Wait until the episode in hand is there with its pictures: nothing can be marked before."""
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
    wide, high = round(width * scale), round(height * scale)
    left, top = (seen.shape[1] - wide) // 2, (seen.shape[0] - high) // 2
    # The middle of each pixel, which is a square of at least one pixel of the canvas.
    rows = top + ((np.arange(height) + 0.5) * high / height).astype(int)
    columns = left + ((np.arange(width) + 0.5) * wide / width).astype(int)
    return seen[np.ix_(rows, columns)]


def continuations(server: Server) -> dict[str, Any]:
    workspace = Workspace.open(str(server.folder))
    scenarios = suites.load(workspace, ring.SUITE).scenarios
    return {c.id: c for c in load(workspace, {s.hash for s in scenarios})}


def frame_at(page: Any, name: str, pixels: Server) -> Any:
    """What the page must show, by the recording of the item in hand."""
    person = next(one for one in ask(pixels.store, people.everybody) if one.name == name)
    claims = claim_items(pixels.store, person.id, suite=ring.SUITE, count=3)
    (mine,) = [claim.continuation for claim in claims if claim.item == item(page)]
    at = int(page.get_attribute(".viewer", "data-frame"))
    return frames(continuations(pixels)[mine].episode)[at]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.landing)])
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
def test_enlarged_by_no_whole_number_every_even_part_keeps_its_place_and_colour(
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
def test_marks_and_verdicts_are_made_as_everywhere(open_page: Opener, pixels: Server) -> None:
    page = open_page("marker", pixels)
    pictured(page)
    assert page.text_content(".legend") == "blue walker: evaluated playerorange walker"
    press(page, "t")
    assert page.text_content(".instruction") == "Ring the bell."
    press(page, "Home", "s")
    assert "only the continuation is judged" in status(page)
    press(page, "t", "ArrowRight", "ArrowRight", "s", "Enter")
    pictured(page)
    press(page, "n", "Enter")
    pictured(page)
    press(page, "b")
    pictured(page)
    press(page, "t", "ArrowRight", "f", "Enter")
    saved(page)
    kept = sorted((one.verdict, one.step) for one in pixels.judgements("marker"))
    assert kept == [("failure", 1), ("success", 2)]


@pytest.mark.landing
def test_playing_goes_through_every_frame_to_the_end(open_page: Opener, pixels: Server) -> None:
    page = open_page("player of frames", pixels)
    pictured(page)
    press(page, *["]"] * 8, "Space")
    page.locator(f".viewer[data-frame='{ring.TAKEOVER + ring.HORIZON}']").wait_for()
    assert "Play" in page.text_content("button.play")


@pytest.mark.landing
def test_pictures_that_cannot_be_shown_do_not_stop_the_work(
    open_page: Opener, pixels: Server
) -> None:
    page = open_page(
        "blindfolded", pixels, script="window.createImageBitmap = async () => { throw Error(); };"
    )
    page.locator(".status", has_text="cannot be displayed").wait_for()
    press(page, "t", "ArrowRight", "s")
    assert page.get_attribute("[data-action=success]", "aria-pressed") == "false"
    press(page, "x", "3", "Enter")
    saved(page)
    assert [one.verdict for one in pixels.judgements("blindfolded")] == ["cannot_judge"]


@pytest.mark.landing
def test_nothing_about_the_player_of_frames_reaches_the_browser(
    open_page: Opener, pixels: Server
) -> None:
    page = open_page("blind to names", pixels)
    received: list[bytes] = []
    page.on(
        "websocket",
        lambda socket: socket.on(
            "framereceived",
            lambda frame: received.append(frame if isinstance(frame, bytes) else frame.encode()),
        ),
    )
    page.reload()
    pictured(page)
    press(page, "n", "Enter")
    saved(page)
    seen = b"".join(received) + page.content().encode()
    assert b"webp" in seen, "the net is in the water"
    tell_tale = {"ringer", str(pixels.folder), ".parquet", "sprites_of"}
    tell_tale |= {
        text for c in continuations(pixels).values() for text in (c.id, c.scenario_id, c.category)
    } - {"ring"}
    assert [word for word in tell_tale if word.encode() in seen] == []


@pytest.mark.landing
@pytest.mark.parametrize(("width", "height"), [(900, 700), (420, 900)])
def test_small_pages_show_frames_and_buttons_without_scrolling_sideways(
    open_page: Opener, pixels: Server, width: int, height: int
) -> None:
    page = open_page(f"small {width}", pixels, viewport={"width": width, "height": height})
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    box = page.locator(".board canvas").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert page.is_visible("[data-action=submit]")


@pytest.mark.landing
def test_the_time_from_enter_to_the_next_frame_of_pixels_is_printed(
    open_page: Opener, pixels: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    page = open_page("quick with pixels", pixels, script=NOTE_PICTURES)
    page.locator(".player").evaluate("(player) => window.noteLatency(player)")
    for n in range(EPISODES):
        saved(page)  # a person takes seconds; by then the next ones have come
        pictured(page)
        press(page, "n", "Enter")
        page.wait_for_function(f"() => window.latencies.length > {n}")
    measured = page.evaluate("window.latencies")
    saved(page)
    with capsys.disabled():
        print(
            f"\n[Enter to the next episode's first picture, {EPISODES} episodes: "
            f"median {median(measured):.0f} ms, p95 {quantiles(measured, n=20)[-1]:.0f} ms]",
            file=sys.stderr,
        )


@pytest.mark.landing
def test_a_person_plays_with_the_moves_of_the_domain(open_page: Opener, pixels: Server) -> None:
    page = open_page("sitter", pixels, path="/turn", ready=False)
    page.locator(".play .turn:not([hidden])").wait_for()
    assert page.locator(".pad button").all_inner_texts() == [
        "stay\nX", "left\nA", "right\nD", "ring\nE"
    ]  # fmt: skip
    assert not page.is_visible(".speech")
    press(page, "t")
    page.locator(".part", has_text="Your turn: step 1 of").wait_for()
    assert page.text_content(".place") == "You are: blue walker"
    for n, key in enumerate(["d", "a", "e", *"x" * (ring.HORIZON - 3)], 1):
        press(page, key)
        page.locator(f".play[data-played='{n}']").wait_for()
        if n == 1:
            assert "last action right" in page.text_content(".reward")
            page.wait_for_function(DRAWN, arg=page.locator("canvas").element_handle())
    page.locator(".empty h2", has_text="Finished, thank you").wait_for()
    (made,) = [c for c in continuations(pixels).values() if c.agent == HUMAN]
    moves = [domain(ring.NAME).moves[m] for m in made.episode.moves[made.takeover :, 0]]
    assert moves == ["right", "left", "ring", *["stay"] * (ring.HORIZON - 3)]
