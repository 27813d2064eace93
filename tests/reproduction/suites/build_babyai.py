"""Builds the packaged suite `babyai@1` with the public commands, from recordings alone.

    python -m tests.reproduction.suites.build_babyai OUT

OUT is where `suite.json` and `scenarios.parquet` go. The rest is in LEVELS, AGENTS and the seeds:
the same agents and the same minigrid give the same scenarios. Needs the extra `babyai`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from sts.errors import ArgumentError, StsError
from tests.reproduction.suites.building import DRAFT, build

LEVELS = (
    *("GoToLocal", "GoToObjMazeS4"),
    *("OpenDoorColor", "ActionObjDoor"),
    *("PickupDist", "PickupDistDebug", "UnblockPickup"),
    *("PutNextLocal", "PutNextS5N2"),
    *("GoToSeqS5R2", "OpenTwoDoors", "OpenDoorsOrderN4Debug"),
)
AGENTS = ("babyai-bot", "babyai-noisy-bot-30", "babyai-noisy-bot-60", "babyai-random")
CATEGORIES = ("go-to", "open", "pick-up", "put-next", "sequence")
EPISODES, STEPS = 100, 45
PER_CATEGORY, SEED = 10, 1
NAME, VERSION = "babyai", 1
DESCRIPTION = (
    "Five kinds of BabyAI's language missions, ten scenarios each, mined from recordings of the "
    "package's bot, of noisy ones and of a random player."
)


def commands() -> list[list[str]]:
    """Returns the command lines that record and mine, without the leading `sts`."""
    players = [word for agent in AGENTS for word in ("--agent", agent)]
    amount = ["--episodes", str(EPISODES), "--steps", str(STEPS)]
    lines = [
        ["record", "--domain", "babyai", "--set", f"level={level}", *players, *amount]
        + ["--seed", str(seed)]
        for seed, level in enumerate(LEVELS, 1)
    ]
    chosen = [word for kind in CATEGORIES for word in ("--category", f"babyai-{kind}")]
    amount = ["--per-category", str(PER_CATEGORY), "--seed", str(SEED), "--stratum", "difficulty"]
    lines.append(["mine", DRAFT, *chosen, *amount])
    return lines


def main(argv: Sequence[str]) -> int:
    """Builds from the command line; returns the exit code."""
    try:
        if len(argv) != 1:
            raise ArgumentError("expected OUT, see the module's first lines")
        suite = build(Path(argv[0]), NAME, VERSION, DESCRIPTION, commands())
    except StsError as error:
        print(f"build_babyai: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{suite.label}: {len(suite.scenarios)} scenarios, hash {suite.hash}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
