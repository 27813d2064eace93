"""The demo: the whole pipeline by public commands, its labels called what they are."""

import contextlib
import html
import io
import json
import re
import shutil
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from sts import agents, registry
from sts.annotations.store import Store
from sts.cli.demo import GROUP, load_demo
from sts.cli.main import main, parser_of
from sts.continuations import store as continuations
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts_annotator_app.commands import demo, table
from sts_annotator_app.queueing import enqueue
from tests.examples import scenarios
from tests.pictures import IMAGES, read_shown
from tests.stores import add_person, claim_items, submit

BANNER = "Automatic labels, not an STS result"


def hashes(root: Path) -> dict[str, str]:
    workspace = Workspace.open(str(root))
    suite = suites.load(workspace, "core@2")
    found = continuations.load(workspace, {s.hash for s in suite.scenarios})
    return {c.id: c.content_hash for c in found}


DEMO = ["demo", "--continuations", "1", "--workers", "1", "--json", "--no-app", "--workspace"]


def printed(root: Path) -> list[dict[str, Any]]:
    """Return the document that a demo in that workspace prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main([*DEMO, str(root)]) == 0
    document: list[dict[str, Any]] = json.loads(out.getvalue())
    return document


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """The workspace of a demo, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "w"
    return folder, printed(folder)


@pytest.fixture(scope="module")
def root(document: tuple[Path, list[dict[str, Any]]]) -> Path:
    return document[0]


def report(root: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((root / "reports/core-2/report.json").read_text())
    return found


def test_the_demo_writes_a_ranked_report_that_says_its_labels_are_automatic(root: Path) -> None:
    found = report(root)
    page = (root / "reports" / "core-2" / "report.html").read_text()
    assert found["labels"] == {"human": 0, "settled": 0, "automatic": 6 * 216, "model": 0}
    assert found["labels_used"] == "automatic"
    assert BANNER in page
    ranked = [a["agent"] for a in found["agents"] if a["rank"] is not None]  # type: ignore[attr-defined]
    assert sorted(ranked) == ["local-search", "random", "reader", "reader-half", "rule"]
    assert ranked[0] == "reader"
    assert ranked[1] == "reader-half"
    pairs = {(c["x"], c["y"]) for c in found["correlations"]}  # type: ignore[attr-defined]
    assert ("pass_rate", "lambda-star team=3") in pairs


def test_picture_of_the_report_has_the_headings_of_today(root: Path) -> None:
    page = html.unescape((root / "reports" / "core-2" / "report.html").read_text())
    text = " ".join(re.sub("<[^>]*>", " ", page).split())
    headings = read_shown(IMAGES / "report.png")
    assert len(headings) >= 5
    assert [heading for heading in headings if heading not in text] == []


def test_packaged_demos_show_a_scenario_and_agents_that_exist(tmp_path: Path) -> None:
    made = [load_demo(domain) for domain in registry.named(GROUP)]
    packaged = [one for one in made if not one.making]
    assert len(packaged) >= 2
    for one in packaged:
        scenario, *pair = one.shown
        suite = suites.load(Workspace.open(str(tmp_path)), one.suite)
        assert scenario in {s.id for s in suite.scenarios}
        assert {*pair} <= {*one.agents} <= {*agents.installed()}


def test_the_demo_in_json_is_one_document(
    document: tuple[Path, list[dict[str, Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    root, told = document
    assert [one["command"][0] for one in told][-1] == "report"
    assert told[-1]["result"]["schema"] == "sts-report/2"
    assert main(["demo", "--json", "--workspace", str(root)]) == 2
    assert "--no-app" in capsys.readouterr().err


@pytest.mark.landing
def test_a_second_demo_makes_nothing_new(root: Path) -> None:
    before = hashes(root)
    again = printed(root)
    assert hashes(root) == before
    (run,) = [one["result"] for one in again if one["command"][0] == "run"]
    assert ("reader", 0, 216) in [(one["agent"], one["made"], one["kept"]) for one in run]


KILLS_ITSELF = """
import os, signal, sys
from sts.cli.main import main, parser_of

real, kept = os.link, []

def link(source, target):
    real(source, target)
    kept.extend([target] if "continuations" in target.parts else [])
    if len(kept) == 4:
        os.kill(os.getpid(), signal.SIGKILL)

os.link = link
main(sys.argv[1:])
"""


@pytest.mark.landing
def test_a_demo_killed_while_agents_run_is_resumed_to_the_same_hashes(
    root: Path, tmp_path: Path
) -> None:
    words = ["demo", "--no-app", "--continuations", "1", "--workers", "1"]
    words += ["--workspace", str(tmp_path / "w")]
    done = subprocess.run([sys.executable, "-c", KILLS_ITSELF, *words], stdout=subprocess.DEVNULL)
    assert done.returncode == -signal.SIGKILL
    half = hashes(tmp_path / "w")
    assert 0 < len(half) < len(hashes(root))
    assert main(words) == 0
    assert hashes(tmp_path / "w") == hashes(root)


def test_a_reference_measures_annotators_and_is_none_of_its_agents_continuations(
    root: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "w"
    shutil.copytree(root, copy)
    one = next(id for id in hashes(copy))
    words = ["references", "add", one, "--truth", "success", "--step", "1"]
    assert main([*words, "--workspace", str(copy)]) == 0
    assert main(["report", "core@2", "--workspace", str(copy)]) == 0
    found = report(copy)
    assert found["labels"]["automatic"] == 6 * 216 - 1  # type: ignore[index]


@pytest.mark.landing
def test_after_ten_marks_the_report_shows_both_labels_and_their_agreement(root: Path) -> None:
    workspace = Workspace.open(str(root))
    suite = suites.load(workspace, "core@2")
    with Store.open(workspace) as store:
        enqueue(
            store,
            suite,
            continuations.load(workspace, {s.hash for s in suite.scenarios}),
        )
        who = add_person(store, "ann")
        for _ in range(10):
            (one, *_) = claim_items(store, who.id, suite="core@2", count=1)
            sent = {"uuid": uuid.uuid4().hex, "item": one.item, "verdict": "success", "step": 1}
            (ack,) = submit(store, who.id, [sent])
            assert ack.status == "saved"
    assert main(["report", "core@2", "--workspace", str(root)]) == 0
    found = report(root)
    assert found["labels"]["human"] == 10  # type: ignore[index]
    assert set(found["label_sets"]) == {"human", "automatic"}  # type: ignore[call-overload]
    assert found["human_automatic"]["judgements"] == 10  # type: ignore[index]
    page = (root / "reports" / "core-2" / "report.html").read_text()
    assert "automatic" in page
    assert found["labels_used"] == "human"


def commands(domain: str, root: Path, *options: str) -> list[list[str]]:
    parser = parser_of("demo", table.DEMO)
    words = ["--domain", domain, *options, "--workspace", str(root)]
    return demo.steps(parser.parse_args(words))


def test_a_suite_that_is_not_packaged_is_made_once(tmp_path: Path) -> None:
    first = [words[0] for words in commands("overcooked", tmp_path)]
    assert first == [
        *("trajectories", "mine", "draft", "suite", "overcooked"),
        *("suite", "run", "show", "label", "report", "annotate"),
    ]
    workspace = Workspace.open(str(tmp_path))
    suites.freeze(workspace, "overcooked", scenarios(1))
    again = commands("overcooked", tmp_path, "--no-app")
    assert [words[0] for words in again] == ["suite", "run", "show", "label", "report"]
    assert ["suite", "verify", "overcooked@1"] in again


def test_every_demo_shows_agents_that_it_runs(tmp_path: Path) -> None:
    names = registry.named("sts.demos")
    assert {"lambda-star", "babyai", "overcooked"} <= set(names)
    for name in names:
        one = registry.load("sts.demos", "demo", name)
        assert set(one.shown[1:]) <= set(one.agents)
        told = commands(name, tmp_path)
        assert any(words[0] == "lambda-star" for words in told) is (name == "lambda-star")


def test_an_unknown_domain_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--domain", "chess"]) == 2
    error = capsys.readouterr().err
    assert "unknown demo 'chess'; known: babyai" in error and error.count("\n") == 1


@pytest.mark.landing
@pytest.mark.parametrize("domain", ["babyai", "overcooked"])
def test_the_demo_of_another_domain_ends_in_a_ranked_report(domain: str, tmp_path: Path) -> None:
    words = ["--no-app", "--continuations", "1", "--workspace", str(tmp_path)]
    assert main(["demo", "--domain", domain, *words]) == 0
    (file,) = (tmp_path / "reports").glob("*/report.json")
    found = json.loads(file.read_text())
    ranked = [a["agent"] for a in found["agents"] if a["rank"] is not None]
    assert len(ranked) >= 3 and found["labels_used"] == "automatic"
