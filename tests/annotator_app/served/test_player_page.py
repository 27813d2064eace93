"""The annotator's page in a real browser, on one shared server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sts.annotations.people import people
from sts_annotator_app.annotating import storage_namespace
from tests.annotator_app.served.browser import (
    SHADOWS,
    STAGE,
    Opener,
    item,
    next_one,
    press,
    saved,
    status,
    wide,
)
from tests.annotator_app.serving import Server
from tests.stores import ask
from tests.waiting import wait_until


def verdicts(server: Server, name: str) -> list[str]:
    """Return a person's verdicts, the last one first."""
    return [one.verdict for one in server.judgements(name)]


def test_five_marks_made_by_keyboard_are_in_the_store(open_page: Opener, server: Server) -> None:
    page = open_page("five")
    given = []
    for n in range(5):
        given.append(item(page))
        press(page, "t", *["ArrowRight"] * (1 + n % 5), "s" if n % 2 else "f", "Enter")
        next_one(page)
    saved(page)
    kept = list(reversed(server.judgements("five")))
    assert [one.item for one in kept] == given
    assert [one.step for one in kept] == [1, 2, 3, 4, 5]
    assert [one.verdict for one in kept] == [*["failure", "success"] * 2, "failure"]


@pytest.mark.landing
def test_keys_and_buttons_give_every_verdict_reason_and_correction(
    open_page: Opener, server: Server
) -> None:
    page = open_page("verdicts")
    press(page, "x", "2", "Enter", "x", "4")
    page.keyboard.type("scrubbing fast (s, f, n)")
    press(page, "Enter")
    page.click("[data-action=end]")
    page.click("[data-action=success]")
    before = item(page)
    press(page, "Enter")
    assert item(page) != before, "buttons leave the keys to the player"
    page.click("[data-action=not_done]")
    page.click("[data-action=submit]")
    saved(page)
    not_done, success, own, listed = server.judgements("verdicts")
    assert (not_done.verdict, not_done.step, success.verdict) == ("not_done", None, "success")
    assert own.reason == "scrubbing fast (s, f, n)" and own.verdict == "cannot_judge"
    assert listed.reason == "the instruction does not fit the situation"

    press(page, "b")
    assert item(page) == not_done.item and "Correcting" in page.text_content(".banner")
    press(page, "End")
    horizon = int(page.get_attribute(".scrub", "aria-valuetext").rpartition(" ")[2])
    press(page, "s", "Enter")
    saved(page)
    corrected, *_ = server.judgements("verdicts")
    assert (corrected.item, corrected.verdict, corrected.step) == (
        *(not_done.item, "success", horizon),
    )


@pytest.mark.slow
def test_timeline_help_and_refused_marks_are_shown(open_page: Opener, server: Server) -> None:
    page = open_page("timeline")
    place = page.locator(".verdicts").bounding_box()
    assert status(page).startswith("Press Space to watch it.") and "N (not completed)" in status(
        page
    )
    assert page.get_attribute(".instruction", "translate") == "no"
    said = lambda: page.get_attribute(".scrub", "aria-valuetext")  # noqa: E731
    press(page, "Home", "s")
    assert said() == "context, 10 steps before takeover"
    assert "only the continuation is judged" in status(page)
    press(page, "t", "f")
    assert "only the continuation is judged" in status(page)
    assert page.get_attribute("[data-action=failure]", "aria-pressed") == "false"
    press(page, "ArrowRight", "f")
    assert "Failure marked at step 1" in status(page)
    assert page.locator(".verdicts").bounding_box() == place, "also once the instruction is there"
    assert re.fullmatch(r"continuation, step 1 of (5|8|10|15); your marker: failure", said())
    press(page, "End", "Shift+ArrowLeft", "Shift+ArrowRight")
    assert re.fullmatch(r"continuation, step (\d+) of \1", said())

    before = item(page)
    press(page, "c", "r", "Escape")  # keys of Streamlit
    press(page, "?")  # what Streamlit would open comes before what this key opens
    page.locator(".keys").wait_for()
    assert page.locator("[role=dialog]").count() == 0 and item(page) == before
    assert re.search(r"Enter\s*submit and continue", page.inner_text(".keys"))
    press(page, "Escape")
    assert not page.is_visible(".keys")


@pytest.mark.landing
def test_reload_restores_the_queue_the_mark_in_hand_and_corrections(
    open_page: Opener, server: Server
) -> None:
    page = open_page("reloader")
    first = item(page)
    press(page, "n", "Enter")
    saved(page)
    next_one(page)
    second = item(page)
    press(page, "t", "ArrowRight", "ArrowRight", "s")
    page.reload()
    next_one(page)
    assert item(page) == second and "Restored: Success at step 2" in status(page)
    press(page, "Enter")
    next_one(page)
    third = item(page)
    saved(page)
    visits = page.evaluate("Object.keys(localStorage).filter((k) => /^sts:visit/.test(k))")
    assert {visit.rpartition(":")[2] for visit in visits} <= {third}, "answered ones are forgotten"
    page.reload()
    next_one(page)
    assert item(page) == third
    press(page, "b", "b")
    assert item(page) == first
    press(page, "End", "f", "Enter")
    saved(page)
    kept = {one.item: (one.verdict, one.step) for one in server.judgements("reloader")}
    assert kept[second] == ("success", 2) and kept[first][0] == "failure" and len(kept) == 2


@pytest.mark.slow
def test_reruns_of_two_pages_do_not_disturb_each_other(open_page: Opener, server: Server) -> None:
    pages = [open_page("left"), open_page("right")]
    for _ in range(2):
        for page, keys in zip(pages, (["n"], ["End", "s"]), strict=True):
            press(page, *keys, "Enter")
            saved(page)
            next_one(page)
    left, right = pages
    for scheme in ("dark", "light"):
        left.emulate_media(color_scheme=scheme)
        left.evaluate("new Promise((painted) => requestAnimationFrame(painted))")
    press(left, "Home", "ArrowRight")
    assert left.get_attribute(".viewer", "data-frame") == "1", "one listener for all reruns"
    press(left, "n")
    for _ in range(4):
        left.keyboard.down("Enter")  # a key that is held down submits once
    left.keyboard.up("Enter")
    saved(left)
    assert verdicts(server, "left") == ["not_done"] * 3
    assert verdicts(server, "right") == ["success"] * 2


BRIGHTNESS = """(canvas) => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const counts = new Map();
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] === 255) {
      const sum = data[i] + data[i + 1] + data[i + 2];
      counts.set(sum, (counts.get(sum) ?? 0) + 1);
    }
  return [...counts].sort((a, b) => b[1] - a[1])[0][0] / 3;
}"""


@pytest.mark.slow
def test_canvas_follows_the_theme(open_page: Opener) -> None:
    page = open_page("themed", color_scheme="dark")
    canvas = page.locator(".board canvas")
    wait_until(lambda: canvas.evaluate(BRIGHTNESS) < 60, "it is dark")
    page.emulate_media(color_scheme="light")
    wait_until(lambda: canvas.evaluate(BRIGHTNESS) > 200, "it is light")


def test_board_and_verdicts_are_in_view_side_by_side_at_200_percent_zoom(
    open_page: Opener, server: Server
) -> None:
    half = {"width": 640, "height": 450}  # 1280 x 900
    page = open_page("zoomed", viewport=half, device_scale_factor=2)
    for part in (".board canvas", ".progress"):
        page.locator(part).scroll_into_view_if_needed()
        board, verdicts = (page.locator(c).bounding_box() for c in (".board canvas", ".verdicts"))
        assert board["height"] >= 180 and board["x"] + board["width"] <= verdicts["x"]
        for box in (board, verdicts):
            assert box["y"] >= 0 and box["y"] + box["height"] <= half["height"]
    assert wide(page) <= half["width"]


@pytest.mark.landing
@pytest.mark.parametrize(
    ("width", "height"),
    [
        pytest.param(420, 800, id="phone"),
        pytest.param(768, 1024, id="tablet", marks=pytest.mark.slow),
    ],
)
def test_everything_needed_to_judge_fits_a_touch_screen(
    open_page: Opener, server: Server, width: int, height: int
) -> None:
    size = {"width": width, "height": height}
    page = open_page(f"touch {width}", viewport=size, has_touch=True, is_mobile=True)
    parts = [".instruction", ".board canvas", ".timeline", ".controls", ".verdicts", ".submit"]

    def why_invalid() -> bool:
        boxes = [page.locator(one).bounding_box() for one in parts]
        ends = [box["y"] + box["height"] for box in boxes]
        below = all(end <= box["y"] for end, box in zip(ends, boxes[1:], strict=False))
        first, board, *_ = boxes
        return first["y"] >= 0 and ends[-1] <= height and below and board["height"] >= 180

    def check(what: str) -> None:
        # The board takes its size a frame after the page has taken its own.
        wait_until(why_invalid, f"{what}, the parts fit the screen one below the other")

    for action in ("takeover", "forward", "success"):
        page.tap(f"[data-action={action}]")
    check("as it comes")
    assert wide(page) <= width
    page.evaluate(f"window.roots = [document, ...{SHADOWS}]")
    page.evaluate("""() => {
      window.find = (what) => roots.map((one) => one.querySelector(what)).find(Boolean);
      const text = "Stay clear of Evil: from now on never be on it or next to it.";
      find(".instruction span").textContent = text;
      const legend = find(".legend");
      while (legend.children.length < 6) legend.append(legend.lastElementChild.cloneNode(true));
    }""")
    check("with a long instruction and a legend of six")
    page.evaluate("""() => {
      const box = find(".criterion");
      box.hidden = false;
      box.querySelector(".done").textContent = "After the takeover there are 5 steps in a row, one "
        + "directly after the other, at each of which the participant is at most two cells away.";
    }""")
    check("with a success criterion")
    whole, shown = page.evaluate("[find('.done').scrollHeight, find('.done').clientHeight]")
    assert shown >= whole, "no line of the criterion is cut"
    assert "Press “Submit”" in status(page) and not page.locator("kbd:visible").count()
    page.tap("[data-action=submit]")
    saved(page)
    page.tap("[data-action=previous]")
    page.locator(".banner").get_by_role("button", name="Cancel").tap()
    assert "No changes made" in status(page)
    assert [one.step for one in server.judgements(f"touch {width}")] == [1]


@pytest.mark.slow
def test_full_storage_still_sends_answers_and_refused_ones_are_shown(
    open_page: Opener, server: Server
) -> None:
    page = open_page("refused")
    person = next(one for one in ask(server.store, people.list_people) if one.name == "refused")
    key = f"sts:outbox:{storage_namespace(server.place, person.id)}:{'e' * 32}"
    letter = {"uuid": "e" * 32, "item": "x" * 22, "verdict": "not_done"}
    page.evaluate("([key, value]) => localStorage.setItem(key, value)", [key, json.dumps(letter)])
    page.reload()
    page.locator(".rejections", has_text="Not accepted: item was never assigned").wait_for()
    saved(page)
    press(page, "Escape")
    assert not page.is_visible(".rejections")

    full = "Storage.prototype.setItem = () => { throw Error('full'); };"
    server.let_in(page.context, "no room")
    page.add_init_script(full)
    page.reload()
    page.wait_for_selector(STAGE)
    for _ in range(2):
        press(page, "]", "n", "Enter")
        next_one(page)
    saved(page)
    assert verdicts(server, "no room") == ["not_done"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("locks", [True, False], ids=["lock", "no lock"])
def test_second_tab_waits_and_takes_over_when_the_first_closes(
    open_page: Opener, server: Server, locks: bool
) -> None:
    name = f"tabs {locks}"
    none = "" if locks else "Object.defineProperty(Navigator.prototype, 'locks', { value: null });"
    page = open_page(name, script=none)
    other: Any = page.context.new_page()
    other.add_init_script(none)
    other.goto(page.url)
    other.locator(".empty h2", has_text="open in another tab").wait_for()
    assert not other.is_visible(".judging")
    press(other, "n", "Enter")
    press(page, "n", "Enter", "t", "ArrowRight", "f")
    saved(page)
    in_hand = item(page)
    page.close()
    next_one(other)
    assert item(other) == in_hand and "Restored: Failure at step 1" in status(other)
    press(other, "Enter")
    saved(other)
    assert verdicts(server, name) == ["failure", "not_done"]
