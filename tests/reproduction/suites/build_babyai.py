"""What `babyai@1` was made of, the parent of `babyai@2`, which is shipped no longer.

LEVELS, AGENTS and the seeds decide: the same agents and minigrid give the same scenarios.
"""

from __future__ import annotations

from tests.reproduction.suites.building import DRAFT
from tests.reproduction.suites.recorders import BABYAI_RANDOM

LEVELS = (
    *("GoToLocal", "GoToObjMazeS4"),
    *("OpenDoorColor", "ActionObjDoor"),
    *("PickupDist", "PickupDistDebug", "UnblockPickup"),
    *("PutNextLocal", "PutNextS5N2"),
    *("GoToSeqS5R2", "OpenTwoDoors", "OpenDoorsOrderN4Debug"),
)
AGENTS = ("babyai-bot", "babyai-noisy-bot-30", "babyai-noisy-bot-60", BABYAI_RANDOM)
CATEGORIES = ("go-to", "open", "pick-up", "put-next", "sequence")
EPISODES, STEPS = 100, 45
PER_CATEGORY, SEED = 10, 1
VERSION = 1
DESCRIPTION = (
    "Five kinds of BabyAI's language missions, ten scenarios each, mined from recordings of the "
    "package's bot, of noisy ones and of a random player."
)


def commands() -> list[list[str]]:
    """Return the command lines that record and mine, without the leading `sts`."""
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
