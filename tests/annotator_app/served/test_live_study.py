"""A rehearsal of a live evaluation, through the pages, from the plan to the report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.live.interactions import read_interactions
from sts.live.journal import read_events
from sts.live.plans import Cell, Plan, load_plan
from sts.storage.scores import read_score_rows
from sts.storage.workspace import Workspace
from tests.annotator_app.served.test_live_page import list_live
from tests.annotator_app.serving import SUITE, Server
from tests.waiting import PATIENCE, wait_until
from tests.zygote import Zygote

pytestmark = pytest.mark.landing

MARKS = {"local-search": ["Success", ""], "stigmergy": ["Failure"], "rule": ["Success"]}
"""The marks that scripts give in a session with each agent, "" for none."""
SCORES = {"local-search": 0.5, "stigmergy": 0, "rule": 1}


@pytest.fixture
def planned(
    request: pytest.FixtureRequest,
    recorded: Path,
    tmp_path: Path,
    zygote: Zygote,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Server]:
    """A server on a suite that some agents continued, and a rehearsal of people with them."""
    people, count = request.param
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    agents = [word for agent in [*MARKS][:count] for word in ("--agent", agent)]
    call(folder, capsys, "run", SUITE, *agents, "--continuations", "1")
    call(folder, capsys, "label", SUITE)
    short = ("--people", str(people), "--minutes", "0.1", "--tick", "0.1", "--rehearsal")
    call(folder, capsys, "live", "new", "trial", *agents, *short)
    with Server(folder, zygote=zygote) as served:
        yield served


def call(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return what a command prints for a program."""
    code = main([*words, "--workspace", str(folder), "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out)


@pytest.mark.slow
@pytest.mark.parametrize("planned", [(1, 2), (2, 3)], indirect=True)
def test_rehearsal_goes_from_plan_to_report_and_is_called_a_scripts(
    chromium: Any, planned: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = planned.folder
    workspace = Workspace.open(str(folder))
    plan = load_plan(workspace, "trial")
    names = [agent.name for agent in plan.agents]
    pages = [enter(chromium, planned, name, capsys) for name in ("Ann", "Bob")[: plan.people]]
    for order in range(len(names) + 1):
        for page in pages:  # both play at the same time
            page.get_by_role("button", name="Start the next session").click()
        for person, page in enumerate(pages):
            (cell,) = [c for c in plan.cells if (c.person, c.order) == (person, order)]
            set_tasks(page, plan, cell)
        for page in pages:
            finish(page, order)
    for page in pages:
        page.get_by_role("button", name="Start the next session").click()
        page.get_by_text("You have done all sessions of this study. Thank you!").wait_for()
        page.context.close()

    value = call(folder, capsys, "live", "score", "trial")
    assert (value["metric"], value["practice"], value["broke_off"]) == ("setter", plan.people, [])
    scores = {agent["agent"]: agent["score"] for agent in value["agents"]}
    assert scores == {name: SCORES[name] for name in names}
    assert value["sessions"] == {"finished": len(plan.cells)} and value["person_hours"] == 0
    assert [path.name for path in workspace.path("scores").iterdir()] == ["setter.parquet"]
    rows = read_score_rows(workspace.path("scores", "setter.parquet"))
    assert [(row["metric"], row["hours"]) for row in rows] == [("setter", 0)] * len(names)
    interactions = read_interactions(Path(value["interactions"]))
    assert {row.setter_kind for row in interactions} == {"script"}
    assert [row.mark for row in interactions if row.practice] == ["cannot_tell"] * plan.people
    assert {row.marker_kind for row in interactions if row.marked_by} == {"script"}
    wait_until(lambda: len(list_live(planned)) == len(plan.cells))
    journals = [read_events(path) for path in workspace.path("live/sessions").iterdir()]
    kinds = [[p["kind"] for p in events[0]["participants"]] for events in journals]
    assert kinds == [["script", "agent"]] * len(plan.cells)
    assert {max(e["t"] for e in events if e["kind"] == "ended") for events in journals} >= {60}
    played = list_live(planned)
    assert [t.provenance["setters"] for t in played] == [["script"]] * len(plan.cells)
    assert {player.kind for t in played for player in t.players} == {"agent"}

    out = folder / "out"
    report = call(folder, capsys, "report", SUITE, "--out", str(out))
    shown = [(s["agent"], s["metric"], s["value"]) for s in report["correlations"]["scores"]]
    assert sorted(shown) == sorted((agent, "setter", score) for agent, score in scores.items())
    appendix = (out / "appendix.html").read_text()
    assert "<th scope=row>setter</th>" in appendix and "interactive" not in appendix
    assert "setter: scripts set or marked tasks" in appendix and "Person-hours" not in appendix


def enter(chromium: Any, server: Server, name: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return the page of live sessions of someone who has opened their invitation."""
    link = call(server.folder, capsys, "annotators", "add", name)["link"]
    page = chromium.new_context().new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(server.url(link))
    page.get_by_role("button", name=f"Sign in as {name}").click()
    page.get_by_role("link", name="Live").click()
    page.get_by_text("Rehearsal: what you do here counts as a script's.").wait_for()
    return page


def set_tasks(page: Any, plan: Plan, cell: Cell) -> None:
    """Give instructions in a session and mark them as planned for its agent."""
    agent = plan.agent_of(cell).name
    page.locator(".room[data-step]:not([data-step='0'])").wait_for()
    assert agent not in page.content()
    assert page.locator(".role", has_text="Practice").count() == cell.practice
    for number, mark in enumerate(MARKS.get(agent, [""]), 1):
        page.get_by_label("Your instruction or question").fill(f"Go to Good, for {number}.")
        page.keyboard.press("Enter")
        asked = page.locator(".given li", has_text=f"for {number}.")
        asked.locator(".at", has_text="saved").wait_for()
        if mark:
            asked.get_by_role("button", name=mark).click()
            asked.locator("[aria-pressed=true]", has_text=mark).wait_for()


def finish(page: Any, order: int) -> None:
    """End a session, unless its time is to run out; after practice, reload the page and mark."""
    if order != 1:
        for _ in range(2):  # the second click confirms
            page.locator("[data-action=end]").click()
    if order == 0:
        page.locator(".status", has_text="Mark 1 instruction before you leave.").wait_for()
        page.reload()
        page.get_by_role("button", name="Cannot tell").click()
    page.get_by_role("button", name="Done").click()
    page.locator(".room").wait_for(state="detached")
