"""Looks at a race in a workspace: made once, recorded whole, and of effect on the queue."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select

from sts.annotations.answers.progress import load_progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.schema import changes, copies, items, slots
from sts.annotations.findings import plan as plans
from sts.annotations.findings.race_ratings import load_race_ratings
from sts.annotations.log.looks import load_race
from sts.annotations.people import exclusions
from sts.annotations.people.people import list_people
from sts.annotations.queue import claims, leaving
from sts.annotations.queue.places import NO_PLACE
from sts.annotations.races import OPEN, Race
from sts.annotations.vault import history
from sts.cli.main import main
from sts.continuations.run import run
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts.suites import suite_store as suites
from sts.suites.suite import Scenario
from sts_analysis.api import build_report
from sts_analysis.inputs.workspace import gather
from sts_analysis.planning import looks
from sts_analysis.report.core import Options, Study
from sts_analysis.report.document import compute_report, render_page
from sts_analysis.report.text import to_plain
from sts_analysis.statistics.rates import RateModel
from sts_analysis.statistics.tabulation import RaceBounds, tabulate
from sts_annotator_app import racing
from sts_annotator_app.queueing import fill_queue
from sts_annotator_app.racing import LookMaker
from tests.annotations.examples import a_submission
from tests.annotator_app.serving import quiet
from tests.stores import add_person, ask, change, submit
from tests.waiting import wait_until

SUITE = "few@1"
AGENTS = ("blind", "local-search", "random")
SUCCEEDS = {"blind": 0.98, "local-search": 0.5, "random": 0.45}
"""How often scripts call the continuations of an agent a success."""
SETTINGS = "\n[annotation]\nreference_rate = 0\noverlap = 0.1\nanchors = 0\nmin_gap = 0\n"


def list_scenarios(workspace: Workspace) -> list[Scenario]:
    core = suites.load(workspace, "core@2").scenarios
    return [one for one in core if not one.pair and not one.dialogue][::2][:60]


@pytest.fixture(scope="module", name="played")
def play_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which three agents have played three continuations of 60 scenarios."""
    workspace = Workspace.open(str(tmp_path_factory.mktemp("played"))).create()
    kept = list_scenarios(workspace)
    suites.freeze_scenarios(workspace, "few", kept)
    run(workspace, kept, AGENTS, count=3, seed=0, workers=1, progress=quiet)
    file = workspace.path("workspace.toml")
    file.write_text(file.read_text().partition("[annotation]")[0] + SETTINGS)
    return workspace.root


class Race3:
    """A study of three agents that two scripts judge in the place of people."""

    def __init__(self, root: Path, settings: str = "") -> None:
        file = root / "workspace.toml"
        file.write_text(file.read_text() + settings)
        self.workspace = Workspace.open(root)
        self.store = AnnotationStore.open(self.workspace)
        fill_queue(self.workspace, self.store, selections.load_selection(self.workspace, SUITE))
        known = {person.name: person for person in ask(self.store, list_people)}
        names = ("script 1", "script 2")
        self.people = [(known.get(name) or add_person(self.store, name)).id for name in names]
        self.lead = known.get("Lena") or add_person(self.store, "Lena", ("lead",))
        with self.store.read() as connection:
            rows = connection.execute(select(copies.c.item, copies.c.agent))
            self.agents: dict[str, set[str]] = {}
            for item, agent in rows:
                self.agents.setdefault(item, set()).add(agent)
        self.rng = np.random.default_rng(3)

    def judge(self, most: int = 10**6, *, until_due: bool = True) -> set[str]:
        """Judge until a look may be due, or all or so many clips are judged; return whose."""
        maker, seen, judged = LookMaker(self.workspace, SUITE, lambda: self.store), set[str](), 0
        while judged < most and not (until_due and judged and maker.is_due()):
            before = judged
            for person in self.people:
                held = change(
                    self.store, claims.claim_items, person, suite=SUITE, count=6, exclusive=False
                )
                for claim in held:
                    agents = self.agents[claim.item]
                    seen |= agents if len(agents) == 1 else set()
                    chance = SUCCEEDS[min(agents)]
                    success = self.rng.random() < chance
                    verdict = {"verdict": "success" if success else "not_done"}
                    step = {"step": 1 if success else None, "seconds": 30}
                    submit(self.store, person, [a_submission(claim, **verdict, **step)])
                judged += len(held)
            if judged == before:
                break
        return seen

    def look(self):
        return looks.make_due_look(self.store, self.workspace, SUITE)

    def run_to_the_end(self) -> list[str]:
        """Judge and look until nothing is left; return who left, in order."""
        while True:
            seen = self.judge()
            if self.look() is None and not seen:
                return [agent for look in self.race.looks for agent in look.leaving]

    @property
    def race(self) -> Race:
        return ask(self.store, load_race, SUITE)

    def study(self, **options) -> Study:
        return Study(gather(self.workspace, SUITE), Options(**options), {"sts": "1"})


@pytest.fixture(scope="module")
def decided_root(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study in which an agent has left."""
    root = shutil.copytree(played, tmp_path_factory.mktemp("decided") / "study")
    race = Race3(root)
    while not race.race.out:
        race.judge()
        assert race.look() is not None
    race.store.close()
    return root


@pytest.fixture(scope="module")
def ended_root(decided_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose race has ended."""
    root = shutil.copytree(decided_root, tmp_path_factory.mktemp("ended") / "study")
    race = Race3(root)
    race.run_to_the_end()
    race.store.close()
    return root


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., Race3]]:
    """Go on with a copy of a study, with more settings."""
    begun: list[Race3] = []

    def begin(root: Path, settings: str = "") -> Race3:
        begun.append(Race3(shutil.copytree(root, tmp_path / f"study {len(begun)}"), settings))
        return begun[-1]

    yield begin
    for one in begun:
        one.store.close()


@pytest.fixture
def decided(begin, decided_root: Path) -> Race3:
    return begin(decided_root)


@pytest.fixture(name="ended")
def end_race(begin, ended_root: Path) -> Race3:
    return begin(ended_root)


@pytest.mark.landing
def test_agent_that_has_left_is_shown_no_more_and_the_others_are(decided: Race3) -> None:
    assert {*decided.race.out} == {"blind"}
    (look,) = [look for look in decided.race.looks if look.leaving]
    assert look.agents == AGENTS and look.goal == "rank"
    different = {(p.first, p.second) for p in look.pairs if p.outcome == "different"}
    assert different <= {("blind", "local-search"), ("blind", "random")}
    assert decided.judge(60, until_due=False) == {"local-search", "random"}


def test_clip_of_two_agents_is_judged_in_the_place_of_the_one_that_is_left(decided) -> None:
    with decided.store.read() as connection:
        rows = connection.execute(
            select(slots.c.item, slots.c.place, copies.c.agent, copies.c.place.label("own"))
            .join(copies, copies.c.item == slots.c.item)
            .where(slots.c.judged == 0)
        ).all()
    places: dict[str, list[int]] = {}
    for row in rows:
        if row.agent != "blind":
            places.setdefault(row.item, []).append(row.own)
    assert rows and any(row.place == NO_PLACE for row in rows)
    for row in rows:
        assert row.place == min(places.get(row.item, [NO_PLACE]))


def test_race_ends_with_a_final_report_of_whom_each_look_resolved(ended: Race3) -> None:
    race = ended
    study = race.study()
    report = compute_report(study)
    conclusion = report.conclusion
    assert conclusion.state == "final" and conclusion.best == ("blind",)
    assert conclusion.skipped_clips > 50 and conclusion.hours_saved == pytest.approx(
        conclusion.skipped_clips * 30 / 3600
    )
    assert conclusion.hours_judged == pytest.approx(conclusion.judgements * 30 / 3600)
    assert "saved" in conclusion.facts[-1].detail and "hours" in conclusion.facts[-2].detail
    assert [look.leaving for look in report.looks.looks if look.leaving]
    assert len(report.comparisons.rows) == 3
    for row in report.comparisons.rows:
        look, pair = race.race.resolved[min(row.first, row.second), max(row.first, row.second)]
        found = row.point, row.p_adjusted, row.bar, row.information
        assert found == (look.point, pair.p, pair.bar, pair.information)
        assert row.significant == (pair.outcome == "different")
    assert "every pair was resolved" in to_plain(conclusion.support)
    assert study.changed_pairs == () and not conclusion.warnings
    plan = plans.load_plan(race.workspace, SUITE, plans.load_scenario_hashes(race.workspace, SUITE))
    assert plan.judged_clips + plan.skipped_clips == plan.planned_clips
    counts = ask(race.store, load_progress, SUITE)
    assert counts.remaining == 0 and counts.skipped == plan.skipped_clips
    done = ask(race.store, claims.has_finished, race.people[0], SUITE)
    assert done
    with pytest.raises(ArgumentError, match="all pairs of agents are resolved"):
        change(race.store, plans.close_suite, SUITE, {*_hashes(race)}, race.lead, "enough")


def _hashes(race: Race3) -> set[str]:
    return plans.load_scenario_hashes(race.workspace, SUITE)


def test_look_rests_on_the_ratings_of_an_export(decided: Race3) -> None:
    decided.judge(20, until_due=False)
    with decided.store.read() as connection:
        read = load_race_ratings(connection, decided.workspace, SUITE, decided.store.study)
    study = decided.study()
    bounds = RaceBounds(dict.fromkeys(AGENTS, 1.0), dict.fromkeys(AGENTS, 1.0))
    subject = study.subject
    ours, theirs = (
        RateModel(
            tabulate(
                table,
                "human",
                bounds=bounds,
                scenarios=subject.scenarios,
                groups=subject.drawn_together,
            )
        )
        for table in (read.table, study.values)
    )
    assert (ours.outcomes.value == theirs.outcomes.value).mean() > 0.9
    found, expected = ours.estimate_rates(), theirs.estimate_rates()
    assert found.rate == pytest.approx(expected.rate, abs=1e-12)
    assert found.se == pytest.approx(expected.se, abs=1e-12)


def test_of_two_servers_that_decide_at_once_one_is_recorded(begin, played: Path) -> None:
    race = begin(played)
    race.judge()
    first, second = (looks._take_look(race.store, race.workspace, SUITE) for _ in range(2))
    assert first is not None and second is not None
    assert first._replace(at=0) == second._replace(at=0)
    stored: list[bool] = []

    def store(look) -> None:
        stored.append(change(race.store, leaving.record_look, SUITE, look))

    threads = [threading.Thread(target=store, args=[look]) for look in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(stored) == [False, True] and len(race.race.looks) == 1
    assert race.look() is None


KILLED = """
import os, sys
from sts.annotations.queue import leaving
leaving.place_clips = lambda *_: os._exit(9)
from sts.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.landing
def test_race_killed_between_decision_and_effect_has_neither(begin, played: Path) -> None:
    race = begin(played)
    while not (look := looks._take_look(race.store, race.workspace, SUITE)) or not look.leaving:
        race.look()
        race.judge()
    before = len(race.race.looks)
    words = [sys.executable, "-c", KILLED, "race", SUITE, "--workspace", str(race.workspace.root)]
    assert subprocess.run(words, env=dict(os.environ)).returncode == 9
    assert len(race.race.looks) == before and not race.race.out
    again = race.look()
    assert again is not None and again.leaving == look.leaving and {*race.race.out} == {"blind"}


@pytest.mark.landing
def test_no_agent_leaves_and_no_look_follows_until_a_lead_confirms(begin, played, capsys) -> None:
    race = begin(played, "confirm_rounds = true\n")
    while not race.race.pending:
        race.judge()
        race.look()
    waiting = {(pair.first, pair.second) for pair in race.race.pending.pairs}
    assert not race.race.out and waiting.isdisjoint(race.race.resolved)
    count = len(race.race.looks)
    assert race.judge(40, until_due=False) == {*AGENTS} and race.look() is None
    place = ["--workspace", str(race.workspace.root)]
    assert main(["race", SUITE, *place]) == 0
    assert "blind will leave the race once a lead confirms it" in capsys.readouterr().out
    assert main(["race", SUITE, "--confirm", "--user", "script 1", *place]) == 2
    assert "lead" in capsys.readouterr().err
    assert main(["race", SUITE, "--confirm", "--user", "Lena", *place]) == 0
    assert "confirmed by Lena: blind left the race" in capsys.readouterr().out
    assert {*race.race.out} == {"blind"} and len(race.race.looks) == count
    assert race.study().find_result(_looks).looks[-1].confirmed == race.lead.pseudonym
    assert main(["race", SUITE, "--confirm", "--user", "Lena", *place]) == 2
    assert "no decision waits for a confirmation" in capsys.readouterr().err


def _looks(study: Study):
    from sts_analysis.report.appendix import looks as section

    return section.compute(study)


@pytest.mark.landing
def test_lead_brings_an_agent_back_with_a_reason(decided: Race3, capsys) -> None:
    place = ["--user", "Lena", "--workspace", str(decided.workspace.root)]
    words = ["race", SUITE, "--keep", "blind", *place]
    assert main([*words, "--reason", "the paper is about it"]) == 0
    assert "blind stays in the race, as Lena decided" in capsys.readouterr().out
    assert not decided.race.out and "blind" in decided.judge(60, until_due=False)
    assert decided.run_to_the_end() and "blind" not in decided.race.out
    (kept,) = decided.study().find_result(_looks).kept
    assert (kept.agent, kept.reason) == ("blind", "the paper is about it")
    assert main(words) == 2 and "reason: expected one line" in capsys.readouterr().err
    assert main([*words[:3], "blnd", *place, "--reason", "x"]) == 2
    assert "did you mean blind?" in capsys.readouterr().err
    assert main([*words, "--reason", "again"]) == 2
    assert "blind is kept in the race already" in capsys.readouterr().err


def test_goal_cannot_change_after_the_first_look(decided: Race3, capsys) -> None:
    decided.store.close()
    root = decided.workspace.root
    file = root / "workspace.toml"
    file.write_text(file.read_text() + 'goal = "best"\n')
    for words in (["race", SUITE], ["annotations", "rounds", SUITE], ["annotate", SUITE]):
        assert main([*words, "--workspace", str(root)]) == 2
        line = capsys.readouterr().err
        assert 'annotation.goal is "best"' in line and '"rank" again' in line
    file.write_text(file.read_text().replace('goal = "best"', 'goal = "first"'))
    assert main(["race", SUITE, "--workspace", str(root)]) == 1
    assert "annotation.goal to be one of 'rank', 'best', 'all'" in capsys.readouterr().err


@pytest.mark.landing
def test_study_whose_goal_is_all_has_no_looks(begin, played: Path) -> None:
    race = begin(played, 'goal = "all"\n')
    race.judge(until_due=False)
    assert race.look() is None and not race.race.looks
    assert race.study().progress.share == 1


def test_annotator_excluded_after_a_decision_changes_no_decision_and_is_stated(ended) -> None:
    race = ended
    before = race.race.out
    first = race.study()
    assert first.changed_pairs == ()
    change(race.store, exclusions.set_excluded, "script 1", race.lead, "asleep")
    study = race.study()
    assert race.race.out == before and study.claim.better.any()
    changed = {(pair.first, pair.second) for pair in study.changed_pairs}
    assert changed
    (warning,) = [w for w in map(to_plain, study_warnings(study)) if "would now" in w]
    assert warning.endswith("Its decision stands.")
    with race.store.read() as connection:
        opened = connection.scalars(select(slots.c.place).where(slots.c.judged == 0)).all()
    assert len(opened) > 50 and {*opened} == {NO_PLACE}  # as all agents have left


def study_warnings(study: Study):
    from sts_analysis.report.sections.warnings import list_warnings

    return list_warnings(study)


@pytest.mark.slow
def test_agent_that_joins_later_begins_at_round_1_and_has_looks_of_its_own(decided: Race3) -> None:
    kept = list_scenarios(decided.workspace)
    run(decided.workspace, kept, ["rule"], count=3, seed=0, workers=1, progress=quiet)
    SUCCEEDS["rule"] = 0.02
    fill_queue(
        decided.workspace, decided.store, selections.load_selection(decided.workspace, SUITE)
    )
    with decided.store.read() as connection:
        for item, agent in connection.execute(select(copies.c.item, copies.c.agent)):
            decided.agents.setdefault(item, set()).add(agent)
    seen = decided.judge(30, until_due=False)
    assert "rule" in seen and "blind" not in seen
    before = len(decided.race.looks)
    decided.run_to_the_end()
    later = decided.race.looks[before:]
    assert later[0].point < 1 and "rule" in later[0].agents and "blind" not in later[0].agents
    assert ("blind", "rule") in decided.race.resolved
    assert decided.study().claim.state == "final"


def test_suite_closed_early_has_no_further_looks_and_keeps_its_decisions(decided) -> None:
    change(decided.store, plans.close_suite, SUITE, _hashes(decided), decided.lead, "no money")
    assert decided.look() is None
    report = compute_report(decided.study())
    assert report.conclusion.state == "final" and report.conclusion.closed == "no money"
    points = {(row.first, row.second): row.point for row in report.comparisons.rows}
    assert sum(point is not None for point in points.values()) == len(decided.race.resolved)


@pytest.mark.landing
def test_report_about_other_scenarios_than_the_race_decides_by_bars_of_its_own(
    ended: Race3,
) -> None:
    study = ended.study(target="fixed")
    assert study.resolved == {} and study.claim.state == "final"
    assert all(row.point is None for row in compute_report(study).comparisons.rows)
    part = gather(ended.workspace, f"{SUITE}+category:{study.outcomes.categories[0]}")
    assert part.suite.subset is not None
    assert Study(part, Options(), {"sts": "1"}).resolved == {} != ended.study().resolved


@pytest.mark.landing
def test_race_can_be_repeated_from_an_export(ended: Race3, tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    place = ["--workspace", str(ended.workspace.root)]
    assert main(["annotations", "export", SUITE, "--out", str(file), *place]) == 0
    ours, theirs = compute_report(ended.study()), build_report(file, goal="rank")
    assert theirs.conclusion.state == "final"
    for name in ("planned_clips", "significant_pairs", "best"):
        assert getattr(theirs.conclusion, name) == getattr(ours.conclusion, name)
    one, other = (r.conclusion.judged_clips + r.conclusion.skipped_clips for r in (ours, theirs))
    assert one == other  # a clip that lacks its second judgement is judged in a table
    for mine, row in zip(ours.comparisons.rows, theirs.comparisons.rows, strict=True):
        assert (row.first, row.second, row.point) == (mine.first, mine.second, mine.point)
        numbers = mine.p_adjusted, mine.bar, mine.information
        assert (row.p_adjusted, row.bar, row.information) == pytest.approx(numbers, rel=1e-6)
    with pytest.raises(ArgumentError, match="the columns round and place"):
        build_report(pd.read_csv(file).drop(columns=["place"]), goal="rank")
    assert build_report(file).conclusion.state == "interim"


@pytest.mark.landing
def test_race_with_labels_says_so_and_can_be_repeated_from_tables(begin, played, capsys) -> None:
    race = begin(played, "prediction_powered = true\n")
    place = ["--workspace", str(race.workspace.root)]
    assert main(["annotations", "rounds", SUITE, *place]) == 0
    assert f"rest on people alone: run sts label {SUITE}" in capsys.readouterr().out
    assert main(["label", SUITE, *place]) == 0
    while not race.race.out:
        race.judge()
        assert race.look().prediction_powered
    study, file = race.study(), race.workspace.path("ratings.csv")
    report = compute_report(study)
    assert study.labels == report.looks.labels == report.conclusion.labels == "automatic"
    assert study.changed_pairs == ()
    assert not any(row.reason for row in report.prediction_powered.rows)
    assert "rates use a rule’s labels" in render_page(report)
    assert main(["annotations", "rounds", SUITE, *place]) == 0
    assert "looks use the automatic labels" in capsys.readouterr().out
    assert main(["annotations", "export", SUITE, "--out", str(file), *place]) == 0
    labels = pd.read_parquet(race.workspace.path("labels/few-1.parquet"))
    tables = pd.concat([pd.read_csv(file, dtype=str, keep_default_na=False), labels.astype(str)])
    theirs = build_report(tables.fillna(""), goal="rank", prediction_powered=True)
    assert theirs.conclusion.labels == "automatic"
    for mine, row in zip(report.comparisons.rows, theirs.comparisons.rows, strict=True):
        assert (row.first, row.second, row.point) == (mine.first, mine.second, mine.point)
        assert row.p_adjusted == pytest.approx(mine.p_adjusted, rel=1e-6)
    settings = race.workspace.path("workspace.toml")
    settings.write_text(settings.read_text().replace("prediction_powered = true\n", ""))
    assert main(["race", SUITE, *place]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "annotation.prediction_powered is false" in line and "true again" in line


def test_altered_look_is_found(decided: Race3) -> None:
    assert history.verify(decided.store.database).findings == ()
    with decided.store.write(exclusive=True) as connection:
        connection.exec_driver_sql("DROP TRIGGER changes_are_never_updated")
        last = changes.c.kind == "look"
        text = connection.scalars(select(changes.c.value).where(last)).all()[-1]
        label, kind, value = json.loads(text)
        value["leaving"] = ["random"]
        new = json.dumps([label, kind, value])
        connection.execute(changes.update().where(changes.c.value == text).values(value=new))
    assert "study, change" in history.verify(decided.store.database).findings[0]


def test_rounds_show_who_is_in_the_race_and_what_is_saved(decided: Race3, capsys) -> None:
    place = ["--workspace", str(decided.workspace.root)]
    assert main(["annotations", "rounds", SUITE, *place]) == 0
    said = capsys.readouterr().out
    assert "in the race: local-search, random" in said and "left: blind after round" in said
    assert "to rank all agents: " in said and "of 3 pairs resolved" in said
    assert "expected end, if no other agent leaves: " in said
    assert main(["annotations", "rounds", SUITE, "--json", *place]) == 0
    state = json.loads(capsys.readouterr().out)
    assert state["agents_out"] == decided.race.out and state["expected_end"] > 0
    assert sum(one["skipped"] for one in state["rounds"]) > 0


def test_looks_of_one_point_are_made_once(decided: Race3) -> None:
    assert decided.look() is None
    points = [look.point for look in decided.race.looks]
    assert points == sorted({*points})
    assert all(pair.outcome == OPEN for look in decided.race.looks[:1] for pair in look.pairs)


def test_queue_that_holds_a_part_of_the_suite_makes_no_look_before_its_time(begin, played) -> None:
    race = begin(played, "queue = 90\n")
    with race.store.read() as connection:
        assert connection.scalar(select(items.c.id).limit(1))
    race.judge(until_due=False)
    look = race.look()
    assert look is None or look.point < 1


@pytest.mark.landing
def test_server_makes_the_look_that_is_due(begin, played: Path, monkeypatch) -> None:
    race = begin(played)
    monkeypatch.setattr(racing, "CHECK_S", 0.05)
    maker = LookMaker(race.workspace, SUITE, lambda: race.store)
    maker.start()
    try:
        race.judge()
        assert wait_until(lambda: race.race.looks)[0].point == 0.25
    finally:
        maker.stop()


@pytest.mark.landing
def test_server_asks_for_due_looks_alone(ended: Race3) -> None:
    maker = LookMaker(ended.workspace, SUITE, lambda: ended.store)
    assert not maker.is_due() and not maker.make_look()


@pytest.mark.landing
def test_agent_outside_the_queue_holds_up_no_look(begin, played: Path) -> None:
    race = begin(played)
    kept = list_scenarios(race.workspace)
    run(race.workspace, kept, ["rule"], count=3, seed=0, workers=1, progress=quiet)
    race.judge()
    look = race.look()
    assert look is not None and look.agents == AGENTS
    assert "rule" not in {name for pair in look.pairs for name in pair[:2]}
