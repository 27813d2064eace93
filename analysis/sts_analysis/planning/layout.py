"""A ratings table without what was said: who continued what, and who judged it."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.inputs.ratings import valued
from sts_analysis.planning.pilot import Pilot
from sts_analysis.statistics.label_set import LabelSet, analyse

SETTLED = -1
_READ = [
    "agent",
    "scenario",
    "category",
    "kind",
    "sees",
    "horizon",
    "continuation",
    "clip",
    "source",
    "annotator",
    "verdict",
    "adjudicated",
    "truth",
]
"""The columns that pass rates, comparisons and who judged are analysed from."""


class Layout(NamedTuple):
    """Who continued what, and who judged it.

    Axes: A agents, S scenarios, J verdicts, K annotators, Q answers to reference episodes.

    Attributes:
      table: a checked ratings table, whose verdicts a study replaces.
      options: of `analyse`, the report's.
      agents: A names.
      ranked: bool[A].
      exact: bool[A], agents whose continuations of a scenario are all the same.
      category: int64[S].
      number: int64[A, S], judged continuations.
      people: whether people judge; else a rule or a model, which is taken for right.
      annotators: K names.
      row: int64[J], where a verdict stands in the table.
      continuation: int64[J], of what, counted from 0.
      clip: int64[J], what was looked at; several continuations may look alike.
      clips: object[2, J], what it is called where it fails, and where it succeeds.
      judge: int64[J], by whom, K is a reviewer; `SETTLED` where a rule has settled it.
      part: float64[J], the verdict's share in its agent's rate on its scenario.
      cell: int64[J], which rate, an index into the flat [A, S].
      answer: int64[Q], where the answer to a reference episode stands in the table.
      answered_by: int64[Q], by whom.
      truth: bool[Q], whether it is a success.
    """

    table: pd.DataFrame
    options: dict[str, Any]
    agents: tuple[str, ...]
    ranked: np.ndarray
    exact: np.ndarray
    category: np.ndarray
    number: np.ndarray
    people: bool
    annotators: tuple[str, ...]
    row: np.ndarray
    continuation: np.ndarray
    clip: np.ndarray
    clips: np.ndarray
    judge: np.ndarray
    part: np.ndarray
    cell: np.ndarray
    answer: np.ndarray
    answered_by: np.ndarray
    truth: np.ndarray

    def analyse(self, ratings: pd.DataFrame, *, target: str, seed: int, draws: int) -> LabelSet:
        """Analyses a table of this layout as a report does."""
        return analyse(ratings, target=target, seed=seed, draws=draws, **self.options)


def layout_of(pilot: Pilot) -> Layout:
    """The layout of what has been judged."""
    labels, table = pilot.labels, _relevant(pilot)
    outcomes, people = labels.outcomes, labels.source == "human"
    counts = ~table["verdict"].isin(("", "cannot_judge"))
    settled = people & (table["source"] == "settled")
    mine = counts & ((table["source"] == labels.source) | settled)
    row = np.flatnonzero(mine & (table["truth"] == ""))
    answer = np.flatnonzero(mine & (table["truth"] != ""))
    own, answers = table.iloc[row], table.iloc[answer]
    said = own[own["source"] == labels.source]
    annotators = pd.Index(sorted(said["annotator"].unique()))
    judge = annotators.get_indexer(pd.Index(own["annotator"]))
    judge = np.where(own["adjudicated"] != "", len(annotators), judge)
    judge = np.where(own["source"] == "settled", SETTLED, judge)
    agent = pd.Index(outcomes.agents).get_indexer(pd.Index(own["agent"]))
    scenario = pd.Index(outcomes.scenarios).get_indexer(pd.Index(own["scenario"]))
    number = labels.whole.number
    continuation = pd.factorize(own["continuation"])[0]
    verdicts = np.bincount(continuation)[continuation]
    clip = own["clip"].astype(object)
    named = clip != ""
    name = clip.where(named, "=" + own["continuation"].astype(str))
    ends = [(clip + end).where(named, "").to_numpy(object) for end in ("/-", "/+")]
    ranked = np.zeros(len(outcomes.agents), dtype=bool)
    ranked[labels.ranked] = True
    who = annotators.get_indexer(pd.Index(answers["annotator"]))
    return Layout(
        table=table,
        options=pilot.options,
        agents=outcomes.agents,
        ranked=ranked,
        exact=labels.exact,
        category=outcomes.category,
        number=number,
        people=people,
        annotators=tuple(annotators),
        row=row,
        continuation=continuation,
        clip=pd.factorize(name)[0],
        clips=np.stack(ends),
        judge=judge,
        part=1 / (verdicts * labels.parts.of(agent, scenario, judge == SETTLED)),
        cell=agent * number.shape[1] + scenario,
        answer=answer[who >= 0],
        answered_by=who[who >= 0],
        truth=(answers["truth"] == "success").to_numpy()[who >= 0],
    )


def _relevant(pilot: Pilot) -> pd.DataFrame:
    """The rows of the source, of references, and one of each continuation that it says nothing of.

    What others answered to references and did not judge agents stays as it is.
    """
    worth = valued(pilot.ratings)[_READ]
    sources = ("human", "settled") if pilot.labels.source == "human" else (pilot.labels.source,)
    own = worth["source"].isin(sources) | (worth["truth"] != "")
    rest = ~own & ~worth["continuation"].isin(worth["continuation"][own])
    rest &= ~worth["continuation"].where(rest).duplicated()
    return worth[own | rest].reset_index(drop=True)
