"""Builds the packaged suite `babyai@2` with the public commands, from recordings alone.

    python -m tests.reproduction.suites.renew_babyai OUT

OUT is where `suite.json` and `scenarios.parquet` go. `babyai@1` is built first. The rest is made
as a curator makes it: begun from that version, some of it retired for stated reasons, others mined
from open levels that have no mission, accepted, frozen. The same agents and the same minigrid give
the same scenarios. Needs the extra `babyai`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sts.errors import ArgumentError, StsError
from sts.provenance import provenance
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.types import Suite
from tests.reproduction.suites import build_babyai, building
from tests.reproduction.suites.building import DRAFT, carry_out
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
    "GoToObjMazeS4",
    "GoToOpen",
    "OpenDoorColor",
    "PickupDist",
    "UnblockPickup",
    "PutNextLocal",
)
MISSION_AGENTS = ("babyai-noisy-bot-60", "babyai-seeker")
UNSEEN = {
    "go-to-01": 5,
    "go-to-04": 7,
    "open-01": 6,
    "open-03": 4,
    "pick-up-02": 4,
    "pick-up-03": 5,
    "pick-up-04": 5,
    "put-next-02": 4,
}
"""Scenarios of the parent of which who sees nothing does four of ten continuations or more."""
DESCRIPTION = (
    "Five kinds of BabyAI's missions, and thirteen kinds of instructions that are put in hindsight "
    "in wordings of their own, three of them in pairs."
)


def commands() -> list[list[str]]:
    """Return the command lines that record, mine and decide, without the leading `sts`."""
    by = ["--as", CURATOR]
    gone = Counter(name.rpartition("-")[0] for name in UNSEEN)
    return [
        *_recorded(LEVELS, AGENTS, 100, ["--set", "open=true"]),
        *_recorded(MISSIONS, MISSION_AGENTS, 200, []),
        ["draft", "from", f"{DRAFT}@1"],
        *(
            ["draft", "retire", DRAFT, f"babyai-{name}", *by]
            + [
                "--reason",
                f"babyai-blind, who sees nothing, does it in {times} of ten continuations",
            ]
            for name, times in UNSEEN.items()
        ),
        _mined(CATEGORIES, PER_CATEGORY),
        *(_mined([kind], count) for kind, count in gone.items()),
        ["draft", "accept", DRAFT, "--all", "--reason", "it fits its moment", *by],
        ["suite", "freeze", DRAFT, "--description", DESCRIPTION],
    ]


def _recorded(
    levels: Sequence[str], agents: Sequence[str], seed: int, more: Sequence[str]
) -> list[list[str]]:
    players = [word for agent in agents for word in ("--agent", agent)]
    amount = [*more, *players, "--episodes", str(EPISODES), "--steps", str(STEPS)]
    return [
        ["record", "--domain", "babyai", "--set", f"level={level}", *amount]
        + ["--seed", str(seed + place)]
        for place, level in enumerate(levels, 1)
    ]


def _mined(kinds: Sequence[str], count: int) -> list[str]:
    chosen = [word for kind in kinds for word in ("--category", f"babyai-{kind}")]
    amount = ["--per-category", str(count), "--seed", str(SEED), "--stratum", "difficulty"]
    return ["mine", DRAFT, *chosen, *amount]


def build(out: Path) -> Suite:
    """Write the suite to the folder `out` and return it.

    Raises:
      StsError: a command failed; it has said how.
    """
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(folder)
        first = build_babyai
        building.build(
            workspace.path("suites", DRAFT, "1"),
            *(DRAFT, first.VERSION, first.DESCRIPTION, first.commands()),
        )
        carry_out(folder, commands())
        made = store.load(workspace, f"{DRAFT}@2")
    suite = replace(made, name=NAME, parent=PARENT, provenance=provenance())
    store.write(out, suite)
    return suite


def main(argv: Sequence[str]) -> int:
    """Build from the command line; return the exit code."""
    try:
        if len(argv) != 1:
            raise ArgumentError("expected OUT, see the module's first lines")
        suite = build(Path(argv[0]))
    except StsError as error:
        print(f"renew_babyai: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{suite.label}: {len(suite.scenarios)} scenarios, hash {suite.hash}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
