"""What to do next: at most three steps, the most useful first, each with a command."""

import shlex

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.planning.pilot import scenarios_needed, share_between
from sts_analysis.report.core import Report, Study, html, join
from sts_analysis.report.sections.categories import MIN_SCENARIOS, WEAKER
from sts_analysis.report.text import (
    Sentence,
    name,
    percent,
    pluralise,
    to_html,
    write_sentence,
)
from sts_analysis.statistics.race import MIN_UNITS
from sts_analysis.statistics.rates import MIN_ANNOTATORS, MIN_CLIPS

TITLE = "What to do next"
NAV = "Next"
MAX_STEPS = 3
HOPELESS = 20
"""Times the scenarios of the study, above which a tie is left alone."""
CLIPS_TO_SHARE = 40
_INVITE = ("annotators", "add", "NAME")


class Step(msgspec.Struct, frozen=True):
    """One step.

    Attributes:
      verb: what to do, in a few words.
      reason: why, in one or two sentences.
      command: to run, with NAME for a new annotator; "" if there is none.
      link: an address in the report; "" if there is none.
    """

    verb: str
    reason: Sentence
    command: str = ""
    link: str = ""


class Result(msgspec.Struct, frozen=True):
    """The steps.

    Attributes:
      steps: the most useful first.
    """

    steps: tuple[Step, ...]


def compute(study: Study) -> Result | None:
    """Choose the steps; None if there is nothing to do."""
    rules = (
        _share_annotators,
        _have_people_judge,
        _finish,
        _complete,
        _add_agent,
        _separate_tie,
        _look_at_category,
        _add_annotators,
    )
    steps = [step for rule in rules if (step := rule(study))]
    return Result(tuple(steps[:MAX_STEPS])) if steps else None


def render(result: Result, report: Report) -> Markup:
    """Show the steps as a list."""
    return html(
        "<ol class=steps>{}</ol>",
        join(
            html(
                "<li><b>{}</b> {}{}{}</li>",
                step.verb,
                to_html(step.reason),
                html(' <a href="{}">Its clips</a>.', step.link) if step.link else "",
                html(" <code>{}</code>", step.command) if step.command else "",
            )
            for step in result.steps
        ),
    )


def _command(study: Study, *words: str) -> str:
    """Return a command about a suite; "" if the study is a table."""
    return "" if study.subject.hash is None else shlex.join(["sts", *words])


def _annotate(study: Study) -> str:
    """Return the command with which people go on judging a suite."""
    suite = study.subject.subset.suite if study.subject.subset else study.subject.name
    words = ["annotate", suite]
    if study.progress.closed:
        words = ["annotations", "close", suite, "--reopen", "--reason", "more must be judged"]
    return _command(study, *words)


def _share_annotators(study: Study) -> Step | None:
    claim, agents = study.claim, study.outcomes.agents
    if claim.state != "withheld":
        return None
    if claim.reason == "clips":
        reason = write_sentence(
            f"From {MIN_CLIPS} clips of each agent on, rates can be adjusted for who judged."
        )
        return Step("Judge more clips.", reason, _annotate(study))
    if claim.reason == "scenarios":
        reason = write_sentence("Agents are compared in scenarios in which both are judged.")
        return Step("Judge the same scenarios.", reason, _annotate(study))
    if claim.reason == "annotators":
        order = [a for a in study.order if not study.outcomes.baseline[a]]
        if len(order) < 2 or study.source != "human":
            return None
        first, second = agents[order[0]], agents[order[1]]
        reason = write_sentence(
            f"Have {CLIPS_TO_SHARE} clips of ",
            name(first),
            " judged by those who judged ",
            name(second),
            ", and the reverse.",
        )
        return Step("Let annotators judge both.", reason, _annotate(study))
    if claim.reason == "units":
        reason = write_sentence("At least ten independent units are needed for any conclusion.")
        continued = study.outcomes.unit[study.outcomes.continued.any(axis=0)]
        if len(np.unique(continued)) >= MIN_UNITS:
            return Step("Judge more scenarios.", reason, _annotate(study))
        return Step("Add scenarios.", reason)
    if claim.reason == "lacking" and claim.lacking:
        short = agents[min(claim.lacking, key=lambda agent: claim.lacking[agent])]
        return Step(
            "Complete the scenarios.",
            write_sentence(name(short), " lacks more than a tenth of them."),
            _command(study, "run", study.subject.name, "--agent", short),
        )
    return None


def _have_people_judge(study: Study) -> Step | None:
    if study.source == "human":
        return None
    reason = write_sentence(
        "Two people on 20 clips of each agent show how far these labels can be trusted. Until then "
        "this is no STS result."
    )
    return Step("Have people judge.", reason, _annotate(study))


def _finish(study: Study) -> Step | None:
    progress = study.progress
    if progress.is_complete or progress.closed or study.source != "human":
        return None
    left = f"{percent(1 - progress.share)} is left"
    seconds = study.people_rows["seconds"].mean()
    clips = progress.planned - progress.missing - progress.judged - progress.skipped
    if study.subject.plan is not None and seconds > 0:
        raced = len(study.subject.plan.race.looks) > 0
        left += f", {_write_hours(clips * seconds / 3600)}"
        left += "; less if agents leave the race before" if raced else ""
    reason = write_sentence(
        f"{left}. Judge in the order offered: it keeps agents, categories and annotators balanced."
    )
    return Step("Finish judging.", reason, _annotate(study))


def _complete(study: Study) -> Step | None:
    """Advise to make the missing continuations of the agent that lacks most."""
    lacked = study.missing.sum(axis=1)
    if not lacked.any():
        return None
    agent = int(lacked.argmax())
    called, made = study.outcomes.agents[agent], study.outcomes.continuations
    text = f" lacks {pluralise(int(lacked[agent]), 'planned continuation')}."
    existing = made.tally(made.agent == agent, study.missing.shape)
    count = str((existing + study.missing)[agent].max())
    words = ("run", study.subject.name, "--agent", called, "--continuations", count)
    reason = write_sentence(name(called), text)
    return Step("Complete the continuations.", reason, _command(study, *words))


def _add_agent(study: Study) -> Step | None:
    if study.claim.state != "single agent":
        return None
    reason = write_sentence("A second agent shows what this rate is worth; random will do.")
    command = _command(study, "run", study.subject.name, "--agent", "random")
    return Step("Run and judge a second agent.", reason, command)


def _separate_tie(study: Study) -> Step | None:
    """Advise on the first two neighbours that do not differ significantly."""
    claim, agents = study.claim, study.outcomes.agents
    if claim.state != "final":
        return None
    better = claim.better
    tie = next((i for i in range(len(better) - 1) if not better[i, i + 1]), None)
    if tie is None:
        return None
    first, second = int(claim.ranked[tie]), int(claim.ranked[tie + 1])
    pair = write_sentence(name(agents[first]), " and ", name(agents[second]))
    scenarios = int(np.isfinite(study.outcomes.value[[first, second]]).all(axis=0).sum())
    needed = _count_needed(study, first, second)
    difference, _ = claim.read_difference(first, second)
    whole = round(100 * abs(difference)) if np.isfinite(difference) else 0
    gap = pluralise(whole, "point") if whole else "less than one point"
    words = ["power", study.subject.name, "--pair", agents[first], agents[second]]
    words += [] if study.source == "human" else ["--labels", study.source]
    command = _command(study, *words)
    if needed is None:
        reason = write_sentence(
            pair, f" differ by {gap}; that takes more than {HOPELESS} times the scenarios."
        )
        return Step("Let the tie rest.", reason, command)
    low, high = needed
    between = share_between(study.outcomes, first, second)
    more = (
        f" More clips of the same scenarios help little: {percent(between)} of the uncertainty "
        "lies between scenarios."
        if between is not None and between > 0.5
        else ""
    )
    amount = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    hours = _measure_hours(study, (first, second)) * (np.array(needed) / scenarios - 1)
    time = ""
    if np.isfinite(hours).all() and hours[1] > 0:
        time = f" That is {_write_hours(*hours.tolist())} more of judging."
    reason = write_sentence(
        "To find the difference between ",
        pair,
        f" takes {amount} scenarios like these, instead of {scenarios:,}.{time}{more}",
    )
    return Step("Add scenarios, or let it rest.", reason, command)


def _measure_hours(study: Study, agents: tuple[int, int]) -> float:
    """Return the hours that people spent on agents; NaN if no time is known, or none judged."""
    names = [study.outcomes.agents[agent] for agent in agents]
    seconds = study.people_rows["seconds"][study.people_rows["agent"].isin(names).to_numpy()]
    return float(seconds.sum(min_count=1)) / 3600 if study.source == "human" else np.nan


def _write_hours(low: float, high: float | None = None) -> str:
    high = low if high is None else high
    if high < 1.5:
        return "about an hour or less"
    same = round(low) == round(high)
    return f"about {high:.0f} hours" if same else f"about {low:.0f} to {high:.0f} hours"


def _count_needed(study: Study, first: int, second: int) -> tuple[int, int] | None:
    """Return the range of scenarios that a difference takes; None above `HOPELESS` times ours."""
    pairs = len(study.claim.significant)
    needed = scenarios_needed(study.model, first, second, pairs=pairs)
    joint = np.isfinite(study.outcomes.value[[first, second]]).all(axis=0).sum()
    return None if needed is None or needed[0] > HOPELESS * joint else needed


def _look_at_category(study: Study) -> Step | None:
    """Point at the weakest category of the best agent."""
    outcomes, claim = study.outcomes, study.claim
    if claim.state == "final" and len(claim.best) == 1:
        agent = int(claim.best[0])
    elif claim.state == "single agent":
        (agent,) = np.flatnonzero(~outcomes.baseline).tolist()
    else:
        return None
    weakest, lowest = "", study.rates.rate[agent] - WEAKER
    for c, category in enumerate(outcomes.categories):
        inside = outcomes.category == c
        if not category or inside.sum() < MIN_SCENARIOS:
            continue
        rate = study.category_rates[c].rate[agent]
        if np.isfinite(rate) and rate < lowest:
            weakest, lowest = category, float(rate)
    if not weakest:
        return None
    reason = write_sentence(
        "The weakest category of ",
        name(outcomes.agents[agent]),
        f": {percent(lowest)}, where it passes {percent(float(study.rates.rate[agent]))} overall.",
    )
    return Step(f"Look at {weakest}.", reason, link="#clips")


def _add_annotators(study: Study) -> Step | None:
    judging, model, claim = study.outcomes.judging, study.model.annotators, study.claim
    if judging is None or model is None:
        return None
    if len(judging.annotators) >= MIN_ANNOTATORS:
        differ, hold = int(claim.significant.sum()), int(claim.holds.sum())
        if claim.others is None or hold == differ or not model.favours_agents:
            return None
        reason = write_sentence(
            f"{differ - hold} of {pluralise(differ, 'difference')} may not hold for other people, "
            "as annotators favour agents."
        )
        return Step("More annotators, not more scenarios.", reason, _command(study, *_INVITE))
    people = pluralise(len(judging.annotators), "annotator")
    reason = write_sentence(
        f"With {people} nobody can know which differences hold for other people; from three on, "
        "a report says so."
    )
    return Step("More annotators, not more clips.", reason, _command(study, *_INVITE))
