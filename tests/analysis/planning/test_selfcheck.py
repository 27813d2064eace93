"""What a report's numbers are worth in a user's own design, and that naive ones are shown up."""

import functools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sts.cli.main import main
from sts.errors import StsError
from sts.jobs.pool import Pool
from sts_analysis.planning import selfcheck
from sts_analysis.planning.people import People
from sts_analysis.planning.power import Criterion, smallest_difference
from sts_analysis.planning.prospect import measured
from sts_analysis.planning.selfcheck import Case, cases, check, smallest_differences
from sts_analysis.planning.world import design_of
from sts_analysis.statistics import by_annotators, label_set
from tests.analysis.planning.designs import (
    copied,
    design,
    judged,
    plain,
    share,
    simulated,
    with_references,
)


def test_study_i_is_the_same_whatever_their_number_and_how_they_are_shared_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = design(plain(agents="ab", scenarios=14))
    three = simulated(own, studies=3)
    monkeypatch.setattr(selfcheck, "AT_ONCE", 2)
    assert simulated(own, studies=3) == three
    seen: list[int] = []
    two = [Case("x", own), Case("y", own)]
    one, other = check(
        two, target="sampled", studies=3, seed=0, there=Pool(1, inside=True), show=seen.append
    )
    assert one.shares == other.shares == three.shares and seen == [2, 3, 5, 6]
    (changed,) = check(two[:1], target="sampled", studies=3, seed=1, there=Pool(1, inside=True))
    assert changed.shares != three.shares


def test_a_study_that_cannot_be_analysed_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StsError("no")

    monkeypatch.setattr(selfcheck, "verify", refuse)
    with pytest.raises(StsError, match="no"):
        simulated(design(plain(agents="ab", scenarios=4)), studies=2)


def test_intervals_that_forget_what_copies_share_are_shown_to_cover_too_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = design(copied(), target="fixed")._replace(people=People(0.85, 0.85, 0.0))
    with_copies = simulated(own, studies=8, target="fixed")
    assert share(with_copies, "fixed").share > 0.85
    monkeypatch.setattr(label_set, "find_copies", lambda *_: None)
    without = simulated(own, studies=8, target="fixed")
    assert share(without, "fixed").high < 0.85


def test_what_a_report_does_not_say_has_no_share() -> None:
    one_person = design(plain(agents="ab", scenarios=6).assign(annotator="p0"))
    shares = simulated(one_person, studies=2).shares
    assert "others" not in shares and "difference_others" not in shares
    assert shares["corrected"] is None
    automatic = design(plain(agents="ab", scenarios=6).assign(source="automatic"))
    assert "difference_adjusted" not in simulated(automatic, studies=2).shares


def test_agents_judged_by_different_people_are_not_told_from_these() -> None:
    shares = simulated(design(plain(agents="ab", scenarios=8, apart=True)), studies=2)
    assert share(shares, "untold").share == 1.0
    assert shares.shares["difference_adjusted"] is None


def test_of_deterministic_agents_these_scenarios_leave_nothing_open() -> None:
    frame = plain(agents="ab", scenarios=8)
    frame["verdict"] = frame.groupby(["agent", "scenario"])["verdict"].transform("first")
    own = design(frame, target="fixed")
    exact = np.ones(2, dtype=bool)
    options = own.layout.options | {"deterministic": ("a", "b")}
    layout = own.layout._replace(exact=exact, options=options)
    own = own._replace(layout=layout, icc=np.ones(own.icc.shape))
    shares = simulated(own, studies=3, target="fixed")
    assert share(shares, "fixed").share == share(shares, "difference").share == 1.0


def test_cases_try_what_may_go_wrong() -> None:
    own = design(plain())._replace(people=People(1.0, 1.0, 0.0))
    words = [case.words for case in cases(own, target="sampled", difference=0.2)]
    assert words == [
        "as estimated",
        "all agents alike",
        "all alike, and near 5%",
        "all alike, unequal correlation",
        "all alike, annotators differ",
        "one agent 20.0 points better",
    ]
    *_, last = cases(own, target="sampled", difference=0.2)
    middle = last.design.rate.mean(axis=1)
    assert middle[0] - middle[1] == pytest.approx(0.2) and last.better
    high = own._replace(rate=own.rate * 0 + 0.9)
    *_, worse = cases(high, target="sampled", difference=0.2)
    assert worse.words == "one agent 20.0 points worse"
    assert worse.design.rate.mean(axis=1) == pytest.approx([0.7, 0.9, 0.9])
    *_, none = cases(high, target="sampled", difference=0.95)
    assert not none.better


def test_a_share_comes_with_how_sure_so_many_studies_make_it() -> None:
    one = selfcheck._share(np.array([1.0, 1.0, 0.0, np.nan, 1.0]))
    assert one is not None and one.share == 0.75 and one.studies == 4
    assert one.low < 0.35 and one.high > 0.95
    all_right = selfcheck._share(np.ones(20))
    assert all_right is not None and all_right.low < 0.9 and all_right.high == 1.0
    assert selfcheck._share(np.array([np.nan])) is None


def test_the_command_says_what_was_covered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = functools.partial(smallest_differences, studies=2)
    monkeypatch.setattr(selfcheck, "smallest_differences", few)
    monkeypatch.setattr(selfcheck, "cases", lambda *given, **more: [*cases(*given, **more)][:2])
    path = str(tmp_path / "ratings.csv")
    plain(agents="ab", scenarios=14).to_csv(path, index=False)
    command = ["selfcheck", "--table", path, "--simulations", "2", "--workers", "1"]
    assert main([*command, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [one["case"] for one in made["cases"]][:2] == ["as estimated", "all agents alike"]
    assert made["design"]["judgements"] == 56
    assert set(made["smallest_differences"]) == {"plain", "adjusted", "others"}
    shares = made["cases"][0]["shares"]
    assert shares["sampled"]["low"] <= shares["sampled"]["share"] <= shares["sampled"]["high"]
    assert shares["corrected"] is None
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "\npass rate, scenarios as a sample" in text and "corrected for" not in text
    assert "seen four times in five" in text and "nan" not in text


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ([], "give either a suite, NAME@VERSION, or --table FILE"),
        (["core@2", "--table", "t.csv"], "give either a suite"),
        (
            ["--table", "t.csv", "--simulations", "1"],
            "expected --simulations of 2 or more, found 1",
        ),
        (["--table", "t.csv", "--seed", "-1"], "expected --seed of 0 or more, found -1"),
        (["--table", "t.csv", "--workers", "0"], "expected --workers of 1 or more, found 0"),
    ],
)
def test_flags_that_make_no_sense_are_refused_in_one_line(
    flags: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["selfcheck", *flags]) == 2
    refused = capsys.readouterr().err
    assert says in refused and refused.count("\n") == 1


@pytest.mark.slow
def test_processes_beside_this_one_do_the_same_studies() -> None:
    own = design(plain(agents="ab", scenarios=12))
    here = simulated(own, studies=30)
    with Pool(2) as there:
        (apart,) = check([Case("x", own)], target="sampled", studies=30, seed=0, there=there)
    assert apart == here


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sampled", "fixed"])
def test_the_smallest_difference_is_seen_four_times_in_five(target: str) -> None:
    own = design(plain(), target=target)
    smallest = smallest_differences(own, target=target, seed=0)["plain"]
    *_, case = cases(own, target=target, difference=smallest)
    seen = share(simulated(case.design, studies=300, target=target, better=True), "seen_plain")
    print(target, smallest, seen)
    assert seen.share == pytest.approx(0.8, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sampled", "fixed"])
@pytest.mark.parametrize("frame", [plain(agents="ab"), copied()], ids=["plain", "copies"])
def test_a_plan_from_the_same_table_sees_the_same(frame: pd.DataFrame, target: str) -> None:
    if "clip" in frame:  # agents that do alike would share more clips than these
        frame = frame.assign(clip=frame["agent"] + frame["clip"])
    pilot = judged(frame, target=target)
    seen = measured(pilot, "a", "b")
    assert not isinstance(seen, str)
    categories = len(pilot.labels.outcomes.categories)
    criterion = Criterion(2, categories, fixed=target == "fixed")
    planned = smallest_difference(*seen, criterion)
    simulated = smallest_differences(design_of(pilot), target=target, seed=0)["plain"]
    print(target, planned, simulated)
    assert simulated == pytest.approx(planned, rel=0.2)


@pytest.mark.slow
def test_intervals_cover_in_every_case() -> None:
    own = design(with_references(plain(), {"p0": 0.95, "p1": 0.85}, 30))
    for case in cases(own, target="sampled"):
        shares = simulated(case.design, studies=300)
        print(
            case.words, {name: one and round(one.share, 3) for name, one in shares.shares.items()}
        )
        for name in ("sampled", "others", "difference", "difference_adjusted", "corrected"):
            assert share(shares, name).share > 0.92, (case.words, name)
        if case.words != "as estimated":
            assert share(shares, "false_adjusted").share < 0.08


@pytest.mark.slow
def test_agents_judged_by_different_people_are_shown_to_be_called_different() -> None:
    found = {}
    for apart in (False, True):
        own = design(plain(apart=apart, agents="ab", scenarios=160))
        tried = {case.words: case.design for case in cases(own, target="sampled")}
        unequal = tried["all alike, annotators differ"]
        rare = unequal._replace(rate=unequal.rate * 0 + 0.02)
        found[apart] = simulated(rare, studies=200)
    print(found)
    assert share(found[False], "false_plain").share < 0.09
    assert share(found[True], "false_plain").share > 0.4
    assert share(found[True], "untold").share == 1.0
    assert share(found[True], "false_adjusted").share == 0.0


@pytest.mark.slow
def test_other_annotators_are_covered_where_an_interval_of_these_alone_does_not_cover_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = design(plain(agents="ab", scenarios=160))
    rare = own._replace(rate=own.rate * 0 + 0.05, people=People(0.9, 0.9, 0.1))
    shares = simulated(rare, studies=300)
    monkeypatch.setattr(by_annotators, "other_rates", lambda own, *_: own)
    naive = simulated(rare, studies=300)
    print(shares, naive)
    assert share(shares, "others").share > 0.93
    assert share(naive, "others").share < 0.7


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sampled", "fixed"])
def test_copies_are_covered_and_naive_intervals_of_these_scenarios_are_not(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = design(copied(), target=target)._replace(people=People(0.85, 0.85, 0.0))
    shares = simulated(own, studies=500, target=target)
    monkeypatch.setattr(label_set, "find_copies", lambda *_: None)
    naive = simulated(own, studies=500, target=target)
    print(target, shares, naive)
    for name in ("fixed", "sampled", "difference"):
        assert share(shares, name).share > 0.92
    assert share(naive, "fixed").share < 0.7
