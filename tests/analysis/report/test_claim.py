"""What a report may claim, in each state, and what it never claims."""

import msgspec
import numpy as np
import pandas as pd
import pytest

from sts_analysis.inputs.gather import gather_table
from sts_analysis.report.claim import Progress, decide
from sts_analysis.report.core import Options, Study
from sts_analysis.report.sections import conclusion
from sts_analysis.report.text import to_plain
from tests.analysis.variants import FOUR, PROVENANCE, draw_study, make_study

HEADLINES = {
    "rule": ("final", "By a rule’s labels, reader is best, ahead of each of the three others."),
    "best": ("final", "dreamer is best, ahead of each of the three others."),
    "tied": ("final", "bc-large and rl-tuned are best; they do not differ significantly."),
    "none differs": ("final", "No two agents differ significantly."),
    "interim": ("interim", "Interim: 30% judged, nothing is decided yet."),
    "one agent": ("single agent", "bc-large passes 65%."),
    "confounded": (
        "withheld",
        "No conclusion: ours, prior and random were judged by different people.",
    ),
    "below the table": (
        "final",
        "bc-large and rl-tuned are best; they do not differ significantly.",
    ),
    "few units": (
        "withheld",
        "No conclusion: 8 independent units of scenarios, and at least 10 are needed.",
    ),
}


@pytest.mark.parametrize("name", HEADLINES)
def test_headline_says_what_the_state_allows(name) -> None:
    study = make_study(name)
    result = conclusion.compute(study)
    assert (result.state, to_plain(result.headline)) == HEADLINES[name]
    assert bool(result.best) == (result.state == "final")


def test_interim_headline_names_no_agent_and_has_no_ranks() -> None:
    study = make_study("interim")
    result = conclusion.compute(study)
    text = to_plain(result.headline) + to_plain(result.support)
    assert not any(agent in text for agent in FOUR)
    assert result.p_bar == 0.001 and result.judged_clips < result.planned_clips


def test_closed_study_is_final_with_a_stricter_bar_and_its_reason() -> None:
    study = make_study("interim", closed="the annotators left.")
    result = conclusion.compute(study)
    assert result.state == "final" and result.p_bar < 1e-4
    assert "closed at 30% of what was planned: the annotators left." in to_plain(result.support)


def test_excluded_people_are_stated_and_change_nothing_else() -> None:
    frame = draw_study(FOUR)
    first = frame["annotator"] == sorted(frame["annotator"].unique())[0]
    kept = Study(gather_table(frame[~first])._replace(missing={}), Options(), PROVENANCE)
    marked = frame.assign(excluded=np.where(first, "did not watch", ""))
    study = Study(gather_table(marked), Options(), PROVENANCE)
    said, expected = conclusion.compute(study), conclusion.compute(kept)
    number = int(first.sum())
    assert study.gathered.excluded == (1, number, ("did not watch",))
    sentence = f"Excluded by a study lead: {number:,} judgements by 1 person (did not watch)."
    assert [to_plain(warning) for warning in said.warnings] == [sentence]
    assert msgspec.structs.replace(said, warnings=()) == expected


@pytest.mark.parametrize(("judged", "bar"), [(100, 0.05), (99, 0.0244), (50, 0.00154), (1, 0.0)])
def test_bar_of_a_closed_study_follows_the_share_judged(judged, bar) -> None:
    assert Progress(100, judged, "closed").bar == pytest.approx(bar, abs=1e-4)
    assert Progress(100, judged).bar == (0.05 if judged == 100 else 0.001)


def test_agent_without_many_scenarios_is_left_out_with_its_reason() -> None:
    study = make_study("below the table")
    assert study.names[-1] == "bc-small" and len(study.claim.ranked) == 3
    missing, unranked = map(to_plain, conclusion.compute(study).warnings)
    assert unranked == "bc-small is not ranked: 40 of 96 scenarios missing."
    assert "bc-small 160 of 384 (40 whole scenarios)" in missing


def test_scenario_that_waits_to_be_judged_is_not_lacking() -> None:
    frame = draw_study(FOUR, judged=0.5, scenarios=20)
    waits = frame["agent"] == "random"
    frame.loc[waits, ["annotator", "verdict", "step"]] = None
    study = Study(gather_table(frame.drop_duplicates(["clip", "annotator"])), Options(), PROVENANCE)
    assert study.claim.state == "interim" and not study.claim.lacking


def test_no_agent_is_left_out_of_a_study_that_has_just_begun() -> None:
    study = Study(gather_table(draw_study(FOUR, judged=0.01)), Options(), PROVENANCE)
    assert study.claim.state == "interim" and not study.claim.significant.any()
    assert study.claim.ranked.size == np.isfinite(study.rates.rate).sum() == 4
    result = conclusion.compute(study)
    assert to_plain(result.headline) == "Interim: 1% judged, nothing is decided yet."
    (warning,) = map(to_plain, result.warnings)
    assert "not in rounds" in warning


@pytest.mark.parametrize(
    ("judged", "reason", "said"),
    [
        (0.01, "scenarios", "bc-large, bc-small, random and rl-tuned were judged in different"),
        (0.05, "clips", "fewer than 30 clips of an agent are judged"),
    ],
)
def test_study_closed_too_early_says_what_is_missing(judged, reason, said) -> None:
    frame = draw_study(FOUR, judged=judged, twice=0)
    study = Study(gather_table(frame), Options(closed="no funds"), PROVENANCE)
    assert (study.claim.state, study.claim.reason) == ("withheld", reason)
    assert said in to_plain(conclusion.compute(study).headline)


def test_verdict_on_a_clip_of_two_agents_is_one_judgement() -> None:
    frame = draw_study({"a": 0.5}, twice=0).assign(clip="c" + pd.Series(range(384)).astype(str))
    both = pd.concat([frame, frame.assign(agent="b")])
    result = conclusion.compute(Study(gather_table(both), Options(), PROVENANCE))
    assert result.judgements == result.planned_clips == 384


def test_agent_with_annotators_of_its_own_is_left_out_alone() -> None:
    study = Study(
        gather_table(
            draw_study(FOUR, judges=lambda a: ["zoe"] if a == "random" else ["ana", "ben"])
        ),
        Options(),
        PROVENANCE,
    )
    claim = study.claim
    assert claim.state == "final" and len(claim.ranked) == 3
    reasons = {study.outcomes.agents[a]: reason for a, reason in claim.incomparable.items()}
    assert reasons == {"random": "annotators"}


def test_two_groups_of_equal_size_are_withheld() -> None:
    halves = {"a": 1.0, "b": 0.0, "c": 1.0, "d": 0.0}
    frame = draw_study(halves, judges=lambda agent: ["ana"] if agent in "ab" else ["ben"], twice=0)
    assert Study(gather_table(frame), Options(), PROVENANCE).claim.state == "withheld"


def test_claim_contradicts_no_comparison() -> None:
    study = make_study("hundred agents")
    claim = study.claim
    better = claim.better
    assert not (better & better.T).any()
    rate = study.rates.rate[claim.ranked]
    assert (np.diff(rate) <= 0).all()
    above, below = np.nonzero(better)
    assert (rate[above] > rate[below]).all()
    sets = claim.rank_sets
    assert (sets[:, 0] <= sets[:, 1]).all()
    assert set(claim.best) == {claim.ranked[i] for i in range(100) if not better[:, i].any()}


def test_other_annotators_are_claimed_from_three_on() -> None:
    three, two = make_study("tied"), make_study("two annotators")
    said, unknown = (to_plain(conclusion.compute(study).support) for study in (three, two))
    assert "differences also hold for other annotators like these." in said
    assert unknown.endswith(
        ", as ana and ben judge. Whether other annotators would find the same is not known: that "
        "takes three."
    )
    assert three.claim.others is not None and two.claim.others is None
    assert not (three.claim.holds & ~three.claim.significant).any() and not two.claim.holds.any()


def test_rates_0_and_1_lead_to_a_conclusion_without_an_error() -> None:
    frame = draw_study({"all": 60.0, "none": -60.0}, scenarios=24)
    study = Study(gather_table(frame), Options(), PROVENANCE)
    result = conclusion.compute(study)
    assert to_plain(result.headline) == "all is best, ahead of none."
    assert study.rates.rate.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("scenarios", [1, 2])
def test_study_of_one_or_two_scenarios_is_withheld(scenarios) -> None:
    frame = draw_study({"a": 1.0, "b": -1.0}, scenarios=scenarios)
    study = Study(gather_table(frame), Options(), PROVENANCE)
    assert study.claim.state == "withheld"
    assert decide(study.model, study.rates, study.progress).reason == "units"


def test_table_without_verdicts_is_interim_or_withheld_but_no_error() -> None:
    frame = pd.DataFrame({"agent": ["a", "b"], "scenario": ["s", "s"], "verdict": ["", ""]})
    study = Study(gather_table(frame), Options(), PROVENANCE)
    assert conclusion.compute(study).state == "withheld"
