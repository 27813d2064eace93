"""The app knows no world: what is drawn, said and done in one comes with it."""

from __future__ import annotations

import re
from pathlib import Path

import sts_annotator_app
from sts import registry
from sts.domains import domain

ROOT = Path(sts_annotator_app.__file__).parent
TEXTS = (".py", ".mjs", ".css", ".html", ".md")
DEMO = ROOT / "commands" / "demo.py"
"""What is demonstrated comes with each world; the command that shows it is looked at elsewhere."""


def test_no_file_of_the_app_names_an_installed_world_or_what_is_in_one() -> None:
    world = domain("lambda-star")
    (state,) = world.generate(1, seed=0)
    things = [name for name in world.picture(state).names if len(name) > 1]
    worlds = [*registry.named("sts.domains"), "Λ", "lambda_star", "torus"]
    assert "babyai" in worlds and "Evil" in things
    any_of = "|".join(map(re.escape, worlds)), "|".join(map(re.escape, things))
    pattern = re.compile(rf"(?i:{any_of[0]})|\b(?:{any_of[1]})\b")
    files = [one for one in ROOT.rglob("*") if one.suffix in TEXTS and one != DEMO]
    assert len(files) > 30
    assert [(one.name, pattern.findall(one.read_text("utf-8"))) for one in files
            if pattern.search(one.read_text("utf-8"))] == []  # fmt: skip
