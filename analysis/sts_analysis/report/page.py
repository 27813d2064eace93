"""Renders the report as one HTML page that needs nothing but itself."""

import base64
import functools
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby, pairwise
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from sts.plotting import to_inline_svg
from sts.viewer.scripts import join_classic_script
from sts_analysis.report.figures import MOST
from sts_analysis.report.schema import Agent, LabelSet, Provenance, Report, Standing
from sts_analysis.report.verdict import about, completeness, remark, unable
from sts_analysis.report.words import claim, duration, listed, percent, points

TARGETS = {
    "sampled": {
        "short": "Scenarios sampled",
        "says": "“Scenarios sampled”: with 95% confidence the rate over all scenarios of these "
        "categories, of which the suite's are a sample, lies in the interval.",
    },
    "fixed": {
        "short": "These scenarios only",
        "says": "“These scenarios only”: with 95% confidence the rate over endlessly many "
        "continuations of these very scenarios lies in the interval.",
    },
}
_FOLDER = files("sts_analysis.report")
_ABREAST = 9
"""Columns of a table, which a page of usual width holds."""
SHOWN_KS = (1, 2, 4, 8)
SHOWN_PAIRS = 300
"""Pairs of a table that shows all; of more, those that are read. All of them are in the tables."""


class Pair(Protocol):
    """What a report says of two agents."""

    @property
    def a(self) -> str:
        """One of them."""

    @property
    def b(self) -> str:
        """The other."""


class Link(NamedTuple):
    """Where the clips behind a page are.

    Attributes:
      page: the address of the page that shows them, from the report's.
      says: what there is of them, in a sentence.
    """

    page: str
    says: str


SCRIPT_FOLDER = Path(__file__).parent / "scripts"
SCRIPTS = ("page", "parts", "tables", "scenarios")
"""The modules of the page's script, in the order of their imports."""
NO_CLIPS = "There are no clips to watch behind this page: it was made of numbers alone."


@functools.cache
def _environment() -> jinja2.Environment:
    """Compiles each template once."""
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        loader=jinja2.FunctionLoader(lambda name: (_FOLDER / name).read_text("utf-8")),
    )
    environment.filters |= {
        "percent": percent,
        "listed": listed,
        "range": _range,
        "points": points,
        "points_range": lambda ends: _ends(ends, points),
        "number": _number,
        "amount": lambda count: f"{count:.2f}".rstrip("0").rstrip("."),
        "number_range": lambda ends: _ends(ends, _number),
        "p": _p,
        "inline": lambda svg, label: Markup(to_inline_svg(svg, label)),
        "quoted": lambda name: quote(name, safe=""),
    }
    return environment


def render(
    report: Report,
    figures: Mapping[str, str],
    evidence: Link | None = None,
    narrow: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Returns the page.

    Every name in the report is foreign text and is escaped; the page forbids itself any resource
    from elsewhere and every script but its own, which it names by hash.

    Args:
      report: what it shows.
      figures: name -> SVG.
      evidence: where the clips are; None where there are none.
      narrow: the figures for a page as wide as a phone, as far as there are any.
    """
    template = _environment().get_template("page.html.j2")
    script = join_classic_script(SCRIPTS, SCRIPT_FOLDER)
    counts = report.counts
    total = counts.scenarios
    people = len(report.annotators)
    human = report.labels_used == "human"
    clips = human and counts.clips is not None
    deepest = max((len(a.consistency.pass_hat_k) for a in report.agents), default=0)
    return template.render(
        r=report,
        css=Markup((_FOLDER / "page.css").read_text("utf-8")),
        script=Markup(script),
        script_hash=_hash(script),
        evidence=evidence,
        watching=evidence.says if evidence else NO_CLIPS,
        **_scenarios(report),
        figures=figures,
        narrow=narrow,
        targets=TARGETS,
        claim=claim(report),
        of_sampled=claim(report, "sampled"),
        other="fixed" if report.target == "sampled" else "sampled",
        judged=human,
        completeness=completeness(counts),
        facts=[
            (
                "labelled by",
                {"human": "people", "automatic": "rules", "model": "a model"}[report.labels_used],
            ),
            ("agents", counts.agents),
            (
                "scenarios",
                f"{total} in {counts.categories} "
                f"{'category' if counts.categories == 1 else 'categories'}"
                if counts.categories
                else total,
            ),
            (
                f"continuations {'judged' if human else 'labelled'}",
                f"{counts.judged} of {counts.continuations}",
            ),
            *([("could not be judged", counts.unjudgeable)] if counts.unjudgeable else []),
            *([("clips judged", f"{counts.clips_judged} of {counts.clips}")] if clips else []),
            *(
                [("decided by reviewers", f"{counts.adjudicated} clips")]
                if counts.adjudicated
                else []
            ),
            ("judgements" if human else "labels", counts.judgements or counts.annotations),
            *(
                [("time of judging", _time(counts.hours, counts.hours_saved))]
                if counts.hours
                else []
            ),
            *([("annotators", people)] if people else []),
        ],
        long_names=max(len(entry.agent) for entry in report.agents) > 24,
        parts=[list(own) for _, own in groupby(report.agents, attrgetter("ranking"))],
        remarks={
            entry.agent: "; ".join(
                filter(None, (remark(entry, total), unable(entry), *entry.notes))
            )
            for entry in report.agents
        },
        by_name={entry.agent: entry for entry in report.agents},
        columns=_columns(report.agents),
        crowded=len(report.agents) > MOST,
        most=MOST,
        shown_pairs=_shown_pairs(report),
        which_pairs=_which_pairs,
        about=about(report.selection) if report.selection else "",
        tags={
            tag: {one.agent: one for one in every}
            for tag, every in groupby(report.tags, attrgetter("tag"))
        },
        linked=[
            entry
            for entry in (
                ("Pairs", "Pair", "both of its instructions", report.pairs),
                ("Dialogues", "Dialogue", "all of its turns", report.series),
            )
            if entry[-1]
        ],
        ks=[k for k in SHOWN_KS if k <= max(deepest, 1)],
        side_by_side=_side_by_side(report.label_sets),
        made_with=_made_with(report.provenance),
    )


def _hash(script: str) -> str:
    """The hash by which a content security policy names a script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _scenarios(report: Report) -> dict[str, Any]:
    """What the table of scenarios shows, those that separate most first, and all rates behind it.

    Rates are in thousandths, a list for each agent: they are most of the page where agents are
    many.
    """
    rows = sorted(
        enumerate(report.scenarios),
        key=lambda row: (-(row[1].spread or 0), -(row[1].discrimination or 0), row[1].scenario),
    )
    rates = {
        "agents": [entry.agent for entry in report.agents],
        "scenarios": [[s.scenario, s.category, s.kind, s.tags] for s in report.scenarios],
        "rates": [
            [_thousandths(s.pass_rates.get(entry.agent)) for s in report.scenarios]
            for entry in report.agents
        ],
    }
    text = json.dumps(rates, separators=(",", ":")).replace("<", "\\u003c")
    asked = any(entry.instruction for entry in report.scenarios)
    return {"scenarios": rows, "asked": asked, "rates": Markup(text)}


def _thousandths(rate: float | None) -> int | None:
    return None if rate is None else round(1000 * rate)


def _time(hours: float, saved: float | None) -> str:
    return f"{duration(hours)}, {duration(saved)} saved by copies" if saved else duration(hours)


def _shown_pairs(report: Report) -> Callable[[Sequence[Pair]], Sequence[Pair]]:
    """Chooses the pairs that a table shows: where they are many, neighbours and the first's own."""
    near = {frozenset((pair.a, pair.b)) for pair in report.contrasts}
    for ranking in report.rankings:
        near |= {frozenset(two) for two in pairwise(ranking.agents)}
        near |= {frozenset((ranking.agents[0], name)) for name in ranking.agents}

    def shown(pairs: Sequence[Pair]) -> Sequence[Pair]:
        if len(pairs) <= SHOWN_PAIRS:
            return pairs
        return [pair for pair in pairs if {pair.a, pair.b} in near]

    return shown


def _which_pairs(pairs: Sequence[Pair], shown: Sequence[Pair]) -> str:
    """Says which pairs a table shows."""
    if len(pairs) == 1:
        return "The one pair"
    if len(shown) == len(pairs):
        return f"All {len(pairs)} pairs"
    return f"{len(shown)} of {len(pairs)} pairs: neighbours in rank, and whoever is first"


def _columns(agents: Sequence[Agent]) -> list[list[str]]:
    """Returns kinds and categories, as many in a table as are seen at once."""
    names = list(dict.fromkeys([*agents[0].kinds, *agents[0].categories]))
    tables = math.ceil(len(names) / _ABREAST)
    edges = [len(names) * n // tables for n in range(tables + 1)] if tables else []
    return [names[start:stop] for start, stop in pairwise(edges)]


def _made_with(provenance: Provenance) -> dict[str, str]:
    """Hashes, versions and the commit, each by its name."""
    words: dict[str, str] = {}
    for name, value in vars(provenance).items():
        if isinstance(value, str):
            words[name] = value
        elif isinstance(value, Mapping):
            words |= value
    return words


def _side_by_side(sets: Mapping[str, LabelSet]) -> list[list[Standing]]:
    by_name = [{entry.agent: entry for entry in labelled.agents} for labelled in sets.values()]
    return [[entries[name] for entries in by_name] for name in by_name[0]]


def _range(ends: Sequence[float] | None) -> str:
    if ends is None:
        return "–"
    low, high = percent(ends[0]).removesuffix("%"), percent(ends[1])
    return f"{low.replace('<0.1', '0')}–{high.replace('>99.9', '100')}"


def _ends(ends: Sequence[float] | None, show: Any) -> str:
    return "–" if ends is None else f"{show(ends[0])} to {show(ends[1])}"


def _number(number: float | None) -> str:
    return "–" if number is None else f"{number:.2f}".replace("-", "\N{MINUS SIGN}")


def _p(p: float | None) -> str:
    if p is None:
        return "–"
    return "<.001" if p < 0.001 else f"{p:.3f}"
