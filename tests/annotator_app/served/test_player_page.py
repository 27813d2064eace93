"""The annotating page in a real browser, on one shared server."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

import pytest

from sts.annotations import people
from sts.continuations.store import load
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts_annotator_app.events import storage_namespace
from tests.annotator_app.serving import AGENTS, SUITE, Server
from tests.stores import ask

pytestmark = pytest.mark.browser

Opener = Callable[..., Any]
EPISODES = 10
NOTE_ENTER = """
addEventListener("keydown", (event) => { window.pressedAt = event.timeStamp; }, true);
"""


def item(page: Any) -> str:
    return str(page.get_attribute(".player", "data-item"))


def status(page: Any) -> str:
    return str(page.text_content(".status"))


def saved(page: Any) -> None:
    page.locator(".progress", has_text="all saved").wait_for(state="attached")


def next_one(page: Any) -> None:
    """Wait until an episode is there: keys sent faster than episodes arrive would be lost."""
    page.locator(".player .stage:not([hidden])").wait_for()


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_ten_marks_made_by_keyboard_alone_are_in_the_store(
    open_page: Opener, server: Server
) -> None:
    page = open_page("ten")
    given = []
    for n in range(10):
        given.append(item(page))
        press(page, "t", *["ArrowRight"] * (1 + n % 5), "s" if n % 2 else "f", "Enter")
        next_one(page)
    saved(page)
    kept = list(reversed(server.judgements("ten")))
    assert [one.item for one in kept] == given
    assert [one.step for one in kept] == [1, 2, 3, 4, 5] * 2
    assert [one.verdict for one in kept] == ["failure", "success"] * 5


@pytest.mark.landing
def test_every_verdict_and_a_reason_in_own_words_arrive(open_page: Opener, server: Server) -> None:
    page = open_page("verdicts")
    press(page, "n", "Enter", "x", "2", "Enter", "x", "4")
    page.keyboard.type("scrubbing fast (s, f, n)")
    press(page, "Enter")
    saved(page)
    own, listed, not_done = server.judgements("verdicts")
    assert (not_done.verdict, not_done.step) == ("not_done", None)
    assert (listed.verdict, listed.reason) == (
        "cannot_judge",
        "the instruction does not fit the situation",
    )
    assert own.reason == "scrubbing fast (s, f, n)"


@pytest.mark.landing
def test_buttons_do_what_keys_do_and_leave_the_keys_to_the_player(
    open_page: Opener, server: Server
) -> None:
    page = open_page("mouse")
    page.click("[data-action=end]")
    page.click("[data-action=success]")
    before = item(page)
    press(page, "Enter")
    assert item(page) != before
    page.click("[data-action=not_done]")
    page.click("[data-action=submit]")
    saved(page)
    assert [one.verdict for one in server.judgements("mouse")] == ["not_done", "success"]


@pytest.mark.landing
def test_a_mark_before_takeover_is_refused_with_a_reason(open_page: Opener) -> None:
    page = open_page("early")
    press(page, "Home", "s")
    assert "only the continuation is judged" in status(page)
    press(page, "t", "f")
    assert "only the continuation is judged" in status(page)
    assert page.get_attribute("[data-action=failure]", "aria-pressed") == "false"
    press(page, "ArrowRight", "f")
    assert "Failure marked at step 1" in status(page)


@pytest.mark.landing
def test_the_timeline_says_where_one_is(open_page: Opener) -> None:
    page = open_page("timeline")
    said = lambda: page.get_attribute(".scrub", "aria-valuetext")  # noqa: E731
    press(page, "Home")
    assert said() == "context, 10 steps before takeover"
    press(page, "t", "ArrowRight")
    assert re.fullmatch(r"continuation, step 1 of (5|8|10|15)", said())
    press(page, "s")
    assert said().endswith("your marker: success")
    press(page, "End", "Shift+ArrowLeft", "Shift+ArrowRight")
    assert re.fullmatch(r"continuation, step (\d+) of \1", said())


@pytest.mark.landing
def test_a_correction_replaces_the_answer_before(open_page: Opener, server: Server) -> None:
    page = open_page("corrector")
    first = item(page)
    press(page, "n", "Enter", "b")
    assert item(page) == first and "Correcting" in page.text_content(".banner")
    press(page, "End")
    horizon = int(page.get_attribute(".scrub", "aria-valuetext").rpartition(" ")[2])
    press(page, "s", "Enter")
    saved(page)
    (standing,) = server.judgements("corrector")
    assert (standing.item, standing.verdict, standing.step) == (first, "success", horizon)


@pytest.mark.landing
def test_a_reload_keeps_the_queue_and_can_still_correct(open_page: Opener, server: Server) -> None:
    page = open_page("reloader")
    first = item(page)
    press(page, "n", "Enter")
    second = item(page)
    saved(page)
    page.reload()
    page.wait_for_selector(".player .stage:not([hidden])")
    assert item(page) == second
    press(page, "b")
    assert item(page) == first
    press(page, "End", "f", "Enter")
    assert item(page) == second
    saved(page)
    assert [one.verdict for one in server.judgements("reloader")] == ["failure"]


@pytest.mark.landing
def test_two_annotators_at_once_do_not_disturb_each_other(
    open_page: Opener, server: Server
) -> None:
    pages = [open_page("left"), open_page("right")]
    for _ in range(5):
        for page, keys in zip(pages, (["n"], ["End", "s"]), strict=True):
            press(page, *keys, "Enter")
            next_one(page)
    for page in pages:
        saved(page)
    left, right = server.judgements("left"), server.judgements("right")
    assert {one.verdict for one in left} == {"not_done"} and len(left) == 5
    assert {one.verdict for one in right} == {"success"} and len(right) == 5


@pytest.mark.landing
def test_twenty_reruns_leave_one_listener(open_page: Opener, server: Server) -> None:
    page = open_page("reruns")
    for _ in range(10):
        press(page, "n", "Enter")
        saved(page)
        next_one(page)
    for scheme in ["dark", "light"] * 5:
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(30)
    press(page, "Home", "ArrowRight")
    assert page.get_attribute(".viewer", "data-frame") == "1"
    press(page, "n", "Enter")
    saved(page)
    assert len(server.judgements("reruns")) == 11


@pytest.mark.landing
def test_a_key_held_down_marks_and_submits_once(open_page: Opener, server: Server) -> None:
    page = open_page("heavy")
    press(page, "n")
    for _ in range(4):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    saved(page)
    assert len(server.judgements("heavy")) == 1


@pytest.mark.landing
def test_the_keys_of_streamlit_open_nothing(open_page: Opener) -> None:
    page = open_page("streamlit-keys")
    before = item(page)
    press(page, "c", "r", "Escape")
    page.wait_for_timeout(300)
    assert page.locator("[role=dialog]").count() == 0 and item(page) == before


@pytest.mark.landing
def test_nothing_that_reaches_the_browser_tells_who_played(
    open_page: Opener, server: Server
) -> None:
    page = open_page("blind")
    received: list[bytes] = []

    def listen(socket: Any) -> None:
        socket.on(
            "framereceived",
            lambda frame: received.append(frame if isinstance(frame, bytes) else frame.encode()),
        )

    page.on("websocket", listen)
    page.reload()
    page.wait_for_selector(".player .stage:not([hidden])")
    for keys in (["n", "Enter"], ["End", "s", "Enter"], ["b", "Escape"]):
        press(page, *keys)
    saved(page)
    dom = page.evaluate(
        "[...document.querySelectorAll('*')].map((e) => e.shadowRoot?.innerHTML ?? '')"
        ".concat(document.documentElement.outerHTML, JSON.stringify(localStorage)).join()"
    ).encode()
    seen = b"".join(received) + dom
    assert item(page).encode() in seen and b"takeover" in b"".join(received), (
        "the net is in the water"
    )
    workspace = Workspace.open(str(server.folder))
    scenarios = suites.load(workspace, SUITE).scenarios
    found = load(workspace, {one.hash for one in scenarios})
    tell_tale = {*AGENTS, str(server.folder), ".parquet", ".sqlite3"}
    tell_tale |= {text for s in scenarios for text in (s.id, s.category, s.hash[:16], s.trajectory)}
    tell_tale |= {text for c in found for text in (c.id, c.fingerprint[:12])}
    assert [word for word in tell_tale if word.encode() in seen] == []


@pytest.mark.landing
def test_the_time_from_enter_to_the_next_first_frame_is_printed(
    open_page: Opener, capsys: pytest.CaptureFixture[str]
) -> None:
    page = open_page("quick", script=NOTE_ENTER)
    page.locator(".player").evaluate(
        """(player) => {
          window.latencies = [];
          new MutationObserver(() => requestAnimationFrame(() =>
            setTimeout(() => window.latencies.push(performance.now() - window.pressedAt)),
          )).observe(player, { attributeFilter: ["data-item"] });
        }"""
    )
    for n in range(EPISODES):
        saved(page)  # a person takes seconds; by then the next ones have come
        press(page, "n", "Enter")
        page.wait_for_function(f"() => window.latencies.length > {n}")
    measured = page.evaluate("window.latencies")
    saved(page)
    assert len(measured) == EPISODES
    with capsys.disabled():
        print(
            f"\n[Enter to the next episode's first frame, {EPISODES} episodes: "
            f"median {median(measured):.0f} ms, p95 {quantiles(measured, n=20)[-1]:.0f} ms]",
            file=sys.stderr,  # a worker's standard output is not shown
        )


@pytest.mark.landing
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_canvas_follows_the_theme(open_page: Opener, scheme: str) -> None:
    page = open_page(f"theme-{scheme}", color_scheme=scheme)
    brightness = page.locator(".board canvas").evaluate(
        """(canvas) => {
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          const counts = new Map();
          for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] === 255) {
              const sum = data[i] + data[i + 1] + data[i + 2];
              counts.set(sum, (counts.get(sum) ?? 0) + 1);
            }
          return [...counts].sort((a, b) => b[1] - a[1])[0][0] / 3;
        }"""
    )
    assert (brightness > 200) if scheme == "light" else (brightness < 60)


@pytest.mark.landing
def test_a_narrow_window_shows_everything_without_scrolling_sideways(open_page: Opener) -> None:
    page = open_page("narrow", viewport={"width": 420, "height": 900})
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 420
    assert page.is_visible("[data-action=submit]") and page.is_visible(".board canvas")


@pytest.mark.landing
@pytest.mark.parametrize(
    ("width", "height"),
    [
        pytest.param(420, 800, id="phone"),
        pytest.param(768, 1024, id="tablet", marks=pytest.mark.landing),
    ],
)
def test_by_touch_all_that_judging_needs_is_there_at_once(
    open_page: Opener, server: Server, width: int, height: int
) -> None:
    size = {"width": width, "height": height}
    page = open_page(f"touch {width}", viewport=size, has_touch=True, is_mobile=True)
    parts = [".instruction", ".board canvas", ".timeline", ".controls", ".verdicts", ".submit"]

    def fits() -> bool:
        boxes = [page.locator(one).bounding_box() for one in parts]
        ends = [box["y"] + box["height"] for box in boxes]
        one_by_one = all(end <= box["y"] for end, box in zip(ends, boxes[1:], strict=False))
        return (
            boxes[0]["y"] >= 0 and ends[-1] <= height and one_by_one and boxes[1]["height"] >= 180
        )

    def check(what: str) -> None:
        for _ in range(50):  # the board takes its size a frame after the page has taken its own
            if fits():
                return
            page.wait_for_timeout(100)
        raise AssertionError(f"{what}: not all stands one below the other within the screen")

    page.tap("[data-action=takeover]")
    page.tap("[data-action=forward]")
    page.tap("[data-action=success]")
    check("as it comes")
    page.evaluate("""() => {
      const shadows = [...document.querySelectorAll("*")].map((one) => one.shadowRoot);
      const roots = [document, ...shadows.filter(Boolean)];
      const find = (what) => roots.map((one) => one.querySelector(what)).find(Boolean);
      const text = "Stay clear of Evil: from now on never be on it or next to it.";
      find(".instruction").textContent = text;
      const legend = find(".legend");
      while (legend.children.length < 6) legend.append(legend.lastElementChild.cloneNode(true));
    }""")
    check("a long instruction, six to tell apart")
    page.evaluate("""() => {
      const shadows = [...document.querySelectorAll("*")].map((one) => one.shadowRoot);
      const inside = shadows.filter(Boolean).map((one) => one.querySelector(".criterion"));
      const box = inside.find(Boolean);
      box.hidden = false;
      box.querySelector(".done").textContent = "After the takeover there are 5 steps in a row, one "
        + "directly after the other, at each of which the participant is at most two cells away.";
    }""")
    check("what done means besides")
    page.tap("[data-action=submit]")
    saved(page)
    assert [one.step for one in server.judgements(f"touch {width}")] == [1]


@pytest.mark.landing
def test_the_keys_are_shown_on_demand(open_page: Opener) -> None:
    page = open_page("helped")
    assert not page.is_visible(".keys")
    press(page, "?")
    assert page.is_visible(".keys")
    assert re.search(r"Enter\s*submit and continue", page.inner_text(".keys"))
    press(page, "Escape")
    assert not page.is_visible(".keys")


@pytest.mark.landing
def test_a_browser_that_keeps_nothing_still_sends_everything(
    open_page: Opener, server: Server
) -> None:
    page = open_page(
        "no room", script="Storage.prototype.setItem = () => { throw Error('full'); };"
    )
    for _ in range(2):
        press(page, "]", "n", "Enter")
        next_one(page)
    saved(page)
    assert len(server.judgements("no room")) == 2


@pytest.mark.landing
def test_a_refused_answer_is_told_to_the_person(open_page: Opener, server: Server) -> None:
    page = open_page("refused")
    person = next(one for one in ask(server.store, people.everybody) if one.name == "refused")
    key = f"sts:outbox:{storage_namespace(server.place, person.id)}:{'e' * 32}"
    letter = {"uuid": "e" * 32, "item": "x" * 22, "verdict": "not_done"}
    page.evaluate("([key, value]) => localStorage.setItem(key, value)", [key, json.dumps(letter)])
    page.reload()
    page.locator(".refused", has_text="Not accepted: item was never assigned").wait_for()
    saved(page)
    press(page, "Escape")
    assert not page.is_visible(".refused")


@pytest.mark.landing
def test_a_reload_keeps_the_mark_in_hand_what_was_watched_and_the_time(
    open_page: Opener, server: Server
) -> None:
    page = open_page("keeper")
    given = item(page)
    press(page, "t", "ArrowRight", "ArrowRight", "s")
    page.reload()
    next_one(page)
    assert item(page) == given
    assert "Restored: Success at step 2" in status(page)
    press(page, "Enter")
    saved(page)
    (kept,) = server.judgements("keeper")
    assert (kept.item, kept.verdict, kept.step) == (given, "success", 2)
    assert (
        page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('sts:visit'))")
        == []
    )


@pytest.mark.landing
@pytest.mark.parametrize(
    "locks",
    [
        pytest.param(True, id="a lock"),
        pytest.param(False, id="no lock", marks=pytest.mark.landing),
    ],
)
def test_a_second_tab_waits_and_takes_over_when_the_first_is_closed(
    open_page: Opener, server: Server, locks: bool
) -> None:
    name = f"tabs {locks}"
    none = "" if locks else "Object.defineProperty(Navigator.prototype, 'locks', { value: null });"
    page = open_page(name, script=none)
    other = page.context.new_page()
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
    assert [one.verdict for one in server.judgements(name)] == ["failure", "not_done"]
