"""Openings of live sessions: a recording, an evaluation of an agent, a person in a scenario."""

import itertools
import secrets
from collections.abc import Sequence

from sts.domains import LiveControls, load_domain
from sts.errors import ArgumentError
from sts.live.plans import Plan
from sts.live.types import Opening, Participant
from sts.live.worlds import ANY, find_seed
from sts.suites.suite import Scenario

DEFAULT_MINUTES = 5.0
"""Length of a session (Abramson et al. 2022, section 2)."""
AGENT_PACE_S = 0.25
"""Least time from step to step at the agent's pace, so that a person can follow."""


def open_recording(
    domain: str,
    participants: Sequence[Participant],
    *,
    minutes: float = DEFAULT_MINUTES,
    split: str = ANY,
) -> Opening:
    """Return the opening of a recording in a new world of a split; errors as in `generate`.

    Participants get the world's players, the setters last; a setter for whom none is left only sets
    tasks. Where agents set the pace, a person who acts plays in turns.

    Raises:
      ArgumentError: the world has too few players, or the split no world; in a sentence for people.
    """
    world, controls = load_domain(domain), get_controls(domain)
    draws = (secrets.randbits(31) for _ in itertools.count())
    seed = find_seed(domain, draws, controls.settings, split)
    (state,) = world.generate(1, seed=seed, **controls.settings)
    count, seated = world.scene_format(state).n_players, list(participants)
    ranked = sorted(range(len(seated)), key=lambda place: seated[place].role == "setter")
    for player, place in enumerate(ranked):
        if player < count:
            seated[place] = seated[place]._replace(player=player)
        elif seated[place].role != "setter":
            raise ArgumentError(f"A world of {domain} has a place for {count} only.")
    is_played = any(p.acts and p.player is not None for p in seated)
    return Opening(
        secrets.token_hex(12),
        "record",
        domain,
        state,
        tuple(seated),
        None if is_played and not controls.tick else controls.tick,
        count_steps(minutes, controls.tick),
    )


def open_evaluation(plan: Plan, cell: int, pseudonym: str) -> Opening:
    """Return the opening of a planned session, in which a person sets tasks for an agent.

    The person has no body, the agent is player 0, and other players are empty. In a rehearsal, the
    person is a script.

    Raises:
      ArgumentError: the domain no longer takes the plan's settings.
    """
    planned, agent = plan.cells[cell], plan.agent_of(plan.cells[cell])
    domain = load_domain(plan.domain)
    (state,) = domain.generate(1, seed=planned.seed, **plan.settings)
    tick = get_controls(plan.domain).tick if plan.tick is None else plan.tick
    participants = (
        Participant("script" if plan.rehearsal else "human", pseudonym, "setter", None),
        Participant("agent", agent.name, "solver", 0, agent.fingerprint, agent.path),
    )
    return Opening(
        secrets.token_hex(12),
        "evaluate",
        plan.domain,
        state,
        participants,
        tick,
        count_steps(plan.minutes, tick),
        study=plan.name,
        cell=cell,
        practice=planned.practice,
    )


def open_scenario(scenario: Scenario, pseudonym: str) -> Opening:
    """Return the opening of a person's play of a scenario.

    Where agents set the pace, they play in turns.

    Raises:
      ArgumentError: it evaluates a team, or its world has no named actions.
    """
    if len(scenario.players) != 1:
        raise ArgumentError(
            f"scenario {scenario.id} evaluates a team, and a person can play only one role"
        )
    recording = scenario.recording
    if not load_domain(recording.domain).action_names:
        raise ArgumentError(
            f"scenario {scenario.id}: {recording.domain} has no named actions from which a person "
            "could choose"
        )
    return Opening(
        secrets.token_hex(12),
        "scenario",
        recording.domain,
        recording.state,
        (Participant("human", pseudonym, "solver", scenario.players[0]),),
        get_controls(recording.domain).tick or None,
        scenario.context + scenario.horizon,
        scenario=scenario.hash,
    )


def get_controls(domain: str) -> LiveControls:
    """Return the keys and the tick of a domain."""
    return getattr(load_domain(domain), "live_controls", LiveControls())


def count_steps(minutes: float, tick: float) -> int:
    """Return the number of steps of a session."""
    return max(1, round(minutes * 60 / (tick or AGENT_PACE_S)))
