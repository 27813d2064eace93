"""A response profile equals what `sts run` and `sts label` give, and is computed only once."""

import contextlib
import dataclasses
import functools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sts.continuations import continuation_store as store
from sts.continuations import run
from sts.errors import ArgumentError, DamagedData, NewerFormat, StsError, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import suite_store as suites
from sts.suites.suite import Scenario
from sts_scenarios.draft.freezing import DraftCandidate, with_state
from sts_scenarios.draft.stored_profiles import Profiles
from sts_scenarios.rules import categories, profiles
from sts_scenarios.rules.category import Category, Label, name_in_errors
from sts_scenarios.rules.labels import label_suite
from sts_scenarios.rules.profiles import PassCount, compute_profile
from tests.examples import agents_of, on_test_side
from tests.mined import mine
from tests.scenarios.curating import recordings
from tests.suites.races import Killed, killed_after, run_together

RULES = [categories.load_category(name) for name in ("shadow-evil", "where-is-good")]
NAMES = ("blind", "random")


@functools.cache
def mined() -> tuple[Scenario, ...]:
    return mine(on_test_side(recordings()), RULES, per_category=2, seed=0).scenarios


@pytest.fixture
def draft(tmp_path: Path) -> drafts.Draft:
    return drafts.create_draft(Workspace.open(tmp_path / "w"), "own", mined())


def candidates(draft: drafts.Draft) -> list[DraftCandidate]:
    return with_state(draft, ())


def test_profile_equals_what_run_and_label_give(tmp_path):
    workspace = Workspace.open(tmp_path / "w")
    suite = suites.freeze_scenarios(workspace, "own", mined())
    run.run(workspace, mined(), NAMES, count=6, seed=0, workers=1, progress=lambda *_: None)
    labelled = label_suite(workspace, suite)
    passed: Counter[str] = Counter()
    every = profiles.compute_profiles(mined(), NAMES, 6)
    for scenario, made in zip(mined(), every, strict=True):
        assert made.profile.scenario == scenario.hash
        for name, first in made.first_continuations.items():
            kept = [c for c in store.load(workspace, {scenario.hash}) if c.agent == name]
            assert len(kept) == made.profile.passed[name].of == 6
            assert first.content_hash == kept[0].content_hash
            passed[name] += made.profile.passed[name].successes
    assert {n: own.get("success", 0) for n, own in labelled.counts.items()} == passed


def test_profile_does_not_depend_on_other_scenarios():
    every = profiles.compute_profiles(mined()[::-1], NAMES, 4)[::-1]
    alone = [compute_profile(one, NAMES, 4) for one in mined()]
    assert [made.profile for made in every] == alone


def test_agents_of_a_domain_are_installed_and_used_by_default():
    for domain in ("lambda-star", "babyai", "overcooked"):
        named = categories.collect_names(domain, "AGENTS")
        assert len(named) >= 3 and set(named) <= {"random", *agents_of(domain)}
    assert categories.collect_names("gymnasium:CartPole-v1", "AGENTS") == ()
    assert tuple(compute_profile(mined()[0]).passed) == categories.collect_names(
        "lambda-star", "AGENTS"
    )


def test_agents_of_other_domains_are_left_out_and_invalid_ones_refused():
    one = mined()[0]
    assert tuple(compute_profile(one, ["overcooked-stay", "random"], 2).passed) == ("random",)
    with pytest.raises(UnknownName, match="unknown agent 'rul'"):
        compute_profile(one, ["rul"])
    with pytest.raises(ArgumentError, match="found 2 called 'random'"):
        compute_profile(one, ["random", "sts.domains.random:Random"])
    with pytest.raises(StsError, match="shadow-evil-01 is not checked by a rule"):
        compute_profile(dataclasses.replace(one, category="fly"), NAMES, 1)


def test_deterministic_agent_is_run_once():
    assert compute_profile(mined()[0], ["oracle", "random"], 3).passed["oracle"].of == 1
    assert str(PassCount(3, 10)) == "3/10"


def test_profiles_are_computed_one_by_one_and_never_twice(draft, monkeypatch):
    every, kept = candidates(draft), Profiles(draft, NAMES, 3)
    assert [kept.get(one) for one in every] == [None] * 4 and kept.get_first_continuations(
        every[0]
    ) == {}
    made = [kept.compute_next(reversed(every)) for _ in every]
    assert [one.scenario for one in made if one] == [one.summary.hash for one in reversed(every)]
    assert kept.compute_next(every) is None
    monkeypatch.setattr(profiles, "continue_all", None)  # nothing is continued again
    again = Profiles(drafts.open_draft(draft.workspace, "own"), NAMES, 3)
    assert again.compute_next(every) is None
    for one, scenario in zip(every, mined(), strict=True):
        found, get_first_continuations = again.get(one), again.get_first_continuations(one)
        assert found is not None and found == again.compute(one)
        assert list(found.passed) == list(get_first_continuations) == list(NAMES)
        assert {c.scenario_hash for c in get_first_continuations.values()} == {scenario.hash}
        assert {c.identity.index for c in get_first_continuations.values()} == {0}


def test_stored_profile_is_used_only_for_the_same_settings_and_scenario(draft):
    one, kept = candidates(draft)[0], Profiles(draft, NAMES, 3)
    kept.compute(one)
    assert Profiles(draft, NAMES[::-1], 3).get(one) is not None
    for others in (
        Profiles(draft, NAMES, 4),
        Profiles(draft, NAMES[:1], 3),
        Profiles(draft, NAMES, 3, own_categories=[OTHER]),
    ):
        assert others.get(one) is None
    longer = dataclasses.replace(draft.candidate(one.summary.id), horizon=5)
    draft.save_edit(longer)
    edited = one._replace(state=dataclasses.replace(one.state, scenario=longer.row_hash))
    assert kept.get(edited) is None
    assert kept.compute(edited).scenario == longer.hash
    assert kept.get(one) is not None


def test_profile_killed_at_any_write_is_whole_or_missing(draft, monkeypatch):
    one = candidates(draft)[0]
    whole = compute_profile(draft.candidate(one.summary.id), NAMES, 2)
    for moment in range(40):
        killed = Profiles(draft, NAMES, 2)
        with monkeypatch.context() as patch:
            left = killed_after(moment, patch)
            with contextlib.suppress(Killed):
                killed.compute_next([one])
        found = Profiles(draft, NAMES, 2)
        assert found.get(one) in (None, whole)
        assert not found.get(one) or found.get_first_continuations(one)
        if left():
            break
    assert found.get(one) == whole and moment > 3


def test_two_processes_that_compute_the_same_profiles_agree(draft):
    every = candidates(draft)

    def make() -> list[str]:
        kept, made = Profiles(draft, NAMES, 2), []
        while (one := kept.compute_next(every)) is not None:
            made.append(one.scenario)
        return made

    first, second = run_together(make, make)
    assert isinstance(first, list) and isinstance(second, list)
    assert {*first, *second} == {one.summary.hash for one in every}
    kept = Profiles(draft, NAMES, 2)
    assert [kept.get(one) for one in every] == [compute_profile(s, NAMES, 2) for s in mined()]


def test_profiles_of_candidates_added_later_are_computed(tmp_path):
    draft = drafts.create_draft(Workspace.open(tmp_path / "w"), "own", mined()[:2])
    kept = Profiles(draft, NAMES, 2)
    kept.compute(candidates(draft)[0])
    grown = candidates(drafts.add_candidates(draft, mined()[2:]))
    assert None not in [kept.compute_next(grown) for _ in range(3)]
    assert kept.compute_next(grown) is None and kept.failed == {}
    begun = drafts.create_draft(draft.workspace, "own", mined(), replaces=draft.id)
    new = drafts.add_candidates(
        begun, [dataclasses.replace(mined()[0], id="shadow-evil-77", horizon=4)]
    )
    (late,) = (one for one in candidates(new) if one.summary.id == "shadow-evil-77")
    with pytest.raises(UnknownName, match="shadow-evil-77"):  # of a draft that replaced this one
        kept.compute(late)


def test_profile_that_fails_is_noted_and_passed_over(draft):
    every = candidates(draft)
    kept = Profiles(draft, NAMES, 2, own_categories=[FALLS])
    made = [kept.compute_next(every) for _ in range(3)]
    assert [profile is None for profile in made] == [False, False, True]
    (first, _) = kept.failed.values()
    assert len(kept.failed) == 2 and "failed to label an episode" in str(first)


def test_altered_profile_file_is_refused(draft):
    one, kept = candidates(draft)[0], Profiles(draft, NAMES, 2)
    kept.compute(one)
    (file,) = draft.workspace.path(draft.folder, "profiles").glob("*.json")
    written, version = file.read_text(), '"version_of_format":'
    better, more = (
        re.sub(r"\[\[.*?\]\]", label, written)
        for label in ('[["better",1]]', '[["success",1],["success",1]]')
    )
    assert '[["better",1]]' in better
    invalid = "invalid response profile"
    for text, error, said in (
        *((text, DamagedData, invalid) for text in ("[]", "{}", '{"format": "profile"}')),
        (better, DamagedData, invalid),
        (more, DamagedData, invalid),
        (written.replace(f"{version}2", f"{version}1"), DamagedData, "expected version 2, found 1"),
        (written.replace(f"{version}2", f"{version}3"), NewerFormat, "format 3; .* reads up to 2"),
    ):
        file.write_text(text)
        with pytest.raises(error, match=said):
            kept.get(one)


def label(*given: Any) -> Label:
    return Label("success", 1)


def falls(*given: Any) -> Label:
    raise LookupError("nothing")


OTHER = dataclasses.replace(RULES[0], label=label, code_path=f"{__name__}:OTHER")
FALLS: Category = dataclasses.replace(
    name_in_errors(dataclasses.replace(RULES[0], label=falls)), code_path=f"{__name__}:FALLS"
)
