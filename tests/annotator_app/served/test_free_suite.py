"""Suites without any rule, in real browsers: made, voted for, judged by scripts, and reported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from playwright.sync_api import TimeoutError, expect
from sqlalchemy import select

from sts.annotations.database.schema import deals, items
from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectories
from sts_scenarios.draft.recipes import RecipeScenario, build_suite, load_recipe
from tests.annotator_app.served.browser import press, saved
from tests.annotator_app.served.test_team_work import mark, waiting
from tests.annotator_app.serving import Server
from tests.waiting import PATIENCE
from tests.zygote import Zygote

pytestmark = pytest.mark.slow

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
        choose_recording(page, number % 5)
        page.get_by_role("slider", name="Takeover").focus()
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


def choose_recording(page: Any, at: int) -> None:
    """Choose a recording; a rerun of the page closes the list, which is then opened again."""
    for _ in range(20):
        page.get_by_role("combobox", name="Recording").click()
        with suppress(TimeoutError):
            return page.get_by_role("option").nth(at).click(timeout=5000)
    raise AssertionError("the list of recordings closed each time")


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


def enter(page: Any, item: RecipeScenario, names: list[str], steps: int) -> None:
    """Enter a scenario of a recipe on the page New scenario.

    `names` are those of the players, and the recording has this number of steps.
    """
    page.get_by_role("combobox", name="Recording").click()
    press(page, "Control+a")
    page.keyboard.type(item.trajectory)
    page.get_by_role("option", name=item.trajectory).first.click()
    page.get_by_text(f" of {steps}. This is what happened").wait_for()
    expect(page.get_by_role("slider", name="Takeover")).to_have_count(1)
    for label, value in (
        ("Takeover", item.takeover),
        ("Context", item.context),
        ("Length", item.horizon),
    ):
        slider = page.get_by_role("slider", name=label)
        slider.fill(str(value - 1))  # in the page alone, until a key is pressed
        slider.press("ArrowRight")
    page.get_by_role("combobox", name="Evaluated player").click()
    page.get_by_role("option", name=names[item.player]).click()
    first, last = item.takeover - item.context, item.takeover + item.horizon
    page.get_by_text(f"Recorded steps {first} to {last} of").wait_for()
    page.locator(".legend", has_text=f"{names[item.player]}: evaluated player").wait_for()
    for label, text in (
        ("Instruction", item.instruction),
        ("Success criterion", item.criterion),
        ("Edge cases", item.edge_cases),
        ("Category", item.category),
    ):
        page.get_by_role("textbox", name=label).fill(text)
    for choice in (item.kind, item.difficulty):
        page.locator("label", has_text=re.compile(f"^{choice}$")).click()


def test_recipe_that_is_entered_on_the_page_gives_the_same_scenarios(
    chromium: Any, tmp_path: Path, zygote: Zygote
) -> None:
    workspace = Workspace.open(str(tmp_path / "workspace")).create()
    recipe = load_recipe("kitchen")
    built = build_suite(workspace, recipe)
    steps = {t.source: t.episode.steps for t in trajectories.load(workspace)}
    drafts.create_draft(workspace, "own", [])
    with (
        Server(workspace.root, "own", zygote=zygote) as server,
        entered(chromium, server, AUTHOR, "curator") as page,
    ):
        page.get_by_role("link", name="New scenario").click()
        add = page.get_by_role("button", name="Add to the draft")
        add.wait_for()
        for item, scenario in zip(recipe.scenario, built.scenarios, strict=True):
            enter(page, item, ["blue hat", "green hat"], steps[item.trajectory])
            add.click()
            page.get_by_text(f"{scenario.id} is added to the draft own.").wait_for()
    sts(workspace.root, "draft", "accept", "own", "--all", "--user", AUTHOR)
    sts(workspace.root, "suite", "freeze", "own", "--unreviewed")
    own = suites.load(workspace, "own@1")
    assert [(s.id, s.hash) for s in own.scenarios] == [(s.id, s.hash) for s in built.scenarios]
