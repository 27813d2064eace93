"""Near-equal names in tables of ratings and scores."""

import pandas as pd
import pytest

import sts
from sts_analysis.inputs.gather import add_scores, gather_table


def make_table(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    """Return a table of (agent, scenario, annotator, verdict)."""
    return pd.DataFrame(rows, columns=["agent", "scenario", "annotator", "verdict"])


BOTH = make_table(("a", "s1", "Ann", "success"), ("a", "s2", "ann", "failure"))
JUDGED = pd.DataFrame(
    [(agent, f"s{s:02}", s % 2) for agent in ("a1", "a2", "a3") for s in range(12)],
    columns=["agent", "scenario", "verdict"],
)


def test_two_spellings_of_an_annotator_are_refused_with_both_flags():
    with pytest.raises(sts.StsError) as caught:
        sts.load_ratings(BOTH)
    message = str(caught.value)
    assert message.startswith("table, row 2: annotators 'Ann' and 'ann' differ only")
    assert '--same "Ann=ann"' in message and '--distinct "Ann|ann"' in message


def test_spellings_of_one_annotator_are_one_person():
    assert set(sts.load_ratings(BOTH, same="Ann=ann")["annotator"]) == {"Ann"}


def test_distinct_annotators_stay_two_people():
    assert set(sts.load_ratings(BOTH, distinct="Ann|ann")["annotator"]) == {"Ann", "ann"}


def test_one_continuation_judged_under_two_spellings_needs_one_row():
    table = BOTH.assign(scenario="s1", continuation="0")
    with pytest.raises(sts.StsError, match="one row per continuation and annotator"):
        sts.load_ratings(table, same="Ann=ann")


@pytest.mark.parametrize("column", ["agent", "scenario", "category"])
def test_other_near_equal_names_give_a_warning_that_names_both(column):
    table = JUDGED.assign(category="push")
    rows = table["agent"] == "a3" if column == "scenario" else table["scenario"] > "s05"
    table.loc[rows, column] = table[column].str.upper()
    report = sts.build_report(table)
    said = ["".join(part.text for part in each) for each in report.conclusion.warnings]
    assert any("differ only in how they are written; add --same" in each for each in said)
    assert all(
        name in " ".join(said) for name in (table[column].iat[0], table[column].iat[0].upper())
    )


def test_table_of_ten_thousand_spellings_is_refused():
    letters = "abcdefghijklmn"
    names = [
        "".join(c.upper() if i >> k & 1 else c for k, c in enumerate(letters)) for i in range(10**4)
    ]
    table = pd.DataFrame({"agent": "a", "scenario": names, "annotator": names, "verdict": 1})
    with pytest.raises(sts.StsError, match="and 9998 more spellings"):
        sts.load_ratings(table)


def test_identifiers_that_a_float_has_rounded_are_refused():
    table = JUDGED.assign(scenario=1925036343869802844.0)
    with pytest.raises(sts.StsError, match=r"row 1: scenario: .* found '1.9250363438698028e\+18'"):
        sts.load_ratings(table)
    exact = sts.load_ratings(JUDGED.assign(scenario=1925036343869802844))
    assert set(exact["scenario"]) == {"1925036343869802844"}


SCORES = pd.DataFrame(
    {"agent": ["a1", "a2", "A3", "b"], "metric": "m", "value": [0.1, 0.2, 0.3, 0.4]}
)


def test_score_of_an_agent_in_another_spelling_is_refused_with_both_flags():
    with pytest.raises(sts.StsError) as caught:
        sts.build_report(JUDGED, SCORES)
    assert "scores: agent 'A3' is not in the ratings, which have 'a3'" in str(caught.value)
    assert '--same "a3=A3"' in str(caught.value) and '--distinct "a3|A3"' in str(caught.value)


@pytest.mark.parametrize("same", ["a3=A3", "A3=a3"])
def test_score_takes_the_spelling_of_the_ratings(same):
    report = sts.build_report(JUDGED, SCORES, same=same)
    assert report.correlations.rows[0].agents == 3


def test_report_lists_scores_that_it_did_not_use():
    report = sts.build_report(JUDGED, SCORES, distinct="a3|A3")
    left_out = {row.agent: row.left_out for row in report.correlations.scores if row.left_out}
    assert left_out == dict.fromkeys(["A3", "b"], "no agent of this name is in the ratings")
    said = ["".join(part.text for part in each) for each in report.conclusion.warnings]
    assert "2 rows of the scores not used: no ratings of A3 and b." in said


def test_arguments_that_repeat_a_report_hold_what_was_said_of_names():
    report = sts.build_report(JUDGED, same="A1=a1", distinct="a2|A2", planned=2)
    said = {"--same=A1=a1", "--distinct=A2|a2", "--planned=2"}
    assert said < set(report.provenance.arguments)


def test_refused_score_leaves_the_ranking_untouched():
    gathered = add_scores(gather_table(JUDGED), SCORES)
    assert gathered.refused and gathered.unmatched == ("A3", "b")
