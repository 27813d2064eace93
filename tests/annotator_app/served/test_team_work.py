"""A team at work, in real browsers: it trains, judges, disagrees, is adjudicated and reviewed."""

from __future__ import annotations

import csv
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pytest
from sqlalchemy import select

from sts.annotations.events import ERROR_TYPES
from sts.annotations.schema import items
from sts.cli.main import main
from sts.continuations import store as continuations
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts_scenarios.labels import label_suite
from tests.annotator_app.served.test_player_page import press
from tests.annotator_app.serving import AGENTS, PATIENCE, SUITE, Server, quiet
from tests.stores import add_person
from tests.zygote import Zygote

pytestmark = pytest.mark.browser

TEAM = ("Ana", "Ben", "Cleo")
SETTINGS = f"""[annotation]
training = 3
twice = 0.25
required_by = {{ "{SUITE}/where-was-evil" = 3 }}
queue = 115
review_sample = 12
"""
TRUTH = ("success", 3)
STANDS = ".stage:not([hidden])"
AWAITED = f"""() => {{
  const shadows = [...document.querySelectorAll("*")].map((one) => one.shadowRoot);
  const page = shadows.find((one) => one?.querySelector(".stage"));
  if (!page) return false;
  const empty = page.querySelector(".empty:not([hidden]) h2");
  const saved = page.querySelector(".progress").textContent.includes("all saved");
  const over = saved && /done|left|decided/.test(empty?.textContent);
  return over || !!page.querySelector("{STANDS}");
}}"""


class Study(NamedTuple):
    """A server, what its clips show, and the continuations that are references."""

    server: Server
    shows: dict[str, str]
    references: set[str]


def sts(server: Server, *words: str) -> None:
    assert main([*words, "--workspace", str(server.folder)]) == 0


@pytest.fixture
def study(recorded: Path, tmp_path: Path, zygote: Zygote) -> Iterator[Study]:
    """A study that trains its annotators on three of four references."""
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    file = folder / "workspace.toml"
    lines = file.read_text().splitlines()
    kept = [one for one in lines if not one.startswith(("required", "twice", "queue"))]
    file.write_text("\n".join(kept).replace("[annotation]", f"{SETTINGS}required = 1") + "\n")
    workspace = Workspace.open(str(folder))
    suite = suites.load(workspace, SUITE)
    run(workspace, suite.scenarios, AGENTS, count=2, seed=0, workers=1, progress=quiet)
    label_suite(workspace, suite)
    every = continuations.load(workspace, {one.hash for one in suite.scenarios})
    references = sorted(one.id for one in every if one.agent == "stigmergy")[:4]
    made = Server(folder, zygote=zygote)
    for one in references:
        mark = ("--truth", TRUTH[0], "--step", str(TRUTH[1]))
        sts(made, "references", "add", one, *mark)
    with made:
        with made.store.database.read() as connection:
            rows = connection.execute(select(items.c.id, items.c.continuation))
            shows = {row.id: row.continuation for row in rows}
        yield Study(made, shows, {*references})


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
    """The clip that a page shows; None where nothing is left for who is at it."""
    page.wait_for_function(AWAITED)
    if not page.locator(STANDS).count():
        return None
    return str(page.get_attribute(host, "data-item"))


def mark(page: Any, verdict: str, step: int | None) -> None:
    """Says it from the keyboard."""
    keys = {"success": "s", "failure": "f", "not_done": "n"}
    press(page, "t", *["ArrowRight"] * (step or 0), keys[verdict], "Enter")


def said(name: str, continuation: str) -> tuple[str, int | None]:
    """What somebody says of a clip; of every second one Ben says something else."""
    draw = crc32(continuation.encode())
    verdict = ("success", "failure", "not_done")[draw % 3]
    if name == "Ben" and draw // 3 % 2:
        verdict = "not_done" if verdict == "success" else "success"
    return verdict, None if verdict == "not_done" else 1 + draw % 4


def train(page: Any) -> None:
    for _ in range(3):
        assert "Training" in page.text_content(".banner")
        mark(page, *TRUTH)
        page.locator(".status", has_text="Correct: success at step 3.").wait_for()
        press(page, "Enter")
    page.locator(".banner").wait_for(state="hidden")


def judge(pages: dict[str, Any], study: Study) -> dict[str, dict[str, tuple[str, int | None]]]:
    """Has the team judge in turns until nothing is left; returns who said what, by clip."""
    found: dict[str, dict[str, tuple[str, int | None]]] = {}
    at_work = dict(pages)
    while at_work:
        for name, page in [*at_work.items()]:
            item = waiting(page, ".player")
            if item is None:
                del at_work[name]
                continue
            shown = study.shows[item]
            verdict = TRUTH if shown in study.references else said(name, shown)
            mark(page, *verdict)
            found.setdefault(item, {})[name] = verdict
    return found


def adjudicate(page: Any) -> dict[str, tuple[str, int | None]]:
    decided: dict[str, tuple[str, int | None]] = {}
    while item := waiting(page, ".review"):
        decided[item] = ("not_done", None) if len(decided) % 2 else ("success", 2)
        mark(page, *decided[item])
    return decided


def review(page: Any) -> dict[str, str]:
    labels: dict[str, str] = {}
    while item := waiting(page, ".review"):
        number = len(labels) % len(ERROR_TYPES)
        press(page, str(1 + number), "Enter")
        labels[item] = ERROR_TYPES[number]
    return labels


def test_a_team_of_three_trains_judges_disagrees_is_adjudicated_and_reviewed(
    study: Study, enter: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {name: enter(name, "annotator") for name in TEAM}
    for page in pages.values():
        train(page)
    began = time.monotonic()
    judged = judge(pages, study)
    took = time.monotonic() - began

    own = {item: by for item, by in judged.items() if study.shows[item] not in study.references}
    assert len(own) >= 60
    by_number = Counter(map(len, own.values()))
    assert {1, 2, 3} == {*by_number}
    for name in TEAM:
        kept = {one.item: (one.verdict, one.step) for one in study.server.judgements(name)}
        assert kept == {item: by[name] for item, by in judged.items() if name in by}

    rhea = enter("Rhea", "reviewer", path="review")
    decided = adjudicate(rhea)
    disputed = {item for item, by in own.items() if len({*by.values()}) > 1}
    assert {*decided} == disputed and len(disputed) >= 3
    press(rhea, "q")
    rhea.locator(".errors button").first.wait_for(state="attached")
    labels = review(rhea)
    done = {item: [verdict == "success" for verdict, _ in by.values()] for item, by in own.items()}
    failed = {item for item, each in done.items() if sum(each) / len(each) < 0.5}
    assert len(labels) == 12 and {*labels} <= failed

    server = study.server
    sts(server, "annotations", "export", SUITE, "--out", str(tmp_path / "ratings.csv"))
    with (tmp_path / "ratings.csv").open() as file:
        rows = list(csv.DictReader(file))
    shown = {study.shows[item]: value for item, value in decided.items()}
    exported = {
        row["continuation"]: (row["adjudicated"], row["adjudicated_step"])
        for row in rows
        if row["adjudicated"] and row["continuation"] in shown
    }
    assert exported == {one: (verdict, str(step or "")) for one, (verdict, step) in shown.items()}
    clips = {row["clip"] for row in rows if row["adjudicated"]}
    assert len(clips) == len(decided)

    def answer(*words: str) -> Any:
        capsys.readouterr()
        sts(server, "annotations", *words, "--json")
        return json.loads(capsys.readouterr().out)

    errors = answer("reviews", SUITE)
    table = {row["error"]: row["agents"] for row in errors["errors"]}
    assert {error: n for error, n in table.items() if n} == Counter(labels.values())
    assert errors["over"]["agents"] == {
        "failures": len(failed), "sample": 12, "reviewed": 12, "outside": 0,
    }  # fmt: skip
    audit = answer("audit", SUITE, "--names")
    assert (audit["clips"], audit["twice"]) == (len(own), sum(len(by) > 1 for by in own.values()))
    assert sorted(audit["annotators"]) == [*TEAM] and audit["imbalance"] < 0.2
    assert answer("verify")["findings"] == []
    sts(server, "report", SUITE)
    found = json.loads((server.folder / "reports" / "small-1" / "report.json").read_text())
    assert found["counts"]["adjudicated"] == len(decided)
    assert {row["error"]: row["agents"] for row in found["reviews"]["errors"]} == table

    number = sum(map(len, judged.values()))
    with capsys.disabled():
        print(
            f"{number} judgements of {len(own)} clips in {took:.1f} s, {took / number:.2f} s each;",
            f"clips by judges {dict(sorted(by_number.items()))}; {len(decided)} adjudicated;",
            f"{len(labels)} reviewed of {len(failed)}; imbalance {audit['imbalance']:.2f}",
            file=sys.stderr,  # a worker's standard output is not shown
        )
