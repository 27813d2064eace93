"""Evidence for the numbers of each scenario: continuations, their clips, and verdicts on them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts.annotations.records import ShownVerdict
from sts_analysis.statistics.tabulation import Outcomes

_VERDICT = ["annotator", "source", "verdict", "step", "reason", "adjudicated", "adjudicated_step"]
RULE, MODEL, REVIEWER = "a rule", "a model", "a reviewer"
_KINDS = ("verdict", "adjudication", "label")


class Clip(NamedTuple):
    """Continuations that look and sound the same, of any agents."""

    hash: str  # of what there is to be seen and heard; of a continuation that is not stored its id
    continuation: str  # the id of one that shows it
    marks: tuple[ShownVerdict, ...]  # verdicts on it, people's first

    @property
    def in_question(self) -> bool:
        """True if annotators disagree on it, a reviewer decided, or a rule disagrees with them."""
        counted = [mark for mark in self.marks if mark.verdict != "cannot_judge"]
        people, rules = (
            {mark.verdict == "success" for mark in counted if mark.kind == kind}
            for kind in ("verdict", "label")
        )
        decided = any(mark.kind == "adjudication" for mark in self.marks)
        return decided or len(people) > 1 or bool(people and rules and people != rules)


class Share(NamedTuple):
    """The continuations of an agent in a scenario that are one clip."""

    clip: str  # its hash
    continuations: int  # how many
    value: float | None  # the mean of what these are worth; None if none is judged


class Dossier(NamedTuple):
    """Evidence for the numbers of one scenario."""

    scenario: str  # its id
    clips: Mapping[str, Clip]  # by hash
    agents: Mapping[str, tuple[Share, ...]]  # what each agent's continuations are, by its name


def list_dossiers(
    ratings: pd.DataFrame, outcomes: Outcomes, ids: pd.Series, clip_of: Mapping[str, str]
) -> list[Dossier]:
    """Return what is behind each scenario's numbers, in order of its id.

    Args:
      ratings: a checked ratings table.
      outcomes: made of it, for the labels that the report's numbers rest on.
      ids: of continuations, by their numbers.
      clip_of: the hash of each stored continuation's clip, by its id.
    """
    made = outcomes.continuations
    names = ids[made.number].tolist()
    hashes = [clip_of.get(name, name) for name in names]
    clip = pd.Categorical(hashes)
    frame = pd.DataFrame(
        {"scenario": made.scenario, "agent": made.agent, "clip": clip.codes, "y": made.y}
    )
    marks = _list_marks(ratings, pd.Series(clip, index=made.number))
    clips: dict[int, dict[str, Clip]] = defaultdict(dict)
    firsts = frame[["scenario", "clip"]].drop_duplicates()
    for at, scenario in zip(firsts.index.tolist(), firsts["scenario"].tolist(), strict=True):
        hash = hashes[at]
        clips[scenario][hash] = Clip(hash, names[at], tuple(marks.get(hash, ())))
    shares: dict[int, dict[str, list[Share]]] = defaultdict(lambda: defaultdict(list))
    values = frame.groupby(["scenario", "agent", "clip"], sort=False)["y"].agg(["size", "mean"])
    for (scenario, agent, code), size, mean in values.itertuples():
        value = None if np.isnan(mean) else mean
        shares[scenario][outcomes.agents[agent]].append(Share(clip.categories[code], size, value))
    return [
        Dossier(
            outcomes.scenarios[scenario],
            clips[scenario],
            {agent: tuple(own) for agent, own in shares[scenario].items()},
        )
        for scenario in sorted(clips)
    ]


def choose_clips(
    dossiers: Iterable[Dossier],
    report_clips: Collection[str],
    ranges: Mapping[str, float],
    limit: int | None,
    stored: Collection[str],
) -> dict[str, str]:
    """Return the clips to take along, each with a continuation that shows it.

    First come those that the report shows; then those in question; then one that passed and one
    that failed of each agent and scenario; then the rest. Within each, scenarios that agents differ
    in most come first.

    Args:
      dossiers: what there is.
      report_clips: the clips that the report shows.
      ranges: range of the agents' pass rates in each scenario, by its id.
      limit: how many at most; None for all.
      stored: the continuations that can be shown.
    """
    ranked = []
    for dossier in dossiers:
        examples: dict[tuple[str, bool], str] = {}
        for agent, shares in dossier.agents.items():
            for share in shares:
                if share.value is not None:
                    examples.setdefault((agent, share.value >= 0.5), share.clip)
        shown = {hash for hash, clip in dossier.clips.items() if clip.continuation in stored}
        for hash in shown:
            clip = dossier.clips[hash]
            criteria = (hash in report_clips, clip.in_question, hash in examples.values(), True)
            negative_range = -ranges.get(dossier.scenario, 0.0)
            key = (criteria.index(True), negative_range, dossier.scenario, hash)
            ranked.append((*key, clip.continuation))
    return {hash: continuation for *_, hash, continuation in sorted(ranked)[:limit]}


def _list_marks(ratings: pd.DataFrame, clip_of: pd.Series) -> dict[str, list[ShownVerdict]]:
    """Return the verdicts on each clip, once for all the continuations that it is.

    Args:
      ratings: a checked ratings table.
      clip_of: the hash of each continuation's clip, by its number; categorical.
    """
    rows = ratings.loc[(ratings["truth"] == "") & (ratings["verdict"] != "")]
    rows = rows.assign(clip=clip_of[rows["continuation"]].array)
    marks: dict[str, dict[ShownVerdict, None]] = {}
    for clip, *cells in rows[["clip", *_VERDICT]].drop_duplicates().itertuples(index=False):
        marks.setdefault(clip, {}).update(dict.fromkeys(_read_row(*cells)))
    return {
        clip: sorted(found, key=lambda mark: (_KINDS.index(mark.kind), mark.by))
        for clip, found in marks.items()
    }


def _read_row(
    annotator: str, source: str, verdict: str, step: float, reason: str, decided: str, at: float
) -> Iterator[ShownVerdict]:
    if source == "human":
        yield ShownVerdict(annotator, "verdict", verdict, _step(step), reason)
        if decided:
            yield ShownVerdict(REVIEWER, "adjudication", decided, _step(at), "")
    elif source == "settled":
        why = "auto-resolved: the player that should speak said nothing"
        yield ShownVerdict(RULE, "label", verdict, None, why)
    else:
        by = MODEL if source == "model" else RULE
        yield ShownVerdict(by, "label", verdict, _step(step), reason)


def _step(step: float) -> int | None:
    return None if np.isnan(step) else int(step)
