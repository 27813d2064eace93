"""An instruction that asks for the opposite of a category's is a sentence like any other."""

import json
from pathlib import Path

import pytest

from sts.suites import suite_store as suites
from tests.scenarios.curating import Curation

OPPOSITES = {
    "ambush": (
        "reader --domain lambda-star --episodes 100 --team 2",
        "Please move at every step, never stand still.",
    ),
    "deliver-soup": (
        "overcooked-greedy --domain overcooked --episodes 20 --steps 100",
        "Never deliver a soup.",
    ),
    "babyai-pick-up": (
        "babyai-bot --domain babyai --episodes 30 --env-option level=BabyAI-PickupLoc-v0",
        "Pick nothing up, whatever lies there.",
    ),
}


@pytest.mark.parametrize(
    ("category", "votes"),
    [
        ("ambush", True),
        ("ambush", False),
        pytest.param("deliver-soup", False, marks=pytest.mark.landing),
        pytest.param("babyai-pick-up", False, marks=pytest.mark.landing),
    ],
)
def test_reversed_instruction_has_no_rule_and_needs_votes_or_unreviewed(
    category: str, votes: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    curator = Curation(tmp_path / "w", capsys)
    recorded, opposite = OPPOSITES[category]
    curator(f"record --agent {recorded}")
    curator(f"mine own --category {category} --per-category 1")
    (id,) = curator.view()
    said = curator.draft("edit", id, "--instruction", opposite)
    assert "not checked by a rule: have a second person read it" in said
    curator.draft("accept --all")
    flags = []
    if votes:
        for name in ("Ben", "Cy"):
            assert f"{id} is not checked by a rule" in curator("suite freeze own", code=1)
            curator.draft("rate", id, "yes", by=name)
    else:
        flags = ["--unreviewed"]
    curator("suite", "freeze", "own", *flags)
    suite = suites.load(curator.workspace, "own@1")
    assert suite.unreviewed == (() if votes else (id,))
    assert suite.scenarios[0].text == opposite
    curator("run own@1 --agent random --continuations 2")
    assert json.loads(curator("label own@1 --json"))["without_rule"] == [id]
