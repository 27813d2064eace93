"""Further claims for domains that are made of an `Environment`."""

import contextlib
import functools
import pickletools
from itertools import cycle, islice, zip_longest
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sts.domains.adapter import EnvironmentDomain, actions_per_world
from sts.domains.conformance import runs
from sts.domains.conformance.batches import check_rejected
from sts.domains.conformance.runs import Claim, ClaimViolated, ConformanceRun
from sts.domains.envelope import add_envelope, remove_envelope
from sts.domains.environment import Environment
from sts.errors import StsError
from sts.jobs.deadlines import guard_call, report_progress

MAX_STEPS = 1000
"""Steps within which an environment that has an end should reach it."""
CLAIMS: dict[str, Claim] = {}
_register = functools.partial(runs.register_claim, CLAIMS)


def _environment_domain(trial: ConformanceRun) -> EnvironmentDomain:
    return cast(EnvironmentDomain, trial.domain)


@_register("versions", "it has a version, without which states of another are not rejected")
def _check_version(trial: ConformanceRun) -> None:
    version = _environment_domain(trial).version
    if not isinstance(version, str) or not version:
        raise ClaimViolated(f"expected a version, found {version!r}")


@_register("garbage", "invalid states of the environment are rejected")
def _check_garbage(trial: ConformanceRun) -> None:
    domain = _environment_domain(trial)
    inner = remove_envelope(domain.name, domain.version, trial.halfway[0])
    half = inner[: len(inner) // 2]
    foreign_states = {"nothing": b"", "other bytes": b"not a state", "half a state": half}
    remark = ", for which restore must raise a ValueError,"
    wrapped = {
        description + remark: add_envelope(domain.name, domain.version, state)
        for description, state in foreign_states.items()
    }
    check_rejected(trial, wrapped)


@_register("no-pickle", "states are not pickles, which could run code on loading")
def _check_no_pickle(trial: ConformanceRun) -> None:
    """Check that not all states are pickles; a short state may be a valid one by chance."""
    domain = _environment_domain(trial)
    states = (
        remove_envelope(domain.name, domain.version, point.state)
        for point in trial.iterate_points()
    )
    if all(_is_pickle(state) for state in states):
        raise ClaimViolated("its states are pickles")


def _is_pickle(state: bytes) -> bool:
    """Return True if the bytes are exactly one pickle, of any protocol."""
    last = -1
    try:
        for _, _, at in pickletools.genops(state):
            last = at or 0
    except Exception:  # pickletools documents no list of errors
        return False
    return last == len(state) - 1


@_register("reset-restarts", "reset gives the same world after an episode as in a new environment")
def _check_reset(trial: ConformanceRun) -> None:
    domain = _environment_domain(trial)
    used = domain.restore_environment(trial.starts[0])
    course = actions_per_world(trial.sequences[0].actions, bool(domain.action_names))
    with guard_call(f"domain {domain.name!r} failed to step before a second reset"):
        for actions in course:
            used.step(actions)
            report_progress()
    after_use, expected = (
        _reset_and_play(trial, env, course) for env in (used, domain.create_environment())
    )
    for t, (actual, fresh) in enumerate(zip_longest(after_use, expected)):
        if actual != fresh:
            when = f"after step {t - 1}" if t else "at the start"
            raise ClaimViolated(
                "reset with the same seed, a used environment differs from a new one " + when
            )


def _reset_and_play(
    trial: ConformanceRun, world: Environment, course: list[list[Any]]
) -> list[object]:
    """Return state and digest after a reset, and after each step until one fails."""
    history: list[object] = []
    with runs.fixed_global_seed():
        with guard_call(f"domain {_environment_domain(trial).name!r} failed to reset"):
            world.reset(7, **trial.settings)
            history.append((world.state(), world.digest()))
        with contextlib.suppress(StsError), guard_call("a failure that another claim reports"):
            for actions in course:
                world.step(actions)
                history.append((world.state(), world.digest()))
                report_progress()
    return history


@_register("settings", "unknown settings are rejected")
def _check_settings(trial: ConformanceRun) -> None:
    nonsense: dict[str, Any] = {"setting_that_nobody_has": 1}
    try:
        trial.domain.generate(1, seed=0, **trial.settings, **nonsense)
    except StsError:
        return
    raise ClaimViolated("an unknown setting is accepted")


@_register("observes", "observations have fixed names, shapes and types")
def _check_observations(trial: ConformanceRun) -> None:
    """Check that all players observe the same names, shapes and types at every step.

    Types are compared without their size: int32 equals int64.
    """
    domain = _environment_domain(trial)
    expected_types: dict[str, str] = {}
    for seed, state, sequence, _ in trial.iterate_worlds():
        with runs.fixed_global_seed():
            world = domain.restore_environment(state)
            for t, actions in enumerate(
                actions_per_world(sequence.actions, bool(domain.action_names))
            ):
                for player in range(len(domain.players)):
                    when = f"seed {seed}, step {t}: player {player}"
                    observation = _observe(world, player, when)
                    again = _observe(world, player, when)
                    types = {key: _describe_type(value) for key, value in observation.items()}
                    expected_types = expected_types or types
                    if types != expected_types:
                        raise ClaimViolated(f"{when} observes {types}, expected {expected_types}")
                    for key, value in observation.items():
                        if value.dtype.kind == "O":
                            raise ClaimViolated(
                                f"{when} observes {key} as objects, expected an array"
                            )
                        if value.tobytes() != again[key].tobytes():
                            raise ClaimViolated(f"{when} observes another {key} the second time")
                with guard_call(f"domain {domain.name!r} failed to step at step {t}"):
                    world.step(actions)


def _describe_type(value: NDArray[Any]) -> str:
    return f"{value.dtype.name.rstrip('0123456789')}{list(value.shape)}"


def _observe(world: Environment, player: int, when: str) -> dict[str, NDArray[Any]]:
    with guard_call(when):
        return {key: np.array(value) for key, value in world.observe(player).items()}


@_register("instructs", "its instruction is text")
def _check_instruction(trial: ConformanceRun) -> None:
    for seed, state, _, _ in trial.iterate_worlds():
        with runs.name_seed_in_errors(seed):
            text = _environment_domain(trial).instruction(state)
        if not isinstance(text, str):
            raise ClaimViolated(f"seed {seed}: its instruction is {text!r:.60}, expected text")


@_register("digests", "states that look different have different digests")
def _check_digests(trial: ConformanceRun) -> str | None:
    domain = _environment_domain(trial)
    for seed, state, sequence, _ in trial.iterate_worlds():
        first_frames: dict[bytes, tuple[int, bytes]] = {}
        with runs.fixed_global_seed():
            worlds = domain.restore([state])
            for t in range(trial.steps):
                worlds.step(sequence.actions[None, t], sequence.utterances[None, t])
                scene = worlds.scene[0].tobytes()
                try:
                    frame = worlds.frames()[0].tobytes()
                except StsError:  # reported by another claim
                    return "it does not render"
                when, looked = first_frames.setdefault(scene, (t, frame))
                if looked != frame:
                    raise ClaimViolated(
                        f"seed {seed}, step {t}: it looks different from step {when}, but has the "
                        "same digest"
                    )
    return None


@_register("ends", "after the end, steps have no effect and no rewards")
def _check_end(trial: ConformanceRun) -> str | None:
    domain = _environment_domain(trial)
    if not hasattr(domain.restore_environment(trial.starts[0]), "ended"):
        return "it has no attribute `ended`"
    over, limit = 0, max(2 * trial.steps, MAX_STEPS)
    for seed, state, sequence, _ in trial.iterate_worlds():
        with runs.fixed_global_seed(), guard_call(f"domain {domain.name!r} at seed {seed}"):
            world: Any = domain.restore_environment(state)
            steps_after_end = 0
            cycled = cycle(actions_per_world(sequence.actions, bool(domain.action_names)))
            for t, actions in enumerate(islice(cycled, limit)):
                ended, before = bool(world.ended), world.state()
                when = f"seed {seed}, step {t}: it had ended"
                if ended and not over:
                    restored = domain.restore_environment(
                        add_envelope(domain.name, domain.version, before)
                    )
                    _check_stays_ended(
                        restored, actions, f"{when}, but continues after being restored"
                    )
                if ended:
                    _check_stays_ended(world, actions, f"{when} before, and goes on")
                else:
                    world.step(actions)
                report_progress()
                over, steps_after_end = over + ended, steps_after_end + ended
                if steps_after_end == trial.steps:
                    break
    return None if over else f"no world ended within {limit} steps"


def _check_stays_ended(world: Any, actions: list[Any], otherwise: str) -> None:
    """Raise ClaimViolated if a step changes a world that has ended, or gives a reward."""
    before = world.state()
    if any(world.step(actions)) or not world.ended or world.state() != before:
        raise ClaimViolated(otherwise)
