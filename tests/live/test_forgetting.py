"""A person who is forgotten: what is left of their live sessions, and what suites say of it."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import itertools
import json
import os
import resource
import shlex
import shutil
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sts import agents
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.presence import DATABASE_FILE
from sts.annotations.findings.export import export_ratings
from sts.annotations.people import consent, people
from sts.annotations.queue import controls
from sts.annotations.queue.items import make_item
from sts.cli.main import main
from sts.continuations import continuation_store as continuations
from sts.continuations.human import person_fingerprint
from sts.continuations.takeover import continue_all
from sts.domains import load_domain
from sts.episodes import Instruction
from sts.errors import ErasedSuite, StsError
from sts.live.forgetting import forget
from sts.live.game import Game
from sts.live.interactions import collect_sessions, read_interactions
from sts.live.journal import read_events
from sts.live.openings import open_evaluation, open_scenario
from sts.live.plans import load_plan
from sts.live.records import get_journal_path, make_live_continuation, store_live_trajectory
from sts.live.types import Opening, Participant, Turn, list_participants
from sts.storage.chains import START, next_link
from sts.storage.workspace import Workspace
from sts.suites import frozen
from sts.suites import suite_store as store
from sts.suites.drafts import open_draft
from sts.suites.suite import Scenario
from sts.trajectories import trajectory_store as trajectories
from sts.trajectories.trajectory import Trajectory
from sts_analysis.metrics.interactive import score_interactions
from sts_scenarios.draft.freezing import load_candidates
from sts_scenarios.draft.stored_profiles import Profiles
from sts_scenarios.mining.failures import _trajectory as make_trajectory
from tests.examples import accepted, on_test_side, recorded, scenario
from tests.faults.processes import fork
from tests.stores import add_person, ask, change, claim_items, enqueue, submit

NAME, EMAIL = "Dorothea Keller", "dorothea@mail.example"
ASKED, ANSWERED, NOTED = "Visit Good for me", "Keep close to my hat", "walked like a crab"
OTHERS = "Go to Evil", "as slow as a snail"
PROMPT = "Ask the other player to go somewhere."
STEPS = 24


def run(root: Path, line: str, code: int = 0) -> str:
    """Return what a command line of `sts` prints in a workspace."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        assert main([*shlex.split(line), "--workspace", str(root)]) == code, out.getvalue()
    return out.getvalue()


def start(workspace: Workspace, opening: Opening, **more: Any) -> Game:
    return Game.start(get_journal_path(workspace, opening.id), opening, **more)


def play(game: Game, text: str = "", note: str = NOTED) -> Game:
    """Play a session to its end; the first participant gives a text twice, and marks it once."""
    players = [p.player for p in game.participants if p.acts and p.player is not None]
    while not game.ended:
        if text and game.time in (1, 9):
            prompt = PROMPT if game.time == 1 else text  # as a forged page sends
            game.tell(0, text, prompt=prompt, key=f"k{game.time}")
        game.step({player: Turn(game.time % 9, 3) for player in players}, late_ms=70)
    if text:
        game.mark(0, 0, "success", note)
    return game


def record(workspace: Workspace, game: Game) -> Trajectory:
    """Store the record of an ended session, as the server does."""
    trajectory = store_live_trajectory(workspace, game)
    game.close()
    return trajectory


def open_record(number: int, state: bytes, setter: str, solver: str) -> Opening:
    pair = Participant("human", setter, "setter", None), Participant("human", solver, "solver", 0)
    return Opening(f"{number:024x}", "record", "lambda-star", state, pair, 0.25, STEPS)


def cut(trajectory: Trajectory, id: str, **more: Any) -> Scenario:
    """Cut a scenario as `sts mine` does, with what the evaluated player heard."""
    heard = tuple(Instruction(i.text, "live", 0, "setter") for i in trajectory.instructions[:1])
    origin = {"source": trajectory.source, "recorded_by": [p.name for p in trajectory.players]}
    return scenario(trajectory, id=id, earlier_instructions=heard, **{"provenance": origin} | more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which Dora and Ben recorded, evaluated, played and judged.

    The suite mine has scenarios of Dora's first session, hard has one from a continuation of these,
    and the draft next has candidates of both of her sessions.
    """
    root = tmp_path_factory.mktemp("forgetting") / "w"
    workspace = Workspace.open(root).create()
    with AnnotationStore.open(workspace) as database:
        persons = [add_person(database, NAME, email=EMAIL), add_person(database, "Ben")]
    dora, ben = (person.pseudonym for person in persons)
    plain = on_test_side(recorded(count=48, steps=STEPS))[:6]
    trajectories.save(workspace, plain)
    states = [t.episode.state for t in plain]
    asks = record(workspace, play(start(workspace, open_record(1, states[3], dora, ben)), ASKED))
    game = start(workspace, open_record(2, states[4], ben, ""))
    game.seat(1, dora)
    answers = record(workspace, play(game, ANSWERED))
    game = start(workspace, open_record(3, states[5], ben, ""))
    game.seat(1, "annotator-other")
    record(workspace, play(game, *OTHERS))
    run(root, "live new pilot --agent random --agent rule --people 2 --minutes 0.1")
    plan = load_plan(workspace, "pilot")
    for number, cell in enumerate(plan.cells):
        opening = open_evaluation(plan, number, (dora, ben)[cell.person])
        words = OTHERS if cell.person else (ASKED, NOTED)
        record(workspace, play(start(workspace, opening), *words))
    run(root, "live score pilot")

    kept = [cut(plain[i], f"clean-take-{i + 1:02}") for i in range(3)]
    hers = cut(asks, "clean-take-04")
    store.freeze_scenarios(workspace, "mine", [kept[0], hers])
    store.freeze_scenarios(workspace, "mine", [*kept[:2], hers])
    opening = open_scenario(kept[0], dora)
    game = play(start(workspace, opening, scenario=kept[0]))
    played = [
        make_live_continuation(game),
        *continue_all([*kept[:2], hers], agents.load("random"), seed=0, indices=range(2)),
    ]
    continuations.save(workspace, played)
    game.note_stored(played[0].id)
    game.close()
    game = play(start(workspace, open_scenario(hers, ben), scenario=hers))
    (also,) = continuations.save(workspace, [make_live_continuation(game)])
    game.note_stored(also.id)
    game.close()
    source = f"sts run mine@2 {hers.id} {played[-1].id}"
    origin = {"continuation": played[-1].id, "source": source}
    failed = cut(asks, "clean-take-05", start=8, provenance=origin)
    failed = dataclasses.replace(failed, trajectory="f" * 16)
    store.freeze_scenarios(workspace, "hard", [kept[2], failed])
    run(root, "label mine@2")

    candidates = [
        cut(plain[5], "clean-take-11"),
        cut(asks, "clean-take-12", start=7),
        cut(answers, "clean-take-13"),
    ]
    accepted(workspace, "next", candidates)
    with AnnotationStore.open(workspace) as database:
        change(database, people.set_role, NAME, "curator")
        enqueue(database, [make_item(c, "mine@2") for c in played[1:]], required=2)
        for person in persons:
            for claim in claim_items(database, person.id, suite="mine@2", count=9):
                why = NOTED if person.name == NAME else OTHERS[1]
                sent: dict[str, Any] = {"verdict": "cannot_judge", "step": None, "reason": why}
                sent |= {"uuid": os.urandom(16).hex(), "item": claim.item, "watched": 1}
                submit(database, person.id, [sent | {"seconds": 1.0}])
    run(root, "draft edit next clean-take-12 --horizon 7 --user Ana")
    profiles = Profiles(open_draft(workspace, "next"), ["random"])
    profiles.compute(load_candidates(workspace, "next")[1][1])
    with AnnotationStore.open(workspace) as database:
        change(database, controls.set_pause, annotator_id=persons[0].id, reason=f"{NAME} is ill")
        change(
            database,
            controls.set_pause,
            annotator_id=persons[1].id,
            author_id=persons[0].id,
            reason=NOTED,
        )
    run(root, "report mine@2")
    write_report(root / "papers/one", "mine@2+tag=a", "")
    write_report(root / "papers/two", "hard@10", "")
    for name, age in (("old", 700), ("young", 0)):
        leftover = workspace.path("trajectories", f".{name}.parquet.a1b2.part")
        leftover.write_text(ASKED if age else "")
        os.utime(leftover, (time.time() - age,) * 2)
    return root


def write_report(folder: Path, suite: str, table: str) -> None:
    """Write what stands for a report, as `sts report --out` does."""
    (folder / "tables").mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps({"suite": suite}))
    (folder / "tables/annotators.csv").write_text(table)


class Study:
    """A copy of that workspace."""

    def __init__(self, root: Path) -> None:
        self.root, self.workspace = root, Workspace.open(root)
        with AnnotationStore.open(self.workspace) as database:
            ids = {p.name: p.pseudonym for p in ask(database, people.list_people)}
        self.dora, self.ben = ids[NAME], ids["Ben"]
        scenarios = store.load(self.workspace, "mine@2").scenarios
        self.cut = [scenario for scenario in scenarios if scenario.id == "clean-take-04"]

    def forget(self, more: str = "--yes --suites erase", code: int = 0) -> str:
        return run(self.root, f"annotators anonymise '{NAME}' {more}", code)

    def read_journals(self) -> dict[str, list[Any]]:
        files = sorted(self.workspace.path("live/sessions").glob("*.jsonl"))
        return {file.stem: read_events(file) for file in files}

    def read_files(self) -> dict[str, bytes]:
        files = (file for file in self.root.rglob("*") if file.is_file())
        return {str(f.relative_to(self.root)): f.read_bytes() for f in files}

    def search(self, *words: str) -> set[tuple[str, str]]:
        """Return the files with any of these words; Parquet files and the database are read."""
        texts = {name: name + raw.decode("latin1") for name, raw in self.read_files().items()}
        for name in texts:
            if name.endswith(".parquet"):
                texts[name] += str(pq.read_table(self.root / name).to_pylist())
        with contextlib.closing(sqlite3.connect(self.root / DATABASE_FILE)) as database:
            texts[DATABASE_FILE] = ""  # whose free pages are not erased
            texts |= {
                f"{line.split('(')[0]} {n}": line for n, line in enumerate(database.iterdump())
            }
        return {(name, word) for name, text in texts.items() for word in words if word in text}


@pytest.fixture
def study(folder: Path, tmp_path: Path) -> Study:
    return Study(Path(shutil.copytree(folder, tmp_path / "w")))


WORDS = (ASKED, ANSWERED, NOTED, "Dorothea", EMAIL)
"""None is so short that a chance key or picture has it."""


def check_erased(study: Study, before: dict[str, list[Any]]) -> None:
    """Check all that must be true after `--yes --suites erase`, however often it was begun."""
    check_search(study)
    played = {s.hash for s in study.cut}
    hers = {
        id: events
        for id, events in before.items()
        if study.dora in [p.name for p in list_participants(events)]
    }
    assert len(hers) == 6
    after = study.read_journals()
    names = set()
    for id, events in before.items():
        if id not in hers and events[0]["scenario"] not in played:
            assert after[id] == events
            continue
        people_before, people_after = (list_participants(one) for one in (events, after[id]))
        for old, new in zip(people_before, people_after, strict=True):
            names |= {new.name} if old.name == study.dora else set()
            assert new == old._replace(name=new.name if old.name == study.dora else old.name)
        check_journal(events, after[id])
    (name,) = names
    assert name.startswith("erased-") and len(name) == 13
    lines = study.workspace.path("live/erased.jsonl").read_text().splitlines()
    gone = {e["record"]: id for id, es in hers.items() for e in es if e["kind"] == "stored"}
    logged = {entry["trajectory"]: entry["session"] for entry in map(json.loads, lines)}
    assert logged == {id: s for id, s in gone.items() if hers[s][0]["activity"] != "scenario"}
    assert len(lines) == 5
    stored = {t.id for t in trajectories.load(study.workspace)}
    assert len(stored) == 6 + 4 and not stored & logged.keys()
    check_suites(study)


def check_search(study: Study) -> None:
    """Check that a pseudonym in the table of people is all that is left."""
    found = study.search(*WORDS, study.dora)
    assert len(found) == 1, found
    ((place, word),) = found
    assert word == study.dora and "annotators" in place


def check_journal(before: list[Any], after: list[Any]) -> None:
    """Check that a journal is erased and still states what happened when."""
    for name in ("id", "study", "cell", "practice", "domain", "tick", "started"):
        assert after[0][name] == before[0][name]
    assert after[0]["state"] == "" and after[0]["format"] == "erased-journal/1"
    raw = str(after)
    assert not any(word in raw for word in ("text", "note", "actions", "utterances", "key"))
    for kind, fields in {
        "step": ("t", "late_ms", "at"),
        "told": ("t", "by", "to", "at"),
        "marked": ("t", "instruction", "mark", "at"),
        "ended": ("t", "reason", "at"),
    }.items():
        left, all_ = ([e for e in one if e["kind"] == kind] for one in (after, before))
        assert [{f: e[f] for f in fields} for e in left] == [
            {f: e[f] for f in fields} for e in all_
        ]
    prompts = [e.get("prompt") for e in after if e["kind"] == "told"]
    assert prompts == ([PROMPT, None] if before[0]["study"] else [None] * 2)[: len(prompts)]
    end = START
    for event in before:
        end = next_link(end, [event])
    assert after[-1]["kind"] == "erased" and after[-1]["was"] == end.digest
    assert after[-1]["date"] == f"{datetime.now(UTC):%Y-%m-%d}"


def check_suites(study: Study) -> None:
    """Check that old versions state why they cannot be verified, and the new ones are sound."""
    workspace, root = study.workspace, study.root
    new, old_json = (
        store.load(workspace, "mine@3"),
        json.loads(workspace.path("suites/mine/2/suite.json").read_text()),
    )
    assert {s.id: s.hash for s in new.scenarios}.items() <= old_json["scenarios"].items()
    assert [s.id for s in new.scenarios] == ["clean-take-01", "clean-take-02"]
    assert [change.id for change in new.changes] == ["clean-take-04"]
    assert "forgotten" in new.changes[0].reason and new.parent == "mine@2"
    assert [s.id for s in store.load(workspace, "hard@2").scenarios] == ["clean-take-03"]
    versions = workspace.path("suites").glob("*/*/suite.json")
    assert len([*versions]) == 5
    listed, checked = run(root, "suite ls"), run(root, "workspace check")
    assert "3 erased versions" in checked
    for label, use in {"mine@1": "mine@3", "mine@2": "mine@3", "hard@1": "hard@2"}.items():
        why = f"{label} can no longer be verified: 1 scenario erased on"
        assert why in listed
        with pytest.raises(ErasedSuite, match=f"^{why}.*forgotten; use {use}$"):
            frozen.load(workspace, label)
    assert open_draft(workspace, "next").load_ids() == ["clean-take-11"]
    played = continuations.load(workspace, {s.hash for s in new.scenarios})
    assert len(played) == 5 and "human" in {c.agent for c in played}
    assert person_fingerprint(study.dora) in {c.fingerprint for c in played}
    for suite in ("mine@3", None):
        table = export_ratings(workspace, suite).table
        assert {*table["scenario"]} <= {"clean-take-01", "clean-take-02"}


def describe_scores(study: Study) -> list[Any]:
    """Return the scores of the study, and its interactions without names and texts."""
    plan = load_plan(study.workspace, "pilot")
    run(study.root, "live score pilot")
    sessions = collect_sessions(study.workspace, plan)
    rows = [row for session in sessions for row in session.interactions]
    bare = [row._replace(person="", marked_by="", text="", note_given=False) for row in rows]
    bare = [row._replace(prompt=row.prompt if row.kind else "") for row in bare]
    saved = read_interactions(study.workspace.path("live/pilot/interactions.parquet"))
    assert [str(row) for row in saved] == [str(row) for row in rows]  # with NaN
    return [
        score_interactions(rows),
        [s._replace(interactions=(), person="") for s in sessions],
        str(bare),
    ]


def test_nothing_of_a_forgotten_person_is_left_but_a_pseudonym_of_verdicts(study):
    assert {word for _, word in study.search(*WORDS)} == {*WORDS}  # the search finds them
    before, scores = study.read_journals(), describe_scores(study)
    printed = study.forget()
    assert "6 sessions, 5 recordings, 3 candidates are erased" in printed
    assert "actions and texts of 1 other participant are erased" in printed
    assert "frozen: hard@1 (clean-take-05), mine@1 (clean-take-04), mine@2" in printed
    check_erased(study, before)
    assert describe_scores(study) == scores
    assert "use mine@3" in run(study.root, "suite verify mine@2", 1)
    assert "mine@3 is sound" in run(study.root, "suite verify mine@3")
    assert not (study.root / "papers/one").exists() and (study.root / "papers/two").exists()
    assert study.workspace.path("trajectories/.young.parquet.a1b2.part").exists()
    assert "was forgotten" in run(study.root, f"annotators invite {study.dora}", 2)
    for id in (study.cut[0].trajectory, study.cut[0].trajectory[:8]):
        shown = run(study.root, f"trajectories show {id}", 1)
        assert f"trajectory {id} was erased on 20" in shown
    files = study.read_files()
    run(study.root, f"annotators anonymise {study.dora} --yes")  # a second time
    assert {n: raw for n, raw in study.read_files().items() if DATABASE_FILE not in n} == {
        n: raw for n, raw in files.items() if DATABASE_FILE not in n
    }
    run(study.root, "report mine@3")


@pytest.mark.parametrize("more", ["", "--suites erase"])
def test_without_yes_the_command_counts_and_lists_suites_and_changes_nothing(study, more):
    files = study.read_files()
    printed = study.forget(more)
    assert "6 sessions, 5 recordings, 3 candidates would be erased" in printed
    for text in ("mine@1 (clean-take-04)", "mine@2 (clean-take-04)", "hard@1 (clean-take-05)"):
        assert text in printed
    assert "sts report makes them again: papers/one, reports/mine-2\n" in printed
    assert "1 other participant would be" in printed
    assert "--yes" in printed and ("--suites keep" in printed) == (more == "")
    assert study.read_files() == files


def test_recordings_in_a_frozen_suite_are_not_erased_without_a_choice(study):
    files = study.read_files()
    printed = study.forget("--yes", 2)
    for text in ("hard@1 (clean-take-05)", "--suites erase", "--suites keep"):
        assert text in printed
    assert study.read_files() == files


def start_another(study: Study, *, is_replay: bool) -> Game:
    """Start a session with Dora, or one in which another person plays a scenario of hers."""
    if is_replay:
        opening = open_scenario(study.cut[0], "annotator-other")._replace(id=f"{9:024x}")
        return start(study.workspace, opening, scenario=study.cut[0])
    (state,) = load_domain("lambda-star").generate(1, seed=1)
    return start(study.workspace, open_record(9, state, study.dora, study.ben))


@pytest.mark.parametrize("is_replay", [False, True])
def test_person_in_a_session_that_a_server_holds_is_not_forgotten(study, is_replay):
    game = start_another(study, is_replay=is_replay)
    game.step({})
    game.end("finished")  # it waits for marks
    files = study.read_files()
    for more in ("", "--yes --suites erase"):
        assert f"session {9:024x} would be erased, and is in use" in study.forget(more, 1)
    assert study.read_files() == files
    game.close()


@pytest.mark.parametrize(("is_replay", "steps"), [(False, 0), (False, 2), (True, 2)])
def test_session_that_never_ended_is_erased_as_abandoned(study, is_replay, steps):
    game = start_another(study, is_replay=is_replay)
    for _ in range(steps):
        game.step({})
    game.close()
    study.forget("--yes --suites erase")
    *_, ended, erased = study.read_journals()[f"{9:024x}"]
    assert (ended["kind"], ended["reason"], ended["t"]) == ("ended", "abandoned", steps)
    assert erased["kind"] == "erased"


def test_reports_with_the_pseudonym_of_a_judge_are_erased_wherever_they_are(study):
    run(study.root, "annotators add Eva")
    with AnnotationStore.open(study.workspace) as database:
        eva = ask(database, people.get_person, "Eva").pseudonym
    write_report(study.root / "papers/final", "other@1", f"{eva},7")
    assert "again: papers/final\n" in run(study.root, "annotators anonymise Eva")
    run(study.root, "annotators anonymise Eva --yes")
    assert [folder.name for folder in sorted((study.root / "papers").iterdir())] == ["one", "two"]
    assert study.workspace.path("reports/mine-2").exists()


def test_version_that_cannot_be_frozen_is_reported_before_anything_is_erased(study, monkeypatch):
    files, freeze = study.read_files(), store.freeze_scenarios

    def fail(workspace: Workspace, name: str, *given: Any, **more: Any) -> Any:
        if name == "mine":
            raise StsError("its world is not installed")
        return freeze(workspace, name, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(store, "freeze_scenarios", fail)
        assert "is not installed" in study.forget(code=1)
    after = study.read_files()
    assert {name for name in after if after[name] != files.get(name)} <= {
        DATABASE_FILE,
        *(name for name in after if name.startswith(("suites/hard/2/", f"{DATABASE_FILE}-"))),
    }
    study.forget()
    check_suites(study)


def test_sessions_may_outnumber_the_files_that_a_process_can_open(study):
    (scenario,) = study.cut
    for _ in range(40):
        game = start(study.workspace, open_scenario(scenario, study.dora), scenario=scenario)
        game.end("left")
        game.note_stored("")
        game.close()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_files = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files + 30, limits[1]))
    try:
        printed = study.forget()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert "46 sessions" in printed
    check_search(study)


@pytest.mark.parametrize("session", [1, 3])
def test_damaged_journal_stops_only_the_forgetting_of_people_in_it(study, session):
    journal = get_journal_path(study.workspace, f"{session:024x}")
    journal.write_bytes(journal.read_bytes().replace(b'"t":7', b'"t":8', 1))
    files = study.read_files()
    if session == 1:  # Dora's
        assert "was altered" in study.forget(code=1)
        assert study.read_files() == files
        return
    study.forget()
    check_search(study)
    assert files[f"live/sessions/{session:024x}.jsonl"] == journal.read_bytes()


@pytest.mark.parametrize("choice", ["erase", "keep"])
def test_scenario_mined_from_what_a_person_played_is_erased_with_the_others(study, choice):
    suite = store.load(study.workspace, "mine@2")
    (played,) = (
        continuation
        for continuation in continuations.load(study.workspace, {suite.scenarios[0].hash})
        if continuation.agent == "human"
    )
    failure = make_trajectory(suite, suite.scenarios[0], played)
    origin = {"source": failure.source, "continuation": played.id}
    store.freeze_scenarios(
        study.workspace, "failed", [cut(failure, "clean-take-21", provenance=origin)]
    )
    assert "failed@1 (clean-take-21)" in study.forget("")
    if choice == "keep":
        forget(study.workspace, study.dora, keep_suites=True)
        store.load(study.workspace, "failed@1")
    study.forget()
    with pytest.raises(ErasedSuite):
        frozen.load(study.workspace, "failed@1")
    assert played.id in {c.id for c in continuations.load(study.workspace, {played.scenario_hash})}


def test_person_keeps_one_name_in_a_study_of_which_a_suite_keeps_a_recording(study):
    theirs = {id for id, events in study.read_journals().items() if study.dora in str(events[0])}
    recorded = next(
        trajectory
        for trajectory in trajectories.load(study.workspace)
        if trajectory.provenance.get("study")
        and trajectory.provenance["session"] in theirs
        and trajectory.split == "test"
    )
    label = store.freeze_scenarios(study.workspace, "kept", [cut(recorded, "clean-take-31")]).label
    forget(study.workspace, study.dora, keep_suites=True)
    store.load(study.workspace, label)
    sessions = collect_sessions(study.workspace, load_plan(study.workspace, "pilot"))
    assert {session.person for session in sessions} == {study.dora, study.ben}


@pytest.mark.parametrize(
    ("text", "days", "reason"),
    [
        (None, 1, "the consent text does not say"),
        ("We keep everything.", 1, "the consent text does not say"),
        (consent.KEEP_SENTENCE, None, "had not agreed to the present consent text"),
        (consent.KEEP_SENTENCE, -1, "had not agreed to the present consent text"),
        ("We record you. Recordings in a\nfrozen suite may be kept.", 1, ""),
    ],
)
def test_suite_keeps_recordings_only_with_consent_from_before(study, text, days, reason):
    before = study.read_journals()
    if text:
        (study.root / "consent.md").write_text(text)
        settings = study.root / "workspace.toml"
        raw = settings.read_text().replace("[annotation]", "[annotation]\nconsent = 'consent.md'")
        settings.write_text(raw)
    if days is not None and text:
        version = consent.load_text(study.workspace, "consent.md").version
        with AnnotationStore.open(study.workspace) as database:
            person = ask(database, people.get_person, NAME)
            agreed = time.time() - 86400 * days
            change(database, consent.record_consent, person.id, version, now=agreed)
    files = study.read_files()
    printed = study.forget("--yes --suites keep", 2 if reason else 0)
    if reason:
        assert reason in printed and study.read_files() == files
        return
    (kept,) = (e["record"] for e in before[f"{1:024x}"] if e["kind"] == "stored")
    assert f"kept, with {study.dora} and the texts in them: hard@1 (clean-take-05)" in printed
    assert f"and the recordings {kept}\n" in printed
    assert "mine@2 (clean-take-04)" in printed and "4 recordings, 1 candidate are erased" in printed
    for label in ("mine@1", "mine@2", "hard@1"):
        store.load(study.workspace, label)
    assert open_draft(study.workspace, "next").load_ids() == ["clean-take-11", "clean-take-12"]
    assert len(continuations.load(study.workspace, {s.hash for s in study.cut})) == 3
    assert {word for _, word in study.search(ANSWERED, NOTED, NAME)} == set()
    places = {name.split("/")[0] for name, word in study.search(ASKED, study.dora)}
    assert {*places} <= {"suites", "drafts", "trajectories", "continuations", "live"} | {
        place for place in places if "annotators" in place
    }
    assert study.search(study.dora) & {
        (f"live/sessions/{id}.jsonl", study.dora) for id in before
    } == {(f"live/sessions/{1:024x}.jsonl", study.dora)}
    stored = [t.id for t in trajectories.load(study.workspace)]
    assert kept in stored and len(stored) == 11
    run(study.root, "workspace check")
    files = study.read_files()
    run(study.root, f"annotators anonymise {study.dora} --yes --suites keep")  # a second time
    assert {n: raw for n, raw in study.read_files().items() if DATABASE_FILE not in n} == {
        n: raw for n, raw in files.items() if DATABASE_FILE not in n
    }
    run(study.root, f"annotators anonymise {study.dora} --yes --suites erase")
    check_search(study)
    check_suites(study)


@pytest.mark.parametrize(
    "stride",
    [pytest.param(150, marks=pytest.mark.landing), pytest.param(1, marks=pytest.mark.slow)],
)
def test_command_that_was_killed_at_any_step_is_completed_by_the_next_one(folder, tmp_path, stride):
    """Every renaming and removal of a file, and every writing of the database, is a step."""
    before = Study(folder).read_journals()
    for last in itertools.count(step=stride):
        study = Study(Path(shutil.copytree(folder, tmp_path / str(last))))
        files = tmp_path / "out", tmp_path / "err"
        process = fork(lambda: forget_until(study, last), *files)  # noqa: B023
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        assert code in (0, 9), files[1].read_text()
        said = study.forget() if code == 9 else files[0].read_text()
        assert "is anonymised" in said, (last, code, said, files[1].read_text())
        check_erased(study, before)
        shutil.rmtree(study.root)
        if code == 0:
            break
    assert last > 40


def forget_until(study: Study, last: int) -> int:
    """Forget Dora; end the process instead of step number `last`."""
    left = itertools.count(last, -1)

    def watch(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def step(*given: Any, **more: Any) -> Any:
            if next(left) == 0:
                os._exit(9)
            return real(*given, **more)

        setattr(owner, name, step)

    for name in ("replace", "link", "rename", "unlink", "rmdir"):
        watch(os, name)
    watch(AnnotationStore, "write")
    print(study.forget())
    return 0


def test_second_person_of_a_session_can_be_forgotten_after_the_first(study):
    study.forget()
    first = study.read_journals()[f"{1:024x}"]
    run(study.root, "annotators anonymise Ben --yes")
    assert study.search(study.ben, *OTHERS[:1]) == {
        (place, word) for place, word in study.search(study.ben) if "annotators" in place
    }
    second = study.read_journals()[f"{1:024x}"]
    assert [e["kind"] for e in second if e["kind"] == "erased"] == ["erased"] * 2
    assert second[-2] == first[-1]
    names = [p.name for p in list_participants(second)]
    assert names[0] == list_participants(first)[0].name and names[1].startswith("erased-")
    assert names[0] != names[1]


def test_last_scenario_of_a_suite_can_be_erased_and_leaves_no_version(study):
    store.freeze_scenarios(study.workspace, "alone", study.cut)
    study.forget()
    with pytest.raises(ErasedSuite, match="asked to be forgotten$"):
        frozen.load(study.workspace, "alone@1")
    assert [p.name for p in study.workspace.path("suites/alone").iterdir()] == ["1"]


def test_version_without_the_scenarios_is_used_if_there_is_one(study):
    """Here the newest version is the oldest one with a scenario of the forgotten person."""
    kept = [s for s in store.load(study.workspace, "mine@2").scenarios if s.id != "clean-take-04"]
    store.freeze_scenarios(study.workspace, "grown", kept)
    store.freeze_scenarios(study.workspace, "grown", [*kept, *study.cut])
    study.forget()
    with pytest.raises(ErasedSuite, match="use grown@1$"):
        frozen.load(study.workspace, "grown@2")
    assert store.load(study.workspace, "grown@1").hash
    assert len([*study.workspace.path("suites/grown").iterdir()]) == 2
