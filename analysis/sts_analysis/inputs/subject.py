"""What a report is about: its name, and the scenarios of the suite."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pandas as pd

if TYPE_CHECKING:  # a report on a file needs no database
    from sts.annotations.findings.error_analysis import ErrorAnalysis
    from sts.annotations.findings.plan import Plan
    from sts.annotations.vault.digests import Digests

SCENARIO = ["scenario", "category", "kind"]
"""The columns that say what a scenario is."""


class Part(msgspec.Struct, frozen=True):
    """A part of a suite.

    Attributes:
      suite: NAME@VERSION.
      filter: what selects it, such as "+tag:wrap".
      scenarios: number selected.
      suite_scenarios: number in the suite.
      joined: scenarios that belong to a pair or dialogue with a selected one.
    """

    suite: str
    filter: str
    scenarios: int
    suite_scenarios: int
    joined: tuple[str, ...]


class Subject(NamedTuple):
    """What a report is about.

    Attributes:
      name: NAME@VERSION, or a file's name.
      scenarios: scenario, category and kind of all that the suite has, continued or not; without
        a row where they are known from the continuations alone.
      hash: of the frozen suite.
      annotations_hash: of what people have judged of it by now.
      digests: of everything that the report is made of; None of a bare table.
      notes: what the sources of its scenarios ask every report to say.
      subset: what part of the suite it is about; None for all of it.
      tags: scenarios by tag.
      pairs: scenarios of one takeover with two instructions, by the pair's name.
      series: scenarios that are turns of one dialogue, in their order, by its name.
      instructions: what each scenario asks, by its id; of a bare table nothing.
      reviews: what reviewers found in a sample of its failures; None where they did not look, or
        it is a part, of which nothing was sampled.
      worlds: the hash of the world that each scenario was recorded in, by its id; of a bare table
        nothing.
      people: the people who recorded each scenario, by its id; without those of agents alone.
      plan: its planned and judged clips, and its closing; None of a bare table.
      parent: NAME@VERSION that the suite was derived from; None without one.
      statement: the curator's words in the statement of standards, by key.
    """

    name: str
    scenarios: pd.DataFrame = pd.DataFrame(columns=SCENARIO)
    hash: str | None = None
    annotations_hash: str | None = None
    digests: Digests | None = None
    notes: tuple[str, ...] = ()
    subset: Part | None = None
    tags: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    pairs: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    series: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    instructions: Mapping[str, str] = MappingProxyType({})
    reviews: ErrorAnalysis | None = None
    worlds: Mapping[str, str] = MappingProxyType({})
    people: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    plan: Plan | None = None
    parent: str | None = None
    statement: Mapping[str, str] = MappingProxyType({})

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """Scenarios that belong together, by group."""
        return (*self.pairs.values(), *self.series.values())

    @property
    def drawn_together(self) -> tuple[tuple[str, ...], ...]:
        """Scenarios of one pair, dialogue or recorded world, by group."""
        worlds: dict[str, list[str]] = {}
        for scenario, world in self.worlds.items():
            worlds.setdefault(world, []).append(scenario)
        return (*self.together, *map(tuple, worlds.values()))


class ComparedVersion(NamedTuple):
    """Another version, which the one that a report is about is compared with.

    Attributes:
      subject: what it is.
      ratings: its checked ratings table.
      same: of each scenario of the report's version that it holds too, by content, the id there.
    """

    subject: Subject
    ratings: pd.DataFrame
    same: Mapping[str, str]
