"""What rates can still become while judging goes on, however often one looks."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sts_analysis.report.schema_stopping import Final, FinalDifference, Stopping
from sts_analysis.statistics import intervals
from sts_analysis.statistics.label_set import LabelSet
from sts_analysis.statistics.peek_safe import Stratum, peek_safe_interval

METHOD = (
    "prior-posterior ratio for sampling without replacement (Waudby-Smith and Ramdas 2020): holds "
    "at every look, for these continuations and annotators; needs an order of judging that does "
    "not depend on the outcome"
)


def stopping(main: LabelSet, ratings: pd.DataFrame) -> Stopping | None:
    """What the ranked agents' rates can still become; None where all is judged.

    Args:
      main: the labels that the report rests on.
      ratings: the table they come from, with its clips.
    """
    table = main.continuations
    if not (table["y"].isna() & ~table["unjudgeable"]).any():
        return None
    clip = ratings.drop_duplicates("continuation").set_index("continuation")["clip"]
    table = table.assign(clip=table["continuation"].map(clip.astype(object)).fillna(""))
    names = [main.outcomes.agents[row] for row in main.ranked]
    strata = {name: _strata(table[table["agent"] == name]) for name in names}
    joint = 1 - (1 - intervals.LEVEL) / max(len(names), 1)  # and so all differences hold together
    ends = {name: peek_safe_interval(own, level=joint) for name, own in strata.items()}
    pairs = main.comparisons.pairs[main.compared()]
    return Stopping(
        agents=tuple(
            Final(
                agent=name,
                interval=peek_safe_interval(own),
                judged=sum(one.judged for one in own),
                pool=sum(one.pool for one in own),
            )
            for name, own in strata.items()
        ),
        pairs=tuple(_difference(names[a], names[b], ends) for a, b in pairs),
        method=METHOD,
    )


def _difference(a: str, b: str, ends: Mapping[str, tuple[float, float]]) -> FinalDifference:
    low, high = ends[a][0] - ends[b][1], ends[a][1] - ends[b][0]
    return FinalDifference(a=a, b=b, interval=(low, high), apart=low > 0 or high < 0)


def _strata(own: pd.DataFrame) -> list[Stratum]:
    """An agent's clips by what each adds to its rate: a scenario weighs 1, and so do its copies."""
    # What a rule has settled is known first, so its order tells the outcome: a stratum of its own.
    own = own[~own["unjudgeable"]]
    share = 1 / own.groupby("scenario")["continuation"].transform("size")
    alone = own["continuation"].astype(str).radd("=")
    clip = own["clip"].where(own["clip"] != "", alone)
    clips = (
        pd.DataFrame({"weight": share, "y": own["y"], "settled": own["settled"]})
        .groupby(clip)
        .agg({"weight": "sum", "y": "first", "settled": "first"})
    )
    weight = np.round(clips["weight"].to_numpy(), 9)
    y = clips["y"].to_numpy()
    by_rule = clips["settled"].to_numpy()
    strata = []
    for one, rule in sorted({*zip(weight.tolist(), by_rule.tolist(), strict=True)}):
        inside = y[(weight == one) & (by_rule == rule)]
        judged = inside[np.isfinite(inside)]
        fewest, most = int((judged == 1).sum()), int((judged > 0).sum())
        strata.append(Stratum(len(inside), len(judged), (fewest, most), one))
    return strata
