"""What a report says of the people who judged."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pandas as pd

from sts.annotations.accuracy import measure_blocks
from sts_analysis.inputs.ratings import once
from sts_analysis.report.schema import Alpha, Annotator, Block, Effort, StepOffset, Together, Unable
from sts_analysis.report.values import entries, number
from sts_analysis.statistics.accuracy import Accuracy, accuracy
from sts_analysis.statistics.alpha import krippendorff
from sts_analysis.statistics.step_offset import step_offset


def annotators(
    ratings: pd.DataFrame, references: pd.DataFrame, *, seed: int
) -> tuple[Annotator, ...]:
    """Each annotator on their own.

    Args:
      ratings: a checked ratings table.
      references: its rows of people's answers on reference episodes, each answer once.
      seed: of the bootstrap.
    """
    human = once(ratings[(ratings["source"] == "human") & (ratings["annotator"] != "")])
    made = []
    for name, rows in human.groupby("annotator"):
        mine = references[references["annotator"] == name]
        own = rows[rows["truth"] == ""]
        made.append(
            Annotator(
                **_on_references(mine, accuracy(mine, seed=seed)),
                annotator=str(name),
                annotations=int(own["verdict"].ne("cannot_judge").sum()),
                cannot_judge=int(own["verdict"].eq("cannot_judge").sum()),
                median_seconds=number(rows["seconds"].median()),
                blocks=_blocks(mine),
            )
        )
    return tuple(made)


def together(
    ratings: pd.DataFrame, references: pd.DataFrame, pooled: Accuracy, *, seed: int
) -> Together:
    """All annotators, and how they agree with each other; `pooled` is their accuracy."""
    human = once(ratings[ratings["source"] == "human"])
    own, served = human[human["truth"] == ""], human[human["truth"] != ""]
    return Together(
        **_on_references(references, pooled),
        alpha=Alpha(**krippendorff(own, seed=seed)._asdict()),
        alpha_references=Alpha(**krippendorff(served, seed=seed)._asdict()),
        alpha_twice=Alpha(**krippendorff(own[own["twice"]], seed=seed)._asdict())
        if own["twice"].any()
        else None,
    )


def efforts(ratings: pd.DataFrame) -> tuple[Effort, ...]:
    """What judging each agent took, by name.

    Args:
      ratings: a checked ratings table; references are left out.
    """
    own = ratings[(ratings["truth"] == "") & (ratings["source"] == "human")]
    own = own[own["annotator"] != ""]
    clip = pd.factorize(own["clip"])[0] + own["continuation"].max() + 1
    thing = np.where(own["clip"] != "", clip, own["continuation"])
    said = own[["seconds"]].assign(thing=thing)
    said["annotator"] = pd.factorize(own["annotator"])[0]
    said["agent"], names = pd.factorize(own["agent"], sort=True)
    said = said.drop_duplicates(["annotator", "thing", "agent"])
    part = 1 / said.groupby(["annotator", "thing"])["agent"].transform("size").to_numpy()
    agent, timed = said["agent"].to_numpy(), said["seconds"].notna().to_numpy()
    spent = np.bincount(agent, (said["seconds"] * part).fillna(0.0))
    known, untimed = np.bincount(agent, timed), np.bincount(agent, part * ~timed)
    return entries(
        Effort,
        agent=[str(name) for name in names],
        hours=np.where(known > 0, spent / 3600, np.nan),
        judgements=np.bincount(agent, part),
        untimed=untimed,
    )


def unable(ratings: pd.DataFrame) -> tuple[Unable, ...]:
    """The scenarios that somebody could not judge, the worst first.

    Args:
      ratings: a checked ratings table; references are among it.
    """
    human = once(ratings[(ratings["source"] == "human") & (ratings["verdict"] != "")])
    concerned = human.loc[human["verdict"] == "cannot_judge", "scenario"]
    rows = human[human["scenario"].isin(concerned)]
    dark = rows[rows["verdict"] == "cannot_judge"]
    clips = dark.groupby("scenario")["continuation"].nunique()
    whole = rows.groupby("scenario")
    category, judged = whole["category"].first(), whole["continuation"].nunique()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for name, words in zip(dark["scenario"], dark["reason"], strict=True):
        reasons[name].update([words] if words else [])
    made = [
        Unable(
            scenario=str(name),
            category=str(category[name]) or None,
            clips=int(clips[name]),
            judged=int(judged[name]),
            reasons=dict(sorted(reasons[name].items(), key=lambda pair: (-pair[1], pair[0]))),
        )
        for name in clips.index
    ]
    return tuple(sorted(made, key=lambda one: (-one.clips, one.scenario)))


def _blocks(references: pd.DataFrame) -> tuple[Block, ...]:
    """One annotator's answers by twenties; none where the order of judging is not known."""
    told = references[~references["verdict"].isin(("cannot_judge", ""))]
    if told["order"].isna().any():
        return ()
    told = told.sort_values("order", kind="stable")
    right = (told["verdict"] == "success") == (told["truth"] == "success")
    return tuple(Block(**one._asdict()) for one in measure_blocks(right.tolist()))


def _on_references(references: pd.DataFrame, rates: Accuracy) -> dict[str, Any]:
    offset = StepOffset(**step_offset(references)._asdict())
    return {"references": len(references), **rates._asdict(), "step_offset": offset}
