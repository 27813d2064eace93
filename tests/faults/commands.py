"""A workspace with a file of every kind, and every command that writes, to be typed in it."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from sts import registry
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.queue.items import make_item
from sts.cli.main import build_parser, main
from sts.cli.parser import Parser
from sts.continuations import continuation_store as continuations
from sts.live.game import Game
from sts.live.openings import open_evaluation
from sts.live.plans import load_plan
from sts.live.records import get_journal_path
from sts.storage import scores
from sts.storage.workspace import Workspace
from sts.suites import drafts, tags
from sts.suites import suite_store as suites
from sts.suites.suite import Scenario
from sts.trajectories import trajectory_store as trajectories
from sts_scenarios.draft.freezing import with_state
from sts_scenarios.draft.stored_profiles import Profiles
from sts_scenarios.rules import categories
from tests.annotations.examples import a_submission
from tests.examples import SAMPLE_2016, accepted, on_test_side, recorded, scenario
from tests.faults.processes import PATIENCE, fork, wait
from tests.faults.writes import Meet, watch
from tests.mined import mine
from tests.stores import add_person, claim_items, enqueue, submit

Words = tuple[str, ...]
_OPEN, _WRITE = os.open, os.write


def make_whole(root: Path) -> None:
    """Make a workspace with a file of every kind except a report."""
    workspace = Workspace.open(str(root)).create()
    every = [categories.load_category(name) for name in ("keep-beside", "shadow-evil", "when-evil")]
    played = recorded(count=60, team=2, steps=40, seed=5)
    found = mine(played, every, per_category=1, seed=0)
    suite = suites.freeze_scenarios(workspace, "tiny", found.scenarios)
    trajectories.save(workspace, recorded(count=3))
    own = mine(played, every[:1], per_category=2, seed=1).scenarios
    draft = accepted(workspace, "grown", own)
    draft.save_edit(replace(own[0], difficulty="hard"))
    Profiles(draft, ("random",), 2).compute(with_state(draft, ())[0])
    tags.tag(workspace, suite, "mine", [suite.scenarios[0].id])
    type_command(root, "run", "tiny@1", "--agent", "random", "--continuations", "2")
    type_command(root, "label", "tiny@1")
    row = {"agent": "random", "metric": "probes", "value": 0.25}
    scores.write_scores(root / "scores/probes.parquet", [row, row | {"metric": "other"}])
    type_command(root, "live", "new", "pilot", "--agent", "local-search", "--people", "1")
    play_live(workspace)
    with AnnotationStore.open(workspace) as store:
        made = continuations.load(workspace, {s.hash for s in suite.scenarios})
        enqueue(store, [make_item(one, suite.label) for one in made])
        ben = add_person(store, "Ben").id
        submit(
            store, ben, [a_submission(c, step=1) for c in claim_items(store, ben, suite="tiny@1")]
        )
        add_person(store, "Lea", ["lead"])


def play_live(workspace: Workspace) -> None:
    """Write the journal of the study's session, in which a person marks one success."""
    opening = open_evaluation(load_plan(workspace, "pilot"), 1, "p1")._replace(id=f"{1:024x}")
    game = Game.start(get_journal_path(workspace, opening.id), opening)
    game.tell(0, "Go.")
    game.mark(0, 0, "success")
    game.end("finished")
    game.note_stored("")
    game.close()


def type_command(root: Path, *words: str) -> None:
    """Type a command in this process, which must succeed."""
    type_here((*words, "--workspace", str(root)))


def type_here(words: Words) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        code = main(words)
    assert code == 0, words


def leaves() -> list[Parser]:
    """Return the parser of every command and of every action of one."""
    names = registry.list_entry_points("sts.commands")
    parsers = (
        build_parser(name, registry.load_entry_point("sts.commands", "command", name))
        for name in names
    )
    return [leaf for parser in parsers for leaf in parser.leaves]


READING = frozenset(
    "annotations rejected|annotations verify|annotations balance|annotations quality|"
    "annotations reviews|annotations rounds|annotators sessions|annotators consents|annotators ls|"
    "domain ls|domain check|draft show|draft diff|draft check|lambda-star filmstrip|"
    "lambda-star check|live ls|live show|overcooked check|power|references ls|references propose|"
    "selfcheck|"
    "suite ls|suite show|suite verify|suite statement|suite diff|trajectories ls|trajectories show|"
    "trajectories verify|workspace check".split("|")
)
"""Commands that store nothing on which another relies."""
APART = {
    "annotate": "a server: its writes are the trials of judgements",
    "draft add": "a decision and a candidate, kept as those of draft edit",
    "suite build": "an import and a freeze; its recordings may be missing",
    "demo": "record, run, label and report, one after the other",
    "race": "a look and its effect: tests/analysis/planning/test_looks.py kills it between both",
    "overcooked train": "writes next to the installed trials, which may be missing",
    "workspace move": "needs a PostgreSQL server: tests/annotations/test_backup.py kills it",
}


COLD = ("report",)
"""Commands whose libraries fail in a forked process if they have begun before it."""


@cache
def build_full_folder() -> Path:
    """Return a folder with a workspace `w` and files `in`, which is only copied.

    Every command of `writing` has something to do there.
    """
    folder = Path(tempfile.mkdtemp(prefix="faults-whole-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / "w"
    make_whole(root)
    for name in ("in", "out"):
        (folder / name).mkdir()
    shutil.copy(SAMPLE_2016, folder / "in")
    (folder / "in/scores.csv").write_text("agent,metric,value\nrandom,interactive,0.5\n")
    type_command(root, "annotations", "export", "--out", str(folder / "in/ratings.csv"))
    theirs = (folder / "in/ratings.csv").read_text().replace("annotator-", "dora-")
    (folder / "in/ratings.csv").write_text(theirs)
    workspace = Workspace.open(root)
    drafts.create_draft(workspace, "open", linked_candidates())
    type_command(root, "draft", "new", "--from", "tiny@1")
    type_command(root, "run", "tiny@1", "--agent", "local-search", "--continuations", "1")
    type_command(root, "workspace", "backup", str(folder / "in/backup"))
    return folder


def linked_candidates() -> list[Scenario]:
    """Return candidates of one recording: two at one takeover, and one that comes later."""
    (played,) = on_test_side(recorded(count=16))[:1]
    other: dict[str, Any] = {"category": "evade-evil", "text": "Keep away from Evil."}
    return [
        scenario(played, id="clean-take-01"),
        scenario(played, id="clean-take-02", **other),
        scenario(played, id="clean-take-03", start=8),
    ]


@cache
def names() -> dict[str, str]:
    """Return what commands name that the workspace has made."""
    workspace = Workspace.open(build_full_folder() / "w")
    suite = suites.load(workspace, "tiny@1")
    made = continuations.load(workspace, {s.hash for s in suite.scenarios})
    return {
        "scenario": suite.scenarios[0].id,
        "continuation": sorted(one.id for one in made)[0],
        "accepted": drafts.open_draft(workspace, "grown").load_ids()[0],
    }


def writing() -> dict[str, Words]:
    """Return every writing command, by its name, with what it is typed with.

    {i} and {o} are folders to read from and to write to; other names are those of `names`.
    """
    run = ("--agent", "random", "--agent", "local-search", "--workers", "1")
    world = ("--size", "6x6", "--steps", "12", "--seed", "9")
    own = ("open", "clean-take-02")
    ana = ("--user", "Ana")
    return {
        "record": ("--domain", "lambda-star", "--agent", "random", "--episodes", "3", *world)
        + ("--workers", "1"),
        "demonstrate": ("--teacher", "reader", "--category", "last-move", "--episodes", "4")
        + ("--size", "6x6", "--workers", "1"),
        "trajectories import": ("{i}/lambdastar_2016_sample.jsonl", "--format", "lambdastar-2016"),
        "trajectories export": ("{o}/trajectories.parquet",),
        "mine": ("dug", "--per-category", "1", "--seed", "1", "--workers", "1"),
        "draft new": ("--from", "tiny@1", "--overwrite"),
        "draft edit": (*own, "--horizon", "6", *ana),
        "draft accept": ("open", "--all", *ana),
        "draft reject": (*own, "--reason", "unclear", *ana),
        "draft retire": ("tiny", "{scenario}", "--reason", "twin", *ana),
        "draft undo": ("grown", "{accepted}", *ana),
        "draft rate": (*own, "no", *ana),
        "draft pair": ("open", "clean-take-01", "clean-take-02", *ana),
        "draft dialogue": ("open", "clean-take-01", "clean-take-03", *ana),
        "suite freeze": ("grown",),
        "suite tag": ("tiny@1", "seen", "{scenario}"),
        "suite save": ("tiny@1+tag:mine", "some"),
        "run": ("tiny@1", *run, "--continuations", "3"),
        "label": ("tiny@1",),
        "show": ("{continuation}", "--webp", "{o}/shown.webp"),
        "measure": ("log_prob", "--agent", "random", "--suite", "tiny@1"),
        "lambda-star score": ("--agent", "random", "--episodes", "4", "--save-scores"),
        "scores import": ("{i}/scores.csv",),
        "live new": ("second", "--agent", "random", "--agent", "local-search", "--people", "2"),
        "live score": ("pilot", "--csv", "{o}/interactions.csv"),
        "report": ("tiny@1", "--zip", "{o}/report.zip"),
        "annotations import": ("{i}/ratings.csv",),
        "annotations export": ("--out", "{o}/ratings.csv"),
        "annotations close": ("tiny@1", "--reason", "no funds", "--user", "Lea"),
        "annotators add": ("Cleo",),
        "annotators exclude": ("Ben", "--reason", "unwatched", "--user", "Lea"),
        "annotators recruit": ("--people", "3"),
        "annotators hours": ("--out", "{o}/hours.csv"),
        "annotators invite": ("Ben",),
        "annotators sign-out": ("Ben",),
        "annotators role": ("Ben", "reviewer"),
        "annotators email": ("Ben", "ben@study.org"),
        "annotators deactivate": ("Ben",),
        "annotators anonymise": ("Ben", "--yes"),
        "references add": ("{continuation}", "--verdict", "failure"),
        "workspace backup": ("{o}/backup",),
        "workspace restore": ("{i}/backup", "--workspace", "{o}/restored"),
    }


class Outcome(NamedTuple):
    """How a command has ended: its exit code or minus a signal, and its lines of errors."""

    code: int
    lines: tuple[str, ...]


class Typed(NamedTuple):
    """A command that `begin` has begun in a process of its own."""

    process: int
    errors: Path


def begin(folder: Path, name: str, words: Words, ready: Callable[[], None] | None = None) -> Typed:
    """Begin a command in a forked process, in which `ready` is called first."""

    def work() -> int:
        if ready is not None:
            ready()
        return main(words)

    out, errors = ((folder / f".{name}.{kind}") for kind in ("out", "err"))
    return Typed(fork(work, out, errors), errors)


def end(begun: Typed, patience: float = PATIENCE) -> Outcome | None:
    """Return how a command has ended; None if it has not after so many seconds."""
    ended = wait(begun.process, patience)
    if ended is None:
        return None
    lines = begun.errors.read_text(errors="replace").splitlines() if begun.errors.exists() else []
    shown = tuple(line for line in lines if line and not line.startswith("sts: warning:"))
    return Outcome(ended.code, shown)


def kill(begun: Typed) -> None:
    os.kill(begun.process, signal.SIGKILL)
    os.waitpid(begun.process, 0)


def type_in(folder: Path, words: Words, meet: Meet | None = None) -> Outcome:
    """Type a command in a copy of the workspace; `meet` sees all that it does to files."""
    begun = begin(folder, "typed", words, None if meet is None else lambda: watch(folder, meet))
    outcome = end(begun)
    if outcome is None:
        kill(begun)
        raise TimeoutError(f"{' '.join(words)} has not ended after {PATIENCE:g} s")
    return outcome


def filled(words: Words, folder: Path) -> Words:
    own = names() | {"i": str(folder / "in"), "o": str(folder / "out")}
    every = tuple(word.format(**own) for word in words)
    return every if "--workspace" in every else (*every, "--workspace", str(folder / "w"))


def steps(folder: Path, words: Words) -> tuple[str, ...]:
    """Type a command, which must succeed; return what it does to files, in order."""
    log = folder / ".steps"

    def meet(what: str, half: object) -> None:
        handle = _OPEN(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        _WRITE(handle, f"{what}\n".encode())
        os.close(handle)

    outcome = type_in(folder, words, meet)
    assert outcome.code == 0, (words, outcome)
    return tuple(log.read_text().splitlines()) if log.exists() else ()


def copy(folder: Path) -> Path:
    """Return a copy of the whole workspace and the files next to it, in `folder`."""
    return Path(shutil.copytree(build_full_folder(), folder))
