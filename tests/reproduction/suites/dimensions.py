"""By how much a suite distinguishes agents: pass rates, dimensions and rank agreement."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sts import agents
from sts.suites.suite import Scenario, Suite
from sts_analysis.inputs.gather import gather_table
from sts_analysis.inputs.subject import Subject
from sts_analysis.report.appendix import dimensions
from sts_analysis.report.core import Options, Study
from sts_scenarios.rules.profiles import Profile

LEAST = 5
"""Scenarios or pairs of a category: of fewer, a pass rate says too little."""
Rates = Mapping[str, Mapping[str, float]]
"""Of each category, what each agent passes of it."""


def pass_rates(scenarios: Iterable[Scenario], profiles: Mapping[str, Profile]) -> Rates:
    """Return what each agent passes of each category of `LEAST` scenarios or pairs.

    Of a pair, done is only who does both.
    """
    units: dict[tuple[str, str], list[Profile]] = defaultdict(list)
    for one in scenarios:
        units[one.category, one.pair or one.id].append(profiles[one.hash])
    rates: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (category, _), halves in units.items():
        for agent in halves[0].labels:
            each = [[one.verdict == "success" for one in half.labels[agent]] for half in halves]
            rates[category][agent].append(float(np.all(each, axis=0).mean()))
    counts = Counter(category for category, _ in units)
    return {
        category: {agent: float(np.mean(each)) for agent, each in own.items()}
        for category, own in rates.items()
        if counts[category] >= LEAST
    }


def report_dimensions(suite: Suite, profiles: Mapping[str, Profile]) -> dimensions.Result:
    """Return what a report on these continuations shows of the dimensions of the categories."""
    rows = [
        (agent, one.id, one.category, str(number), label.verdict)
        for one in suite.scenarios
        for agent, labels in profiles[one.hash].labels.items()
        for number, label in enumerate(labels)
    ]
    names = ["agent", "scenario", "category", "continuation", "verdict"]
    table = pd.DataFrame(rows, columns=names).assign(annotator="rule", source="automatic")
    sees = {name: agents.load(name).sees for name in table["agent"].unique()}
    table["sees"] = table["agent"].map(sees)
    subject = Subject(suite.label, worlds={one.id: one.world for one in suite.scenarios})
    found = dimensions.compute(Study(gather_table(table)._replace(suite=subject), Options(), {}))
    assert found is not None
    return found


def agreement(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Kendall's tau-b of two rankings of the same things; nan where one ranks nothing."""
    return float(stats.kendalltau(one, other).statistic)


class Agreement(NamedTuple):
    """How far choosing by effect has made a suite the choosing agents' own.

    `scenarios` is tau, over all scenarios, between what the agents with a say pass and the others.
    """

    scenarios: float
    choosing: float  # tau between what was chosen by effect and the rest, over agents with a say
    held_out: float  # the same over the others


def agreements(
    scenarios: Sequence[Scenario], profiles: Mapping[str, Profile], curation: Sequence[str]
) -> Agreement:
    """Return the rank agreement between agents that have a say and those that are held out."""
    every = [profiles[one.hash].passed for one in scenarios]
    names = [*every[0]]
    table = np.array([[own[n].successes / own[n].of for n in names] for own in every])
    say = np.isin(names, curation)
    chosen = [one.provenance.get("chosen_by", {}) for one in scenarios]
    by_effect = np.array(["effect_share" in one for one in chosen])
    parts = [table[by_effect].mean(0), table[~by_effect].mean(0)] if by_effect.any() else None
    return Agreement(
        agreement(table[:, say].mean(1), table[:, ~say].mean(1)),
        *((agreement(parts[0][w], parts[1][w]) for w in (say, ~say)) if parts else (np.nan,) * 2),
    )
