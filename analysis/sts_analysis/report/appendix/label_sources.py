"""The pass rates by each label source side by side, and how labels agree with people."""

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from sts_analysis.inputs.ratings import deduplicate_judgements
from sts_analysis.report.core import (
    MIN_UNITS_OF_INTERVAL,
    Interval,
    Report,
    Study,
    find_interval,
    html,
    interval,
    join,
    number,
)
from sts_analysis.report.markup import Cell, render_table
from sts_analysis.report.text import decimal, decimal_range, percent, percent_range
from sts_analysis.statistics.agreement import Agreement, measure_kappa
from sts_analysis.statistics.rates import RateModel

TITLE = "Label sources"
NAV = "Label sources"
_WORDS = {"human": "People", "automatic": "Rule", "model": "Model"}


class Row(msgspec.Struct, frozen=True):
    """The pass rate of an agent by one label source.

    Attributes:
      agent: its name.
      source: "human", "automatic" or "model".
      pass_rate: null if nothing is labelled.
      interval: null below five units.
      continuations: with a label, or auto-resolved.
    """

    agent: str
    source: str
    pass_rate: float | None
    interval: Interval | None
    continuations: int


class LabelAgreement(msgspec.Struct, frozen=True):
    """How people's verdicts agree with labels of the same continuations.

    Attributes:
      source: of the labels, "automatic" or "model".
      share: of verdicts that agree.
      kappa: Cohen's: 1 is full agreement, 0 is chance; null if undefined.
      interval: of kappa.
      judgements: verdicts compared.
      continuations: that they are of.
      units: independent units of these.
      reason: why kappa is null, or "".
    """

    source: str
    share: float | None
    kappa: float | None
    interval: Interval | None
    judgements: int
    continuations: int
    units: int
    reason: str


class Result(msgspec.Struct, frozen=True):
    """Label sources side by side; they are never mixed.

    Attributes:
      rows: rates by agent and source; empty unless there are two sources.
      agreement: of people with each other source.
      verdicts: number of verdicts by source; "settled" counts auto-resolved continuations.
    """

    rows: tuple[Row, ...]
    agreement: tuple[LabelAgreement, ...]
    verdicts: dict[str, int]


def compute(study: Study) -> Result:
    """Estimate the rates by each source, and the agreement of people with the others."""
    rows = study.agent_rows
    given = rows.loc[(rows["verdict"] != "").to_numpy(), "source"].value_counts()
    people = deduplicate_judgements(rows[(rows["source"] == "human").to_numpy()])
    sources = study.sources if len(study.sources) > 1 else ()
    return Result(
        rows=_list_rates(study, sources),
        agreement=tuple(
            _compare(source, measure_kappa(people, study.outcomes_of(source)))
            for source in sources[1:]
            if sources[0] == "human"
        ),
        verdicts={str(name): int(count) for name, count in given.items() if count},
    )


def render(result: Result, report: Report) -> Markup:
    """Show a column for each source."""
    if not result.rows:
        return Markup()
    sources = list(dict.fromkeys(row.source for row in result.rows))
    head = ["Agent", *(text for s in sources for text in (_WORDS[s], "95% interval"))]
    rates: dict[str, list[Cell]] = {}
    for row in result.rows:
        cells = rates.setdefault(row.agent, [row.agent])
        cells += [percent(row.pass_rate), percent_range(row.interval)]
    return join([render_table(head, rates.values()), *map(_render_agreement, result.agreement)])


def _list_rates(study: Study, sources: Sequence[str]) -> tuple[Row, ...]:
    found = []
    for source in sources:
        outcomes = study.outcomes_of(source)
        model = RateModel(outcomes, target=study.options.target)
        found.append((source, outcomes, model.estimate_rates()))
    return tuple(
        Row(
            agent=outcomes.agents[agent],
            source=source,
            pass_rate=number(rates.rate[agent]),
            interval=find_interval(rates, agent),
            continuations=int(outcomes.judged[agent].sum()),
        )
        for agent in study.order
        for source, outcomes, rates in found
    )


def _compare(source: str, agreement: Agreement) -> LabelAgreement:
    return LabelAgreement(
        source=source,
        share=number(agreement.share),
        kappa=number(agreement.value),
        interval=interval(agreement.interval) if agreement.units >= MIN_UNITS_OF_INTERVAL else None,
        judgements=agreement.judgements,
        continuations=agreement.items,
        units=agreement.units,
        reason=agreement.reason,
    )


def _render_agreement(row: LabelAgreement) -> Markup:
    who = "The rule" if row.source == "automatic" else "The model"
    if row.share is None:
        return html("<p class=cap>{} cannot be compared with people: {}.</p>", who, row.reason)
    kappa = f"; Cohen’s kappa is {decimal(row.kappa)}" if row.kappa is not None else ""
    if row.interval is not None:
        kappa += f" ({decimal_range(row.interval)})"
    return html(
        "<p class=cap>{} agrees with {} of {} verdicts of people on {} continuations{}.</p>",
        who,
        percent(row.share),
        f"{row.judgements:,}",
        f"{row.continuations:,}",
        kappa,
    )
