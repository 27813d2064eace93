"""Pairs and dialogues of a draft: made by command, checked, shown, frozen and credited together."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import NamedTuple

import pytest

from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites import types
from sts.trajectories import store as trajectories
from sts_scenarios import categories
from tests.scenarios.curating import RECORDED, Curation


class Moment(NamedTuple):
    """Where `when-evil` and `count-others` both ask the same participant."""

    trajectory: str
    takeover: int
    role: int


def both() -> list[Moment]:
    """Moments of one recording, in order, no two of them close."""
    when, count = (categories.named(name) for name in ("when-evil", "count-others"))
    for one in (t for t in RECORDED if t.split == "test"):
        places = [{(c.moment, c.role) for c in own.moments(one)} for own in (when, count)]
        found = [Moment(one.id, *place) for place in sorted(places[0] & places[1])]
        if len(found) > 1:
            return found
    raise AssertionError("no recording has two such moments")


EARLY, LATE = both()[0], both()[-1]


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A draft of two candidates at one moment, and of another when-evil at a later one."""
    root = tmp_path_factory.mktemp("linking") / "w"
    trajectories.save(Workspace.open(root), RECORDED)
    lines: list[tuple[str, ...]] = [
        ("mine", "own", "--category", "where-is-good", "--per-category", "2")
    ]
    for category, at in (("when-evil", EARLY), ("count-others", EARLY), ("when-evil", LATE)):
        where = ("--trajectory", at.trajectory, "--takeover", str(at.takeover))
        whose = ("--role", str(at.role), "--category", category, "--as", "Ana")
        lines.append(("draft", "add", "own", *where, *whose))
    lines.append(("draft", "accept", "own", "--all", "--as", "Ana"))
    with contextlib.redirect_stdout(io.StringIO()):
        for words in lines:
            assert main([*words, "--workspace", str(root)]) == 0
    return root


def test_a_pair_is_made_shown_frozen_run_and_credited_together(
    own: Curation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    said = own.draft("pair", "when-evil-01", "count-others-01")
    assert said == "pair count-others-01+when-evil-01: when-evil-01, count-others-01, by Ana\n"
    assert own.view()["when-evil-01"]["status"] == "accepted"
    shown = own("show", "own/when-evil-01", "--frames", "3")
    assert "when-evil-01 (" in shown and "count-others-01 (" in shown and "║" in shown
    assert "can be frozen" in own.draft("check")
    own("suite", "freeze", "own")
    suite = suites.load(own.workspace, "own@1")
    assert {name: [s.id for s in halves] for name, halves in types.pairs(suite.scenarios).items()}
    halves = {s.id: s for s in suite.scenarios if s.pair}
    assert {*halves} == {"when-evil-01", "count-others-01"}
    shown = own("suite", "show", "own@1")
    asked = halves["count-others-01"].instruction.text, halves["when-evil-01"].instruction.text
    assert f"pair: count-others-01 “{asked[0]}” | when-evil-01 “{asked[1]}”" in shown
    assert "own@1 is sound" in own("suite", "verify", "own@1")

    own("run", "own@1", "--agent", "rule", "--agent", "random", "--continuations", "3")
    own("label", "own@1")
    said = own("report", "own@1")
    report = json.loads((own.workspace.path("reports", "own-1", "report.json")).read_text())
    (name,) = report["pairs"]["scenarios"]
    rates = {s["scenario"]: s["pass_rates"] for s in report["scenarios"]}
    for entry in report["pairs"]["agents"]:
        product = rates["when-evil-01"][entry["agent"]] * rates["count-others-01"][entry["agent"]]
        assert entry["credit"] == pytest.approx(product)
        assert report["pairs"]["credits"][name][entry["agent"]] == pytest.approx(product)
        assert entry["groups"] == 1 and "scenario" not in entry["method"]
    assert report["counts"]["scenarios"] == 5, "halves stay ordinary scenarios"
    page = own.workspace.path("reports", "own-1", "report.html").read_text()
    assert '<section id="pairs-together">' in page and "both of its instructions" in page
    part = own("suite", "show", "own@1+category:when-evil")
    assert (
        "+category:when-evil: 3 of its 5 scenarios, 1 of them as they belong with another" in part
    )


def test_a_half_whose_other_half_is_missing_is_said_at_check(own: Curation) -> None:
    lacks = "{}: the other half of its pair 'count-others-01+when-evil-01' is missing"
    own.draft("pair", "when-evil-01", "count-others-01")
    own.draft("undo", "count-others-01")
    assert lacks.format("when-evil-01") in own.draft("check", code=1)
    assert own.draft("pair", "when-evil-01") == "apart: when-evil-01, by Ana\n"
    own.draft("pair", "when-evil-01", "count-others-01")
    own("suite", "freeze", "own")
    own("draft", "from", "own@1")
    own.draft("retire", "when-evil-01", "--reason", "too easy")
    assert lacks.format("count-others-01") in own.draft("check", code=1)
    assert lacks.format("count-others-01") in own("suite", "freeze", "own", code=1)
    own.draft("pair", "count-others-01")
    assert "can be frozen" in own.draft("check")
    own("suite", "freeze", "own")
    first, second = (suites.load(own.workspace, f"own@{n}").scenarios for n in (1, 2))
    before, after = (
        next(s for s in every if s.id == "count-others-01") for every in (first, second)
    )
    assert (before.pair, after.pair) == ("count-others-01+when-evil-01", "")
    assert before.hash == after.hash


def test_a_dialogue_is_turns_of_one_recording_in_order(own: Curation) -> None:
    said = own.draft("series", "when-evil-01", "when-evil-02")
    assert said == "series from when-evil-01: when-evil-01, when-evil-02, by Ana\n"
    shown = own("show", "own/when-evil-02", "--frames", "3")
    assert shown.index("when-evil-02 (") < shown.index("when-evil-01 (")
    own("suite", "freeze", "own")
    turns = types.series(suites.load(own.workspace, "own@1").scenarios)["from when-evil-01"]
    assert [(s.id, s.turn) for s in turns] == [("when-evil-01", 1), ("when-evil-02", 2)]
    assert "dialogue: when-evil-01 “" in own("suite", "show", "own@1")
    own("run", "own@1", "--agent", "rule", "--agent", "random", "--continuations", "2")
    own("label", "own@1")
    own("report", "own@1")
    report = json.loads((own.workspace.path("reports", "own-1", "report.json")).read_text())
    assert report["series"]["scenarios"] == {"from when-evil-01": ["when-evil-01", "when-evil-02"]}
    assert "pairs" not in report


REFUSED = {
    "of two moments": (
        ("pair", "when-evil-01", "when-evil-02"),
        "have the same state at takeover, and",
    ),
    "one": (("pair", "when-evil-01"), "when-evil-01 is in no pair to split"),
    "three": (
        ("pair", "when-evil-01", "when-evil-02", "count-others-01"),
        "a pair has two halves, and",
    ),
    "itself": (("pair", "when-evil-01", "when-evil-01"), "name the other candidates, too"),
    "none": (
        ("pair", "when-evil-01", "when-evil-77"),
        "unknown candidate of draft own 'when-evil-77'",
    ),
    "backwards": (
        ("series", "when-evil-02", "when-evil-01"),
        "each turn of a dialogue must start after",
    ),
    "one moment": (
        ("series", "when-evil-01", "count-others-01"),
        "each turn of a dialogue must start",
    ),
    "other recording": (("series", "when-evil-01", "where-is-good-01"), "must be of one recording"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_belong_together_is_one_line_and_changes_nothing(
    own: Curation, name: str
) -> None:
    words, line = REFUSED[name]
    before = own.view()
    assert line in own.draft(*words, by="Ben", code=2)
    assert own.view() == before
    assert "Ben" not in own("annotators", "ls")


def test_a_half_of_one_pair_is_not_put_into_another(own: Curation) -> None:
    own.draft("pair", "when-evil-01", "count-others-01")
    assert "when-evil-01 already is half of the pair" in own.draft(
        "pair", "when-evil-01", "when-evil-02", code=2
    )


SIDES = """
from dataclasses import replace

from sts_scenarios.categories.lambda_star import shadow_evil


def candidates(trajectory, context, horizon):
    for one in shadow_evil.CATEGORY.candidates(trajectory, context, horizon):
        for way in ("left", "right"):
            asked = {"direction": way, **one.parameters}
            words = one.words | {"direction": way}
            yield replace(one, parameters=asked, words=words, answer=way, pair="sides")


SIDES = replace(
    shadow_evil.CATEGORY,
    name="sides",
    candidates=candidates,
    screen=None,
    wordings=("Stay close to Evil for {steps} steps, and then go {direction}.",),
)
"""


def test_a_category_that_offers_pairs_is_mined_in_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sides.py").write_text(SIDES)
    monkeypatch.chdir(tmp_path)
    own = Curation(tmp_path / "w", capsys)
    trajectories.save(own.workspace, RECORDED)
    own("mine", "own", "--category", "sides:SIDES", "--per-category", "3")
    view = own.view()
    assert [id for id in view] == [f"sides-{n:02d}" for n in range(1, 7)]
    own.draft("accept", "--all")
    own("suite", "freeze", "own", "--category", "sides:SIDES")
    pairs = types.pairs(suites.load(own.workspace, "own@1").scenarios)
    assert len(pairs) == 3
    for halves in pairs.values():
        assert {s.parameters["direction"] for s in halves} == {"left", "right"}
        assert len({s.takeover_hash for s in halves}) == 1
        assert len({s.instruction.text.replace("left", "right") for s in halves}) == 1
    own("draft", "from", "own@1")
    own("mine", "own", "--category", "sides:SIDES", "--per-category", "2", "--seed", "4")
    new = [id for id in own.view() if id not in view]
    assert len(new) % 2 == 0, "and again in pairs, numbered on"
    assert not new or min(new) == "sides-07"
