"""Parts of a frozen suite: NAME@VERSION+tag:T+category:C, by its own tags and by everybody's.

A selection is no version. Its scenarios are those of the suite, with their continuations and
judgements; each term behind a "+" leaves what it names, and commas stand between alternatives.
What belongs together, a pair or a dialogue, is selected as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from sts.errors import ArgumentError, UnknownName
from sts.names import shown
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import frozen, tags
from sts.suites.folders import NAME
from sts.suites.frames import scenario_table
from sts.suites.types import Scenario, Suite

if TYPE_CHECKING:
    import pandas as pd

KEYS = ("tag", "category", "difficulty", "kind")
"""What a term can select by."""
_FORMS = "tag:T, category:C, difficulty:D, kind:K or the name of a saved selection"


class Selection(NamedTuple):
    """A suite, or a part of it.

    Attributes:
      suite: the whole of it.
      terms: how the part was asked for, as "+tag:wrap"; "" for the whole suite.
      meaning: the same with saved selections written out.
      scenarios: of the part, in the order of their ids.
      joined: the ids of those that no term names, and which belong with one that is named.
    """

    suite: Suite
    terms: str
    meaning: str
    scenarios: tuple[Scenario, ...]
    joined: tuple[str, ...]

    @property
    def label(self) -> str:
        """NAME@VERSION, and the terms."""
        return self.suite.label + self.terms

    @property
    def part(self) -> Suite:
        """A suite of that name and version with these scenarios alone; its hash is its own."""
        return replace(self.suite, scenarios=self.scenarios) if self.terms else self.suite

    def frame(self) -> pd.DataFrame:
        """Return one row per scenario."""
        return scenario_table(self.scenarios)

    def _repr_html_(self) -> str:
        return f"<p>{self.label}</p>{self.frame().to_html(index=False)}"

    @property
    def queue(self) -> str:
        """What the part is called among the suites whose items are judged.

        By its scenarios, since a tag may be given to others tomorrow.
        """
        if not self.terms:
            return self.suite.label
        mark = content_hash(*(one.hash.encode() for one in self.scenarios))
        return f"{self.suite.label}+{mark[:12]}"


def load(
    workspace: Workspace,
    text: str,
    read: Callable[[Workspace, str], Suite] = frozen.load,
) -> Selection:
    """Return the suite NAME@VERSION, loaded by `read`, or the part that the terms behind it leave.

    Raises:
      UnknownName: no such suite, version, tag, category or saved selection.
      ArgumentError: a term is none, or nothing is left.
    """
    label, plus, terms = text.partition("+")
    suite = read(workspace, label)
    return select(workspace, suite, terms.split("+") if plus else [])


def select(workspace: Workspace, suite: Suite, terms: Sequence[str]) -> Selection:
    """Return the part of a suite that terms select; see `load`."""
    if not terms:
        return Selection(suite, "", "", suite.scenarios, ())
    written = [one for term in terms for one in _written(workspace, suite, term)]
    chosen = set.intersection(*(_chosen(workspace, suite, term) for term in written))
    typed, meaning = "+" + "+".join(terms), "+" + "+".join(written)
    if not chosen:
        raise ArgumentError(f"no scenario of {suite.label} is selected by {shown(typed)}")
    together = _together(suite.scenarios, chosen)
    part = tuple(s for s in suite.scenarios if s.id in together)
    joined = tuple(s.id for s in part if s.id not in chosen)
    return Selection(suite, typed, meaning, part, joined)


def _together(scenarios: Sequence[Scenario], chosen: set[str]) -> set[str]:
    """Return ids, and those of whatever belongs with one of them, and so on."""
    links = {link for s in scenarios if s.id in chosen for link in _links(s)}
    grown = chosen | {s.id for s in scenarios if links & _links(s)}
    return chosen if grown == chosen else _together(scenarios, grown)


def _links(scenario: Scenario) -> set[tuple[str, str]]:
    """Return what a scenario belongs to."""
    own = {("pair", scenario.pair), ("series", scenario.series)}
    return {(kind, name) for kind, name in own if name}


def _written(workspace: Workspace, suite: Suite, term: str) -> list[str]:
    """Return a term as it is, or those of the saved selection that it names."""
    if ":" in term:
        return [term]
    saved = tags.read(workspace, suite.name).selections
    if not NAME.fullmatch(term):
        raise ArgumentError(f"expected {_FORMS} after a +, found {shown(term)}")
    if term not in saved:
        raise UnknownName(f"saved selection of {suite.name}", term, saved)
    return saved[term].split("+")


def _chosen(workspace: Workspace, suite: Suite, term: str) -> set[str]:
    """Return the ids that a term names."""
    key, _, values = term.partition(":")
    if key not in KEYS or not all(values.split(",")):
        raise ArgumentError(f"expected {_FORMS} after a +, found {shown(term)}")
    if key == "tag":
        there = tagged(workspace, suite)
    else:
        there = _by(suite.scenarios, lambda one: (getattr(one, key),))
    for value in values.split(","):
        if value not in there:
            raise UnknownName(f"{key} of {suite.label}", value, there)
    return {id for value in values.split(",") for id in there[value]}


def tagged(workspace: Workspace, suite: Suite) -> dict[str, tuple[str, ...]]:
    """Return the ids of a suite's scenarios by tag, its own tags and everybody's, sorted."""
    own = _by(suite.scenarios, lambda one: one.tags)
    ids = {one.id for one in suite.scenarios}
    for tag, given in tags.read(workspace, suite.name).ids.items():
        there = tuple(sorted({*own.get(tag, ()), *(id for id in given if id in ids)}))
        own |= {tag: there} if there else {}
    return dict(sorted(own.items()))


def _by(
    scenarios: Iterable[Scenario], words: Callable[[Scenario], Iterable[str]]
) -> dict[str, tuple[str, ...]]:
    out: dict[str, list[str]] = {}
    for one in scenarios:
        for word in words(one):
            out.setdefault(word, []).append(one.id)
    return {word: tuple(ids) for word, ids in out.items()}


def save(workspace: Workspace, selection: Selection, name: str) -> None:
    """Keep the terms of a selection under a name, for every version of its suite."""
    if not selection.terms:
        raise ArgumentError(f"expected a part of {selection.label}, such as +category:C")
    terms = selection.meaning.removeprefix("+")
    tags.save(workspace, selection.suite.name, name, terms)
