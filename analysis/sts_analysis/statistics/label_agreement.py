"""Agreement of human with automatic labels of the same continuations."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics import intervals


class LabelAgreement(NamedTuple):
    """How automatic labels compare with human ones on the same continuations.

    Attributes:
      continuations: with both labels.
      judgements: human judgements of these.
      both_success: human and automatic say success.
      human_only: only the human does.
      automatic_only: only the automatic label does.
      neither: neither does.
      share: judgements that agree; None without any.
      interval: of the share, scenarios as clusters.
      kappa: Cohen's; None where chance agreement is certain.
      balanced_accuracy: of the automatic label with human judgements as truth.
    """

    continuations: int
    judgements: int
    both_success: int
    human_only: int
    automatic_only: int
    neither: int
    share: float | None
    interval: tuple[float, float] | None
    kappa: float | None
    balanced_accuracy: float | None


def compare_labels(ratings: pd.DataFrame) -> LabelAgreement:
    """Compares each human judgement with the automatic label of the same continuation.

    Source: kappa: Cohen 1960, Educ. Psychol. Meas. 20:37.
    """
    rows = ratings[(ratings["truth"] == "") & ~ratings["verdict"].isin(("cannot_judge", ""))]
    rows = rows.assign(success=(rows["verdict"] == "success").astype(np.float64))
    automatic = rows[rows["source"] == "automatic"].groupby("continuation")["success"].mean()
    human = rows[rows["source"] == "human"]
    label = human["continuation"].map(automatic)
    both = human.assign(label=label).dropna(subset=["label"])
    says, machine = both["success"].to_numpy() > 0.5, both["label"].to_numpy() > 0.5
    both_success, human_only = int((says & machine).sum()), int((says & ~machine).sum())
    automatic_only, neither = int((~says & machine).sum()), int((~says & ~machine).sum())
    total = len(both)
    share = interval = kappa = balanced = None
    if total:
        share = (both_success + neither) / total
        interval = intervals.clustered(says == machine, both["scenario"].to_numpy())
        human_rate, machine_rate = says.mean(), machine.mean()
        chance = human_rate * machine_rate + (1 - human_rate) * (1 - machine_rate)
        kappa = None if chance >= 1 else float((share - chance) / (1 - chance))
        if 0 < human_rate < 1:
            balanced = float((machine[says].mean() + (~machine)[~says].mean()) / 2)
    return LabelAgreement(
        both["continuation"].nunique(),
        total,
        both_success,
        human_only,
        automatic_only,
        neither,
        share,
        interval,
        kappa,
        balanced,
    )
