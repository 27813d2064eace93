"""No file of the core, the app or the analysis names a world or anything of a world."""

import re
from pathlib import Path

import pytest

from sts import agents, registry
from sts.cli import demo
from sts.domains import load_domain
from sts_scenarios import categories
from tests.examples import agents_of
from tests.plugins.installing import ROOT

DOMAINS = tuple(registry.list_entry_points("sts.domains"))
ALSO = r"Λ|lambda.?star|minigrid|kitchen|torus|toroidal|\bsoups?\b|(?-i:\bGood\b|\bEvil\b)"
"""Other names of the worlds and of what is in them."""
OTHERWISE = {
    ("sts/domains/conformance/runs.py", '"random"'),
    ("sts/ratings.py", '"rule"'),
    ("sts/annotations/schema.py", "'rule'"),
}
"""Matches that are not names of a world: Python's own module, and the source of a truth."""
OURS = ("sts", "scenarios", "analysis", "annotator_app")
READ = {".py", ".mjs", ".css", ".html", ".j2", ".md"}


def belongs_to_a_world(path: Path) -> bool:
    """Return True if a file belongs to a world or to a packaged suite."""
    parts = path.relative_to(ROOT).parts
    world = parts[:2] == ("sts", "worlds") or parts[1:3] == ("sts_scenarios", "categories")
    return (world and len(parts) > 3) or parts[1:3] == ("sts_scenarios", "suites")


FILES = [
    path
    for folder in OURS
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in READ and not belongs_to_a_world(path)
]


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
        folder = registry.list_entry_points("sts.domains")[name].value.split(".")[2]
        every.add(folder)
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


def test_search_knows_the_names_of_all_worlds():
    assert {"lambda-star", "lambda_star", "babyai-bot", "clean-take", "local-search"} <= TELLING
    assert {"oracle", "rule", "core", "ambush"} <= PLAIN
    assert len(FILES) > 150 and len(agents.list_installed()) > 20


def test_agents_in_the_folder_of_a_world_declare_that_world():
    """A domain that is not installed, as only measures use it, has the name of its folder."""
    homes = {
        name: point.value.split(".")[2]
        for name, point in registry.list_entry_points("sts.domains").items()
    }
    for name, point in registry.list_entry_points("sts.agents").items():
        if point.value.startswith("sts.worlds."):
            domain = point.load().domain
            assert point.value.split(".")[2] == homes.get(domain, domain), name


@pytest.mark.parametrize("folder", OURS)
def test_package_names_no_world(folder):
    found = []
    for path in FILES:
        if path.relative_to(ROOT).parts[0] == folder:
            text = path.read_text()
            for number, line in enumerate(text.splitlines() if find_name(text) else (), 1):
                name = find_name(line)
                if name and (str(path.relative_to(ROOT)), name) not in OTHERWISE:
                    found.append(f"{path.relative_to(ROOT)}:{number}: {name}")
    assert not found, "\n".join(found)
