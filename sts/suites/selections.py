"""Subsets of a frozen suite: NAME@VERSION+tag:T+category:C, by its own tags and the workspace's.

A selection is not a version: its scenarios keep their continuations and judgements. Each term after
a "+" narrows it down, and commas separate alternatives. Scenarios of one pair or dialogue are
selected together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from sts.errors import ArgumentError, UnknownName
from sts.names import quote
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import frozen, tags
from sts.suites.folders import NAME
from sts.suites.suite import Scenario, Suite, Summary

if TYPE_CHECKING:
    import pandas as pd

KEYS = ("tag", "category", "difficulty", "kind")
"""The fields that a term can filter by."""
_FORMS = "tag:T, category:C, difficulty:D, kind:K or the name of a saved selection"


def scenario_table(scenarios: Iterable[Summary]) -> pd.DataFrame:
    """Return one row per scenario: what is asked of whom, where, and for how long (in steps)."""
    import pandas as pd

    columns = ("category", "kind", "difficulty", "context", "horizon", "text", "trajectory")
    scenarios = list(scenarios)
    rows = {name: [getattr(scenario, name) for scenario in scenarios] for name in columns}
    table = pd.DataFrame({"scenario": [scenario.id for scenario in scenarios]} | rows)
    return table.rename(columns={"context": "takeover", "text": "instruction"})


class Selection(NamedTuple):
    """A suite, or a subset of it."""

    suite: Suite  # the whole suite
    scenarios: tuple[Scenario, ...]  # of the subset, sorted by id
    terms: str = ""  # the filter as it was typed, such as "+tag:wrap"; "" for the whole suite
    meaning: str = ""  # the same with saved selections expanded
    # the ids of those that match no term but belong to a pair or dialogue that does
    joined: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """NAME@VERSION and the terms."""
        return self.suite.label + self.terms

    @property
    def part(self) -> Suite:
        """A suite of that name and version with these scenarios only; its hash is its own."""
        return replace(self.suite, scenarios=self.scenarios) if self.terms else self.suite

    def frame(self) -> pd.DataFrame:
        """Return one row per scenario."""
        return scenario_table(self.scenarios)

    def _repr_html_(self) -> str:
        return f"<p>{self.label}</p>{self.frame().to_html(index=False)}"

    @property
    def queue(self) -> str:
        """The name of the subset among the suites that are annotated.

        It is derived from the scenarios, as a tag may be given to others later.
        """
        if not self.terms:
            return self.suite.label
        mark = content_hash(*(scenario.hash.encode() for scenario in self.scenarios))
        return f"{self.suite.label}+{mark[:12]}"


def load_selection(
    workspace: Workspace, text: str, read: Callable[[Workspace, str], Suite] = frozen.load
) -> Selection:
    """Return the suite NAME@VERSION, loaded by `read`, or the subset that its terms select.

    Raises:
      UnknownName: no such suite, version, tag, category or saved selection.
      ArgumentError: a term is invalid, or the selection is empty.
    """
    label, *terms = text.split("+")
    suite = read(workspace, label)
    if not terms:
        return Selection(suite, suite.scenarios)
    expanded = [term for typed in terms for term in _expand_term(workspace, suite, typed)]
    selected_ids = set.intersection(*(_ids_of_term(workspace, suite, term) for term in expanded))
    typed, meaning = "+" + "+".join(terms), "+" + "+".join(expanded)
    if not selected_ids:
        raise ArgumentError(f"no scenario of {suite.label} is selected by {quote(typed)}")
    grown = _add_linked(suite.scenarios, selected_ids)
    subset = tuple(s for s in suite.scenarios if s.id in grown)
    joined = tuple(s.id for s in subset if s.id not in selected_ids)
    return Selection(suite, subset, typed, meaning, joined)


def _add_linked(scenarios: Sequence[Scenario], ids: set[str]) -> set[str]:
    """Return ids with those of all scenarios tied to them, directly or through others."""
    links = {link for s in scenarios if s.id in ids for link in _link_names(s)}
    grown = ids | {s.id for s in scenarios if links & _link_names(s)}
    return ids if grown == ids else _add_linked(scenarios, grown)


def _link_names(scenario: Scenario) -> set[tuple[str, str]]:
    """Return the pair and the dialogue of a scenario."""
    links = {("pair", scenario.pair), ("dialogue", scenario.dialogue)}
    return {(kind, name) for kind, name in links if name}


def _expand_term(workspace: Workspace, suite: Suite, term: str) -> list[str]:
    """Return a term as it is, or the terms of the saved selection that it names."""
    if ":" in term:
        return [term]
    saved = tags.read(workspace, suite.name).selections
    if not NAME.fullmatch(term):
        raise ArgumentError(f"expected {_FORMS} after a +, found {quote(term)}")
    if term not in saved:
        raise UnknownName(f"saved selection of {suite.name}", term, saved)
    return saved[term].split("+")


def _ids_of_term(workspace: Workspace, suite: Suite, term: str) -> set[str]:
    """Return the ids that a term selects."""
    key, _, values = term.partition(":")
    if key not in KEYS or not all(values.split(",")):
        raise ArgumentError(f"expected {_FORMS} after a +, found {quote(term)}")
    if key == "tag":
        by_value = load_ids_by_tag(workspace, suite)
    else:
        by_value = _group_ids(suite.scenarios, lambda scenario: (getattr(scenario, key),))
    for value in values.split(","):
        if value not in by_value:
            raise UnknownName(f"{key} of {suite.label}", value, by_value)
    return {id for value in values.split(",") for id in by_value[value]}


def load_ids_by_tag(workspace: Workspace, suite: Suite) -> dict[str, tuple[str, ...]]:
    """Return the sorted ids of a suite's scenarios by tag, its own tags and the workspace's."""
    by_tag = _group_ids(suite.scenarios, lambda scenario: scenario.tags)
    ids = {scenario.id for scenario in suite.scenarios}
    for tag, tagged in tags.read(workspace, suite.name).ids.items():
        tagged_ids = tuple(sorted({*by_tag.get(tag, ()), *(id for id in tagged if id in ids)}))
        by_tag |= {tag: tagged_ids} if tagged_ids else {}
    return dict(sorted(by_tag.items()))


def _group_ids(
    scenarios: Iterable[Scenario], words: Callable[[Scenario], Iterable[str]]
) -> dict[str, tuple[str, ...]]:
    by_word: dict[str, list[str]] = {}
    for scenario in scenarios:
        for word in words(scenario):
            by_word.setdefault(word, []).append(scenario.id)
    return {word: tuple(ids) for word, ids in by_word.items()}


def save_selection(workspace: Workspace, selection: Selection, name: str) -> None:
    """Save the terms of a selection under a name, for all versions of its suite."""
    if not selection.terms:
        raise ArgumentError(
            f"expected a subset of {selection.label}, such as {selection.label}+category:C"
        )
    terms = selection.meaning.removeprefix("+")
    tags.save(workspace, selection.suite.name, name, terms)
