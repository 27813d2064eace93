"""The Viewer by itself, in a page without a server or an annotator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sts.domains import SceneLayout, load_domain
from sts.domains.drawing import read_drawing
from sts.viewer.scripts import FOLDER, VIEWER, join_modules
from tests.annotator_app.payloads import build_payload
from tests.waiting import PATIENCE

STEPS, TAKEOVER = 12, 4
# A drawing of an unknown package: a bead on a string.
STRING = """
export function paint(canvas, episode, frame, { text, background, edge }) {
  const x = canvas.getContext("2d");
  x.fillStyle = background;
  x.fillRect(0, 0, canvas.width, canvas.height);
  x.fillStyle = text;
  const [cell] = episode.scene(frame);
  const step = canvas.width / episode.width;
  x.fillRect(cell * step, canvas.height / 2, step, step);
  x.strokeStyle = edge;
  x.strokeRect(0, 0, canvas.width, canvas.height);
  return [{ x: (cell + 0.5) * step, y: canvas.height / 2, reach: step }];
}
export const describe = (episode, frame) =>
  `the bead is at ${episode.scene(frame)[0]} of ${episode.details.length}`;
"""
PAGE = """<!doctype html><style>%s</style><input class="beside"><div id="there"></div>
<script type="module">%s
const drawn = await loadDrawings(%s);
window.viewer = new Viewer(document.querySelector("#there"), { drawings: drawn });
window.shown = [];
new MutationObserver(() => window.shown.push(+viewer.root.dataset.frame))
  .observe(viewer.root, { attributeFilter: ["data-frame"] });
Object.assign(window, { loadDrawings });
window.mount = (payload) => viewer.open(viewOf(decode(payload)));
</script>"""


def string() -> dict[str, Any]:
    """An episode of the string, in which something is said at step 6."""
    says = np.zeros((STEPS, 1), np.int8)
    says[6] = 1
    picture = SceneLayout("drawn", 1, STEPS + 1, ("bead",), ("B",), (0,), {"length": 13})
    return build_payload(
        "string", picture, np.arange(STEPS + 1, dtype=np.uint16)[:, None], says,
        tokens=("", "here"), takeover=TAKEOVER, player=0, text="Go on.",
    ) | {"id": "a string"}  # fmt: skip


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page with nothing in it but a Viewer, and an input of its own."""
    errors: list[str] = []
    context = chromium.new_context(viewport={"width": 900, "height": 800})
    context.set_default_timeout(1000 * PATIENCE)
    made = context.new_page()
    made.on("pageerror", lambda error: errors.append(str(error)))
    style = "".join((FOLDER / f"{name}.css").read_text() for name in ("page", "viewer"))
    drawings = {"string": STRING, "broken": "export const paint = (;", "empty": "export {};"}
    made.set_content(PAGE % (style, join_modules(VIEWER), drawings))
    made.wait_for_function("() => !!window.mount")
    yield made
    context.close()
    assert not errors


def mount(page: Any, **more: Any) -> None:
    page.evaluate("(payload) => window.mount(payload)", string() | more)


def frame(page: Any) -> int:
    return int(page.get_attribute(".viewer", "data-frame"))


def test_viewer_modules_do_not_refer_to_judging_or_streamlit() -> None:
    script = re.sub(r"//.*", "", join_modules(VIEWER)).lower()
    named = ("verdict", "outbox", "queue", "setstatevalue", "success", "submit", "annotat")
    assert [word for word in named if word in script] == []


def test_viewer_plays_every_frame_to_the_end(page: Any) -> None:
    mount(page)
    page.locator(f".viewer[data-frame='{STEPS}']").wait_for()
    assert page.evaluate("window.shown") == list(range(STEPS + 1))
    assert page.text_content("button.play") == "Play"


@pytest.mark.landing
def test_viewer_takes_its_own_keys_only_and_draws_the_frame_in_view(page: Any) -> None:
    mount(page)
    for key, at in (("Home", 0), ("t", TAKEOVER), ("Shift+ArrowRight", STEPS), ("ArrowLeft", 11)):
        page.keyboard.press(key)
        assert frame(page) == at
    page.locator(".scrub").fill("7")
    assert frame(page) == 7
    assert page.get_attribute(".scrub", "aria-valuetext") == "continuation, step 3 of 8"
    assert page.text_content(".said") == "bead says: here"
    assert page.get_attribute("canvas", "aria-label") == "the bead is at 7 of 13"
    page.click("[data-action=takeover]")
    for key in ("s", "f", "Enter", "Escape"):
        page.keyboard.press(key)
    assert frame(page) == TAKEOVER
    page.fill(".beside", "")
    page.locator(".beside").press_sequentially("t tea, ")
    assert page.input_value(".beside") == "t tea, " and frame(page) == TAKEOVER
    page.locator(".scrub").focus()
    drawn = set()
    for key in ("Home", *["ArrowRight"] * STEPS):
        page.keyboard.press(key)
        drawn.add(page.locator("canvas").evaluate("(c) => c.toDataURL()"))
    assert len(drawn) == STEPS + 1


@pytest.mark.landing
def test_failing_drawing_does_not_affect_the_next_episode(page: Any) -> None:
    for name in ("broken", "empty", "unknown"):
        mount(page, drawing=name)
        page.keyboard.press("End")
        assert frame(page) == STEPS
        assert page.evaluate("viewer.playback.picture") == "broken", name
        mount(page)
        assert page.evaluate("viewer.playback.picture") == "here", name


@pytest.mark.landing
def test_drawing_of_lambda_star_shows_marks_and_views(page: Any) -> None:
    world = load_domain("lambda-star")
    (state,) = world.generate(1, seed=1, height=6, width=7, n_players=1, horizon=20)
    data = build_payload(
        "lambda-star", world.scene_layout(state),
        world.restore([state]).scene.repeat(STEPS + 1, 0), np.zeros((STEPS, 1), np.int8),
        tokens=("",), takeover=TAKEOVER, player=0, text="Go.",
    )  # fmt: skip
    page.evaluate(
        """async ([text, payload]) => {
          viewer.board.drawings = await loadDrawings({ "lambda-star": text });
          window.mount(payload);
          viewer.playback.playing = false;
        }""",
        [read_drawing(world), data | {"id": "an episode in which nothing moves"}],
    )

    def draw_overlay(key: str, overlay: dict[str, Any] | None) -> str:
        page.keyboard.press(key)
        page.evaluate("(overlay) => { viewer.overlay = overlay; viewer.render(); }", overlay)
        return str(page.locator("canvas").evaluate("(c) => c.toDataURL()"))

    # Cells are marked from takeover on, and what is seen is framed throughout.
    mark, view = {"cells": [9], "sight": False}, {"cells": [], "sight": True}
    plain = {key: draw_overlay(key, None) for key in ("Home", "t", "End")}
    assert [draw_overlay(key, mark) == one for key, one in plain.items()] == [True, False, False]
    assert [draw_overlay(key, view) == one for key, one in plain.items()] == [False, False, False]
    assert page.evaluate("viewer.playback.picture") == "here"
    assert page.get_attribute("canvas", "aria-label").startswith("Good in row ")

    # Utterances are placed next to their speaker, also on a canvas wider than the board.
    moved = page.evaluate(
        """() => {
          const canvas = document.createElement("canvas");
          Object.assign(canvas, { width: 900, height: 300 });
          const { episode } = viewer.playback.view;
          const drawing = viewer.board.drawings.get("lambda-star");
          const colours = { background: "#fff", text: "#000", grid: "#ccc", edge: "#000" };
          drawing.paint(canvas, episode, 0, { ...colours, scale: 1 });
          const { e, f } = canvas.getContext("2d").getTransform();
          return [e, f];
        }"""
    )
    assert moved == [0, 0]
