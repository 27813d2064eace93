"""A suite without any rule, in real browsers: made, voted for, judged by scripts, and reported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from sqlalchemy import select

from sts.annotations.schema import deals, items
from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import store as suites
from tests.annotator_app.served.browser import press, saved
from tests.annotator_app.served.test_team_work import mark, waiting
from tests.annotator_app.serving import PATIENCE, Server
from tests.zygote import Zygote

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SCENARIOS, TAGS = 20, ("courtesy", "help", "order", "place", "wait")
WORDS = "Do as the script {number} says: {tag}. Mach es so!"
CRITERION = "The cook does what the script {number} says."
AUTHOR, VOTERS = "script-author", ("script-voter-1", "script-voter-2")
JUDGES = ("script-judge-1", "script-judge-2", "script-judge-3")
AGENTS = ("random", "overcooked-stay", "overcooked-greedy")


def sts(folder: Path, *words: str) -> None:
    assert main([*words, "--workspace", str(folder)]) == 0


@contextmanager
def entered(chromium: Any, server: Server, name: str, role: str) -> Iterator[Any]:
    """Open the page of a script that acts as a person, in a browser profile of its own."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(1000 * PATIENCE)
    context.add_init_script("localStorage['sts:settings'] ??= '{\"autoplay\": false}'")
    server.let_in(context, name, (role,))
    page = context.new_page()
    page.goto(server.url("/"))
    yield page
    context.close()


def make_scenarios(page: Any) -> None:
    """Make candidates of different recordings, steps and players on the page."""
    page.get_by_role("link", name="New scenario").click()
    add = page.get_by_role("button", name="Add to the draft")
    add.wait_for()
    for number in range(SCENARIOS):
        tag = TAGS[number % len(TAGS)]
        page.get_by_role("combobox", name="Recording").click()
        page.get_by_role("option").nth(number % 5).click()
        page.get_by_role("slider").focus()
        press(page, *["ArrowRight"] * (number + 1))
        for label, text in (
            ("Instruction", WORDS.format(number=number, tag=tag)),
            ("Success criterion", CRITERION.format(number=number)),
            ("Category", tag),
        ):
            page.get_by_role("textbox", name=label).fill(text)
        add.click()
        page.get_by_text(
            f"{tag}-{number // len(TAGS) + 1:02d} is added to the draft own."
        ).wait_for()


def vote(page: Any) -> None:
    """Rate every candidate blind, from the keyboard."""
    page.wait_for_selector(".curate .stage:not([hidden])")
    press(page, "b")
    page.locator(".position", has_text=f"1 of {SCENARIOS}").wait_for()
    for number in range(1, SCENARIOS + 1):
        page.locator(".position", has_text=re.compile(f"^{number} of")).wait_for()
        page.locator(".state", has_text="second rating, blind").wait_for()
        page.wait_for_selector(".curate .stage:not([hidden])")
        assert page.locator(".ratings:not([hidden])").count() == 0
        press(page, "y")
    saved(page)


def judge(pages: dict[str, Any], shows: dict[str, str]) -> dict[str, int]:
    """Have the scripts judge in turns until nothing is left; return the numbers of verdicts."""
    counts = dict.fromkeys(pages, 0)
    at_work = dict(pages)
    while at_work:
        for name, page in [*at_work.items()]:
            item = waiting(page, ".player")
            if item is None:
                del at_work[name]
                continue
            success = crc32(shows[item].encode()) % 3 == 0
            differs = crc32(f"{name} {item}".encode()) % 10 == 0
            mark(page, *(("success", 2) if success is not differs else ("not_done", None)))
            counts[name] += 1
    return counts


def test_twenty_scenarios_without_a_rule_are_made_voted_for_judged_and_reported(
    chromium: Any, tmp_path: Path, zygote: Zygote
) -> None:
    folder = tmp_path / "workspace"
    workspace = Workspace.open(str(folder)).create()
    sts(folder, "trajectories", "import", "--format", "overcooked-2019")
    drafts.create_draft(workspace, "own", [])
    with Server(folder, "own", zygote=zygote) as server:
        with entered(chromium, server, AUTHOR, "curator") as page:
            make_scenarios(page)
        sts(folder, "draft", "accept", "own", "--all", "--user", AUTHOR)
        for name in VOTERS:
            assert main(["suite", "freeze", "own", "--workspace", str(folder)]) == 1
            with entered(chromium, server, name, "curator") as page:
                vote(page)
        sts(folder, "suite", "freeze", "own", "--description", "Scripts made and judged this.")
    suite = suites.load(workspace, "own@1")
    assert len(suite.scenarios) == SCENARIOS and suite.unreviewed == ()
    assert all(len(s.people) == 2 and s.criterion for s in suite.scenarios)
    agents = [word for name in AGENTS for word in ("--agent", name)]
    sts(folder, "run", "own@1", *agents, "--continuations", "10")
    settings = folder / "workspace.toml"
    text = settings.read_text()
    settings.write_text(text.replace("annotations_per_clip = 1", "annotations_per_clip = 3"))
    with Server(folder, "own@1", zygote=zygote) as server:
        with server.store.database.read() as connection:
            rows = connection.execute(select(items.c.id, items.c.continuation))
            shows = {row.id: row.continuation for row in rows}
        for name in JUDGES:
            server.secret(name)  # all are there before the first clip is dealt
        with ExitStack() as stack:
            pages = {
                name: stack.enter_context(entered(chromium, server, name, "annotator"))
                for name in JUDGES
            }
            counts = judge(pages, shows)
        assert set(counts.values()) == {len(shows)}
        with server.store.database.read() as connection:
            shown = connection.execute(select(deals.c.annotator, deals.c.rubric_shown)).all()
        assert len(shown) == len(JUDGES) * len(TAGS) and sum(not s for _, s in shown) == 3
    sts(folder, "report", "own@1")
    report = json.loads(workspace.path("reports", "own-1", "report.json").read_text())
    questions = {row["question"]: row for row in report["judging"]["rows"]}
    for question, sign in (("Annotators agree", "α"), ("Agree without the criterion", "κ")):
        assert sign in questions[question]["finding"] and questions[question]["value"] is not None
    both = [row for row in report["conditions"]["rows"] if row["part"] == "all of these"]
    assert {row["agent"] for row in both} == {*AGENTS}
    assert all(row["shown_rate"] is not None and row["alone_rate"] is not None for row in both)
