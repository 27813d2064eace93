"""A rule and a rubric are used for their category's own words, and for no others."""

import dataclasses
import functools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import Scenario
from sts_scenarios.draft.freezing import find_category_faults
from sts_scenarios.rules import categories
from sts_scenarios.rules.validity import find_category, find_fault, is_checked
from tests.examples import on_test_side, recorded
from tests.mined import mine

RULES = categories.installed_categories(["lambda-star"])


@functools.cache
def mined() -> tuple[Scenario, ...]:
    recordings = on_test_side(
        recorded(count=30, team=2, steps=50, height=8, width=9, seed=5)
        + recorded("random", count=30, team=2, steps=50, height=8, width=9, seed=7)
        + recorded(count=40, team=3, steps=50, height=8, width=9, seed=6)
    )
    return tuple(mine(recordings, [*RULES.values()], per_category=8, seed=0).scenarios)


ANY: st.SearchStrategy[Scenario] = st.deferred(lambda: st.sampled_from(mined()))


def replace_text(scenario: Scenario, text: str, **changes: Any) -> Scenario:
    instruction = dataclasses.replace(scenario.instruction, text=text)
    return dataclasses.replace(scenario, instruction=instruction, **changes)


def test_every_wording_of_every_packaged_category_is_its_own():
    assert {s.category for s in mined()} == {*RULES}
    for s in mined():
        rule = RULES[s.category]
        assert find_fault(s, RULES) is None
        words = rule.template_fields(s) if rule.template_fields else {}
        for template in rule.templates:
            text = template.format(**words)
            for written in (text, text.upper(), f"{text} !"):
                assert find_category(replace_text(s, written), RULES) is rule


@pytest.mark.parametrize(
    "label",
    [
        *("core@2", "core@3"),
        pytest.param("babyai@2", marks=pytest.mark.slow),
        pytest.param("babyai@3", marks=pytest.mark.landing),
    ],
)
def test_every_scenario_of_a_packaged_suite_is_checked_by_its_rule(label, tmp_path):
    packaged = store.load(Workspace.open(tmp_path), label).scenarios
    rules = categories.scenario_categories(packaged)
    assert find_category_faults(packaged) == []
    assert all(is_checked(s, rules) for s in packaged)


@pytest.mark.parametrize("domain", ["lambda-star", "overcooked", "babyai"])
def test_every_category_with_a_template_declares_its_words(domain):
    for rule in categories.load_categories(domain):
        filled = any("{" in one for one in rule.templates)
        assert (rule.template_fields is not None) == filled


@given(ANY, ANY)
def test_words_of_another_scenario_are_checked_only_when_they_ask_for_the_same(
    one: Scenario, other: Scenario
) -> None:
    text = other.instruction.text
    expected = text == one.instruction.text
    if one.category == other.category and not expected:
        template_fields = RULES[one.category].template_fields
        asked = [template_fields and template_fields(s) for s in (one, other)]
        expected = asked[0] == asked[1]
    assert is_checked(replace_text(one, text), RULES) == expected


@pytest.mark.parametrize(
    "change",
    [
        "{text} Then stand still.",
        "Never do this: {text}",
        "Please move at every step.",
        "Geh!",
        "x",
    ],
)
def test_other_words_have_neither_rule_nor_fault_nor_rubric(change):
    for s in mined():
        changed = replace_text(s, change.format(text=s.instruction.text))
        assert find_category(changed, RULES) is None and find_fault(changed, RULES) is None
        assert categories.scenario_criterion(changed) is None


def test_criterion_in_the_curators_words_takes_the_place_of_rule_and_rubric():
    for s in mined():
        own = dataclasses.replace(s, criterion="It waves.", edge_cases="Once is enough.")
        assert not is_checked(own, RULES) and own.hash != s.hash
        shown = categories.scenario_criterion(own)
        assert shown is not None and shown[:2] == ("It waves.", "Once is enough.")


def test_own_words_with_parameters_of_no_category_are_not_checked():
    for s in mined():
        assert not is_checked(dataclasses.replace(s, parameters={}), RULES) or (
            RULES[s.category].template_fields is None
        )
