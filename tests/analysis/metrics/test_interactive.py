"""The score of live evaluation, against numbers computed by hand and simulated studies."""

import numpy as np
import pytest

from sts_analysis.metrics.interactive import AgentScore, score_interactions
from tests.live.examples import interaction

EASY, HARD = ({"kind": "instruction", "difficulty": difficulty} for difficulty in ("easy", "hard"))
MINE = [
    *(interaction("success", person="p1", order=1, **EASY) for _ in range(3)),
    interaction("failure", person="p1", order=1, late_ticks=4, **EASY),
    interaction("success", person="p2", order=3, session="s2", **HARD),
    interaction("unmarked", person="p2", order=3, session="s2", **HARD),
    interaction("cannot_tell", person="p2", order=3, session="s2", **HARD),
]
OTHERS = [interaction("failure", agent="b", person=f"p{i}", **EASY) for i in (1, 2)]


def score(*rows) -> AgentScore:
    return next(score for score in score_interactions(rows) if score.agent == "a")


def test_score_matches_numbers_computed_by_hand():
    found = score(*MINE, *OTHERS)
    assert (found.instructions, found.successes) == (6, 4)
    assert (found.unmarked, found.cannot_tell, found.people, found.sessions) == (1, 1, 2, 2)
    assert found.score == pytest.approx(4 / 6)
    # The residuals are 3 - 4 x 2/3 and 1 - 2 x 2/3; (3 + 3/2) x (1/3 / 6)^2 is 1/72, where 3 and
    # 3/2 make good for means that contain the person.
    assert found.standard_error == pytest.approx(72**-0.5)
    assert found.mix == {"easy instruction": 4, "hard instruction": 2}
    # Of all instructions 6 of 8 were easy: 6/8 x 3/4 + 2/8 x 1/2.
    assert found.standardised == pytest.approx(0.6875)
    assert found.slope == pytest.approx((1 / 2 - 3 / 4) / 2) and found.slope_error is None
    assert found.late_share == pytest.approx(4 / 70)


def test_difficulty_that_an_agent_never_met_is_stated_and_takes_its_plain_score():
    rows = [*MINE, interaction("success", agent="b", **EASY), *OTHERS]
    other = next(score for score in score_interactions(rows) if score.agent == "b")
    assert other.unmet == ("hard instruction",)
    assert other.unmet_share == pytest.approx(2 / 9)
    assert other.standardised == pytest.approx(1 / 3) == other.score


def test_standardising_removes_a_difference_that_only_the_mix_makes():
    rows = []
    for agent, easy, hard in (("a", 8, 4), ("b", 4, 8)):
        for level, count, good in ((EASY, easy, easy * 3 // 4), (HARD, hard, hard // 4)):
            marks = ["success"] * good + ["failure"] * (count - good)
            rows += [interaction(mark, agent=agent, **level) for mark in marks]
    a, b = score_interactions(rows)
    assert a.agent == "a" and [a.score, b.score] == pytest.approx([7 / 12, 5 / 12])
    assert a.standardised == b.standardised == pytest.approx(0.5)


def test_practice_and_sessions_that_broke_off_do_not_count():
    left_out = [interaction("failure", practice=True), interaction("failure", ended="")]
    left_out += [interaction("failure", ended="abandoned", setter_kind="script", person="x")]
    assert score(*MINE, *left_out) == score(*MINE)
    assert score_interactions(left_out) == []


@pytest.mark.parametrize("field", ["setter_kind", "marker_kind"])
def test_metric_is_setter_as_soon_as_one_mark_is_not_by_a_person(field):
    assert score(*MINE).metric == "interactive"
    rows = [*MINE, *OTHERS, interaction("success", agent="b", **{field: "script"})]
    assert {found.metric for found in score_interactions(rows)} == {"setter"}


def test_one_person_gives_a_value_without_an_interval_and_a_reason():
    found = score(*MINE[:4])
    assert found.score == 0.75 and found.interval is None and found.standard_error is None
    assert found.reason.startswith("one person shows no spread between people")
    nothing = score(interaction("cannot_tell"))
    assert nothing.score is None and nothing.reason == "no instruction counts"


def test_unanimous_people_have_an_interval_as_wide_as_their_number_allows():
    few, many = (score(*(interaction(person=f"p{i}") for i in range(people))) for people in (4, 40))
    assert few.score == many.score == 1 and few.interval and many.interval
    assert few.interval[0] < 0.6 < 0.9 < many.interval[0] < many.interval[1] == 1


def test_people_who_agree_exactly_leave_the_interval_of_their_number():
    marks = "success", "failure", "failure"
    found = score(*(interaction(mark, person=person) for person in "ab" for mark in marks))
    assert found.standard_error == found.standardised_error == 0
    assert found.interval == pytest.approx((0.045, 0.841), abs=5e-4)  # Wilson's, of 1/3 of 2


def test_versions_of_an_agent_are_scored_apart():
    found = score_interactions([*MINE, interaction("failure", fingerprint="g")])
    assert [(one.fingerprint, one.instructions) for one in found] == [("f", 6), ("g", 1)]


@pytest.mark.parametrize(
    ("people", "rate", "icc", "asked"), [(8, 0.5, 0.2, 10), (8, 0.8, 0.2, 6), (16, 0.3, 0.3, 8)]
)
@pytest.mark.parametrize(
    ("studies", "error"), [(600, 0.035), pytest.param(2000, 0.025, marks=pytest.mark.slow)]
)
@pytest.mark.landing
def test_interval_covers_where_people_differ_and_the_binomial_one_fails(
    people, rate, icc, asked, studies, error
):
    rng = np.random.default_rng(people)
    size = (1 - icc) / icc
    naive = clustered = 0
    for _ in range(studies):
        chances = rng.beta(rate * size, (1 - rate) * size, people)
        counts = 1 + rng.poisson(asked - 1, people)
        found = score(
            *(
                interaction("success" if draw < chances[i] else "failure", person=f"p{i}")
                for i in range(people)
                for draw in rng.random(counts[i])
            )
        )
        assert found.score is not None and found.interval is not None
        half = 1.96 * np.sqrt(found.score * (1 - found.score) / found.instructions)
        naive += abs(found.score - rate) <= half
        low, high = found.interval
        clustered += low <= rate <= high
    assert clustered / studies == pytest.approx(0.95, abs=error)
    assert naive / studies < 0.85
