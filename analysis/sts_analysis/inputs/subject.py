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
    """The subject of a report: a suite or a table."""

    name: str  # NAME@VERSION, or a file's name
    # scenario, category and kind of all that the suite has, continued or not; without a row where
    # they are known from the continuations alone
    scenarios: pd.DataFrame = pd.DataFrame(columns=SCENARIO)
    hash: str | None = None  # of the frozen suite
    annotations_hash: str | None = None  # of what people have judged of it by now
    digests: Digests | None = None  # of everything that the report is made of; None of a bare table
    notes: tuple[str, ...] = ()  # what the sources of its scenarios ask every report to say
    subset: Part | None = None  # what part of the suite it is about; None for all of it
    tags: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # scenarios by tag
    # scenarios of one takeover with two instructions, by the pair's name
    pairs: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    # scenarios that are turns of one dialogue, in their order, by its name
    series: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    # what each scenario asks, by its id; of a bare table nothing
    instructions: Mapping[str, str] = MappingProxyType({})
    # what reviewers found in a sample of its failures; None where they did not look, or it is a
    # part, of which nothing was sampled
    reviews: ErrorAnalysis | None = None
    # the hash of the world that each scenario was recorded in, by its id; of a bare table nothing
    worlds: Mapping[str, str] = MappingProxyType({})
    # the people who recorded each scenario, by its id; without those of agents alone
    people: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    plan: Plan | None = None  # its planned and judged clips, and its closing; None of a bare table
    parent: str | None = None  # NAME@VERSION that the suite was derived from; None without one
    # the curator's words in the statement of standards, by key
    statement: Mapping[str, str] = MappingProxyType({})

    def knows_units(self, ratings: pd.DataFrame) -> bool:
        """Return True if it is known which scenarios share a trajectory.

        A suite knows it of each scenario, a checked ratings table by its column `trajectory`.
        """
        return bool(self.hash) or bool((ratings["trajectory"] != "").any())

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
    """Another version, which the one that a report is about is compared with."""

    subject: Subject  # what it is
    ratings: pd.DataFrame  # its checked ratings table
    # of each scenario of the report's version that it holds too, by content, the id there
    same: Mapping[str, str]
