"""Categories of behaviour: instruction templates, candidate steps, validity and automatic label."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts import registry
from sts.agents import Agent
from sts.episodes import Episode
from sts.errors import ArgumentError
from sts.suites.suite import Scenario
from sts.trajectories.batches import EpisodeBatch
from sts.trajectories.trajectory import Trajectory

CONTEXT = 10


class Label(NamedTuple):
    """The automatic label of a continuation.

    Attributes:
      verdict: "success", "failure" or "not_done"; "" without a rule.
      step: 1 to L, at whose end the verdict was reached; None for other verdicts.
    """

    verdict: str
    step: int | None


NO_LABEL = Label("", None)


def no_rule(
    episode: Episode, takeover: int, players: tuple[int, ...], parameters: Mapping[str, Any]
) -> Label:
    """Return no label, as the rule of a category without one."""
    return NO_LABEL


@dataclass(frozen=True)
class Candidate:
    """A step of a trajectory at which a category's instruction can be given.

    Attributes:
      step: the step of the trajectory at which the agent takes over.
      player: the evaluated player.
      difficulty: "easy", "medium" or "hard", by the category's rule.
      parameters: of the automatic label.
      fields: values that fill the category's instruction templates.
      answer: a suite balances its values, such as the true answer; "" for none.
      said_at_start: the instruction is the recording's own, given at its start; else it is added in
        hindsight, at the takeover.
      hears: the agent is also given the instructions of the recording, each at its step, up to this
        one.
      pair: two candidates of one step and role with the same value are a contrast pair, are mined
        together, and only passing both counts; "" for none.
    """

    step: int
    player: int
    difficulty: str
    parameters: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    answer: str = ""
    said_at_start: bool = False
    hears: bool = False
    pair: str = ""


class Overlay(NamedTuple):
    """Highlights on the annotation page, which agents do not see.

    Attributes:
      cells: highlighted from the takeover on.
      player_view: frame the cells that the judged player sees.
    """

    cells: tuple[int, ...] = ()
    player_view: bool = False


@dataclass(frozen=True)
class Rubric:
    """Instructions by which annotators judge a category, without knowledge beyond the page.

    Attributes:
      success_criterion: one sentence, with fields of the category's templates.
      edge_cases: a few sentences on edge cases, with the same fields.
      overlay: makes the highlights of a scenario; None for none.
      version: raised when the meaning changes, which makes annotators judge again; not for a typo.
      language: of the category's words, such as "de", for browsers; "" if it is not known.
    """

    success_criterion: str
    edge_cases: str = ""
    overlay: Callable[[Scenario], Overlay] | None = None
    version: str = "1"
    language: str = ""


class Criterion(NamedTuple):
    """The rubric of a category, filled in for one scenario, and the language of its words."""

    success_criterion: str
    edge_cases: str
    overlay: Overlay
    language: str = ""


@dataclass(frozen=True)
class ControlPolicies:
    """The control policies and limits of a category's quality checks; see `quality_checks`.

    Neither policy is installed, and none is ranked.

    Attributes:
      solver: solves the instruction from its observations alone; None without one.
      shortcut: passes without doing what the instruction asks; None without one.
      answers: the possible answers of a question.
      max_open_loop_rate: maximum open-loop pass rate, if it differs from the default.
      against_reward: a policy that only maximises reward must fail.
      why: the reason for a `max_open_loop_rate` that differs from the default.
    """

    solver: Agent | None = None
    shortcut: Agent | None = None
    answers: tuple[str, ...] = ()
    max_open_loop_rate: float | None = None
    against_reward: bool = False
    why: str = ""

    def __post_init__(self) -> None:
        """Raise ArgumentError if the limit is changed without a reason."""
        if self.max_open_loop_rate is not None and not self.why:
            raise ArgumentError("ControlPolicies changes a limit without a reason; set why")


class CandidateColumns(NamedTuple):
    """Candidate steps of several episodes, as columns of one value each.

    Attributes:
      episode: int, index of the episode.
      player: int, the evaluated player.
      step: int, as `Candidate.step`.
      difficulty: int, an index of `DIFFICULTIES`; -1 if only `Category.candidates` can determine
        it.
      kind: int, an index of `kinds`.
      kinds: distinct (answer, parameters).
    """

    episode: NDArray[np.integer[Any]]
    player: NDArray[np.integer[Any]]
    step: NDArray[np.integer[Any]]
    difficulty: NDArray[np.integer[Any]]
    kind: NDArray[np.integer[Any]]
    kinds: Sequence[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Prefilter:
    """A vectorised prefilter that finds candidate steps in many episodes at once.

    A category with a prefilter reads nothing but the scenes, from `context` frames before a step to
    L after it, so that a single step can be checked on its own.

    Attributes:
      find: takes a batch of episodes, C and L; returns every candidate step of the category with
        its answer, its parameters and, unless left open, its difficulty.
      exact: it returns no other steps.
    """

    find: Callable[[EpisodeBatch, int, int], CandidateColumns]
    exact: bool


@dataclass(frozen=True)
class Category:
    """A kind of behaviour that scenarios test.

    Attributes:
      name: as in suites and reports.
      kind: "instruction" or "question".
      domain: of the worlds it applies to.
      horizon: L, the number of continuation steps.
      templates: instruction templates, with the fields of `Candidate.fields`.
      earlier_templates: those of earlier suites, whose scenarios the rule still checks.
      candidates: takes a trajectory, C and L, which may differ from the category's own; yields its
        candidates, each with C steps before it and L steps after it.
      label: the rule: takes an episode, its takeover, the evaluated players and the parameters;
        returns the automatic label. It reads nothing before the takeover frame. Without one, people
        alone judge.
      why_invalid: returns in a few words why a scenario's instruction is not valid at its
        takeover; else None.
      context: C, the number of context steps.
      partner: policy of the others after takeover, as `Scenario.partner`.
      template_fields: takes a scenario; returns the values of its template fields, by which the
        category knows its own words. None if it takes any.
      rubric: for annotators; None if the instruction says it all.
      controls: for the quality checks; None without them.
      prefilter: the vectorised prefilter; None without one.
      superseded: better categories exist for the same worlds, so it is mined only by name.
      version: of the automatic label; raised when it would label any continuation differently.
      code_path: `module:NAME` of its definition; set when it is loaded by name.

    Examples:
      >>> import sts
      >>> from sts_scenarios.plugin import Candidate
      >>> def find_candidates(trajectory, context, horizon):
      ...     if trajectory.episode.steps >= context + horizon:
      ...         yield Candidate(context, player=0, difficulty="easy")
      >>> sts.Category(
      ...     "turn-back", "instruction", "lambda-star", 8, ("Turn back.",), find_candidates
      ... ).context
      10
    """

    name: str
    kind: str
    domain: str
    horizon: int
    templates: tuple[str, ...]
    candidates: Callable[[Trajectory, int, int], Iterator[Candidate]]
    label: Callable[[Episode, int, tuple[int, ...], dict[str, Any]], Label] = no_rule
    why_invalid: Callable[[Scenario], str | None] = lambda scenario: None
    context: int = CONTEXT
    partner: str = "no-op"
    template_fields: Callable[[Scenario], Mapping[str, str]] | None = None
    rubric: Rubric | None = None
    controls: ControlPolicies | None = None
    prefilter: Prefilter | None = None
    superseded: bool = False
    version: str = "1"
    code_path: str = ""
    earlier_templates: tuple[str, ...] = ()

    def find_candidates(self, trajectory: Trajectory) -> list[Candidate]:
        """Return the candidates of a trajectory at the category's own context and horizon."""
        return list(self.candidates(trajectory, self.context, self.horizon))

    def criterion(self, scenario: Scenario) -> Criterion | None:
        """Return the rubric filled in for a valid scenario; None without a rubric."""
        if self.rubric is None:
            return None
        words = self.template_fields(scenario) if self.template_fields else {}
        with registry.translate_errors(
            f"category {self.name!r} failed to fill in the rubric of {scenario.id}"
        ):
            done = self.rubric.success_criterion.format(**words)
            guideline = self.rubric.edge_cases.format(**words)
        overlay = self.rubric.overlay(scenario) if self.rubric.overlay else Overlay()
        language = self.rubric.language or ("en" if registry.is_packaged(self.code_path) else "")
        return Criterion(done, guideline, overlay, language)


def name_in_errors(category: Category) -> Category:
    """Return a user's category whose exceptions become one-line errors that name it."""

    def blamed(function: Callable[..., Any], failed: str, convert: Callable[[Any], Any]) -> Any:
        def call(first: Any, *rest: Any) -> Any:
            action = failed.format(id=getattr(first, "id", ""))
            with registry.translate_errors(f"category {category.name!r} failed to {action}"):
                return convert(function(first, *rest))

        return call

    rubric, words = category.rubric, category.template_fields
    if rubric and rubric.overlay:
        overlay = blamed(
            rubric.overlay, "make the overlay of {id}", lambda values: Overlay(*values)
        )
        rubric = replace(rubric, overlay=overlay)
    find = blamed(
        category.candidates, "find candidates in {id}", lambda candidates: iter(list(candidates))
    )
    failed = "label an episode, or its parameters do not fit"
    return replace(
        category,
        candidates=find,
        why_invalid=blamed(category.why_invalid, "check whether {id} is valid", lambda why: why),
        label=category.label
        if category.label is no_rule
        else blamed(category.label, failed, lambda label: Label(*label)),
        template_fields=blamed(words, "return the words of {id}", dict) if words else None,
        rubric=rubric,
    )
