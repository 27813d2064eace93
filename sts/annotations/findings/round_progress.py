"""Progress of a suite's judging, round by round, with the hours that are left."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.export import export_ratings
from sts.annotations.log.looks import check_goal, load_race
from sts.annotations.people.members import DAY_S, load_daily_work
from sts.annotations.queue.rounds import find_reached
from sts.annotations.races import Race
from sts.annotations.study import base_suite
from sts.continuations.label_table import table_name
from sts.storage.workspace import Workspace

_RECENT_DAYS = 14


class Round(NamedTuple):
    """One round of a suite.

    A clip belongs to the round in which the first of its continuations stands.
    """

    round: int  # from 1
    continuations: int  # number of its continuations that are queued
    reached: int  # number of these that count by now
    clips: int  # number of its clips
    judged: int  # number of these with a verdict, or that everyone found unjudgeable
    hours: float  # spent on them
    # for the others, at the time that a clip has taken so far; None before one was timed
    hours_left: float | None
    skipped: int = 0  # number of its clips that are not judged, as all their agents have left


class RoundProgress(NamedTuple):
    """Progress of a suite's judging, and the state of its race."""

    rounds: list[Round]
    goal: str
    agents_in: tuple[str, ...]
    agents_out: dict[str, float]  # with the number of rounds after which each left
    kept: tuple[str, ...]  # by a lead
    resolved: int  # pairs
    pairs: int
    waits: bool  # for a lead's confirmation of the last look
    # UTC seconds, if all others stay and people judge as much a day as lately; None if unknown
    expected_end: float | None
    prediction_powered: bool  # looks use labels where people have not judged
    labelled: bool  # `sts label` has made labels of the suite


def load_rounds(workspace: Workspace, suite: str) -> RoundProgress:
    """Load the rounds of a suite, `NAME@VERSION`, or of a part; none if nothing is queued.

    References, and judgements of excluded people, are left out.

    Raises:
      UnknownName: no such suite.
      StoreError: the store exists and cannot be read.
      DamagedData: an event was altered, or a judged continuation is missing.
      ArgumentError: the study's goal has changed since the first look.
    """
    with AnnotationStore.open(workspace) as store, store.read() as connection:
        race, now, study = load_race(connection, suite), store.now(), store.study
        work = load_daily_work(connection, since=now - _RECENT_DAYS * DAY_S)
    check_goal(race, study, suite)
    table = export_ratings(workspace, suite).table
    table = table[table["cell"].notna() & (table["truth"] == "") & (table["excluded"] == "")]
    rounds = summarise_rounds(table, race)
    agents = sorted({*table["agent"]})
    left = [one.hours_left for one in rounds]
    end = None
    if work and None not in left:
        days = (now - DAY_S * min(day.day for day in work)) / DAY_S
        a_day = sum(day.seconds for day in work) / 3600 / max(days, 1.0)
        end = now + DAY_S * sum(hours or 0.0 for hours in left) / a_day if a_day else None
    return RoundProgress(
        rounds=rounds,
        goal=study.goal,
        agents_in=tuple(agent for agent in agents if agent not in race.out),
        agents_out=race.out,
        kept=tuple(sorted(race.kept)),
        resolved=len(race.resolved),
        pairs=len(agents) * (len(agents) - 1) // 2,
        waits=race.pending is not None,
        expected_end=end,
        prediction_powered=study.prediction_powered,
        labelled=workspace.path(table_name(base_suite(suite))).exists(),
    )


def summarise_rounds(table: pd.DataFrame, race: Race) -> list[Round]:
    """Summarise rows of a ratings table of which each has a cell."""
    known = (table["verdict"] != "").groupby(table["continuation"]).any()
    first = table.drop_duplicates("continuation").set_index("continuation")
    known = known.reindex(first.index)
    cell, round = (first[name].to_numpy(np.float64) for name in ("cell", "round"))
    agent = pd.factorize(first["agent"])[0]
    reached = find_reached(agent, cell, round, known.to_numpy())
    if reached is None:
        return []
    judgements = table[table["verdict"] != ""].drop_duplicates(["clip", "annotator"])
    seconds = judgements.groupby("clip")["seconds"].sum().astype(np.float64)
    in_race = ~first["agent"].isin([*race.out])
    rows = first.assign(known=known, reached=reached, in_race=in_race)
    facts = {"round": "first", "known": "any", "in_race": "any"}
    clips = rows.sort_values("cell").groupby("clip").agg(facts)
    clips["seconds"] = seconds.reindex(clips.index).fillna(0.0)
    timed = clips["known"] & (clips["seconds"] > 0)
    each = float(clips["seconds"][timed].mean()) / 3600 if timed.any() else None
    rounds = []
    for number in sorted({*map(int, round)}):
        own = rows[rows["round"] == number]
        of_round = clips[clips["round"] == number]
        waiting = of_round[~of_round["known"]]
        left = int(waiting["in_race"].sum())
        rounds.append(
            Round(
                number,
                len(own),
                int(own["reached"].sum()),
                len(of_round),
                len(of_round) - len(waiting),
                float(of_round["seconds"].sum()) / 3600,
                left * each if each is not None else None,
                len(waiting) - left,
            )
        )
    return rounds
