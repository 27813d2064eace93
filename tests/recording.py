"""Recording of one agent in this process."""

from typing import Any

from sts.agents import Agent
from sts.trajectories.record import Task, generate_states, play_task
from sts.trajectories.trajectory import Trajectory


def record(
    agent: Agent, *, domain: str, count: int, steps: int, seed: int, settings: dict[str, Any]
) -> list[Trajectory]:
    """Return the trajectories of an agent in the first `count` worlds of a seed."""
    states = generate_states(domain, count=count, steps=steps, seed=seed, settings=settings)
    return play_task(agent, Task(agent.name, "", domain, 0, tuple(states), steps, seed))
