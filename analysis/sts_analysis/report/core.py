"""What a report is made of: a study, its sections, and the results that they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

import msgspec
import numpy as np
import pandas as pd
from markupsafe import Markup

from sts.annotations.races import PairLook
from sts.errors import ArgumentError, DamagedData
from sts.ratings import SOURCES
from sts_analysis.inputs.gather import Gathered
from sts_analysis.inputs.ratings import apply_adjudication, deduplicate_judgements, find_measuring
from sts_analysis.inputs.scores import match_scores
from sts_analysis.report.claim import Claim, Progress, Resolved, decide
from sts_analysis.report.race_record import RaceRecord, read_race
from sts_analysis.statistics.means import Means
from sts_analysis.statistics.missing import count_missing
from sts_analysis.statistics.powered_rates import fit_labels
from sts_analysis.statistics.race import repeat_race
from sts_analysis.statistics.rates import RateModel, Rates, Target
from sts_analysis.statistics.tabulation import Outcomes, RaceBounds, measure_reached, tabulate

FORMAT = "sts-report/3"
MIN_UNITS_OF_INTERVAL = 5
"""Independent units below which a rate is shown as a count."""
Interval = tuple[float, float]
R = TypeVar("R")
Row = TypeVar("Row")


class Options(NamedTuple):
    """What the author of a report may choose."""

    # "sampled" for intervals about other scenarios like these, "fixed" about these alone
    target: Target = "sampled"
    seed: int = 0  # of random draws (permutations of correlations)
    people_are_units: bool = False  # join everything that the same people recorded
    closed: str = ""  # the reason why a study on a bare table was closed early; "" if it was not
    goal: str = ""  # of the race of agents on a bare table, "rank" or "best"; "" without one
    # pairs of agents whose comparison was planned, Holm-adjusted among themselves
    contrasts: Sequence[tuple[str, str]] = ()
    # add rates that use labels of a rule or model next to people's verdicts
    prediction_powered: bool = False
    guessing_baseline: str = ""  # the agent whose passes count as guesses
    margin: float | None = None  # difference in pass rate that still counts as not worse
    reference_agent: str = ""  # the agent that others may be not worse than; "" for the best
    # continuations of each agent in each scenario of a table; 0 for as many as the agent has at
    # most in one
    planned: int = 0
    # address, from the report's folder, of the page with all clips; "" for none
    clip_page: str = ""


class Study:
    """What was loaded, laid out once for all sections.

    Args:
      gathered: ratings, scores and what they are about.
      options: of the report.
      provenance: versions and commit.

    Raises:
      DamagedData: the table holds no continuation of an agent, or an agent has several values of a
        score that cannot be distinguished.
      ArgumentError: a race is to be repeated, and the table has no places in rounds, or no
        judgements of people.
    """

    def __init__(self, gathered: Gathered, options: Options, provenance: Mapping[str, Any]) -> None:
        self.ratings, self.subject = gathered.ratings, gathered.suite
        self.scores = match_scores(gathered.scores, gathered.versions)
        self.gathered, self.options, self.provenance = gathered, options, provenance
        self._outcomes: dict[str, Outcomes] = {}
        self._results: dict[Callable[[Study], object], object] = {}
        if not (self.ratings["truth"] == "").any():
            raise DamagedData(
                f"{self.subject.name}: expected continuations of agents, found only references"
            )

    @cached_property
    def values(self) -> pd.DataFrame:
        """The ratings with adjudicated verdicts in place; see `apply_adjudication`."""
        return apply_adjudication(self.ratings)

    @cached_property
    def agent_rows(self) -> pd.DataFrame:
        """The ratings of agents, without references."""
        return self.ratings[(self.ratings["truth"] == "").to_numpy()]

    @cached_property
    def people_rows(self) -> pd.DataFrame:
        """People's answers on agents' continuations, each once; adjudication is not in place."""
        rows = self.agent_rows
        mine = (rows["source"] == "human") & (rows["annotator"] != "") & (rows["verdict"] != "")
        return deduplicate_judgements(rows[mine.to_numpy()])

    @cached_property
    def reference_rows(self) -> pd.DataFrame:
        """People's answers on references that measure them, each once; see `find_measuring`."""
        return deduplicate_judgements(self.ratings[find_measuring(self.ratings).to_numpy()])

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The label sources that judged something; the report rests on the first."""
        rows = self.agent_rows
        judged = ~rows["verdict"].isin(("", "cannot_judge")).to_numpy()
        present = set(rows["source"][judged])
        return tuple(s for s in SOURCES if s in present and s != "settled") or ("human",)

    @property
    def source(self) -> str:
        """The label source that the report rests on."""
        return self.sources[0]

    def find_result(self, compute: Callable[[Study], R]) -> R:
        """Return what the function `compute` of a section returns; it is called once."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        return cast(R, self._results[compute])

    def outcomes_of(self, source: str) -> Outcomes:
        """Return the outcomes by one label source."""
        if source not in self._outcomes:
            self._outcomes[source] = self._tabulate(self.values, source)
        return self._outcomes[source]

    def outcomes_under(self, *, rubric_shown: bool) -> Outcomes:
        """Return the outcomes by people's own verdicts under one condition, not adjudicated.

        Annotators are left out: those of a condition are too few to estimate their effects.
        """
        rows = self.values
        other = (rows["source"] == "human") & (rows["rubric_shown"] != rubric_shown)
        own = np.where(other, "", self.ratings.loc[rows.index, "verdict"])
        return self._tabulate(rows.assign(verdict=own), "human")._replace(judging=None)

    @property
    def outcomes(self) -> Outcomes:
        """The outcomes that the report rests on."""
        return self.outcomes_of(self.source)

    @cached_property
    def model(self) -> RateModel:
        """The rates and differences that the report rests on."""
        return self._make_model(self.outcomes, self.missing, self.options.target)

    @property
    def labels(self) -> str:
        """The source of labels that rates use where people have not judged; "" for none."""
        control = self.model.control
        is_used = control is not None and "" in control.reasons
        return self._wanted_labels if is_used else ""

    @cached_property
    def _wanted_labels(self) -> str:
        """The source of labels that rates are to use if they can."""
        plan, asked = self.subject.plan, self.options.prediction_powered and self.options.goal != ""
        if plan is not None:
            asked = any(look.prediction_powered for look in plan.race.effective)
        usable = self.source == "human" and self.options.target == "sampled"
        return self.sources[1] if asked and usable and self.sources[1:] else ""

    def _make_model(self, outcomes: Outcomes, missing: np.ndarray, target: Target) -> RateModel:
        source, control = self._wanted_labels, None
        if source:
            control = fit_labels(outcomes, self.outcomes_of(source))
        return RateModel(outcomes, target=target, missing=missing, control=control)

    @cached_property
    def missing(self) -> np.ndarray:
        """int64[A, S], planned continuations that agents lack."""
        return self._count_missing(self.outcomes)

    def _count_missing(self, outcomes: Outcomes) -> np.ndarray:
        gathered = self.gathered
        if gathered.missing is not None:
            return outcomes.lay_out_counts(gathered.missing)
        unjudged = outcomes.lay_out_counts(gathered.unjudged)
        return count_missing(outcomes, self.options.planned or None, unjudged)

    @cached_property
    def rates(self) -> Rates:
        """The pass rates of all agents."""
        return self.model.estimate_rates()

    @cached_property
    def category_rates(self) -> tuple[Rates, ...]:
        """The pass rates of all agents in each category of `outcomes.categories`."""
        outcomes, model = self.outcomes, self.model
        return tuple(
            model.estimate_rates(outcomes.category == c) for c in range(len(outcomes.categories))
        )

    @cached_property
    def progress(self) -> Progress:
        """How much of what was planned is judged."""
        plan, missing = self.subject.plan, int(self.missing.sum())
        if plan is not None and self.source == "human":
            closed = plan.closed.reason if plan.closed else ""
            planned, judged, skipped = plan.planned_clips, plan.judged_clips, plan.skipped_clips
            return Progress(planned + missing, judged, closed, plan.number, missing, skipped)
        rows = self.agent_rows
        mine = (rows["source"] == self.source).to_numpy()
        unjudged = (rows["verdict"] == "").to_numpy()
        clip = pd.factorize(rows["clip"])[0]
        number = rows["continuation"].to_numpy()
        thing = np.where((rows["clip"] != "").to_numpy(), clip, clip.max() + 1 + number)
        planned = len(pd.unique(thing[mine])) + missing
        known, skipped = pd.unique(thing[mine & ~unjudged]), 0
        if self.race is not None:
            racing = ~rows["agent"].isin([*self.race.out]).to_numpy()
            needed = np.union1d(known, thing[mine & racing])
            skipped = len(np.setdiff1d(thing[mine], needed))
        return Progress(planned, len(known), self.options.closed, missing=missing, skipped=skipped)

    @cached_property
    def claim(self) -> Claim:
        """What the report may claim."""
        return decide(self.model, self.rates, self.progress, self.resolved)

    @property
    def resolved(self) -> Resolved:
        """The pairs of agents that looks have resolved."""
        return self.race.resolved if self.race and self._is_as_raced else {}

    @cached_property
    def race(self) -> RaceRecord | None:
        """The race of these agents, if people judge in one."""
        if self.source != "human":
            if self.options.goal:
                raise ArgumentError("goal: a race needs people's judgements, and there are none")
            return None
        if self.subject.plan is not None:
            race = self.subject.plan.race
        elif self.options.goal:
            until, rounds = measure_reached(self.values)
            if not until:
                raise ArgumentError("goal: a race needs a table with the columns round and place")
            race = repeat_race(self._model_at, until, rounds, self.options.goal)
        else:
            return None
        return read_race(race, self.gathered.versions) if race.effective else None

    @property
    def _is_as_raced(self) -> bool:
        """True if the report is about what the race's decisions were: all scenarios, sampled."""
        options, is_whole = self.options, self.subject.subset is None
        return is_whole and options.target == "sampled" and not options.people_are_units

    @cached_property
    def changed_pairs(self) -> tuple[PairLook, ...]:
        """The pairs about which looks would decide otherwise with the ratings of today."""
        if self.race is None or not self._is_as_raced:
            return ()
        return tuple(self.race.find_changes(self._model_at))

    def _model_at(self, bounds: RaceBounds) -> RateModel:
        outcomes = self._tabulate(self.values, "human", bounds)
        return self._make_model(outcomes, self._count_missing(outcomes), "sampled")

    @cached_property
    def order(self) -> list[int]:
        """All agents: the ranked ones, those left out, and baselines, each by falling rate."""
        claim, rate = self.claim, np.nan_to_num(self.rates.rate, nan=-1.0)
        placed = {*claim.ranked.tolist(), *claim.baselines.tolist()}
        rest = [a for a in range(len(rate)) if a not in placed]
        rest.sort(key=lambda agent: (-rate[agent], agent))
        return [*claim.ranked.tolist(), *rest, *claim.baselines.tolist()]

    @property
    def names(self) -> list[str]:
        """The names of all agents in `order`."""
        return [self.outcomes.agents[agent] for agent in self.order]

    def _tabulate(
        self, rows: pd.DataFrame, source: str, bounds: RaceBounds | None = None
    ) -> Outcomes:
        if source == "human" and bounds is None and self.race is not None:
            bounds = self.race.bounds
        return tabulate(
            rows, source, scenarios=self.subject.scenarios, groups=self._groups, bounds=bounds
        )

    @property
    def _groups(self) -> list[Sequence[str]]:
        people: dict[str, list[str]] = {}
        if self.options.people_are_units:
            for scenario, names in self.subject.people.items():
                for name in names:
                    people.setdefault(name, []).append(scenario)
        return [*self.subject.drawn_together, *people.values()]


class Report(msgspec.Struct, kw_only=True):
    """The results of all sections by their names; `document.define_report` adds their fields."""

    schema: str = FORMAT

    if TYPE_CHECKING:

        def __getattr__(self, section: str) -> Any:
            """Return the result of a section; None if it has nothing to show."""


class Section(Protocol):
    """A module that computes one result and shows it."""

    Result: type[msgspec.Struct]
    TITLE: Any
    NAV: str
    compute: Any
    render: Any


def find_title(section: ModuleType, report: Report) -> str:
    """Return the heading of a section in a report."""
    title = section.TITLE
    return str(title(report) if callable(title) else title)


def number(value: float | None) -> float | None:
    """Return a float, or None for one that is not finite."""
    return None if value is None or not np.isfinite(value) else float(value)


def interval(ends: np.ndarray | Sequence[float] | None) -> Interval | None:
    """Return both ends, or None where one is not finite."""
    if ends is None or not np.isfinite(np.asarray(ends)).all():
        return None
    return float(ends[0]), float(ends[1])


def find_interval(estimates: Means | Rates, row: int) -> Interval | None:
    """Return the interval of a row; None below `MIN_UNITS_OF_INTERVAL` units."""
    enough = estimates.units[row] >= MIN_UNITS_OF_INTERVAL
    return interval(estimates.interval[row]) if enough else None


def html(template: str, *values: object, **named: object) -> Markup:
    """Fill a template of HTML; what is no `Markup` is escaped."""
    return Markup(template).format(*values, **named)


def join(pieces: Iterable[str]) -> Markup:
    """Join pieces of HTML; what is no `Markup` is escaped."""
    return Markup("").join(pieces)
