"""Which clips of a study are worth watching: rules that pick scenarios and two clips of each."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from sts_analysis.report.core import Study

MAX_PICKS = 10
MAX_PER_CATEGORY = 2
MAX_DISPUTED, MAX_FAILURES, MAX_NEIGHBOURS = 3, 3, 5
Kind = Literal["disagreement", "best fails", "two differ", "no agent passes", "both ways"]
_ORDER: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined]


class Clip(NamedTuple):
    """A clip of a pick."""

    agent: int  # its index
    passed: bool | None  # None if annotators disagree
    number: int  # of the continuation in the ratings table


class Choice(NamedTuple):
    """A picked scenario."""

    kind: Kind  # the rule that picked it
    scenario: int  # its index
    clips: tuple[Clip, ...]  # one or two
    # annotators who judged a disputed clip a success, and the others
    split: tuple[int, int] | None = None


def pick_clips(study: Study) -> list[Choice]:
    """Pick at most ten scenarios, two of a category, and one of a kind and category.

    Clips that are compared with others' are picked only if the report may compare agents. Equal
    candidates come in the order of scenarios, so that equal data give equal picks.
    """
    claim, rules = study.claim, _Rules(study)
    taken: list[Choice] = []
    if claim.state in ("withheld", "interim"):
        agents = np.array([a for a in study.order if not study.outcomes.baseline[a]], np.int64)
    else:
        agents = claim.ranked
        rules.take(taken, rules.find_disputed(agents), MAX_DISPUTED)
        if claim.state == "final":
            rules.take(taken, rules.find_failures(agents), MAX_FAILURES)
        rules.take(taken, rules.find_failed_by_all(agents), 1)
        for better, worse in zip(agents, agents[1 : MAX_NEIGHBOURS + 1], strict=False):
            rules.take(taken, rules.find_differing(int(better), int(worse)), 1)
    rules.take(taken, rules.find_both_ways(agents), MAX_PICKS)
    return sorted(taken, key=lambda choice: _ORDER.index(choice.kind))


def find_media(study: Study) -> dict[int, str]:
    """Return the path or address of each continuation's picture or video, by its number."""
    rows = study.agent_rows
    rows = rows[(rows["media"] != "").to_numpy()].drop_duplicates("continuation")
    return dict(zip(rows["continuation"].tolist(), map(str, rows["media"]), strict=True))


class _Rules:
    """Rules that yield candidates, the best first."""

    def __init__(self, study: Study) -> None:
        self.outcomes, self.value = study.outcomes, study.outcomes.value
        self.by_people = study.source == "human"
        clips = self.outcomes.continuations
        has_media = np.isin(clips.number, [*find_media(study)])
        # int64[A, S], a continuation with this outcome, if possible one with media; -1 for none.
        self.passed, self.failed = (np.full(self.value.shape, -1) for _ in range(2))
        for first, wanted in ((self.passed, clips.y > 0.5), (self.failed, clips.y < 0.5)):
            chosen = np.flatnonzero(wanted & (clips.verdicts > 0))
            chosen = chosen[np.lexsort((-clips.number[chosen], has_media[chosen]))]  # last stays
            first[clips.agent[chosen], clips.scenario[chosen]] = clips.number[chosen]

    def take(self, taken: list[Choice], candidates: Iterator[Choice], most: int) -> None:
        """Take the first candidates that are allowed next to those taken."""
        category, names = self.outcomes.category, self.outcomes.categories
        for choice in candidates:
            if most == 0 or len(taken) == MAX_PICKS:
                return
            place = category[choice.scenario]
            alike = [c for c in taken if names[place] and category[c.scenario] == place]
            if (
                all(c.scenario != choice.scenario for c in taken)
                and all(c.kind != choice.kind for c in alike)
                and len(alike) < MAX_PER_CATEGORY
            ):
                taken.append(choice)
                most -= 1

    def find_disputed(self, agents: np.ndarray) -> Iterator[Choice]:
        """Yield clips that annotators judge differently, the most even split first.

        Next to each is a clip of the agent whose pass rate there differs most.
        """
        clips = self.outcomes.continuations
        disputed = np.isin(clips.agent, agents) & (clips.y > 0) & (clips.y < 1)
        places = np.flatnonzero(disputed & self.by_people)
        evenness = abs(clips.y[places] - 0.5)
        order = np.lexsort((clips.scenario[places], -clips.verdicts[places], evenness))
        for clip in places[order].tolist():
            agent, scenario = int(clips.agent[clip]), int(clips.scenario[clip])
            distance = np.abs(self.value[agents, scenario] - self.value[agent, scenario])
            distance = np.where(agents == agent, -1, np.nan_to_num(distance))
            other = int(agents[distance.argmax()])
            passed = bool(self.value[other, scenario] >= 0.5)
            number = int((self.passed if passed else self.failed)[other, scenario])
            shown = [Clip(agent, None, int(clips.number[clip])), Clip(other, passed, number)]
            verdicts = int(clips.verdicts[clip])
            successes = round(float(clips.y[clip]) * verdicts)
            yield Choice(
                "disagreement",
                scenario,
                tuple(clip for clip in shown if clip.number >= 0),
                (successes, verdicts - successes),
            )

    def find_failures(self, agents: np.ndarray) -> Iterator[Choice]:
        """Yield scenarios that the first agent fails, those with the largest lead first."""
        first = int(agents[0])
        others = np.where(self.passed[agents] >= 0, self.value[agents], -1.0)
        lead = others.max(axis=0) - self.value[first]
        fails = (self.failed[first] >= 0) & (self.value[first] <= 0.5) & (lead > 0)
        for scenario in _sort(lead, fails):
            other = int(agents[others[:, scenario].argmax()])
            yield self._show("best fails", scenario, (first, False), (other, True))

    def find_differing(self, better: int, worse: int) -> Iterator[Choice]:
        """Yield scenarios in which one agent is ahead of another, the largest lead first."""
        lead = self.value[better] - self.value[worse]
        differ = (self.passed[better] >= 0) & (self.failed[worse] >= 0) & (lead > 0)
        for scenario in _sort(lead, differ):
            yield self._show("two differ", scenario, (better, True), (worse, False))

    def find_failed_by_all(self, agents: np.ndarray) -> Iterator[Choice]:
        """Yield scenarios that no agent ever passes, those with most judged clips first."""
        failed = (self.value[agents] == 0) & (self.failed[agents] >= 0)
        by_all = failed.all(axis=0) & bool(len(agents))
        for scenario in _sort(self.outcomes.judged[agents].sum(axis=0), by_all):
            shown = [(int(agent), False) for agent in agents[:2]]
            yield self._show("no agent passes", scenario, *shown)

    def find_both_ways(self, agents: np.ndarray) -> Iterator[Choice]:
        """Yield scenarios that an agent passes and fails, those nearest to half first."""
        both = (self.passed[agents] >= 0) & (self.failed[agents] >= 0)
        evenness = -np.abs(self.value[agents] - 0.5)
        for place in _sort(evenness.T.ravel(), both.T.ravel()):
            scenario, at = divmod(place, len(agents))
            agent = int(agents[at])
            yield self._show("both ways", scenario, (agent, True), (agent, False))

    def _show(self, kind: Kind, scenario: int, *shown: tuple[int, bool]) -> Choice:
        clips = (
            Clip(agent, passed, int((self.passed if passed else self.failed)[agent, scenario]))
            for agent, passed in shown
        )
        return Choice(kind, scenario, tuple(clips))


def _sort(score: np.ndarray, allowed: np.ndarray) -> list[int]:
    """Return the places that are allowed by falling score, equal ones in their order."""
    places = np.flatnonzero(allowed)
    ordered: list[int] = places[np.argsort(-score[places].round(9), kind="stable")].tolist()
    return ordered
