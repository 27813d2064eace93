"""A response profile is what `sts run` and `sts label` would say, kept so that it is made once."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sts.continuations import run, store
from sts.continuations.types import Continuation
from sts.errors import ArgumentError, DamagedData, NewerFormat, StsError, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import store as suites
from sts.suites.types import Scenario
from sts_scenarios import categories, mining, profiles
from sts_scenarios.category import Category, Label, spoken_for
from sts_scenarios.freezing import Looked, looked_at
from sts_scenarios.labels import label_suite
from sts_scenarios.profiles import PassCount, Profiles, compute_profile
from tests.examples import agents_of, on_test_side, recorded
from tests.suites.test_freezing import Killed, killed_after, together

RULES = [categories.named(name) for name in ("shadow-evil", "where-is-good")]
NAMES = ("blind", "random")


@functools.cache
def mined() -> tuple[Scenario, ...]:
    made = on_test_side(recorded(count=60, team=2, steps=40, height=8, width=9, seed=5))
    return mining.mine(made, RULES, per_category=2, seed=0).scenarios


@pytest.fixture
def draft(tmp_path: Path) -> drafts.Draft:
    return drafts.begin(Workspace.open(tmp_path / "w"), "own", mined())


def candidates(draft: drafts.Draft) -> list[Looked]:
    return looked_at(draft, ())


def test_a_profile_is_what_run_and_label_say(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "w")
    suite = suites.freeze(workspace, "own", mined())
    run.run(
        workspace, mined(), NAMES, count=6, seed=3, workers=1, progress=lambda done, total: None
    )
    labelled = label_suite(workspace, suite)
    every = profiles.compute_profiles(mined(), NAMES, 6, seed=3)
    passed: Counter[str] = Counter()
    for scenario, made in zip(mined(), every, strict=True):
        assert made.profile.scenario == scenario.hash
        for name, first in made.first.items():
            kept = [c for c in store.load(workspace, {scenario.hash}) if c.agent == name]
            assert len(kept) == made.profile.passed[name].of == 6
            assert first.content_hash == kept[0].content_hash
            passed[name] += made.profile.passed[name].successes
    assert {n: own.get("success", 0) for n, own in labelled.counts.items()} == passed


def test_the_same_whatever_the_others_and_their_order() -> None:
    together = profiles.compute_profiles(mined()[::-1], NAMES, 4)[::-1]
    alone = [compute_profile(one, NAMES, 4) for one in mined()]
    assert [made.profile for made in together] == alone
    assert alone != [compute_profile(one, NAMES, 4, seed=1) for one in mined()]


def test_those_that_the_categories_name_are_installed_and_play_there() -> None:
    for domain in ("lambda-star", "babyai", "overcooked"):
        named = categories.agents(domain)
        assert len(named) >= 3 and set(named) <= {"random", *agents_of(domain)}
    assert categories.agents("gymnasium:CartPole-v1") == ()
    (one,) = {c.domain for c in RULES}
    assert tuple(compute_profile(mined()[0]).passed) == categories.agents(one)


def test_who_is_not_for_that_world_is_left_out() -> None:
    assert tuple(compute_profile(mined()[0], ["overcooked-stay", "random"], 2).passed) == (
        "random",
    )
    with pytest.raises(UnknownName, match="unknown agent 'rul'"):
        compute_profile(mined()[0], ["rul"])
    with pytest.raises(ArgumentError, match="found 2 called 'random'"):
        compute_profile(mined()[0], ["random", "sts.domains.random:Random"])


def test_who_always_answers_alike_is_asked_once() -> None:
    assert compute_profile(mined()[0], ["oracle", "random"], 3).passed["oracle"].of == 1
    assert str(PassCount(3, 10)) == "3/10"


def test_profiles_are_made_one_by_one_and_never_twice(
    draft: drafts.Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    every, kept = candidates(draft), Profiles(draft, NAMES, 3)
    assert [kept.of(one) for one in every] == [None] * 4 and kept.first(every[0]) == {}
    made = [kept.make_next(reversed(every)) for _ in every]
    assert [one.scenario for one in made if one] == [one.summary.hash for one in reversed(every)]
    assert kept.make_next(every) is None

    def never(*asked: object, **how: object) -> list[Continuation]:
        raise AssertionError("it was made already")

    monkeypatch.setattr(profiles, "continue_all", never)
    again = Profiles(drafts.open_draft(draft.workspace, "own"), NAMES, 3)
    assert again.make_next(every) is None
    for one, scenario in zip(every, mined(), strict=True):
        found = again.of(one)
        assert found is not None and found == again.make(one)
        assert list(found.passed) == list(again.first(one)) == list(NAMES)
        assert {c.scenario_hash for c in again.first(one).values()} == {scenario.hash}
        assert {c.identity.index for c in again.first(one).values()} == {0}


def test_what_a_profile_is_made_from_names_its_file(draft: drafts.Draft) -> None:
    one = candidates(draft)[0]
    Profiles(draft, NAMES, 3).make(one)
    assert Profiles(draft, NAMES[::-1], 3).of(one) is not None
    for others in (
        Profiles(draft, NAMES, 4),
        Profiles(draft, NAMES, 3, seed=1),
        Profiles(draft, NAMES[:1], 3),
        Profiles(draft, NAMES, 3, own=[OTHER]),
    ):
        assert others.of(one) is None


def test_an_edited_candidate_has_another(draft: drafts.Draft) -> None:
    kept, one = Profiles(draft, NAMES, 3), candidates(draft)[0]
    kept.make(one)
    longer = dataclasses.replace(draft.candidate(one.summary.id), horizon=5)
    draft.keep(longer)
    state = dataclasses.replace(one.state, scenario=longer.row_hash)
    edited = one._replace(state=state)
    assert kept.of(edited) is None
    assert kept.make(edited).scenario == longer.hash
    assert kept.of(one) is not None


def test_killed_at_any_moment_it_goes_on(
    draft: drafts.Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = candidates(draft)[0]
    whole = compute_profile(draft.candidate(one.summary.id), NAMES, 2)
    for moment in range(40):
        killed = Profiles(draft, NAMES, 2)
        with monkeypatch.context() as patch:
            left = killed_after(moment, patch)
            with contextlib.suppress(Killed):
                killed.make_next([one])
        found = Profiles(draft, NAMES, 2)
        assert found.of(one) in (None, whole)
        assert not found.of(one) or found.first(one)
        if left():
            break
    assert found.of(one) == whole and moment > 3


def test_two_who_make_the_same_at_once_make_it_alike(draft: drafts.Draft) -> None:
    every = candidates(draft)

    def make() -> list[str]:
        kept, made = Profiles(draft, NAMES, 2), []
        while (one := kept.make_next(every)) is not None:
            made.append(one.scenario)
        return made

    first, second = together(make, make)
    assert isinstance(first, list) and isinstance(second, list)
    assert {*first, *second} == {one.summary.hash for one in every}
    kept = Profiles(draft, NAMES, 2)
    assert [kept.of(one) for one in every] == [
        compute_profile(scenario, NAMES, 2) for scenario in mined()
    ]


def test_candidates_that_are_added_later_have_their_profiles_made_too(tmp_path: Path) -> None:
    draft = drafts.begin(Workspace.open(tmp_path / "w"), "own", mined()[:2])
    kept = Profiles(draft, NAMES, 2)
    kept.make(candidates(draft)[0])
    grown = candidates(drafts.add(draft, mined()[2:]))
    assert None not in [kept.make_next(grown) for _ in range(3)]
    assert kept.make_next(grown) is None and kept.failed == {}
    begun = drafts.begin(draft.workspace, "own", mined(), replaces=draft.id)
    new = drafts.add(begun, [dataclasses.replace(mined()[0], id="shadow-evil-77", horizon=4)])
    (late,) = (one for one in candidates(new) if one.summary.id == "shadow-evil-77")
    with pytest.raises(UnknownName, match="shadow-evil-77"):  # of a draft in the place of this one
        kept.make(late)


def test_what_cannot_be_made_is_noted_and_passed_over(draft: drafts.Draft) -> None:
    every = candidates(draft)
    kept = Profiles(draft, NAMES, 2, own=[FALLS])
    made = [kept.make_next(every) for _ in range(3)]
    assert [profile is None for profile in made] == [False, False, True]
    (first, _) = kept.failed.values()
    assert len(kept.failed) == 2 and "failed to label an episode" in str(first)


def test_an_altered_file_is_refused(draft: drafts.Draft) -> None:
    one, kept = candidates(draft)[0], Profiles(draft, NAMES, 2)
    kept.make(one)
    (file,) = draft.workspace.path(draft.folder, "profiles").glob("*.json")
    label = '[["better",1]]'
    labelled = re.sub(r"\[\[.*?\]\]", label, file.read_text())
    later = re.sub(r"\[\[.*?\]\]", '[["success",1],["success",1]]', file.read_text())
    assert label in labelled
    for text in ("[]", "{}", labelled, later, '{"format": "profile"}'):
        file.write_text(text)
        with pytest.raises(DamagedData, match="invalid response profile"):
            kept.of(one)


def test_a_file_of_another_version_says_which(draft: drafts.Draft) -> None:
    one, kept = candidates(draft)[0], Profiles(draft, NAMES, 2)
    kept.make(one)
    (file,) = draft.workspace.path(draft.folder, "profiles").glob("*.json")
    written = file.read_text()
    file.write_text(written.replace('"version_of_format":2', '"version_of_format":1'))
    with pytest.raises(DamagedData, match="expected version 2, found 1"):
        kept.of(one)
    file.write_text(written.replace('"version_of_format":2', '"version_of_format":3'))
    with pytest.raises(NewerFormat, match="format 3; this version reads up to 2"):
        kept.of(one)


def label(*given: Any) -> Label:
    return Label("success", 1)


def falls(*given: Any) -> Label:
    raise LookupError("nothing")


OTHER = dataclasses.replace(RULES[0], label=label, place=f"{__name__}:OTHER")
FALLS: Category = dataclasses.replace(
    spoken_for(dataclasses.replace(RULES[0], label=falls)), place=f"{__name__}:FALLS"
)


def test_a_category_without_a_rule_here_is_one_line() -> None:
    other = dataclasses.replace(mined()[0], category="fly")
    with pytest.raises(StsError, match="shadow-evil-01: category fly is not installed"):
        compute_profile(other, NAMES, 1)
