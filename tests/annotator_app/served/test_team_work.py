"""A team at work, in real browsers: it trains, judges, disagrees, is adjudicated and reviewed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pytest
from sqlalchemy import select

from sts.annotations.answers import review_events
from sts.annotations.answers.review_events import ERRORS
from sts.annotations.database.schema import items
from sts.cli.main import main
from sts.continuations import continuation_store as continuations
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts_scenarios.rules.labels import label_suite
from tests.annotator_app.served.browser import SHADOWS, press
from tests.annotator_app.serving import AGENTS, SUITE, Server, quiet
from tests.stores import add_person, ask
from tests.waiting import PATIENCE
from tests.zygote import Zygote

TEAM = ("Ana", "Ben", "Cleo")
SETTINGS = """[annotation]
instruction_alone = 0.0
training = 3
overlap = {overlap}
annotations_per_clip_by = {{ "{suite}/where-was-evil" = 3 }}
queue = {queue}
review_sample = {reviewed}
annotations_per_clip = 1"""
TRUTH, NOTE = ("success", 3), "<i>Look at step 3.</i>"
STANDS = ".stage:not([hidden])"
AWAITED = f"""() => {{
  const page = {SHADOWS}.find((one) => one.querySelector(".stage"));
  if (!page) return false;
  const empty = page.querySelector(".empty:not([hidden]) h2");
  const saved = page.querySelector(".progress").textContent.includes("all saved");
  const over = saved && /done|left|decided/.test(empty?.textContent);
  return over || !!page.querySelector("{STANDS}");
}}"""

Verdict = tuple[str, int | None]


class Study(NamedTuple):
    """A server, its queue, the continuations of its clips, and those that are references."""

    server: Server
    queue: int
    shows: dict[str, str]
    references: set[str]

    def sts(self, *words: str) -> None:
        assert main([*words, "--workspace", str(self.server.folder)]) == 0


@pytest.fixture
def study(
    request: pytest.FixtureRequest, recorded: Path, tmp_path: Path, zygote: Zygote
) -> Iterator[Study]:
    """A study that trains its annotators on three of four references."""
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    file = folder / "workspace.toml"
    lines = file.read_text().splitlines()
    kept = [
        one for one in lines if not one.startswith(("annotations_per_clip", "overlap", "queue"))
    ]
    queue = request.param
    overlap = 0.25 if queue > 100 else 0.5  # enough clips for people to disagree about
    settings = SETTINGS.format(queue=queue, overlap=overlap, suite=SUITE, reviewed=queue // 9)
    file.write_text("\n".join(kept).replace("[annotation]", settings) + "\n")
    workspace = Workspace.open(str(folder))
    suite = suites.load(workspace, SUITE)
    run(workspace, suite.scenarios, AGENTS, count=2, seed=0, workers=1, progress=quiet)
    label_suite(workspace, suite)
    every = continuations.load(workspace, {one.hash for one in suite.scenarios})
    references = sorted(one.id for one in every if one.agent == "stigmergy")[:4]
    made = Study(Server(folder, zygote=zygote), queue, {}, {*references})
    for one in references:
        verdict = ("--verdict", TRUTH[0], "--step", str(TRUTH[1]), "--note", NOTE)
        made.sts("references", "add", one, *verdict)
    with made.server as server:
        with server.store.database.read() as connection:
            rows = connection.execute(select(items.c.id, items.c.continuation))
            made.shows.update((row.id, row.continuation) for row in rows)
        yield made


@pytest.fixture
def enter(chromium: Any, study: Study) -> Iterator[Callable[..., Any]]:
    """Has a person enter by their invitation, in a browser profile of their own."""
    contexts = []

    def entered(name: str, *roles: str, path: str = "/") -> Any:
        token = add_person(study.server.store, name, roles).token
        contexts.append(context := chromium.new_context(viewport={"width": 1280, "height": 800}))
        context.set_default_timeout(1000 * PATIENCE)
        context.add_init_script("localStorage['sts:settings'] ??= '{\"autoplay\": false}'")
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(study.server.url(f"/enter?t={token}"))
        page.get_by_role("button", name=f"Sign in as {name}").click()
        page.wait_for_selector(STANDS if path == "/" else ".stage, .empty")
        return page

    errors: list[str] = []
    yield entered
    for context in contexts:
        context.close()
    assert not errors


def waiting(page: Any, host: str) -> str | None:
    """Return the clip that a page shows, or None at the end of the person's queue."""
    page.wait_for_function(AWAITED)
    if not page.locator(STANDS).count():
        return None
    return str(page.get_attribute(host, "data-item"))


def mark(page: Any, verdict: str, step: int | None) -> None:
    keys = {"success": "s", "failure": "f", "not_done": "n"}
    press(page, "t", *["ArrowRight"] * (step or 0), keys[verdict], "Enter")


def opinion(name: str, continuation: str) -> Verdict:
    """Return a person's verdict of a clip; of every second one Ben's is another."""
    draw = crc32(continuation.encode())
    verdict = ("success", "failure", "not_done")[draw % 3]
    if name == "Ben" and draw // 3 % 2:
        verdict = "not_done" if verdict == "success" else "success"
    return verdict, None if verdict == "not_done" else 1 + draw % 4


def train(page: Any) -> None:
    for number in range(3):
        assert f"Training: {number} of 3 answered" in page.text_content(".banner")
        mark(page, *TRUTH)
        page.locator(".status", has_text="Correct: success at step 3.").wait_for()
        assert NOTE in page.text_content(".status"), "markup is text"
        assert page.locator(".flags b").all_inner_texts() == ["✓", "★"]
        if number:
            press(page, "Enter")
        else:
            page.reload()
            page.locator(".banner", has_text="1 of 3 answered").wait_for()
    page.locator(".banner").wait_for(state="hidden")


def judge(pages: dict[str, Any], study: Study) -> dict[str, dict[str, Verdict]]:
    """Have the team judge in turns until the queue is empty; return verdicts by clip and name."""
    found: dict[str, dict[str, Verdict]] = {}
    at_work = dict(pages)
    while at_work:
        for name, page in [*at_work.items()]:
            item = waiting(page, ".player")
            if item is None:
                del at_work[name]
                continue
            shown = study.shows[item]
            verdict = TRUTH if shown in study.references else opinion(name, shown)
            mark(page, *verdict)
            found.setdefault(item, {})[name] = verdict
    return found


def adjudicate(page: Any) -> dict[str, Verdict]:
    decided: dict[str, Verdict] = {}
    while item := waiting(page, ".review"):
        decided[item] = ("not_done", None) if len(decided) % 2 else ("success", 2)
        mark(page, *decided[item])
    return decided


def review(page: Any) -> dict[str, str]:
    labels: dict[str, str] = {}
    while item := waiting(page, ".review"):
        number = len(labels) % len(ERRORS)
        press(page, str(1 + number), "Enter")
        labels[item] = [*ERRORS][number]
    return labels


@pytest.mark.slow
@pytest.mark.parametrize("study", [10, 115], indirect=True)
def test_team_trains_judges_adjudicates_and_reviews_every_clip_of_its_queue(
    study: Study, enter: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {name: enter(name, "annotator") for name in TEAM}
    for page in pages.values():
        train(page)
    judged = judge(pages, study)

    own = {item: by for item, by in judged.items() if study.shows[item] not in study.references}
    assert len(own) >= study.queue / 2
    assert {1, 2, 3} == {*map(len, own.values())}
    for name in TEAM:
        kept = {one.item: (one.verdict, one.step) for one in study.server.judgements(name)}
        assert kept == {item: by[name] for item, by in judged.items() if name in by}

    rhea = enter("Rhea", "reviewer", path="review")
    decided = adjudicate(rhea)
    disputed = {item for item, by in own.items() if len({*by.values()}) > 1}
    assert {*decided} == disputed and len(disputed) >= study.queue / 40
    press(rhea, "q")
    rhea.locator(".errors button").first.wait_for(state="attached")
    labels = review(rhea)
    done = {item: [verdict == "success" for verdict, _ in by.values()] for item, by in own.items()}
    failed = {item for item, each in done.items() if sum(each) / len(each) < 0.5}
    assert len(labels) == study.queue // 9 and {*labels} <= failed

    store = study.server.store
    found = ask(store, review_events.load_adjudications, SUITE)
    assert {item: (one.verdict, one.step) for item, one in found.items()} == decided
    reviewed = ask(store, review_events.load_by_item, "review", SUITE)
    assert {item: [one.error_type for one in each] for item, each in reviewed.items()} == {
        item: [label] for item, label in labels.items()
    }
    capsys.readouterr()
    study.sts("annotations", "balance", SUITE, "--real-names", "--json")
    audit = json.loads(capsys.readouterr().out)
    assert (audit["clips"], audit["twice"]) == (len(own), sum(len(by) > 1 for by in own.values()))
    assert sorted(audit["annotators"]) == [*TEAM] and audit["imbalance"] < 0.2
    study.sts("annotations", "verify")
