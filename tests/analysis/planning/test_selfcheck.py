"""Simulated studies of a user's design, and what a report's intervals cover in them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.inputs import tables
from analysis.inputs.ratings import check_ratings
from analysis.inputs.subject import Subject
from analysis.planning.prospect import pilot
from analysis.planning.selfcheck import cases, check, smallest_difference
from analysis.planning.world import Design, design_of, judged_rates, simulate
from sts.cli.main import main


def table(*, apart: bool = False, agents: str = "abc", scenarios: int = 40) -> pd.DataFrame:
    """Agents on scenarios of two categories, two continuations, each judged by one of two."""
    rng = np.random.default_rng(3)
    rows = []
    for i, agent in enumerate(agents):
        for s in range(scenarios):
            chance = rng.beta(0.75, 0.75)
            for n in range(2):
                who = i % 2 if apart else (s + n) % 2
                verdict = "success" if rng.random() < chance else "failure"
                rows.append((agent, f"s{s:02}", f"c{s % 2}", f"{agent}{s}-{n}", f"p{who}", verdict))
    columns = ["agent", "scenario", "category", "continuation", "annotator", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def design(frame: pd.DataFrame) -> Design:
    ratings = check_ratings(tables.from_frame("t", frame))
    told = pilot(ratings, Subject("t"), target="sampled")
    return design_of(told.labels, told.ratings)


def test_a_simulated_study_is_judged_where_its_design_was_and_by_the_same() -> None:
    frame = table()
    own = design(frame.drop(index=[0, 5, 17]))
    study = simulate(own, np.random.default_rng(0))
    assert np.isfinite(study.values).sum() == len(frame) - 3
    assert own.shape == (3, 40, 2) and len(own.sensitivity) == 2
    assert np.array_equal(np.bincount(own.annotator), [len(frame) // 2 - 1, len(frame) // 2 - 2])


def test_it_shows_the_rates_and_the_correlation_that_it_was_made_with() -> None:
    own = design(table(scenarios=400))
    shape = own.rate.shape
    own = own._replace(
        rate=np.full(shape, 0.3),
        icc=np.full(shape, 0.5),
        correlation=0.6,
        sensitivity=np.ones(2),
        specificity=np.ones(2),
    )
    studies = [simulate(own, np.random.default_rng(i)) for i in range(60)]
    chance = np.stack([study.chance for study in studies])
    assert chance.mean() == pytest.approx(0.3, abs=0.01)
    assert chance.var() == pytest.approx(0.5 * 0.3 * 0.7, rel=0.05)
    flat = chance.transpose(1, 0, 2).reshape(3, -1)
    assert np.corrcoef(flat)[0, 1] == pytest.approx(0.6, abs=0.08)
    values = np.stack([study.values for study in studies])
    assert values.mean() == pytest.approx(0.3, abs=0.01)


def test_copies_of_a_clip_end_alike_and_are_judged_alike() -> None:
    frame = table(agents="ab")
    frame["clip"] = frame["agent"] + frame["scenario"]
    frame["annotator"] = "p0"
    frame["verdict"] = frame.groupby("clip")["verdict"].transform("first")
    study = simulate(design(frame), np.random.default_rng(1))
    assert np.array_equal(study.values[:, :, 0], study.values[:, :, 1])


def test_annotators_who_err_shift_the_rates_that_they_judge() -> None:
    own = design(table(apart=True))
    assert own.agents == tuple(sorted(own.agents, key=own.agents.index))
    erring = own._replace(sensitivity=np.array([1.0, 0.8]), specificity=np.array([1.0, 0.7]))
    rates = dict(zip(own.agents, judged_rates(erring, np.full((3, 40), 0.5)), strict=True))
    assert rates["a"] == pytest.approx(0.5) and rates["c"] == pytest.approx(0.5)
    assert rates["b"] == pytest.approx(0.5 * 0.8 + 0.5 * 0.3)


def test_study_i_is_the_same_whatever_their_number() -> None:
    own = design(table())
    few = check("x", own, target="sampled", studies=6, seed=1)
    assert few == check("x", own, target="sampled", studies=6, seed=1)
    seen: list[int] = []
    more = check("x", own, target="sampled", studies=12, seed=1, show=seen.append)
    assert more != few and seen == list(range(1, 13))


def test_intervals_cover_and_people_apart_are_caught() -> None:
    together, apart = design(table()), design(table(apart=True))
    found = {
        case: check(case, own, target="sampled", studies=150, seed=0)
        for case, own in cases(together, target="sampled", difference=0.3)
    }
    as_is = found["as estimated"]
    assert 0.91 <= as_is.rates["sampled"] <= 0.99 and 0.91 <= as_is.differences <= 0.99
    assert as_is.separated is None and as_is.seen is None
    alike = found["all agents alike"].separated
    assert alike is not None and alike <= 0.1
    unequal = dict(cases(apart, target="sampled"))["all alike, annotators unequal"]
    rare = unequal._replace(rate=np.full(unequal.rate.shape, 0.05), icc=unequal.icc * 0 + 0.3)
    wrong = check("x", rare, target="sampled", studies=100, seed=0).separated
    assert wrong is not None and wrong > 2 * alike + 0.1


@pytest.mark.parametrize("target", ["sampled", "fixed"])
def test_the_smallest_difference_is_seen_four_times_in_five(target: str) -> None:
    own = design(table())
    smallest = smallest_difference(own, target=target, seed=0)
    assert smallest is not None
    *_, (words, better) = cases(own, target=target, difference=smallest)
    assert words == f"one agent {100 * smallest:.1f} points better"
    seen = check(words, better, target=target, studies=150, seed=0).seen
    assert seen == pytest.approx(0.8, abs=0.12)


def test_the_command_says_what_was_covered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "ratings.csv")
    table().to_csv(path, index=False)
    assert main(["selfcheck", "--table", path, "--studies", "20", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["case"] for one in told["cases"]][:2] == ["as estimated", "all agents alike"]
    assert told["design"]["judgements"] == 240
    assert main(["selfcheck", "--table", path, "--studies", "20"]) == 0
    assert "95% is promised" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ([], "give either a suite, NAME@VERSION, or --table FILE"),
        (["core@2", "--table", "t.csv"], "give either a suite"),
        (["--table", "t.csv", "--studies", "3"], "expected --studies of 20 or more, found 3"),
        (["--table", "t.csv", "--seed", "-1"], "expected --seed of 0 or more, found -1"),
    ],
)
def test_flags_that_make_no_sense_are_refused_in_one_line(
    flags: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["selfcheck", *flags]) == 2
    refused = capsys.readouterr().err
    assert says in refused and refused.count("\n") == 1
