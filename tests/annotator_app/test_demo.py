"""The demo: the whole pipeline by public commands, with labels that are named automatic."""

from __future__ import annotations

import contextlib
import csv
import html
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from sts import agents, registry
from sts.cli.demo import GROUP, load_demo
from sts.cli.main import main
from sts.continuations import continuation_store as continuations
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts_analysis.inputs.workspace import gather
from sts_annotator_app.commands import demo
from tests.examples import scenarios
from tests.pictures import IMAGES, read_shown
from tests.worlds.overcooked.recordings import cut_recordings


@pytest.fixture(scope="module", params=["part", pytest.param("whole", marks=pytest.mark.slow)])
def document(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[dict[str, Any]]]:
    """The workspace of a demo, or of one of a sixth of its scenarios, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "w"
    words = ["demo", "--continuations", "1", "--workers", "1", "--no-app", "--json"]
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "part":
            first, workspace = load_demo("lambda-star"), Workspace.open(str(folder)).create()
            every = suites.load(workspace, first.suite).scenarios
            part = [
                s for n, s in enumerate(every) if s.id == first.example[0] or not (n % 6 or s.pair)
            ]
            suites.freeze_scenarios(workspace, "part", part)
            own = first._replace(suite="part@1")
            patch.setattr("sts.cli.demo.find_first_demo", lambda: own)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main([*words, "--workspace", str(folder)]) == 0
    return folder, json.loads(out.getvalue())


@pytest.fixture(scope="module")
def root(document: tuple[Path, list[dict[str, Any]]]) -> Path:
    return document[0]


def read_suite(root: Path) -> str:
    """Return the suite of a demo, such as core@3."""
    return next((root / "reports").iterdir()).name.replace("-", "@")


def report(root: Path) -> dict[str, Any]:
    (file,) = (root / "reports").glob("*/report.json")
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def count_judgements(root: Path) -> int:
    """Return the number of continuations of six agents, each of which a rule judges."""
    return 6 * len(suites.load(Workspace.open(str(root)), read_suite(root)).scenarios)


def read_page(root: Path) -> str:
    (file,) = (root / "reports").glob("*/report.html")
    return file.read_text()


def ranked(found: dict[str, Any]) -> list[str]:
    return [row["agent"] for row in found["ranking"]["rows"] if row["rank"] is not None]


@pytest.mark.landing
def test_demo_writes_a_ranked_report_whose_labels_are_automatic(root: Path) -> None:
    found = report(root)
    page = read_page(root)
    assert found["conclusion"]["judgements"] == count_judgements(root)
    assert found["conclusion"]["source"] == "automatic"
    assert "Rule labels: no person has judged" in page
    best = ["reader", "reader-near", "rule"]
    assert sorted(ranked(found)[3:]) == ["local-search", "random", "stigmergy"]
    assert "lambda-star team=3" in {row["second"] for row in found["correlations"]["rows"]}
    if read_suite(root) != "core@3":
        assert {*ranked(found)[:3]} == {*best}
        return
    assert ranked(found)[:3] == best
    undecided = [row for row in found["comparisons"]["rows"] if not row["significant"]]
    assert [{row["first"], row["second"]} for row in undecided] == [{"local-search", "stigmergy"}]


@pytest.mark.slow
@pytest.mark.parametrize("document", ["whole"], indirect=True)
def test_report_of_the_demo_judged_by_people_keeps_its_budget(
    chromium: Any, root: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(root, tmp_path / "w")
    rows = gather(Workspace.open(str(folder)), "core@3").ratings
    rows = rows.assign(step=[f"{step:.0f}" if step > 0 else "" for step in rows["step"]])
    place = {name: n for n, name in enumerate(sorted(set(rows["scenario"])))}
    with (tmp_path / "judged.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(("agent", "scenario", "continuation", "annotator", "verdict", "step"))
        for row in rows[["agent", "scenario", "verdict", "step"]].itertuples(index=False):
            for n in (0, 1):  # two of three people
                who = ("ana", "ben", "chi")[(place[row.scenario] + n) % 3]
                out.writerow((row.agent, row.scenario, 0, who, row.verdict, row.step))
    common = ["--workspace", str(folder)]
    assert main(["annotations", "import", str(tmp_path / "judged.csv"), *common]) == 0
    assert main(["report", "core@3", *common]) == 0
    found = report(folder)
    assert (found["conclusion"]["state"], found["conclusion"]["source"]) == ("final", "human")
    assert found["score"] and found["clips"] and len(found["conclusion"]["annotators"]) == 3
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    for place_of in (root, folder):
        page.goto((place_of / "reports" / "core-3" / "report.html").as_uri())
        words = page.evaluate("document.body.innerText.split(/\\s+/).length")
        height = page.evaluate("document.documentElement.scrollHeight")
        assert words <= 900 and height <= 2700, (words, height)
        pdf = page.pdf(format="A4", prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 2


@pytest.mark.landing
def test_picture_of_the_report_shows_its_current_headings(root: Path) -> None:
    page = html.unescape(read_page(root))
    text = " ".join(re.sub("<[^>]*>", " ", page).split())
    headings = read_shown(IMAGES / "report.png")
    assert len(headings) >= 5
    assert [heading for heading in headings if heading not in text] == []


def test_packaged_demos_show_a_scenario_and_agents_that_exist(tmp_path: Path) -> None:
    names = registry.list_entry_points(GROUP)
    assert {"lambda-star", "babyai", "overcooked"} <= {*names}
    made = {name: load_demo(name) for name in names}
    for name, one in made.items():
        scenario, *pair = one.example
        assert {*pair} <= {*one.agents}
        first_words = [words[0] for words in commands(name, tmp_path)]
        assert ("lambda-star" in first_words) is (name == "lambda-star")
        if not one.setup:
            suite = suites.load(Workspace.open(str(tmp_path)), one.suite)
            assert scenario in {s.id for s in suite.scenarios}
            assert {*one.agents} <= {*agents.list_installed()}
    assert len([one for one in made.values() if not one.setup]) >= 2


@pytest.mark.landing
def test_demo_in_json_is_one_document(
    document: tuple[Path, list[dict[str, Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    root, steps = document
    assert [one["command"][0] for one in steps][-1] == "report"
    assert steps[-1]["result"]["schema"] == "sts-report/3"
    assert main(["demo", "--json", "--workspace", str(root)]) == 2
    assert "--no-app" in capsys.readouterr().err


@pytest.mark.landing
def test_reference_is_excluded_from_the_labels_of_its_agent(root: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(root, tmp_path / "w"))
    workspace = Workspace.open(str(copy))
    suite = suites.load(workspace, read_suite(root))
    one, *_ = continuations.load(workspace, {s.hash for s in suite.scenarios})
    words = ["references", "add", one.id, "--verdict", "success", "--step", "1"]
    assert main([*words, "--workspace", str(copy)]) == 0
    assert main(["report", read_suite(root), "--workspace", str(copy)]) == 0
    assert report(copy)["conclusion"]["judgements"] == count_judgements(root) - 1


def commands(domain: str, root: Path, *options: str) -> list[list[str]]:
    port = None if "--no-app" in options else 8501
    workspace = Workspace.open(str(root))
    return demo.list_commands(workspace, load_demo(domain), continuations=10, workers=1, port=port)


def test_demo_makes_an_unpackaged_suite_once(tmp_path: Path) -> None:
    first = [words[0] for words in commands("overcooked", tmp_path)]
    making = ["trajectories", "mine", "draft", "suite", "overcooked"]
    assert first == [*making, "suite", "run", "show", "label", "report", "annotate"]
    suites.freeze_scenarios(Workspace.open(str(tmp_path)), "overcooked", scenarios(1))
    again = commands("overcooked", tmp_path, "--no-app")
    assert [words[0] for words in again] == ["suite", "run", "show", "label", "report"]
    assert ["suite", "verify", "overcooked@1"] in again


def test_unknown_domain_prints_one_line_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--domain", "chess"]) == 2
    error = capsys.readouterr().err
    assert "unknown demo 'chess'; known: babyai" in error and error.count("\n") == 1


@pytest.mark.timeout(1800)  # clips of 1,750 continuations, with the other core busy
@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True], ids=["part", "whole"])
@pytest.mark.parametrize("domain", ["babyai", "overcooked"])
def test_demo_of_each_other_domain_ends_in_a_ranked_report(
    domain: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part is one category of BabyAI, or a few recordings of Overcooked."""
    words = ["--no-app", "--continuations", "1"]
    if whole:
        assert main(["demo", "--domain", domain, *words, "--workspace", str(tmp_path)]) == 0
    else:
        if domain == "overcooked":
            cut_recordings(monkeypatch)
        for name, *more in commands(domain, tmp_path, *words, "--workers", "1"):
            if name in ("run", "label", "report"):
                more[0] = more[0].replace("babyai@3", "babyai@3+category:babyai-go-to")
            more += ["--clips", "2"] if name == "report" else []
            assert main([name, *more, "--workspace", str(tmp_path)]) == 0, name
    found = report(tmp_path)
    assert len(ranked(found)) >= 3 and found["conclusion"]["source"] == "automatic"
