"""Claims that every domain has to satisfy."""

import functools
import json
import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from sts.domains.actions import action_space, silent_utterances
from sts.domains.conformance import runs
from sts.domains.conformance.runs import (
    ActionSequence,
    BeforeStep,
    Claim,
    ClaimViolated,
    ConformanceRun,
)
from sts.domains.drawing import read_drawing
from sts.domains.protocol import RenderableWorlds, Worlds
from sts.domains.rewards import InvalidRewards
from sts.errors import DamagedData, NewerFormat, StsError

BASIC_CLAIMS = ("described", "steps", "rewards")
"""Claims whose failure skips all others."""
CLAIMS: dict[str, Claim] = {}
_register = functools.partial(runs.register_claim, CLAIMS)


@_register("described", "its moves, no-op, tokens and reward unit are valid")
def _check_description(trial: ConformanceRun) -> None:
    domain = trial.domain
    space = action_space(domain)
    if domain.action_names:
        _check_names("action_names", domain.action_names)
    if domain.tokens:
        _check_names("tokens", domain.tokens)
    if not isinstance(domain.name, str) or not domain.name:
        raise ClaimViolated(f"expected a name, found {domain.name!r}")
    noop = np.asarray(domain.noop)
    if noop.shape != space.shape or not space.is_within_bounds(noop):
        of = (
            f"move {domain.noop} of {len(domain.action_names)}"
            if domain.action_names
            else noop.tolist()
        )
        raise ClaimViolated(f"its no-op is not a valid action: {of}")
    unit = domain.reward_unit
    if unit is not None and not (math.isfinite(unit) and unit > 0):
        raise ClaimViolated(f"expected a positive reward unit, found {domain.reward_unit}")
    if not isinstance(domain.guide, str) or domain.sees not in ("observation", "world"):
        raise ClaimViolated(
            "expected a guide that is text and sees as observation or world, found "
            f"{type(domain.guide).__name__} and {domain.sees!r}"
        )


def _check_names(noun: str, names: tuple[str, ...]) -> None:
    if not names or not all(isinstance(n, str) and n for n in names):
        raise ClaimViolated(f"its {noun} are {list(names)!r:.80}, expected names")
    if len(set(names)) < len(names):
        raise ClaimViolated(f"two of its {noun} have one name: {', '.join(names)}")


@_register("steps", "it can be generated and stepped with any actions")
def _check_stepping(trial: ConformanceRun) -> None:
    try:
        trial.play_all()
    except ClaimViolated as error:
        if not isinstance(error.__cause__, InvalidRewards):
            raise


@_register("rewards", "rewards are whole or real as declared, and one for each player")
def _check_rewards(trial: ConformanceRun) -> None:
    try:
        trial.play_all()
    except ClaimViolated as error:
        if isinstance(error.__cause__, InvalidRewards):
            raise
        return
    for seed, _, sequence, played in trial.iterate_worlds():
        expected = np.float64 if trial.domain.reward_unit is None else np.int8
        if played.rewards.dtype != expected or played.rewards.shape != sequence.utterances.shape:
            shape = list(sequence.utterances.shape)
            raise ClaimViolated(
                f"seed {seed}: expected rewards {np.dtype(expected)}{shape}, found "
                f"{played.rewards.dtype}{list(played.rewards.shape)}"
            )


@_register("restores", "a restored world has the state that it was restored from")
def _check_restoring(trial: ConformanceRun) -> None:
    for seed, step, state, _, _ in trial.iterate_points():
        if trial.domain.restore([state]).states() != [state]:
            raise ClaimViolated(f"seed {seed}, step {step}: a restored world has another state")


@_register("replays", "a recording replays, from its start and from its middle")
def _check_replay(trial: ConformanceRun) -> None:
    for seed, step, state, sequence, played in trial.iterate_points():
        again = runs.play(trial.domain, state, sequence, first=step)
        runs.compare(seed, step, played, again, "replayed,")
        if step:
            with runs.fixed_global_seed():
                scene = trial.domain.restore([state]).scene[0]
            if not np.array_equal(scene, trial.played[seed].scene[step - 1]):
                raise ClaimViolated(f"seed {seed}, step {step}: a restored world has another scene")


@_register("fresh", "a restored state continues identically in a fresh process")
def _check_fresh_process(trial: ConformanceRun) -> None:
    outcomes = runs.run_in_fresh_process(trial).played
    for point, fresh in zip(trial.iterate_points(), outcomes, strict=True):
        if isinstance(fresh, str):
            raise ClaimViolated(f"seed {point.seed}, step {point.step}: in a fresh process {fresh}")
        here = runs.play(trial.domain, point.state, point.sequence, first=point.step)
        runs.compare(point.seed, point.step, here, fresh, "in a fresh process")


@_register("same-seed", "the same seed makes the same worlds, in another process too")
def _check_same_seed(trial: ConformanceRun) -> None:
    with runs.fixed_global_seed():
        several = trial.domain.generate(3, seed=0, **trial.settings)
    with runs.fixed_global_seed():
        again = trial.domain.generate(3, seed=0, **trial.settings)
    if several[:1] != [trial.starts[0]] or several != again:
        raise ClaimViolated("seed 0: generated again, its worlds differ")
    fresh_starts = runs.run_in_fresh_process(trial).starts
    for seed, state in enumerate(trial.starts):
        if fresh_starts[seed] != state:
            other = fresh_starts[seed]
            how = f": {other}" if isinstance(other, str) else ""
            raise ClaimViolated(f"seed {seed}: another process generates another world{how}")


@_register("other-seeds", "other seeds make other worlds")
def _check_other_seeds(trial: ConformanceRun) -> str | None:
    if len(set(trial.starts)) == 1:
        raise ClaimViolated(f"seeds 0 to {trial.seeds - 1} generate the same world")
    if len(set(trial.domain.generate(trial.seeds, seed=0, **trial.settings))) == 1:
        raise ClaimViolated(f"seed 0: its first {trial.seeds} worlds are the same")
    note = "the states differ, but the same actions give the same scenes"
    outcomes = (runs.play(trial.domain, start, trial.sequences[0]) for start in trial.starts)
    return None if len({outcome.scene.tobytes() for outcome in outcomes}) > 1 else note


@_register("looking", "observing, rendering and reading state or scene have no side effects")
def _check_observing(trial: ConformanceRun) -> None:
    players = tuple(range(trial.sequences[0].utterances.shape[1]))
    shown_to = (None, *players)
    looks: dict[str, Callable[[Worlds], object]] = {
        "observing": lambda w: [w.observe((p,), team=(p,), world=False) for p in players],
        "observing as a team": lambda w: w.observe(players, team=players, world=True),
        "reading the scene": lambda w: w.scene,
        "reading the rewards": lambda w: w.rewards,
        "serialising the state": lambda w: w.states(),
        "rendering": lambda w: [_render_frame(w, p) for p in shown_to if hasattr(w, "frames")],
        "reading the view of a human player": lambda w: trial.domain.player_view(w, 0),
    }
    for doing, look in looks.items():
        twice = _call_twice(look)
        for seed, state, sequence, played in trial.iterate_worlds():
            again = runs.play(trial.domain, state, sequence, between=twice)
            runs.compare(seed, 0, played, again, f"after {doing}")
    for seed, state, sequence, played in trial.iterate_worlds():
        with runs.fixed_global_seed():
            worlds = trial.domain.restore([state])
            for t, (actions, utterances) in enumerate(zip(*sequence, strict=True)):
                runs.seed_global_generators(t)
                worlds.step(actions[None], utterances[None])
            if not np.array_equal(worlds.scene[0], played.scene[-1]):
                raise ClaimViolated(
                    f"seed {seed}, step {trial.steps - 1}: the scene after it differs if no "
                    "earlier scene was read"
                )


def _call_twice(look: Callable[[Worlds], object]) -> BeforeStep:
    """Return a hook that calls `look` twice per step, until it fails, which other claims test."""
    failed: list[StsError] = []

    def look_twice(_: int, worlds: Worlds) -> None:
        if not failed:
            try:
                look(worlds)
                look(worlds)
            except StsError as error:  # do not call it again: it may be slow to fail
                failed.append(error)

    return look_twice


@_register("no-op", "all players can take the no-op at every step")
def _check_no_op(trial: ConformanceRun) -> None:
    for seed, state, sequence, _ in trial.iterate_worlds():
        still = action_space(trial.domain).fill(sequence.utterances.shape, trial.domain.noop)
        idle = ActionSequence(still, silent_utterances(trial.domain, sequence.utterances.shape))
        with runs.name_seed_in_errors(seed, "with no-ops only, "):
            once = runs.play(trial.domain, state, idle)
        again = runs.play(trial.domain, state, idle)
        runs.compare(seed, 0, once, again, "with no-ops only, a second time")


@_register("side-by-side", "worlds are independent of each other")
def _check_independence(trial: ConformanceRun) -> str | None:
    if _uses_global_generators(trial):
        return "it uses a global random generator"
    actions = np.stack([m.actions for m in trial.sequences])
    utterances = np.stack([m.utterances for m in trial.sequences])
    with runs.fixed_global_seed():
        worlds, order = trial.domain.restore(trial.starts), np.arange(trial.seeds)
        for t in range(trial.steps):
            if t == trial.middle:  # goes on in another order, the first ones dropped
                order = order[trial.seeds // 2 :][::-1]
                worlds = worlds.select(order)
            worlds.step(actions[order, t], utterances[order, t])
            scene, rewards = worlds.scene, worlds.rewards
            for row, seed in enumerate(order.tolist()):
                solo_run = trial.played[seed]
                same_scene = np.array_equal(scene[row], solo_run.scene[t])
                if not same_scene or not np.array_equal(rewards[row], solo_run.rewards[t]):
                    raise ClaimViolated(
                        f"seed {seed}, step {t}: in a batch with {trial.seeds - 1} others it "
                        "differs from alone"
                    )
    for seed, state, sequence, played in trial.iterate_worlds():
        again = runs.play(trial.domain, state, sequence, between=_step_another_world(trial, seed))
        runs.compare(seed, 0, played, again, "while another world is stepped,")
    return None


def _step_another_world(trial: ConformanceRun, seed: int) -> BeforeStep:
    """Return a hook that restores another world halfway, and steps it from then on."""
    other = (seed + 1) % trial.seeds
    other_worlds: list[Worlds] = []

    def disturb(t: int, _: Worlds) -> None:
        if t == trial.middle:
            other_worlds.append(trial.domain.restore([trial.starts[other]]))
        for worlds in other_worlds:
            worlds.step(
                trial.sequences[other].actions[None, t], trial.sequences[other].utterances[None, t]
            )

    return disturb


def _uses_global_generators(trial: ConformanceRun) -> bool:
    try:
        _check_randomness(trial)
    except ClaimViolated:
        return True
    return False


@_register("own-randomness", "it neither uses nor changes the global random generators")
def _check_randomness(trial: ConformanceRun) -> None:
    for seed, state, sequence, played in trial.iterate_worlds():
        if trial.generate_world(seed, luck=1) != state:
            raise ClaimViolated(
                f"seed {seed}: it depends on the seed of the global random generators"
            )
        again = runs.play(trial.domain, state, sequence, luck=1)
        runs.compare(seed, 0, played, again, "with another seed of the global random generators,")
        with runs.fixed_global_seed():
            before = runs.global_generator_state()
            worlds = trial.domain.restore(trial.domain.generate(1, seed=seed, **trial.settings))
            if runs.global_generator_state() != before:
                raise ClaimViolated(f"seed {seed}: generating it uses the global random generators")
            for t, (actions, utterances) in enumerate(zip(*sequence, strict=True)):
                worlds.step(actions[None], utterances[None])
                if runs.global_generator_state() != before:
                    raise ClaimViolated(
                        f"seed {seed}, step {t}: it uses the global random generators"
                    )


@_register(
    "foreign", "damaged, truncated and other bytes are rejected with DamagedData or NewerFormat"
)
def _check_other_bytes(trial: ConformanceRun) -> None:
    state = trial.halfway[0]
    foreign_states = {
        "nothing at all": b"",
        "other bytes": b"not a state of anything",
        "text": b"{}",
    }
    for cut in runs.evenly_spaced(len(state), 5)[:-1]:
        foreign_states[f"a state cut to {cut} bytes"] = state[:cut]
    foreign_states["a state with an extra byte"] = state + b"\0"
    for at in runs.evenly_spaced(len(state), 12):
        flipped = bytearray(state)
        flipped[at] ^= 0x10
        foreign_states[f"a state with byte {at} altered"] = bytes(flipped)
    check_rejected(trial, foreign_states)


def check_rejected(trial: ConformanceRun, others: Mapping[str, bytes]) -> None:
    """Raise ClaimViolated if any byte string, keyed by description, is accepted as a state."""
    for description, raw in others.items():
        try:
            trial.domain.restore([raw])
        except (DamagedData, NewerFormat):
            continue
        except Exception as error:
            raise ClaimViolated(f"restoring {description} raises {type(error).__name__}") from error
        raise ClaimViolated(f"{description} is accepted as a state")


@_register("pictured", "scenes fit their layout, frames are uint8 of one size")
def _check_pictures(trial: ConformanceRun) -> None:
    for seed, start, sequence, played in trial.iterate_worlds():
        layout = trial.domain.scene_layout(start)
        people = sequence.utterances.shape[1]
        if len(layout.players) != people:
            count = len(layout.players)
            raise ClaimViolated(
                f"seed {seed}: expected a picture of {people} players, found {count}"
            )
        _check_names("picture's names", layout.names)
        form = trial.domain.scene_format(start)
        if form != layout.format:
            raise ClaimViolated(
                f"seed {seed}: its form is {form}, that of its picture {layout.format}"
            )
        if played.scene.shape[1] != form.objects or played.scene.max() >= form.bound:
            raise ClaimViolated(f"seed {seed}: a scene does not fit its picture")
        if layout.kind == "frames":
            _check_frames(trial, seed, (layout.height, layout.width, 3))
            if trial.domain.sees == "observation":
                first = trial.domain.restore([trial.starts[0]])
                for player in range(people):
                    size = _render_frame(first, player).shape
                    _check_frame_size(trial, seed, size, f"the sight of player {player}", player)
        elif not read_drawing(trial.domain):
            raise ClaimViolated("its scenes are drawn, but it has no drawing")
        lines = trial.domain.draw_text(layout, played.scene[0], (0,))
        if len({len(line) for line in lines}) != 1:
            raise ClaimViolated(f"seed {seed}: expected lines of equal width from draw")
        json.dumps(trial.domain.describe_state(start))


def _check_frames(trial: ConformanceRun, seed: int, size: tuple[int, ...]) -> None:
    """Check that frames have the size of seed 0, and that a restored world renders the same."""
    first = trial.domain.scene_layout(trial.starts[0])
    if size[:2] != (first.height, first.width):
        raise ClaimViolated(
            f"seed {seed}: expected frames of {first.height} x {first.width} as for seed 0, found "
            f"{size[0]} x {size[1]}"
        )
    _check_frame_size(trial, seed, size, "a frame")
    half, frames = trial.middle, []

    def keep(t: int, worlds: Worlds) -> None:
        if t == half:
            frames.append(_render_frame(worlds))

    runs.play(trial.domain, trial.starts[seed], trial.sequences[seed], between=keep)
    with runs.fixed_global_seed():
        restored = _render_frame(trial.domain.restore([trial.halfway[seed]]))
    if not np.array_equal(restored, frames[0]):
        raise ClaimViolated(f"seed {seed}, step {half}: a restored world renders another frame")


def _check_frame_size(
    trial: ConformanceRun, seed: int, size: tuple[int, ...], noun: str, player: int | None = None
) -> None:
    """Check that frames are uint8 of one size, and the same when rendered again."""

    def look(t: int, worlds: Worlds) -> None:
        frame, when = _render_frame(worlds, player), f"seed {seed}, step {t}: {noun}"
        if frame.dtype != np.uint8 or frame.shape != size:
            description = f"{frame.dtype}{list(frame.shape)}"
            raise ClaimViolated(f"{when} is {description}, expected {list(size)}")
        if not np.array_equal(_render_frame(worlds, player), frame):
            raise ClaimViolated(f"{when} differs when it is rendered again")

    runs.play(trial.domain, trial.starts[seed], trial.sequences[seed], between=look)


def _render_frame(worlds: Worlds, player: int | None = None) -> NDArray[np.uint8]:
    framed: RenderableWorlds = worlds  # type: ignore[assignment]
    return framed.frames(player)[0]
