"""No file of the core, the app or the analysis names a world or anything of a world."""

import re

import pytest

from sts import agents, registry
from sts.cli import demo
from sts.domains import load_domain
from sts_scenarios.rules import categories
from tests.examples import agents_of
from tests.plugins.installing import ROOT

DOMAINS = tuple(registry.list_entry_points("sts.domains"))
ALSO = r"Λ|lambda.?star|minigrid|kitchen|torus|toroidal|\bsoups?\b|(?-i:\bGood\b|\bEvil\b)"
"""Other names of the worlds and of what is in them."""
OTHERWISE = {
    ("sts/domains/conformance/runs.py", '"random"'),
    ("sts/ratings.py", '"rule"'),
    ("sts/annotations/database/schema.py", "'rule'"),
}
"""Matches that are not names of a world: Python's own module, and the source of a truth."""
OURS = ("sts", "scenarios", "analysis", "annotator_app")
EXAMPLE = re.compile(r"^ *>>> .*(?:\n(?! *(?:\"\"\")?\n).*)*", re.M)
"""An example in a docstring, which needs some world."""
READ = {".py", ".mjs", ".css", ".html", ".j2", ".md"}
SYMBOLS = ROOT / "analysis" / "sts_analysis" / "measures" / "symbols"
"""Environments that only measures use, with words that are names elsewhere."""
FILES = [
    path
    for folder in OURS
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in READ and SYMBOLS not in path.parents
]


def name_package(domain: str) -> str:
    """Return the import package of a packaged domain."""
    return registry.list_entry_points("sts.domains")[domain].value.partition(".")[0]


def names() -> tuple[set[str], set[str]]:
    """Return the names of worlds and of what belongs to them: distinctive ones, and plain words.

    A plain word, such as the agent `rule`, counts only if it is alone in quotes or follows a flag.
    """
    every = {
        *DOMAINS,
        *registry.list_entry_points("sts.importers"),
        *registry.list_entry_points("sts.suites"),
    }
    for name in DOMAINS:
        every |= {type(load_domain(name)).__name__, *agents_of(name)}
        every |= {category.name for category in categories.load_categories(name)}
        every |= {demo.load_demo(name).suite.partition("@")[0]}
        every |= {name_package(name), name_package(name).removeprefix("sts_")}
    # Formats of the core, and what makes a domain of a class.
    every -= {"jsonl", "minari", "EnvironmentDomain"}
    plain = {name for name in every if re.fullmatch("[a-z]+", name) and name not in DOMAINS}
    return every - plain, plain


TELLING, PLAIN = names()
LOWER = sorted(map(str.lower, TELLING))
TOLD = re.compile(ALSO, re.IGNORECASE)
QUOTED = re.compile(
    rf"""["'`]({"|".join(sorted(PLAIN))})(?:@\d+)?["'`]|--\w+ ({"|".join(sorted(PLAIN))})\b"""
    rf"""|\b({"|".join(sorted(PLAIN))})@\d"""
)


def find_name(text: str) -> str:
    """Return a name of a world, or of something of it, in a text; "" if there is none."""
    match, lower = TOLD.search(text) or QUOTED.search(text), text.lower()
    return match[0] if match else next((name for name in LOWER if name in lower), "")


def blank(example: re.Match[str]) -> str:
    """Return as many lines as an example has."""
    return "\n" * example[0].count("\n")


def test_search_knows_the_names_of_all_worlds():
    assert {"lambda-star", "lambda_star", "babyai-bot", "clean-take", "local-search"} <= TELLING
    assert {"oracle", "rule", "core", "ambush"} <= PLAIN
    assert len(FILES) > 150 and len(agents.list_installed()) > 20


def test_agents_in_the_folder_of_a_world_declare_that_world():
    homes = {name_package(name): name for name in DOMAINS}
    points = registry.list_entry_points("sts.agents").values()
    in_worlds = [point for point in points if point.value.partition(".")[0] in homes]
    assert len(in_worlds) > 20
    for point in in_worlds:
        assert point.load().domain == homes[point.value.partition(".")[0]], point.name


@pytest.mark.parametrize("folder", OURS)
def test_package_names_no_world(folder):
    found = []
    for path in FILES:
        if path.relative_to(ROOT).parts[0] == folder:
            text = EXAMPLE.sub(blank, path.read_text())
            for number, line in enumerate(text.splitlines() if find_name(text) else (), 1):
                name = find_name(line)
                if name and (str(path.relative_to(ROOT)), name) not in OTHERWISE:
                    found.append(f"{path.relative_to(ROOT)}:{number}: {name}")
    assert not found, "\n".join(found)
