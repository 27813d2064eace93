"""The ratings of a suite that a look at its race rests on.

They are those of an export, without what looks do not use, and read in a tenth of its time: the
chains of events are verified when a report is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Select, select

from sts.annotations.database.schema import annotators, events, items, reference_items
from sts.annotations.log.events import ADJUDICATION, JUDGEMENT_KINDS
from sts.annotations.people.exclusions import EXCLUDED
from sts.annotations.queue.balance import list_agents
from sts.annotations.queue.rounds import PLACES_PER_ROUND
from sts.annotations.study import StudySettings, base_suite
from sts.annotations.vault.study_continuations import read_continuations
from sts.continuations import label_table
from sts.continuations.label_table import AUTOMATIC
from sts.ratings import VERDICTS
from sts.storage.workspace import Workspace

_VERDICTS = ["", *VERDICTS]
_CODES = {verdict: code for code, verdict in enumerate(_VERDICTS)}
_SOURCES = ["human", "settled", AUTOMATIC]
_Value = TypeVar("_Value", int, str)


class RaceRatings(NamedTuple):
    """The ratings of a suite's continuations, and how far each agent is judged."""

    table: pd.DataFrame  # rows of the ratings format, with numbers for continuations and clips
    until: dict[str, float]  # by agent, the place in rounds before which everything is judged
    rounds: int


def load_race_ratings(
    connection: Connection, workspace: Workspace, suite: str, study: StudySettings
) -> RaceRatings:
    """Load the ratings of all continuations of a suite's queued agents, without references.

    Judgements of excluded people are left out. Automatic labels are added if the study uses them.
    """
    continuations = read_continuations(workspace, suite, None, study)
    made, trajectories = continuations.table, continuations.trajectories
    made["trajectory"] = made["scenario"].map(lambda hash: trajectories.get(hash, ""))
    clip, hashes = pd.factorize(made["clip"].to_numpy(object))
    code = {shown: number for number, shown in enumerate(hashes)}
    rows = _fetch(connection, select(items.c.id, items.c.clip, items.c.rubric))
    clip_of = {
        id: code.get(clip.removesuffix(f".{rubric}") if rubric else clip, -1)
        for id, clip, rubric in rows
    }
    pool = [clip_of[item] for item in connection.scalars(select(reference_items.c.item))]
    # An agent that is not queued yet is not in the race, even if its clips look like judged ones.
    keep = ~np.isin(clip, pool) & made["agent"].isin(list_agents(connection, suite)).to_numpy()
    made, clip = made[keep].reset_index(drop=True), clip[keep]
    judged = _load_judgements(connection, clip_of)
    start = np.searchsorted(judged.clip, np.arange(len(hashes) + 1))
    number = np.diff(start)[clip]
    size = np.maximum(number, 1)  # rows of each continuation
    row = np.repeat(np.arange(len(made)), size)
    turn = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    is_judged = (number > 0)[row]
    at = np.where(is_judged, start[clip[row]] + turn, -1)
    settled = made["silent"].to_numpy()[row] & ~is_judged
    verdict, adjudicated = (
        np.append(codes, 0)[at] for codes in (judged.verdict, judged.adjudicated)
    )
    verdict = np.where(settled, _VERDICTS.index("not_done"), verdict)
    position = made["place"].to_numpy() / PLACES_PER_ROUND
    table = made.iloc[row].drop(columns=["id", "clip", "member", "silent", "place", "scenario"])
    table = table.rename(columns={"scenario_id": "scenario"}).assign(
        continuation=row,
        clip=clip[row],
        annotator=_label(np.append(judged.annotator, 0)[at], judged.names),
        verdict=_label(verdict, _VERDICTS),
        adjudicated=_label(adjudicated, _VERDICTS),
        source=_label(settled.astype(np.int8), _SOURCES),
        truth="",
        round=1 + position[row] // 1,
        place=position[row] % 1,
    )
    table = table.reset_index(drop=True)
    if study.prediction_powered:
        verdicts = _load_labels(workspace, suite, made["id"])
        none = np.zeros(len(made), np.intp)
        labels = table.iloc[np.cumsum(size) - size].assign(
            annotator=_label(none, judged.names),
            verdict=_label(verdicts, _VERDICTS),
            adjudicated=_label(none, _VERDICTS),
            source=_label(none + _SOURCES.index(AUTOMATIC), _SOURCES),
        )
        table = pd.concat([table, labels[verdicts > 0]], ignore_index=True)
    waiting = (number == 0) & ~made["silent"].to_numpy()
    rounds = int(position.max(initial=0)) + 1 if len(made) else 0
    until = np.where(waiting, position, rounds)
    each = pd.Series(until).groupby(made["agent"].astype(str).to_numpy()).min()
    by_agent = {str(agent): float(end) for agent, end in each.items()}
    return RaceRatings(table, by_agent, rounds)


def _load_labels(workspace: Workspace, suite: str, ids: pd.Series) -> np.ndarray:
    """Return int64, places among `_VERDICTS` of the labels of continuations; 0 without one."""
    name = label_table.table_name(base_suite(suite))
    try:
        labels = label_table.read_verdicts(name, workspace.store.get(name), ids)
    except FileNotFoundError:  # nothing is labelled yet
        labels = {}
    return np.array([_CODES[labels[id][0]] if id in labels else 0 for id in ids], np.intp)


def _label(codes: np.ndarray, names: Sequence[str]) -> pd.Categorical[str]:
    return pd.Categorical.from_codes(codes, pd.Index(names))


class _Judgements(NamedTuple):
    """The last judgement of each clip by each annotator, in the order of clips."""

    clip: np.ndarray
    annotator: np.ndarray  # places among `names`
    verdict: np.ndarray  # places among `_VERDICTS`; a reviewer's decision, if there is one
    adjudicated: np.ndarray  # the same of such a decision alone
    names: list[str]  # pseudonyms; the first is "", for none


def _load_judgements(connection: Connection, clip_of: Mapping[str, int]) -> _Judgements:
    people = sorted(_fetch(connection, select(annotators.c.pseudonym, annotators.c.id)))
    place = {id: number for number, (_, id) in enumerate(people, start=1)}
    place |= dict.fromkeys(connection.scalars(EXCLUDED), 0)
    items_, people_, verdicts = _fetch_verdicts(connection, *JUDGEMENT_KINDS)
    clip, verdict = _encode(items_, clip_of), _encode(verdicts, _CODES)
    annotator = _encode(people_, place)
    counted = (clip >= 0) & (annotator > 0)
    clip, verdict, annotator = clip[counted], verdict[counted], annotator[counted]
    # Of several by one person, the last; `unique` finds the first.
    _, first = np.unique((clip * (len(people) + 1) + annotator)[::-1], return_index=True)
    last = len(clip) - 1 - first
    clip, verdict, annotator = clip[last], verdict[last], annotator[last]
    decided = np.zeros(max(clip_of.values(), default=0) + 2, np.intp)
    items_, _, verdicts = _fetch_verdicts(connection, ADJUDICATION)
    decided[_encode(items_, clip_of)] = _encode(verdicts, _CODES)  # the last one stays
    decided[-1] = 0  # clips of other suites
    adjudicated = decided[clip]
    verdict = np.where(adjudicated > 0, adjudicated, verdict)
    return _Judgements(clip, annotator, verdict, adjudicated, ["", *(name for name, _ in people)])


def _encode(values: Sequence[_Value], codes: Mapping[_Value, int]) -> np.ndarray:
    return np.array([codes[value] for value in values], np.intp)


def _fetch_verdicts(connection: Connection, *kinds: str) -> Sequence[Sequence[Any]]:
    """Return items, authors and verdicts of events of these kinds, in order."""
    columns = select(events.c.item, events.c.annotator, events.c.verdict).order_by(events.c.id)
    rows = _fetch(connection, columns.where(events.c.kind.in_(kinds)))
    return [*zip(*rows, strict=True)] or [(), (), ()]


def _fetch(connection: Connection, query: Select[*tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return plain rows of texts and numbers: SQLAlchemy's take three times as long."""
    cursor = connection.execute(query).cursor
    assert cursor is not None
    return list(cursor.fetchall())
