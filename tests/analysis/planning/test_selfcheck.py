"""Simulated coverage of a user's design, which fails if its units are not those that were drawn."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sts.cli.main import main
from sts.errors import StsError
from sts.jobs.pool import Pool
from sts_analysis.planning import selfcheck
from sts_analysis.planning.chances import Accuracy
from sts_analysis.planning.selfcheck import (
    Share,
    StudyDesign,
    check_study,
    list_cases,
    read_design,
    simulate,
    simulate_studies,
)
from sts_analysis.statistics.rates import Target
from tests.analysis.planning.designs import draw_verdicts, make_pilot, make_table

ALONE = np.arange(40)


def small_design(*, agents: int = 2, target: Target = "sampled", **options) -> StudyDesign:
    rates = [0.4, 0.5, 0.45][:agents]
    verdicts = draw_verdicts(rates, unit=ALONE, continuations=2, seed=3)[:, 0]
    return read_design(make_pilot(make_table(verdicts, **options), target=target))


def run(*designs: StudyDesign, studies: int, seed: int = 0) -> list[dict[str, Share]]:
    return simulate_studies(designs, studies=studies, seed=seed, executor=Pool(1, inside=True))


def test_design_fails_if_its_units_are_wrongly_declared_independent(monkeypatch) -> None:
    unit = np.arange(160) // 10
    verdicts = draw_verdicts([0.4, 0.5], unit=unit, continuations=3, share=0.7, seed=4)[:, 0]
    pilot = make_pilot(make_table(verdicts).assign(source="automatic"), unit)
    design = read_design(pilot)
    assert 0.4 < design.chances.trajectory_share < 1
    (passed,) = run(design, studies=60)

    def declare_independent(design: StudyDesign, seed: Sequence[int]) -> tuple[Any, ...]:
        outcomes, *truth = simulate(design, seed)
        return outcomes._replace(unit=np.arange(160)), *truth

    monkeypatch.setattr(selfcheck, "simulate", declare_independent)
    (failed,) = run(design, studies=60)
    assert not any(share.misses(name) for name, share in passed.items())
    for name in ("rate", "difference"):
        assert failed[name].misses(name) and failed[name].share < passed[name].share - 0.1


def test_independent_scenarios_show_no_trajectory_share() -> None:
    verdicts = draw_verdicts([0.4, 0.5], unit=np.arange(160), continuations=3, seed=5)[:, 0]
    unit = np.arange(160) // 4  # declared, but without effect
    design = read_design(make_pilot(make_table(verdicts), unit))
    assert design.chances.trajectory_share < 0.25
    assert read_design(make_pilot(make_table(verdicts))).chances.trajectory_share == 0


def test_simulated_study_is_judged_where_its_design_was_and_by_the_same() -> None:
    verdicts = draw_verdicts([0.4, 0.5, 0.5], unit=ALONE, continuations=2)[:, 0]
    frame = make_table(verdicts, people=3).drop(index=[0, 5, 17])
    frame["clip"] = frame["agent"] + frame["scenario"] + frame["verdict"]
    design = read_design(make_pilot(frame))
    outcomes, _, called = simulate(design, [0])
    before = design.pilot.outcomes
    assert outcomes.judging is not None and before.judging is not None
    np.testing.assert_array_equal(outcomes.judged, before.judged)
    np.testing.assert_array_equal(outcomes.judging.judgements, before.judging.judgements)
    assert outcomes.judging.annotators == ("p0", "p1", "p2") and called.shape == (2, 3, 4)
    np.testing.assert_array_equal(outcomes.judged_clips, before.judged_clips)
    assert before.judged_clips.max() < 80 and (outcomes.value != before.value).any()


def test_mean_of_simulated_studies_is_the_rate_they_are_checked_against() -> None:
    frame = make_table(draw_verdicts([0.4, 0.5], unit=ALONE, continuations=4)[:, 0])
    frame = frame.assign(source="human", adjudicated="")
    frame.loc[:9, ["source", "annotator", "verdict"]] = ["settled", "", "not_done"]
    frame.loc[30:40, "adjudicated"] = "success"
    design = read_design(make_pilot(frame))
    design = design._replace(pilot=design.pilot._replace(accuracy=Accuracy(0.8, 0.7)))
    assert (design.annotator == -1).sum() == 11
    assert design.counted[0, :3].tolist() == [0.0, 0.0, 0.5]
    studies = [simulate(design, [seed]) for seed in range(60)]
    values = np.array([outcomes.value for outcomes, _, _ in studies])
    truth = np.array([design.judge(chance, called.mean(axis=2)) for _, chance, called in studies])
    assert values.mean(axis=(0, 2)) == pytest.approx(truth.mean(axis=(0, 2)), abs=0.02)
    assert (values[:, 0, :2] == 0).all() and truth[:, 0, :2].max() == 0
    strict = design._replace(strictness=1.0)
    assert np.std([simulate(strict, [seed])[2][0, 0, 0] for seed in range(40)]) > 0.1
    called = simulate(design._replace(favouritism=1.0), [0])[2]
    assert np.ptp(called[0], axis=0).min() > 0 == np.ptp(simulate(strict, [0])[2][0], axis=0).max()


def test_favouritism_that_the_data_show_is_drawn() -> None:
    rng = np.random.default_rng(6)
    verdicts = draw_verdicts([0.4, 0.5, 0.5], unit=ALONE, continuations=6)[:, 0]
    frame = make_table(verdicts, people=3)
    before = read_design(make_pilot(frame)).favouritism
    favoured = (frame["agent"] == "a") & (frame["annotator"] == "p0")
    frame.loc[favoured & (rng.random(len(frame)) < 0.8), "verdict"] = "success"
    assert read_design(make_pilot(frame)).favouritism > before + 0.5


def test_study_is_the_same_for_any_number_of_studies(monkeypatch) -> None:
    design = small_design(agents=3)
    (few,) = run(design, studies=15)
    assert 0.8 < few["rate"].share <= 1
    monkeypatch.setattr(selfcheck, "_AT_ONCE", 4)
    seen: list[int] = []
    executor = Pool(1, inside=True)
    both = simulate_studies(
        [design, design], studies=15, seed=0, executor=executor, show=seen.append
    )
    assert both == [few, few] and seen == [4, 8, 12, 15, 19, 23, 27, 30]
    assert run(design, studies=15, seed=1) != [few]


@pytest.mark.slow
def test_other_processes_simulate_the_same_studies() -> None:
    design = small_design()
    with Pool(2) as executor:
        assert simulate_studies([design], studies=30, seed=0, executor=executor) == run(
            design, studies=30
        )


def test_study_that_cannot_be_analysed_is_an_error(monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise StsError("no")

    monkeypatch.setattr(selfcheck, "check_study", refuse)
    with pytest.raises(StsError, match="no"):
        run(small_design(), studies=2)


def test_agents_with_annotators_of_their_own_are_not_compared() -> None:
    shares = check_study(small_design(apart=True), [0])
    assert shares["not_compared"] == 1 and np.isnan(shares["difference"])
    assert "rate_others" not in shares
    several = check_study(small_design(agents=3, people=5), [0])
    assert several["not_compared"] == 0 and np.isfinite(several["rate_others"])


def test_significant_difference_in_the_wrong_direction_is_a_wrong_order(monkeypatch) -> None:
    design = small_design()
    design = design._replace(chances=design.chances._replace(rate=np.array([[0.9] * 2, [0.2] * 2])))
    assert check_study(design, [0])["wrong_order"] == 0

    def swap(*given: Any) -> Any:
        outcomes, *truth = simulate(*given)
        return outcomes._replace(value=outcomes.value[::-1], judging=None), *truth

    monkeypatch.setattr(selfcheck, "simulate", swap)
    assert check_study(design, [0])["wrong_order"] == 1


def test_cases_try_equal_agents_and_low_rates() -> None:
    cases = list_cases(small_design(agents=3))
    words = ["as estimated", "all agents alike", "all agents alike, near 5%"]
    assert [case.label for case in cases] == words
    _, alike, low = (case.chances.rate.mean(axis=1) for case in cases)
    assert np.ptp(alike) == 0 and 0.3 < alike[0] < 0.6 and low == pytest.approx([0.05] * 3)


def test_fixed_target_is_checked_against_the_chances_of_these_scenarios() -> None:
    design = small_design(target="fixed")
    (shares,) = run(design, studies=30)
    assert shares["rate"].share > 0.85
    assert list_cases(design)[1].chances.correlation == 1


def test_share_misses_only_beyond_chance() -> None:
    assert Share(0.85, 0.80, 0.90, 200).misses("rate")
    assert not Share(0.90, 0.85, 0.94, 200).misses("rate")
    assert Share(0.15, 0.10, 0.20, 200).misses("wrong_order")
    assert not Share(0.9, 0.8, 1.0, 200).misses("not_compared")


def test_command_prints_coverage_and_conclusion(tmp_path, capsys, monkeypatch) -> None:
    path = str(tmp_path / "ratings.csv")
    verdicts = draw_verdicts([0.4, 0.5], unit=np.arange(20), continuations=2)[:, 0]
    make_table(verdicts).to_csv(path, index=False)
    command = ["selfcheck", "--table", path, "--simulations", "2", "--workers", "1"]
    assert main([*command, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["design"]["verdicts"] == 80 and value["failures"] == []
    shares = value["cases"][0]["shares"]["rate"]
    assert shares["low"] <= shares["share"] <= shares["high"] and shares["studies"] == 2
    monkeypatch.setitem(selfcheck.LIMITS, "rate", (0.95, 1.1))
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "The design fails: pass rate (as estimated); " in text and "nan" not in text


@pytest.mark.parametrize("known", [False, True])
def test_command_says_when_a_table_has_no_column_of_trajectories(tmp_path, capsys, known) -> None:
    path = str(tmp_path / "ratings.csv")
    frame = make_table(draw_verdicts([0.4, 0.5], unit=ALONE, continuations=2)[:, 0])
    recording = frame["scenario"].str[:-1] if known else ""  # ten scenarios each
    frame.assign(Recording=recording).to_csv(path, index=False)
    command = ["selfcheck", "--table", path, "--simulations", "2", "--workers", "1"]
    command += ["--column", "trajectory=Recording"] if known else ["--unused", "Recording"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert ("trajectory share" in text) == known
    assert ("The table has no column of trajectories, so " in text) != known
    assert main([*command, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["estimated"]["trajectory_share"] is not None) == known
    assert len(value["warnings"]) == (not known)
    assert value["design"]["units"] == (4 if known else 40)


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        ([], "give either a suite, NAME@VERSION, or --table FILE"),
        (["core@2", "--table", "t.csv"], "give either a suite"),
        (["--table", "t.csv", "--simulations", "1"], "expected --simulations of 2 or more"),
        (["--table", "t.csv", "--seed", "-1"], "expected --seed of 0 or more, found -1"),
        (["--table", "t.csv", "--workers", "0"], "expected --workers of 1 or more, found 0"),
    ],
)
def test_invalid_flags_print_one_line_error(flags, error, capsys) -> None:
    assert main(["selfcheck", *flags]) == 2
    printed = capsys.readouterr().err
    assert error in printed and printed.count("\n") == 1
