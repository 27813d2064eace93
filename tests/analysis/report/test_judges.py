"""Who judged whom, as a report has it: the audit, the alarm, other annotators, and refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sts.annotations import imbalance
from sts_analysis.report.judges import CONFOUNDED, DECIDE, ONE, UNKNOWN
from sts_analysis.report.page import render
from sts_analysis.report.schema import Report
from sts_analysis.report.tables import tables
from sts_analysis.report.terminal import table
from tests.analysis.report.test_build import world
from tests.analysis.reports import report_of, sure, valid

SE, SP = {"x": 0.95, "y": 0.9}, {"x": 0.95, "y": 0.7}


def judged(
    first: dict[str, float], *, rates: tuple[float, ...] = (0.05, 0.05), scenarios: int = 40
) -> pd.DataFrame:
    """A table in which x judges a share of each agent's continuations, and y the rest."""
    rng = np.random.default_rng(5)
    rows = []
    for (agent, share), rate in zip(first.items(), rates, strict=True):
        for s in range(scenarios):
            for n in range(8):
                who = "x" if rng.random() < share else "y"
                truth = rng.random() < rate
                success = rng.random() < (SE[who] if truth else 1 - SP[who])
                rows.append(
                    {
                        "agent": agent,
                        "scenario": f"s{s:02d}",
                        "category": "go",
                        "continuation": str(n),
                        "annotator": who,
                        "verdict": "success" if success else "not_done",
                    }
                )
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def confounded() -> Report:
    return valid(report_of(judged({"a": 1.0, "b": 0.0})))


def test_agents_judged_by_one_person_each_raise_a_red_line(confounded: Report) -> None:
    (alarm,) = confounded.alarms
    assert alarm.kind == CONFOUNDED and alarm.pairs == (("b", "a"),)
    assert confounded.comparisons[0].separated  # as judged, without a word
    (pair,) = sure(confounded.judges).adjusted
    assert not pair.told and pair.difference is None and pair.p is None and pair.plain_separated
    page = render(confounded, {})
    assert page.index('class="alarm" role="alert"') < page.index('class="verdict"')
    assert "cannot be told from a difference between annotators" in page
    assert table(confounded).count("ALARM: ") == 1


def test_where_adjusting_changes_who_is_separated_the_line_is_red() -> None:
    report = report_of(judged({"a": 0.8, "b": 0.2}))
    (alarm,) = report.alarms
    assert alarm.kind == DECIDE and "not with annotators adjusted for" in alarm.text
    (pair,) = sure(report.judges).adjusted
    assert pair.plain_separated and not pair.separated and pair.told
    assert pair.apart == pytest.approx(0.6, abs=0.1)
    assert [row["annotator"] for row in tables(report)["annotator_effects"]] == ["x", "y"]
    lenient = sure(report.judges).effects[1].effect
    assert lenient == pytest.approx(0.12, abs=0.05)  # half of .25 more false successes


def test_who_judges_all_agents_alike_raises_none() -> None:
    report = report_of(judged({"a": 0.5, "b": 0.5}, rates=(0.1, 0.5)))
    assert report.alarms == () and 'class="alarm"' not in render(report, {})
    found = sure(report.judges)
    assert found.adjusted[0].separated and found.adjusted[0].plain_separated
    assert found.whose.startswith("This holds for the judgement of these 2 annotators: x and y.")
    assert found.whose.endswith("like them it does not say who is better.")
    for rate in found.other_rates:
        low, high = sure(rate.interval)
        inner = sure(next(one for one in report.agents if one.agent == rate.agent).interval)
        assert low < inner[0] and inner[1] < high
    assert [rate.rank_set for rate in found.other_rates] == [(1, 2), (1, 2)]
    assert not found.other_pairs[0].separated  # two people are few to speak of others by


def test_the_audit_is_the_one_of_the_store(confounded: Report) -> None:
    frame = judged({"a": 0.7, "b": 0.3}, scenarios=6)
    found = sure(sure(report_of(frame).judges).audit)
    clips = frame["agent"] + frame["scenario"] + frame["continuation"]
    rest = (frame[name].to_numpy() for name in ("scenario", "agent", "annotator"))
    direct = imbalance.measure_imbalance(clips.to_numpy(), *rest)
    assert found.judgements == direct.judgements and found.imbalance == direct.imbalance
    assert (found.p, found.cramers_v) == (direct.p, direct.cramers_v)
    assert found.sentence == direct.sentence
    assert "Agents and annotators are confounded" in sure(sure(confounded.judges).audit).sentence


def test_a_clip_of_two_agents_counts_once_for_each() -> None:
    frame = judged({"a": 0.5, "b": 0.5}, scenarios=4)
    frame["clip"] = frame["scenario"] + frame["continuation"]
    frame["annotator"] = np.where(frame["continuation"].astype(int) % 2, "x", "y")
    frame = pd.concat([frame, frame.assign(continuation="again-" + frame["continuation"])])
    found = sure(sure(report_of(frame).judges).audit)
    assert found.judgements == ((16, 16), (16, 16)) and found.clips == 32
    assert found.p == 1.0  # every clip is of the same agents


def test_one_annotator_is_refused_what_only_several_can_tell() -> None:
    report = valid(report_of(judged({"a": 1.0, "b": 1.0})))
    found = sure(report.judges)
    assert found.whose.startswith("This holds for the judgement of x alone")
    assert found.other_reason == ONE and found.other_rates == () and report.alarms == ()
    assert "Nothing can be said of other annotators" in render(report, {})


def test_where_nobody_is_named_nothing_is_said_of_judges() -> None:
    frame = judged({"a": 1.0, "b": 0.0}).drop(columns="annotator")
    report = report_of(frame)
    found = sure(report.judges)
    assert found.whose == UNKNOWN and found.audit is None and report.alarms == ()
    assert UNKNOWN in render(report, {})


def test_all_who_could_not_judge_are_counted_and_nothing_is_made_of_it() -> None:
    frame = judged({"a": 0.5, "b": 0.5}, scenarios=3).assign(verdict="cannot_judge")
    report = report_of(frame)
    found = sure(report.judges)
    assert sum(map(sum, sure(found.audit).judgements)) == len(frame)
    assert found.adjusted == () and found.other_rates == () and report.alarms == ()
    render(report, {})


def test_automatic_labels_hold_for_a_rule() -> None:
    frame = judged({"a": 1.0, "b": 0.0}).assign(source="automatic", annotator="rule")
    assert "labels of a rule" in sure(report_of(frame).judges).whose


def test_what_all_say_makes_accuracies_and_chances_beside_the_means() -> None:
    frame = world(
        annotators={"Ana": (0.97, 0.95), "Bo": (0.9, 0.9), "Cy": (0.6, 0.9)}, each=2, references=20
    )
    report = report_of(frame)
    found = sure(sure(report.judges).likely)
    assert [one.annotator for one in found.annotators] == ["Ana", "Bo", "Cy"]
    assert found.references == 20 and found.clips_left_out == 0
    assert found.annotators[2].sensitivity_interval[1] < found.annotators[0].sensitivity
    split = [one for one in found.clips if one.mean == 0.5]
    assert split and found.clips[0] == split[0] and max(abs(c.chance - 0.5) for c in split) > 0.2
    tests = {(one.measure, one.by) for one in sure(report.judges).by_group}
    assert ("sensitivity", "category") in tests
    page = render(report, {})
    assert "by all that was said" in page and "judged better than others" in page
    names = {"likely_accuracy", "likely_clips", "accuracy_by_group"}
    assert names <= set(tables(report))


def test_without_references_and_second_judgements_nothing_is_likely() -> None:
    found = sure(report_of(judged({"a": 0.5, "b": 0.5}, scenarios=3)).judges)
    assert found.likely is None and found.by_group == ()
