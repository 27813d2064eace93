"""Builds the packaged suite `core@3` with the public commands, from `core@2` and recordings.

    python -m tests.reproduction.suites.build_core OUT

OUT is where `suite.json` and `scenarios.parquet` go. It is made as a curator makes it: begun from
`core@2`, whose scenarios get the categories' plainer words, with easier scenarios from RECORDINGS.
The same agents give the same scenarios. Nothing is chosen by hand, and no scenario is chosen by
what agents pass. `core@2` was built by an earlier version of this module; its provenance
has the commit and the rules.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sts.provenance import collect_provenance
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import Suite
from sts_scenarios.rules import categories
from sts_scenarios.rules.validity import matches
from tests.reproduction.suites.building import DRAFT, carry_out, copy_parent, flags, run

PERSON_LIKE = "tests.reproduction.suites.recorders:PersonLike"
INSTRUCTED = "tests.reproduction.suites.recorders:Instructed"
RECORDINGS = (
    ("random", 1, "10x10", 100),
    ("random", 2, "10x10", 400),
    ("random", 3, "8x12", 200),
    ("random", 5, "12x12", 100),
    ("random", 8, "10x10", 100),
    (PERSON_LIKE, 1, "12x8", 100),
    (PERSON_LIKE, 2, "10x10", 300),
    (PERSON_LIKE, 3, "12x12", 150),
    (PERSON_LIKE, 6, "12x12", 100),
    (INSTRUCTED, 2, "10x10", 200),
    (INSTRUCTED, 4, "12x10", 100),
    ("local-search", 2, "10x10", 200),
    ("local-search", 6, "10x10", 100),
    ("stigmergy", 4, "10x10", 150),
    ("rule", 3, "8x12", 150),
    ("wisdom-of-the-crowd", 2, "9x9", 100),
    ("speaking-maximiser", 2, "10x10", 150),
    ("oracle", 7, "12x12", 50),
)
"""Agent, team, grid and episodes; the seed is the place in the list, from 1."""
STEPS = 50
"""Steps of each episode."""
EASY = ("reach-good", "follow-good", "walk", "join-mate", "where-is-good")
"""Categories that need one ability: seeing Good or a teammate, or reading a direction."""
PER_CATEGORY, SEED = 20, 3
NAME, PARENT, CURATOR = "core", "core@2", "build-core"
WORDS = "the category's words are plainer"
DESCRIPTION = (
    "core@2 in plainer words, and five easier categories of twenty scenarios each, for agents in "
    "the middle of the range."
)


def record() -> list[list[str]]:
    """Return the command lines that record, without the leading `sts`."""
    return [
        [
            *f"record --domain lambda-star --agent {agent} --team {team} --size {size}".split(),
            *f"--seed {seed} --steps {STEPS} --episodes {count}".split(),
        ]
        for seed, (agent, team, size, count) in enumerate(RECORDINGS, 1)
    ]


def reword(parent: Suite) -> Iterator[list[str]]:
    """Yield the command lines that put each scenario in its category's present words.

    The first earlier template becomes the first of the new ones, and so on.
    """
    for name, category in categories.scenario_categories(parent.scenarios).items():
        own = [scenario for scenario in parent.scenarios if scenario.category == name]
        new = [
            number
            for number, template in enumerate(category.templates)
            if not any(matches(scenario.text, template) for scenario in own)
        ]
        for scenario in own:
            for place, template in enumerate(category.earlier_templates):
                if matches(scenario.text, template):
                    number = str(new[place % len(new)])
                    edit = ["draft", "edit", DRAFT, scenario.id, "--template", number]
                    yield [*edit, "--reason", WORDS, "--user", CURATOR]


def build(out: Path) -> Suite:
    """Write the suite to the folder `out` and return it."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(folder)
        parent = store.load(workspace, PARENT)
        beginning = copy_parent(workspace, parent)
        carry_out(folder, record())
        carry_out(folder, [["draft", "new", "--from", beginning.label], *reword(parent)])
        mine = f"mine {DRAFT} --per-category {PER_CATEGORY} --seed {SEED}".split()
        accept = ["draft", "accept", DRAFT, "--all", "--user", CURATOR]
        freeze = ["suite", "freeze", DRAFT, "--description", DESCRIPTION]
        reason = ["--reason", "an easier category"]
        carry_out(folder, [[*mine, *flags("category", EASY)], [*accept, *reason], freeze])
        made = store.load(workspace, f"{DRAFT}@{parent.version + 1}")
    own = {"made_by": "tests.reproduction.suites.build_core", "rules": rules()}
    provenance = collect_provenance() | own
    suite = replace(made, name=NAME, parent=PARENT, provenance=provenance)
    store.write(out, suite)
    return suite


def rules() -> dict[str, Any]:
    """Return what the provenance says of how the suite was made."""
    return {
        "recordings": [[*one] for one in RECORDINGS],
        "kept": f"all scenarios of {PARENT}, in the present words of their categories",
        "added": f"{PER_CATEGORY} of each of {', '.join(EASY)}: answers, difficulties, worlds and "
        "recorders evened out, by the seed",
    }


if __name__ == "__main__":
    sys.exit(run("build_core", lambda out: [build(out)], sys.argv[1:]))
