"""Which clips a report shows, and the small pictures of them."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest

from sts.cli.main import main
from sts.continuations.run import run
from sts.domains import load_domain
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts_analysis.inputs.gather import Gathered
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.scores import empty_scores
from sts_analysis.inputs.subject import Subject
from sts_analysis.inputs.tables import from_frame
from sts_analysis.inputs.workspace import gather
from sts_analysis.report.core import Options, Study
from sts_analysis.report.picks import Choice, pick_clips
from sts_analysis.report.sections import clips
from tests.annotator_app.serving import quiet

BEST, NEXT, WORST = "best", "next", "worst"
WORDS = {"1": "success", "0": "failure", "?": ""}
EVIL = "<img src=x onerror=alert(1)>\"'&"
CALM = {BEST: "11", NEXT: "11", WORST: "11"}
FIRST = {BEST: "11", NEXT: "00", WORST: "00"}
CASES: Mapping[str, Mapping[str, str]] = {
    "a-1": {BEST: "00", NEXT: "11", WORST: "00"},
    "a-2": {BEST: "00", NEXT: "11", WORST: "10"},
    "b-1": {BEST: "10", NEXT: "11", WORST: "11"},
    "c-1": {BEST: "11", NEXT: "10", WORST: "11"},
    "d-1": {BEST: "11", NEXT: "11", WORST: "00"},
    "e-1": {BEST: "00", NEXT: "00", WORST: "00"},
    "f-1": {BEST: "11", NEXT: "00", WORST: "11"},
    "g-1": FIRST,
    "h-1": FIRST,
    "i-1": {BEST: "11", NEXT: "11", WORST: "00"},
    **{f"{category}-1": CALM for category in "jkl"},
}
"""Outcomes of each agent in each scenario; a category is the first letter."""


def make_table(
    cases: Mapping[str, Mapping[str, str]] = CASES, annotators: tuple[str, ...] = ("P1",)
) -> pd.DataFrame:
    rows = [
        (agent, scenario, scenario[0], str(n), annotator, word)
        for scenario, agents in cases.items()
        for agent, words in agents.items()
        for n, word in enumerate(words)
        for annotator in annotators
    ]
    columns = ["agent", "scenario", "category", "continuation", "annotator", "word"]
    frame = pd.DataFrame(rows, columns=columns)
    judged = frame["word"] != "?"
    return frame.assign(
        verdict=frame["word"].map(WORDS), annotator=frame["annotator"].where(judged, "")
    ).drop(columns="word")


def make_study(
    frame: pd.DataFrame,
    media: Mapping[tuple[str, str], str] | None = None,
    folder: Path | None = None,
    **options: Any,
) -> Study:
    """Make a study of a table; `media` by agent and scenario."""
    ratings = check_ratings(from_frame("table", frame))
    if media is not None:
        keys = zip(ratings["agent"], ratings["scenario"], strict=True)
        ratings = ratings.assign(media=[media.get(key, "") for key in keys])
    words = "one two three four five six seven eight nine ten eleven, twelve"
    subject = Subject("t@1", instructions={s: f"{words} {s}" for s in set(frame["scenario"])})
    gathered = Gathered(ratings, empty_scores(), subject, Path("out"), media_folder=folder)
    return Study(gathered, Options(**options), {})


def describe(study: Study, choices: list[Choice]) -> list[tuple[Any, ...]]:
    """Return the kind, the scenario, and the agents with what their clips show."""
    names = study.outcomes
    return [
        (
            choice.kind,
            names.scenarios[choice.scenario],
            *((names.agents[clip.agent], clip.passed) for clip in choice.clips),
        )
        for choice in choices
    ]


def show(study: Study) -> tuple[clips.Result, str, str]:
    """Return the result, which survives JSON, its heading, and its HTML."""
    result = clips.compute(study)
    assert result is not None
    assert msgspec.json.decode(msgspec.json.encode(result), type=clips.Result) == result
    report: Any = types.SimpleNamespace(clips=result)
    return result, clips.TITLE(report), str(clips.render(result, report))


def test_each_rule_picks_the_scenarios_that_it_is_about() -> None:
    study = make_study(make_table())
    assert study.claim.state == "final"
    assert describe(study, pick_clips(study)) == [
        ("best fails", "a-1", (BEST, False), (NEXT, True)),
        ("best fails", "b-1", (BEST, False), (NEXT, True)),
        ("two differ", "f-1", (BEST, True), (NEXT, False)),
        ("two differ", "d-1", (NEXT, True), (WORST, False)),
        ("no agent passes", "e-1", (BEST, False), (NEXT, False)),
        ("both ways", "a-2", (WORST, True), (WORST, False)),
        ("both ways", "c-1", (NEXT, True), (NEXT, False)),
    ]


def test_ten_picks_have_two_of_a_category_and_one_of_a_kind_and_category() -> None:
    cases = {
        f"{category}-{n:02}": {BEST: "10", NEXT: "11", WORST: "10"}
        for category in "abcdefg"
        for n in range(6)
    }
    study = make_study(make_table({**cases, **{f"h-{n}": FIRST for n in range(40)}}))
    picks = pick_clips(study)
    scenarios = [study.outcomes.scenarios[pick.scenario] for pick in picks]
    assert len(picks) == 10 == len(set(scenarios))
    assert max(pd.Series(scenarios).str[0].value_counts()) == 2
    kinds = [(pick.kind, scenario[0]) for pick, scenario in zip(picks, scenarios, strict=True)]
    assert len(set(kinds)) == 10
    assert [kind for kind, _ in kinds].count("best fails") == 3


@pytest.mark.parametrize(("state", "cases"), [
    ("interim", {**CASES, "z-1": {BEST: "1?", NEXT: "11", WORST: "11"}}),
    ("withheld", {name: CASES[name] for name in [*CASES][:9]}),
])  # fmt: skip
def test_states_without_order_show_only_clips_that_go_both_ways(
    state: str, cases: Mapping[str, Mapping[str, str]]
) -> None:
    study = make_study(make_table(cases))
    assert study.claim.state == state
    picks = pick_clips(study)
    assert {pick.kind for pick in picks} == {"both ways"} and len(picks) == 3
    for pick in picks:
        assert len({clip.agent for clip in pick.clips}) == 1
        assert {clip.passed for clip in pick.clips} == {True, False}


def test_single_agent_has_no_comparisons() -> None:
    study = make_study(make_table({s: {BEST: agents[BEST]} for s, agents in CASES.items()}))
    assert study.claim.state == "single agent"
    kinds = {pick.kind: len(pick.clips) for pick in pick_clips(study)}
    assert kinds == {"no agent passes": 1, "both ways": 2}


def test_picks_do_not_depend_on_the_order_of_rows() -> None:
    frame = make_table()
    expected = describe(study := make_study(frame), pick_clips(study))
    study = make_study(frame.sample(frac=1, random_state=1).reset_index(drop=True))
    assert describe(study, pick_clips(study)) == expected


def test_most_even_splits_come_first_and_decided_ones_are_left_out() -> None:
    frame = make_table(annotators=("P1", "P2", "P3", "P4"))

    def change(scenario: str, agent: str, verdicts: list[str]) -> None:
        chosen = (frame["scenario"] == scenario) & (frame["agent"] == agent)
        frame.loc[chosen & (frame["continuation"] == "0"), "verdict"] = verdicts

    frame["adjudicated"] = ""
    change("j-1", BEST, ["success", "success", "success", "failure"])
    change("k-1", NEXT, ["success", "success", "failure", "failure"])
    change("l-1", BEST, ["success", "success", "failure", "failure"])
    decided = (frame["scenario"] == "l-1") & (frame["agent"] == BEST)
    frame.loc[decided & (frame["continuation"] == "0"), "adjudicated"] = "success"
    study = make_study(frame)
    picks = [pick for pick in pick_clips(study) if pick.kind == "disagreement"]
    assert describe(study, picks) == [
        ("disagreement", "k-1", (NEXT, None), (BEST, True)),
        ("disagreement", "j-1", (BEST, None), (NEXT, True)),
    ]
    assert [pick.split for pick in picks] == [(2, 2), (3, 1)]
    assert "Annotators disagree 2 : 2" not in show(study)[2], "there is nothing to look at"


def test_disputed_clip_stands_alone_if_no_other_agent_was_judged_there() -> None:
    frame = make_table(annotators=("P1", "P2", "P3", "P4"))
    here = (frame["scenario"] == "k-1") & (frame["agent"] == BEST)
    split = ["success", "success", "failure", "failure"]
    frame.loc[here & (frame["continuation"] == "0"), "verdict"] = split
    study = make_study(frame[here | (frame["scenario"] != "k-1")].reset_index(drop=True))
    picks = [pick for pick in pick_clips(study) if pick.kind == "disagreement"]
    assert describe(study, picks) == [("disagreement", "k-1", (BEST, None))]


def test_table_without_media_lists_scenarios_with_a_row_per_kind() -> None:
    result, title, html = show(make_study(make_table()))
    assert title == "Scenarios worth a look" and not result.is_illustrated
    assert html.count("<tr>") == len({pick.kind for pick in result.picks}) == 4
    assert "<b>a-1</b> best 0%, next 100%" in html and "<svg" not in html and "<a" not in html
    assert result.picks[0].instruction == "one two three four five six seven eight nine…"
    assert clips.compute(make_study(make_table({f"{c}-1": CALM for c in "abcdefghijkl"}))) is None


def test_foreign_text_is_escaped() -> None:
    frame = make_table().replace({"agent": {NEXT: EVIL}, "scenario": {"a-1": EVIL}})
    media = {(EVIL, EVIL): f'https://example.org/"{EVIL}', (BEST, EVIL): "javascript:alert(1)"}
    for pictures in (None, media):
        study = make_study(frame, pictures, clip_page="evidence/index.html")
        html = show(study)[2]
        assert "&lt;img src=x onerror=alert(1)&gt;" in html
        assert "<img" not in html and "javascript:" not in html


def test_local_media_are_copied_under_safe_names_and_others_only_linked(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    (folder / "films").mkdir(parents=True)
    for name in ("films/a b'.MOV", "c.png", "notes.txt", "../secret.png"):
        (folder / name).write_bytes(name.encode())
    (folder / "link.png").symlink_to(folder / "../secret.png")
    media = {
        (BEST, "a-1"): "films/a b'.MOV",
        (NEXT, "a-1"): "https://example.org/a.mp4",
        (BEST, "b-1"): "c.png",
        (NEXT, "b-1"): "films/a b'.MOV",
        (BEST, "f-1"): "../secret.png",
        (NEXT, "f-1"): "link.png",
        (NEXT, "d-1"): "notes.txt",
        (WORST, "d-1"): "missing.png",
        (BEST, "e-1"): str(folder / "c.png"),
        (NEXT, "e-1"): "\0",
    }
    study = make_study(make_table(), media, folder)
    result, title, html = show(study)
    assert title == "Seven clips worth watching"
    stills = {(pick.scenario, still.agent): still for pick in result.picks for still in pick.stills}
    assert stills["a-1", BEST].media == stills["b-1", NEXT].media == "media/01.mov"
    assert stills["b-1", BEST].media == stills["e-1", BEST].media == "media/02.png"
    assert stills["a-1", NEXT].address == "https://example.org/a.mp4"
    assert clips.list_media(study) == {
        "media/01.mov": folder / "films/a b'.MOV",
        "media/02.png": folder / "c.png",
    }
    assert result.missing_media == 5 and "5 media files could not be read" in html
    assert html.count("https://") == 1 and '<a class=away href="https://example.org/a.mp4"' in html
    assert html.count("<video") == 2 and html.count("<img") == 2
    assert str(tmp_path) not in html + json.dumps(msgspec.to_builtins(result))
    assert clips.list_media(make_study(make_table())) == {}


def test_clips_with_media_are_preferred(tmp_path: Path) -> None:
    (tmp_path / "b.png").touch()
    study = make_study(make_table(), {}, tmp_path)
    ratings = study.ratings
    second = (ratings["scenario"] == "a-1") & ratings.duplicated(["agent", "scenario"])
    ratings.loc[second & (ratings["agent"] == BEST), "media"] = "b.png"
    assert clips.list_media(study) == {"media/01.png": tmp_path / "b.png"}


AGENTS = ("reader", "random")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Two continuations of two agents in twelve categories, labelled."""
    place = Workspace.open(str(tmp_path_factory.mktemp("w"))).create()
    first = {one.category: one for one in suites.load(place, "core@2").scenarios}
    kept = [first[category] for category in sorted(first)[:12]]
    run(place, kept, AGENTS, count=2, seed=0, workers=1, progress=quiet)
    assert main(["label", "core@2", "--workspace", str(place.root)]) == 0
    return place


def test_stills_show_the_path_from_the_takeover_to_the_outcome(workspace: Workspace) -> None:
    gathered = gather(workspace, "core@2")
    loaded: list[Any] = []

    def load(ids: Any) -> Any:
        assert gathered.load is not None
        loaded.extend(gathered.load(ids))
        return loaded

    page = "evidence/index.html"
    study = Study(gathered._replace(load=load), Options(clip_page=page), {})
    result, title, html = show(study)
    stills = [still for pick in result.picks for still in pick.stills]
    assert 4 <= len(loaded) == len(stills) <= 20, "only what is shown is loaded"
    assert title.endswith("clips worth watching") and html.count("<svg class=board") == len(stills)
    assert gathered.ids is not None
    by_id = {one.id: one for one in loaded}
    shown = [clip for choice in pick_clips(study) for clip in choice.clips]
    steps = study.values.groupby("continuation")["step"].first()
    for clip, still in zip(shown, stills, strict=True):
        one, sketch = by_id[gathered.ids[clip.number]], still.sketch
        assert sketch is not None and max(sketch.width, sketch.height) == 100
        assert still.agent == one.agent
        points = [point for line in sketch.lines for point in line.points]
        points += [(mark.x, mark.y) for mark in sketch.marks]
        assert np.all((np.array(points) >= 0) & (np.array(points) <= 100))
        layout = load_domain(one.episode.domain).scene_layout(one.episode.state)
        step = steps[clip.number]
        last = one.takeover + (one.horizon if np.isnan(step) else int(step))
        for shape, frame in (("ring", one.takeover), ("dot", last)):
            cell = int(one.episode.scene[frame, layout.players[one.players[0]]])
            row, column = divmod(cell, layout.width)
            unit = 100 / max(layout.width, layout.height)
            mark = next(m for m in sketch.marks if (m.tone, m.shape) == ("own", shape))
            middle = ((column + 0.5) * unit, (row + 0.5) * unit)
            assert (mark.x, mark.y) == pytest.approx(middle, abs=0.051)
    assert "green Good, orange Evil" in html
    first = result.picks[0]
    assert first.link == f"{page}#scenario={first.scenario}&pair=reader,random"
    assert f'<a class=open href="{first.link.replace("&", "&amp;")}">' in html


def test_report_without_a_page_of_clips_links_none(workspace: Workspace) -> None:
    html = show(Study(gather(workspace, "core@2"), Options(), {}))[2]
    assert "<svg" in html and "<a" not in html
