"""What there is behind the numbers of each scenario: continuations, their clips, what was said."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from sts.annotations.types import ShownVerdict
from sts_analysis.inputs.ratings import valued
from sts_analysis.statistics.outcomes import continuation_values

_SAID = ["annotator", "source", "verdict", "step", "reason", "adjudicated", "adjudicated_step"]
RULE, MODEL, REVIEWER = "a rule", "a model", "a reviewer"


class Clip(NamedTuple):
    """What looks and sounds the same, of whatever agents.

    Attributes:
      hash: of what there is to be seen and heard; of a continuation that is not kept here its id.
      continuation: the id of one that shows it.
      marks: what was said of it, people first.
    """

    hash: str
    continuation: str
    marks: tuple[ShownVerdict, ...]

    @property
    def in_question(self) -> bool:
        """Whether people disagree on its outcome, a reviewer decided, or a rule says another."""
        people = {one.verdict == "success" for one in self.marks if _counts(one, "verdict")}
        ruled = {one.verdict == "success" for one in self.marks if _counts(one, "label")}
        decided = any(one.kind == "adjudication" for one in self.marks)
        return decided or len(people) > 1 or bool(people and ruled and people != ruled)


class Share(NamedTuple):
    """What of an agent's continuations of a scenario is one clip.

    Attributes:
      clip: its hash.
      continuations: how many.
      value: the mean of what these are worth; None where none is judged.
    """

    clip: str
    continuations: int
    value: float | None


class Dossier(NamedTuple):
    """What is behind the numbers of one scenario.

    Attributes:
      scenario: its id.
      clips: by hash.
      agents: what each agent's continuations are, by its name.
    """

    scenario: str
    clips: Mapping[str, Clip]
    agents: Mapping[str, tuple[Share, ...]]


def dossiers(ratings: pd.DataFrame, source: str, clip_of: Mapping[str, str]) -> Iterator[Dossier]:
    """Yields what there is behind each scenario's numbers, in order of its id.

    Args:
      ratings: a checked ratings table.
      source: the labels that the report's numbers rest on.
      clip_of: the hash of each continuation's clip, by its id.
    """
    values = continuation_values(valued(ratings), source).sort_values("continuation")
    values["clip"] = _clips(values["continuation"], clip_of)
    said = _said(ratings[ratings["truth"] == ""], clip_of)
    first = values.drop_duplicates(["scenario", "clip"])[["scenario", "clip", "continuation"]]
    clips: dict[str, dict[str, Clip]] = {}
    for scenario, hash, continuation in first.itertuples(index=False):
        clip = Clip(hash, continuation, said.get(hash, ()))
        clips.setdefault(str(scenario), {})[hash] = clip
    shares = _shares(values)
    for scenario in sorted(clips):
        yield Dossier(scenario, clips[scenario], shares[scenario])


def _shares(values: pd.DataFrame) -> dict[str, dict[str, tuple[Share, ...]]]:
    """What the continuations of each scenario are, by agent."""
    each = values.groupby(["scenario", "agent", "clip"], sort=False)["y"].agg(["size", "mean"])
    found: dict[str, dict[str, tuple[Share, ...]]] = {}
    for (scenario, agent, clip), size, mean in each.sort_index(
        level=["scenario", "agent"], kind="stable", sort_remaining=False
    ).itertuples():
        share = Share(str(clip), int(size), None if pd.isna(mean) else float(mean))
        agents = found.setdefault(str(scenario), {})
        agents[str(agent)] = (*agents.get(str(agent), ()), share)
    return found


def _clips(continuations: pd.Series, clip_of: Mapping[str, str]) -> pd.Series:
    return pd.Series([clip_of.get(one, one) for one in continuations], continuations.index, str)


def _said(own: pd.DataFrame, clip_of: Mapping[str, str]) -> dict[str, tuple[ShownVerdict, ...]]:
    """What was said of each clip, once for all the continuations that it is."""
    rows = own.loc[own["verdict"] != "", ["continuation", *_SAID]]
    rows = rows.assign(clip=_clips(rows["continuation"], clip_of))
    rows = rows.drop_duplicates(["clip", *_SAID])
    found: dict[str, list[ShownVerdict]] = {}
    for clip, *cells in rows[["clip", *_SAID]].itertuples(index=False):
        for one in _of_row(*cells):
            if one not in found.setdefault(clip, []):
                found[clip].append(one)
    order = {"verdict": 0, "adjudication": 1, "label": 2}
    return {
        clip: tuple(sorted(every, key=lambda one: (order[one.kind], one.by)))
        for clip, every in found.items()
    }


def _of_row(
    annotator: str, source: str, verdict: str, step: object, reason: str, decided: str, at: object
) -> Iterator[ShownVerdict]:
    if source == "human":
        yield ShownVerdict(annotator, "verdict", verdict, _step(step), reason)
        if decided:
            yield ShownVerdict(REVIEWER, "adjudication", decided, _step(at), "")
    elif source == "model":
        yield ShownVerdict(MODEL, "label", verdict, _step(step), reason)
    else:
        why = "nobody was asked: who should speak said nothing" if source == "settled" else reason
        yield ShownVerdict(RULE, "label", verdict, _step(step), why)


def _step(step: object) -> int | None:
    return None if pd.isna(step) else int(step)  # type: ignore[call-overload]


def _counts(one: ShownVerdict, kind: str) -> bool:
    return one.kind == kind and one.verdict != "cannot_judge"
