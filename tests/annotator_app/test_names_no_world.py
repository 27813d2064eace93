"""The app names no environment: drawings, utterances and actions come with each environment."""

from __future__ import annotations

import re
from pathlib import Path

import sts_annotator_app
from sts import registry
from sts.domains import load_domain

ROOT = Path(sts_annotator_app.__file__).parent
TEXTS = (".py", ".mjs", ".css", ".html", ".md")
DEMO = ROOT / "commands" / "demo.py"  # its demonstrations come with each environment


def test_no_app_file_names_an_installed_environment_or_its_contents() -> None:
    world = load_domain("lambda-star")
    (state,) = world.generate(1, seed=0)
    things = [name for name in world.scene_layout(state).names if len(name) > 1]
    worlds = [*registry.list_entry_points("sts.domains"), "Λ", "lambda_star", "torus"]
    assert "babyai" in worlds and "Evil" in things
    names, words = "|".join(map(re.escape, worlds)), "|".join(map(re.escape, things))
    pattern = re.compile(rf"(?i:{names})|\b(?:{words})\b")
    files = [one for one in ROOT.rglob("*") if one.suffix in TEXTS and one != DEMO]
    assert len(files) > 30
    assert [one.name for one in files if pattern.search(one.read_text("utf-8"))] == []
