"""The baseline `recorded`, which repeats what was recorded after the takeover.

On a recording of people it measures how often they did, unasked, what the instruction says. It
decides nothing, so it is not ranked, and it can continue only scenarios whose recording reaches the
horizon.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Instructions, PolicyOutput
from sts.engine.lockstep import Script
from sts.errors import ArgumentError
from sts.suites.types import Scenario


class Recorded(Agent):
    """An agent that repeats a scenario's recording; the engine does it, as no agent sees one."""

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
    ) -> tuple[PolicyOutput, dict[str, NDArray[Any]]]:
        """Raise ArgumentError: without a recording there is nothing to repeat."""
        raise ArgumentError(
            "recorded repeats the recording of a scenario, and this episode has none"
        )


def force_recording(
    script: Script, players: Sequence[int], scenarios: Sequence[Scenario]
) -> Script:
    """Return the script with the recorded behaviour of `players` forced at every step.

    Raises:
      ArgumentError: a recording ends before the horizon; names the scenario.
    """
    steps, indices = script.actions.shape[1], list(players)
    actions, utterances, forced = (array.copy() for array in script)
    for b, scenario in enumerate(scenarios):
        if scenario.recording.steps < steps:
            raise ArgumentError(
                f"scenario {scenario.id}: recorded needs a recording of {steps} steps, to "
                f"the horizon, found {scenario.recording.steps}"
            )
        actions[b][:, indices] = scenario.recording.actions[:steps, indices]
        utterances[b][:, indices] = scenario.recording.utterances[:steps, indices]
    forced[:, indices] = True
    return Script(actions, utterances, forced)
