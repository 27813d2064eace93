"""Rehearsal: learning behaviours practise an episode before the pass that counts.

The published program lets its learners play each episode a hundred times before it tests them on
the same one. This exists in the intelligence test alone; see `Tabular` for what learners do in an
episode that is new to them.

Every pass begins where the episode begins, Good and Evil take the same paths in each, and pass k,
step t draws what step k * T + t of one long episode would. Two ways lead to the same episodes:
`fused` compiles the behaviours with the world, `rehearse` takes any agent that can `finish`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from sts.domains import Domain, Worlds
from sts.engine import lockstep
from sts.engine.lockstep import Played, Team
from sts.errors import StsError


def rehearse(
    domain: Domain,
    fresh: Callable[[], Worlds],
    teams: Sequence[Team],
    *,
    steps: int,
    rehearsals: int,
    watch: Callable[[int, Worlds], None] | None = None,
) -> Played:
    """Returns the pass that counts, after the teams' learners have rehearsed its episodes together.

    Agents that cannot `finish` play along and begin every pass anew; where none can, nothing is
    rehearsed. Learners go on learning in the pass that counts, which none of its choices shows: a
    state is met once in a pass.

    Args:
      domain: whose worlds they are.
      fresh: returns the worlds at the start of their episodes, each time anew.
      teams: as `lockstep.play` takes them, without memories.
      steps: T.
      rehearsals: how many passes come before.
      watch: called in the pass that counts; as `lockstep.play` calls it.

    Raises:
      StsError: an agent failed; names it.
    """
    if not any(_finishes(team.agent) for team in teams):
        rehearsals = 0
    for k in range(rehearsals):
        worlds = fresh()
        memories = lockstep.play(domain, worlds, teams, steps=steps).memories
        teams = [
            team._replace(memory=_finished(team, worlds, kept), since=(k + 1) * steps)
            for team, kept in zip(teams, memories, strict=True)
        ]
    return lockstep.play(domain, fresh(), teams, steps=steps, watch=watch)


def _finishes(agent: Any) -> bool:
    return callable(getattr(agent, "finish", None))


def _finished(
    team: Team, worlds: Worlds, kept: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]] | None:
    """Returns what a learner goes on with; whatever it raises becomes one line."""
    agent: Any = team.agent
    if not _finishes(agent):
        return None
    seen = worlds.observe(team.roles, team=team.roles, world=agent.sees == "world")
    try:
        memory: dict[str, NDArray[Any]] = agent.finish(seen, kept)
    except Exception as error:
        raise StsError(
            f"agent {agent.name!r} failed to finish: {type(error).__name__}: {error}"
        ) from error
    return memory
