"""What every domain promises."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from sts.domains.actions import action_space, silence
from sts.domains.conformance.runs import (
    Between,
    Broken,
    Claim,
    Moves,
    Trial,
    at_seed,
    claim,
    compare,
    elsewhere,
    generators,
    play,
    settle,
    settled,
    spread,
)
from sts.domains.drawing import drawing
from sts.domains.protocol import Framed, Worlds
from sts.domains.rewards import WrongRewards
from sts.errors import DamagedData, NewerFormat, StsError

FIRST = ("described", "steps", "rewards")
"""The claims without which no other is tried."""
CLAIMS: dict[str, Claim] = {}
_claim = functools.partial(claim, CLAIMS)


@_claim("its moves, no-op, words and reward unit are what they should be")
def _described(trial: Trial) -> None:
    domain = trial.domain
    space = action_space(domain)
    if domain.moves:
        _names("moves", domain.moves)
    if domain.tokens:
        _names("tokens", domain.tokens)
    if not isinstance(domain.name, str) or not domain.name:
        raise Broken(f"its name is {domain.name!r}")
    noop = np.asarray(domain.noop)
    if noop.shape != space.shape or not space.within(noop):
        of = f"move {domain.noop} of {len(domain.moves)}" if domain.moves else noop.tolist()
        raise Broken(f"its no-op is {of}, which cannot be made")
    unit = domain.reward_unit
    if unit is not None and not (math.isfinite(unit) and unit > 0):
        raise Broken(f"its reward unit is {domain.reward_unit}")
    if not isinstance(domain.guide, str) or domain.sees not in ("observation", "world"):
        raise Broken(f"its guide is no text, or people see {domain.sees!r}")


def _names(what: str, names: tuple[str, ...]) -> None:
    if not names or not all(isinstance(n, str) and n for n in names):
        raise Broken(f"its {what} are {list(names)!r:.80}, expected names")
    if len(set(names)) < len(names):
        raise Broken(f"two of its {what} have one name: {', '.join(names)}")


@_claim("it can be made and stepped, whatever is done")
def _steps(trial: Trial) -> None:
    try:
        trial.play()
    except Broken as error:
        if not isinstance(error.__cause__, WrongRewards):
            raise


@_claim("rewards are whole or real as declared, and one for each participant")
def _rewards(trial: Trial) -> None:
    try:
        trial.play()
    except Broken as error:
        if isinstance(error.__cause__, WrongRewards):
            raise
        return
    for seed, _, made, played in trial.each():
        expected = np.float64 if trial.domain.reward_unit is None else np.int8
        if played.rewards.dtype != expected or played.rewards.shape != made.says.shape:
            found = f"{played.rewards.dtype}{list(played.rewards.shape)}"
            raise Broken(f"seed {seed}: rewards of a run are {found}")


@_claim("a restored world has the state that it was restored from")
def _restores(trial: Trial) -> None:
    for seed, step, state, _, _ in trial.points():
        if trial.domain.restore([state]).states() != [state]:
            raise Broken(f"seed {seed}, step {step}: a world restored tells another state at once")


@_claim("a recording replays, from its start and from its middle")
def _replays(trial: Trial) -> None:
    for seed, step, state, made, played in trial.points():
        compare(seed, step, played, play(trial.domain, state, made, first=step), "replayed,")
        if step:
            with settled():
                found = trial.domain.restore([state]).scene[0]
            if not np.array_equal(found, trial.played[seed].scene[step - 1]):
                raise Broken(f"seed {seed}, step {step}: restored, the scene before it is another")


@_claim("a state goes on identically in a fresh process")
def _fresh(trial: Trial) -> None:
    for point, there in zip(trial.points(), elsewhere(trial).played, strict=True):
        if isinstance(there, str):
            raise Broken(f"seed {point.seed}, step {point.step}: in a fresh process {there}")
        here = play(trial.domain, point.state, point.made, first=point.step)
        compare(point.seed, point.step, here, there, "in a fresh process")


@_claim("the same seed makes the same worlds, in another process too")
def _same_seed(trial: Trial) -> None:
    with settled():
        several = trial.domain.generate(3, seed=0, **trial.settings)
    with settled():
        again = trial.domain.generate(3, seed=0, **trial.settings)
    if several[:1] != [trial.starts[0]] or several != again:
        raise Broken("seed 0: made a second time, its worlds are others")
    there = elsewhere(trial).starts
    for seed, state in enumerate(trial.starts):
        if there[seed] != state:
            found = there[seed]
            how = f": {found}" if isinstance(found, str) else ""
            raise Broken(f"seed {seed}: another process makes another world of it{how}")


@_claim("other seeds make other worlds")
def _other_seeds(trial: Trial) -> str | None:
    if len(set(trial.starts)) == 1:
        raise Broken(f"seeds 0 to {trial.seeds - 1}: all of them are the same world")
    if len(set(trial.domain.generate(trial.seeds, seed=0, **trial.settings))) == 1:
        raise Broken(f"seed 0: its first {trial.seeds} worlds are the same one")
    alike = {play(trial.domain, one, trial.made[0]).scene.tobytes() for one in trial.starts}
    return None if len(alike) > 1 else "their states differ, but played alike they look alike"


@_claim("observing, rendering, asking for state or scene leaves it alone")
def _looking(trial: Trial) -> None:
    participants = range(trial.made[0].says.shape[1])
    roles = tuple(participants)
    looks: dict[str, Callable[[Worlds], object]] = {
        "observing": lambda w: [w.observe((p,), team=(p,), world=False) for p in roles],
        "observing as a team": lambda w: w.observe(roles, team=roles, world=True),
        "asking for the scene": lambda w: w.scene,
        "asking for the rewards": lambda w: w.rewards,
        "asking for the state": lambda w: w.states(),
        "rendering": lambda w: _render(w, None, *participants),
        "asking what a person sees": lambda w: trial.domain.sight(w, 0),
    }
    for doing, look in looks.items():
        twice = _twice(look)
        for seed, state, made, played in trial.each():
            again = play(trial.domain, state, made, between=twice)
            compare(seed, 0, played, again, f"after {doing}")
    for seed, state, made, played in trial.each():
        with settled():
            worlds = trial.domain.restore([state])
            for t, (moves, says) in enumerate(zip(*made, strict=True)):
                settle(t)
                worlds.step(moves[None], says[None])
            if not np.array_equal(worlds.scene[0], played.scene[-1]):
                raise Broken(
                    f"seed {seed}, step {trial.steps - 1}: the scene after it is another where "
                    "none was asked for before"
                )


def _twice(look: Callable[[Worlds], object]) -> Between:
    """Return what looks twice at each step, until that fails, which is another claim's."""
    failed: list[StsError] = []

    def look_twice(_: int, worlds: Worlds) -> None:
        if not failed:
            try:
                look(worlds)
                look(worlds)
            except StsError as error:  # a second one may take as long as the first
                failed.append(error)

    return look_twice


def _render(worlds: Worlds, *whom: int | None) -> None:
    if hasattr(worlds, "frames"):
        for one in whom:
            _frame(worlds, one)


@_claim("everybody may do nothing, at every step")
def _no_op(trial: Trial) -> None:
    for seed, state, made, _ in trial.each():
        still = action_space(trial.domain).full(made.says.shape, trial.domain.noop)
        idle = Moves(still, silence(trial.domain, made.says.shape))
        with at_seed(seed, "where nobody does anything "):
            once = play(trial.domain, state, idle)
        compare(seed, 0, once, play(trial.domain, state, idle), "doing nothing a second time")


@_claim("worlds do not disturb each other")
def _side_by_side(trial: Trial) -> str | None:
    if _drawn_by_all(trial):
        return "it draws from a global random generator"
    moves = np.stack([m.moves for m in trial.made])
    says = np.stack([m.says for m in trial.made])
    with settled():
        worlds = trial.domain.restore(trial.starts)
        for t in range(trial.steps):
            worlds.step(moves[:, t], says[:, t])
            scene, found = worlds.scene, worlds.rewards
            for seed in range(trial.seeds):
                alone = trial.played[seed]
                if not np.array_equal(scene[seed], alone.scene[t]) or not np.array_equal(
                    found[seed], alone.rewards[t]
                ):
                    raise Broken(
                        f"seed {seed}, step {t}: beside {trial.seeds - 1} others of its batch it "
                        "goes otherwise than alone"
                    )
    for seed, state, made, played in trial.each():
        again = play(trial.domain, state, made, between=_disturbed(trial, seed))
        compare(seed, 0, played, again, "with another world made and stepped meanwhile")
    return None


def _disturbed(trial: Trial, seed: int) -> Between:
    """Return what makes another world halfway, and steps it from then on."""
    other = (seed + 1) % trial.seeds
    beside: list[Worlds] = []

    def disturb(t: int, _: Worlds) -> None:
        if t == trial.middle:
            beside.append(trial.domain.restore([trial.starts[other]]))
        for worlds in beside:
            worlds.step(trial.made[other].moves[None, t], trial.made[other].says[None, t])

    return disturb


def _drawn_by_all(trial: Trial) -> bool:
    try:
        _own_randomness(trial)
    except Broken:
        return True
    return False


@_claim("global random generators neither move it nor are moved by it")
def _own_randomness(trial: Trial) -> None:
    for seed, state, made, played in trial.each():
        if trial.start(seed, luck=1) != state:
            raise Broken(f"seed {seed}: with the global random generators set anew it is another")
        again = play(trial.domain, state, made, luck=1)
        compare(seed, 0, played, again, "with the global random generators set anew")
        with settled():
            before = generators()
            worlds = trial.domain.restore(trial.domain.generate(1, seed=seed, **trial.settings))
            if generators() != before:
                raise Broken(f"seed {seed}: as it begins it moves the global random generators")
            for t, (moves, says) in enumerate(zip(*made, strict=True)):
                worlds.step(moves[None], says[None])
                if generators() != before:
                    raise Broken(f"seed {seed}, step {t}: it moves the global random generators")


@_claim("damaged, truncated and other bytes are refused by name")
def _foreign(trial: Trial) -> None:
    state = trial.halfway[0]
    others = {"nothing at all": b"", "other bytes": b"not a state of anything", "text": b"{}"}
    for cut in spread(len(state), 5)[:-1]:
        others[f"one cut to {cut} bytes"] = state[:cut]
    others["one with a byte too many"] = state + b"\0"
    for at in spread(len(state), 12):
        flipped = bytearray(state)
        flipped[at] ^= 0x10
        others[f"one whose byte {at} is altered"] = bytes(flipped)
    check_refused(trial, others)


def check_refused(trial: Trial, others: Mapping[str, bytes]) -> None:
    """Raise Broken if bytes, each by what they are, are not refused as states."""
    for what, raw in others.items():
        try:
            trial.domain.restore([raw])
        except (DamagedData, NewerFormat):
            continue
        except Exception as error:
            raise Broken(f"{what}, taken for a state, ends in {type(error).__name__}") from error
        raise Broken(f"{what} is taken for a state")


@_claim("scenes fit their picture, frames are uint8 of one size")
def _pictured(trial: Trial) -> None:
    for seed, start, made, played in trial.each():
        picture = trial.domain.picture(start)
        people = made.says.shape[1]
        if len(picture.participants) != people:
            raise Broken(f"seed {seed}: its picture has other than {people} participants")
        _names("picture's names", picture.names)
        form = trial.domain.form(start)
        if form != picture.form:
            raise Broken(f"seed {seed}: its form is {form}, and its picture's {picture.form}")
        if played.scene.shape[1] != form.objects or played.scene.max() >= form.bound:
            raise Broken(f"seed {seed}: a scene does not fit its picture")
        if picture.kind == "frames":
            _frames(trial, seed, (picture.height, picture.width, 3))
            if trial.domain.sees == "observation":
                first = trial.domain.restore([trial.starts[0]])
                for role in range(people):
                    size = _frame(first, role).shape
                    _alike(trial, seed, size, f"the sight of participant {role}", role)
        elif not drawing(trial.domain):
            raise Broken("its scenes are drawn, and it has no drawing")
        lines = trial.domain.draw(picture, played.scene[0], (0,))
        if len({len(line) for line in lines}) != 1:
            raise Broken(f"seed {seed}: drawn as text, its lines are not of one width")
        json.dumps(trial.domain.view(start))


def _frames(trial: Trial, seed: int, size: tuple[int, ...]) -> None:
    """Frames are of the size of seed 0's, and a world that was restored looks as it did."""
    first = trial.domain.picture(trial.starts[0])
    if size[:2] != (first.height, first.width):
        raise Broken(f"seed {seed}: frames are {list(size)}, those of seed 0 are of another size")
    _alike(trial, seed, size, "a frame")
    half, seen = trial.middle, []

    def keep(t: int, worlds: Worlds) -> None:
        if t == half:
            seen.append(_frame(worlds))

    play(trial.domain, trial.starts[seed], trial.made[seed], between=keep)
    with settled():
        restored = _frame(trial.domain.restore([trial.halfway[seed]]))
    if not np.array_equal(restored, seen[0]):
        raise Broken(f"seed {seed}, step {half}: restored, it looks otherwise")


def _alike(
    trial: Trial, seed: int, size: tuple[int, ...], what: str, role: int | None = None
) -> None:
    """What a judge or a role sees is uint8 of one size, and the same when it is looked at again."""

    def look(t: int, worlds: Worlds) -> None:
        frame, when = _frame(worlds, role), f"seed {seed}, step {t}: {what}"
        if frame.dtype != np.uint8 or frame.shape != size:
            found = f"{frame.dtype}{list(frame.shape)}"
            raise Broken(f"{when} is {found}, expected {list(size)}")
        if not np.array_equal(_frame(worlds, role), frame):
            raise Broken(f"{when} is another when it is rendered again")

    play(trial.domain, trial.starts[seed], trial.made[seed], between=look)


def _frame(worlds: Worlds, role: int | None = None) -> NDArray[np.uint8]:
    framed: Framed = worlds  # type: ignore[assignment]
    return framed.frames(role)[0]
