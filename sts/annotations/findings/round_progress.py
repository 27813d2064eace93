"""Progress of a suite's judging, round by round, with the hours that are left."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts.annotations.findings.export import export_ratings
from sts.annotations.queue.rounds import find_reached
from sts.storage.workspace import Workspace


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


def load_rounds(workspace: Workspace, suite: str) -> list[Round]:
    """Load the rounds of a suite, `NAME@VERSION`, or of a part; none if nothing is queued.

    References, and judgements of excluded people, are left out.

    Raises:
      UnknownName: no such suite.
      StoreError: the store exists and cannot be read.
      DamagedData: an event was altered, or a judged continuation is missing.
    """
    table = export_ratings(workspace, suite).table
    table = table[table["cell"].notna() & (table["truth"] == "") & (table["excluded"] == "")]
    return summarise_rounds(table)


def summarise_rounds(table: pd.DataFrame) -> list[Round]:
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
    rows = first.assign(known=known, reached=reached)
    clips = rows.sort_values("cell").groupby("clip").agg({"round": "first", "known": "any"})
    clips["seconds"] = seconds.reindex(clips.index).fillna(0.0)
    timed = clips["known"] & (clips["seconds"] > 0)
    each = float(clips["seconds"][timed].mean()) / 3600 if timed.any() else None
    rounds = []
    for number in sorted({*map(int, round)}):
        own = rows[rows["round"] == number]
        of_round = clips[clips["round"] == number]
        left = int((~of_round["known"]).sum())
        rounds.append(
            Round(
                number,
                len(own),
                int(own["reached"].sum()),
                len(of_round),
                len(of_round) - left,
                float(of_round["seconds"].sum()) / 3600,
                left * each if each is not None else None,
            )
        )
    return rounds
