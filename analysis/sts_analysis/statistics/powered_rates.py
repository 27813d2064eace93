"""Prediction-powered pass rates: people judge a part, a rule or model labels everything.

In each scenario the rate by people is moved by how far the labels' rate on the judged continuations
is from their rate on all, times a weight in [0, 1]. However bad the labels are, the rate stays that
of people's verdicts.

Source: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382:669; the weight:
Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453; cross-fitting: Zrnic and Candes 2024, Proc.
Natl. Acad. Sci. 121(15), arXiv 2309.16598.

Axes: A agents, S scenarios, C continuations.
"""

import hashlib
from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.means import weigh_rows
from sts_analysis.statistics.tabulation import Outcomes

FOLDS = 10
MIN_EFFECTIVE_UNITS = 4.0
MAX_SELECTION = 3.29
"""Standard errors (p = .001) by which labels of judged continuations may differ from all labels."""


class LabelControl(NamedTuple):
    """How labels correct the values of agents in scenarios; nothing where there is a reason."""

    moved: np.ndarray  # float64[A, S], added to the value of a judged scenario
    added: np.ndarray  # float64[A, S], whose mean over `inside` is added to the rate
    inside: np.ndarray  # bool[A, S], scenarios over which labels are averaged
    weight: np.ndarray  # float64[A], of the labels, mean over judged scenarios; NaN with a reason
    judged: np.ndarray  # int64[A], continuations that people judged
    judgeable: np.ndarray  # int64[A], continuations less unjudgeable ones
    reasons: tuple[str, ...]  # A of why labels correct nothing, or ""


class _Labelled(NamedTuple):
    """Labels of a rule next to people's verdicts."""

    judged: np.ndarray  # int64[A, S], continuations that people judged
    judgeable: np.ndarray  # int64[A, S]
    people: np.ndarray  # float64[A, S], mean verdict; 0 where nothing is judged
    # float64[A, S], mean label of judged continuations; 0 where nothing is judged
    label: np.ndarray
    label_of_all: np.ndarray  # float64[A, S], mean label of judgeable continuations; 0 without any
    covered: np.ndarray  # bool[A], some judged continuation has a label


def fit_labels(people: Outcomes, labels: Outcomes) -> LabelControl:
    """Fit how labels correct people's verdicts; `RateModel` uses it.

    Holds if the judged continuations are a random part of each scenario's, and the judged scenarios
    of each category's; and if labels are missing at random. A scenario without a verdict counts by
    its labels. Where a program abstains ("cannot judge"), its label is a value of its own.

    Args:
      people: of source "human".
      labels: of another source, from the same table.
    """
    category, unit = people.category, people.unit
    both = _combine(people, labels)
    known = both.judged > 0
    member = (category[:, None] == np.arange(len(people.categories))).astype(np.float64)
    inside = (both.judgeable > 0) & ((known @ member) > 0)[:, category]
    own, every = weigh_rows(known, category, unit), weigh_rows(inside, category, unit)
    weight = _fit_weights(both, own, every, member, people)
    centre = est.divide((every * both.label_of_all) @ member, every @ member)[:, category]
    shares = est.sum_units(own, unit, int(unit.max()) + 1)
    reasons = _find_reasons(people, both, own, est.divide(1.0, (shares**2).sum(axis=1)))
    used = np.array([not reason for reason in reasons])
    # About their category's mean, so that a weight that differs between folds moves no rate by the
    # level of the labels.
    return LabelControl(
        moved=np.where(used[:, None] & known, -weight * (both.label - centre), 0.0),
        added=np.where(used[:, None] & inside, weight * (both.label_of_all - centre), 0.0),
        inside=np.where(used[:, None], inside, known),
        weight=np.where(used, (own * weight).sum(axis=1), np.nan),
        judged=both.judged.sum(axis=1),
        judgeable=both.judgeable.sum(axis=1),
        reasons=reasons,
    )


def _combine(people: Outcomes, labels: Outcomes) -> _Labelled:
    made, shape = people.continuations, people.value.shape
    judged, judgeable = made.verdicts > 0, ~made.unjudgeable
    # Any value will do for an abstention, as the weight of labels follows from what they tell.
    y = np.where(labels.continuations.unjudgeable, 0.5, labels.continuations.y)
    labelled = np.isfinite(y)
    group = made.agent * len(people.categories) + people.category[made.scenario]
    sums, numbers = (
        np.bincount(group, x) for x in (np.nan_to_num(y) * judgeable, judgeable & labelled)
    )
    y = np.where(labelled, y, est.divide(sums, numbers)[group])  # moves no rate

    def average(chosen: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        number = made.tally(chosen, shape)
        return number, made.tally(chosen, shape, values) / np.maximum(number, 1)

    (number, verdict), (_, label) = average(judged, made.y), average(judged, y)
    total, label_of_all = average(judgeable, y)
    covered = np.asarray(made.tally(judged & labelled, shape).any(axis=1))
    return _Labelled(number, total, verdict, label, label_of_all, covered)


def _fold_units(outcomes: Outcomes) -> np.ndarray:
    """Return int64[S], the fold of each scenario; a unit is in one, by a hash of its first name."""
    _, first = np.unique(outcomes.unit, return_index=True)
    digests = [hashlib.blake2b(outcomes.scenarios[i].encode()).hexdigest() for i in first]
    # Names and no seed decide; ranks of the hashes make folds equally large.
    place = np.argsort(np.argsort(digests))
    return np.asarray(place[outcomes.unit] % FOLDS)


def _fit_weights(
    both: _Labelled, own: np.ndarray, every: np.ndarray, member: np.ndarray, people: Outcomes
) -> np.ndarray:
    """Return float64[A, S], the weight of labels in each scenario, in [0, 1].

    It is the one that errs least in the units of other folds, so what people judge of a unit never
    decides how the unit is corrected.

    Args:
      both: verdicts and labels.
      own: float64[A, S], weights of judged scenarios in the rate.
      every: float64[A, S], weights of all scenarios.
      member: float64[S, categories], 1 for the category of each scenario.
      people: whose units count.
    """
    weight, fold = np.zeros(own.shape), _fold_units(people)
    for left in np.unique(fold):
        kept = fold != left

        def deviate(values: np.ndarray, weights: np.ndarray, kept: np.ndarray = kept) -> np.ndarray:
            """Return float64[A, U], deviations from the means of categories, by unit."""
            w, x, inside = weights[:, kept], values[:, kept], member[kept]
            mean = est.divide((w * x) @ inside, w @ inside) @ inside.T
            return est.sum_units(w * (x - mean), people.unit[kept], int(people.unit.max()) + 1)

        if kept.any():
            verdicts = deviate(both.people, own)
            labels = deviate(both.label, own) - deviate(both.label_of_all, every)
            square, product = (labels**2).sum(axis=1), (labels * verdicts).sum(axis=1)
            # Least squares: under this weight the squared errors of units sum to least.
            best = np.divide(product, square, out=np.zeros(len(own)), where=square > est.ZERO**2)
            weight[:, ~kept] = np.clip(best, 0.0, 1.0)[:, None]
    return weight


def _find_reasons(
    people: Outcomes, both: _Labelled, own: np.ndarray, effective: np.ndarray
) -> tuple[str, ...]:
    """Return why labels correct nothing of each agent, or ""."""
    judged, judgeable = both.judged.sum(axis=1), both.judgeable.sum(axis=1)
    made = people.continuations
    auto = made.tally(made.auto_resolved, people.value.shape).any(axis=1)
    uneven = np.full(len(judged), people.draw == "uneven")
    gap = own * (both.label - both.label_of_all)
    size = np.sqrt((gap**2).sum(axis=1))  # Efron 1969, J. Am. Stat. Assoc. 64:1278
    selected = np.abs(gap.sum(axis=1)) > np.where(size > 0, MAX_SELECTION * size, np.inf)
    conditions = {
        "nothing judged": judged == 0,
        "all of it is judged": judged == judgeable,
        "a rule has resolved some of it, so that the rest is no random part": auto,
        "nothing that is judged has a label": ~both.covered,
        "which continuations were judged depends on how many look alike": uneven,
        f"needs {MIN_EFFECTIVE_UNITS:.0f} effective units": effective < MIN_EFFECTIVE_UNITS,
        "what was judged is no random part: its labels differ from those of all": selected,
    }
    return tuple(
        next((reason for reason, holds in conditions.items() if holds[a]), "")
        for a in range(len(judged))
    )
