"""The baseline `recorded`, which repeats what was recorded after the takeover.

On a recording of people it measures how often they did, unasked, what the instruction says. It
decides nothing, so it is not ranked, and it can continue only scenarios whose recording reaches the
horizon.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Instructions, PolicyOutput
from sts.errors import ArgumentError


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
