"""Base classes of the categories of Λ*: questions, instructions and contrast pairs.

A category defines one search over many episodes, why it cannot be asked at a takeover, and the true
answer or the automatic label. Mining uses the search as a prefilter; a single episode is a batch of
one.
"""

import functools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from sts.plugin import DIFFICULTIES, Agent, Episode, EpisodeBatch, Scenario, Trajectory
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import (
    NOT_DONE,
    Candidate,
    CandidateColumns,
    Category,
    ControlPolicies,
    Label,
    Prefilter,
    Rubric,
    difficulty_by_steps,
    make_label,
)

from .batches import StepBatch, TrackBatch, build_tracks
from .policies import STAY, History, MovePolicy, make_mover, make_speaker, simulate
from .screening import DIRECTIONS, NO_PARAMETERS, UNGRADED, Kinds, make_hits
from .tracks import DOMAIN, Track, label_answer, make_track, track_until_takeover

GradedSteps = tuple[StepBatch, Any]
"""Steps and their difficulties: indices of DIFFICULTIES, or UNGRADED."""


class Start(NamedTuple):
    """A step from which a policy is tried."""

    track: Track  # of the recording
    step: int
    context: int  # C
    horizon: int  # L


class GridCategory(ABC):
    """A category of Λ*, searched in many episodes at once.

    Attributes:
      name, kind, horizon, templates, rubric, earlier_templates, partner: as in `Category`.
      needs_solver: whether only the steps of `find` that pass `confirm` are candidates.
    """

    name: str
    kind = "instruction"
    horizon: int
    templates: tuple[str, ...]
    rubric: Rubric
    earlier_templates: tuple[str, ...] = ()
    partner = "no-op"
    needs_solver = False

    @property
    @abstractmethod
    def kinds(self) -> Kinds:
        """The distinct (answer, parameters) of the candidates."""

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Return every step at which the category can be asked."""
        raise NotImplementedError

    @abstractmethod
    def label(
        self, episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        """Return the automatic label, as `Category.label`."""

    @abstractmethod
    def make_controls(self) -> ControlPolicies:
        """Return the control policies of the quality checks."""

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why it cannot be asked at the end of a track up to the takeover; else None."""
        return None

    def check_scenario(self, scenario: Scenario) -> str | None:
        """Return why a scenario is not valid at its takeover; else None."""
        return self.why_invalid(track_until_takeover(scenario), scenario)

    def template_fields(
        self, episode: Episode, player: int, parameters: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the template fields of a candidate with some parameters."""
        return {}

    def choose_kind(self, steps: StepBatch) -> Any:
        """Return the indices in `kinds` of the candidates at some steps."""
        return 0

    def confirm(self, start: Start) -> Label | None:
        """Return the label of the solver's success from a step; None if it does not succeed."""
        raise NotImplementedError

    def find_columns(self, batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
        """Return the steps of `find` as columns."""
        steps, difficulty = self.find(batch, context, horizon)
        return make_hits(steps, difficulty, self.kinds, self.choose_kind(steps))

    def find_candidates(
        self, trajectory: Trajectory, context: int, horizon: int
    ) -> Iterator[Candidate]:
        """Yield the candidates of a trajectory; two of one step and player are a contrast pair."""
        episode = trajectory.episode
        hits = self.find_columns(TrackBatch.of_episode(episode), context, horizon)
        difficulties = self._confirm_hits(hits, episode, context, horizon)

        @functools.cache
        def fill(player: int, kind: int) -> dict[str, str]:
            return self.template_fields(episode, player, hits.kinds[kind][1])

        order = np.lexsort((hits.kind, hits.step, hits.player))
        ordered = np.stack((hits.player, hits.step, hits.kind), 1)[order].tolist()
        count = Counter((player, step) for player, step, _ in ordered)
        for player, step, kind in ordered:
            if (player, step) in difficulties:
                answer, parameters = hits.kinds[kind]
                yield Candidate(
                    step,
                    player,
                    DIFFICULTIES[difficulties[player, step]],
                    dict(parameters),
                    dict(fill(player, kind)),
                    answer,
                    pair="either" if count[player, step] == 2 else "",
                )

    def _confirm_hits(
        self, hits: CandidateColumns, episode: Episode, context: int, horizon: int
    ) -> dict[tuple[int, int], int]:
        """Return the difficulty of each confirmed player and step, an index of DIFFICULTIES."""
        columns = (column.tolist() for column in (hits.player, hits.step, hits.difficulty))
        levels = {(player, step): level for player, step, level in zip(*columns, strict=True)}
        if not self.needs_solver:
            return levels
        by_role = {player: make_track(episode, player) for player, _ in levels}
        out = {}
        for (player, step), level in levels.items():
            label = self.confirm(Start(by_role[player], step, context, horizon))
            if label is not None:
                difficulty = DIFFICULTIES.index(difficulty_by_steps(label.step, horizon))
                out[player, step] = difficulty if level == UNGRADED else level
        return out

    def build(self) -> Category:
        """Return the category."""

        def screen(episodes: EpisodeBatch, context: int, horizon: int) -> CandidateColumns:
            return self.find_columns(build_tracks(episodes), context, horizon)

        def fill_scenario(scenario: Scenario) -> dict[str, str]:
            player = scenario.players[0]
            return self.template_fields(scenario.recording, player, scenario.parameters)

        return Category(
            name=self.name,
            kind=self.kind,
            domain=DOMAIN,
            horizon=self.horizon,
            templates=self.templates,
            earlier_templates=self.earlier_templates,
            candidates=self.find_candidates,
            prefilter=Prefilter(screen, exact=not self.needs_solver),
            label=self.label,
            why_invalid=self.check_scenario,
            template_fields=fill_scenario if "{" in self.templates[0] else None,
            partner=self.partner,
            rubric=self.rubric,
            controls=self.make_controls(),
        )


class QuestionCategory(GridCategory):
    """A category that asks for a word."""

    kind = "question"
    horizon = 5
    kinds = DIRECTIONS
    answers: tuple[str, ...] = MOVES  # the possible answers
    shortcut: Any = None  # a `SpeechPolicy` that answers another question; None for none
    label = staticmethod(label_answer)

    @abstractmethod
    def answer(self, steps: StepBatch) -> Any:
        """Return int[N], the true answer at N steps: its index in `kinds`, if a candidate."""

    @abstractmethod
    def solver(self, history: History) -> str:
        """Return the answer of the solver, which knows only what a player observed."""

    def choose_kind(self, steps: StepBatch) -> Any:
        """Return int[N], the index of each step's true answer in `kinds`."""
        return self.answer(steps)

    def format_answer(self, answer: int) -> str:
        """Return the word for an answer."""
        return MOVES[answer]

    def check_scenario(self, scenario: Scenario) -> str | None:
        """Return why a scenario cannot be asked, or its true answer if it has another."""
        if (why := super().check_scenario(scenario)) is not None:
            return why
        answer = self.format_answer(int(self.answer(StepBatch.at_takeover(scenario))[0]))
        return None if scenario.parameters["answer"] == answer else f"the answer is {answer}"

    def make_controls(self) -> ControlPolicies:
        """Return the control policies of the quality checks."""
        return ControlPolicies(
            solver=make_speaker(self.solver),
            shortcut=self.shortcut and make_speaker(self.shortcut),
            answers=self.answers,
        )


class ActionCategory(GridCategory):
    """A category that asks for an action.

    Attributes:
      steps: for which, or within which, something is to be done; 0 for no such number.
      spare_steps: by which the horizon must exceed `steps`.
      shortcut: a `MovePolicy` or an agent that passes without following the instruction; None for
        none.
      against_reward, max_open_loop_rate: as in `ControlPolicies`.
      why_rate: the reason for a changed `max_open_loop_rate`.
    """

    steps = 0
    spare_steps = 0
    shortcut: Any = None
    against_reward = True
    max_open_loop_rate: float | None = None
    why_rate = ""

    @abstractmethod
    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return the step of the verdict on a track from the takeover on; 0 for not done.

        It is an int, negative for failure. A category that searches `Paths` returns int[paths].
        """

    @abstractmethod
    def solver(self, history: History) -> int:
        """Return the move of the solver, which follows the instruction from observations."""

    @property
    def kinds(self) -> Kinds:
        """Single kind of candidate, with the number of steps as its parameter."""
        return (("", {"steps": self.steps}),) if self.steps else NO_PARAMETERS

    def judge_steps(self, track: Track) -> Any:
        """Return the verdicts of `judge` with the parameters of candidates."""
        return self.judge(track, self.kinds[0][1])

    def template_fields(
        self, episode: Episode, player: int, parameters: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the template field for the number of steps."""
        return {"steps": str(parameters["steps"])} if self.steps else {}

    def check_scenario(self, scenario: Scenario) -> str | None:
        """Return why the horizon is too short, or the instruction is not valid; else None."""
        needed = scenario.parameters["steps"] + self.spare_steps if self.steps else 0
        if needed > scenario.horizon:
            return f"expected a horizon of at least {needed} steps, found {scenario.horizon}"
        return super().check_scenario(scenario)

    def label(
        self, episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        """Return the automatic label, by `judge`."""
        return self._label_track(make_track(episode, players[0], slice(takeover, None)), parameters)

    def _label_track(self, track: Track, parameters: Mapping[str, Any]) -> Label:
        step = int(self.judge(track, parameters))
        return make_label(abs(step), step > 0) if step else NOT_DONE

    def try_policy(
        self, policy: MovePolicy, start: Start, parameters: Mapping[str, Any]
    ) -> Label | None:
        """Return the label of a policy's success from a step; None if it does not succeed."""
        label = self._label_track(simulate(*start, policy, self.partner), parameters)
        return label if label.verdict == "success" else None

    def confirm(self, start: Start) -> Label | None:
        """Return the label of the solver's success from a step; None if it does not succeed."""
        return self.try_policy(self.solver, start, self.kinds[0][1])

    def make_controls(self) -> ControlPolicies:
        """Return the control policies of the quality checks."""
        is_policy = self.shortcut is not None and not isinstance(self.shortcut, Agent)
        return ControlPolicies(
            solver=make_mover(self.solver),
            shortcut=make_mover(self.shortcut) if is_policy else self.shortcut,
            max_open_loop_rate=self.max_open_loop_rate,
            against_reward=self.against_reward,
            why=self.why_rate,
        )


class PairOption(NamedTuple):
    """One half of a contrast pair."""

    text: str  # fills the field `deed` of the instruction templates
    judge: Callable[[Track, Mapping[str, Any]], Any]  # as `ActionCategory.judge`
    policy: MovePolicy  # solver, based on observations only
    parameters: Mapping[str, Any]  # arguments of `judge`


class PairCategory(ActionCategory):
    """A category of contrast pairs: two instructions at the same step.

    Only an agent that follows the instruction passes both. `find` returns the difficulty of the
    first option.
    """

    options: Mapping[str, PairOption]  # the two halves
    needs_solver = True

    @property
    def kinds(self) -> Kinds:
        """Kinds of candidates, one per option."""
        return [
            (name, {"asked": name, **option.parameters}) for name, option in self.options.items()
        ]

    def find_columns(self, batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
        """Return each step of `find` with both options."""
        steps, difficulty = self.find(batch, context, horizon)
        count = len(steps.track)
        both = steps.filter(np.tile(np.arange(count), 2))
        return make_hits(both, np.tile(difficulty, 2), self.kinds, np.repeat((0, 1), count))

    def template_fields(
        self, episode: Episode, player: int, parameters: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the template field for the requested option."""
        return {"deed": self.options[parameters["asked"]].text}

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return the verdict of the requested option."""
        return self.options[parameters["asked"]].judge(track, parameters)

    def confirm(self, start: Start) -> Label | None:
        """Return the label of the first option's success; None unless both can be done."""
        labels = []
        for option, (_, parameters) in zip(self.options.values(), self.kinds, strict=True):
            if (label := self.try_policy(option.policy, start, parameters)) is None:
                return None
            labels.append(label)
        return labels[0]

    def solver(self, history: History) -> int:
        """Return the move of the requested option's policy; stand still if the text has neither."""
        text = history.instruction.lower()
        policies = (option.policy for option in self.options.values() if option.text in text)
        return next(policies, lambda history: STAY)(history)
