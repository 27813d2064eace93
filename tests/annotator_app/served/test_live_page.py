"""People enter live sessions: they record an episode together, and play scenarios."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest

from sts.annotations.records import Annotator
from sts.continuations.continuation import HUMAN, Continuation
from sts.continuations.continuation_store import load
from sts.domains import load_domain
from sts.live.journal import read_events
from sts.live.records import get_journal_path
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectories
from tests.annotator_app.served.browser import Opener, wide
from tests.annotator_app.serving import SUITE, Server
from tests.stores import add_person, claim_items
from tests.waiting import wait_until

UP = 1


def list_live(server: Server) -> list[Any]:
    every = trajectories.load(Workspace.open(str(server.folder)))
    return [one for one in every if one.source.startswith("sts live ")]


def load_played(server: Server) -> list[Continuation]:
    """Return the continuations that people have played by now."""
    workspace = Workspace.open(str(server.folder))
    hashes = {scenario.hash for scenario in suites.load(workspace, SUITE).scenarios}
    return [c for c in load(workspace, hashes) if c.agent == HUMAN]


def list_played(server: Server, before: Iterable[Continuation] = ()) -> list[Continuation]:
    """Return the continuations that people played since others, once there is one."""
    known = {c.id for c in before}
    return wait_until(lambda: [c for c in load_played(server) if c.id not in known])


def list_sessions(server: Server) -> set[str]:
    """Return the ids of all live sessions."""
    folder = get_journal_path(Workspace.open(str(server.folder)), "").parent
    return {path.stem for path in folder.glob("*.jsonl")}


def wait_for_recording(server: Server, session: str) -> Any:
    """Return the trajectory of a session; it is stored once all have left."""
    (recorded,) = wait_until(
        lambda: [t for t in list_live(server) if t.provenance["session"] == session]
    )
    return recorded


def list_moves(played: Continuation) -> list[str]:
    """Return the person's actions."""
    names = load_domain(played.episode.domain).action_names
    return [names[m] for m in played.episode.actions[played.takeover :, played.players[0]]]


def list_offered(server: Server, person: int) -> set[str]:
    """Return the continuations that a person may judge."""
    offered: list[Any] = []
    count = 50
    while len(more := claim_items(server.store, person, suite=SUITE, count=count)) > len(offered):
        offered, count = more, len(more) + 50
    return {claim.continuation for claim in offered}


def start_scenario(open_page: Opener, name: str, **options: Any) -> Any:
    page = open_page(name, path="/live", ready=False, **options)
    page.get_by_role("button", name="Play the next scenario").click()
    page.get_by_text("to your turn").wait_for()
    return page


def add_player(server: Server, name: str) -> Annotator:
    """Add people until the first scenario of one lasts long enough for what a test does in it."""
    scenarios = suites.load(Workspace.open(str(server.folder)), SUITE).scenarios
    for number in itertools.count():
        player = add_person(server.store, f"{name} {number}")
        person = player.pseudonym.encode()
        if min(scenarios, key=lambda s: content_hash(person, s.hash.encode())).horizon >= 12:
            return player
    raise AssertionError


def act(page: Any, key: str) -> None:
    """Press a key, and wait until the step with it was taken."""
    step = int(page.get_attribute(".room", "data-step"))
    page.keyboard.press(key)
    wait_until(lambda: int(page.get_attribute(".room", "data-step")) >= step + 2)


def finish_scenario(page: Any) -> None:
    page.get_by_text("Finished, thank you.").wait_for()
    page.get_by_role("button", name="Done").click()
    page.get_by_role("heading", name="Live sessions").wait_for()


def test_person_plays_a_scenario_in_real_time_and_never_judges_it(
    open_page: Opener, server: Server
) -> None:
    before, own = load_played(server), add_player(server, "player")
    page = start_scenario(open_page, own.name)
    assert page.text_content(".instruction").startswith("No instruction yet")
    page.get_by_text("Get ready: your turn starts in a moment.").wait_for()
    page.keyboard.press("Shift+E")
    act(page, "q")
    page.reload()  # the clock waits
    page.get_by_text("Get ready").wait_for()
    act(page, "Numpad6")
    finish_scenario(page)

    (played,) = list_played(server, before)
    assert [move for move in list_moves(played) if move != "stay"] == ["up-left", "right"]
    tokens = load_domain(played.episode.domain).tokens
    said = played.episode.utterances[played.takeover :, played.players[0]]
    assert [tokens[word] for word in said if word] == ["up-right"]
    assert played.id not in list_offered(server, own.id)
    assert played.id in list_offered(server, add_person(server.store, "another").id)

    page.set_viewport_size({"width": 420, "height": 900})
    page.get_by_role("button", name="Play the next scenario").click()
    page.get_by_text("to your turn").wait_for()
    assert wide(page) <= 420 and page.locator(".pad button").count() == 9


def test_two_people_record_together_and_one_of_them_reloads(
    open_page: Opener, server: Server
) -> None:
    before, setter = list_sessions(server), open_page("setter", path="/live", ready=False)
    setter.get_by_role("button", name="Open a session").click()
    setter.get_by_text("Waiting for the other person").wait_for()
    (session,) = list_sessions(server) - before
    solver = open_page("solver", path="/live", ready=False, viewport={"width": 420, "height": 900})
    solver.get_by_role("button", name="Join a session in lambda-star: carry out tasks").click()
    setter.locator(".room[data-step]:not([data-step='0'])").wait_for()
    setter.get_by_label("Your instruction or question").fill("<b>Go</b> to Good.")
    setter.keyboard.press("Enter")
    solver.get_by_text("<b>Go</b> to Good.").wait_for()
    assert wide(solver) <= 420
    solver.keyboard.press("w")
    journal = get_journal_path(Workspace.open(str(server.folder)), session)
    wait_until(lambda: UP in [e["actions"][0] for e in read_events(journal) if e["kind"] == "step"])
    solver.get_by_text("last action").wait_for()

    solver.reload()
    solver.get_by_text("<b>Go</b> to Good.").wait_for()  # it returns to the session by itself

    setter.get_by_role("button", name="Success").click()
    for _ in range(2):  # the second click confirms
        setter.locator("[data-action=end]").click()
    solver.get_by_role("button", name="Done").click()
    setter.get_by_role("button", name="Done").click()
    setter.get_by_role("heading", name="Live sessions").wait_for()
    assert setter.get_by_role("button", name="Return to").count() == 0
    solver.get_by_role("heading", name="Live sessions").wait_for()
    recorded = wait_for_recording(server, session)
    (instruction,) = recorded.instructions
    assert (instruction.text, instruction.mark) == ("<b>Go</b> to Good.", "success")
    assert UP in recorded.episode.actions[:, 0] and recorded.players[0].kind == "human"
    assert "solver" not in str(recorded.players), "people have pseudonyms"


@pytest.mark.slow
def test_person_records_with_an_agent_in_words_that_it_offers(
    open_page: Opener, server: Server
) -> None:
    before, page = list_sessions(server), open_page("asker", path="/live", ready=False)
    page.get_by_label("Together with").click()
    page.keyboard.type("reader")  # the list shows a part of the agents at a time
    page.get_by_role("option", name="reader", exact=True).click()
    page.get_by_role("button", name="Open a session").click()
    page.locator(".room[data-step]:not([data-step='0'])").wait_for()
    (session,) = list_sessions(server) - before
    offered = page.locator("datalist option").evaluate_all("(all) => all.map((one) => one.value)")
    assert "Walk three cells up." in offered and page.locator(".pad button").count() == 9
    field = page.get_by_label("Your instruction or question")
    for text in ("Walk three cells up.", "Please wait."):
        field.fill(text)
        page.keyboard.press("Enter")
        page.locator(".given .text", has_text=text).wait_for()
    page.locator(".given .at", has_text="saved").nth(1).wait_for()
    act(page, "w")
    for _ in range(2):  # the second click confirms
        page.locator("[data-action=end]").click()
    page.get_by_role("button", name="Done").click()
    page.get_by_role("heading", name="Live sessions").wait_for()
    recorded = wait_for_recording(server, session)
    assert [player.kind for player in recorded.players] == ["agent", "human"]
    assert UP in recorded.episode.actions[:, 1], "the setter moved"
    workspace = Workspace.open(str(server.folder))
    events = read_events(get_journal_path(workspace, recorded.provenance["session"]))
    typed = [event["typed"] for event in events if event["kind"] == "told"]
    assert typed == ["completion", "free"]
