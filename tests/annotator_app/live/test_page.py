"""The page of live sessions: people in two browsers record a session together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from sts import agents
from sts.domains import action_space, load_domain
from sts.live.journal import Event, read_events
from sts.live.types import Participant
from tests.annotator_app.live.host import PROMPTS, Host
from tests.annotator_app.served.browser import wide
from tests.examples import scenarios
from tests.waiting import PATIENCE, wait_until

PEOPLE = (Participant("human", "ann", "setter", 0), Participant("human", "bob", "solver", 1))
LAMBDA = load_domain("lambda-star")
RIGHT_TO_LEFT = "اذهب إلى اليسار"
MARKUP = "<b>Come</b> <img src=x onerror=\"document.title = 'broken'\">"
Opener = Callable[..., Any]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    served = Host(tmp_path_factory.mktemp("live"))
    yield served
    served.close()


@pytest.fixture
def open_page(chromium: Any, host: Host) -> Iterator[Opener]:
    """A function that opens a person's page in a browser of their own, or in that of a page."""
    contexts, errors = [], []

    def opens(session: str, person: str, beside: Any = None, **options: Any) -> Any:
        context = beside.context if beside else chromium.new_context(**options)
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(host.url(session, person))
        return page

    yield opens
    for context in contexts:
        context.close()
    assert not errors


def ask(page: Any, text: str) -> None:
    page.locator(".ask").wait_for()
    page.keyboard.press("Enter")
    page.keyboard.insert_text(text)
    page.keyboard.press("Enter")


def wait_for_status(page: Any, text: str) -> None:
    page.locator(".status", has_text=text).wait_for(state="attached")


def step(host: Host, session: str, page: Any, steps: int = 2) -> None:
    """Have a session take some steps, and wait until a page shows the last."""
    time = host.step(session, steps)
    page.locator(f".room[data-step='{time}']").wait_for()


def wait_for_key(host: Host, session: str, player: int, is_pressed: bool = True) -> None:
    """Wait until the server knows that a key of a player is pressed, or no longer."""
    wait_until(lambda: host.rooms[session].is_pressed(player) is is_pressed)


def wait_until_saved(page: Any, count: int) -> None:
    page.locator(f".given li:nth-child({count})").wait_for()
    page.locator(".given .at", has_text="sending").first.wait_for(state="detached")


def events(host: Host, session: str, kind: str) -> list[Event]:
    return [event for event in read_events(host.folder / session) if event["kind"] == kind]


def end(page: Any) -> None:
    for _ in range(2):
        page.locator("[data-action=end]").click()
    wait_for_status(page, "The session has ended.")


def test_two_people_record_a_session_although_each_is_cut_off(host, open_page):
    session = host.open(PEOPLE)
    ann = open_page(session, "ann")
    wait_for_status(ann, "Waiting for the other person.")
    bob = open_page(session, "bob")
    step(host, session, bob)
    for text in (MARKUP, RIGHT_TO_LEFT):
        ask(ann, text)
        bob.locator(".instruction", has_text=text).wait_for()
    assert bob.locator(".before li").all_text_contents() == [MARKUP]
    assert bob.locator(".instruction").evaluate("(e) => getComputedStyle(e).direction") == "rtl"
    assert bob.title() == "Live session"

    bob.keyboard.press("Shift+W")
    bob.locator(".word", has_text="“up”").wait_for()
    bob.keyboard.down("d")
    for _ in range(5):
        bob.keyboard.down("d")  # as a browser repeats it
    wait_for_key(host, session, 1)
    step(host, session, bob, 5)
    bob.keyboard.up("d")

    bob.context.set_offline(True)
    wait_for_status(bob, "The connection is lost.")
    wait_for_status(ann, "Waiting for the other person.")
    ask(ann, "Wait here.")
    bob.context.set_offline(False)
    bob.locator(".instruction", has_text="Wait here.").wait_for()
    step(host, session, bob)

    ann.context.set_offline(True)
    ask(ann, "Written without a connection.")
    ann.keyboard.press("Alt+x")
    ann.locator(".given .at", has_text="sending").first.wait_for()
    ann.close()
    ann.context.set_offline(False)
    ann = open_page(session, "ann", beside=ann)
    wait_until_saved(ann, 4)
    ann.keyboard.press("Alt+s")
    ann.locator(".given li:first-child [aria-pressed=true]", has_text="Success").wait_for()
    ann.locator(".given li:first-child input").fill("at once")
    ann.keyboard.press("Enter")
    wait_until_saved(ann, 4)
    ann.keyboard.press("Enter")
    ann.keyboard.insert_text("half written, wasd")
    ann.reload()
    ann.locator(".given li:nth-child(4)").wait_for()
    assert ann.input_value("[name=text]") == "half written, wasd"
    end(ann)
    wait_for_status(ann, "Mark 2 instructions before you leave.")
    ann.keyboard.press("Alt+f")
    ann.locator(".given li.unmarked").nth(1).wait_for(state="detached")
    wait_for_status(bob, "The session has ended.")
    for page in (ann, bob):
        page.locator("[data-action=done]").click()
        page.locator(".empty h2", has_text="Thank you").wait_for()
    assert ann.evaluate("[localStorage.length, sent.done]") == [0, session]
    wait_until(lambda: session in host.finished)

    asked = [(event["text"], event["prompt"]) for event in events(host, session, "told")]
    texts = [MARKUP, RIGHT_TO_LEFT, "Wait here.", "Written without a connection."]
    assert asked == [(text, PROMPTS[i % len(PROMPTS)]["text"]) for i, text in enumerate(texts)]
    marks = [(e["instruction"], e["mark"], e["note"]) for e in events(host, session, "marked")]
    assert sorted(set(marks)) == [
        (1, "failure", ""),
        (2, "cannot_tell", ""),
        (3, "success", ""),
        (3, "success", "at once"),
    ]
    steps = events(host, session, "step")
    right, up = LAMBDA.action_names.index("right"), LAMBDA.tokens.index("up")
    moved = [(e["actions"][1], e["utterances"][1]) for e in steps if 1 not in e["missed"]]
    assert moved == [(right, up)]
    assert all(0 in event["missed"] for event in steps), "typing moved the setter"


def test_second_tab_takes_over_and_the_first_can_take_it_back(host, open_page):
    session = host.open(PEOPLE)
    first = open_page(session, "ann")
    first.locator(".side").wait_for()
    second = open_page(session, "ann", beside=first)
    wait_for_status(first, "This session was opened in another tab.")
    second.get_by_role("button", name="Another prompt").click()
    ask(second, "From the second tab.")
    wait_until_saved(second, 1)
    assert not first.locator(".ask").is_visible()
    first.get_by_role("button", name="Use it here").click()
    wait_for_status(second, "This session was opened in another tab.")
    first.locator(".given .text", has_text="From the second tab.").wait_for()
    assert [event["prompt"] for event in events(host, session, "told")] == [PROMPTS[1]["text"]]


class Speaker(agents.Agent):
    """Says yes at each step until it is asked to crash."""

    name, version = "hidden-name", "1"

    def act(self, observation, instructions, memory, draws):
        if any(memory or []) or "crash" in str(instructions):
            raise ZeroDivisionError
        shape = np.asarray(observation.cell).shape
        moves = action_space(LAMBDA).fill(shape, LAMBDA.noop)
        words = np.full(shape, LAMBDA.tokens.index("yes"), np.int8)
        return agents.PolicyOutput(moves, words), memory


def test_setter_without_a_player_sees_the_scene_and_no_name_of_the_agent(host, open_page):
    people = [Participant("human", "ann", "setter", None), Participant("agent", "s", "solver", 0)]
    session = host.open(people, load_agent=lambda name: Speaker())
    received: list[str] = []
    page = open_page(session, "ann")
    page.on("websocket", lambda ws: ws.on("framereceived", lambda frame: received.append(frame)))
    page.reload()
    page.locator(".room[data-step]").wait_for()
    step(host, session, page)
    page.locator(".heard", has_text="A: yes").wait_for()
    assert "A in row" in page.get_attribute("canvas", "aria-label")
    assert page.locator(".place").text_content() == "Acts on your instructions: A"
    assert not page.locator(".pad button").first.is_visible()
    ask(page, "go to the red ball")
    wait_until_saved(page, 1)
    page.keyboard.press("s")
    wait_until_saved(page, 1)
    ask(page, "crash")
    wait_until_saved(page, 2)
    host.step(session, 1)
    wait_for_status(page, "The agent has stopped working, so this session ends here. It is saved.")
    page.locator(".given li.unmarked", has_text="crash").wait_for()
    assert received and "hidden-name" not in "".join(received)
    assert [event["typed"] for event in events(host, session, "told")] == ["completion", "free"]


def test_pictures_are_painted_and_a_button_is_held_like_a_key(host, open_page):
    session = host.open(PEOPLE, "overcooked")
    open_page(session, "ann")
    page = open_page(session, "bob", viewport={"width": 420, "height": 900}, has_touch=True)
    page.locator("canvas[aria-busy=false]").wait_for()
    step(host, session, page)
    painted = "(c) => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    assert page.locator("canvas").evaluate(painted) > 10
    page.locator(".pad button", has_text="left").hover()
    page.mouse.down()
    wait_for_key(host, session, 1)
    step(host, session, page, 4)
    page.mouse.up()
    wait_for_key(host, session, 1, is_pressed=False)
    step(host, session, page, 3)
    end(page)
    left = load_domain("overcooked").action_names.index("left")
    steps = events(host, session, "step")
    pressed = [event["t"] for event in steps if 1 not in event["missed"]]
    assert pressed == [2, 3, 4, 5] and len(steps) == 9
    assert {steps[t]["actions"][1] for t in pressed} == {left}


def test_one_key_is_one_step_in_a_session_without_a_clock(host, open_page):
    session = host.open((Participant("human", "ann", "player", 0),), tick=None, max_steps=3)
    page = open_page(session, "ann")
    page.locator(".help", has_text="One key is one step.").wait_for()
    page.locator(".pad button", has_text="stay").focus()
    for step, key in enumerate(("w", "Numpad6", "Enter"), 1):
        page.keyboard.press(key)
        page.locator(f".room[data-step='{step}']").wait_for()
    wait_for_status(page, "The session has ended.")
    names = [LAMBDA.action_names[e["actions"][0]] for e in events(host, session, "step")]
    assert names == ["up", "right", "stay"]


def test_person_watches_the_context_of_a_scenario_and_plays_on_from_there(host, open_page):
    (played,) = scenarios(1)
    person = Participant("human", "ann", "solver", played.players[0])
    session = host.open([person], scenario=played, tick=None)
    page = open_page(session, "ann")
    wait_for_status(page, "Watch what happened before; your turn comes next.")
    page.keyboard.press("w")
    assert page.locator(".pad button").first.is_disabled() and not page.locator(".ask").is_visible()
    host.step(session, played.context)
    for step in range(played.context, played.context + played.horizon):
        page.locator(f".room[data-step='{step}'] .pad button:enabled").first.wait_for()
        page.keyboard.press("w")
    wait_for_status(page, "Finished, thank you.")
    assert page.text_content(".instruction") == played.instructions[-1].text
    steps = events(host, session, "step")
    moves = [event["actions"][person.player] for event in steps]
    recorded = played.recording.actions[: played.context]
    assert moves[: played.context] == recorded[:, person.player].tolist()
    assert moves[played.context :] == [LAMBDA.action_names.index("up")] * played.horizon


def test_roles_can_be_swapped(host, open_page):
    session = host.open(PEOPLE)
    ann, bob = open_page(session, "ann"), open_page(session, "bob")
    step(host, session, bob)
    ask(ann, "Come here.")
    bob.locator(".instruction", has_text="Come here.").wait_for()
    legend = bob.locator(".legend li").all_inner_texts()
    assert len(legend) == 5 and [text for text in legend if "you" in text] == ["B: you"]
    bob.get_by_role("button", name="Swap roles").click()
    ann.locator(".role", has_text="You carry out the tasks").wait_for()
    bob.locator(".prompt").wait_for()
    assert not bob.locator(".task").is_visible(), "the old instruction is over"
    ask(bob, "Now you.")
    ann.locator(".instruction", has_text="Now you.").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_accessible_and_fits_a_narrow_screen(host, open_page, scheme):
    session = host.open(PEOPLE)
    pages = [open_page(session, name, color_scheme=scheme) for name in ("ann", "bob")]
    step(host, session, pages[1])
    for text in ("Come here.", "w" * 500):
        ask(pages[0], text)
        wait_until_saved(pages[0], 1)
        pages[0].keyboard.press("Alt+s")
        wait_until_saved(pages[0], 1)
    pages[1].locator(".before li").wait_for()
    for state in ("running", "ended"):
        for page in pages:
            for width in (1280, 420) if scheme == "light" else (1280,):
                page.set_viewport_size({"width": width, "height": 900})
                assert wide(page) <= width, (state, width)
                found = Axe().run(page).response["violations"]
                assert [(v["id"], v["nodes"][0]["html"]) for v in found] == [], (state, width)
        if state == "running":
            end(pages[0])
