"""Demonstrations: a teacher does what categories ask, in worlds of the training split.

The teacher first plays each world uninstructed. A category proposes a step of that episode and an
instruction. The episode is played again: the teacher gets the instruction at that step, and what it
does is kept up to the step at which the category's rule reports success. Until the takeover, the
other players repeat what they did. After it they stand still if the category's partners do;
otherwise they continue to repeat it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.agents.info import AgentInfo, isolation_key
from sts.domains import Domain, action_space, is_third_party, load_domain, silent_utterances
from sts.engine.lockstep import play_episodes
from sts.engine.sampling import ENGINE_DRAWS, StepDraws
from sts.engine.session import Actions, Team, check_domain, open_session
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError, StsError
from sts.jobs.pool import create_pool
from sts.jobs.tasks import run_tasks
from sts.numerics.draws import random_uniform
from sts.numerics.streams import stream, streams
from sts.provenance import collect_provenance
from sts.trajectories.record import check_replays, generate_states, list_missions
from sts.trajectories.trajectory import TEST_SHARE, Player, Trajectory, get_split
from sts_scenarios.mining.building import fill_template
from sts_scenarios.mining.choice import Pick
from sts_scenarios.rules import categories as registry
from sts_scenarios.rules.category import Candidate, Category

SPARE_STEPS = 12
"""Steps of the first episode beyond the longest context and horizon, so that contexts differ."""
SETTER = {"kind": "script", "name": "sts demonstrate"}
"""The setter of all instructions, in the provenance of the demonstrations."""
FIRST_BLOCK, MAX_BLOCK, WORLDS_PER_TASK = 16, 512, 32
"""Worlds between which the counts that balance the categories are updated, and of one task."""


class Plan(NamedTuple):
    """Settings that all demonstrations of a call share."""

    teacher: str  # a name, or `module:Class`
    fingerprint: str
    domain: str
    categories: tuple[str, ...]  # names, or `module:NAME`
    steps: int  # of an uninstructed episode
    seed: int
    noise: float  # probability of a random move in place of the teacher's


class World(NamedTuple):
    """A world of the training split; `number` is its place among the generated ones."""

    number: int
    hash: str
    state: bytes


class Task(NamedTuple):
    """Worlds that are played in one batch.

    `asked` is how often each category was asked before this block of worlds, and `share` the number
    of worlds of the block for each category.
    """

    plan: Plan
    worlds: tuple[World, ...]
    asked: Mapping[str, int]
    share: float


class Outcome(NamedTuple):
    """The category that was asked in a world, "" if none proposed, and what succeeded."""

    number: int
    category: str
    trajectory: Trajectory | None


class _Request(NamedTuple):
    """An instruction to the player of a candidate step of an uninstructed episode."""

    world: World
    first: Trajectory
    category: Category
    candidate: Candidate
    instruction: Instruction


def make_plan(
    teacher: str, info: AgentInfo, domain: str, names: Sequence[str], *, seed: int, noise: float
) -> Plan:
    """Make the plan of demonstrations by a teacher; `names` () stands for all categories.

    `info` are the properties of `teacher`, as `load_infos` returns them.

    Raises:
      ArgumentError: a value is out of range, or the teacher or a category is for another domain.
    """
    check_domain(info, domain)
    if not 0 <= noise <= 1:
        raise ArgumentError(f"expected --noise of 0 to 1, found {noise:g}")
    installed = [] if names else registry.installed_categories([domain]).values()
    unique = tuple(dict.fromkeys(names or [c.name for c in installed if not c.superseded]))
    known = [registry.load_category(name) for name in unique]
    for category in known:
        if category.domain != domain:
            raise ArgumentError(
                f"category {category.name!r} is of {category.domain}; expected one of {domain}"
            )
    if not known:
        raise ArgumentError(f"no category of {domain} is installed; add --category module:NAME")
    steps = SPARE_STEPS + max(category.context + category.horizon for category in known)
    return Plan(teacher, info.fingerprint, domain, unique, steps, seed, noise)


def demonstrate(
    plan: Plan,
    count: int,
    settings: dict[str, Any],
    *,
    workers: int,
    on_recovery: Callable[[str, StsError], None] = lambda agent, error: None,
) -> Iterator[list[Outcome]]:
    """Yield the outcomes in `count` training worlds, in order, in several lists.

    They are the same whatever the number of processes. Of the categories that propose an
    instruction in a world, one that was asked rarely so far is preferred.

    Args:
      plan: see `make_plan`.
      count: number of worlds.
      settings: passed to the domain's `generate`.
      workers: processes; one is this process, as for `sts.trajectories.record.record_all`.
      on_recovery: called with the teacher and an error that a retry recovered from.

    Raises:
      ArgumentError: no work is asked for, the settings are invalid, or there are no named moves for
        the noise.
      StsError: no world is of the training split, or the teacher or a category failed.
    """
    asked, start = Counter[str](), 0
    isolated = is_third_party(plan.domain)
    with create_pool(workers, -(-count // WORLDS_PER_TASK), isolated=isolated) as pool:
        worlds = pool.run_task(generate_worlds, plan, count, settings)
        while start < len(worlds):
            block = worlds[start : start + min(max(FIRST_BLOCK, start), MAX_BLOCK)]
            start += len(block)
            share = len(block) / len(plan.categories)
            parts = (block[i : i + WORLDS_PER_TASK] for i in range(0, len(block), WORLDS_PER_TASK))
            tasks = [Task(plan, tuple(part), dict(asked), share) for part in parts]
            outcomes: list[Outcome] = []
            for task, result in run_tasks(
                tasks,
                perform_task,
                split=lambda task: [task._replace(worlds=(world,)) for world in task.worlds],
                owner=lambda task: task.plan.teacher,
                executor=pool,
                isolation_key=lambda task: isolation_key(task.plan.teacher),
                on_recovery=lambda task, error: on_recovery(task.plan.teacher, error),
            ):
                if isinstance(result, StsError):
                    raise result.with_prefix(f"{plan.teacher}, world {task.worlds[0].number}")
                outcomes += result
            asked.update(outcome.category for outcome in outcomes)
            yield sorted(outcomes, key=lambda outcome: outcome.number)


def generate_worlds(plan: Plan, count: int, settings: dict[str, Any]) -> list[World]:
    """Generate `count` worlds of the training split, or fewer if the domain has few of them."""
    domain = load_domain(plan.domain)
    if plan.noise and not domain.action_names:
        raise ArgumentError(f"expected no --noise, as {plan.domain} has no named moves")
    total = count + count // (TEST_SHARE - 1) + 4 * isqrt(max(count, 0))
    states = generate_states(plan.domain, total, plan.steps, plan.seed, settings)
    worlds = [World(n, domain.world_id(state), state) for n, state in enumerate(states)]
    training = [world for world in worlds if get_split(world.hash) == "train"]
    if not training:
        raise StsError(
            f"none of {total} worlds of {plan.domain} is of the training split; expected other "
            "settings"
        )
    return training[:count]


def perform_task(task: Task) -> list[Outcome]:
    """Play the worlds of a task; return their outcomes, in any order."""
    plan = task.plan
    teacher = agents.load_planned(plan.teacher, plan.fingerprint)
    known = [registry.load_category(name) for name in plan.categories]
    firsts = _play_uninstructed(teacher, task)
    chosen = [
        _choose_request(task, known, world, first)
        for world, first in zip(task.worlds, firsts, strict=True)
    ]
    requests = [request for request in chosen if request is not None]
    silent = {world.number for world in task.worlds} - {r.world.number for r in requests}
    outcomes = [Outcome(number, "", None) for number in silent]
    for player in sorted({request.candidate.player for request in requests}):
        group = [request for request in requests if request.candidate.player == player]
        outcomes += _play_instructed(teacher, plan, group, player)
    agents.check_unchanged(teacher)
    for trajectory in [outcome.trajectory for outcome in outcomes if outcome.trajectory][:1]:
        check_replays(trajectory.episode)
    return outcomes


def _make_streams(
    teacher: agents.Agent, seed: int, role: str, worlds: Sequence[World]
) -> NDArray[np.uint64]:
    """Return a random stream for each world in a role."""
    common = ("demonstrate", role, teacher.name, seed)
    return streams(common, [(world.hash, world.number) for world in worlds])


def _play_uninstructed(teacher: agents.Agent, task: Task) -> list[Trajectory]:
    """Play each world with the teacher as every player, each a team of its own."""
    domain, worlds, seed = load_domain(task.plan.domain), task.worlds, task.plan.seed
    batch = domain.restore([world.state for world in worlds])
    players = range(batch.rewards.shape[1])
    teams = [
        Team(teacher, (p,), _make_streams(teacher, seed, f"player {p}", worlds)) for p in players
    ]
    run = play_episodes(domain, batch, teams, steps=task.plan.steps)
    arrays = (run.actions, run.utterances, run.rewards, run.scene)
    return [
        Trajectory(
            Episode(domain.name, world.state, *(array[b] for array in arrays)),
            tuple(Player("agent", teacher.name) for _ in players),
            list_missions(domain, world.state),
            world.hash,
            f"sts demonstrate {teacher.name} seed {seed} world {world.number}",
            {},
        )
        for b, world in enumerate(worlds)
    ]


def _choose_request(
    task: Task, known: Sequence[Category], world: World, first: Trajectory
) -> _Request | None:
    """Return an instruction that a category proposes in a world; None if none proposes any.

    Categories are tried in a random order, in which those that were asked rarely come first.
    """
    draws = stream("demonstrate", "choice", task.plan.seed, world.hash, world.number)

    def rank(place: int) -> float:
        ahead = task.asked.get(known[place].name, 0) / task.share
        return ahead + random_uniform(draws, 2 + place)

    for category in (known[place] for place in sorted(range(len(known)), key=rank)):
        candidates = category.find_candidates(first)
        if candidates:
            c = candidates[int(random_uniform(draws, 0) * len(candidates))]
            template = int(random_uniform(draws, 1) * len(category.templates))
            text = fill_template(category, Pick(first, c), template)
            told = Instruction(text, category.name, c.step, "setter", player=c.player)
            return _Request(world, first, category, c, told)
    return None


def _play_instructed(
    teacher: agents.Agent, plan: Plan, requests: Sequence[_Request], player: int
) -> Iterator[Outcome]:
    """Play each request's world again, with the teacher as the player who gets the instruction."""
    domain = load_domain(plan.domain)
    worlds = [request.world for request in requests]
    agent_streams = _make_streams(teacher, plan.seed, f"player {player}", worlds)
    noise = _make_streams(teacher, plan.seed, "noise", worlds)
    batch = domain.restore([world.state for world in worlds])
    game = open_session(domain, batch, [Team(teacher, (player,), agent_streams)])
    script = _script_others(domain, requests)
    takeovers = np.array([request.candidate.step for request in requests])
    steps = max(r.candidate.step + r.category.horizon for r in requests)
    intended, rewards, scenes = script.actions.copy(), [], [batch.scene.copy()]
    for t in range(steps):
        for b in np.flatnonzero(takeovers == t).tolist():
            game.tell(b, requests[b].instruction.text)
        chosen, after = game.choose(), takeovers <= t
        for given, choice in zip(script, chosen, strict=True):
            given[after, t, player] = choice[after, player]
        intended[:, t] = script.actions[:, t]
        if plan.noise:
            is_random, move = StepDraws(noise, t * 4, ENGINE_DRAWS + 2, 1).agent_draws()[:, 0].T
            hit = after & (is_random < plan.noise)
            script.actions[hit, t, player] = (move[hit] * len(domain.action_names)).astype(np.int8)
        game.step(Actions(*(array[:, t] for array in script)), range(batch.rewards.shape[1]))
        rewards.append(batch.rewards.copy())
        scenes.append(batch.scene.copy())
    arrays = (*script, np.stack(rewards, 1), np.stack(scenes, 1), intended)
    for b, request in enumerate(requests):
        kept = _keep_if_done(domain, plan, request, tuple(array[b] for array in arrays))
        yield Outcome(request.world.number, request.category.name, kept)


def _script_others(domain: Domain, requests: Sequence[_Request]) -> Actions:
    """Return the first episodes' actions, which the others repeat, up to their partner policy."""
    first = [request.first.episode for request in requests]
    actions, utterances = (np.stack([getattr(e, name) for e in first]) for name in Actions._fields)
    for b, request in enumerate(requests):
        if request.category.partner == "no-op":
            after = slice(request.candidate.step, None)
            rest = utterances[b, after].shape
            actions[b, after] = action_space(domain).fill(rest, domain.noop)
            utterances[b, after] = silent_utterances(domain, rest)
    return Actions(actions, utterances)


def _keep_if_done(
    domain: Domain, plan: Plan, request: _Request, arrays: tuple[NDArray[Any], ...]
) -> Trajectory | None:
    """Return an episode up to its success as a trajectory; None if there is no success."""
    world, first, category, candidate, told = request
    actions, utterances, rewards, scene, intended = arrays
    stop = candidate.step + category.horizon
    made = (actions[:stop], utterances[:stop], rewards[:stop], scene[: stop + 1])
    episode = Episode(domain.name, world.state, *made)
    players = (candidate.player,)
    label = category.label(episode, candidate.step, players, candidate.parameters)
    if label.verdict != "success" or label.step is None:
        return None
    episode = episode.slice_steps(world.state, 0, candidate.step + label.step)
    policy = Player("script", "no-op" if category.partner == "no-op" else "replay")
    actors = [first.players[p] if p in players else policy for p in range(episode.n_players)]
    asked = {name: getattr(candidate, name) for name in ("parameters", "difficulty")}
    asked |= {"takeover": candidate.step, "roles": [*players]}
    asked |= {"category": category.name, "kind": category.kind}
    run = {"seed": plan.seed, "fingerprint": plan.fingerprint, "noise": plan.noise}
    return Trajectory(
        episode,
        tuple(actors),
        (told,),
        world.hash,
        first.source,
        collect_provenance() | run | {"index": world.number, "setter": SETTER, "asked": asked},
        intended[: episode.steps] if domain.action_names else None,
    )
