"""Categories that propose tasks for a candidate step and keep those a solver can do.

A proposal is kept if the solver, which observes what a player observes, succeeds within the horizon
and the shortcut does not. Unless the category sets it, difficulty depends on the steps the solver
needs: easy up to a third of the horizon, medium up to two thirds, else hard.
"""

import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from sts.agents import Agent
from sts.episodes import Episode
from sts.storage.files import canonical_json
from sts.suites.suite import DIFFICULTIES, Scenario
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules.category import Candidate, Category, ControlPolicies, Label, Rubric

Lengths = tuple[int, int]
"""C and L, the numbers of steps of a context and of a continuation."""
NOT_DONE = Label("not_done", None)


class Proposal(NamedTuple):
    """A possible instruction at a candidate step."""

    parameters: dict[str, Any]  # arguments of the automatic label
    words: dict[str, str]  # template fields
    answer: str = ""  # value that a suite should hold equally often, such as the correct answer
    difficulty: str = ""  # overrides the difficulty computed from the solver's steps


class Attempt(NamedTuple):
    """A step of a trajectory at which tasks are tried."""

    step: int  # the takeover
    player: int  # the evaluated player
    start: Hashable  # what `TaskCategory.play` needs to get there
    proposals: Sequence[tuple[Proposal, ...]]  # in the order in which they are tried


def make_label(step: int, success: bool) -> Label:
    """Return a success or failure at a step."""
    return Label("success" if success else "failure", step)


def difficulty_by_steps(steps: int | None, horizon: int) -> str:
    """Return the difficulty, by the share of allowed steps that are needed; None counts as all."""
    return DIFFICULTIES[min(3 * ((steps or horizon) - 1) // horizon, 2)]


class TaskCategory(ABC):
    """A category whose tasks a solver can do from observations.

    The class of an environment defines how its episodes are searched and played; the class of a
    category defines what to propose, how to label it, and the two control policies. Frames are
    state snapshots before a step, in the environment's own representation.

    Attributes:
      name, domain, horizon, templates, rubric, context, partner, earlier_templates: as in
        `Category`.
      make_agent: returns the agent that plays a policy.
      max_steps_per_episode: maximum number of candidate steps of an episode; None for no limit.
      cache_size: cached attempts; mining asks for each half of a contrast pair separately.
    """

    name: str
    domain: str
    horizon: int
    templates: tuple[str, ...]
    rubric: Rubric
    context: int
    partner = "no-op"
    earlier_templates: tuple[str, ...] = ()
    make_agent: Callable[[Any], Agent]
    max_steps_per_episode: int | None = None
    cache_size = 1024

    @abstractmethod
    def propose(self, request: Any, /) -> Iterator[tuple[Proposal, ...]]:
        """Yield the proposals at a candidate step; a tuple of two is a contrast pair."""

    @abstractmethod
    def label(self, frames: Any, player: int, parameters: Mapping[str, Any], /) -> Label:
        """Return the automatic label of the frames from the takeover on."""

    @abstractmethod
    def solver(self, history: Any, /) -> int:
        """Return the action of the solver, which follows the instruction from observations."""

    @abstractmethod
    def shortcut(self, history: Any, /) -> int:
        """Return the action of a policy that would pass without following the instruction."""

    @abstractmethod
    def list_attempts(
        self, trajectory: Trajectory, context: int, horizon: int
    ) -> Iterator[Attempt]:
        """Yield the steps of a trajectory to try, with what to propose there."""

    @abstractmethod
    def read_request(self, scenario: Scenario) -> Any:
        """Return what `propose` takes, at the takeover of a scenario."""

    @abstractmethod
    def replay(self, episode: Episode, takeover: int, /) -> Any:
        """Return the frames of an episode from the takeover on."""

    @abstractmethod
    def play(self, start: Any, lengths: Lengths, text: str, policy: Any, /) -> Iterator[Any]:
        """Yield the frames from a step on if a policy is given the instruction `text` there."""

    def build(self) -> Category:
        """Return the category, with its own cache of attempts."""
        count_steps = functools.lru_cache(self.cache_size)(self._count_solver_steps)
        return Category(
            name=self.name,
            kind="instruction",
            domain=self.domain,
            horizon=self.horizon,
            templates=self.templates,
            earlier_templates=self.earlier_templates,
            candidates=functools.partial(self._find_candidates, count_steps),
            label=lambda episode, takeover, players, parameters: self.label(
                self.replay(episode, takeover), players[0], parameters
            ),
            why_invalid=self.why_invalid,
            context=self.context,
            partner=self.partner,
            template_fields=self.template_fields,
            rubric=self.rubric,
            controls=ControlPolicies(
                solver=self.make_agent(self.solver),
                shortcut=self.make_agent(self.shortcut),
                against_reward=True,
            ),
        )

    def why_invalid(self, scenario: Scenario) -> str | None:
        """Return why a scenario's parameters match no proposal at its takeover; else None."""
        if self._find_proposal(scenario) is not None:
            return None
        return (
            "this instruction is not possible here: its objects are missing, unseen or unsuitable"
        )

    def template_fields(self, scenario: Scenario) -> dict[str, str]:
        """Return the template fields of a scenario; {} if its parameters match no proposal."""
        proposal = self._find_proposal(scenario)
        return dict(proposal.words) if proposal else {}

    def _find_proposal(self, scenario: Scenario) -> Proposal | None:
        proposals = (p for each in self.propose(self.read_request(scenario)) for p in each)
        return next((p for p in proposals if p.parameters == scenario.parameters), None)

    def _find_candidates(
        self,
        count_steps: Callable[[Hashable, int, Lengths, bytes], int | None],
        trajectory: Trajectory,
        context: int,
        horizon: int,
    ) -> Iterator[Candidate]:
        """Yield the candidates of at most one proposal, or contrast pair, for each step."""
        found_steps = 0
        for step, player, start, proposals in self.list_attempts(trajectory, context, horizon):
            for pair in proposals:
                requests = [(self.templates[0].format(**p.words), p.parameters) for p in pair]
                steps = count_steps(start, player, (context, horizon), canonical_json(requests))
                if steps is not None:
                    difficulty = difficulty_by_steps(steps, horizon)
                    for proposal in pair:
                        yield Candidate(
                            step,
                            player,
                            proposal.difficulty or difficulty,
                            proposal.parameters,
                            proposal.words,
                            proposal.answer,
                            pair="either" if len(pair) == 2 else "",
                        )
                    found_steps += 1
                    break
            if found_steps == self.max_steps_per_episode:
                return

    def _count_solver_steps(
        self, start: Hashable, player: int, lengths: Lengths, encoded: bytes
    ) -> int | None:
        """Return the steps the solver needs; None if it fails or the shortcut succeeds."""
        requests = json.loads(encoded)

        def count_steps(policy: Callable[[Any], int]) -> Iterator[int]:
            """Yield the steps until each success; 0 without one."""
            for text, parameters in requests:
                seen_frames: list[Any] = []
                label = NOT_DONE
                for frame in self.play(start, lengths, text, policy):
                    seen_frames.append(frame)
                    label = self.label(seen_frames, player, parameters)
                    if label.verdict != "not_done":  # the rest need not be played
                        break
                yield (label.step or lengths[1]) if label.verdict == "success" else 0

        steps = list(takewhile(bool, count_steps(self.solver)))
        if len(steps) < len(requests) or all(count_steps(self.shortcut)):
            return None
        return max(steps)
