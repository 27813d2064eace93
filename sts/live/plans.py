"""Plans of live evaluations: which agents each person meets, in which order and worlds.

A plan is `live/NAME/plan.json`. People see no names of agents.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sts.agents.info import AgentInfo, require_infos
from sts.engine.session import check_domain
from sts.errors import ArgumentError, DamagedData, NewerFormat, UnknownName
from sts.live.designs import Evenness, make_design, measure_evenness
from sts.live.prompts import Prompt, load_prompts
from sts.live.worlds import ANY, CHOICES, find_seed
from sts.names import quote
from sts.numerics.streams import stream
from sts.storage.files import canonical_json, read_bytes, write_new
from sts.storage.workspace import Workspace
from sts.suites.folders import validate_name
from sts.trajectories.record import generate_states

FORMAT, VERSION = "live-plan", 1
MAX_EVERYONE = 8
"""Agents up to which everyone meets every agent, and sessions of a person above it."""
MAX_PEOPLE, MAX_AGENTS = 500, 100
SESSIONS_FOLDER = "sessions"
"""The folder of journals, next to the studies' folders."""
_MAX_BYTES = 2**26
_SEEDS = 2**31


class PlannedAgent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent of a study."""

    path: str  # how it is loaded: a name, or `module:Class`
    name: str  # its name
    fingerprint: str  # of its code when the study was planned
    sees: str  # its access, one of `sts.ratings.ACCESS_LEVELS`


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A planned session."""

    person: int  # index of the person, from 0
    order: int  # place among the person's sessions, from 1; 0 for practice
    agent: int  # index among the plan's agents; -1 for the practice agent
    seed: int  # of the world

    @property
    def practice(self) -> bool:
        """True if the session is not scored: it is the one before the person's first."""
        return self.order == 0


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The plan of a study."""

    format: str  # "live-plan/1"
    name: str  # of the study
    domain: str  # in which people and agents meet
    settings: dict[str, Any]  # of its worlds, passed to `generate`
    agents: tuple[PlannedAgent, ...]  # in the order given
    practice_agent: PlannedAgent  # which everyone meets first
    people: int  # their number
    minutes: float  # length of a session
    tick: float | None  # seconds from step to step; None for the domain's default
    prompts: tuple[Prompt, ...]  # from which setters improvise
    # which setters can choose from: those of all agents, so that they reveal none
    wordings: tuple[str, ...]
    seed: int  # of the plan
    cells: tuple[Cell, ...]  # the sessions, by person and order
    # True if scripts play the people; journals and scores then call them scripts
    rehearsal: bool = False
    # from which its worlds are drawn, one of `worlds.CHOICES`; left out of the file if any
    split: str = ANY

    def __post_init__(self) -> None:
        """Raise ValueError if the cells are not those of such a study."""
        sessions = len(self.cells) // max(self.people, 1)
        places = [(p, k) for p in range(self.people) for k in range(sessions)]
        if not self.agents or [(cell.person, cell.order) for cell in self.cells] != places:
            raise ValueError("expected the same number of sessions for each person, in order")
        if sessions < 2:
            raise ValueError("expected a practice session and at least one other for each person")
        if self.split not in CHOICES:
            raise ValueError(f"expected a split of {', '.join(CHOICES)}, found {quote(self.split)}")
        for cell in self.cells:
            if not (0 <= cell.agent < len(self.agents) if cell.order else cell.agent == -1):
                raise ValueError(f"expected an agent of the study, found number {cell.agent}")

    def agent_of(self, cell: Cell) -> PlannedAgent:
        """Return the agent of a planned session."""
        return self.practice_agent if cell.practice else self.agents[cell.agent]

    @property
    def rows(self) -> list[list[int]]:
        """The indices of the agents that each person meets, in order, without practice."""
        by_person = itertools.groupby(self.cells, key=lambda cell: cell.person)
        return [[cell.agent for cell in cells if not cell.practice] for _, cells in by_person]

    @property
    def evenness(self) -> Evenness:
        """Minimum and maximum counts of the design."""
        return measure_evenness(self.rows, len(self.agents))

    @property
    def person_hours(self) -> float:
        """Planned hours of all people together, practice included; 0 in a rehearsal."""
        return 0.0 if self.rehearsal else len(self.cells) * self.minutes / 60


def make_plan(
    name: str,
    agents: Sequence[str],
    *,
    people: int,
    minutes: float = 5.0,
    sessions_per_person: int | None = None,
    domain: str | None = None,
    read_settings: Callable[[str], dict[str, Any]] = lambda domain: {},
    tick: float | None = None,
    practice_agent: str = "random",
    prompts: Path | None = None,
    seed: int = 0,
    rehearsal: bool = False,
    split: str = ANY,
) -> Plan:
    """Plan a study; the same arguments give the same plan.

    Args:
      name: of the study.
      agents: names, or `module:Class`.
      people: number of people who set tasks.
      minutes: length of a session.
      sessions_per_person: without practice; None for all agents, or 8 if there are more.
      domain: None for the one that the agents are made for.
      read_settings: returns the settings of the worlds, given the domain's name.
      tick: seconds from step to step; None for the domain's default.
      practice_agent: whom everyone meets first, without score.
      prompts: a file of prompts; None for the packaged ones.
      seed: of the order and the worlds.
      rehearsal: True if scripts play the people.
      split: from which the worlds are drawn, one of `worlds.CHOICES`.

    Raises:
      ArgumentError: an argument is out of range, or an agent does not play in the domain.
      StsError: an agent cannot be loaded.
      DamagedData: the prompts are invalid.
    """
    _check_study_name(name)
    sessions = (
        min(len(agents), MAX_EVERYONE) if sessions_per_person is None else sessions_per_person
    )
    for given, value, low, high in (
        ("--agent", len(agents), 1, MAX_AGENTS),
        ("--people", people, 1, MAX_PEOPLE),
        ("--sessions-per-person", sessions, 1, len(agents)),
        ("--minutes", minutes, 0.1, 240),
        ("--tick", 1.0 if tick is None else tick, 0.02, 60),
    ):
        if not low <= value <= high:
            raise ArgumentError(f"{given}: expected {low} to {high}, found {value}")
    if split not in CHOICES:
        raise ArgumentError(f"--split: expected one of {', '.join(CHOICES)}, found {split!r}")
    infos = require_infos([*agents, practice_agent])
    planned = [
        PlannedAgent(path, infos[path].name, infos[path].fingerprint, infos[path].sees)
        for path in [*agents, practice_agent]
    ]
    if len({(agent.name, agent.fingerprint) for agent in planned[:-1]}) < len(agents):
        raise ArgumentError("--agent: expected each agent once, found one twice")
    domain = domain or _find_domain(infos.values())
    for info in infos.values():
        check_domain(info, domain)
    settings = read_settings(domain)
    generate_states(domain, 1, 1, seed, settings)  # raises an error if they are invalid
    rows = make_design(len(agents), people, sessions, seed)
    cells = [
        Cell(
            person=person,
            order=order,
            agent=agent,
            seed=find_seed(domain, _draw_seeds(name, seed, person, order), settings, split),
        )
        for person, row in enumerate(rows)
        for order, agent in enumerate([-1, *row])
    ]
    return Plan(
        format=f"{FORMAT}/{VERSION}",
        name=name,
        domain=domain,
        agents=tuple(planned[:-1]),
        practice_agent=planned[-1],
        settings=settings,
        people=people,
        minutes=float(minutes),
        tick=tick,
        prompts=load_prompts(domain, prompts),
        wordings=tuple(dict.fromkeys(text for info in infos.values() for text in info.wordings)),
        seed=seed,
        cells=tuple(cells),
        rehearsal=rehearsal,
        split=split,
    )


def _draw_seeds(*place: str | int) -> Iterator[int]:
    for draw in itertools.count():
        yield int(stream("live", *place, *([draw] if draw else []))) % _SEEDS


def save_plan(workspace: Workspace, plan: Plan) -> Path:
    """Save a new plan and return its path; raise ArgumentError if the study exists."""
    path = plan_path(workspace, plan.name)
    fields = msgspec.to_builtins(plan)
    if plan.split == ANY:  # as before there was a choice
        del fields["split"]
    if not write_new(path, canonical_json(fields) + b"\n"):
        raise ArgumentError(f"study {plan.name!r} already exists; choose another name")
    return path


def load_plan(workspace: Workspace, name: str) -> Plan:
    """Load the plan of a study.

    Raises:
      UnknownName: there is no such study.
      DamagedData: its plan is invalid.
      NewerFormat: a later version wrote it.
    """
    path = plan_path(workspace, name)
    try:
        raw = read_bytes(path, _MAX_BYTES)
    except FileNotFoundError:
        raise UnknownName("live study", name, list_studies(workspace)) from None
    try:
        found = msgspec.json.decode(raw, type=dict[str, Any]).get("format")
        kind, _, number = str(found).partition("/")
        if kind != FORMAT or not number.isdecimal():
            raise ValueError(f"expected format {FORMAT}/{VERSION}, found {quote(str(found))}")
        if int(number[:9]) > VERSION:
            raise NewerFormat(
                f"{path}: {FORMAT} format {number[:9]}; this version reads up to {VERSION}: "
                "update sts"
            )
        plan = msgspec.json.decode(raw, type=Plan)
        if plan.name != name:
            raise ValueError(f"expected the plan of {name}, found that of {quote(plan.name)}")
    except (ValueError, RecursionError) as error:
        raise DamagedData(f"{path}: not a plan of a live study: {error}") from None
    return plan


def list_studies(workspace: Workspace) -> list[str]:
    """Return the names of the studies in a workspace."""
    return sorted(path.parent.name for path in workspace.path("live").glob("*/plan.json"))


def plan_path(workspace: Workspace, name: str) -> Path:
    """Return the path of a study's plan, if any; raise ArgumentError if the name is invalid."""
    return workspace.path("live", _check_study_name(name), "plan.json")


def _check_study_name(name: str) -> str:
    if name == SESSIONS_FOLDER:
        raise ArgumentError(f"the name {name!r} is reserved; choose another name for the study")
    return validate_name(name, "study name")


def _find_domain(infos: Iterable[AgentInfo]) -> str:
    """Return the only domain that agents are made for."""
    homes = sorted({info.domain for info in infos if info.domain})
    if len(homes) != 1:
        found = ", ".join(homes) if homes else "agents that play in any"
        raise ArgumentError(f"expected --domain, or agents of one domain; found {found}")
    return homes[0]
