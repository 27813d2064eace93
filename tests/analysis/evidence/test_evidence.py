"""The evidence of a report: what it holds, what it takes along first, and one file to send."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sts.annotations.types import ShownVerdict
from sts.cli.main import main
from sts_analysis.api import load_report
from sts_analysis.evidence.bundle import bundle
from sts_analysis.evidence.choice import chosen
from sts_analysis.evidence.dossiers import Clip, Dossier, Share, dossiers
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.tables import from_frame
from tests.analysis.evidence.conftest import PEOPLE, REASON, SUITE

Captured = pytest.CaptureFixture[str]
FOLDER = "reports/few-1"


def report(workspace: Path, *more: str) -> Path:
    """The folder of the report of the small suite."""
    assert main(["report", SUITE, "--workspace", str(workspace), *more]) == 0
    return workspace / FOLDER


@pytest.fixture(scope="module")
def made(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with all of its evidence, made once for who only looks at it."""
    folder = tmp_path_factory.mktemp("made") / "report"
    report(few, "--out", str(folder))
    return folder


def statements(file: Path) -> list[tuple[str, list[Any]]]:
    """What a file hands over, each with what it is called."""
    found = []
    for line in file.read_text("utf-8").splitlines():
        match = re.fullmatch(r"stsEvidence\.(\w+)\((.*)\);", line)
        assert match, line[:80]
        found.append((match[1], json.loads(f"[{match[2]}]")))
    return found


def table(*rows: tuple[str, str, str, str, str, str]) -> pd.DataFrame:
    columns = ["agent", "continuation", "annotator", "verdict", "source", "step"]
    frame = pd.DataFrame(rows, columns=columns).assign(scenario="s", horizon="9")
    named = frame["continuation"]
    return check_ratings(from_frame("t", frame)).assign(continuation=named)


def test_what_looks_the_same_is_one_clip_with_all_that_was_said_once() -> None:
    ratings = table(
        ("a", "c0", "P1", "success", "human", "2"),
        ("b", "c1", "P1", "success", "human", "2"),
        ("b", "c2", "P2", "failure", "human", "3"),
        ("b", "c2", "automatic", "success", "automatic", "2"),
    )
    (one,) = dossiers(ratings, "human", {"c0": "x", "c1": "x", "c2": "y"})
    assert one.clips["x"].marks == (ShownVerdict("P1", "verdict", "success", 2, ""),)
    assert one.clips["y"].marks[-1] == ShownVerdict("a rule", "label", "success", 2, "")
    assert one.agents == {"a": (Share("x", 1, 1.0),), "b": (Share("x", 1, 1.0), Share("y", 1, 0.0))}
    assert [clip.in_question for clip in one.clips.values()] == [False, True]


def test_what_nobody_has_judged_has_no_value_and_is_not_called_a_failure() -> None:
    (one,) = dossiers(table(("a", "c0", "", "", "human", "")), "human", {})
    assert one.agents == {"a": (Share("c0", 1, None),)} and one.clips["c0"].marks == ()


def dossier(name: str, values: list[float | None], disputed: int | None = None) -> Dossier:
    said = (
        ShownVerdict("P1", "verdict", "success", 1, ""),
        ShownVerdict("P2", "verdict", "failure", 1, ""),
    )
    clips = {
        f"{name}{n}": Clip(f"{name}{n}", f"{name}{n}", said if n == disputed else ())
        for n in range(len(values))
    }
    shares = tuple(Share(clip, 1, value) for clip, value in zip(clips, values, strict=True))
    return Dossier(name, clips, {"a": shares})


def test_disputed_clips_come_first_then_examples_of_what_separates_then_the_rest() -> None:
    every = [
        dossier("calm", [1.0, 1.0, 0.0, None]),
        dossier("wide", [1.0, 0.0, 0.0], disputed=2),
    ]
    kept = {hash for one in every for hash in one.clips}
    order = [*chosen(every, {"calm": 0.1, "wide": 0.9}, None, kept)]
    assert order[:5] == ["wide2", "wide0", "wide1", "calm0", "calm2"]
    assert set(order) == kept
    assert [*chosen(every, {}, 2, kept)] == ["wide2", "calm0"]
    assert [*chosen(every, {}, None, {"calm3"})] == ["calm3"], "what is kept can be shown alone"


@pytest.mark.usefixtures("one_figure")
def test_evidence_holds_pseudonyms_and_no_name_whatever_the_report_calls_people(
    few: Path, made: Path, tmp_path: Path
) -> None:
    own = load_report(made)
    report(few, "--real-names", "--out", str(tmp_path / "named"))
    named = load_report(folder := tmp_path / "named")
    assert {*PEOPLE} >= {one.annotator for one in named.annotators}
    assert not {*PEOPLE} & {one.annotator for one in own.annotators}
    assert named.provenance.annotations_hash == own.provenance.annotations_hash
    assert PEOPLE[0] in (folder / "report.html").read_text()
    every = "".join(file.read_text() for file in (folder / "evidence").rglob("*.*"))
    assert not [name for name in PEOPLE if name in every] and "annotator-" in every


def test_a_scenarios_file_holds_what_the_page_shows_and_each_clip_once(made: Path) -> None:
    folder = made / "evidence"
    assert {path.name for path in folder.iterdir()} == {
        "index.html", "index.js", "player.js", "scenarios",
    }  # fmt: skip
    ((_, [index]),) = statements(folder / "index.js")
    _, agents, names, _ = index
    assert sorted(agents) == ["random", "rule"] and len(names) == 6
    for scenario, name in names:
        (what, [_, listing]), *clips = statements(folder / "scenarios" / f"{name}.js")
        assert what == "listing" and listing["scenario"] == scenario
        assert listing.keys() == {"scenario", "category", "asked", "clips", "agents"}
        assert all(clip.keys() == {"said", "item"} for clip in listing["clips"])
        assert [what for what, _ in clips] == ["clip"] * len(listing["clips"])
        assert sorted(at for _, [_, at, _] in clips) == list(range(len(clips)))
        first = clips[0][1][2]
        for _, [_, _, episode] in clips:
            assert not {"agent", "id", "truth", "label"} & episode.keys()
        assert all("tokens" not in episode for _, [_, _, episode] in clips[1:]), first.keys()


def test_what_a_person_typed_cannot_end_a_script(made: Path) -> None:
    folder = made / "evidence"
    files = [*folder.rglob("*.js")]
    assert all("</script" not in file.read_text().lower() for file in files)
    texts = [json.dumps(statements(file)) for file in (folder / "scenarios").iterdir()]
    assert any(json.dumps(REASON)[1:-1] in text for text in texts), "it is shown as it was typed"


def test_the_same_report_makes_the_same_evidence_and_the_same_bundle(
    few: Path, made: Path, tmp_path: Path
) -> None:
    bundles = []
    for folder in (made, report(few)):
        bundle(folder, tmp_path / "one.zip")
        bundles.append((tmp_path / "one.zip").read_bytes())
    assert bundles[0] == bundles[1]
    names = zipfile.ZipFile(tmp_path / "one.zip").namelist()
    assert "one/report.html" in names and "one/evidence/index.html" in names
    assert names == sorted(names) and all(name.startswith("one/") for name in names)


@pytest.mark.usefixtures("one_figure")
def test_fewer_clips_are_taken_along_and_the_page_says_of_how_many(
    few: Path, capsys: Captured
) -> None:
    folder = report(few, "--clips", "3")
    assert "3 of " in capsys.readouterr().out
    clips = [w for f in (folder / "evidence/scenarios").iterdir() for w, _ in statements(f)]
    assert clips.count("clip") == 3 and clips.count("listing") == 6
    assert re.search(r"3 of \d+ clips can be watched", (folder / "report.html").read_text())


@pytest.mark.usefixtures("one_figure")
def test_none_takes_the_evidence_of_an_earlier_report_away(
    few: Path, made: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "copy" / "report"))
    assert (folder / "evidence").is_dir()
    report(few, "--out", str(folder), "--clips", "none")
    assert not (folder / "evidence").exists()
    assert "There are no clips to watch behind this page" in (folder / "report.html").read_text()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name], "nothing is left"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("few@1", "--clips", "some"), "--clips: expected a number of clips, all, none or"),
        (("--table", "t.csv", "--clips", "all"), "--clips is for a suite"),
        (("few@1", "--zip", "here"), "--zip: expected a file that ends with .zip"),
        (("few@1", "--zip", "nowhere/x.zip"), "--zip: there is no folder"),
    ],
)
def test_a_bad_flag_is_one_line(
    few: Path, capsys: Captured, arguments: tuple[str, ...], line: str
) -> None:
    assert main(["report", *arguments, "--workspace", str(few)]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert line in said


@pytest.mark.usefixtures("one_figure")
def test_continuations_that_are_gone_are_counted_and_not_shown(
    few: Path, tmp_path: Path, capsys: Captured
) -> None:
    copy = Path(shutil.copytree(few, tmp_path / "copy"))
    shutil.rmtree(copy / "continuations")
    assert main(["report", SUITE, "--workspace", str(copy)]) == 1
    assert re.search(
        r"its clip is missing from this workspace \(and \d+ more\)", capsys.readouterr().err
    )
    for name in ("annotations.sqlite3", "annotations.json"):
        (copy / name).unlink()
    folder = report(copy)
    assert "0 of 24 clips can be watched" in capsys.readouterr().out
    assert np.all([file.stat().st_size for file in (folder / "evidence/scenarios").iterdir()])
