"""Real ratings by annotators who differ in strictness and favour agents: translated TED talks.

Four raters marked the errors of 14 English to German translations of 529 segments of five talks.
A translation without a major error is a success. `tests/data/wmt_ted/README.md` has the source,
its licence and what was changed; this command makes the file again from it:

    python -m tests.analysis.coverage.wmt_ted mqm_ted_ende.tsv

Axes: A agents, S scenarios, K annotators, P pairs of agents.
"""

import csv
import sys
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sts.jobs.pool import Pool
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.subject import Subject
from sts_analysis.inputs.tables import from_frame
from sts_analysis.planning.pilot import Pilot, read_pilot
from sts_analysis.planning.selfcheck import Share, list_cases, read_design, simulate_studies
from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.rates import Comparisons, RateModel
from sts_analysis.statistics.tabulation import Outcomes
from tests.analysis.coverage.measures import ALPHA

RATINGS = Path(__file__).parents[2] / "data" / "wmt_ted" / "ratings.csv"
RUN = 10
"""Consecutive segments that make a unit: raters stay with a translation for a while."""
Ignored = Literal["raters", "runs"]
"""Knowledge that a naive analysis lacks."""
LEAN = 0.8
"""Share that a half keeps of the verdicts of those who judged an agent more often; 1 - LEAN of the
others."""


class Fitted(NamedTuple):
    """What the model makes of the ratings.

    Attributes:
      strictness: standard deviation of raters, in log odds.
      favouritism: of favours.
      favour_p: of favours that are all 0.
      pairs: of translations.
      different: of these, significantly.
      for_others: of these, for other raters as well.
    """

    strictness: float
    favouritism: float
    favour_p: float
    pairs: int
    different: int
    for_others: int


class Halves(NamedTuple):
    """Shares of pairs of translations, each compared by both halves of the ratings.

    Attributes:
      agree: both differences are as near to each other as their errors allow; nominally .95.
      opposed: of these pairs, one translation is better at .05 by one half, the other by the other.
    """

    agree: float
    opposed: float


def convert(source: Path) -> None:
    """Write the ratings from the table of errors: a line per segment, a column per translation.

    A cell is the number of the rater, and + without a major error, else -.
    """
    errors = pd.read_csv(source, sep="\t", quoting=csv.QUOTE_NONE, dtype=str, na_filter=False)
    errors = errors.assign(
        segment=errors["seg_id"].astype(int), major=errors["severity"] == "Major"
    )
    of_cell = errors.groupby(["doc", "segment", "system"])
    sign = of_cell["major"].any().map({False: "+", True: "-"})
    cells = of_cell["rater"].first().str.removeprefix("rater") + sign
    table = cells.unstack().sort_index(level="segment")
    table.to_csv(RATINGS, lineterminator="\n")


def read_ratings() -> pd.DataFrame:
    """Return the ratings as a table of `sts report`: talks are categories."""
    table = pd.read_csv(RATINGS, dtype=str, na_filter=False)
    run = (table.groupby("doc").cumcount() // RUN).astype(str).str.zfill(2)
    table = table.assign(trajectory=table["doc"] + "/" + run)
    rows = table.melt(["doc", "segment", "trajectory"], var_name="agent", value_name="cell")
    return pd.DataFrame(
        {
            "agent": rows["agent"],
            "scenario": rows["doc"] + "/" + rows["segment"].str.zfill(3),
            "category": rows["doc"],
            "trajectory": rows["trajectory"],
            "annotator": "rater" + rows["cell"].str[0],
            "verdict": rows["cell"].str[1].map({"+": "success", "-": "failure"}),
        }
    )


@cache
def load_study() -> Pilot:
    """Read the ratings as the report does."""
    table = check_ratings(from_frame("WMT TED", read_ratings()))
    return read_pilot(table, Subject("WMT TED"), target="sampled")


def fit_ratings() -> Fitted:
    """Fit the model to all ratings, and compare all translations."""
    model, agents = load_study().model, load_study().ranked
    fitted = model.annotators
    assert fitted is not None and model.generalises(model.estimate_rates(), agents)
    different = model.compare(agents).p_holm < ALPHA
    for_others = different & (model.compare(agents, other_annotators=True).p_holm < ALPHA)
    return Fitted(
        strictness=fitted.leniency_variance**0.5,
        favouritism=fitted.favour_variance**0.5,
        favour_p=fitted.favour_p,
        pairs=len(different),
        different=int(different.sum()),
        for_others=int(for_others.sum()),
    )


def compare_halves(studies: int, *, uneven: bool, ignored: Ignored | None = None) -> Halves:
    """Compare translations by one half of the units and by the other, drawn at random.

    Raters, what they favour, and so the true differences are those of both halves.

    Args:
      studies: how many times.
      uneven: whether even raters judged even agents more often in one half, and odd ones in the
        other; else all ratings are used.
      ignored: by the analysis.
    """
    rng, whole = np.random.default_rng(53), load_study().outcomes
    agents, judging = np.arange(len(whole.agents)), whole.judging
    assert judging is not None
    alike = judging.judgements.argmax(axis=2) % 2 == agents[:, None] % 2
    agree, opposed = [], []
    for _ in range(studies):
        first = rng.permutation(np.arange(whole.unit.max() + 1) % 2)[whole.unit] == 0
        drawn = rng.random(alike.shape) < np.where(alike == first, LEAN, 1 - LEAN)
        drawn |= not uneven
        halves = [keep(whole, drawn & half) for half in (first, ~first)]
        if ignored == "raters":
            halves = [half._replace(judging=None) for half in halves]
        if ignored == "runs":
            halves = [half._replace(unit=np.arange(len(half.unit))) for half in halves]
        one, other = (RateModel(half).compare(agents) for half in halves)
        agree.append(agree_within_errors(one, other))
        claimed = (one.p < ALPHA) & (other.p < ALPHA)
        opposed.append(claimed & (one.value * other.value < 0))
    return Halves(*(float(np.concatenate(shares).mean()) for shares in (agree, opposed)))


def keep(outcomes: Outcomes, kept: np.ndarray) -> Outcomes:
    """Return outcomes of which a part was judged, bool[A, S]."""
    assert outcomes.judging is not None
    names, *tables = outcomes.judging
    return outcomes._replace(
        value=np.where(kept, outcomes.value, np.nan),
        judged=outcomes.judged * kept,
        judged_clips=(outcomes.judged * kept).sum(axis=1),
        judging=Judging(names, *(table * kept[..., None] for table in tables)),
    )


def agree_within_errors(one: Comparisons, other: Comparisons) -> np.ndarray:
    """Return bool[P] of the pairs that both have: are differences as close as they should be?"""
    variances = one.se**2 + other.se**2
    df = variances**2 / (one.se**4 / one.df + other.se**4 / other.df)
    known = np.isfinite(variances)
    gap = np.abs(one.value - other.value) / np.sqrt(variances)
    return np.asarray((gap <= stats.t.isf(ALPHA / 2, df))[known])


def check_design(studies: int) -> dict[str, dict[str, Share]]:
    """Simulate studies with the fitted effects, as `sts selfcheck` does: shares by case."""
    cases = list_cases(read_design(load_study()))
    found = simulate_studies(cases, studies=studies, seed=0, executor=Pool(1, inside=True))
    return {case.label: shares for case, shares in zip(cases, found, strict=True)}


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
