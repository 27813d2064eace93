"""Take the pictures of the README: the pages of `sts demo` as they are now.

    make pictures    # needs chromium; minutes

`judging.png` is a judge's page on which a success has been marked, and not submitted; `report.png`
is the beginning of the demo's report; `curating.png` is a curator's page on a draft of the demo's
suite. All are 1280 pixels wide and light. Look at them before they are committed.

Each holds in its metadata what it shows: the report its headings, the other pages the labels of
their buttons. Tests compare these with the pages of today.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin

from sts.cli.main import main
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts_annotator_app.auth.browser_sessions import derive_owner_key
from tests.annotator_app.serving import OWNER, ROOT, Server
from tests.browser import start_chromium

IMAGES = ROOT / "docs" / "images"
ASKED = "Catch your team-mate, who runs away from you: be on the same cell once."
SUITE = "core@3"
PART = "core@3+category:catch-mate"
HEADINGS = "h1, h2, .pill, .facts dt, nav a"
BUTTONS = "button[data-action]:not(.agents button)"
TEXTS = """(found, high) => found.filter(one => {
  const { top, height } = one.getBoundingClientRect();
  return height && top < high;
}).map(one => {
  const plain = one.cloneNode(true);
  plain.querySelectorAll("kbd, .sign, svg").forEach(part => part.remove());
  return plain.textContent.trim().replace(/\\s+/g, " ");
})"""
SHOWN = "shown"
"""Under this name the metadata lists what a picture shows."""
WIDTH, HEIGHT = 1280, 720
STEPS, EPISODES = 30, 200
"""How many steps are gone through of an episode, and how many episodes are passed over."""


def take(folder: Path) -> None:
    """Write the pictures; the demo is run in `folder` first.

    Raises:
      StsError: the demo failed, or no episode shows what is asked for.
    """
    if main(["demo", "--no-app", "--workspace", str(folder)]):
        raise StsError("the demo failed")
    server = Server(folder, PART)
    server.start()
    try:
        with start_chromium() as browser:
            page = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light"
            )
            page.goto((folder / "reports" / "core-3" / "report.html").resolve().as_uri())
            _keep(page, "report.png", HEADINGS)
            page.add_init_script("localStorage['sts:settings'] ??= '{\"autoplay\": false}'")
            page.goto(server.url(f"/enter?t={derive_owner_key(Workspace.open(folder), OWNER)}"))
            page.wait_for_selector(".player .stage:not([hidden])")
            _mark(page)
            _keep(page, "judging.png", BUTTONS)
            _curate(page, server)
            _keep(page, "curating.png", BUTTONS)
    finally:
        server.close()


def _curate(page: Any, server: Server) -> None:
    """Begins the next version of the demo's suite, and shows one of its scenarios."""
    if main(["draft", "new", "--from", SUITE, "--workspace", str(server.folder)]):
        raise StsError("no draft was begun")
    page.add_init_script("localStorage['sts:curate:settings'] ??= '{\"autoplay\": false}'")
    page.goto(server.url("/curate"))
    page.wait_for_selector(".curate .stage:not([hidden])")
    for key in ("j", "j", "m", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    page.locator(".agents button", has_text="/10").first.wait_for()


def _mark(page: Any) -> None:
    """Go on to an episode in which the team-mate is caught, and mark the moment."""
    for _ in range(EPISODES):
        page.keyboard.press("t")  # where the instruction is shown, whenever it was given
        if page.text_content(".instruction") == ASKED and _reaches(page):
            page.keyboard.press("s")
            return
        item = page.get_attribute(".player", "data-item")
        for key in ("x", "1", "Enter"):
            page.keyboard.press(key)
        page.wait_for_selector(f".player:not([data-item='{item}'])")
    raise StsError(f"no episode of {ASKED!r} in which it succeeds was shown")


def _reaches(page: Any) -> bool:
    """Return True if the judged player comes onto the other's cell; go on to that step."""
    judged = page.text_content(".legend .judged").partition(":")[0][-1]
    for _ in range(STEPS):
        page.keyboard.press("ArrowRight")
        places = page.get_attribute("canvas", "aria-label") or ""
        where = dict(re.findall(r"(\w+) in (row \d+, column \d+)", places))
        others = [place for name, place in where.items() if name not in ("Good", "Evil", judged)]
        if where.get(judged) in others:
            return True
    return False


def read_shown(picture: Path) -> list[str]:
    """Return what the metadata of a picture says that it shows."""
    with Image.open(picture) as image:
        shown: list[str] = json.loads(str(image.info[SHOWN]))
    return shown


def _keep(page: Any, name: str, chosen: str) -> None:
    """Write the picture of a page, in 256 colours, with the texts of the chosen elements in it."""
    page.wait_for_load_state("networkidle")
    texts = page.locator(chosen).evaluate_all(TEXTS, HEIGHT)
    metadata = PngImagePlugin.PngInfo()
    metadata.add_text(SHOWN, json.dumps(sorted({text for text in texts if text})))
    with Image.open(io.BytesIO(page.screenshot())) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
            IMAGES / name, optimize=True, pnginfo=metadata
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        take(Path(folder))
