"""Builds the packaged suite `babyai@2` with the public commands, from recordings alone.

    python -m tests.reproduction.suites.renew_babyai OUT

OUT is where `suite.json` and `scenarios.parquet` go. `babyai@1` is built first. The rest is made
as a curator makes it: begun from that version, some of it retired for stated reasons, others mined
from open levels that have no mission, accepted, frozen. Its wordings are the earlier ones of its
categories. The same agents and the same minigrid give the same scenarios. Needs the extra `babyai`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sts.provenance import collect_provenance
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import Suite
from tests.reproduction.suites import build_babyai, building
from tests.reproduction.suites.building import DRAFT, carry_out, flags, run, use_earlier_words
from tests.reproduction.suites.recorders import BABYAI_RANDOM

LEVELS = (
    *("GoToLocal", "GoToLocalS6N4", "PickupLoc", "OneRoomS8"),
    *("PutNextS6N3", "PutNextS7N4"),
    *("OpenDoor", "OpenDoorColor", "ActionObjDoor", "OpenTwoDoors"),
    *("UnlockLocal", "UnlockLocalDist", "Unlock", "UnlockPickup", "UnlockPickupDist"),
    *("GoTo", "GoToSeqS5R2"),
)
AGENTS = ("babyai-seeker", "babyai-blind", BABYAI_RANDOM)
CATEGORIES = (
    *("before-or-after", "beside", "bring", "fetch", "go-back", "go-through", "on-side"),
    *("open-first", "other-colour", "stand-before", "stand-or-take", "this-or-that", "unlock"),
)
EPISODES, STEPS, PER_CATEGORY, SEED = 40, 48, 10, 2
NAME, PARENT, CURATOR = "babyai", "babyai@1", "renew-babyai"
MISSIONS = (
    *("GoToObjMazeS4", "GoToOpen", "OpenDoorColor"),
    *("PickupDist", "UnblockPickup", "PutNextLocal"),
)
MISSION_AGENTS = ("babyai-noisy-bot-60", "babyai-seeker")
UNSEEN = {"go-to-01": 5, "go-to-04": 7, "open-01": 6, "open-03": 4}
UNSEEN |= {"pick-up-02": 4, "pick-up-03": 5, "pick-up-04": 5, "put-next-02": 4}
"""Scenarios of the parent of which an agent that sees nothing does four of ten or more."""
DESCRIPTION = (
    "Five kinds of BabyAI's missions, and thirteen kinds of instructions that are put in hindsight "
    "in wordings of their own, three of them in pairs."
)


def commands() -> list[list[str]]:
    """Return the command lines that record, mine and decide, without the leading `sts`."""
    by = ["--user", CURATOR]
    gone = Counter(name.rpartition("-")[0] for name in UNSEEN)
    why = "babyai-blind, who sees nothing, does it in {} of ten continuations"
    return [
        *record_open_levels(),
        *_record(MISSIONS, MISSION_AGENTS, 200, []),
        ["draft", "new", "--from", f"{DRAFT}@1"],
        *(
            ["draft", "retire", DRAFT, f"babyai-{name}", *by, "--reason", why.format(times)]
            for name, times in UNSEEN.items()
        ),
        _mine(CATEGORIES, PER_CATEGORY),
        *(_mine([kind], count) for kind, count in gone.items()),
        ["draft", "accept", DRAFT, "--all", "--reason", "it fits its moment", *by],
        ["suite", "freeze", DRAFT, "--description", DESCRIPTION],
    ]


def record_open_levels() -> list[list[str]]:
    """Return the command lines that record levels without a mission."""
    return _record(LEVELS, AGENTS, 100, ["--env-option", "open=true"])


def _record(
    levels: Sequence[str], agents: Sequence[str], seed: int, more: Sequence[str]
) -> list[list[str]]:
    amount = [*more, *flags("agent", agents), *f"--episodes {EPISODES} --steps {STEPS}".split()]
    return [
        f"record --domain babyai --env-option level={level} --seed {seed + place}".split() + amount
        for place, level in enumerate(levels, 1)
    ]


def _mine(kinds: Sequence[str], count: int) -> list[str]:
    amount = f"--per-category {count} --seed {SEED} --stratify-by difficulty".split()
    return ["mine", DRAFT, *flags("category", (f"babyai-{kind}" for kind in kinds)), *amount]


def build(out: Path) -> Suite:
    """Write the suite to the folder `out` and return it."""
    first = build_babyai
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(folder)
        place = workspace.path("suites", DRAFT, "1")
        building.build(place, DRAFT, first.VERSION, first.DESCRIPTION, first.commands())
        with use_earlier_words():
            carry_out(folder, commands())
        made = store.load(workspace, f"{DRAFT}@2")
    suite = replace(made, name=NAME, parent=PARENT, provenance=collect_provenance())
    store.write(out, suite)
    return suite


if __name__ == "__main__":
    sys.exit(run("renew_babyai", lambda out: [build(out)], sys.argv[1:]))
