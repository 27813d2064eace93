"""What a report says of scenarios by tag, and of those that belong together."""

from collections.abc import Mapping, Sequence

import numpy as np

from sts_analysis.inputs.subject import Subject
from sts_analysis.report import schema
from sts_analysis.report.values import ends, number
from sts_analysis.statistics import sampling
from sts_analysis.statistics.group_rates import group_rates
from sts_analysis.statistics.label_set import LabelSet
from sts_analysis.statistics.linked import credits
from sts_analysis.statistics.outcomes import Outcomes
from sts_analysis.statistics.pass_rates import TARGETS, pass_rates


def tagged(main: LabelSet, suite: Subject) -> tuple[schema.Tagged, ...]:
    """Each agent's pass rate over the scenarios of each tag, treated as a category is."""
    found = []
    for tag, ids in suite.tags.items():
        labels = tuple(tag if one in ids else "" for one in main.outcomes.scenarios)
        rates, judged = group_rates(main.outcomes, main.summary, labels, exact=main.exact)[tag]
        for row in main.order:
            group = schema.Group(
                pass_rate=number(rates[main.target].rate[row]),
                interval=ends(rates[main.target].interval[row]),
                intervals={name: ends(every.interval[row]) for name, every in rates.items()},
                method=rates[main.target].method[row],
                scenarios=int((judged[row] > 0).sum()),
                judged=int(judged[row].sum()),
            )
            found.append(schema.Tagged(**vars(group), agent=main.outcomes.agents[row], tag=tag))
    return tuple(found)


def columns(outcomes: Outcomes, groups: Mapping[str, Sequence[str]]) -> list[np.ndarray]:
    """Indices of the scenarios of each group."""
    place = {name: i for i, name in enumerate(outcomes.scenarios)}
    return [np.array([place[id] for id in ids]) for ids in groups.values()]


def linked(
    main: LabelSet, groups: Mapping[str, tuple[str, ...]], *, called: str
) -> schema.Linked | None:
    """Credit for doing all of what belongs together; None where nothing does.

    Args:
      main: the report's set of labels.
      groups: scenarios of each group, by its name.
      called: what a group is called where the method counts them.
    """
    if not groups:
        return None
    place = columns(main.outcomes, groups)
    every = credits(main.summary, place)
    kind = sampling.kinds(main.outcomes.category, place)
    rates = {target: pass_rates(every, kind, target=target) for target in TARGETS}
    own, agents = rates[main.target], main.outcomes.agents
    return schema.Linked(
        scenarios=dict(groups),
        agents=tuple(
            schema.Credit(
                agent=agents[row],
                credit=number(own.rate[row]),
                interval=ends(own.interval[row]),
                intervals={name: ends(one.interval[row]) for name, one in rates.items()},
                method=own.method[row].replace("scenario", called),
                groups=int(every.number[row].sum()),
            )
            for row in main.order
        ),
        credits={
            name: {agents[row]: number(every.mean[row, g]) for row in main.order}
            for g, name in enumerate(groups)
        },
    )
