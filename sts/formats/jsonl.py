"""The importer `jsonl`: a JSON object on each line, with the start and the actions of an episode.

`docs/data_standard.md` describes the fields. Everything else is computed by a replay.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.domains import Domain, Worlds, action_space, load_domain, reward_values, silent_utterances
from sts.domains.adapter import MAX_SEED, EnvironmentDomain
from sts.domains.envelope import add_envelope
from sts.domains.registry import is_code_path
from sts.engine.lockstep import Script, play_episodes
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError, DamagedData, ReplayMismatch, quote
from sts.names import MAX_NAME_CHARS, count_noun, is_one_line
from sts.provenance import collect_provenance
from sts.storage.files import read_bytes
from sts.storage.lines import map_lines
from sts.trajectories.record import generate_states, list_missions
from sts.trajectories.trajectory import SPLITS, Player, Trajectory, make_trajectory

FIELDS = {
    "domain": str,
    "seed": int,
    "options": dict,
    "state": str,
    "actions": list,
    "rewards": list,
    "who": list,
    "instructions": list,
    "split": str,
    "id": str,
}
"""The fields of a line and their JSON types."""
PLAYER_KINDS = ("human", "agent", "script")
_INSTRUCTION_FIELDS = ("text", "given_at", "player", "category", "mark", "marked_at")
_MAX_BYTES = 2**30
_TOLERANCE = 1e-6


def read(path: Path, *, domain: str | None = None) -> list[Trajectory]:
    """Return a trajectory for each line of a file, replayed.

    Args:
      path: a UTF-8 file; empty lines are skipped.
      domain: of lines without one; required if the name contains a module, since its code is run.

    Raises:
      DamagedData: there is no line, or some are invalid or do not replay; lists these by reason.
    """
    lines = {
        number: (number, line)
        for number, line in enumerate(read_bytes(path, _MAX_BYTES).split(b"\n"), 1)
        if line.strip()
    }
    if not lines:
        raise DamagedData(f"{path}: expected an episode on each line, found an empty file")
    shared = collect_provenance() | {"file": path.name}

    def replay(entry: tuple[int, bytes]) -> Trajectory:
        number, line = entry
        source, provenance = f"jsonl {path.name} line {number}", shared | {"line": number}
        return _replay_line(_parse_line(line, domain), source, provenance)

    return [*map_lines(path, lines, replay).values()]


def _parse_line(line: bytes, domain: str | None) -> dict[str, Any]:
    """Return the fields of a line, with its domain; raise DamagedData for an invalid one."""
    try:
        fields = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DamagedData(f"expected a JSON object in UTF-8: {error}") from None
    if not isinstance(fields, dict):
        raise DamagedData(f"expected a JSON object, found {type(fields).__name__}")
    for name, value in fields.items():
        if name not in FIELDS:
            raise DamagedData(f"unknown field {quote(name)}; expected {', '.join(FIELDS)}")
        if type(value) is not FIELDS[name]:
            raise DamagedData(f"{name}: expected {FIELDS[name].__name__}, found {value!r:.60}")
    stated = fields.setdefault("domain", domain)
    if stated is None:
        raise DamagedData("expected a field domain, or --domain")
    if stated != domain and (is_code_path(stated) or stated.count(":") > 1):
        raise ArgumentError(f"{stated} would run the code of a module: allow it by --domain")
    if domain not in (None, stated):
        raise DamagedData(f"expected domain {domain}, as of --domain, found {stated}")
    if ("seed" in fields) == ("state" in fields) or {"state", "options"} <= fields.keys():
        raise DamagedData("expected a seed, with options if there are any, or else a state")
    if not fields.get("actions") or not fields.get("who"):
        raise DamagedData("expected actions of 1 step or more, and who played")
    if fields.get("split", "test") not in SPLITS:
        raise DamagedData(f"split: expected {' or '.join(SPLITS)}, found {quote(fields['split'])}")
    return fields


def _replay_line(fields: Mapping[str, Any], source: str, provenance: dict[str, Any]) -> Trajectory:
    """Return the trajectory of a line; errors as of the parts below."""
    domain = load_domain(fields["domain"])
    state = _read_state(domain, fields)
    worlds = domain.restore([state])
    count, steps = worlds.rewards.shape[1], len(fields["actions"])
    actions = _read_actions(domain, fields["actions"], count)
    utterances = silent_utterances(domain, (steps, count))
    players = tuple(map(_read_player, fields["who"]))
    if len(players) != count:
        raise DamagedData(f"who: expected {count_noun(count, 'player')}, found {len(players)}")
    script = Script(actions[None], utterances[None], np.ones((steps, count), np.bool_))

    def refuse_early_end(step: int, worlds: Worlds) -> None:
        if step + 1 < steps and np.any(getattr(worlds, "ended", False)):
            reason = f"the episode ends with step {step}, but {steps} actions are stated"
            raise ReplayMismatch(reason, step=step)

    played = play_episodes(domain, worlds, [], steps=steps, script=script, watch=refuse_early_end)
    rewards = played.rewards[0]
    if "rewards" in fields:
        _check_rewards(domain, rewards, fields["rewards"])
    instructions = list_missions(domain, state)
    if "instructions" in fields:
        instructions = tuple(_read_instruction(i, steps, count) for i in fields["instructions"])
    origin = {name: fields[name] for name in ("id", "seed", "options", "split") if name in fields}
    episode = Episode(domain.name, state, actions, utterances, rewards, played.scene[0])
    made = make_trajectory(episode, players, source=source, provenance=provenance | origin)
    return replace(made, instructions=instructions)


def _read_state(domain: Domain, fields: Mapping[str, Any]) -> bytes:
    """Return the state before the first action."""
    if "state" in fields:
        try:
            raw = base64.b64decode(fields["state"], validate=True)
        except ValueError:
            raise DamagedData(f"state: expected base64, found {quote(fields['state'])}") from None
        if isinstance(domain, EnvironmentDomain):
            return add_envelope(domain.name, domain.version, raw)
        return raw
    seed, options = fields["seed"], fields.get("options", {})
    if not 0 <= seed < MAX_SEED:
        raise DamagedData(f"seed: expected 0 to {MAX_SEED - 1}, found {seed}")
    if isinstance(domain, EnvironmentDomain):
        return domain.reset_state(seed, options)
    return generate_states(domain.name, 1, len(fields["actions"]), seed, options)[0]


def _read_actions(domain: Domain, stated: list[Any], count: int) -> NDArray[Any]:
    """Return actions [T, P, ...] from one for each step, or a list by player if there are more."""
    space, names = action_space(domain), domain.action_names
    by_step = [[entry] for entry in stated] if count == 1 else stated
    try:
        if any(type(row) is not list for row in by_step):
            raise TypeError
        if names:
            by_step = [[_find_move(action, names) for action in row] for row in by_step]
        actions = np.array(by_step)
        is_valid = actions.dtype.kind in ("biu" if space.dtype.kind in "iu" else "biuf")
        is_valid &= actions.shape == (len(stated), count, *space.shape)
        is_valid = is_valid and space.is_within_bounds(actions)
    except (ValueError, TypeError, OverflowError):
        is_valid = False
    if not is_valid:
        each = "one" if count == 1 else f"a list of {count}"
        kind = f"{', '.join(names)[:200]} or their numbers" if names else space.describe()
        raise DamagedData(f"actions: expected for each step {each} of {kind}, found others")
    return actions.astype(space.dtype)


def _find_move(action: object, names: Sequence[str]) -> int:
    """Return the number of a named move; raise ValueError if it is neither a number nor a name."""
    return action if type(action) is int else names.index(str(action))


def _read_player(entry: object) -> Player:
    """Return who played, from {"kind", "name"}."""
    player = entry if isinstance(entry, dict) else {}
    kind, name = player.get("kind"), player.get("name")
    is_name = isinstance(name, str) and name.strip() and is_one_line(name, MAX_NAME_CHARS)
    if kind not in PLAYER_KINDS or not is_name or len(player) > 2:
        raise DamagedData(
            f"who: expected a kind ({', '.join(PLAYER_KINDS)}) and a name, found {entry!r:.60}"
        )
    return Player(kind, str(name))


def _read_instruction(entry: object, steps: int, count: int) -> Instruction:
    """Return an instruction that was given during the episode."""
    if not isinstance(entry, dict) or not entry.keys() <= {*_INSTRUCTION_FIELDS}:
        raise DamagedData(
            f"instructions: expected {', '.join(_INSTRUCTION_FIELDS)}, found {entry!r:.60}"
        )
    fields: dict[str, Any] = {"text": "", "category": "", "given_at": 0, "source": "setter"}
    made = Instruction(**fields | entry)
    latest = max(made.given_at, made.marked_at or 0)
    is_heard = made.player is None or made.player < count
    if not made.text.strip() or not 0 <= made.given_at <= latest <= steps or not is_heard:
        raise DamagedData(
            f"instructions: expected a text, steps from 0 to {steps} and a player under {count}, "
            f"found {entry!r:.60}"
        )
    return made


def _check_rewards(domain: Domain, replayed: NDArray[Any], stated: list[Any]) -> None:
    """Raise ReplayMismatch at the first reward that differs from the replay."""
    try:
        recorded = np.array(stated, np.float64).reshape(replayed.shape)
    except (ValueError, TypeError):
        raise DamagedData(
            f"rewards: expected a number, or one for each player, for {len(replayed)} steps"
        ) from None
    values, unit = reward_values(domain, replayed), domain.reward_unit
    is_rounded = isinstance(domain, EnvironmentDomain) and getattr(
        domain.create_environment(), "rounded", False
    )
    tolerance = (unit or 0) / 2 if is_rounded else _TOLERANCE * np.maximum(1, abs(values))
    differs = ~(abs(values - recorded) <= tolerance)
    for step, player in np.argwhere(differs)[:1].tolist():
        raise ReplayMismatch(
            f"step {step}: player {player} receives {values[step, player]:g}, recorded "
            f"{recorded[step, player]:g}",
            step=step,
        )
