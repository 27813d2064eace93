"""What a change of version did to each agent's score, and to who can be told apart."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sts_analysis.inputs.subject import Other, Subject
from sts_analysis.report import schema
from sts_analysis.report.values import ends, number
from sts_analysis.statistics import settled
from sts_analysis.statistics.label_set import LabelSet, analyse
from sts_analysis.statistics.outcomes import arrange, continuation_values
from sts_analysis.statistics.rank_sets import rank_sets
from sts_analysis.statistics.version_change import PARTS, VersionChange, version_change


def against(
    main: LabelSet, ratings: pd.DataFrame, suite: Subject, other: Other, *, seed: int
) -> schema.Against:
    """Compares a version with another one.

    A scenario that both hold has one value: what this report rests on.

    Args:
      main: the report's set of labels.
      ratings: the table that it was made from.
      suite: what the report is about.
      other: the other version.
      seed: of every random draw.
    """
    own = suite.scenarios["scenario"]
    kept = own[own.isin(other.same)]
    called = _called(other, {*own})
    renamed, rows = _alone(other, called, {*main.outcomes.agents})
    linked_before = [[called[id] for id in group] for group in other.subject.together]
    before = pd.concat([suite.scenarios[own.isin(other.same)], renamed], ignore_index=True)
    every = pd.concat([suite.scenarios, renamed], ignore_index=True)
    rows["continuation"] += ratings["continuation"].max() + 1
    outcomes = arrange(
        continuation_values(pd.concat([ratings, rows], ignore_index=True), main.source),
        scenarios=every,
        together=[*suite.together, *linked_before],
    )
    scenarios = np.array(outcomes.scenarios, dtype=object)
    changed = version_change(
        settled.of_suite(outcomes),
        outcomes.category,
        np.isin(scenarios, before["scenario"].to_numpy(dtype=object)),
        np.isin(scenarios, own.to_numpy(dtype=object)),
        target=main.target,
        unit=outcomes.unit,
    )
    both = {
        name
        for name, old, new in zip(
            outcomes.agents, changed.scenarios["old"], changed.scenarios["new"], strict=True
        )
        if old and new
    }
    old_rows = pd.concat([ratings[ratings["scenario"].isin(kept)], rows], ignore_index=True)
    row = {name: i for i, name in enumerate(outcomes.agents)}
    return schema.Against(
        suite=other.subject.name,
        suite_hash=other.subject.hash,
        kept=tuple(kept),
        added=tuple(own[~own.isin(other.same)]),
        retired=tuple(renamed["scenario"]),
        agents=tuple(
            _change(main.outcomes.agents[i], row[main.outcomes.agents[i]], changed)
            for i in main.order
        ),
        first=_first(ratings, main, suite.scenarios, suite.together, both, seed),
        first_before=_first(old_rows, main, before, linked_before, both, seed),
    )


def _called(other: Other, taken: set[str]) -> dict[str, str]:
    """Returns what each scenario of the other version is called here, by its id there.

    An id that means something else in this version is written after the other's name.
    """
    here = {there: id for id, there in other.same.items()}
    return {
        id: here.get(id, f"{other.subject.name}/{id}" if id in taken else id)
        for id in other.subject.scenarios["scenario"]
    }


def _alone(
    other: Other, called: Mapping[str, str], agents: set[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Returns the scenarios of the other version alone, and what these agents did on them."""
    alone = other.subject.scenarios
    alone = alone[~alone["scenario"].isin(other.same.values())].reset_index(drop=True)
    rows = other.ratings
    own = rows["scenario"].isin(alone["scenario"]) & rows["agent"].isin(agents)
    rows = rows[own & (rows["truth"] == "")]
    return (
        alone.assign(scenario=alone["scenario"].map(called)),
        rows.assign(scenario=rows["scenario"].map(called)),
    )


def _change(agent: str, row: int, changed: VersionChange) -> schema.Change:
    parts = {
        name: schema.Share(
            pass_rate=number(changed.rates[name].rate[row]),
            interval=ends(changed.rates[name].interval[row]),
            scenarios=int(changed.scenarios[name][row]),
        )
        for name in PARTS
    }
    return schema.Change(
        agent=agent,
        **parts,
        difference=number(changed.difference[row]),
        interval=ends(changed.interval[row]),
        method=changed.method[row],
    )


def _first(
    ratings: pd.DataFrame,
    main: LabelSet,
    scenarios: pd.DataFrame,
    together: Sequence[Sequence[str]],
    agents: set[str],
    seed: int,
) -> tuple[str, ...]:
    """Returns which of some agents can be first over some scenarios, by falling rate."""
    rows = ratings[ratings["agent"].isin(agents) & (ratings["truth"] == "")]
    if rows.empty:
        return ()
    found = analyse(
        rows,
        main.source,
        scenarios=scenarios,
        target=main.target,
        seed=seed,
        together=together,
    )
    rankings = found.rankings.number[found.ranked]
    pairs = found.comparisons
    best = rank_sets(rankings, pairs.pairs, pairs.difference, pairs.separated)[:, 0]
    places = zip(found.ranked, rankings, best, strict=True)
    return tuple(found.outcomes.agents[i] for i, ranking, low in places if ranking == low == 1)
