"""What packaged agents and rules do in fixed scenarios, as a hash for each version that they state.

A version stands for a behaviour: if the hash of one changes, the version must be raised. To record
the hash of a new version, run the test that misses it with STS_RECORD_GOLDEN=1. What is recorded is
never overwritten.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from sts import agents
from sts.continuations.continuation import Continuation
from sts.continuations.takeover import continue_all, group_by_shape
from sts.episodes import Episode
from sts.storage.files import canonical_json, content_hash
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import Scenario
from sts_scenarios.rules.category import Category

FILE = Path(__file__).parent / "data" / "golden.json"


def check(what: str, version: str, digest: str) -> None:
    """Hold a hash to the one recorded for this version, or record it if that is asked for."""
    known = json.loads(FILE.read_text())
    key = f"{what}, version {version}"
    if key not in known and os.environ.get("STS_RECORD_GOLDEN"):
        FILE.write_text(json.dumps(known | {key: digest}, indent=1, sort_keys=True) + "\n")
        return
    assert key in known, f"{key} is not recorded; run this test with STS_RECORD_GOLDEN=1"
    assert known[key] == digest, f"{key} behaves differently than recorded: raise its version"


def choose_scenarios(label: str, per_category: int = 2) -> list[Scenario]:
    """Return the first scenarios of each category of a packaged suite."""
    own: dict[str, list[Scenario]] = defaultdict(list)
    for one in store.load(Workspace.open("nowhere"), label).scenarios:
        own[one.category].append(one)
    return [one for each in own.values() for one in each[:per_category]]


def continued(scenarios: Sequence[Scenario], agent: agents.Agent) -> list[Continuation]:
    """Return one continuation of each scenario."""
    made = {
        one.scenario_hash: one
        for own in group_by_shape(scenarios)
        for one in continue_all(own, agent, seed=0, indices=(0,))
    }
    return [made[scenario.hash] for scenario in scenarios]


def actions(made: Iterable[Continuation], recorded: Iterable[Episode] = ()) -> str:
    """Return the hash of what an agent did in continuations and recordings; 16 hex digits."""
    every = [*(one.episode for one in made), *recorded]
    parts = [part.tobytes() for one in every for part in (one.actions, one.utterances)]
    return content_hash(*parts)[:16]


def labels(category: Category, scenarios: Iterable[Scenario], made: Iterable[Continuation]) -> str:
    """Return the hash of what a category's rule says of the continuations of its scenarios.

    It is asked about what follows the takeover, and about what follows two steps later.
    """
    own = {one.hash: one for one in scenarios if one.category == category.name}
    found = [
        category.label(one.episode, takeover, one.players, own[one.scenario_hash].parameters)
        for one in made
        if one.scenario_hash in own
        for takeover in (one.takeover, one.takeover + 2)
    ]
    assert len(set(found)) > 1, f"{category.name}: every label is the same"
    return content_hash(canonical_json([[label.verdict, label.step] for label in found]))[:16]
