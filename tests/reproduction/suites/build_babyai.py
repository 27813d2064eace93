"""What `babyai@1` was made of, the parent of `babyai@2`, which is no longer included.

LEVELS, AGENTS and the seeds decide: the same agents and minigrid give the same scenarios.
"""

from __future__ import annotations

from tests.reproduction.suites.building import DRAFT, flags
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
    amount = f"--episodes {EPISODES} --steps {STEPS}".split()
    lines = [
        f"record --domain babyai --env-option level={level} --seed {seed}".split()
        + [*flags("agent", AGENTS), *amount]
        for seed, level in enumerate(LEVELS, 1)
    ]
    amount = f"--per-category {PER_CATEGORY} --seed {SEED} --stratify-by difficulty".split()
    chosen = flags("category", (f"babyai-{kind}" for kind in CATEGORIES))
    return [*lines, ["mine", DRAFT, *chosen, *amount]]
