"""What a domain promises besides where it is made of an `Environment`."""

from __future__ import annotations

import contextlib
import functools
import pickletools
from itertools import cycle, islice, zip_longest
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sts.domains.adapted import Adapted, handed
from sts.domains.conformance.batches import check_refused
from sts.domains.conformance.runs import Broken, Claim, Trial, at_seed, claim, settled
from sts.domains.envelope import unwrap, wrap
from sts.domains.environment import Environment
from sts.errors import DamagedData, NewerFormat, StsError
from sts.jobs.deadlines import guarded, progress

LONG = 1000
"""Steps within which most worlds that end have ended."""
_FORMAT = 4  # where the number of its format stands in an envelope
CLAIMS: dict[str, Claim] = {}
_claim = functools.partial(claim, CLAIMS)


def _adapted(trial: Trial) -> Adapted:
    return cast(Adapted, trial.domain)


@_claim("states of another domain, version or format are refused")
def _versions(trial: Trial) -> None:
    domain = _adapted(trial)
    if not isinstance(domain.version, str) or not domain.version:
        raise Broken(f"its version is {domain.version!r}")
    state = trial.starts[0]
    own = unwrap(domain.name, domain.version, state)
    newer = bytearray(state)
    newer[_FORMAT : _FORMAT + 2] = (2**16 - 1).to_bytes(2, "little")
    for raw, word in (
        (wrap("another-domain", domain.version, own), "another-domain"),
        (wrap(domain.name, "another-version", own), "another-version"),
        (bytes(newer), "65535"),
    ):
        try:
            domain.restore([raw])
        except (DamagedData, NewerFormat) as error:
            if word not in str(error):
                raise Broken(f"a state of {word} is refused without a word of it") from error
            continue
        raise Broken(f"a state of {word} is taken for its own")


@_claim("bytes that are no state of the environment are refused")
def _garbage(trial: Trial) -> None:
    domain = _adapted(trial)
    own = unwrap(domain.name, domain.version, trial.halfway[0])
    others = {"nothing": b"", "other bytes": b"not a state", "half a state": own[: len(own) // 2]}
    wrapped = {
        f"{what}, for which restore must raise a ValueError,": wrap(
            domain.name, domain.version, raw
        )
        for what, raw in others.items()
    }
    check_refused(trial, wrapped)


@_claim("a state is no pickle, which would run code when read")
def _no_pickle(trial: Trial) -> None:
    """States are no pickles, which would run code when they are read.

    One state may be read as a pickle by chance, where it is a few bytes long; not each of them.
    """
    domain = _adapted(trial)
    states = (unwrap(domain.name, domain.version, point.state) for point in trial.points())
    if all(_pickled(own) for own in states):
        raise Broken("its states are pickles")


def _pickled(own: bytes) -> bool:
    """Whether all of it can be read as a pickle, of any protocol."""
    last = -1
    try:
        for _, _, at in pickletools.genops(own):
            last = at or 0
    except Exception:  # whatever it finds that is no pickle
        return False
    return last == len(own) - 1


@_claim("a world that has been played begins like a new one")
def _begins_anew(trial: Trial) -> None:
    domain = _adapted(trial)
    used = domain.environment(trial.starts[0])
    course = handed(trial.made[0].moves, bool(domain.moves))
    with guarded(f"domain {domain.name!r} cannot begin again"):
        for moves in course:
            used.step(moves)
            progress()
    found, wanted = (_begun(trial, one, course) for one in (used, domain.new()))
    for t, (one, other) in enumerate(zip_longest(found, wanted)):
        if one != other:
            when = f"after step {t - 1}" if t else "as it begins"
            raise Broken(
                "reset with one seed, a world that has been played differs from a new one, " + when
            )


def _begun(trial: Trial, world: Environment, course: list[list[Any]]) -> list[object]:
    """Return state and digest of a world that begins, and after each step until one fails."""
    told: list[object] = []
    with settled():
        with guarded(f"domain {_adapted(trial).name!r} cannot begin"):
            world.reset(7, **trial.settings)
            told.append((world.state(), world.digest()))
        with contextlib.suppress(StsError), guarded("another claim's"):
            for moves in course:
                world.step(moves)
                told.append((world.state(), world.digest()))
                progress()
    return told


@_claim("a setting that it has not is refused")
def _settings(trial: Trial) -> None:
    nonsense: dict[str, Any] = {"setting_that_nobody_has": 1}
    try:
        trial.domain.generate(1, seed=0, **trial.settings, **nonsense)
    except StsError:
        return
    raise Broken("a setting that it cannot have is taken without a word")


@_claim("observations have fixed names, shapes and types")
def _observes(trial: Trial) -> None:
    """Every participant sees the same names, shapes and types at every step of every world.

    A type is one in general, such as int or float, of however many bits.
    """
    domain = _adapted(trial)
    wanted: dict[str, str] = {}
    for seed, state, made, _ in trial.each():
        with settled():
            world = domain.environment(state)
            for t, moves in enumerate(handed(made.moves, bool(domain.moves))):
                for role in range(len(domain.participants)):
                    when = f"seed {seed}, step {t}: participant {role}"
                    seen = _seen(world, role, when)
                    again = _seen(world, role, when)
                    found = {key: _typed(value) for key, value in seen.items()}
                    wanted = wanted or found
                    if found != wanted:
                        raise Broken(f"{when} sees {found}, expected {wanted}")
                    for key, value in seen.items():
                        if value.dtype.kind == "O":
                            raise Broken(f"{when} sees {key} as objects, expected an array")
                        if value.tobytes() != again[key].tobytes():
                            raise Broken(f"{when} sees another {key} when it looks again")
                with guarded(f"domain {domain.name!r} failed to step at step {t}"):
                    world.step(moves)


def _typed(value: NDArray[Any]) -> str:
    return f"{value.dtype.name.rstrip('0123456789')}{list(value.shape)}"


def _seen(world: Environment, role: int, when: str) -> dict[str, NDArray[Any]]:
    with guarded(when):
        return {key: np.array(value) for key, value in world.observe(role).items()}


@_claim("what it asks for is text")
def _instructs(trial: Trial) -> None:
    for seed, state, _, _ in trial.each():
        with at_seed(seed):
            text = _adapted(trial).instruction(state)
        if not isinstance(text, str):
            raise Broken(f"seed {seed}: its instruction is {text!r:.60}, expected text")


@_claim("moments that look different have different digests")
def _digests(trial: Trial) -> str | None:
    domain = _adapted(trial)
    for seed, state, made, _ in trial.each():
        seen: dict[bytes, tuple[int, bytes]] = {}
        with settled():
            worlds = domain.restore([state])
            for t in range(trial.steps):
                worlds.step(made.moves[None, t], made.says[None, t])
                scene = worlds.scene[0].tobytes()
                try:
                    frame = worlds.frames()[0].tobytes()
                except StsError:  # another claim's
                    return "it does not render"
                when, looked = seen.setdefault(scene, (t, frame))
                if looked != frame:
                    raise Broken(
                        f"seed {seed}, step {t}: it looks otherwise than after step {when}, and "
                        "has the same digest"
                    )
    return None


@_claim("a world that has ended stays as it is and rewards nothing")
def _ends(trial: Trial) -> str | None:
    domain = _adapted(trial)
    if not hasattr(domain.environment(trial.starts[0]), "ended"):
        return "it has no attribute `ended`"
    over, limit = 0, max(2 * trial.steps, LONG)
    for seed, state, made, _ in trial.each():
        with settled(), guarded(f"domain {domain.name!r} at seed {seed}"):
            world: Any = domain.environment(state)
            stays = 0
            every = cycle(handed(made.moves, bool(domain.moves)))
            for t, moves in enumerate(islice(every, limit)):
                ended, before = bool(world.ended), world.state()
                if ended and not over:
                    _stays(
                        domain.environment(wrap(domain.name, domain.version, before)),
                        moves,
                        f"seed {seed}, step {t}: it had ended before, and restored it goes on",
                    )
                if ended:
                    _stays(world, moves, f"seed {seed}, step {t}: it had ended before, and goes on")
                else:
                    world.step(moves)
                progress()
                over, stays = over + ended, stays + ended
                if stays == trial.steps:
                    break
    return None if over else f"no world came to its end within {limit} steps"


def _stays(world: Any, moves: list[Any], otherwise: str) -> None:
    """Raise Broken where a world that has ended does anything."""
    before = world.state()
    if any(world.step(moves)) or not world.ended or world.state() != before:
        raise Broken(otherwise)
