"""What a report says of annotators by the model of Dawid and Skene, and by groups of episodes."""

import numpy as np
import pandas as pd

from sts_analysis.inputs.ratings import once
from sts_analysis.report import schema_judges as schema
from sts_analysis.statistics import accuracy_by_group as groups
from sts_analysis.statistics.dawid_skene import Drawn, draw, panel

MOST_CLIPS = 5000
_LARGE = 20_000
METHOD = "Dawid and Skene 1979, reference episodes held fast, Beta(4, 2) before Se and Sp; {} draws"


def likely(ratings: pd.DataFrame, *, seed: int) -> schema.Likely | None:
    """Returns how well people judge and what clips are, from all that was said.

    None without anything to tell it by: a reference answered, or a clip that two people judged.

    Args:
      ratings: a checked ratings table; people's judgements are used, as they were made.
      seed: of the draws.
    """
    said = once(ratings[(ratings["source"] == "human") & (ratings["annotator"] != "")])
    said = said[~said["verdict"].isin(("", "cannot_judge"))]
    if said.empty:
        return None
    clip, first = pd.factorize(said["continuation"])
    who, people = pd.factorize(said["annotator"], sort=True)
    yes = (said["verdict"] == "success").to_numpy()
    rows = said.iloc[np.unique(clip, return_index=True)[1]]
    known = rows["truth"].to_numpy() != ""
    truth = np.where(known, (rows["truth"] == "success").to_numpy(), -1).astype(np.int64)
    times = np.bincount(clip)
    if not known.any() and times.max() < 2:
        return None
    judged, place = panel(clip, who, yes, truth)
    draws = 1000 if judged.yes.size <= _LARGE else 300
    found = draw(judged, seed=seed, draws=draws)
    mean = np.bincount(clip, yes) / times
    listed = np.flatnonzero(~known)
    agent, scenario, name = (rows[column].to_numpy() for column in ("agent", "scenario", "clip"))
    order = listed[np.lexsort((listed, -(mean * (1 - mean))[listed]))][:MOST_CLIPS]
    return schema.Likely(
        annotators=_annotators(found, [*map(str, people)], np.bincount(who)),
        clips=tuple(
            schema.LikelyClip(
                agent=str(agent[i]),
                scenario=str(scenario[i]),
                clip=str(name[i]) or None,
                judgements=int(times[i]),
                mean=float(mean[i]),
                chance=float(found.success[place[i]]),
            )
            for i in order
        ),
        clips_left_out=len(listed) - len(order),
        references=int(known.sum()),
        method=METHOD.format(draws),
    )


def _annotators(
    found: Drawn, people: list[str], number: np.ndarray
) -> tuple[schema.LikelyAccuracy, ...]:
    ends = {name: found.ends(name) for name in ("sensitivity", "specificity")}
    means = {name: getattr(found, name).mean(axis=0) for name in ends}
    return tuple(
        schema.LikelyAccuracy(
            annotator=name,
            judgements=int(number[k]),
            sensitivity=float(means["sensitivity"][k]),
            sensitivity_interval=_pair(ends["sensitivity"][k]),
            specificity=float(means["specificity"][k]),
            specificity_interval=_pair(ends["specificity"][k]),
        )
        for k, name in enumerate(people)
    )


def _pair(ends: np.ndarray) -> tuple[float, float]:
    return float(ends[0]), float(ends[1])


def by_group(ratings: pd.DataFrame, *, seed: int) -> tuple[schema.ByGroup, ...]:
    """Returns whether people judge some agents or categories better than others.

    Args:
      ratings: a checked ratings table.
      seed: of the permutations.
    """
    human = once(ratings[(ratings["source"] == "human") & (ratings["annotator"] != "")])
    references, judged = human[human["truth"] != ""], human[human["truth"] == ""]
    return tuple(
        schema.ByGroup(**one._asdict())
        for by in ("agent", "category")
        for one in groups.accuracy_by_group(references, judged, by, seed=seed)
    )
