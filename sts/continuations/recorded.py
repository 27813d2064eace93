"""The baseline `recorded`: whoever was recorded goes on as they did.

For a recording of people it says how often they did within the horizon what is asked in hindsight.
It is no agent that decides anything, so it stands outside the ranking, and it can only continue
scenarios whose recording goes on after the takeover.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.engine.lockstep import Script
from sts.errors import ArgumentError
from sts.suites.types import Scenario


class Recorded(Agent):
    """Repeats the recording of a scenario; the engine does it, since no agent is shown one."""

    name = "recorded"
    version = "1"
    sees = "recording"
    deterministic = True

    def act(
        self,
        observation: Any,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Is not asked where there is a recording.

        Raises:
          ArgumentError: there is none here.
        """
        raise ArgumentError("it repeats the recording of a scenario, and there is none here")


def repeated(script: Script, roles: Sequence[int], every: Sequence[Scenario]) -> Script:
    """Return the script with what `roles` did in the recordings forced from start to end.

    Raises:
      ArgumentError: a recording ends before the horizon; names the scenario.
    """
    steps, chosen = script.moves.shape[1], list(roles)
    moves, says, forced = script.moves.copy(), script.says.copy(), script.forced.copy()
    for b, scenario in enumerate(every):
        if scenario.recording.steps < steps:
            raise ArgumentError(
                f"scenario {scenario.id}: its recording has {scenario.recording.steps} of {steps} "
                "steps, so recorded cannot go on to the horizon"
            )
        moves[b][:, chosen] = scenario.recording.moves[:steps, chosen]
        says[b][:, chosen] = scenario.recording.says[:steps, chosen]
    forced[:, chosen] = True
    return Script(moves, says, forced)
