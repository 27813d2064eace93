"""All that the record needs to know about internal modules: change it here when they change."""

from __future__ import annotations

import contextlib
import io
import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid5

import pandas as pd

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.queue.items import make_item
from sts.cli.main import main
from sts.continuations import continuation_store as continuations
from sts.domains import observation_shapes
from sts.engine.replay import iterate_replay
from sts.episodes import Episode
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectories
from sts_annotator_app import queueing
from tests.record.digests import NAMESPACE
from tests.stores import add_person, claim_items, submit
from tests.stores import add_reference as in_store_add_reference

Event = dict[str, Any]
"""What a page sends, without its identifiers."""


class Played(NamedTuple):
    """A continuation as the record knows it."""

    agent: str
    scenario: str
    category: str
    number: int
    clip: str
    episode: Episode
    continuation: Any


def sts(folder: Path, *words: str) -> None:
    """Run a command of `sts` in this process and in the workspace `folder`."""
    code = main([*words, "--workspace", str(folder)])
    assert code == 0, f"sts {' '.join(words)}: exit code {code}"


def sts_json(folder: Path, *words: str) -> Any:
    """Return what a command of `sts` prints with `--json`."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        sts(folder, *words, "--json")
    return json.loads(printed.getvalue())


def load_trajectories(folder: Path) -> list[tuple[str, str, Episode]]:
    """Return the agents, the source and the episode of each trajectory of a workspace."""
    found = trajectories.load(Workspace.open(str(folder)))
    return [("+".join(sorted({p.name for p in t.players})), t.source, t.episode) for t in found]


def load_suite_hash(folder: Path, suite: str) -> str:
    """Return the content hash of a suite."""
    return suites.load(Workspace.open(str(folder)), suite).hash


def load_continuations(folder: Path, suite: str) -> list[Played]:
    """Return the continuations of a suite, in order of agent, scenario, category and number."""
    workspace = Workspace.open(str(folder))
    hashes = {one.hash for one in suites.load(workspace, suite).scenarios}
    found = [
        Played(c.agent, c.scenario_id, c.category, c.identity.index, c.clip, c.episode, c)
        for c in continuations.load(workspace, hashes)
    ]
    return sorted(found, key=lambda one: one[:4])


def load_labels(folder: Path, suite: str) -> pd.DataFrame:
    """Return the automatic labels of a suite: agent, scenario, index, category, verdict, step."""
    index = {p.continuation.id: p.number for p in load_continuations(folder, suite)}
    table = pd.read_parquet(folder / "labels" / f"{suite.replace('@', '-')}.parquet")
    table["index"] = [index[id] for id in table["continuation"]]
    columns = ["agent", "scenario", "index", "category", "verdict", "step"]
    return table[columns].sort_values(columns[:3])


def final_states(episodes: Sequence[Episode]) -> list[bytes]:
    """Return the serialised state in which each episode ends, replayed from its first state.

    Replaying compares every step with the recording; a difference fails.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for i, one in enumerate(episodes):
        size = (
            one.domain,
            one.steps,
            one.n_players,
            one.scene.shape[1],
            observation_shapes(one),
        )
        groups[size].append(i)
    states: dict[int, bytes] = {}
    for members in groups.values():
        group = [episodes[i] for i in members]
        for moment in iterate_replay(group):
            worlds, mismatches = moment
            assert not mismatches, mismatches
        states |= dict(zip(members, worlds.states(), strict=True))
    return [states[i] for i in range(len(episodes))]


class Study:
    """A study in which the record's people judge: references first, then what is enqueued."""

    def __init__(self, folder: Path, suite: str) -> None:
        """Open the study of a workspace on the database that the environment names."""
        settings = {"annotations_per_clip": 3, "reference_rate": 1.0, "min_gap": 0, "overlap": 0.0}
        settings["instruction_alone"] = 0.0
        self._workspace = Workspace.open(str(folder))
        self._workspace.settings["annotation"] |= settings
        self._suite = suites.load(self._workspace, suite)
        self._store = AnnotationStore.open(self._workspace)
        self._items: dict[str, str] = {}

    def __enter__(self) -> Study:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the database."""
        self._store.close()

    def enqueue(self, played: Iterable[Played]) -> None:
        """Have continuations judged."""
        queueing.enqueue(self._store, self._suite, [one.continuation for one in played])

    def add_reference(self, one: Played, truth: str, step: int | None) -> None:
        """Add a continuation whose verdict is known."""
        item = make_item(one.continuation, self._suite.label, (), "", "")
        in_store_add_reference(self._store, item, truth, step)

    def judge(self, name: str, answer: Callable[[str], Sequence[Event]]) -> list[str]:
        """Let a new annotator judge until nothing is left; return the status of each event.

        `answer` returns the events that they send about a continuation, in order.
        """
        person, statuses = add_person(self._store, name, ("annotator",)).id, []
        while claims := claim_items(self._store, person, suite=self._suite.label, count=10):
            for claim in claims:
                self._items[claim.continuation] = claim.item
                sent = _sent(name, claim.item, answer(claim.continuation))
                statuses += [ack.status for ack in submit(self._store, person, sent)]
        return statuses

    def review(self, name: str, decide: Callable[[str], Sequence[Event]]) -> list[str]:
        """Let a new reviewer look at all that was judged; return what became of each event."""
        person, statuses = add_person(self._store, name, ("reviewer",)).id, []
        for continuation, item in sorted(self._items.items()):
            sent = _sent(name, item, decide(continuation))
            statuses += [ack.status for ack in submit(self._store, person, sent)]
        return statuses


def _sent(name: str, item: str, events: Sequence[Event]) -> list[Event]:
    """Return events as a page sends them; a correction corrects the first."""
    uuids = [uuid5(NAMESPACE, f"{name} {item} {n}").hex for n in range(len(events))]
    corrects = [{"corrects": uuids[0]} if e["kind"] == "correction" else {} for e in events]
    return [
        {"uuid": uuid, "item": item} | event | first
        for uuid, event, first in zip(uuids, events, corrects, strict=True)
    ]


def export_ratings(folder: Path, file: Path) -> pd.DataFrame:
    """Return the ratings table of all of a workspace's judgements, people by name."""
    sts(folder, "annotations", "export", "--out", str(file), "--real-names")
    return pd.read_csv(file, keep_default_na=False)


def read_report(file: Path) -> dict[str, Any]:
    """Return the figures of `report.json` that the record holds."""
    report = json.loads(file.read_text())
    keys = {"rate": "pass_rate", "interval": "interval", "rank": "rank", "ranks": "rank_set"}
    agents = {
        row["agent"]: {name: row[key] for name, key in keys.items()}
        for row in report["ranking"]["rows"]
    }
    for row in report["rates"]["rows"]:
        agents[row["agent"]] |= {"se": row["se"], "df": row["df"], "verdicts": row["judgements"]}
    for row in (report["categories"] or {"rows": []})["rows"]:
        rates = zip(report["categories"]["agents"], row["pass_rates"], strict=True)
        for agent, rate in rates:
            agents[agent].setdefault("categories", {})[row["category"]] = rate
    names = ("difference", "interval", "p", "p_adjusted")
    pairs = {
        f"{pair['first']} - {pair['second']}": {name: pair[name] for name in names}
        for pair in (report["comparisons"] or {"rows": []})["rows"]
    }
    return {"state": report["conclusion"]["state"], "agents": agents, "differences": pairs}
