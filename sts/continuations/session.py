"""The human seat: a person takes over at a scenario's takeover point and plays its continuation.

They have the agents' observation and nothing else, or all that a judge sees where the domain tells
no difference; what they played is then a baseline. What they did is a list of moves and tokens;
everything follows from it and the scenario, so a page may reload, resend or stop at any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sts.continuations import store
from sts.continuations.takeover import Watch, script_of, shape, teams_of
from sts.continuations.types import HUMAN, Continuation, Identity, continuation
from sts.domains import Worlds
from sts.domains import domain as find_domain
from sts.engine.lockstep import Played, Script, play
from sts.episodes import Episode
from sts.errors import ArgumentError
from sts.provenance import provenance
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario


class Turn(NamedTuple):
    """What a person did at one step: the index of a move, and of a token (0 is silence)."""

    move: int
    say: int


def mark(person: str) -> str:
    """Returns what tells a person's continuations from other people's."""
    return content_hash(b"person", person.encode())[:16]


def identity(scenario: Scenario, person: str, attempt: int) -> Identity:
    """Returns whose continuation this is: the person's `attempt`-th of the scenario, from 0."""
    return Identity(scenario.hash, HUMAN, mark(person), 0, attempt)


def view(
    scenario: Scenario,
    turns: Sequence[Turn],
    *,
    person: str,
    attempt: int,
    look: Callable[[int, Worlds], None] = lambda frame, worlds: None,
) -> dict[str, Any]:
    """Returns what the person has seen from the start of the context until now, as JSON.

    `frames[f]` is the sight before step f, for f up to takeover + len(turns). The instruction is
    there from the frame at which it is given. `look` is called with each f and the world then.

    Raises:
      ArgumentError: a turn is not one, or there are more than the horizon.
    """
    domain = find_domain(scenario.recording.domain)
    (role,) = _alone(scenario)
    frames: list[dict[str, Any]] = []

    def see(worlds: Worlds) -> None:
        look(len(frames), worlds)
        frames.append(domain.sight(worlds, role))

    _replayed(scenario, turns, person, attempt, see)
    return {
        "frames": frames,
        "takeover": scenario.takeover,
        "horizon": scenario.horizon,
        "played": len(turns),
        "instruction": scenario.instruction.text,
        "given_at": scenario.instruction.given_at,
        "kind": scenario.kind,
        "moves": list(domain.moves),
        "tokens": list(domain.tokens),
        "finished": len(turns) == scenario.horizon,
    }


def finish(
    workspace: Workspace,
    scenario: Scenario,
    turns: Sequence[Turn],
    *,
    person: str,
    attempt: int,
    seconds: float,
) -> Continuation:
    """Keeps a played continuation; finishing the same attempt twice keeps and returns the first.

    Raises:
      ArgumentError: the continuation has not been played to its end.
    """
    if len(turns) != scenario.horizon:
        raise ArgumentError(f"expected {scenario.horizon} turns, found {len(turns)}")
    played = _replayed(scenario, turns, person, attempt, lambda _: None)
    one = continuation(
        scenario,
        identity(scenario, person, attempt),
        Episode(
            scenario.recording.domain,
            scenario.recording.state,
            played.moves[0],
            played.says[0],
            played.rewards[0],
            played.scene[0],
        ),
        log_probs=played.log_probs[0][:, scenario.roles],
        sees=find_domain(scenario.recording.domain).sees,
        deterministic=False,
        seconds=seconds,
        provenance=provenance(),
    )
    (kept,) = store.save(workspace, [one])
    return kept


def _alone(scenario: Scenario) -> tuple[int, ...]:
    if len(scenario.roles) != 1:
        raise ArgumentError(f"scenario {scenario.id} evaluates a team; one person plays one role")
    return scenario.roles


def _replayed(
    scenario: Scenario,
    turns: Sequence[Turn],
    person: str,
    attempt: int,
    see: Callable[[Worlds], None],
) -> Played:
    domain = find_domain(scenario.recording.domain)
    (role,) = _alone(scenario)
    sound = all(0 <= t.move < len(domain.moves) and 0 <= t.say < len(domain.tokens) for t in turns)
    if not sound or len(turns) > scenario.horizon:
        raise ArgumentError(f"expected at most {scenario.horizon} turns of known moves and tokens")
    form, steps = shape(scenario), scenario.takeover + len(turns)
    script = script_of(domain, form, [scenario])
    for i, turn in enumerate(turns):
        script.moves[0, scenario.takeover + i, role] = turn.move
        script.says[0, scenario.takeover + i, role] = turn.say
    script.forced[:, role] = True
    worlds = domain.restore([scenario.recording.state])
    watch = Watch([scenario], scenario.takeover)
    watch.start(worlds)
    see(worlds)

    def after(step: int, worlds: Worlds) -> None:
        watch(step, worlds)
        see(worlds)

    return play(
        domain,
        worlds,
        teams_of(form, None, [identity(scenario, person, attempt)]),
        steps=steps,
        script=Script(script.moves[:, :steps], script.says[:, :steps], script.forced[:steps]),
        watch=after,
    )
