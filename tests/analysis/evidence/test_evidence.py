"""The clips behind a report: what their folder holds, what it holds first, and a file to send."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sts.annotations.records import ShownVerdict
from sts.errors import ArgumentError
from sts_analysis.evidence.bundle import bundle, check_bundle
from sts_analysis.evidence.dossiers import Clip, Dossier, Share, choose_clips, list_dossiers
from sts_analysis.evidence.gather import CLIP_PAGE, FOLDER
from sts_analysis.inputs.ratings import apply_adjudication, check_ratings
from sts_analysis.inputs.subject import SCENARIO
from sts_analysis.inputs.tables import from_frame
from sts_analysis.statistics.tabulation import tabulate
from tests.analysis.evidence.conftest import PEOPLE, REASON, write_evidence


@pytest.fixture(scope="module")
def made(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report's folder with all of its evidence."""
    folder = tmp_path_factory.mktemp("made") / "report"
    write_evidence(few, folder)
    return folder


def statements(file: Path) -> list[tuple[str, list[Any]]]:
    """Return what a file hands over, each with its name."""
    found = []
    for line in file.read_text("utf-8").splitlines():
        match = re.fullmatch(r"stsEvidence\.(\w+)\((.*)\);", line)
        assert match, line[:80]
        found.append((match[1], json.loads(f"[{match[2]}]")))
    return found


def dossier_of(
    *rows: tuple[str, str, str, str, str, str], clip_of: dict[str, str], source: str = "human"
) -> Dossier:
    """Return the dossier of one scenario; rows are agent, continuation, annotator, and so on."""
    columns = ["agent", "continuation", "annotator", "verdict", "source", "step"]
    frame = pd.DataFrame(rows, columns=columns).assign(scenario="s", horizon="9")
    names = frame["continuation"].to_numpy()
    ratings = check_ratings(from_frame("t", frame))
    ids = pd.Series(names, ratings["continuation"])
    outcomes = tabulate(
        apply_adjudication(ratings), source, scenarios=pd.DataFrame(columns=SCENARIO)
    )
    (one,) = list_dossiers(ratings, outcomes, ids[~ids.index.duplicated()], clip_of)
    return one


def test_equal_clips_are_one_with_each_verdict_once() -> None:
    one = dossier_of(
        ("a", "c0", "P1", "success", "human", "2"),
        ("b", "c1", "P1", "success", "human", "2"),
        ("b", "c2", "P2", "failure", "human", "3"),
        ("b", "c2", "automatic", "success", "automatic", "2"),
        clip_of={"c0": "x", "c1": "x", "c2": "y"},
    )
    assert one.clips["x"].marks == (ShownVerdict("P1", "verdict", "success", 2, ""),)
    assert one.clips["y"].marks[-1] == ShownVerdict("a rule", "label", "success", 2, "")
    assert one.agents == {"a": (Share("x", 1, 1.0),), "b": (Share("x", 1, 1.0), Share("y", 1, 0.0))}
    assert [clip.in_question for clip in one.clips.values()] == [False, True]


def test_unjudged_clip_has_no_value() -> None:
    one = dossier_of(("a", "c0", "", "", "human", ""), clip_of={})
    assert one.agents == {"a": (Share("c0", 1, None),)} and one.clips["c0"].marks == ()


def test_auto_resolved_clip_is_worth_zero_and_says_why() -> None:
    one = dossier_of(
        ("a", "c0", "", "not_done", "settled", ""), ("a", "c1", "P", "success", "human", "1"),
        clip_of={"c0": "x", "c1": "x"},
    )  # fmt: skip
    assert one.agents == {"a": (Share("x", 2, 0.5),)}
    assert [mark.by for mark in one.clips["x"].marks] == ["P", "a rule"]
    assert "auto-resolved" in one.clips["x"].marks[1].reason


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


def test_clips_of_the_report_come_first_then_disputes_then_examples() -> None:
    every = [
        dossier("calm", [1.0, 1.0, 0.0, None]),
        dossier("wide", [1.0, 0.0, 0.0], disputed=2),
    ]
    stored = {hash for one in every for hash in one.clips}
    order = [*choose_clips(every, {"calm3"}, {"calm": 0.1, "wide": 0.9}, None, stored)]
    assert order[:6] == ["calm3", "wide2", "wide0", "wide1", "calm0", "calm2"]
    assert set(order) == stored
    assert [*choose_clips(every, (), {}, 2, stored)] == ["wide2", "calm0"]
    assert [*choose_clips(every, (), {}, None, {"calm3"})] == ["calm3"], "only what is stored"


def test_scenario_file_holds_what_the_page_shows_and_each_clip_once(made: Path) -> None:
    folder = made / FOLDER
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


def test_typed_text_cannot_end_a_script(made: Path) -> None:
    folder = made / FOLDER
    files = [*folder.rglob("*.js")]
    assert all("</script" not in file.read_text().lower() for file in files)
    texts = [json.dumps(statements(file)) for file in (folder / "scenarios").iterdir()]
    assert any(json.dumps(REASON)[1:-1] in text for text in texts), "it is shown as it was typed"


def test_evidence_holds_pseudonyms_and_no_names(made: Path) -> None:
    every = "".join(file.read_text() for file in (made / FOLDER).rglob("*.*"))
    assert not [name for name in PEOPLE if name in every] and "annotator-" in every


def test_equal_reports_make_equal_evidence_and_equal_zips(
    few: Path, made: Path, tmp_path: Path
) -> None:
    write_evidence(few, again := tmp_path / "again")
    zips = []
    for folder in (made, again):
        (folder / "notes.txt").write_text("not of the report")
        bundle(folder, tmp_path / "one.zip", ("report.html", FOLDER))
        zips.append((tmp_path / "one.zip").read_bytes())
    assert zips[0] == zips[1]
    names = zipfile.ZipFile(tmp_path / "one.zip").namelist()
    assert f"one/{CLIP_PAGE}" in names and names == sorted(names)
    assert all(name.startswith(f"one/{FOLDER}/") for name in names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "one.zip"]


def test_summary_counts_the_clips_that_are_left_out(few: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    summary = write_evidence(few, folder, most=3)
    assert re.match(r"3 of \d+ clips can be watched.*others are counted there and not", summary)
    clips = [w for f in (folder / FOLDER / "scenarios").iterdir() for w, _ in statements(f)]
    assert clips.count("clip") == 3 and clips.count("listing") == 6
    assert [path.name for path in tmp_path.iterdir()] == [folder.name], "nothing is left"


def test_linked_evidence_names_the_clips_of_the_app_and_holds_none(
    few: Path, tmp_path: Path
) -> None:
    assert "open in the app" in write_evidence(few, tmp_path / "report", linked=True)
    files = [*(tmp_path / "report" / FOLDER / "scenarios").iterdir()]
    found = [statement for file in files for statement in statements(file)]
    assert {what for what, _ in found} == {"listing"}
    assert all(clip["item"] for _, [_, listing] in found for clip in listing["clips"])


def test_continuations_that_are_gone_are_counted_and_not_shown(few: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(few, tmp_path / "copy"))
    shutil.rmtree(copy / "continuations")
    for name in ("annotations.sqlite3", "annotations.json"):
        (copy / name).unlink()
    assert write_evidence(copy, tmp_path / "report").startswith("0 of 24 clips can be watched")
    assert len([*(tmp_path / "report" / FOLDER / "scenarios").iterdir()]) == 6


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("here", "--zip: expected a file that ends with .zip"),
        ("nowhere/x.zip", "--zip: there is no folder"),
    ],
)
def test_invalid_zip_name_is_refused(tmp_path: Path, file: str, line: str) -> None:
    with pytest.raises(ArgumentError, match=line):
        check_bundle(tmp_path / file)
