"""Builds the packaged suite `babyai@3` with the public commands, from `babyai@2` and recordings.

    python -m tests.reproduction.suites.reword_babyai OUT

OUT is where `suite.json` and `scenarios.parquet` go. What is asked in hindsight gets the plain
wordings of its category, as a curator's edit: the scenario gets a new id and replaces the old one.
Missions are worded by the package and stay. Then easy scenarios are added to the categories `WIDE`.
The recordings are those of `babyai@2`, made again, and more of levels with doors. Needs the extra
`babyai`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sts.provenance import collect_provenance
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import Scenario, Suite
from sts_scenarios.draft.freezing import load_candidates
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category
from tests.reproduction.suites import renew_babyai
from tests.reproduction.suites.building import DRAFT, carry_out, copy_parent, flags, run

NAME, PARENT, SEED = "babyai", "babyai@2", 3
BY = ["--user", "reword-babyai"]
WIDE = ("babyai-beside", "babyai-go-through", "babyai-stand-before", "babyai-unlock")
"""The categories of the parent with a range of 40 points or more, within 10% to 90%, in which no
agent lies that sees observations alone (`middle`)."""
DOORS = (
    *("OpenDoor", "OpenDoorColor", "ActionObjDoor", "OpenTwoDoors"),
    *("UnlockLocal", "UnlockLocalDist", "GoTo", "GoToSeqS5R2"),
)
"""Levels that are recorded again with other seeds, as few recordings have easy doors."""
EPISODES, FIRST_SEED = 100, 301
MINED, ADDED = 60, 10
"""How many are mined of each category at most, of all difficulties, and how many easy ones stay."""
EASY = "easy, for a category in which no agent has a rate in the middle"
OTHER = "only easy scenarios are added, as many to each category"
DESCRIPTION = (
    "Five kinds of BabyAI's missions, and thirteen kinds of instructions in plain English that are "
    "put in hindsight, three of them in pairs."
)


def record_doors() -> list[list[str]]:
    """Return the command lines that record levels with doors."""
    amount = f"--env-option open=true --episodes {EPISODES} --steps 48".split()
    amount += flags("agent", renew_babyai.AGENTS)
    return [
        f"record --domain babyai --env-option level={level} --seed {seed}".split() + amount
        for seed, level in enumerate(DOORS, FIRST_SEED)
    ]


def find_template(scenario: Scenario, category: Category) -> int:
    """Return the number of the earlier template that words a scenario."""
    assert category.template_fields is not None
    fields, text = category.template_fields(scenario), scenario.instruction.text
    return [words.format(**fields) for words in category.earlier_templates].index(text)


def list_rewordings(suite: Suite) -> Iterator[list[str]]:
    """Yield the command lines that give scenarios the new template for their old one."""
    rules = {rule.name: rule for rule in categories.load_categories("babyai")}
    for one in suite.scenarios:
        if rules[one.category].earlier_templates:
            number = str(find_template(one, rules[one.category]))
            why = f'plain words instead of "{one.instruction.text}"'
            yield ["draft", "edit", DRAFT, one.id, "--template", number, "--reason", why, *BY]


def list_decisions(mined: list[Scenario]) -> Iterator[list[str]]:
    """Yield the command lines that accept the first easy units of a category and reject others."""
    easy: Counter[str] = Counter()
    units: dict[str, list[Scenario]] = {}
    for one in mined:
        units.setdefault(one.pair or one.id, []).append(one)
    for halves in units.values():
        (category,) = {one.category for one in halves}
        wanted = halves[0].difficulty == "easy" and easy[category] < ADDED
        easy[category] += wanted
        verb, why = ("accept", EASY) if wanted else ("reject", OTHER)
        yield ["draft", verb, DRAFT, *(one.id for one in halves), "--reason", why, *BY]


def build(out: Path) -> Suite:
    """Write the suite to the folder `out` and return it."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(folder)
        parent = store.load(workspace, PARENT)
        beginning = copy_parent(workspace, parent)
        carry_out(folder, [*renew_babyai.record_open_levels(), *record_doors()])
        carry_out(folder, [["draft", "new", "--from", beginning.label]])
        carry_out(folder, list_rewordings(parent))
        amount = f"--per-category {MINED} --seed {SEED} --stratify-by difficulty".split()
        carry_out(folder, [["mine", DRAFT, *flags("category", WIDE), *amount]])
        draft, every = load_candidates(workspace, DRAFT)
        new = [one.summary.id for one in every if one.status == "undecided"]
        carry_out(folder, list_decisions(list(draft.scenarios(dict.fromkeys(new, "")))))
        carry_out(folder, [["suite", "freeze", DRAFT, "--description", DESCRIPTION]])
        made = store.load(workspace, f"{DRAFT}@{parent.version + 1}")
    suite = replace(made, name=NAME, parent=PARENT, provenance=collect_provenance())
    store.write(out, suite)
    return suite


if __name__ == "__main__":
    sys.exit(run("reword_babyai", lambda out: [build(out)], sys.argv[1:]))
