"""Interactions and journals of live sessions, made by hand."""

from typing import Any

import numpy as np

from sts import agents
from sts.live.interactions import Interaction

DEFAULTS: dict[str, Any] = {
    "session": "s1", "study": "pilot", "practice": False, "ended": "finished", "person": "p1",
    "setter_kind": "human", "agent": "a", "fingerprint": "f", "agent_kind": "agent",
    "domain": "garden", "order": 1, "instruction": 0, "text": "water", "prompt": "", "kind": "",
    "difficulty": "", "typed": "free", "start": 0, "end": 10,
    "mark": "success", "marked_by": "p1", "marker_kind": "human", "note_given": False,
    "latency_s": 2.5, "late_ticks": 0, "ticks": 10,
}  # fmt: skip


def interaction(mark: str = "success", **fields: Any) -> Interaction:
    """Return one interaction; by default a success of agent "a" with person "p1"."""
    return Interaction(**DEFAULTS | {"mark": mark} | fields)


def journal(*events: dict[str, Any], **opened: Any) -> list[dict[str, Any]]:
    """Return the events of a session of a person who sets tasks and an agent."""
    first = {
        "kind": "opened", "format": "journal/1", "id": "s1", "study": "pilot", "cell": 1,
        "activity": "evaluate", "practice": False, "domain": "garden", "at": 0.0,
        "state": "", "tick": None, "max_steps": 100, "scenario": "",
        "participants": [
            {"kind": "human", "name": "p1", "player": None, "role": "setter", "fingerprint": ""},
            {"kind": "agent", "name": "a", "player": 0, "role": "solver", "fingerprint": "f"},
        ],
    }  # fmt: skip
    return [first | opened, *events]


class Still(agents.Agent):
    """An agent of a lab, which is not installed."""

    name, version, domain = "stays-still", "1", "lambda-star"

    def act(self, observation, instructions, memory, draws):
        return agents.PolicyOutput(np.full(np.shape(observation.cell), 4)), memory
