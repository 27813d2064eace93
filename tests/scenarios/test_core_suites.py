"""Lints over the packaged suites of the sixteen categories."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.lint import lint
from sts.suites.types import DIFFICULTIES, Scenario, Suite, pairs, series
from sts_scenarios import categories, gates
from sts_scenarios.categories.lambda_star import AGENTS, CURATION
from sts_scenarios.fitting import fault
from sts_scenarios.profiles import compute_profiles
from tests.reproduction.suites import build_core, dialogues, retiring

LABELS = ("core@1", "core@2")
SUITES = {label: store.load(Workspace.open("no-workspace-here"), label) for label in LABELS}
RULES = categories.installed(["lambda-star"])
PAIRS = ("beside-or-leave", "evade-or-shadow")
EACH = pytest.mark.parametrize("suite", SUITES.values(), ids=LABELS)


def by_category(suite: Suite) -> dict[str, list[Scenario]]:
    """Return the scenarios of each category, without the turns of dialogues."""
    out: dict[str, list[Scenario]] = {name: [] for name in build_core.CATEGORIES}
    for one in suite.scenarios:
        if not one.series:
            out[one.category].append(one)
    return out


@EACH
def test_it_holds_ten_of_each_category_and_ten_pairs_of_each_kind(suite: Suite) -> None:
    counts = {name: len(own) for name, own in by_category(suite).items()}
    assert counts == {name: 20 if name in PAIRS else 10 for name in build_core.CATEGORIES}
    assert len({*counts} - {*PAIRS, "catch-mate"}) == 16
    kinds = Counter(halves[0].category for halves in pairs(suite.scenarios).values())
    assert kinds == dict.fromkeys(PAIRS, 10)


@EACH
def test_it_is_unique_replayable_and_on_the_test_side(suite: Suite) -> None:
    assert lint(suite.scenarios) == []
    assert [fault(one, RULES) for one in suite.scenarios] == [None] * len(suite.scenarios)


@EACH
def test_a_pair_asks_for_two_things_and_a_dialogue_goes_on_in_one_recording(suite: Suite) -> None:
    for halves in pairs(suite.scenarios).values():
        assert len({one.takeover_hash for one in halves}) == 1
        assert len({one.parameters["asked"] for one in halves}) == 2
    talks = series(suite.scenarios)
    assert len(talks) == 2
    for turns in talks.values():
        assert tuple(one.category for one in turns) == dialogues.TURNS
        assert len({(one.trajectory, one.roles) for one in turns}) == 1
        ends = [one.context_start + one.takeover + one.horizon for one in turns]
        begins = [one.context_start + one.takeover for one in turns]
        assert all(end <= begin for end, begin in zip(ends, begins[1:], strict=False))


@EACH
def test_one_category_is_asked_beside_an_agent(suite: Suite) -> None:
    reacting = [one for one in suite.scenarios if one.partner.startswith("agent:")]
    assert {one.category for one in reacting} == {"catch-mate"} and len(reacting) == 10


@EACH
def test_a_category_runs_from_easy_to_hard_and_takes_no_world_twice(suite: Suite) -> None:
    for name, own in by_category(suite).items():
        found = Counter(one.difficulty for one in own)
        assert all(found[difficulty] >= 2 for difficulty in DIFFICULTIES), name
        assert len({one.world for one in own}) == 10


@EACH
def test_no_answer_stands_more_often_than_its_share(suite: Suite) -> None:
    rows = gates.of_suite(sum(by_category(suite).values(), []), RULES)
    assert len(rows) == 6
    assert [row for row in rows if not row.held] == []


@EACH
def test_a_category_uses_all_its_wordings(suite: Suite) -> None:
    for name, own in by_category(suite).items():
        forms = [re.sub(r"\\{\w+\\}", ".+", re.escape(wording)) for wording in RULES[name].wordings]
        used = {form for form in forms for s in own if re.fullmatch(form, s.instruction.text)}
        assert len(used) >= min(3, len(forms)), name


@EACH
def test_recorders_and_teams_are_mixed_and_at_most_two_fifths_are_by_effect(suite: Suite) -> None:
    who = Counter(one.provenance["recorded_by"][0] for one in suite.scenarios)
    assert who["random"] + who["person-like-script"] >= 0.25 * who.total()
    assert len(who) >= 8 and max(who.values()) < 0.25 * who.total()
    assert {one.recording.participants for one in suite.scenarios} == set(range(1, 9))
    by_effect = [
        one.provenance["chosen_by"] for one in suite.scenarios if "chosen_by" in one.provenance
    ]
    assert all(rule["agents"] == [*CURATION] for rule in by_effect)
    for name, own in by_category(suite).items():
        chosen = sum("chosen_by" in one.provenance for one in own)
        assert 0 < chosen <= len(own) / 2, name


@EACH
def test_each_is_judged_by_a_sentence_whose_fields_are_filled(suite: Suite) -> None:
    rules = categories.ruling(suite.scenarios)
    for one in suite.scenarios:
        criterion = rules[one.category].criterion(one)
        assert criterion is not None
        for text in (criterion.done, criterion.guideline):
            assert text.endswith(".") and "{" not in text


def test_the_second_is_made_from_the_first_and_says_why() -> None:
    first, second = SUITES.values()
    old, new = ({one.id: one.hash for one in suite.scenarios} for suite in (first, second))
    assert (second.parent, first.parent) == ("core@1", None)
    assert len(old.keys() & new.keys()) >= 0.8 * len(old)
    assert all(old[id] == new[id] for id in old.keys() & new.keys())
    retired = {c.id for c in second.changes if c.kind == "retired"}
    added = {c.id for c in second.changes if c.kind == "added"}
    assert retired == old.keys() - new.keys() and added == new.keys() - old.keys() and retired
    assert all(change.reason for change in second.changes)
    rules = json.dumps(build_core.rules()).replace("tests.reproduction.", "scenarios.")  # as then
    assert [one.provenance["rules"] for one in (first, second)] == [json.loads(rules)] * 2


def test_its_rules_are_those_that_stand_here() -> None:
    for suite in SUITES.values():
        assert suite.provenance["rules"]["retired"] == retiring.RULE


@pytest.mark.slow
@EACH
def test_scenarios_tell_agents_apart_and_hardly_two_do_so_alike(suite: Suite) -> None:
    made = [one.profile for one in compute_profiles(suite.scenarios, AGENTS)]
    held = ("passed by all or none", "pairs of one profile")
    rows = [row for row in gates.of_suite(suite.scenarios, RULES, made) if row.name in held]
    assert len(rows) == 2 * len(build_core.CATEGORIES)
    if suite.version == 2:
        assert [row for row in rows if not row.held] == []
