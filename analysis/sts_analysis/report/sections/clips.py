"""Clips worth watching, picked by rule: what agents did from the takeover to the outcome."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from sts.domains.sketch import Sketch
from sts_analysis.inputs.media import VIDEOS
from sts_analysis.report.core import Report, Study, html, join, number
from sts_analysis.report.picks import Choice, Kind, pick_clips
from sts_analysis.report.stills import draw_sketches, plan_media, render_sketch
from sts_analysis.report.text import count_words, percent, pluralise

NAV = "Clips"
INSTRUCTION_WORDS = 9
_LABELS: dict[Kind, str] = {
    "disagreement": "Annotators disagree",
    "best fails": "The best agent fails",
    "two differ": "Two agents differ",
    "no agent passes": "No agent passes",
    "both ways": "Goes both ways",
}
_SIGNS = {True: ("ok", "✓", "passed"), False: ("stop", "✗", "failed")}
_DISPUTED = ("warn", "≠", "disputed")
_COLOURS = {"gain": "green", "loss": "orange", "other": "grey"}


class Rate(msgspec.Struct, frozen=True):
    """The pass rate of an agent in one scenario.

    Attributes:
      agent: its name.
      pass_rate: None if nothing is judged.
    """

    agent: str
    pass_rate: float | None


class Still(msgspec.Struct, frozen=True):
    """A small picture of one clip.

    Attributes:
      agent: whose clip it is.
      passed: None if annotators disagree.
      sketch: what happened from the takeover to the outcome; None if the world draws nothing.
      media: picture or video in the report's folder; "" for none.
      address: of a picture or video elsewhere; "" for none.
    """

    agent: str
    passed: bool | None
    sketch: Sketch | None
    media: str
    address: str


class Pick(msgspec.Struct, frozen=True):
    """A scenario that is worth a look.

    Attributes:
      kind: the rule that picked it.
      scenario: its id.
      category: "" if it is not known.
      instruction: its first words.
      rates: of the agents that it is about, one or two.
      split: annotators who judged the disputed clip a success, and the others; None for other
        kinds.
      link: address of the page that shows both agents' clips; "" for none.
      stills: of one or two clips.
    """

    kind: Kind
    scenario: str
    category: str
    instruction: str
    rates: tuple[Rate, ...]
    split: tuple[int, int] | None
    link: str
    stills: tuple[Still, ...]


class Result(msgspec.Struct, frozen=True):
    """Scenarios worth a look.

    Attributes:
      picks: at most ten, in the order of the kinds.
      page: address of the page with all clips; "" for none.
      missing_media: pictures and videos of these clips that could not be read.
      is_tied: whether agents other than the first could be best.
    """

    picks: tuple[Pick, ...]
    page: str
    missing_media: int
    is_tied: bool

    @property
    def is_illustrated(self) -> bool:
        """Whether there is anything to look at."""
        stills = (still for pick in self.picks for still in pick.stills)
        return any(still.sketch or still.media or still.address for still in stills)


def TITLE(report: Report) -> str:
    """Return the heading."""
    result: Result = report.clips
    if not result.is_illustrated:
        return "Scenarios worth a look"
    if len(result.picks) == 1:
        return "A clip worth watching"
    return f"{count_words(len(result.picks)).capitalize()} clips worth watching"


def compute(study: Study) -> Result | None:
    """Pick scenarios by rule, and load two clips of each; None if there is none to pick."""
    choices = pick_clips(study)
    if not choices:
        return None
    clips = _list_clips(choices)
    media, sketches = plan_media(study, clips), draw_sketches(study, clips)
    names, outcomes, page = study.outcomes.agents, study.outcomes, study.options.clip_page
    picks = []
    for kind, at, shown, split in choices:
        scenario = outcomes.scenarios[at]
        pair = ",".join(quote(names[clip.agent], safe="") for clip in (shown * 2)[:2])
        stills = (
            Still(
                agent=names[agent],
                passed=passed,
                sketch=sketches.get(clip),
                media=media.targets.get(clip, ""),
                address=media.addresses.get(clip, ""),
            )
            for agent, passed, clip in shown
        )
        picks.append(
            Pick(
                kind=kind,
                scenario=scenario,
                category=outcomes.categories[outcomes.category[at]],
                instruction=_shorten(study.subject.instructions.get(scenario, "")),
                rates=tuple(
                    Rate(names[agent], number(outcomes.value[agent, at]))
                    for agent in dict.fromkeys(clip.agent for clip in shown)
                ),
                split=split,
                link=f"{page}#scenario={quote(scenario, safe='')}&pair={pair}" if page else "",
                stills=tuple(stills),
            )
        )
    return Result(tuple(picks), page, media.missing, len(study.claim.best) > 1)


def list_media(study: Study) -> Mapping[str, Path]:
    """Return the files to copy into the report's folder: their paths there and their sources."""
    return plan_media(study, _list_clips(pick_clips(study))).sources


def _list_clips(choices: list[Choice]) -> list[int]:
    return [clip.number for choice in choices for clip in choice.clips]


def _shorten(instruction: str) -> str:
    words = instruction.split()
    start = " ".join(words[:INSTRUCTION_WORDS])
    return start if len(words) <= INSTRUCTION_WORDS else f"{start.rstrip('.,;:')}…"


def render(result: Result, report: Report) -> Markup:
    """Show a card for each pick, or a row for each kind if there is nothing to look at."""
    if not result.is_illustrated:
        return _render_list(result)
    cards = join(_render_card(pick, result) for pick in result.picks)
    return html("<ol class=cards>{}</ol><p class=cap>{}</p>", cards, _render_caption(result))


def _label(kind: Kind, result: Result) -> str:
    return "The first agent fails" if kind == "best fails" and result.is_tied else _LABELS[kind]


def _render_card(pick: Pick, result: Result) -> Markup:
    title = html("<b>{}</b>", pick.scenario)
    if pick.link:
        title = html('<a class=open href="{}">{}</a>', pick.link, pick.scenario)
    return html(
        "<li><p class=kind>{}{}</p><div class=stills>{}</div>{}{}</li>",
        _label(pick.kind, result),
        f" {pick.split[0]}:{pick.split[1]}" if pick.split else "",
        join(_render_still(still, pick) for still in pick.stills),
        title,
        html("<p class=soft>{}</p>", pick.instruction) if pick.instruction else "",
    )


def _render_still(still: Still, pick: Pick) -> Markup:
    (rate,) = (rate.pass_rate for rate in pick.rates if rate.agent == still.agent)
    colour, sign, word = _DISPUTED if still.passed is None else _SIGNS[still.passed]
    what = f"Clip of {still.agent}, {word}"
    picture = Markup("")
    if still.media.endswith(VIDEOS):
        picture = html(
            '<a href="{0}" aria-label="{1}"><video preload=metadata muted src="{0}"></video></a>',
            still.media,
            what,
        )
    elif still.media:
        picture = html('<a href="{0}"><img src="{0}" alt="{1}"></a>', still.media, what)
    elif still.address:
        label = f"{what}, on another site"
        template = '<a class=away href="{}" rel=noreferrer aria-label="{}">▶</a>'
        picture = html(template, still.address, label)
    elif still.sketch:
        picture = render_sketch(still.sketch, what)
    return html(
        "<div class=still>{}<span><i class={} role=img aria-label={}>{}</i> {} {}</span></div>",
        *(picture, colour, word, sign, percent(rate), still.agent),
    )


def _render_caption(result: Result) -> Markup:
    sketches = [s.sketch for pick in result.picks for s in pick.stills if s.sketch]
    parts: list[Markup | str] = []
    if any(sketch.lines for sketch in sketches):
        names = {tone: name for sketch in sketches for tone, name in sketch.names.items()}
        legend = (f"{colour} {names[tone]}" for tone, colour in _COLOURS.items() if tone in names)
        path = "Path of the judged player from takeover (ring) to outcome (dot)"
        parts.append(f"{'; '.join([path, ', '.join(legend)] if names else [path])}. ")
    parts.append("Percent: pass rate in the scenario. Picked by rule.")
    if result.missing_media:
        parts.append(f" {pluralise(result.missing_media, 'media file')} could not be read.")
    if result.page:
        parts.append(html(' <a href="{}">All clips</a>.', result.page))
    return join(parts)


def _render_list(result: Result) -> Markup:
    rows = []
    for kind in dict.fromkeys(pick.kind for pick in result.picks):
        picks = [pick for pick in result.picks if pick.kind == kind]
        cells = join(
            html(
                "<li><b>{}</b> {}</li> ",
                pick.scenario,
                ", ".join(f"{rate.agent} {percent(rate.pass_rate)}" for rate in pick.rates),
            )
            for pick in picks
        )
        label = _label(kind, result)
        rows.append(html("<tr><th scope=row>{}</th><td><ul>{}</ul></td></tr>", label, cells))
    return html(
        '<table class="plain looks"><caption class=sr>By the rule that picked them</caption>'
        "<tbody>{}</tbody></table>",
        join(rows),
    )
